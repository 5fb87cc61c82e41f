"""Index files on this disk: what is wrong with the sidecars and the pack that a source would open.

Only `check --indexes` and `migrate --indexes` look: a context without an `IndexReader` says that nobody does. Files are
compared one by one and forgotten; kept are, for each path, counts and the first few examples.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .blend import Entry, PathText
from .index_judging import Verdict, judge
from .index_needs import (
    NOT_HERE,
    REMOTE,
    TARS,
    UNKNOWN_PATH,
    UNREADABLE,
    Group,
    is_remote,
    local,
    needed,
    pairs,
)
from .index_states import CORRUPT, MISSING, ROWS, STALE
from .pack_looks import PackLook, PackReader
from .packs import declared_pack, opens_packs
from .readers import SGROUTE
from .sidecar_files import ABSENT, FOLDER, UNSEEN, look
from .values import Setting

if TYPE_CHECKING:
    from .config import TrainingConfig

_EXAMPLES = 3
_STEP = 64  #: sidecars between two words of progress

#: Told how many index files were looked at, and of which entry.
Progress = Callable[[int, str], None]


@dataclass(frozen=True, slots=True)
class Example:
    """One file that is in trouble."""

    file: str  #: as the config names it
    sidecar: str  #: where it lies or should lie
    detail: str = ""  #: a clause without subject: "is 12 bytes long, …"


@dataclass(slots=True)
class Trouble:
    """What is wrong with some of the sidecars of one data key."""

    state: str  #: missing · corrupt · stale · rows
    path: PathText  #: the first path concerned
    kind: str  #: of the sidecars
    total: int = 0
    affected: int = 0
    examples: list[Example] = field(default_factory=list)
    severe: bool = False  #: missing: the loader does not build one of them; rows: there are more of them than members

    def add(self, example: Example, *, severe: bool = False) -> None:
        """Count one more."""
        self.affected += 1
        self.severe = self.severe or severe
        if len(self.examples) < _EXAMPLES:
            self.examples.append(example)


@dataclass(frozen=True, slots=True, eq=False)
class IndexFiles:
    """The index files of one source."""

    source: Entry
    root: Setting
    troubles: tuple[Trouble, ...] = ()
    looked: int = 0  #: sidecars that were there and were read
    unseen: tuple[str, ...] = ()  #: why some could not be looked at, as what is said of a source
    rootless: str = ""  #: why a local `indexes_root` holds nothing: "is not on this machine", "is no folder"
    pack: PackLook | None = None


@dataclass(slots=True)
class _Looked:
    """What is known of a group's sidecars: by state, how many and the first few; records by file, -1 where unknown."""

    total: int = 0
    read: int = 0
    found: dict[str, Trouble] = field(default_factory=dict)
    unseen: tuple[str, ...] = ()
    records: array[int] = field(default_factory=lambda: array("q"))


class IndexReader:
    """Looks at index files, each once a run."""

    def __init__(self, progress: Progress | None = None) -> None:
        self._progress = progress
        self._groups: dict[tuple[object, ...], _Looked] = {}
        self._packs = PackReader()
        self._count = 0

    def of(self, source: Entry) -> IndexFiles | None:
        """The index files of a source; None where it opens none."""
        if not source.judged_indexed:
            return None
        root = source["indexes_root"]
        groups = list(needed(source))
        if not (source.dataset.config.context.runtime.index_packs and opens_packs(source)):
            return self._judged(source, root, groups, None) if groups else None
        if not source["index_pack"].known:
            return IndexFiles(source, root, unseen=(UNKNOWN_PATH,))
        if declared_pack(source) is None:
            return self._judged(source, root, groups, None) if groups else None
        routes = [group for group in groups if group.kind == SGROUTE]
        return self._judged(source, root, routes, self._packs.look(source))

    def _judged(self, source: Entry, root: Setting, groups: list[Group], pack: PackLook | None) -> IndexFiles:
        unseen = [pack.unseen] if pack is not None and pack.unseen else []
        folder = (root.value or ".") if isinstance(root.value, str) else None
        if groups and (not root.known or (folder is None and root.value is not None)):
            return IndexFiles(source, root, unseen=(*unseen, UNKNOWN_PATH), pack=pack)
        if groups and folder is not None:
            there = REMOTE if is_remote(folder) else look(local(source, folder)).kind
            if there in (REMOTE, UNSEEN):
                return IndexFiles(source, root, unseen=(*unseen, UNREADABLE if there == UNSEEN else REMOTE), pack=pack)
            if there != FOLDER:
                missing = "is not on this machine" if there == ABSENT else "is no folder"
                return IndexFiles(source, root, unseen=(*unseen, NOT_HERE), rootless=missing, pack=pack)
        looked = [(group, self._look(source, folder, group)) for group in groups]
        unseen += [reason for _, each in looked for reason in each.unseen]
        troubles = (*_joined(looked), *_unequal(looked))
        read = sum(each.read for _, each in looked)
        return IndexFiles(source, root, troubles, read, tuple(dict.fromkeys(unseen)), pack=pack)

    def _look(self, source: Entry, root: str | None, group: Group) -> _Looked:
        """The group's sidecars, from memory where the same files were looked at before: for another launch, or a fix."""
        if group.unseen or not group.files:
            return _Looked(unseen=(group.unseen,) if group.unseen else ())
        place = (str(source.dataset.config.context.launch_dir), root, group.kind, group.built)
        key = (*place, group.path.text, group.files[0], group.files[-1], len(group.files))
        known = self._groups.get(key)
        if known is None:
            known = self._groups[key] = self._read(source, root, group)
        return known

    def _read(self, source: Entry, root: str | None, group: Group) -> _Looked:
        looked = _Looked(len(group.files))
        unseen: dict[str, None] = {}
        launch_dir = str(source.dataset.config.context.launch_dir)
        for file in group.files:
            verdict = judge(launch_dir, root, group.kind, group.built, file)
            looked.records.append(verdict.records)
            if not verdict.state:
                unseen[verdict.detail] = None
            elif verdict.state in (MISSING, CORRUPT, STALE):
                _count(looked, group, file, verdict)
            looked.read += verdict.state not in ("", MISSING)
            self._count += 1
            if self._progress is not None and self._count % _STEP == 0:
                self._progress(self._count, source.subject)
        looked.unseen = tuple(unseen)
        return looked


