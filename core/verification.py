"""Whether a changed file says what it said before, save where a fix speaks of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from .findings import Edit, Finding, FixKind
from .project import Project
from .records import dataclass
from .repository import is_script
from .syntax.applying import MAX_COMPARED_NODES, apply_edits
from .syntax.nodes import Document, to_plain
from .text import Source

Identity = tuple[str, str, str]
_Path = tuple[str, ...]


def identity(finding: Finding, *, moved: bool = False) -> Identity:
    """What makes two findings of two analyses the same: code, file and subject; without indexes where items moved."""
    subject = ".".join(_named(finding.subject.split("."))) if moved else finding.subject
    return finding.code, str(finding.location.file), subject


def source_of(project: Project, path: Path) -> Source:
    """The text of a file that an analysis has read, YAML or not."""
    source = project.store.made(path, _as_it_is)
    assert isinstance(source, Source)
    return source


def _as_it_is(source: Source) -> Source:
    return source


def changed_project(
    project: Project, edits: Mapping[Path, Sequence[Edit]], findings: Sequence[Finding]
) -> tuple[dict[Path, Source], Project] | str:
    """The files and the project after the edits, or the reason for which they are not taken. Of a launcher only the new
    verdict tells whether an edit was right."""
    sources: dict[Path, Source] = {}
    for path, wanted in edits.items():
        document = None if is_script(path) else project.store.load(path)
        if document is not None and not (isinstance(document, Document) and document.parses):
            return f"{path.name} cannot be edited"
        sources[path] = apply_edits(source_of(project, path), wanted)
    texts = {path: ("\ufeff" if source.bom else "") + source.text for path, source in sources.items()}
    changed = project.with_overlays(texts)
    for path in sources:
        if is_script(path):
            continue
        before, after = project.store.load(path), changed.store.load(path)
        assert isinstance(before, Document)
        assert isinstance(after, Document)
        concerned = [f for f in findings if f.fix and any(edit.file == path for edit in f.fix.edits)]
        if fault := document_fault(before, after, concerned):
            return fault
    return sources, changed


def document_fault(before: Document, after: Document, findings: Iterable[Finding]) -> str:
    """Why a changed document is not taken: unreadable, a new problem, or a value that no fix speaks of; else empty."""
    name = after.source.path.name
    if not after.parses:
        return f"{name} would not parse any more"
    if max(before.expanded_nodes, after.expanded_nodes) > MAX_COMPARED_NODES:
        return f"{name} is too large to be verified"
    known = Counter(problem.kind for problem in before.problems)
    for problem in after.problems:
        known[problem.kind] -= 1
        if known[problem.kind] < 0:
            return f"{problem.message} would be new"
    old, new = (to_plain(document.root) if document.root else None for document in (before, after))
    wanted = _Wanted(findings)
    stray = _stray(old, new, (), wanted)
    if stray is None:
        return ""
    return "it is the last source of its list" if wanted.emptied else f"`{'.'.join(stray) or name}` would change too"


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a change is not taken, and the files and subjects at which that shows."""

    reason: str
    places: frozenset[tuple[str, str]] = frozenset()

    def blames(self, finding: Finding, *, moved: bool) -> bool:
        """Whether the fault shows at what a finding's fix changes: its own key, or the one it recommends instead."""
        _, file, subject = identity(finding, moved=moved)
        renamed = ".".join([*subject.split(".")[:-1], str(finding.recommended)])
        return (file, subject) in self.places or (file, renamed) in self.places


def verdict_fault(
    before: Iterable[Finding], after: Iterable[Finding], fixed: Iterable[Finding], *, moved: bool = False
) -> Fault | None:
    """Why a changed project is not taken: a fixed finding is still there, or a blocking one is new; else None.

    `moved` says that list items were left out, so that subjects with later indexes have shifted.
    """
    old = [finding for finding in before if finding.suppressed is None]
    new = [finding for finding in after if finding.suppressed is None]
    mended = Counter(identity(finding, moved=moved) for finding in fixed)
    counts = Counter(identity(finding, moved=moved) for finding in old)
    left = Counter(identity(finding, moved=moved) for finding in new)
    still = [key for key, number in mended.items() if left[key] > max(counts[key] - number, 0)]
    if still:
        return Fault("the finding would still be there", frozenset((file, subject) for _, file, subject in still))
    # What index files a fix leads to, by another `indexes_root`, lies on the disk and not in the text: it is reported.
    caused = [finding for finding in new if not finding.code.startswith("NR8")]
    blocking = Counter(identity(finding, moved=moved) for finding in caused if finding.severity.blocks)
    blocking -= Counter(identity(finding, moved=moved) for finding in old if finding.severity.blocks)
    if not blocking:
        return None
    code, _, subject = next(iter(blocking))
    places = frozenset((file, subject) for _, file, subject in blocking)
    return Fault(f"{code} at `{subject}` would appear", places)


