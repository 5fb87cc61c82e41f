"""`check --staged`, which pre-commit runs: what a commit takes away counts too, and the output is short."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from nemo_resumable.core.records import dataclass

from .cli import OK
from .git import removed
from .output.cells import visible

if TYPE_CHECKING:
    from nemo_resumable.core.analysis import Analysis
    from nemo_resumable.core.findings import Finding
    from nemo_resumable.core.project import Project

    from .output.render import Report

_MOST_NAMED = 3  #: files named in one line; more are counted


def run(arguments: argparse.Namespace) -> int:
    """Carry out `check`, with --staged for a commit; a commit that has nothing of ours costs no more than git does."""
    if arguments.staged:
        root = _root(Path.cwd())
        arguments.gone = [path for path in removed(root) if path.name.endswith((".yaml", ".yml"))]
        if not arguments.gone and arguments.paths == ["."]:  # nothing was handed over
            return OK
        arguments.paths = [] if arguments.paths == ["."] else arguments.paths
    from .check import run as check

    return check(arguments)


def _root(folder: Path) -> Path:
    """The repository's top, as the settings see it."""
    return next((each for each in (folder, *folder.parents) if (each / ".git").exists()), folder)


#: unreadable-blend and unresolved-interpolation (of a base config): warnings, for what is not here may be where training runs.
_LOST = frozenset({"NR007", "NR003"})


def taken_away(analysis: Analysis, project: Project, gone: Sequence[Path]) -> Analysis:
    """The analysis with what a commit takes away from a config as an error: no longer does it lie elsewhere."""
    from nemo_resumable.core.discovery import asked_for
    from nemo_resumable.core.findings import Severity

    asked = {model.document.source.path: asked_for(model.document.source.path, project) for model in analysis.models}

    def lost(finding: Finding) -> bool:
        stem = PurePath(str(finding.current)).name.removesuffix(".yaml")
        reading = asked.get(finding.config) if finding.config is not None else None
        return (
            finding.code in _LOST
            and finding.code not in project.settings.severity
            and finding.name not in project.settings.severity
            and any(path.name.removesuffix(".yaml") == stem and path in (reading or ()) for path in gone)
        )

    return replace(
        analysis,
        findings=tuple(
            replace(
                finding,
                severity=Severity.ERROR,
                message=f"`{finding.current}` is taken away by this commit: training cannot read it and ends at start-up",
                rationale="Keep the file, or let the config name another one.",
            )
            if lost(finding)
            else finding
            for finding in analysis.findings
        ),
    )


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a check came to, beside its findings."""

    threshold: int  #: the rank of the least severe finding that blocks
    causes: Mapping[Path, Path]  #: of configs that nobody named, the file that they are judged for
    gone: frozenset[Path]
    changed: bool  #: whether --fix has changed a file


def summary(report: Report, outcome: Outcome, *, color: bool) -> str:
    """What blocks, one line each, or where nothing does what else was found; then what to do next."""
    from .output.concise import concise
    from .output.render import fixable, plural

    told = report.told
    blocking = [finding for finding in told if finding.severity.rank <= outcome.threshold]
    shown = told if report.verbose or not blocking else blocking
    lines = [concise(replace(report, analysis=replace(report.analysis, findings=tuple(shown))), color)]
    steps = []
    if blocking:
        files = _listed([report.name(file) for file in dict.fromkeys(f.location.file for f in blocking)])
        hidden = len(told) - len(shown)
        more = f" (-v shows {plural(hidden, 'finding')} of less weight)" if hidden else ""
        lines += _reasons(blocking, report, outcome)
        lines.append(f"{plural(len(blocking), 'finding')} in {files} to be mended first{more}.\n")
        mended = [finding.config or finding.location.file for finding in blocking if fixable(finding)]
        if mended:
            steps.append(f"nemo-resumable check --fix {_typed(mended, report)}  # mends what has a [*]")
        steps.append(f"nemo-resumable explain {blocking[0].code}  # what goes wrong, and how to mend it")
    if outcome.changed:
        steps.insert(0, "look at the changes (git diff), stage them and commit again")
    lines += [f"{'Next: ' if not index else '      '}{step}\n" for index, step in enumerate(steps)]
    return "".join(lines)


def _reasons(blocking: list[Finding], report: Report, outcome: Outcome) -> list[str]:
    """Why configs are judged that are no part of the commit, a line for each file of the commit."""
    by_cause: dict[Path, list[str]] = {}
    of_findings = {finding.config for finding in blocking}  # what several configs share is told once, for one of them
    for result in report.analysis.configs:
        config = result.file
        if not (config in of_findings or result.readiness.startswith("not")):
            continue
        if (cause := outcome.causes.get(config)) is not None:
            by_cause.setdefault(cause, []).append(report.name(config))
    lines = []
    for cause, configs in by_cause.items():
        if cause in outcome.gone:
            how = "is taken away, and is named by"
        else:
            how = "is read by" if cause.name.endswith((".yaml", ".yml")) else "starts"
        lines.append(f"{report.name(cause)} {how} {_listed(configs)}.\n")
    return lines


def _listed(names: list[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(map(visible, names[:_MOST_NAMED])) + (f" and {more} more" if more > 0 else "")


def _typed(paths: list[Path], report: Report) -> str:
    """Paths as a shell takes them."""
    names = [report.name(path) for path in dict.fromkeys(paths)]
    typed = [shlex.quote(f"./{name}" if name.startswith("-") else name) for name in names[:_MOST_NAMED]]
    return " ".join(typed) + (" …" if len(names) > _MOST_NAMED else "")
