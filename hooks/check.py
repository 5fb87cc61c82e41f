"""`nemo-resumable check`: findings, and with --fix or --diff the changes that mend them."""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Sequence
from pathlib import Path

from nemo_resumable.core.analysis import Analysis, analyze
from nemo_resumable.core.findings import Severity
from nemo_resumable.core.project import Project

from .cli import FAILED, FOUND, OK
from .options import UsageError, project_from
from .output.render import Report, render
from .output.terminal import use_color


def run(arguments: argparse.Namespace) -> int:
    """Carry out the command."""
    if arguments.exclude_blocked and not (arguments.fix or arguments.diff):
        raise UsageError("--exclude-blocked goes with --fix or --diff")
    if arguments.stdin_filename or "-" in arguments.paths:
        project, files = _from_stdin(arguments)
        failed = False
    else:
        paths = [Path(name) for name in arguments.paths]
        first = Path.cwd() / paths[0]
        project = project_from(arguments, first if first.is_dir() else first.parent)
        discovery = project.discover(paths, force_exclude=arguments.force_exclude)
        files = discovery.files
        failed = _tell(discovery.problems)
    changes = 0
    if arguments.fix or arguments.diff:
        analysis, changes, refused = _fix(project, files, arguments)
        failed = failed or refused
    else:
        analysis = analyze(project, files)
    named = {Path(name) for name in arguments.paths}
    failed = _tell([p for p in analysis.problems if not _from_folder(p[0], named, project.cwd)]) or failed
    _print(analysis, project, arguments, changes)
    threshold = Severity(arguments.fail_on)
    found = any(f.suppressed is None and f.severity.rank <= threshold.rank for f in analysis.findings)
    if failed:
        return FAILED
    return FOUND if found or changes else OK


def _from_folder(file: Path, named: set[Path], cwd: Path) -> bool:
    """Whether an unreadable file was only met in a folder: any other repository file is passed over in silence."""
    return all(Path(cwd / path) != file for path in named)


def _tell(problems: Sequence[tuple[Path, str]]) -> bool:
    for _, sentence in problems:
        print(f"nemo-resumable: {sentence}", file=sys.stderr)
    return bool(problems)


def _from_stdin(arguments: argparse.Namespace) -> tuple[Project, tuple[Path, ...]]:
    if arguments.fix:
        raise UsageError("--fix cannot change the standard input; use --diff")
    if not arguments.stdin_filename:
        raise UsageError("`-` needs --stdin-filename, which says where the text belongs")
    path = Path.cwd() / arguments.stdin_filename
    try:
        text = sys.stdin.buffer.read().decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"the standard input is not UTF-8 at byte {error.start}") from None
    project = project_from(arguments, path.parent if path.parent.is_dir() else None)
    return project.with_overlays({path: text}), (path,)


def _fix(project: Project, files: Sequence[Path], arguments: argparse.Namespace) -> tuple[Analysis, int, bool]:
    """Write or print the changes; returns the analysis to report, the number of changed files, whether one failed."""
    from nemo_resumable.core.fixing import fix
    from nemo_resumable.core.settings import repository_root
    from nemo_resumable.core.writing import WriteRefused, write_atomically

    result = fix(project, files, exclude_blocked=arguments.exclude_blocked)
    for finding, reason in result.dropped:
        print(f"nemo-resumable: the fix for {finding.code} is not applied: {reason}", file=sys.stderr)
    refused = False
    for path, source in sorted(result.texts.items()):
        if arguments.diff:
            before = project.store.load(path)
            old = getattr(before, "source", source)
            name = _relative(path, project.cwd)
            lines = difflib.unified_diff(
                old.text.splitlines(keepends=True), source.text.splitlines(keepends=True), name, name
            )
            sys.stdout.writelines(
                line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
            )
            continue
        try:
            write_atomically(path, source.to_bytes(), root=repository_root(project.cwd))
        except WriteRefused as error:
            print(f"nemo-resumable: {error}", file=sys.stderr)
            refused = True
    if not arguments.diff and result.applied:
        number, changed = len(result.applied), len(result.texts)
        print(f"Fixed {number} finding{'s'[: number != 1]} in {changed} file{'s'[: changed != 1]}.", file=sys.stderr)
    return (result.before if arguments.diff else result.analysis), len(result.texts), refused


def _relative(path: Path, cwd: Path) -> str:
    return path.relative_to(cwd).as_posix() if path.is_relative_to(cwd) else str(path)


def _print(analysis: Analysis, project: Project, arguments: argparse.Namespace, changes: int) -> None:
    if arguments.diff and arguments.format == "full":
        print(f"{changes} file{'s'[: changes != 1]} would change.", file=sys.stderr)
        return
    color = use_color(arguments.color, to_file=bool(arguments.output))
    text = render(Report(analysis, project.cwd, arguments.verbose, arguments.statistics), arguments.format, color=color)
    if arguments.output:
        from nemo_resumable.core.writing import write_atomically

        write_atomically(Path.cwd() / arguments.output, text.encode("utf-8"))
    elif text:
        sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))
