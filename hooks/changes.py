"""What --fix writes and --diff prints: the verified changes of every group of files."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from nemo_resumable.core.analysis import Analysis, analyze
from nemo_resumable.core.findings import Finding
from nemo_resumable.core.fixing import Only, fix
from nemo_resumable.core.model.reading import readings
from nemo_resumable.core.settings import repository_root
from nemo_resumable.core.text import Source
from nemo_resumable.core.writing import WriteRefused, write_atomically

from .options import Group
from .output.diff import unified
from .output.render import excludable, fixable, plural, shown
from .output.terminal import complain, emit, use_color
from .parts import parts


def mend(groups: list[Group], arguments: argparse.Namespace, cwd: Path) -> tuple[list[Analysis], int, bool]:
    """Apply or print the changes.

    Returns what is to be reported (after --fix what is left, with --diff what there is), the number of files changed
    or that would change, and whether a file could not be written.
    """
    analyses: list[Analysis] = []
    changed: set[Path] = set()
    shown_diffs: set[str] = set()
    applied = 0
    refused = False
    for group in groups:
        for files, found in parts(analyze(group.project, group.files), group.files):
            if not any(_wanted(finding, arguments) for finding in found.findings):
                analyses.append(found)
                continue
            result = fix(
                group.project,
                files,
                exclude_blocked=arguments.exclude_blocked,
                only=_within(found, group, arguments) if group.causes else None,
            )
            for finding, reason in result.dropped:
                complain(f"the fix for {finding.code} in {shown(finding.location.file, cwd)} is not applied: {reason}")
            before = _sources(result.before)
            pairs = [(before[path], source) for path, source in sorted(result.texts.items())]
            if arguments.diff:
                for old, new in pairs:
                    text = unified(old, new, shown(new.path, cwd), use_color(arguments.color))
                    if text not in shown_diffs:  # a blend that is read under two settings files is met twice
                        emit(text, "utf-8")
                    shown_diffs.add(text)
                analyses.append(result.before)
                changed.update(result.texts)
                continue
            written = [new.path for old, new in pairs if _written(old, new, group)]
            refused = refused or len(written) < len(pairs)
            changed.update(written)
            applied += len(result.applied)
            # Where a file could not be written, only what now stands on disk can be reported.
            analyses.append(result.analysis if len(written) == len(pairs) else analyze(group.project, files))
    if arguments.diff:
        print(f"{plural(len(changed), 'file')} would change.", file=sys.stderr)
    elif changed and not refused:
        print(f"Fixed {plural(applied, 'finding')} in {plural(len(changed), 'file')}.", file=sys.stderr)
    return analyses, len(changed), refused


def _within(found: Analysis, group: Group, arguments: argparse.Namespace) -> Only:
    """Takes the fixes that stay within what was named and what it reads: other configs are judged, and left as they are."""
    open_ = {file for file in group.files if file not in group.causes} | set(group.causes.values())
    for model in found.models:
        if model.document.source.path in open_:
            open_ |= {reading.document.source.path for reading in readings(model)}

    def only(findings: Sequence[Finding]) -> bool:
        edits = [edit for finding in findings if finding.fix for edit in finding.fix.edits]
        return all(_wanted(finding, arguments) for finding in findings) and all(edit.file in open_ for edit in edits)

    return only


def _wanted(finding: Finding, arguments: argparse.Namespace) -> bool:
    chosen = fixable(finding) or (arguments.exclude_blocked and excludable(finding))
    return chosen and finding.suppressed is None


def _sources(analysis: Analysis) -> dict[Path, Source]:
    """The texts as they were when they were judged, whatever stands on disk by now."""
    sources = {reading.document.source for model in analysis.models for reading in readings(model)}
    sources |= {finding.location.source for finding in analysis.findings}
    return {source.path: source for source in sources}


def _written(before: Source, after: Source, group: Group) -> bool:
    """Write a file, unless somebody else has written it since it was read."""
    path = after.path
    settings = group.project.settings
    root = repository_root(path.parent)
    if settings.file is not None and path.is_relative_to(settings.root) and not (root / ".git").exists():
        root = settings.root
    try:
        if path.read_bytes() != before.to_bytes():
            raise WriteRefused(f"`{path}` has changed meanwhile; run the command again")
        write_atomically(path, after.to_bytes(), root=root)
    except OSError as error:
        complain(str(error))
        return False
    return True
