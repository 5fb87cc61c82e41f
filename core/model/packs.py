"""Index packs: where one is declared, which file it is, what it can hold, and which datasets would gain from one."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from ..findings import Edit
from ..records import dataclass
from ..syntax.nodes import Scalar
from . import paths
from .blend import Entry
from .dataset import Dataset
from .readers import READERS
from .resolution import MANDATORY
from .values import Setting

_INTERPOLATION = re.compile(r"\$\{[^{}]*\}")


def declared_pack(source: Entry) -> Setting | None:
    """The effective `index_pack` of a source, own or inherited, where one is known."""
    setting = source["index_pack"]
    return setting if setting.known and setting.value is not None else None


def packed_sources(dataset: Dataset) -> tuple[Entry, ...]:
    """The sources of a dataset that have a pack declared; most datasets have none, and it is asked often.

    None has where the NeMo in use does not know packs: it drops the option, and NR702 says so.
    """
    if not dataset.config.context.runtime.index_packs:
        return ()
    memo, key = dataset.config.memo, ("packed sources", dataset)
    found = memo.get(key)
    if not isinstance(found, tuple):
        found = memo[key] = tuple(source for source in dataset.sources if declared_pack(source) is not None)
    return found


def opens_packs(source: Entry) -> bool:
    """Whether the source's reader looks at `index_pack` at all."""
    reader = READERS.get(source.reader)
    return reader is not None and reader.pack is not None


def declarer(source: Entry) -> Dataset | Entry:
    """Who states the `index_pack` that a source has: itself, a group above it, or the dataset."""
    entry: Entry | None = source
    while entry is not None:
        if not entry.flat and entry.find("index_pack") is not None:
            return entry
        entry = entry.parent
    return source.dataset


def undeclare(owner: Dataset | Entry) -> tuple[Edit, ...]:
    """Edits that take the declaration out where it stands; raises CannotEdit."""
    return owner.remove("index_pack")


@dataclass(frozen=True, slots=True)
class PackFile:
    """The file that a declaration names. `path` is None where a part of it is not known or it is no local path."""

    text: str  #: the declared path, below the root where there is one
    path: Path | None
    folder: Path | None  #: the root, or the folder of an absolute path: whether this machine has it says who can look
    relative: bool = False  #: relative, and no root says to what
    remote: bool = False


def pack_file(source: Entry) -> PackFile | None:
    """The pack a source would open, by `_resolve_index_pack` of cutset.py; None where none is declared."""
    setting = declared_pack(source)
    if setting is None:
        return None
    text = str(setting.value)
    root = source["index_pack_root"]
    absolute = os.path.isabs(text)
    if paths.scheme(text) is not None or (not absolute and isinstance(root.value, str) and paths.scheme(root.value)):
        shown = text if absolute or paths.scheme(text) else f"{str(root.value).rstrip('/')}/{text}"
        return PackFile(shown, None, None, remote=True)
    if absolute:
        path = Path(text)
        return PackFile(text, path, path.parent)
    if not root.known:
        return PackFile(text, None, None)
    if root.value is None:
        return PackFile(text, None, None, relative=True)
    folder = source.dataset.config.context.launch_dir / str(root.value)
    return PackFile(f"{str(root.value).rstrip('/')}/{text}", folder / text, folder)


@dataclass(frozen=True, slots=True)
class Misfit:
    """Why a source cannot be part of a pack."""

    reason: str  #: a clause: "`lhotse` has no packed reader"
    effect: str  #: a clause that says what happens: "the converter raises a NotImplementedError"
    harmless: bool = False  #: the converter passes it over and the reader never looks at the pack


def misfit(source: Entry) -> Misfit | None:
    """Why packs do not support a source in the form it has; None where they do, or where that is not known."""
    kind, reader = source.type, READERS.get(source.reader)
    if kind is None or reader is None:
        return None
    if reader.pack is None:
        if reader.unpackable == "ignored" or kind.wrapper:
            what = f"{reader.name} inside `{kind.name}`" if kind.wrapper else f"`{kind.name}`"
            return Misfit(f"{what} has no packed reader", "the declaration has no effect on it", harmless=True)
        return Misfit(
            f"`{kind.name}` has no packed reader",
            "the pack is not read, and the converter raises a NotImplementedError",
        )
    return _MISFITS.get(reader.name, _paths_misfit)(source) or _remote_rows(source)


def beyond_lhotse(source: Entry) -> str:
    """Why the Lhotse in use cannot read a pack of the source, as a clause; empty where it can."""
    runtime = source.dataset.config.context.runtime
    if not runtime.pack_versions:
        return f"{runtime.lhotse.label} has no index packs"
    reader = READERS.get(source.reader)
    if reader is not None and reader.pack is not None and reader.pack.version > max(runtime.pack_versions):
        return f"{runtime.lhotse.label} reads no packs with routes from rows to tars"
    return ""


_START = "a ValueError at start-up"


def _form(source: Entry, key: str) -> str:
    """The form of a specification: path, list, nested (also weighted or a mapping), or "" where it is absent or unknown."""
    found = source.find(key)
    written = found.node if found is not None else None
    if isinstance(written, Scalar) and isinstance(written.value, str) and "${" not in written.value:
        return "path" if written.value != MANDATORY else ""
    value = source[key].value if source.has(key) else None
    if isinstance(value, str):
        return "path"
    if isinstance(value, list):
        return "nested" if not value or any(isinstance(item, (list, dict)) for item in value) else "list"
    return "nested" if isinstance(value, dict) else ""


