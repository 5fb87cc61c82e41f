"""Annotations of GitHub Actions: workflow commands that the runner reads off the log of a step."""

from __future__ import annotations

from collections.abc import Iterator

from nemo_resumable.core.findings import Finding

from .cells import visible
from .levels import LEVELS
from .render import Report, fixable, plural, statistics

#: Of one step GitHub shows so many annotations of each kind (error, warning, notice); what comes later it leaves out.
SHOWN = 10


def github(report: Report) -> str:
    """The worst findings as annotations, as many as are shown, then all others as lines of the log.

    Annotations that GitHub leaves out would stand in the log without their place; as plain lines they keep it.
    """
    annotations: list[str] = []
    rest: list[str] = []
    numbers: dict[str, int] = {}
    for finding in sorted(report.told, key=lambda each: each.severity.rank):
        kind = LEVELS[finding.severity].github
        numbers[kind] = numbers.get(kind, 0) + 1
        if numbers[kind] <= SHOWN:
            annotations.append(_annotation(finding, kind, report))
        else:
            rest.append(_line(finding, report))
    lines = [*annotations, *_others(rest, numbers), *_verdicts(report)]
    if report.statistics:
        lines += statistics(report.told).splitlines()
    return "".join(f"{line}\n" for line in lines)


def _annotation(finding: Finding, kind: str, report: Report) -> str:
    start, end = finding.location.positions
    place = {"file": report.in_repository(finding.location.file), "line": str(start.line)}
    if end.line == start.line:
        # Columns are only read where an annotation keeps to one line.
        place |= {"col": str(start.column), "endColumn": str(max(end.column, start.column))}
    else:
        place["endLine"] = str(end.line)
    place["title"] = f"{finding.code} {finding.name}"
    properties = ",".join(f"{key}={_property(value)}" for key, value in place.items())
    message = finding.message + (f"\n{finding.rationale}" if finding.rationale else "")
    if fixable(finding) and finding.fix:
        message += f"\nFix available (--fix): {finding.fix.title}"
    return f"::{kind} {properties}::{_data(message)}"


def _others(rest: list[str], numbers: dict[str, int]) -> Iterator[str]:
    if not rest:
        return
    over = [plural(number - SHOWN, kind) for kind, number in numbers.items() if number > SHOWN]
    yield f"::group::{', '.join(over)} more: GitHub shows {SHOWN} annotations of a kind for a step"
    yield from rest
    yield "::endgroup::"


def _verdicts(report: Report) -> Iterator[str]:
    for config in report.analysis.configs:
        yield _plain(f"{visible(report.name(config.file))}: {config.readiness}")


def _line(finding: Finding, report: Report) -> str:
    start, _ = finding.location.positions
    place = f"{visible(report.name(finding.location.file))}:{start.line}:{start.column}"
    return _plain(f"{place}: {finding.severity.value}[{finding.code}] {visible(finding.message)}")


def _plain(line: str) -> str:
    """A line of the log. A file may be called `::error::x`: a line that began with that would be a command."""
    return f"- {line}" if line.lstrip().startswith(("::", "##[")) else line


def _data(text: str) -> str:
    return "%0A".join(visible(line).replace("%", "%25") for line in text.split("\n"))


def _property(text: str) -> str:
    return visible(text).replace("%", "%25").replace(":", "%3A").replace(",", "%2C")
