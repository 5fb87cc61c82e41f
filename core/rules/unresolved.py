"""NR003-NR008: what the rules need to know and cannot, and keys that the schema does not know."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from functools import lru_cache, partial

from ..findings import FixKind, Severity
from ..model.dataset import Dataset
from ..model.profiles import INDEXING, RESUMING
from ..model.schema import AIS_OPTIONS, OPTIONS, READ_ELSEWHERE, Option
from ..model.values import Setting, Unknown, show
from .drafts import Draft, about, attempt
from .registry import rule

#: Options whose effective value decides some rule.
NEEDED = (
    "indexed",
    "use_stateful_dataloader",
    "force_map_dataset",
    "force_iterable_dataset",
    "seed",
    "shard_seed",
    "use_bucketing",
    "bucket_duration_bins",
    "bucket_batch_size",
    "concurrent_bucketing",
    "indexes_root",
    "max_open_streams",
    "slice_length",
    "multi_config",
)
_BATCH = ("batch_size", "batch_duration", "batch_tokens")
_ENTRY_ONLY = frozenset({"type", "paths", "data_dir", "extra_fields", "tags", "weight", "language"})


@rule("NR003", "unresolved-interpolation", Severity.WARNING)
def unresolved_interpolation(dataset: Dataset) -> Iterator[Draft]:
    """A value the rules need cannot be resolved statically."""
    for setting in dataset.unknown(NEEDED):
        if isinstance(setting.value, Unknown) and setting.value.kind not in ("missing", "base"):
            yield about(
                setting,
                f"`{setting.key}` cannot be judged: {setting.value.reason}",
                rationale="Give the variable in the settings' `variables` table, or write the value out.",
            )
    for base in dataset.config.composition.missing:
        if base.may_set(dataset.path):
            yield Draft(
                f"the base config `{base.name}` is not found in the config's folder: what it may set of the datasets "
                "cannot be judged",
                base.location,
                "defaults",
                current=base.name,
                rationale="Check the config where its base configs are.",
            )
    for gap in dataset.config.gaps:
        if gap.dataset is dataset and gap.kind == "unknown":
            yield Draft(
                f"the sources behind `{gap.spec}` cannot be judged: {gap.reason}",
                gap.location,
                gap.subject,
                current=gap.spec,
                rationale="Give the variable in the settings' `variables` table, or name the file with --blend.",
            )
    unknown: dict[str, list[Setting]] = {}
    for source in dataset.sources:
        for setting in source.unknown_paths:
            if isinstance(setting.value, Unknown) and setting.value.kind != "missing":
                unknown.setdefault(setting.value.reason, []).append(setting)
    for reason, settings in unknown.items():
        first = settings[0]
        places = "" if len(settings) == 1 else f" (and so it is for {len(settings) - 1} more of this dataset)"
        yield about(
            first,
            f"the path cannot be judged in full: {reason}{places}",
            rationale="Give the variable in the settings' `variables` table.",
        )


@rule("NR004", "missing-mandatory-value", Severity.NOTE)
def missing_mandatory_value(dataset: Dataset) -> Iterator[Draft]:
    """A needed value is `???`."""
    launched = dataset.config.launch is not None
    ends = "no override of the launcher sets it, and OmegaConf raises" if launched else "the launcher has to set it"
    severity = Severity.ERROR if launched else None
    for setting in dataset.unknown((*NEEDED, "num_workers", *_BATCH)):
        if isinstance(setting.value, Unknown) and setting.value.kind == "missing":
            yield about(setting, f"`{setting.key}` is `???`: {ends}", severity=severity)
    for gap in dataset.config.gaps:
        if gap.dataset is dataset and gap.kind == "unset":
            message = f"`input_cfg` is `???`: {ends}"
            yield Draft(message, gap.location, gap.subject, current="???", severity=severity)
    for source in dataset.sources:
        for setting in source.unknown_paths:
            if isinstance(setting.value, Unknown) and setting.value.kind == "missing":
                yield about(
                    setting, f"`{setting.key}` is `???`: {ends}, and what it reads is not judged", severity=severity
                )


@rule("NR005", "unknown-option", Severity.WARNING, fix=FixKind.SAFE)
def unknown_option(dataset: Dataset) -> Iterator[Draft]:
    """The dataloader's schema does not know a key."""
    runtime = dataset.config.context.runtime
    options = runtime.options
    for key in dataset.own_keys:
        if key in options or key in READ_ELSEWHERE or key in AIS_OPTIONS or key.startswith("_"):
            continue
        setting = dataset[key]
        if key in OPTIONS:
            if key not in RESUMING and key not in INDEXING:  # of which NR702 speaks
                yield about(
                    setting,
                    f"`{key}` is no option of {runtime.nemo.label}, only of later versions: it is dropped with a warning",
                    at_key=True,
                )
            continue
        near = _near(key, tuple(options))
        if near is not None:
            yield about(
                setting,
                f"`{key}` is no option of the dataloader: it is dropped with a warning, as if `{near}` were not set",
                recommended=near,
                severity=Severity.ERROR,
                fix=attempt(f"Rename to `{near}`", partial(dataset.rename, key, near)),
                at_key=True,
            )
        else:
            belongs = (
                "belongs into an `input_cfg` entry and has no effect here"
                if key in _ENTRY_ONLY
                else ("is no option of the dataloader: it is dropped with a warning")
            )
            yield about(setting, f"`{key}` {belongs}", at_key=True)