def _remote_rows(source: Entry) -> Misfit | None:
    """Rows of a pack are read by `os.pread` (lhotse's packed_lazy.py): their files have to be local. Tars need not be."""
    for path in source.special_paths:
        rows = path.key == "manifest_filepath" or path.text.endswith((".json", ".jsonl"))
        if rows and path.known and paths.is_remote(path.text):
            return Misfit(
                f"manifests on `{paths.scheme(path.text)}://` cannot be read through a pack",
                "a ValueError at the first row",
            )
    return None


def _nemo_misfit(source: Entry) -> Misfit | None:
    forms = {key: _form(source, key) for key in ("manifest_filepath", "tarred_audio_filepaths")}
    for key, form in forms.items():
        if form == "nested":
            return Misfit(f"`{key}` is a nested or weighted list, and packs take one path or a flat list", _START)
    if {"path", "list"} == set(forms.values()):
        return Misfit("one of manifests and tars is a path and the other a list", _START)
    return None


def _conversation_misfit(source: Entry) -> Misfit | None:
    name = source.reader
    collection = name == "share_gpt" and source["tar_lookup_mode"].is_("collection")
    if name == "share_gpt" and not source["tar_lookup_mode"].known:
        return None
    form = _form(source, "manifest_filepath")
    if collection:
        tars = _form(source, "tarred_audio_filepaths")
        if "nested" in (form, tars):
            return Misfit("manifests or tars are nested lists, and packs take one path or a flat list", _START)
        return None
    if source.has("tarred_audio_filepaths"):
        return Misfit(f"packs hold `{name}` without paired tars only", _START)
    if form in ("list", "nested"):
        return Misfit(
            f"packs hold `{name}` with one manifest path only, not a list",
            "the converter raises a ValueError and the reader a KeyError",
        )
    return None


def _wds_misfit(source: Entry) -> Misfit | None:
    version = source["wds_sample_index_version"]
    if version.known and version.value not in (2, "2"):
        return Misfit("packs hold WebDataset tars only with `wds_sample_index_version: 2`", _START)
    return None


def _paths_misfit(source: Entry, *, jsonl_only: bool = False) -> Misfit | None:
    names = [path.text.lower() for path in source.paths if path.known]
    tars = sum(name.endswith(".tar") for name in names)
    if jsonl_only and tars:
        return Misfit("`materialized_sft_messages` reads JSONL only", _START)
    files = sum(bool(re.search(r"\.jsonl?$", name)) for name in names)
    if tars and files:
        return Misfit("JSONL files and tars are mixed, and a pack holds one kind", _START)
    return None


_MISFITS: dict[str, Callable[[Entry], Misfit | None]] = {
    "nemo": _nemo_misfit,
    "nemo_tarred": _nemo_misfit,
    "multimodal_conversation": _conversation_misfit,
    "share_gpt": _conversation_misfit,
    "share_gpt_webdataset": _wds_misfit,
    "materialized_sft_messages": partial(_paths_misfit, jsonl_only=True),
}


def shards(source: Entry) -> int:
    """How many shards a source names: tars where it has some, else files. A folder counts as one: it is not looked into."""
    tars = [path for path in source.paths if path.key == "tarred_audio_filepaths"]
    total = 0
    for path in tars or source.paths:
        total += paths.count(path.text if path.known else _INTERPOLATION.sub("x", path.text))
    return total


def outer_entries(dataset: Dataset) -> tuple[Entry, ...]:
    """The outermost entries that are mixed with each other: each is a dataset of its own, which one pack may hold.

    A lone group is looked through: a pack for it would hold the whole mixture.
    """
    entries = dataset.entries
    while len(entries) == 1 and entries[0].is_group and entries[0].children:
        entries = entries[0].children
    return entries


@dataclass(frozen=True, slots=True)
class Outer:
    """An outer dataset and what a pack would do with it."""

    entry: Entry
    held: tuple[Entry, ...]  #: sources that a pack can hold
    misfits: tuple[tuple[Entry, Misfit], ...]  #: sources for which no pack can be converted
    shards: int  #: of the sources held
    packed: bool  #: some source below has a pack already, or may have: its `index_pack` is not known
    unread: bool  #: a blend below it could not be read

    @property
    def supported(self) -> bool:
        """Whether a pack can be made of it."""
        return bool(self.held) and not self.misfits and not self.unread


def outer_datasets(dataset: Dataset, least: int = 0) -> Iterator[Outer]:
    """What packs would do with each outer dataset that names at least so many shards."""
    unread = {gap.location for gap in dataset.config.gaps}
    for entry in outer_entries(dataset):
        leaves = list(entry.leaves())
        if least and sum(map(shards, leaves)) < least:
            continue  # most are small, and the rest takes time
        found = [(leaf, misfit(leaf)) for leaf in leaves]
        held = tuple(leaf for leaf, wrong in found if wrong is None and opens_packs(leaf))
        yield Outer(
            entry,
            held,
            tuple((leaf, wrong) for leaf, wrong in found if wrong is not None and not wrong.harmless),
            sum(map(shards, held)),
            any(not leaf["index_pack"].known or leaf["index_pack"].value is not None for leaf in leaves),
            any(below["input_cfg"].location in unread for below in entry.walk() if not below.flat and below.is_group),
        )


def names(entry: Entry) -> tuple[str, ...]:
    """The names by which a person would know an outer dataset: what it calls itself, or the file its entries stand in."""
    found = [entry[key].value for key in ("name", "corpus") if not entry.flat and entry.find(key) is not None]
    spec = entry["input_cfg"].value if entry.is_group else None
    if isinstance(spec, str):
        found.append(Path(spec).stem)
    return tuple(name for name in dict.fromkeys(found) if isinstance(name, str) and name and "/" not in name)