def _count(looked: _Looked, group: Group, file: str, verdict: Verdict) -> None:
    trouble = looked.found.setdefault(verdict.state, Trouble(verdict.state, group.path, group.kind, looked.total))
    trouble.add(Example(file, verdict.sidecar, verdict.detail), severe=verdict.severe)


def _joined(looked: list[tuple[Group, _Looked]]) -> Iterator[Trouble]:
    """The troubles of all paths of a key as one for each state: a list may name thousands of paths."""
    joined: dict[tuple[str, str], Trouble] = {}
    totals: dict[str, int] = {}
    for group, each in looked:
        totals[group.path.key] = totals.get(group.path.key, 0) + each.total
        for state, found in each.found.items():
            trouble = joined.setdefault((group.path.key, state), Trouble(state, group.path, found.kind))
            trouble.affected += found.affected
            trouble.severe = trouble.severe or found.severe
            trouble.examples += found.examples[: _EXAMPLES - len(trouble.examples)]
    for (key, _), trouble in joined.items():
        trouble.total = totals[key]
        yield trouble


def _unequal(looked: list[tuple[Group, _Looked]]) -> Iterator[Trouble]:
    """Manifests whose rows are more or fewer than the members of their tars, one trouble for the key of the others."""
    found: dict[str, Trouble] = {}
    beside: dict[int, list[tuple[Group, _Looked]]] = {}
    for others, other in looked:
        if others.pair >= 0 and not others.rows and other.records:
            beside.setdefault(others.pair, []).append((others, other))
    for rows, one in looked:
        for others, other in beside.get(rows.pair, ()) if rows.rows and one.records else ():
            trouble = found.setdefault(rows.path.key, Trouble(ROWS, rows.path, others.kind))
            for first, second in pairs(rows.files, others.files, others.kind):
                _compare(trouble, (rows, first, one.records[first]), (others, second, other.records[second]))
    yield from (trouble for trouble in found.values() if trouble.affected)


def _compare(trouble: Trouble, rows: tuple[Group, int, int], members: tuple[Group, int, int]) -> None:
    (group, first, count), (others, second, held) = rows, members
    if count < 0 or held < 0:
        return
    trouble.total += 1
    if count != held:
        if not trouble.affected:
            trouble.path, trouble.kind = group.path, others.kind
        what = "members" if others.kind in TARS else "rows"
        detail = (
            f"has {count:,} row{'s' * (count != 1)}, and `{others.files[second].rsplit('/', 1)[-1]}` {held:,} {what}"
        )
        trouble.add(Example(group.files[first], others.files[second], detail), severe=count > held)


def looked_at(config: TrainingConfig) -> Iterator[IndexFiles]:
    """What was found of every source that opens index files; nothing where nobody looks."""
    reader = config.context.indexes
    if reader is not None:
        for dataset in config.datasets:
            for source in dataset.sources:
                found = reader.of(source)
                if found is not None:
                    yield found


def unverified(config: TrainingConfig) -> list[str]:
    """What of the index files could not be looked at, a phrase for each reason."""
    return _reasons(looked_at(config))


def _reasons(found: Iterable[IndexFiles]) -> list[str]:
    reasons: dict[str, int] = {}
    for files in found:
        for reason in files.unseen:
            reasons[reason] = reasons.get(reason, 0) + 1
    return [f"the index files of {_counted(n, 'source')} {reason}" for reason, n in reasons.items()]


def summary(configs: Sequence[TrainingConfig]) -> str:
    """What was looked at and found of all configs, in a sentence; "" where nobody looks."""
    if all(config.context.indexes is None for config in configs):
        return ""
    files = [each for config in configs for each in looked_at(config)]
    packs = {each.pack.text for each in files if each.pack is not None and not each.pack.unseen}
    counts: dict[str, int] = {}
    for each in files:
        for trouble in each.troubles:
            counts[trouble.state] = counts.get(trouble.state, 0) + trouble.affected
    broken = sum(1 for each in files if each.pack is not None and (each.pack.problem or each.pack.troubles))
    names = {MISSING: "missing", CORRUPT: "corrupt", STALE: "stale", ROWS: "of other counts than their tars"}
    parts = [f"{counts[state]:,} {name}" for state, name in names.items() if state in counts]
    parts += [f"{_counted(broken, 'source')} with a pack that does not fit"] if broken else []
    read = sum(each.looked for each in files)
    looked = [_counted(read, "sidecar")] if read or not packs else []
    looked += [_counted(len(packs), "pack")] if packs else []
    text = f"{' and '.join(looked)} of {_counted(len(files), 'source')} read"
    if read or packs or parts:
        text += f": {', '.join(parts) or 'all as they should be'}"
    hidden = _reasons(files)
    return f"{text}; not looked at: {', '.join(hidden)}" if hidden else text


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"
