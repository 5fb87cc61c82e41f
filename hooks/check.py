"""`nemo-resumable check`: findings, and with --fix or --diff the changes that mend them."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable
from pathlib import Path

from nemo_resumable.core.analysis import Analysis, analyze
from nemo_resumable.core.findings import Severity
from nemo_resumable.core.repository import Repositories
from nemo_resumable.core.selecting import once

from .cli import FAILED, FOUND, OK
from .gate import Outcome, summary, taken_away
from .git import tracked
from .options import Group, Projects, UsageError
from .output.render import OF_MACHINES, Report, plural, render, shown, statistics
from .output.terminal import complain, emit, use_color


def run(arguments: argparse.Namespace) -> int:
    """Carry out the command."""
    short, arguments.format = arguments.staged and arguments.format is None, arguments.format or "full"
    _check_arguments(arguments)
    projects = Projects(arguments, repositories=Repositories(tracked if arguments.staged else None))
    groups, problems = _from_stdin(projects) if arguments.stdin_filename else _from_paths(projects)
    _tell(sentence for _, sentence in problems)
    if arguments.verbose:
        _tell(_settings_used(group) for group in groups)
    changes = 0
    failed = bool(problems)
    if arguments.fix or arguments.diff:
        from .changes import mend

        analyses, changes, refused = mend(groups, arguments, projects.cwd)
        failed = failed or refused
    else:
        analyses = [analyze(group.project, group.files) for group in groups]
        if arguments.gone:
            analyses = [taken_away(each, group.project, arguments.gone) for each, group in zip(analyses, groups)]
    analysis = _joined(analyses)
    baselines = bool(arguments.write_baseline) or any(group.project.settings.baseline for group in groups)
    if baselines:
        from .known import with_baselines

        analysis = with_baselines(analysis, groups, arguments, projects.cwd)
    # A file that was only met in a folder may be anything; one that was named has to be readable.
    named = {Path(os.path.normpath(projects.cwd / name)) for name in arguments.paths}
    for file, sentence in analysis.problems:
        if file in named or arguments.verbose:
            _tell([sentence.replace(f"`{file}`", f"`{shown(file, projects.cwd)}`")])
        failed = failed or file in named
    fail_on = Severity(arguments.fail_on)
    report = Report(analysis, projects.cwd, arguments.verbose, arguments.statistics, fail_on, failed, baselines)
    if short and not arguments.output:
        causes = {file: cause for group in groups for file, cause in group.causes.items()}
        outcome = Outcome(fail_on.rank, causes, frozenset(arguments.gone), bool(changes and arguments.fix))
        emit(summary(report, outcome, color=use_color(arguments.color)))
    elif not (failed and not analysis.findings and not analysis.configs and arguments.format == "full"):
        _print(report, arguments)
    if arguments.indexes:
        from nemo_resumable.core.model.indexes import summary as index_files

        emit("")  # progress leaves the terminal
        _tell([f"index files: {index_files(analysis.models)}"] if analysis.models else [])
    found = any(map(report.blocks, analysis.findings))
    return FAILED if failed else FOUND if found or changes else OK


def _check_arguments(arguments: argparse.Namespace) -> None:
    stdin = arguments.stdin_filename
    if "" in arguments.paths:
        raise UsageError("a path is empty; `.` is the current folder")
    if arguments.output == "-":
        arguments.output = None
    if arguments.fix and arguments.diff:
        raise UsageError("--fix changes files and --diff does not; give one of them")
    if arguments.exclude_blocked and not (arguments.fix or arguments.diff):
        raise UsageError("--exclude-blocked goes with --fix or --diff")
    if arguments.diff and arguments.format != "full" and not arguments.output:
        raise UsageError(f"--diff prints a diff; give --output FILE for the findings as {arguments.format}")
    if "-" in arguments.paths and not stdin:
        raise UsageError("`-` needs --stdin-filename, which says where the text belongs")
    if stdin and arguments.paths not in (["."], ["-"]):
        raise UsageError("--stdin-filename judges the standard input alone; leave the other paths out")
    if arguments.write_baseline and (arguments.diff or stdin):
        raise UsageError("--write-baseline writes what is found in files; leave --diff and the standard input out")
    if stdin and arguments.fix:
        raise UsageError("--fix cannot change the standard input; use --diff")


def _from_paths(projects: Projects) -> tuple[list[Group], list[tuple[Path, str]]]:
    arguments = projects.arguments
    return projects.groups(
        [Path(name) for name in arguments.paths],
        force_exclude=arguments.force_exclude,
        gone=arguments.gone,
        bases=arguments.staged,
    )


def _from_stdin(projects: Projects) -> tuple[list[Group], list[tuple[Path, str]]]:
    path = Path(os.path.normpath(projects.cwd / projects.arguments.stdin_filename))
    if path.is_dir():
        raise UsageError(f"--stdin-filename: `{projects.arguments.stdin_filename}` is a folder; name a file")
    data = sys.stdin.buffer.read() if sys.stdin is not None else b""
    if b"\0" in data[:8192]:
        raise UsageError("the standard input is binary")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise UsageError(f"the standard input is not UTF-8 at line {line}") from None
    project = projects.at(path.parent).with_overlays({path: text})
    discovery = project.discover([path], force_exclude=projects.arguments.force_exclude)
    return [Group(project, discovery.files)], []


def _joined(analyses: list[Analysis]) -> Analysis:
    if len(analyses) == 1:
        return analyses[0]
    return Analysis(
        once(finding for analysis in analyses for finding in analysis.findings),
        tuple(config for analysis in analyses for config in analysis.configs),
        tuple(problem for analysis in analyses for problem in analysis.problems),
        tuple(model for analysis in analyses for model in analysis.models),
    )


def _tell(sentences: Iterable[str]) -> None:
    for sentence in sentences:
        complain(sentence)


def _settings_used(group: Group) -> str:
    file = group.project.settings.file
    return f"{plural(len(group.files), 'file')} judged with {file or 'the default settings'}"


def _print(report: Report, arguments: argparse.Namespace) -> None:
    """The findings to the standard output or a file. With --diff the standard output belongs to the diff."""
    machine = arguments.format in OF_MACHINES
    if machine and arguments.statistics:
        print(statistics(report.open), end="", file=sys.stderr)
    if arguments.diff and not arguments.output:
        return
    color = use_color(arguments.color, to_file=bool(arguments.output))
    text = render(report, arguments.format, color=color)
    if arguments.output:
        _write(Path.cwd() / arguments.output, text.encode("utf-8", "backslashreplace"))
    else:
        emit(text, "utf-8" if machine else "")


def _write(path: Path, data: bytes) -> None:
    if path.is_dir():
        raise UsageError(f"--output: `{path}` is a folder; name a file")
    if not path.parent.is_dir():
        raise UsageError(f"--output: there is no folder `{path.parent}`; make it first")
    if path.exists() and not path.is_file():
        path.write_bytes(data)  # a device or a pipe: it is written to, never replaced
        return
    from nemo_resumable.core.writing import write_atomically

    write_atomically(path.resolve(), data)
