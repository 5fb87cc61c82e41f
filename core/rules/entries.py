"""NR310-NR315: entries of a blend: types, keys and weights."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from functools import lru_cache, partial

from ..findings import FixKind, Related, Severity
from ..model.blend import Entry
from ..model.dataset import Dataset
from ..model.schema import OPTIONS
from ..model.sources import COMMON_KEYS, DATA_CHANGING_TYPOS, SOURCE_TYPES
from ..model.values import Setting, show
from ..syntax.nodes import Sequence
from .drafts import Draft, about, attempt
from .registry import rule

_NAMING = ("input_cfg", "cuts_path", "shar_path", "manifest_filepath")


@rule("NR310", "unknown-source-type", Severity.ERROR, fix=FixKind.SAFE)
def unknown_source_type(entry: Entry) -> Iterator[Draft]:
    """The `type` of an entry is not registered."""
    runtime = entry.dataset.config.context.runtime
    if entry.flat or entry.type_name is None or (isinstance(entry.type_name, str) and entry.type_name in runtime.types):
        return
    setting = entry["type"]
    if not setting.known:
        return
    if isinstance(setting.value, str) and setting.value in SOURCE_TYPES:
        yield about(
            setting,
            f"`{setting.value}` is no source type of {runtime.nemo.label}, which registers it in later versions only: an "
            "AssertionError at start-up",
        )
        return
    near = difflib.get_close_matches(str(setting.value), sorted(runtime.types), 1, cutoff=0.8)
    fix = attempt(f"Set `type` to {near[0]}", lambda: entry.set("type", near[0])) if near else None
    yield about(
        setting,
        f"`{show(setting.value)}` is no source type: an AssertionError at start-up",
        recommended=near[0] if near else None,
        fix=fix,
    )


@rule("NR311", "incomplete-source", Severity.ERROR)
def incomplete_source(dataset: Dataset) -> Iterator[Draft]:
    """A key that names the data, or that the source type needs, is missing."""
    if not dataset.entries and all(dataset[key].known and dataset[key].value is None for key in _NAMING):
        yield Draft(
            "the dataset names no data (`input_cfg`, `cuts_path`, `shar_path` or `manifest_filepath`): start-up raises an "
            "IncompleteConfigError",
            dataset.location,
            dataset.subject,
        )
    for entry in dataset.all_entries:
        yield from _incomplete_entry(entry)


def _incomplete_entry(entry: Entry) -> Iterator[Draft]:
    kind = entry.type
    if not entry.flat and entry.find("type") is None:
        yield Draft("the entry has no `type`: start-up raises", entry.location, entry.subject)
        return
    shar = entry["shar_path"] if entry.reader == "shar" else None
    if shar is not None and isinstance(shar.value, dict) and "cuts" not in shar.value:
        message = "`shar_path` maps fields to shards and has no `cuts` among them: an AssertionError at start-up"
        yield about(shar, message, at_key=True)
    if kind is None or entry.flat:
        return
    for group in kind.needs:
        for key in group:
            if entry.has(key):
                break
        else:
            yield from _lacking(entry, kind.name, group)


def _lacking(entry: Entry, kind: str, group: tuple[str, ...]) -> Iterator[Draft]:
    """What there is to say of an entry that has none of the keys of which its type needs one."""
    settings = [entry[key] for key in group]
    if all(setting.known and setting.value is None for setting in settings):
        names = " or ".join(f"`{key}`" for key in group)
        yield Draft(
            f"`{kind}` needs {names}, and the entry has none: start-up raises",
            entry.location,
            f"{entry.subject}.{group[0]}",
            origin="entry",
        )


@lru_cache(maxsize=1 << 10)
def _reads_all(kind: str, keys: tuple[object, ...]) -> bool:
    """Whether there is nothing to look at: the entries of a blend mostly have the same few keys."""
    reads = SOURCE_TYPES[kind].reads
    return all(
        not isinstance(key, str)
        or key in reads
        or key in COMMON_KEYS
        or ((option := OPTIONS.get(key)) is not None and option.propagated)
        for key in keys
    )


@rule("NR312", "ignored-source-key", Severity.WARNING, fix=FixKind.SAFE)
def ignored_source_key(entry: Entry) -> Iterator[Draft]:
    """An entry has a key its type never reads."""
    kind = entry.type
    if kind is None or entry.flat or _reads_all(kind.name, tuple(entry.mapping.lookup)):
        return
    for key, _ in entry.mapping:
        if _reads_all(kind.name, (key,)):
            continue
        assert isinstance(key, str)
        setting = entry[key]
        meant = DATA_CHANGING_TYPOS.get(key)
        near = difflib.get_close_matches(key, kind.reads, 1, cutoff=0.9)
        if meant is None and near and key not in OPTIONS:
            meant = near[0]
        if meant is not None and meant in kind.reads and entry.find(meant) is None:
            effect = (
                "the source is read without its tars" if meant == "tarred_audio_filepaths" else f"`{meant}` stays unset"
            )
            yield about(
                setting,
                f"`{kind.name}` does not read `{key}`: {effect}, without a word",
                recommended=meant,
                severity=Severity.ERROR,
                fix=attempt(f"Rename to `{meant}`", partial(entry.rename, key, meant)),
                at_key=True,
            )
        else:
            yield about(setting, f"`{kind.name}` never reads `{key}`: it has no effect here", at_key=True)


@rule("NR313", "partial-weights", Severity.ERROR)
def partial_weights(dataset: Dataset) -> Iterator[Draft]:
    """Some siblings are weighted and some are not."""
    for siblings in _siblings(dataset):
        without = [entry for entry in siblings if entry.find("weight") is None]
        if without and len(without) < len(siblings):
            weighted = next(entry for entry in siblings if entry.find("weight") is not None)
            for entry in without:
                yield Draft(
                    "this entry has no `weight` and its siblings have: an AssertionError at start-up",
                    entry.location,
                    f"{entry.subject}.weight",
                    origin="entry",
                    related=(Related(weighted["weight"].location, "a sibling's weight"),),
                )


@rule("NR314", "invalid-weight", Severity.ERROR)
def invalid_weight(dataset: Dataset) -> Iterator[Draft]:
    """A weight is not a positive number."""
    runtime = dataset.config.context.runtime
    for siblings in _siblings(dataset):
        stated = [setting for entry in siblings if (setting := entry.own("weight")) is not None and setting.known]
        none_positive = len(siblings) > 1 and len(stated) == len(siblings) and all(s.value == 0 for s in stated)
        for setting in stated:
            value = setting.value
            if type(value) not in (int, float):
                what = "not a number"
            elif value < 0:  # type: ignore[operator]
                what = "negative"
            elif value > 0 or len(siblings) == 1:  # type: ignore[operator]
                continue
            elif none_positive:
                what = "and none beside it is positive"
            elif runtime.zero_weights:
                continue
            else:
                what = f"which {runtime.nemo.label} does not take as switched off"
            yield about(setting, f"`weight` is `{show(value)}`, {what}: the mixture raises a ValueError at start-up")


def _siblings(dataset: Dataset) -> Iterator[tuple[Entry, ...]]:
    """Each list of entries of a dataset's blend."""
    if dataset.entries and not dataset.entries[0].flat:
        yield dataset.entries
    for entry in dataset.all_entries:
        if entry.children:
            yield entry.children


@rule("NR315", "empty-group", Severity.ERROR)
def empty_group(dataset: Dataset) -> Iterator[Draft]:
    """An `input_cfg` list is empty."""
    candidates: list[tuple[Setting, str]] = [(dataset["input_cfg"], dataset.subject)]
    candidates += [
        (setting, entry.subject)
        for entry in dataset.all_entries
        if not entry.flat and (setting := entry.own("input_cfg")) is not None
    ]
    for setting, subject in candidates:
        if isinstance(setting.value, Sequence) and not setting.value.items:
            yield Draft(
                "`input_cfg` is an empty list: an AssertionError at start-up",
                setting.location,
                f"{subject}.input_cfg",
                [],
            )
