"""NR113-NR124: training options that make a resume inexact, or a start-up fail."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ..findings import FixKind, Related, Severity
from ..model.dataset import TrainingDataset
from ..model.schema import AIS_OPTIONS
from ..model.values import Setting, Unknown, show
from .drafts import Draft, about, set_option
from .migration import set_in_group
from .registry import rule
from .training import pinned_seed

#: Options that a `multi_config` top level does not hand to its sub-configs.
_UNSHARED = ("concurrent_bucketing", "force_map_dataset", "force_iterable_dataset", "slice_length", "max_open_streams")
_STORED_ORDER = frozenset(
    [
        "nemo_tarred",
        "txt_jsonl",
        "nemo_sft_jsonl",
        "nemotron_text_converation",
        "materialized_sft_messages",
        "multimodal_conversation",
        "share_gpt",
        "share_gpt_webdataset",
    ]
)


@rule("NR113", "unpinned-num-workers", Severity.WARNING)
def unpinned_num_workers(dataset: TrainingDataset) -> Iterator[Draft]:
    """The number of workers is not pinned."""
    setting = dataset["num_workers"]
    if not setting.stated:
        message = (
            "`num_workers` is not set: NeMo uses 0, and a launcher that sets it in one chunk only breaks the resume"
        )
    elif isinstance(setting.value, Unknown) and setting.value.kind != "missing":
        message = f"`num_workers` is `{setting.value.text}`: a chunk with another number of workers cannot restore"
    else:
        return
    yield about(
        setting, message, rationale="The worker count is part of the saved state; it has to be the same in every chunk."
    )


@rule("NR114", "open-stream-limit", Severity.WARNING)
def open_stream_limit(dataset: TrainingDataset) -> Iterator[Draft]:
    """The number of open streams is limited."""
    setting = dataset["max_open_streams"]
    if setting.known and setting.value is not None:
        yield about(
            setting,
            f"`max_open_streams` is `{show(setting.value)}`: the multiplexer's state cannot be restored at once, a resume "
            "replays all data drawn so far",
            recommended=None,
        )


@rule("NR115", "randomized-sampler-fusion", Severity.ERROR, fix=FixKind.SAFE)
def randomized_sampler_fusion(dataset: TrainingDataset) -> Iterator[Draft]:
    """Samplers are fused in random order."""
    setting = dataset["sampler_fusion"]
    if dataset.shared is not None and setting.is_("randomized_round_robin"):
        yield about(
            setting,
            "`sampler_fusion` is `randomized_round_robin`: the choice between samplers is not saved, so the order diverges "
            "after a resume",
            recommended="round_robin",
            rationale="`round_robin` and `zip` resume exactly; `round_robin` gives equal turns and ignores `sampler_weights`.",
            fix=set_option(dataset, "sampler_fusion", "round_robin"),
        )


@rule("NR116", "unshared-multi-config-option", Severity.ERROR, fix=FixKind.SAFE)
def unshared_multi_config_option(dataset: TrainingDataset) -> Iterator[Draft]:
    """An option stands at the top level of a `multi_config` dataset, which does not hand it down."""
    if dataset.shared is None:
        return
    for key in _UNSHARED:
        top = dataset.shared.get(key)
        own = dataset[key]
        if top is None or own.stated:
            continue
        value = dataset.config.resolution.value(top.node, (*dataset.shared.path, key))
        if isinstance(value, Unknown) or value == own.value:
            continue
        yield about(
            own,
            f"`{key}` is set beside this sub-config, where `multi_config` does not hand it down: here it is {own.phrase}",
            recommended=value,
            fix=set_option(dataset, key, value),
            related=(Related(top.location, "set here without effect"),),
        )


@rule("NR117", "incomplete-multi-config", Severity.ERROR, fix=FixKind.SAFE)
def incomplete_multi_config(dataset: TrainingDataset) -> Iterator[Draft]:
    """A `multi_config` dataset lacks an option that its top level must state."""
    if dataset.shared is None:
        return
    seed = pinned_seed(dataset)
    for key, value in (("seed", seed), ("shard_seed", seed), ("shuffle", True)):
        setting = dataset[key]
        if not setting.stated:
            pins = key == "shard_seed"
            yield about(
                setting,
                f"`multi_config` is on and `{key}` is not set at its top level: an AssertionError at start-up",
                recommended=value,
                fix=set_in_group(dataset, key, value, pins=True) if pins else set_option(dataset, key, value),
            )


@rule("NR118", "inexact-augmentation", Severity.WARNING)
def inexact_augmentation(dataset: TrainingDataset) -> Iterator[Draft]:
    """An augmentation draws random numbers that a checkpoint does not hold."""
    if dataset["perturb_speed"].is_(True):
        yield about(
            dataset["perturb_speed"],
            "`perturb_speed` draws its speed from a state that is not saved: batches after a resume differ in content",
        )
    truncation = dataset["truncate_duration"]
    if truncation.known and truncation.value is not None and dataset["truncate_offset_type"].is_("random"):
        yield about(
            truncation,
            "`truncate_duration` with random offsets draws them from a state that is not saved: after a resume other "
            "pieces are cut out",
            rationale='`truncate_offset_type: "start"` is exact.',
        )
    noise = dataset["noise_path"]
    if (
        noise.known
        and noise.value is not None
        and not (isinstance(noise.value, dict) and noise.value.get("indexed") is True)
    ):
        raises = dataset.bucketing is True
        yield about(
            noise,
            "`noise_path` is read without an index: "
            + ("the first checkpoint raises a RuntimeError" if raises else "the noise after a resume is not the same"),
            severity=Severity.ERROR if raises else None,
            rationale="A mapping with `cuts_path` and `indexed: true` reads the noise through an index.",
        )
    for source in dataset.all_entries:
        silence = source.own("add_extra_end_silence")
        if silence is not None and silence.is_(True):
            yield about(silence, "`add_extra_end_silence` draws from an unseeded generator: no resume is exact")


@rule("NR119", "ignored-ais-option", Severity.WARNING)
def ignored_ais_option(dataset: TrainingDataset) -> Iterator[Draft]:
    """An AIStore option stands in the YAML, where nothing reads it."""
    for key in sorted(AIS_OPTIONS):
        setting = dataset[key]
        if setting.stated and key not in dataset.config.context.runtime.options:
            yield about(
                setting,
                f"`{key}` is no option of the dataloader: it is dropped with a warning, only the environment variable "
                "`USE_AIS_GET_BATCH` counts",
                at_key=True,
            )


@rule("NR120", "unshuffled-index-order", Severity.NOTE)
def unshuffled_index_order(dataset: TrainingDataset) -> Iterator[Draft]:
    """Indexed sources of this kind are read in stored order."""
    stored = [source for source in dataset.sources if source.reader in _STORED_ORDER and source.judged_indexed]
    if stored:
        kinds = Counter(source.reader for source in stored)
        named = ", ".join(f"`{kind}`" for kind in kinds)
        yield Draft(
            f"{len(stored)} indexed source{'s' if len(stored) > 1 else ''} ({named}) are read in stored order, only the "
            "sampler's buffer shuffles: shuffle the data when it is built"
            if len(stored) > 1
            else f"this indexed source ({named}) is read in stored order, only the sampler's buffer shuffles: shuffle the "
            "data when it is built",
            stored[0].location,
            stored[0].subject,
        )


@rule("NR121", "no-batch-size", Severity.ERROR)
def no_batch_size(dataset: TrainingDataset) -> Iterator[Draft]:
    """Nothing says how large a batch is."""
    if all(_off(setting) for setting in dataset.batch_settings):
        yield about(
            dataset["batch_size"],
            "none of `batch_size`, `batch_duration`, `batch_tokens` and `bucket_batch_size` is set: a ValueError at start-up",
        )


def _off(setting: Setting) -> bool:
    return setting.known and (setting.value is None or setting.value is False)


@rule("NR122", "estimated-bucket-bins", Severity.NOTE)
def estimated_bucket_bins(dataset: TrainingDataset) -> Iterator[Draft]:
    """The duration bins of bucketing are estimated at start-up."""
    setting = dataset["bucket_duration_bins"]
    if dataset.bucketing and setting.is_(None):
        number = show(dataset["num_buckets"].value)
        yield about(
            setting,
            f"bucketing is on without `bucket_duration_bins`: unless `max_duration` bounds them, start-up estimates {number} "
            "bins by reading data, in every chunk",
            rationale="Estimate the bins once and state them.",
        )


@rule("NR123", "shuffling-off", Severity.WARNING)
def shuffling_off(dataset: TrainingDataset) -> Iterator[Draft]:
    """Training data is not shuffled."""
    setting = dataset["shuffle"]
    if setting.is_(False):
        yield about(setting, f"`shuffle` is {setting.phrase}: training sees the data in stored order", recommended=True)


@rule("NR124", "capped-batch", Severity.WARNING)
def capped_batch(dataset: TrainingDataset) -> Iterator[Draft]:
    """A batch size of one caps batches that a duration or token budget should fill."""
    size = dataset["batch_size"]
    if not size.is_(1):
        return
    for key in ("batch_duration", "batch_tokens"):
        budget = dataset[key]
        if budget.known and budget.value is not None:
            yield about(
                size,
                f"`batch_size` is `1` beside `{key}: {show(budget.value)}`: every batch holds a single item",
                recommended=None,
                related=(Related(budget.location, f"the budget of `{key}`"),),
            )
            return
