"""Findings for people: the full form with source lines, the concise form with one line each."""

from __future__ import annotations

from collections import Counter

from nemo_resumable.core.findings import Finding, FixKind, Location, Severity

from .render import Report, fixable
from .terminal import excerpt, paint, width, wrap


def full(report: Report, color: bool) -> str:
    """Every finding with its source line, the span underlined and what can be done; then the verdicts."""
    columns = width()
    blocks = [_finding(finding, report, columns, color) for finding in report.open]
    blocks.append(_summary(report, columns, color))
    return "\n".join(block for block in blocks if block)


def concise(report: Report, color: bool) -> str:
    """One line a finding, `[*]` where --fix applies."""
    lines = []
    for finding in report.open:
        start = finding.location.source.lines.position(finding.location.span.start)
        place = f"{report.name(finding.location.file)}:{start.line}:{start.column}"
        kind = paint(f"{finding.severity.value}[{finding.code}]", finding.severity.value, color)
        lines.append(f"{place}: {kind} {finding.message}{' [*]' if fixable(finding) else ''}")
    if report.statistics:
        lines += _statistics(report.open)
    return "".join(f"{line}\n" for line in lines)


def _finding(finding: Finding, report: Report, columns: int, color: bool) -> str:
    level = finding.severity.value
    head = f"{level}[{finding.code}] {finding.name}: "
    wrapped = wrap(head + finding.message, columns, "", "    ")
    wrapped = wrapped.replace(f"{level}[{finding.code}]", paint(f"{level}[{finding.code}]", level, color), 1)
    lines = [wrapped]
    last = max(_line(place) for place in [finding.location, *(r.location for r in finding.related)])
    gutter = len(str(last))
    lines += _place(finding.location, report, gutter, columns, color, "-->")
    for related in finding.related:
        lines += _place(related.location, report, gutter, columns, color, ":::", related.message)
    pad = " " * gutter
    for lead, text in _advice(finding):
        bar = paint("=", "frame", color)
        lines.append(wrap(f"{lead}: {text}", columns - 2, f"{pad} = ", f"{pad}   ").replace("=", bar, 1))
    return "\n".join(lines) + "\n"


def _line(location: Location) -> int:
    return location.source.lines.position(location.span.start).line


def _place(
    location: Location, report: Report, gutter: int, columns: int, color: bool, arrow: str, message: str = ""
) -> list[str]:
    lines = location.source.lines
    start, end = lines.position(location.span.start), lines.position(location.span.end)
    text = lines.line_text(start.line)
    last = end.column - 1 if end.line == start.line else len(text)
    shown, underline = excerpt(text, start.column - 1, last, columns - gutter - 4)
    frame = paint("|", "frame", color)
    pad, number = " " * gutter, paint(str(start.line).rjust(gutter), "frame", color)
    marks = paint(underline.lstrip(), "bold", color)
    blank = " " * (len(underline) - len(underline.lstrip()))
    where = f"{pad}{paint(arrow, 'frame', color)} {report.name(location.file)}:{start.line}:{start.column}"
    tail = f" {message}" if message else ""
    return [where, f"{number} {frame} {shown}".rstrip(), f"{pad} {frame} {blank}{marks}{tail}"]


def _advice(finding: Finding) -> list[tuple[str, str]]:
    advice = []
    fix = finding.fix
    if fix is not None:
        if fix.withheld:
            advice.append(("fix withheld", fix.withheld))
        elif fix.kind is FixKind.SAFE:
            advice.append(("fix with --fix", fix.title))
        else:
            advice.append(("choice", f"{fix.title}, with --fix --exclude-blocked"))
    if finding.rationale:
        advice.append(("note", finding.rationale))
    return advice


def _summary(report: Report, columns: int, color: bool) -> str:
    found = report.open
    if not found and not report.analysis.configs:
        return "No NeMo training config with Lhotse datasets found, nothing to report.\n"
    lines = []
    if report.statistics:
        lines += [*_statistics(found), ""]
    if found:
        counts = Counter(finding.severity for finding in found)
        named = ", ".join(_number(counts[level], level.value) for level in Severity if counts[level])
        files = len({finding.location.file for finding in found})
        number = sum(map(fixable, found))
        lines.append(f"Found {named} in {_number(files, 'file')}; {number} can be fixed with --fix.")
    else:
        lines.append("No findings.")
    suppressed = len(report.analysis.findings) - len(found)
    if suppressed:
        lines.append(f"{_number(suppressed, 'finding')} suppressed by comments.")
    shown = report.analysis.configs if report.verbose or len(report.analysis.configs) <= 10 else ()
    for config in shown:
        state = paint(config.readiness, "error" if config.readiness.startswith("not") else "help", color)
        lines.append(f"{report.name(config.file)}: {state}")
        if config.unverified and (report.verbose or config.readiness == "unverified"):
            lines.append(wrap("not inspected: " + "; ".join(config.unverified), columns, "  ", "    "))
    if not shown and report.analysis.configs:
        states = Counter(config.readiness for config in report.analysis.configs)
        lines.append("Configs: " + ", ".join(f"{number} {state}" for state, number in sorted(states.items())) + ".")
    return "\n".join(lines) + "\n"


def _number(number: int, noun: str) -> str:
    plural = noun if number == 1 or noun == "fatal" else f"{noun}s"
    return f"{number} {plural}"


def _statistics(found: list[Finding]) -> list[str]:
    counts = Counter((finding.code, finding.name) for finding in found)
    return [f"{number:5}  {code}  {name}" for (code, name), number in counts.most_common()]
