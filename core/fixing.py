"""Fixes chosen, applied, read again and verified, round by round until nothing is left that can be fixed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .analysis import Analysis, analyze
from .findings import Edit, Finding, Fix, FixKind
from .project import Project
from .syntax.applying import annotated, apply_edits, ordered, overlap
from .syntax.nodes import Document, to_plain
from .text import Source

MAX_ROUNDS = 10


@dataclass(frozen=True, slots=True)
class FixResult:
    """What fixing did. `texts` holds the changed files; `analysis` is of the project with them."""

    texts: Mapping[Path, Source]
    applied: tuple[Finding, ...]
    dropped: tuple[tuple[Finding, str], ...]
    before: Analysis
    analysis: Analysis
    annotated: Mapping[Path, Source]


@dataclass(frozen=True, slots=True)
class _Unit:
    """Fixes that are applied all or not at all."""

    findings: tuple[Finding, ...]

    @property
    def edits(self) -> tuple[Edit, ...]:
        return tuple(edit for finding in self.findings if finding.fix for edit in finding.fix.edits)

    @property
    def key(self) -> tuple[object, ...]:
        return tuple(sorted((f.code, str(f.location.file), f.subject) for f in self.findings))


def fix(
    project: Project,
    files: Sequence[Path],
    *,
    for_artifact: bool = False,
    exclude_blocked: bool = False,
    limit: str = "",
) -> FixResult:
    """Fix what is safe in the files and what they read.

    `for_artifact` also applies what is withheld in place but belongs into a migrated copy; `exclude_blocked` takes the
    user's choice to comment out sources that cannot be indexed; `limit` keeps to the groups of one rule's code.
    """
    before = analysis = analyze(project, files)
    rejected: dict[tuple[object, ...], tuple[_Unit, str]] = {}
    applied: list[Finding] = []
    current = project
    texts: dict[Path, Source] = {}
    commented: dict[Path, Source] = {}
    for _ in range(MAX_ROUNDS):
        units = [
            unit for unit in _units(analysis.findings, for_artifact, exclude_blocked, limit) if unit.key not in rejected
        ]
        units = _without_overlaps(units)
        if not units:
            break
        kept, attempt = _verified(current, files, analysis, units, rejected)
        if attempt is None:
            continue
        for path, edits in _by_file(kept).items():
            document = current.store.load(path)
            assert isinstance(document, Document)
            notes = _notes(kept)
            base = commented.get(path, document.source)
            commented[path] = _annotate(base, document.source, edits, notes)
            texts[path] = attempt.sources[path]
        applied += [finding for unit in kept for finding in unit.findings]
        current, analysis = attempt.project, attempt.analysis
    dropped = tuple((finding, reason) for unit, reason in rejected.values() for finding in unit.findings)
    return FixResult(texts, tuple(applied), dropped, before, analysis, commented)


def _units(findings: Iterable[Finding], for_artifact: bool, exclude_blocked: bool, limit: str) -> list[_Unit]:
    groups: dict[object, list[Finding]] = {}
    for finding in findings:
        fix = finding.fix
        if fix is None or not fix.edits or finding.suppressed is not None:
            continue
        wanted = fix.kind is FixKind.SAFE or (exclude_blocked and finding.code.startswith("NR3"))
        held = bool(fix.withheld) and not (for_artifact and fix.artifact)
        if not wanted or held:
            continue
        key: object = (
            (finding.config, fix.group) if fix.group else (finding.code, finding.location.span, finding.location.file)
        )
        groups.setdefault(key, []).append(finding)
    units = [_Unit(tuple(group)) for group in groups.values()]
    return [unit for unit in units if not limit or any(finding.code == limit for finding in unit.findings)]


def _without_overlaps(units: list[_Unit]) -> list[_Unit]:
    """The units that can be applied together; those that touch the same characters wait for the next round."""
    chosen: list[_Unit] = []
    for unit in units:
        if not any(overlap(ordered(edits)) for edits in _by_file([*chosen, unit]).values()) or (
            not chosen and not any(overlap(ordered(edits)) for edits in _by_file([unit]).values())
        ):
            chosen.append(unit)
    return chosen


def _by_file(units: Iterable[_Unit]) -> dict[Path, list[Edit]]:
    files: dict[Path, list[Edit]] = {}
    for unit in units:
        for edit in unit.edits:
            files.setdefault(edit.file, []).append(edit)
    return files


@dataclass(frozen=True, slots=True)
class _Attempt:
    project: Project
    analysis: Analysis
    sources: Mapping[Path, Source]


def _verified(
    project: Project,
    files: Sequence[Path],
    analysis: Analysis,
    units: list[_Unit],
    rejected: dict[tuple[object, ...], tuple[_Unit, str]],
) -> tuple[list[_Unit], _Attempt | None]:
    """Apply units together, or, where that does not verify, one by one; what fails alone is rejected."""
    attempt = _try(project, files, analysis, units)
    if isinstance(attempt, _Attempt):
        return units, attempt
    if len(units) == 1:
        rejected[units[0].key] = (units[0], attempt)
        return [], None
    good: list[_Unit] = []
    best: _Attempt | None = None
    for unit in units:
        outcome = _try(project, files, analysis, [*good, unit])
        if isinstance(outcome, _Attempt):
            good.append(unit)
            best = outcome
        else:
            rejected[unit.key] = (unit, outcome)
    return good, best


def _try(project: Project, files: Sequence[Path], analysis: Analysis, units: list[_Unit]) -> _Attempt | str:
    """The project after the edits, or the reason for which they are not taken."""
    sources: dict[Path, Source] = {}
    for path, edits in _by_file(units).items():
        document = project.store.load(path)
        if not isinstance(document, Document) or not document.parses:
            return f"{path.name} cannot be edited"
        sources[path] = apply_edits(document.source, edits)
    changed = project.with_overlays({path: _text(source) for path, source in sources.items()})
    for path in sources:
        before, after = project.store.load(path), changed.store.load(path)
        if not isinstance(after, Document) or not after.parses or not isinstance(before, Document):
            return f"{path.name} would not parse any more"
        touched = {key for finding in _all(units) for key in _keys(finding)}
        if _whole(units, path):
            continue
        stray = _stray_change(
            to_plain(before.root) if before.root else {}, to_plain(after.root) if after.root else {}, touched
        )
        if stray is not None:
            return f"`{stray}` would change too"
    again = analyze(changed, files)
    fixed = {_identity(finding) for finding in _all(units)}
    left = [finding for finding in again.findings if _identity(finding) in fixed and finding.suppressed is None]
    if left:
        return "the finding would still be there"
    new = _blocking(again) - _blocking(analysis)
    if new:
        code, _, subject = next(iter(new))
        return f"{code} at `{subject}` would appear"
    return _Attempt(changed, again, sources)


def _text(source: Source) -> str:
    return ("\ufeff" if source.bom else "") + source.text


def _all(units: Iterable[_Unit]) -> list[Finding]:
    return [finding for unit in units for finding in unit.findings]


def _identity(finding: Finding) -> tuple[str, Path, str]:
    return finding.code, finding.location.file, finding.subject


def _blocking(analysis: Analysis) -> Counter[tuple[str, Path, str]]:
    return Counter(_identity(f) for f in analysis.findings if f.severity.blocks and f.suppressed is None)


def _whole(units: list[_Unit], path: Path) -> bool:
    """Whether a fix gives the file another shape (a source left out, a blend unwrapped), so that paths move."""
    moving = ("NR009", "NR3", "NR014")
    return any(
        f.code.startswith(moving) and any(e.file == path for e in (f.fix.edits if f.fix else ())) for f in _all(units)
    )


def _keys(finding: Finding) -> set[str]:
    """The last keys a fix may change: the one the finding speaks of, and what its fix renames or sets beside it."""
    names = {finding.subject.rsplit(".", 1)[-1]}
    if isinstance(finding.recommended, str):
        names.add(finding.recommended)
    if finding.code in ("NR103", "NR203"):
        names |= {"force_map_dataset", "force_iterable_dataset"}
    return names


def _stray_change(before: object, after: object, allowed: set[str], path: str = "") -> str | None:
    """The first path at which two values differ although no fix speaks of it."""
    key = path.rsplit(".", 1)[-1]
    if key in allowed:
        return None
    if isinstance(before, dict) and isinstance(after, dict):
        for name in [*before, *(name for name in after if name not in before)]:
            inner = f"{path}.{name}" if path else str(name)
            if name not in before or name not in after:
                if str(name) not in allowed and not _new_section(after.get(name), allowed):
                    return inner
            elif (stray := _stray_change(before[name], after[name], allowed, inner)) is not None:
                return stray
        return None
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (old, new) in enumerate(zip(before, after)):
            if (stray := _stray_change(old, new, allowed, f"{path}.{index}")) is not None:
                return stray
        return None
    if before is None and isinstance(after, dict) and _new_section(after, allowed):
        return None
    same = repr(before) == repr(after)
    return None if same else path or "the document"


def _new_section(value: object, allowed: set[str]) -> bool:
    """Whether a value is only sections around keys that fixes set (created for a section of a base config)."""
    if not isinstance(value, dict) or not value:
        return False
    return all(str(name) in allowed or _new_section(inner, allowed) for name, inner in value.items())


def _notes(units: Iterable[_Unit]) -> dict[Edit, str]:
    notes: dict[Edit, str] = {}
    for finding in _all(units):
        for edit in finding.fix.edits if finding.fix else ():
            if edit.note:
                notes.setdefault(edit, f"{finding.code}: {edit.note}")
    return notes


def _annotate(base: Source, plain: Source, edits: list[Edit], notes: dict[Edit, str]) -> Source:
    """The annotated text after these edits, whose places are in the plain text of this round."""
    if base.text == plain.text:
        return annotated(base, edits, notes)
    moved = [_moved(edit, plain, base) for edit in edits]
    return annotated(base, moved, {new: notes[old] for old, new in zip(edits, moved) if old in notes})


def _moved(edit: Edit, plain: Source, base: Source) -> Edit:
    """An edit's place in a text that has more comment lines: lines are matched in order."""
    from .text import Span

    def offset(place: int) -> int:
        line = plain.lines.position(place).line
        start = plain.lines.starts[line - 1]
        wanted = [plain.lines.line_text(number) for number in range(1, line + 1)]
        number = 0
        for text in wanted:
            number += 1
            while number <= len(base.lines) and base.lines.line_text(number) != text:
                number += 1
        return base.lines.starts[min(number, len(base.lines)) - 1] + place - start

    return Edit(edit.file, Span(offset(edit.span.start), offset(edit.span.end)), edit.text, edit.note)


__all__ = ["Fix", "FixResult", "fix"]