@lru_cache(maxsize=1000)  # configs of one project have the same keys of their own
def _near(key: str, options: tuple[str, ...]) -> str | None:
    """The option that a key was meant to be."""
    return next(iter(difflib.get_close_matches(key, options, 1, cutoff=0.87)), None)


@rule("NR006", "wrong-type", Severity.ERROR)
def wrong_type(dataset: Dataset) -> Iterator[Draft]:
    """A value cannot be merged into the schema's type."""
    for key in dataset.own_keys:
        option = dataset.config.context.runtime.options.get(key)
        if option is None or key in ("seed", "shard_seed"):
            continue  # NR109, NR110 and NR206 speak of the seeds
        setting = dataset[key]
        if setting.known and setting.stated and not accepts(option, setting.value):
            yield about(
                setting,
                f"`{key}` is `{show(setting.value)}`, which OmegaConf cannot merge into the type {_named(option)}: a "
                "ValidationError at start-up",
            )
    for gap in dataset.config.gaps:
        if gap.dataset is dataset and gap.kind == "not-a-list":
            yield Draft(gap.reason, gap.location, gap.subject)


def accepts(option: Option, value: object) -> bool:
    """Whether OmegaConf's merge takes a value for an option's type (its node classes' own conversions)."""
    kind = option.type
    if kind == "any":
        return True
    if value is None:
        return kind.endswith("?")
    kind = kind.rstrip("?")
    if kind == "bool":
        return isinstance(value, bool)
    if kind == "int":
        return type(value) is int
    if kind == "float":
        return type(value) in (int, float) or (isinstance(value, str) and _is_number(value))
    if kind == "str":
        return not isinstance(value, (list, dict, bytes))
    if kind.startswith(("tuple[", "dict[")):
        return isinstance(value, list if kind.startswith("tuple") else dict)
    if kind == "int|str":
        return type(value) in (int, str)
    if kind.startswith("list["):
        inner = Option("", kind[5:-1], None)
        return isinstance(value, list) and all(isinstance(item, Unknown) or accepts(inner, item) for item in value)
    return True


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _named(option: Option) -> str:
    return f"`{option.type.rstrip('?')}`" + (" or null" if option.type.endswith("?") else "")


@rule("NR007", "unreadable-blend", Severity.WARNING)
def unreadable_blend(dataset: Dataset) -> Iterator[Draft]:
    """A blend file cannot be read from here."""
    for gap in dataset.config.gaps:
        if gap.dataset is dataset and gap.kind in ("missing", "remote"):
            yield Draft(
                f"the blend `{gap.spec}` is not read ({gap.reason}): its sources are unverified",
                gap.location,
                gap.subject,
                current=gap.spec,
                rationale="Name the file with --blend, set `launch-dir`, or run where the file is.",
            )


@rule("NR008", "blend-cycle", Severity.FATAL)
def blend_cycle(dataset: Dataset) -> Iterator[Draft]:
    """A blend file reaches itself."""
    for gap in dataset.config.gaps:
        if gap.dataset is dataset and gap.kind == "cycle":
            yield Draft(
                f"the blend `{gap.spec}` reaches itself: a RecursionError at start-up",
                gap.location,
                gap.subject,
                gap.spec,
            )
