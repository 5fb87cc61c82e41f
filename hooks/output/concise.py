"""One line a finding: `file:line:column: error[NR110] message [*]`, the star where --fix applies."""

from __future__ import annotations

from .cells import visible
from .render import Report, fixable, statistics
from .terminal import paint


def concise(report: Report, color: bool) -> str:
    """The open findings, one line each, and nothing where there are none."""
    lines = []
    for finding in report.told:
        start = finding.location.source.lines.position(finding.location.span.start)
        place = f"{visible(report.name(finding.location.file))}:{start.line}:{start.column}"
        kind = paint(f"{finding.severity.value}[{finding.code}]", finding.severity.value, color)
        star = f" {paint('[*]', 'help', color)}" if fixable(finding) else ""
        lines.append(f"{place}: {kind} {visible(finding.message)}{star}\n")
    if report.statistics:
        lines.append(statistics(report.told))
    return "".join(lines)
