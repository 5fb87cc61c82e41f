"""Fixes chosen, applied, read again and verified, round by round until nothing is left that can be fixed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from .analysis import Analysis, analyze
from .findings import Edit, Finding, Fix, FixKind
from .project import Project
from .records import dataclass
from .repository import is_script
from .syntax.applying import Claims, annotated, largest, ordered, overlap
from .text import Source, Span
from .verification import Fault, changed_project, identity, leaves_out, source_of, verdict_fault

MAX_ROUNDS = 10
MAX_TRIALS = 30  #: changed texts, and analyses, in one round
EXHAUSTED = "too many fixes fail together"
MAX_TRIED_APART = 16
Only = Callable[[Sequence[Finding]], bool]
MAX_FAILURES = 2  #: a fix that failed beside others has another chance in a round without them


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


@dataclass(frozen=True, slots=True)
class _Attempt:
    """The project after edits that passed."""

    project: Project
    analysis: Analysis
    sources: Mapping[Path, Source]


class _Failures:
    """Units that were not taken, with the latest reason."""

    def __init__(self) -> None:
        self.counts: Counter[tuple[object, ...]] = Counter()
        self.reasons: dict[tuple[object, ...], tuple[_Unit, str]] = {}

    def add(self, unit: _Unit, reason: str, times: int) -> None:
        self.counts[unit.key] += times
        self.reasons[unit.key] = (unit, reason)

    def given_up(self, unit: _Unit) -> bool:
        return self.counts[unit.key] >= MAX_FAILURES


def fix(
    project: Project,
    files: Sequence[Path],
    *,
    for_artifact: bool = False,
    exclude_blocked: bool = False,
    limit: str = "",
    only: Only | None = None,
    rounds: int = MAX_ROUNDS,
) -> FixResult:
    """Fix what is safe in the files and what they read.

    `for_artifact` also applies what is withheld in place but belongs into a migrated copy; `exclude_blocked` takes the
    user's choice to comment out sources that cannot be indexed; `limit` keeps to the groups of one rule's code; `only` to
    fixes that the user chose, safe or not: it is asked of the findings whose fixes are made together.
    """
    before = analysis = analyze(project, files)
    failures = _Failures()
    applied: list[Finding] = []
    current = project
    texts: dict[Path, Source] = {}
    commented: dict[Path, Source] = {}
    for _ in range(rounds):
        units = _units(analysis.findings, for_artifact, exclude_blocked, limit, only, failures)
        units = _without_overlaps([unit for unit in units if not failures.given_up(unit)], failures)
        if not units:
            break
        kept, attempt = _verified(current, files, analysis, units, failures)
        if attempt is None:
            continue
        notes = _notes(kept)
        for path, edits in _by_file(kept).items():
            texts[path] = attempt.sources[path]
            if is_script(path):  # not every line of a script can have a comment above it
                commented[path] = texts[path]
            else:
                plain = source_of(current, path)
                commented[path] = _annotate(commented.get(path, plain), plain, edits, notes)
        applied += _all(kept)
        for unit in kept:
            failures.reasons.pop(unit.key, None)
        current, analysis = attempt.project, attempt.analysis
    left = {identity(finding, moved=True) for finding in analysis.findings}
    dropped = tuple(
        (finding, reason)
        for unit, reason in failures.reasons.values()
        for finding in unit.findings
        if identity(finding, moved=True) in left
    )
    return FixResult(texts, tuple(applied), dropped, before, analysis, commented)


def _units(
    findings: Iterable[Finding],
    for_artifact: bool,
    exclude_blocked: bool,
    limit: str,
    only: Only | None,
    failures: _Failures,
) -> list[_Unit]:
    """The fixes to make, in the groups in which they belong together."""
    groups: dict[object, list[Finding]] = {}
    broken: dict[object, str] = {}
    for finding in findings:
        fix = finding.fix
        if fix is None or finding.suppressed is not None:
            continue
        alone = (finding.code, finding.location.span, finding.location.file)
        key: object = (finding.config, fix.group) if fix.group else alone
        if not fix.edits:
            broken[key] = fix.withheld
            continue
        wanted = fix.kind is FixKind.SAFE or only is not None or (exclude_blocked and finding.code.startswith("NR3"))
        if wanted and (not fix.withheld or (for_artifact and fix.artifact)):
            groups.setdefault(key, []).append(finding)
    chosen = []
    for key, group in groups.items():
        unit = _Unit(tuple(group))
        if (limit and not any(finding.code == limit for finding in group)) or (only and not only(group)):
            continue
        if key in broken and not for_artifact:  # in place all or nothing; a migrated copy is judged by its report
            failures.add(unit, f"another fix of its group is missing: {broken[key]}", 0)
            continue
        chosen.append(unit)
    return chosen


def _without_overlaps(units: list[_Unit], failures: _Failures) -> list[_Unit]:
    """The units that can be applied together; those that touch the same characters wait for the next round."""
    claims: dict[Path, Claims] = {}
    chosen: list[_Unit] = []
    for unit in units:
        files = _by_file([unit])
        if any(overlap(ordered(edits)) for edits in files.values()):
            failures.add(unit, "its edits overlap", MAX_FAILURES)
        elif all(claims.setdefault(path, Claims()).free(edits) for path, edits in files.items()):
            chosen.append(unit)
            for path, edits in files.items():
                claims[path].claim(edits)
    return chosen


def _by_file(units: Iterable[_Unit]) -> dict[Path, list[Edit]]:
    files: dict[Path, list[Edit]] = {}
    for unit in units:
        for edit in unit.edits:
            files.setdefault(edit.file, []).append(edit)
    return files


def _verified(
    project: Project, files: Sequence[Path], analysis: Analysis, units: list[_Unit], failures: _Failures
) -> tuple[list[_Unit], _Attempt | None]:
    """The units that pass together: first as texts, which is cheap, then by a new analysis."""
    attempts: list[_Attempt] = []
    budget = Counter(text=MAX_TRIALS, analysis=MAX_TRIALS)

    def by_analysis(chosen: list[_Unit]) -> Fault | None:
        outcome = _changed(project, chosen)
        if isinstance(outcome, str):
            return Fault(outcome)
        sources, changed = outcome
        again = analyze(changed, files)
        fault = verdict_fault(analysis.findings, again.findings, _all(chosen), moved=_moving(chosen))
        if fault is None:
            attempts.append(_Attempt(changed, again, sources))
        return fault

    def trial(kind: str, test: Callable[[list[_Unit]], str]) -> Callable[[list[_Unit]], str]:
        def limited(chosen: list[_Unit]) -> str:
            budget[kind] -= 1
            return test(chosen) if budget[kind] >= 0 else EXHAUSTED

        return limited

    fault = by_analysis(units)
    failed: list[tuple[_Unit, str]] = []
    if fault is not None:
        # Where many fail in the same way, they are set aside at once; a few are told apart by trial.
        moved = _moving(units)
        blamed = [unit for unit in units if any(fault.blames(finding, moved=moved) for finding in unit.findings)]
        if len(blamed) > MAX_TRIED_APART:
            failed = [(unit, fault.reason) for unit in blamed]
            apart = {unit.key for unit in blamed}
            units = [unit for unit in units if unit.key not in apart]
        # Rules with few fixes first: a rule whose many fixes all fail must not use up the trials of the others.
        sizes = Counter(unit.findings[0].code for unit in units)
        units = sorted(units, key=lambda unit: (sizes[unit.findings[0].code], unit.findings[0].code))
        text = trial("text", lambda chosen: outcome if isinstance(outcome := _changed(project, chosen), str) else "")
        units, unreadable = largest([], units, text)
        judged = trial("analysis", lambda chosen: found.reason if (found := by_analysis(chosen)) else "")
        units, wrong = largest([], units, judged)
        failed += [*unreadable, *wrong]
    for unit, reason in failed:
        # What failed alone will fail again; what failed beside others is tried without them in the next round.
        alone = not units and (reason == EXHAUSTED or len(failed) <= MAX_TRIED_APART)
        failures.add(unit, reason, MAX_FAILURES if alone else int(reason != EXHAUSTED))
    return units, attempts[-1] if units else None


def _all(units: Iterable[_Unit]) -> list[Finding]:
    return [finding for unit in units for finding in unit.findings]


def _moving(units: Iterable[_Unit]) -> bool:
    return any(leaves_out(finding) for finding in _all(units))


def _changed(project: Project, units: list[_Unit]) -> tuple[dict[Path, Source], Project] | str:
    return changed_project(project, _by_file(units), _all(units))


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
    # The text so far has more comment lines: the others are matched in order.
    lines: list[int] = []
    number = 0
    for line in range(1, len(plain.lines) + 1):
        text = plain.lines.line_text(line)
        number += 1
        while number < len(base.lines) and base.lines.line_text(number) != text:
            number += 1
        lines.append(number)

    def moved(place: int) -> int:
        line = plain.lines.position(place).line
        return base.lines.starts[lines[line - 1] - 1] + place - plain.lines.starts[line - 1]

    shifted = [
        Edit(edit.file, Span(moved(edit.span.start), moved(edit.span.end)), edit.text, edit.note) for edit in edits
    ]
    return annotated(base, shifted, {new: notes[old] for old, new in zip(edits, shifted) if old in notes})


__all__ = ["Fix", "FixResult", "fix"]
