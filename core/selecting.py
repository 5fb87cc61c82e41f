"""What the settings make of findings: which are chosen, how severe they are, and which are ignored in their file."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from .findings import Finding, Severity
from .project import Project
from .settings import Settings


def marked(found: Iterable[Finding], project: Project) -> list[Finding]:
    """The findings with the severity that the settings give their rule, and marked where per-file-ignores name it."""
    return [_excused(_levelled(finding, project.settings), project) for finding in found]


def chosen(found: Iterable[Finding], project: Project) -> list[Finding]:
    """Of marked findings those that are selected; fixes are held back where a member of their group is not among them."""
    selected: list[Finding] = []
    missing: dict[object, str] = {}  # fix groups of which a member is not there, with that member's code
    for finding in found:
        kept = is_chosen(finding, project.settings)
        if kept:
            selected.append(finding)
        if (not kept or finding.suppressed is not None) and finding.fix and finding.fix.group and finding.fix.edits:
            missing.setdefault((finding.config, finding.fix.group), finding.code)
    return [_held_back(finding, missing) for finding in selected] if missing else selected


def is_chosen(finding: Finding, settings: Settings) -> bool:
    """Whether the settings select a finding's rule and do not leave it out."""
    return is_selected(finding.code, finding.name, settings)


def is_selected(code: str, name: str, settings: Settings) -> bool:
    """Whether the settings select a rule and do not leave it out."""
    if settings.select and not _matches(code, name, settings.select):
        return False
    return not _matches(code, name, settings.ignore)


def without_needed(found: Iterable[Finding], every: Iterable[Finding], files: Collection[Path]) -> list[Finding]:
    """The findings without unused suppressions that some config does need, or may need.

    A blend that several configs read is judged once for each of them. What a comment in it suppresses for one may not
    arise for another; it is only unused where no config needs it. `every` holds the findings of all configs. Of a blend
    that was not asked for itself (it is none of the `files`), other configs may be at home that are not judged now.
    """
    needed = {
        (each.location.file, each.suppressed_at, word)
        for each in every
        if each.suppressed is not None and each.suppressed_at is not None
        for word in (each.code, each.name)
    }
    return [
        each
        for each in found
        if each.code != "NR014"
        or each.fix is None  # it cannot hold as it is written, for whomever
        or (each.location.file in files and (each.location.file, each.location.span, each.current) not in needed)
    ]


def _levelled(finding: Finding, settings: Settings) -> Finding:
    level = settings.severity.get(finding.code) or settings.severity.get(finding.name)
    return replace(finding, severity=Severity(level)) if level else finding


def _excused(finding: Finding, project: Project) -> Finding:
    """The finding as suppressed, where a pattern of per-file-ignores names its file and its rule."""
    settings = project.settings
    if finding.suppressed is not None or not settings.per_file_ignores:
        return finding
    relative = os.path.relpath(finding.location.file, settings.root).replace(os.sep, "/")
    for pattern, words in settings.per_file_ignores.items():
        if fnmatch.fnmatch(relative, pattern) and _matches(finding.code, finding.name, words):
            return replace(finding, suppressed=f"per-file-ignores of `{pattern}`", suppressed_by="settings")
    return finding


def _held_back(finding: Finding, missing: dict[object, str]) -> Finding:
    """The finding with its fix withheld where its group is not whole: part of a group may do harm."""
    fix = finding.fix
    code = missing.get((finding.config, fix.group)) if fix and fix.group else None
    if fix is None or code is None or fix.withheld:
        return finding
    return replace(
        finding, fix=replace(fix, withheld=f"it goes together with {code}, which is left out", artifact=False)
    )


def _matches(code: str, name: str, words: Sequence[str]) -> bool:
    return any(code.startswith(word.upper()) or name == word for word in words)


def once(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings of several analyses in order; of those that two of them have, the one that weighs more."""
    kept: dict[tuple[object, ...], Finding] = {}
    for finding in findings:
        key = (finding.code, finding.location.file, finding.location.span, finding.message)
        if key not in kept or _weight(finding) < _weight(kept[key]):
            kept[key] = finding
    return tuple(sorted(kept.values(), key=lambda f: (str(f.location.file), f.location.span, f.code, f.message)))


def _weight(finding: Finding) -> tuple[bool, int]:
    return finding.suppressed is not None, finding.severity.rank
