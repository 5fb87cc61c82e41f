"""NR101-NR112: what a training dataset needs in order to be indexed and resumable."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ..findings import Edit, FixKind, Related, Severity
from ..model import paths
from ..model.dataset import Dataset, TrainingDataset
from ..model.sources import MAP
from ..model.storage import node_local_root
from ..model.values import Setting, show
from .drafts import Draft, about, set_option
from .migration import in_group, set_in_group
from .registry import rule


def is_integer(value: object) -> bool:
    """Whether a value is a whole number (a boolean is none)."""
    return type(value) is int


def pinned_seed(dataset: Dataset) -> int:
    """The seed to pin `shard_seed` to: the dataset's own where it is a stated integer, else the configured one."""
    seed = dataset["seed"]
    return seed.value if seed.stated and type(seed.value) is int else dataset.config.context.seed


@rule("NR101", "indexed-off", Severity.ERROR, fix=FixKind.SAFE)
def indexed_off(dataset: TrainingDataset) -> Iterator[Draft]:
    """A training dataset does not read its sources through indexes."""
    setting = dataset["indexed"]
    if setting.lacks(True):
        if setting.value is None:
            state = "is not set" if not setting.stated else "is `null`"
            effect = "NeMo manifests stream and Lhotse sources are indexed only where sidecars happen to lie"
        else:
            state, effect = f"is `{show(setting.value)}`", "every source streams"
        yield about(
            setting,
            f"`indexed` {state}: {effect}, so ranks are not partitioned and a resume replays from the start",
            recommended=True,
            rationale="Only indexed sources are split between ranks and workers and restored in constant time.",
            fix=set_in_group(dataset, "indexed", True),
        )


@rule("NR102", "stateful-dataloader-off", Severity.ERROR, fix=FixKind.SAFE)
def stateful_dataloader_off(dataset: TrainingDataset) -> Iterator[Draft]:
    """The dataloader's position is not saved in the checkpoint."""
    setting = dataset["use_stateful_dataloader"]
    if setting.lacks(True):
        yield about(
            setting,
            f"`use_stateful_dataloader` is {setting.phrase}: checkpoints carry no dataloader state and each chunk starts "
            "its data from the beginning",
            recommended=True,
            rationale="torchdata's StatefulDataLoader saves the iterator with the checkpoint.",
            fix=set_in_group(dataset, "use_stateful_dataloader", True),
        )


@rule("NR103", "map-style-training", Severity.ERROR, fix=FixKind.SAFE)
def map_style_training(dataset: TrainingDataset) -> Iterator[Draft]:
    """Training is forced into map style."""
    setting = dataset["force_map_dataset"]
    if setting.is_(True) and not dataset["force_iterable_dataset"].is_(True):
        yield about(
            setting,
            "`force_map_dataset` is `true`: one sampler in the training process walks the whole data on every rank, "
            "so nothing is partitioned by worker and a large blend starts and restores slowly",
            recommended=False,
            rationale="Map style resumes exactly, but its cost grows with the data; the migration asks for iterable style.",
            fix=in_group(dataset, "Set `force_map_dataset` to false", lambda: _iterable_edits(dataset)),
        )


def _iterable_edits(dataset: TrainingDataset) -> tuple[Edit, ...]:
    edits = dataset.set("force_map_dataset", False)
    if _all_map_style(dataset) and not dataset["force_iterable_dataset"].is_(True):
        edits += dataset.set("force_iterable_dataset", True)
    return edits


def _all_map_style(dataset: TrainingDataset) -> bool:
    return bool(dataset.sources) and all(source.style == MAP for source in dataset.sources)