def leaves_out(finding: Finding) -> bool:
    """Whether a finding's fix takes an item out of a list."""
    return finding.fix is not None and finding.fix.kind is FixKind.CHOICE


#: Keys that a rule's fix sets beside the one its finding names.
_BESIDE = {
    "NR103": frozenset({"force_map_dataset", "force_iterable_dataset"}),
    "NR203": frozenset({"force_map_dataset", "force_iterable_dataset"}),
    "NR401": frozenset({"resume_ignore_no_checkpoint"}),
}


class _Wanted:
    """The changes that fixes speak of: the key each finding names, and what its fix renames or sets beside it."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        self.parents: dict[str, set[_Path]] = {}
        self.excluded = 0
        self.unwrapped = False
        self.emptied = False  #: set on the way: a list would lose its last item
        for finding in findings:
            self.excluded += leaves_out(finding)
            self.unwrapped |= finding.code == "NR009"
            *parent, key = finding.subject.split(".")
            names = {key}
            if isinstance(finding.recommended, str):
                names.add(finding.recommended)
            names |= _BESIDE.get(finding.code, frozenset())
            for name in names:
                self.parents.setdefault(name, set()).add(_named(parent))

    def explains(self, path: _Path) -> bool:
        """Whether a fix speaks of a path. A setting may stand in a section above the one that reads it, and a file may
        hold only the lower part of the config."""
        if not path or path[-1] not in self.parents:
            return False
        here = _named(path[:-1])
        return not here or any(
            parent[end - len(here) : end] == here
            for parent in self.parents[path[-1]]
            for end in range(len(here), len(parent) + 1)
        )


def _named(path: Iterable[str]) -> _Path:
    return tuple(part for part in path if not part.isdigit())


def _stray(before: object, after: object, path: _Path, wanted: _Wanted) -> _Path | None:
    """The first path at which two values differ although no fix speaks of it."""
    if wanted.explains(path):
        return None
    if isinstance(before, dict) and isinstance(after, dict):
        for name in [*before, *(name for name in after if name not in before)]:
            inner = (*path, str(name))
            if name in before and name in after:
                stray = _stray(before[name], after[name], inner, wanted)
            else:
                stray = _stray_leaf(before[name] if name in before else after[name], inner, wanted)
            if stray is not None:
                return stray
        return None
    if isinstance(before, list) and isinstance(after, list) and (len(before) == len(after) or wanted.excluded):
        return _stray_item(before, after, path, wanted)
    if before is None and isinstance(after, dict) and after:
        return _stray_leaf(after, path, wanted)
    if wanted.unwrapped and not path and isinstance(before, dict) and isinstance(after, list) and len(before) == 1:
        return _stray(next(iter(before.values())), after, path, wanted)
    if isinstance(before, list) and after is None and wanted.excluded:
        wanted.emptied = True
    return None if repr(before) == repr(after) else path


def _stray_leaf(value: object, path: _Path, wanted: _Wanted) -> _Path | None:
    """The first path of a new or removed section of which no fix speaks."""
    if wanted.explains(path):
        return None
    if isinstance(value, dict) and value:
        strays = (_stray_leaf(inner, (*path, str(name)), wanted) for name, inner in value.items())
        return next((stray for stray in strays if stray is not None), None)
    return path


def _stray_item(before: list[object], after: list[object], path: _Path, wanted: _Wanted) -> _Path | None:
    """The same for lists, of which fixes may have left out items."""
    spare = len(before) - len(after)
    if not 0 <= spare <= wanted.excluded:
        return path
    index = 0
    for number, old in enumerate(before):
        if index == len(after):
            return None  # the rest was left out
        stray = _stray(old, after[index], (*path, str(number)), wanted)
        if stray is None:
            index += 1
        elif spare:
            spare -= 1
        else:
            return stray
    return None
