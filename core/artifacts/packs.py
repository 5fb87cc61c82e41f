"""`migrate --packs`: which outer datasets get an index pack, their declarations in the patched copies, the conversions.

A pack is converted from sidecars that exist, by NeMo's `convert_indexes_to_idxpack.py`, from a document that holds the
sources of just one outer dataset. What packs do not support keeps its sidecars and is reported with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from ..analysis import analyze
from ..findings import Edit
from ..model import packs, paths
from ..model.blend import Entry
from ..model.config import TrainingConfig
from ..model.dataset import Dataset
from ..model.obstacles import obstacle
from ..model.packs import Outer
from ..model.values import Unknown
from ..project import Project
from ..records import dataclass
from ..syntax.applying import annotated, apply_edits
from ..syntax.editing import CannotEdit
from ..syntax.nodes import Document, to_plain
from ..syntax.reader import read
from ..syntax.store import Unreadable
from ..text import Source

#: Names of folders that say nothing of a dataset.
_PLAIN = frozenset(
    {"data", "manifests", "manifest", "tarred", "tarred_audio", "audio", "tars", "shards", "train", "jsonl"}
)


@dataclass(frozen=True, slots=True)
class Kept:
    """An outer dataset that stays on loose sidecars although it is as large as a pack asks for, with the reason."""

    entry: Entry
    place: str  #: file and line
    shards: int
    reason: str


@dataclass(frozen=True, slots=True)
class Declared:
    """An outer dataset that is declared to have a pack, by this migration or before it."""

    entry: Entry
    place: str
    name: str  #: as declared, relative to the root
    held: tuple[Entry, ...]
    shards: int
    file: Path | None  #: where it will lie on this machine, None where a part of that is not known
    new: bool


@dataclass(frozen=True, slots=True)
class Plan:
    """What `--packs` does."""

    declared: tuple[Declared, ...] = ()
    kept: tuple[Kept, ...] = ()
    small: int = 0  #: outer datasets with fewer shards than the threshold
    threshold: int = 1000
    rootless: bool = False  #: packs could be made, but nobody says where they go: nothing was declared


def declare(
    project: Project, original: TrainingConfig, texts: Mapping[Path, Source], *, annotate: bool
) -> tuple[dict[Path, Source], Plan]:
    """The texts with packs declared on the outer entries that qualify, and the plan behind it. Places are those of the
    original, where its entries can be told apart."""
    file = original.document.source.path
    changed = project.with_overlays(overlays(texts))
    config = analyze(changed, [file]).models[0]
    refused: frozenset[Path] = frozenset()
    while True:
        plan, edits = _planned(config, refused)
        bad = {path for path, wanted in edits.items() if not _adds_packs_alone(changed.store.load(path), wanted)}
        if not bad:
            break
        refused |= bad
    places = {_looks(entry): place_of(entry) for dataset in original.datasets for entry in dataset.all_entries}
    plan = replace(
        plan,
        declared=tuple(replace(pack, place=places.get(_looks(pack.entry), pack.place)) for pack in plan.declared),
        kept=tuple(replace(kept, place=places.get(_looks(kept.entry), kept.place)) for kept in plan.kept),
    )
    result = dict(texts)
    for path, wanted in edits.items():
        document = changed.store.load(path)
        assert isinstance(document, Document)
        notes = {edit: f"index pack: {edit.note}" for edit in wanted}
        result[path] = annotated(document.source, wanted, notes) if annotate else apply_edits(document.source, wanted)
    return result, plan


def _adds_packs_alone(document: Document | Unreadable, edits: list[Edit]) -> bool:
    """Whether a file says what it said before, save for packs."""
    assert isinstance(document, Document)
    after = read(apply_edits(document.source, edits))
    if not after.parses or document.root is None or after.root is None:
        return False
    return _without_packs(to_plain(document.root)) == _without_packs(to_plain(after.root))


def _without_packs(value: object) -> object:
    if isinstance(value, dict):
        return {
            key: _without_packs(item) for key, item in value.items() if key not in ("index_pack", "index_pack_root")
        }
    return [_without_packs(item) for item in value] if isinstance(value, list) else value


def overlays(texts: Mapping[Path, Source]) -> dict[Path, str]:
    """Changed texts as a project takes them in place of files."""
    return {path: ("\ufeff" if source.bom else "") + source.text for path, source in texts.items()}


def built(project: Project, plan: Plan) -> Project:
    """The project as it is once the packs of a plan are converted: they count as being there."""
    files = {pack.file for pack in plan.declared}
    presence = project.presence
    return replace(project, presence=lambda path: True if path in files else presence(path))


def existing(config: TrainingConfig) -> tuple[Declared, ...]:
    """The packs that a config declares on outer datasets; one that is declared for a whole mixture is none of them."""
    owners: dict[int, tuple[Entry, list[Entry]]] = {}
    for dataset in config.datasets:
        ours: set[int] = set()  # an entry that two datasets share is looked at in the first
        for source in dataset.sources:
            entry = _owner(source)
            if entry is None or not packs.opens_packs(source) or packs.misfit(source) is not None:
                continue
            key = id(entry.mapping)
            if key not in owners or key in ours:
                owners.setdefault(key, (entry, []))[1].append(source)
                ours.add(key)
    return tuple(_declared(entry, tuple(held)) for entry, held in owners.values())


def _owner(source: Entry) -> Entry | None:
    """The entry whose pack a source has; None where it has none, or the pack is one for a whole mixture."""
    if packs.declared_pack(source) is None:
        return None
    owner = packs.declarer(source)
    if isinstance(owner, Entry):
        return owner
    outer = packs.outer_entries(owner)
    return outer[0] if len(outer) == 1 else None


def _declared(entry: Entry, held: tuple[Entry, ...]) -> Declared:
    file = packs.pack_file(held[0])
    name = str(held[0]["index_pack"].value)
    path = file.path if file is not None else None
    return Declared(entry, place_of(entry), name, held, sum(map(packs.shards, held)), path, new=False)


def _planned(config: TrainingConfig, refused: frozenset[Path]) -> tuple[Plan, dict[Path, list[Edit]]]:
    threshold = config.context.pack_threshold
    uses: dict[int, list[tuple[Dataset, Outer]]] = {}
    for dataset in config.datasets:
        for outer in packs.outer_datasets(dataset):
            uses.setdefault(id(outer.entry.mapping), []).append((dataset, outer))
    declared = list(existing(config))
    taken = {pack.name.rsplit("/", 1)[-1] for pack in declared}
    kept: list[Kept] = []
    chosen: list[Edit] = []
    roots: list[Edit] = []  # after all others: a section that ends with an entry has its own end at the same place
    small, rootless = 0, False
    for shared in uses.values():
        outer = shared[0][1]
        if any(each.packed for _, each in shared) or not any(dataset.is_training for dataset, _ in shared):
            continue
        reason = next((why for dataset, each in shared if (why := _why_not(each))), "")
        size = sum(map(packs.shards, outer.entry.leaves()))
        if size < threshold:
            small += bool(outer.held)
        elif reason:
            kept.append(Kept(outer.entry, place_of(outer.entry), size, reason))
        elif (root := _root(shared[0][0], outer.entry)) is None:
            rootless = True
            kept.append(Kept(outer.entry, place_of(outer.entry), size, "no folder for packs is known"))
        elif paths.scheme(root) is not None:
            kept.append(Kept(outer.entry, place_of(outer.entry), size, f"packs have to be local, and `{root}` is not"))
        else:
            name = _name(outer, shared[0][0], taken)
            try:
                wanted = [*outer.entry.set("index_pack", name)]
                root_edits = [edit for dataset, _ in shared for edit in _set_root(dataset, outer.entry)]
                if any(edit.file in refused for edit in (*wanted, *root_edits)):
                    raise CannotEdit("what the file says would change")
            except CannotEdit as error:
                kept.append(
                    Kept(outer.entry, place_of(outer.entry), size, f"its entry cannot be edited safely: {error}")
                )
                continue
            taken.add(name)
            chosen += wanted
            roots += root_edits
            file = None if "${" in root else config.context.launch_dir / root / name
            declared.append(
                Declared(outer.entry, place_of(outer.entry), name, outer.held, outer.shards, file, new=True)
            )
    edits: dict[Path, list[Edit]] = {}
    for edit in dict.fromkeys((*chosen, *roots)):
        edits.setdefault(edit.file, []).append(edit)
    return Plan(tuple(declared), tuple(kept), small, threshold, rootless), edits


def _why_not(outer: Outer) -> str:
    """Why an outer dataset is not packed, as a clause; empty where it is."""
    runtime = outer.entry.dataset.config.context.runtime
    if not runtime.index_packs:
        return f"{runtime.nemo.label} has no index packs"
    if outer.unread:
        return "a blend below it could not be read"
    if outer.misfits:
        source, wrong = outer.misfits[0]
        more = f" and {len(outer.misfits) - 1} more" if len(outer.misfits) > 1 else ""
        return wrong.reason + (f" ({_called(source)}{more})" if source is not outer.entry else "")
    if not outer.held:
        return "its sources need no sidecars that a pack could hold"
    for source in outer.held:
        if (found := obstacle(source)) is not None:
            return f"{_called(source)} cannot be indexed ({found.code})"
        if not source["indexed"].is_(True):
            return f"{_called(source)} is not indexed in the patched copy"
        if unread := packs.beyond_lhotse(source):
            return unread
        if any(not path.known and "???" in path.text for path in source.paths):
            return f"the path of {_called(source)} is not stated yet"
    if len({str(source["indexes_root"].value) for source in outer.held}) > 1:
        return "its sidecars lie under different index roots, and one conversion reads from one"
    return ""


def _called(source: Entry) -> str:
    """A source by its data: lines move with the patches."""
    return f"`{next((path.text for path in source.paths), source.subject)}`"


def _root(dataset: Dataset, entry: Entry) -> str | None:
    """The folder its pack goes to: as the config states it, else the settings; None where nobody says."""
    stated = entry["index_pack_root"]
    if stated.known and stated.value is None:
        return dataset.config.context.index_pack_root
    return stated.value.text if isinstance(stated.value, Unknown) else str(stated.value)


def _set_root(dataset: Dataset, entry: Entry) -> tuple[Edit, ...]:
    stated = entry["index_pack_root"]
    root = dataset.config.context.index_pack_root
    if stated.known and stated.value is None and root is not None:
        return dataset.set("index_pack_root", root)
    return ()


def _name(outer: Outer, dataset: Dataset, taken: set[str]) -> str:
    """A file name for a pack: what the entry calls itself, else the folder of its data; no two are the same."""
    found = next(iter(_candidates(outer)), dataset.path[-1])
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", found).strip("-.") or dataset.path[-1]
    name, number = f"{stem}.idxpack", 1
    while name in taken:
        number += 1
        name = f"{stem}-{number}.idxpack"
    return name


def _candidates(outer: Outer) -> Iterator[str]:
    yield from packs.names(outer.entry)
    for path in outer.held[0].paths[:1]:
        if path.known:
            folders = re.split(r"[/\\]", re.split(r"[{(<\[]|_OP_", path.text)[0])[:-1]
            yield from (name for name in reversed(folders) if name and name.lower() not in _PLAIN and ":" not in name)


def _looks(entry: Entry) -> tuple[object, ...]:
    """What an entry is known by when lines and indexes have moved: its file and the data below it."""
    texts = tuple(path.text for leaf in entry.leaves() for path in leaf.paths)
    return entry.document.source.path, entry.type_name if isinstance(entry.type_name, str) else "", texts


def place_of(entry: Entry) -> str:
    """File and line of an entry."""
    source = entry.location.source
    return f"{source.path.name}:{source.lines.position(entry.location.span.start).line}"