@rule("NR104", "contradictory-dataset-mode", Severity.ERROR, fix=FixKind.SAFE)
def contradictory_dataset_mode(dataset: Dataset) -> Iterator[Draft]:
    """Both dataset styles are forced at once."""
    map_style, iterable = dataset["force_map_dataset"], dataset["force_iterable_dataset"]
    if map_style.is_(True) and iterable.is_(True):
        drop = "force_map_dataset" if dataset.is_training else "force_iterable_dataset"
        setting, other = (map_style, iterable) if dataset.is_training else (iterable, map_style)
        yield about(
            setting,
            "`force_map_dataset` and `force_iterable_dataset` are both `true`: the dataloader raises an AssertionError "
            "at start-up",
            recommended=False,
            fix=set_option(dataset, drop, False),
            related=(Related(other.location, f"`{other.key}` is set here"),),
        )


@rule("NR105", "map-style-by-default", Severity.ERROR, fix=FixKind.SAFE)
def map_style_by_default(dataset: TrainingDataset) -> Iterator[Draft]:
    """No flag is set and all sources default to map style."""
    setting = dataset["force_iterable_dataset"]
    if _unforced(dataset) and _all_map_style(dataset):
        yield about(
            setting,
            "all sources are read in map style unless told otherwise (manifests without tars, cuts): "
            "`force_map_dataset: false` alone does not partition them between ranks and workers",
            recommended=True,
            rationale="`force_iterable_dataset: true` moves the sampler into the workers, where indexed sources partition.",
            fix=set_in_group(dataset, "force_iterable_dataset", True),
        )


@rule("NR106", "mixed-tarred-sources", Severity.ERROR, fix=FixKind.SAFE)
def mixed_tarred_sources(dataset: TrainingDataset) -> Iterator[Draft]:
    """Tarred and untarred sources are mixed without a forced style."""
    styles = {source.style: source for source in dataset.sources if source.style}
    if _unforced(dataset) and len(styles) > 1:
        examples = tuple(
            Related(source.location, f"this source is {'map' if style == MAP else 'iterable'} style")
            for style, source in styles.items()
        )
        yield about(
            dataset["force_iterable_dataset"],
            "tarred and untarred sources are mixed and no style is forced: the dataloader raises a ValueError at start-up",
            recommended=True,
            fix=set_in_group(dataset, "force_iterable_dataset", True),
            related=examples,
        )


def _unforced(dataset: TrainingDataset) -> bool:
    return dataset["force_map_dataset"].is_(False) and dataset["force_iterable_dataset"].is_(False)


@rule("NR107", "no-indexes-root", Severity.ERROR, fix=FixKind.SAFE)
def no_indexes_root(dataset: TrainingDataset) -> Iterator[Draft]:
    """There is no `indexes_root` for the sidecars."""
    setting = dataset["indexes_root"]
    without = [source for source in dataset.sources if source["indexes_root"].is_(None)]
    if not setting.is_(None) or (dataset.sources and not without):
        return
    remote = [path for source in without for path in source.paths if path.known and paths.is_remote(path.text)]
    root = dataset.config.context.indexes_root
    fix = set_in_group(dataset, "indexes_root", root) if root else None
    ask = "" if root else " Give it with --indexes-root or the setting `indexes-root`."
    if remote:
        yield about(
            setting,
            "`indexes_root` is not set and sources are remote: sidecars would be looked for beside the data in the "
            "object store, where nothing builds them",
            recommended=root,
            rationale="Remote data needs its `.idx` files on a file system that every node sees." + ask,
            fix=fix,
            related=(Related(remote[0].location, "the first remote source"),),
        )
    elif root or any(path.known for source in without for path in source.paths):
        yield about(
            setting,
            "`indexes_root` is not set: each sidecar lies beside its data file",
            recommended=root,
            rationale="Beside the data is fine where the data folder can be written." + ask,
            fix=fix,
            severity=Severity.NOTE,
        )


@rule("NR108", "node-local-indexes-root", Severity.WARNING)
def node_local_indexes_root(dataset: Dataset) -> Iterator[Draft]:
    """The `indexes_root` lies on storage that only one node has."""
    setting = dataset["indexes_root"]
    text = node_local_root(dataset)
    if text and dataset.config.launch is None:  # with a launcher, NR506 and NR507 say whether it is staged
        yield about(
            setting,
            f"`indexes_root` is `{text}`, which only one node sees: without a copy before each chunk, sidecars are "
            "missing and every rank rebuilds them at start-up",
            rationale="Stage the mirror to this path in every chunk and on every node, or use shared storage.",
        )


