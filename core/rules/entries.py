"""NR310-NR318: entries of a blend: types, keys, weights and paths."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from functools import partial

from ..findings import FixKind, Related, Severity
from ..model import paths
from ..model.blend import Entry, PathText, Source
from ..model.dataset import Dataset
from ..model.schema import OPTIONS
from ..model.sources import COMMON_KEYS, DATA_CHANGING_TYPOS, SOURCE_TYPES
from ..model.values import Setting, show
from ..syntax.nodes import Sequence
from .blockers import at_path
from .drafts import Draft, about, attempt
from .registry import rule

#: What NeMo's tarred reader looks for in file names (nemo_adapters.py).
_TAR_NAME = re.compile(r"audio[^/]*_(\d+)[^/]*\.tar")
_NAMING = ("input_cfg", "cuts_path", "shar_path", "manifest_filepath")
_MANIFEST_NAME = re.compile(r"manifest[^/]*_(\d+)[^/]*\.json")


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
        if any(entry.has(key) for key in group):
            continue
        settings = [entry[key] for key in group]
        if all(setting.known and setting.value is None for setting in settings):
            names = " or ".join(f"`{key}`" for key in group)
            yield Draft(
                f"`{kind.name}` needs {names}, and the entry has none: start-up raises",
                entry.location,
                f"{entry.subject}.{group[0]}",
                origin="entry",
            )


@rule("NR312", "ignored-source-key", Severity.WARNING, fix=FixKind.SAFE)
def ignored_source_key(entry: Entry) -> Iterator[Draft]:
    """An entry has a key its type never reads."""
    kind = entry.type
    if kind is None or entry.flat:
        return
    for key, _ in entry.mapping:
        if not isinstance(key, str) or key in kind.reads or key in COMMON_KEYS:
            continue
        option = OPTIONS.get(key)
        if option is not None and option.propagated:
            continue
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
        without = [entry for entry in siblings if entry.own("weight") is None]
        if without and len(without) < len(siblings):
            weighted = next(entry for entry in siblings if entry.own("weight") is not None)
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
    candidates += [(entry["input_cfg"], entry.subject) for entry in dataset.all_entries if not entry.flat]
    for setting, subject in candidates:
        if isinstance(setting.value, Sequence) and not setting.value.items:
            yield Draft(
                "`input_cfg` is an empty list: an AssertionError at start-up",
                setting.location,
                f"{subject}.input_cfg",
                [],
            )


@rule("NR316", "shard-count-mismatch", Severity.ERROR)
def shard_count_mismatch(source: Source) -> Iterator[Draft]:
    """Manifests and tars do not pair up."""
    if source.reader not in ("nemo_tarred", "multimodal_conversation", "share_gpt"):
        return
    if not source.has("tarred_audio_filepaths") or source["tar_lookup_mode"].value not in (None, "paired"):
        return
    manifests = [path for path in source.paths if path.key == "manifest_filepath"]
    tars = [path for path in source.paths if path.key == "tarred_audio_filepaths"]
    if not manifests or not tars or any(path.known is False and "${" in path.name for path in (*manifests, *tars)):
        return
    rows, members = (sum(paths.count(path.text) for path in side) for side in (manifests, tars))
    at = source["tarred_audio_filepaths"]
    related = (Related(manifests[0].location, f"{rows} manifest{'s' if rows != 1 else ''}"),)
    if rows == 1 and source["index_pack"].value is not None:
        return  # one manifest for all tars: a pack holds the way from each row to its tar
    if rows != members:
        yield about(
            at,
            f"{rows} manifest{'s' if rows != 1 else ''} and {members} tar{'s' if members != 1 else ''} do not pair up: rows are "
            "looked up in the wrong tar or never read",
            related=related,
        )
    elif len(manifests) == len(tars) == 1 and rows > 1:
        if paths.shard_numbers(manifests[0].text) == paths.shard_numbers(tars[0].text):
            return  # the same ranges: no need to write out thousands of names
        left, right = (set(_numbers(path.text)) for path in (manifests[0], tars[0]))
        if left != right and rows <= 10_000:
            yield about(
                at,
                "manifests and tars carry different shard numbers: start-up raises an AssertionError or pairs the wrong files",
                related=related,
            )


def _numbers(pattern: str) -> Iterator[str]:
    for name in paths.expand(pattern):
        digits = re.findall(r"_(\d+)", name.rsplit("/", 1)[-1])
        yield digits[-1].lstrip("0") if digits else ""


@rule("NR317", "misread-path-pattern", Severity.ERROR)
def misread_path_pattern(source: Source) -> Iterator[Draft]:
    """A path pattern is not read as it looks."""
    for path in source.paths:
        if paths.is_pipe(path.text):
            continue
        if "@OP@" in path.text or "@CL@" in path.text:
            yield at_path(
                source, path, "`@OP@` and `@CL@` are not expanded: the path is opened as it stands", "", choice=False
            )
        elif path.known and source.reader != "shar" and paths.has_literal_brackets(path.text):
            yield at_path(
                source,
                path,
                f"brackets in a path become braces: NeMo opens `{paths.to_braces(path.text)}`",
                "",
                choice=False,
                severity=Severity.WARNING,
            )
        elif (
            source.reader == "nemo_tarred" and path.name and source["index_pack"].value is None
        ):  # packs know the pairs
            yield from _unmatched_name(source, path)


def _unmatched_name(source: Source, path: PathText) -> Iterator[Draft]:
    first = paths.first(path.text)
    if path.key == "tarred_audio_filepaths" and not _TAR_NAME.search(first):
        looks_for = "audio…_<number>….tar"
    elif path.key == "manifest_filepath" and paths.count(path.text) > 1 and not _MANIFEST_NAME.search(first):
        looks_for = "manifest…_<number>….json"
    else:
        return
    yield at_path(
        source,
        path,
        f"the tarred reader finds shard numbers in names like `{looks_for}`, which `{path.name}` is not: an AssertionError at "
        "start-up",
        "",
        choice=False,
    )


@rule("NR318", "unseekable-remote", Severity.WARNING)
def unseekable_remote(source: Source) -> Iterator[Draft]:
    """An indexed source lies on a backend that may lack range reads."""
    if not source.judged_indexed:
        return
    for path in source.paths:
        scheme = paths.scheme(path.text) if path.known else None
        if scheme not in (None, "pipe", "file", *paths.OBJECT_STORES):
            yield at_path(
                source,
                path,
                f"`{scheme}://` is read at offsets through AIStore's range reader, which may not serve it: without it, indexed "
                "access fails at start-up",
                "",
                choice=False,
            )
