"""NR201-NR207: validation and test datasets."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ..findings import Edit, Fix, FixKind, Related, Severity
from ..model.dataset import EvaluationDataset
from ..model.obstacles import obstacle
from ..model.sources import MAP
from ..model.values import show
from .drafts import Draft, about, attempt, inherited
from .registry import rule
from .training import is_integer, pinned_seed


def _fix(dataset: EvaluationDataset, key: str, value: object) -> Fix:
    """A fix of the dataset's group: a fixed shard seed is only right together with finite map style."""
    group = f"evaluation:{dataset.subject}"
    return attempt(f"Set `{key}` to {show(value)}", lambda: dataset.set(key, value), group=group)


@rule("NR201", "unindexed-evaluation", Severity.WARNING, fix=FixKind.SAFE)
def unindexed_evaluation(dataset: EvaluationDataset) -> Iterator[Draft]:
    """Evaluation sources could be indexed and are not."""
    setting = dataset["indexed"]
    could = [source for source in dataset.sources if source.indexable and obstacle(source) is None]
    if not could or not setting.lacks(True) or any(source["indexed"].is_(True) for source in could):
        return
    shared = _training_files(dataset) & {source.document.source.path for source in could if source.external}
    packed = [source for source in could if source["index_pack"].known and source["index_pack"].value is not None]
    if shared:
        path = sorted(shared)[0].name
        why = (
            "its entries declare index packs, which raise a ValueError without `indexed: true`"
            if packed
            else "the same entries are read in two ways"
        )
        message = f"`indexed` is not true here, but training reads the same blend `{path}` through indexes: {why}"
    else:
        message = "`indexed` is not true: evaluation reads its sources from the start of each shard"
    if inherited(dataset.config, "NR201", setting, message):
        return
    fix = attempt("Set `indexed` to true", lambda: dataset.set("indexed", True)) if shared else None
    yield about(setting, message, recommended=True, severity=Severity.ERROR if shared else None, fix=fix)


def _training_files(dataset: EvaluationDataset) -> set[Path]:
    memo = dataset.config.memo
    if "training files" not in memo:
        sources = (source for training in dataset.config.training for source in training.sources)
        memo["training files"] = {source.document.source.path for source in sources if source.external}
    return memo["training files"]  # type: ignore[return-value]


@rule("NR202", "infinite-evaluation", Severity.ERROR, fix=FixKind.SAFE)
def infinite_evaluation(dataset: EvaluationDataset) -> Iterator[Draft]:
    """An evaluation dataset repeats without end."""
    setting = dataset["force_finite"]
    mixed = len(dataset.sources) > 1  # the multiplexer repeats every source, whatever its style
    repeating = [source for source in dataset.sources if source.style and (mixed or source.style != MAP)]
    if not repeating or not setting.lacks(True):
        return
    if dataset.config.is_speechlm2:
        yield about(
            setting,
            f"`force_finite` is {setting.phrase}; speechlm2's DataModule sets it for evaluation, other callers do not",
            recommended=True,
            severity=Severity.NOTE,
        )
    else:
        yield about(
            setting,
            f"`force_finite` is {setting.phrase} and a source repeats: evaluation never ends unless `limit_*_batches` cuts it",
            recommended=True,
            fix=_fix(dataset, "force_finite", True),
            related=(Related(repeating[0].location, "this source repeats"),),
        )


@rule("NR203", "iterable-evaluation", Severity.ERROR, fix=FixKind.SAFE)
def iterable_evaluation(dataset: EvaluationDataset) -> Iterator[Draft]:
    """Evaluation runs in iterable style."""
    map_style, iterable = dataset["force_map_dataset"], dataset["force_iterable_dataset"]
    if iterable.is_(True) and dataset.config.is_speechlm2:
        yield about(
            iterable,
            "`force_iterable_dataset` is `true`, but speechlm2's DataModule forces map style for evaluation: an "
            "AssertionError when the dataloader is built",
            recommended=False,
            fix=_fix(dataset, "force_iterable_dataset", False),
        )
    elif not dataset.config.is_speechlm2 and map_style.lacks(True):
        if iterable.is_(True) or any(source.style and source.style != MAP for source in dataset.sources):
            yield about(
                map_style,
                f"`force_map_dataset` is {map_style.phrase} and evaluation runs in iterable style: ranks get unequal numbers "
                "of batches, and an epoch is not one pass over the data",
                recommended=True,
                fix=attempt(
                    "Set `force_map_dataset` to true",
                    lambda: _map_edits(dataset),
                    group=f"evaluation:{dataset.subject}",
                ),
            )


def _map_edits(dataset: EvaluationDataset) -> tuple[Edit, ...]:
    edits = dataset.set("force_map_dataset", True)
    if dataset["force_iterable_dataset"].is_(True):
        edits += dataset.set("force_iterable_dataset", False)
    return edits


@rule("NR204", "stateful-evaluation", Severity.WARNING)
def stateful_evaluation(dataset: EvaluationDataset) -> Iterator[Draft]:
    """Evaluation saves dataloader state."""
    setting = dataset["use_stateful_dataloader"]
    if setting.is_(True):
        yield about(
            setting,
            "`use_stateful_dataloader` is `true` on an evaluation dataset: a restored position makes the next evaluation "
            "start in the middle",
            recommended=False,
        )


@rule("NR205", "different-indexes-root", Severity.WARNING)
def different_indexes_root(dataset: EvaluationDataset) -> Iterator[Draft]:
    """Evaluation looks for sidecars in another place than training."""
    setting = dataset["indexes_root"]
    for training in dataset.config.training[:1]:
        other = training["indexes_root"]
        if setting.known and other.known and setting.stated and setting.value is not None:
            if other.value is not None and str(setting.value).rstrip("/") != str(other.value).rstrip("/"):
                yield about(
                    setting,
                    f"`indexes_root` is `{show(setting.value)}`, training's is `{show(other.value)}`: two mirrors have to be "
                    "built and staged",
                    recommended=other.value,
                    related=(Related(other.location, "training's `indexes_root`"),),
                )


@rule("NR206", "unfixed-evaluation-seed", Severity.ERROR, fix=FixKind.SAFE)
def unfixed_evaluation_seed(dataset: EvaluationDataset) -> Iterator[Draft]:
    """A seed of an evaluation dataset is not an integer."""
    training = dataset.config.training
    seed = pinned_seed(training[0]) if training else dataset.config.context.seed
    for key in ("seed", "shard_seed"):
        setting = dataset[key]
        if setting.known and not is_integer(setting.value) and not inherited(dataset.config, "NR206", setting):
            yield about(
                setting,
                f"`{key}` is {setting.phrase}: ranks and chunks evaluate in different orders, and under several ranks items "
                "may be repeated or left out",
                recommended=seed,
                fix=_fix(dataset, key, seed),
            )


@rule("NR207", "evaluation-stream-limit", Severity.ERROR, fix=FixKind.SAFE)
def evaluation_stream_limit(dataset: EvaluationDataset) -> Iterator[Draft]:
    """The number of open streams is limited on a finite dataset."""
    setting = dataset["max_open_streams"]
    finite = dataset.config.is_speechlm2 or dataset["force_finite"].is_(True)
    if finite and setting.known and setting.value is not None:
        yield about(
            setting,
            f"`max_open_streams` is `{show(setting.value)}` on a finite dataset: an AssertionError as soon as several "
            "sources are mixed",
            recommended=None,
            fix=_fix(dataset, "max_open_streams", None),
        )