@rule("NR109", "unfixed-seed", Severity.ERROR, fix=FixKind.SAFE)
def unfixed_seed(dataset: TrainingDataset) -> Iterator[Draft]:
    """The seed is not an integer."""
    setting = dataset["seed"]
    if not setting.stated and dataset.shared is None:
        yield about(
            setting,
            "`seed` is not set: NeMo uses 0, which is fixed; state it so that no launcher changes it unseen",
            recommended=dataset.config.context.seed,
            severity=Severity.NOTE,
        )
    elif setting.known and setting.stated and not is_integer(setting.value):
        yield about(
            setting,
            f"`seed` is `{show(setting.value)}`, not an integer: {_seed_effect(setting)}",
            recommended=dataset.config.context.seed,
            fix=set_option(dataset, "seed", dataset.config.context.seed),
        )


def _seed_effect(setting: Setting) -> str:
    if setting.value in ("trng", "randomized"):
        return "workers draw other random numbers in every chunk, and `salm_train` cannot start on a string"
    return "the merge into NeMo's schema or the seeding refuses it at start-up"


@rule("NR110", "unfixed-shard-seed", Severity.ERROR, fix=FixKind.SAFE)
def unfixed_shard_seed(dataset: TrainingDataset) -> Iterator[Draft]:
    """The shard seed is not an integer."""
    seed = pinned_seed(dataset)
    setting = dataset["shard_seed"]
    if setting.known and not is_integer(setting.value):
        yield about(
            setting,
            f"`shard_seed` is {setting.phrase}: {_shard_seed_effect(setting.value)}",
            recommended=seed,
            rationale="Every rank and every chunk has to draw the same order, which only a fixed integer gives.",
            fix=set_in_group(dataset, "shard_seed", seed, pins=True),
        )
    for entry in dataset.all_entries:
        own = entry.own("shard_seed") if not entry.flat else None
        if own is not None and own.known and not is_integer(own.value):
            yield about(
                own,
                f"`shard_seed` of this entry is `{show(own.value)}`, whatever the dataset says: "
                f"{_shard_seed_effect(own.value)}",
                recommended=seed,
                fix=in_group(dataset, f"Set `shard_seed` to {seed}", partial(entry.set, "shard_seed", seed), pins=True),
            )


def _shard_seed_effect(value: object) -> str:
    if value == "randomized":
        return "indexed sources raise a ValueError as soon as there is more than one rank or worker"
    if value == "trng":
        return (
            "once indexed, ranks draw different orders: items are silently repeated and dropped, and no resume is exact"
        )
    if isinstance(value, str):
        return "Lhotse raises a ValueError at the first iteration"
    return "the merge into NeMo's schema raises a ValidationError at start-up"


@rule("NR111", "concurrent-bucketing", Severity.ERROR, fix=FixKind.SAFE)
def concurrent_bucketing(dataset: TrainingDataset) -> Iterator[Draft]:
    """Bucketing fills its buckets in a thread that a restore does not start again."""
    setting = dataset["concurrent_bucketing"]
    if dataset.bucketing and setting.lacks(False):
        yield about(
            setting,
            f"bucketing is on and `concurrent_bucketing` is {setting.phrase}: a resumed run gets its first batches right "
            "and then waits forever, since the thread that fills the buckets is not restarted",
            recommended=False,
            fix=set_in_group(dataset, "concurrent_bucketing", False),
        )


@rule("NR112", "finite-training", Severity.ERROR, fix=FixKind.SAFE)
def finite_training(dataset: TrainingDataset) -> Iterator[Draft]:
    """Training data is forced to end."""
    setting = dataset["force_finite"]
    if setting.is_(True):
        yield about(
            setting,
            "`force_finite` is `true`: ranks run out of data at different steps and multi-GPU training deadlocks",
            recommended=False,
            fix=set_option(dataset, "force_finite", False),
        )
