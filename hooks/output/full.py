"""Findings for people: each with its source line, the span underlined and what can be done; then the verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from nemo_resumable.core.analysis import UNVERIFIED, ConfigResult
from nemo_resumable.core.findings import Finding, FixKind, Location, Severity
from nemo_resumable.core.records import dataclass

from .cells import cells, excerpt, visible, wrap
from .render import Report, excludable, fixable, plural, statistics
from .terminal import paint, width

_MAX_TEXT = 100  #: sentences are hard to follow in longer lines, however wide the terminal
_MAX_CONFIGS = 10  #: verdicts named one by one; more are counted


@dataclass(frozen=True, slots=True)
class _Page:
    """What is drawn on: the report, the columns there are, whether in colour."""

    report: Report
    columns: int
    color: bool

    @property
    def text_columns(self) -> int:
        return min(self.columns, _MAX_TEXT)


def full(report: Report, color: bool) -> str:
    """Every open finding, then the summary."""
    page = _Page(report, width(), color)
    blocks = ["\n".join(_finding(finding, page)) + "\n" for finding in report.told]
    blocks.append("".join(f"{line}\n" for line in _summary(page)))
    return "\n".join(blocks)


def one(finding: Finding, report: Report, color: bool) -> str:
    """A single finding."""
    return "\n".join(_finding(finding, _Page(report, width(), color))) + "\n"


def _finding(finding: Finding, page: _Page) -> Iterator[str]:
    kind = f"{finding.severity.value}[{finding.code}]"
    head, *more = wrap(f"{kind} {finding.name}: {finding.message}", page.text_columns, rest="    ")
    yield paint(kind, finding.severity.value, page.color) + head[len(kind) :]
    yield from more
    places = [finding.location, *(related.location for related in finding.related)]
    gutter = max(len(str(place.source.lines.position(place.span.start).line)) for place in places)
    yield from _snippet(finding.location, page, gutter, "-->", finding.severity.value)
    for related in finding.related:
        yield from _snippet(related.location, page, gutter, ":::", "frame", related.message)
    for lead, text in _advice(finding):
        first, *rest = wrap(
            f"{lead}: {text}", page.text_columns, f"{'':{gutter}} = ", f"{'':{gutter}}   " + " " * (len(lead) + 2)
        )
        yield first.replace(f"= {lead}", f"{paint('=', 'frame', page.color)} {paint(lead, 'bold', page.color)}", 1)
        yield from rest


def _snippet(location: Location, page: _Page, gutter: int, arrow: str, style: str, label: str = "") -> Iterator[str]:
    """Where it is, the source line, and the underline with its label; of a span over lines the first."""
    lines = location.source.lines
    start, end = lines.position(location.span.start), lines.position(location.span.end)
    text = lines.line_text(start.line)
    stop = end.column - 1 if end.line == start.line else len(text.rstrip())
    shown, begin, length = excerpt(text, start.column - 1, stop, page.columns - gutter - 3)
    pad, bar = " " * gutter, paint("|", "frame", page.color)
    name = visible(page.report.name(location.file))
    yield f"{pad}{paint(arrow, 'frame', page.color)} {name}:{start.line}:{start.column}"
    if arrow == "-->":
        yield f"{pad} {bar}"
    yield f"{paint(f'{start.line:{gutter}}', 'frame', page.color)} {bar} {shown}".rstrip()
    mark = f"{pad} {bar} {' ' * begin}{paint('^' * length, style, page.color)}"
    if not label or begin + length + 1 + cells(label) <= page.columns - gutter - 3:
        yield f"{mark} {paint(visible(label), style, page.color)}".rstrip()
        return
    yield mark
    for line in wrap(label, page.text_columns - gutter - 3, " " * min(begin, 8), " " * min(begin, 8)):
        yield f"{pad} {bar} {paint(line, style, page.color)}"


def _advice(finding: Finding) -> Iterator[tuple[str, str]]:
    """What can be done, and why that is so: pairs of lead and text."""
    fix = finding.fix
    if fix is not None:
        if fix.withheld:
            yield "help", f"fix withheld: {fix.withheld}"
        elif fix.kind is FixKind.SAFE:
            yield "help", f"fix available: {fix.title}"
        elif excludable(finding):
            yield "help", f"your choice: {fix.title} (--fix --exclude-blocked)"
        else:
            yield "help", f"your choice: {fix.title}"
    if finding.rationale:
        yield "note", finding.rationale


def _summary(page: _Page) -> Iterator[str]:
    report = page.report
    found, configs = report.told, report.analysis.configs
    if not report.analysis.findings and not configs:
        yield "No training config with Lhotse datasets was found; nothing to report."
        return
    if report.statistics and found:
        yield from statistics(found).splitlines()
        yield ""
    line = _counts(found) if found or not report.baseline else "No new findings."
    yield from [line] if len(line) <= page.columns else line.replace("; ", ";\n    ").split("\n")
    yield from _silenced(report)
    if len(configs) > _MAX_CONFIGS and not report.verbose:
        states = Counter(config.readiness for config in configs)
        yield f"{len(configs)} configs: " + ", ".join(f"{number} {state}" for state, number in states.most_common())
        return
    for config in configs:
        style = "error" if config.readiness.startswith("not") else "warning" if config.unverified else "help"
        yield f"{visible(report.name(config.file))}: {paint(config.readiness, style, page.color)}"
        for lead, text in _verdict(config, report):
            yield from wrap(f"{lead}: {text}", page.text_columns, "    ", "        ")


def _verdict(config: ConfigResult, report: Report) -> Iterator[tuple[str, str]]:
    """What a verdict rests on."""
    for finding in config.exceptions:
        start, _ = finding.location.positions
        place = f"{report.name(finding.location.file)}:{start.line}"
        yield "exception", f"{finding.code} {finding.name} at {place}, {finding.suppressed or 'without a reason'}"
    if config.left_out:
        yield "in the way, though left out", ", ".join(config.left_out)
    if config.unverified and (report.verbose or config.readiness == UNVERIFIED):
        yield "not inspected", "; ".join(config.unverified)


def _silenced(report: Report) -> Iterator[str]:
    """How many findings are not told one by one, and why."""
    found = [finding for finding in report.silenced if finding.suppressed is not None]
    by = Counter("comments" if finding.suppressed_by == "comment" else "settings" for finding in found)
    if by:
        how = " and ".join(
            f"{number} by {what}" if len(by) > 1 else f"by {what}" for what, number in sorted(by.items())
        )
        yield f"{plural(len(found), 'finding')} suppressed{',' if len(by) > 1 else ''} {how}."
    if known := sum(finding.baselined for finding in report.silenced):
        yield f"{plural(known, 'finding')} in the baseline."


def _counts(found: list[Finding]) -> str:
    if not found:
        return "No findings."
    counts = Counter(finding.severity for finding in found)
    named = ", ".join(plural(counts[level], level.value) for level in Severity if counts[level])
    files = plural(len({finding.location.file for finding in found}), "file")
    mended = sum(map(fixable, found))
    chosen = sum(map(excludable, found))
    ways = [f"{mended} fixable with --fix"] if mended else []
    ways += (
        [f"{chosen} more with --exclude-blocked" if mended else f"{chosen} fixable with --fix --exclude-blocked"]
        if chosen
        else []
    )
    return f"Found {named} in {files}{'; ' if ways else ''}{', '.join(ways)}."
