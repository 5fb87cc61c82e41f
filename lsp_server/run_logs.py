"""A diagnosis of run logs as Markdown: the cause, the exception, what to do, and the line of the config behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from nemo_resumable.core.failures import Diagnosis
from nemo_resumable.core.failures.diagnosis import Recognised
from nemo_resumable.core.failures.page import find_page, rules_of
from nemo_resumable.core.findings import Finding

from .explaining import code

_MOST_FRAMES = 5  #: the innermost ones that are shown
_MOST_LINES = 8  #: of a message
_MOST_OTHERS = 5
_MOST_FINDINGS = 5


def as_markdown(found: Diagnosis, uri_of: Callable[[Path], str]) -> str:
    """The whole diagnosis."""
    return "\n".join([*_cause(found), *_at_config(found, uri_of), *_others(found)]) + "\n"


def _cause(found: Diagnosis) -> Iterator[str]:
    told = found.cause or found.first
    if told is None:
        yield from ("# Unknown cause", "", "No exception, and nothing else that is recognised, was found.")
        return
    mode = told.mode if found.cause is not None else None
    page = find_page(mode.slug) if mode is not None else None
    if mode is None or page is None:
        yield from ("# Unknown cause", "", _instead(told), "")
    else:
        yield from (f"# {mode.slug}", "", page.summary, "")
    yield from _incident(told, found)
    if mode is None or page is None:
        return
    for heading in ("What happened", "Trigger", "Fix"):
        yield from ("", f"**{heading}.** {page.sections[heading]}")
    rules = [f"{name} ({number})" for number, name in rules_of(mode)]
    if rules:
        yield from ("", f"Rules that prevent it: {', '.join(rules)}.")


def _instead(told: Recognised) -> str:
    """What is shown where the cause is unknown."""
    if told.mode is not None:
        return f"Only what came of it was found, {code(told.mode.slug)}: {find_page(told.mode.slug).summary}"
    return "The run went on after its first exception:" if told.survived else "The first exception:"


def _incident(told: Recognised, found: Diagnosis) -> Iterator[str]:
    place = told.incident.place
    rank = f", rank {place.rank}" if place.rank else ""
    yield from (f"{code(found.scans[place.log].log.name)}, line {place.line:,}{rank}:", "")
    lines: list[str] = []
    for link in told.incident.chain[:1]:
        for frame in link.frames[-_MOST_FRAMES:]:
            lines.append(f'File "{frame.file}", line {frame.line}, in {frame.function}')
            lines += [f"  {line}" for line in frame.source.splitlines()[:1]]
        lines += (f"{link.type}: {link.message}" if link.message else link.type).splitlines()[:_MOST_LINES]
    lines = lines or told.incident.text.splitlines()[:_MOST_LINES]
    yield from (f"    {line}" for line in lines)


def _at_config(found: Diagnosis, uri_of: Callable[[Path], str]) -> Iterator[str]:
    at = found.at_config
    if at is None or found.cause is None:
        return
    yield from ("", f"## In {code(at.config.name)}", "")
    if at.problem:
        yield f"{at.problem}."
    elif not at.findings:
        yield "None of the rules that look for it fires: what the config says now does not explain it."
    yield from (_finding(each, uri_of) for each in at.findings[:_MOST_FINDINGS])


def _finding(finding: Finding, uri_of: Callable[[Path], str]) -> str:
    location = finding.location
    line = location.source.lines.position(location.span.start).line
    fix = f" Fix: {finding.fix.title}." if finding.fix is not None and finding.fix.edits else ""
    link = f"[{location.file.name}:{line}](<{uri_of(location.file)}#L{line}>)"
    return f"- {link} {finding.code} {finding.message}.{fix}"


def _others(found: Diagnosis) -> Iterator[str]:
    slugs = list(dict.fromkeys(each.mode.slug for each in found.others if each.mode is not None))
    if slugs:
        yield from ("", f"Also in the logs: {', '.join(map(code, slugs[:_MOST_OTHERS]))}.")
    lines = sum(scan.lines for scan in found.scans)
    yield from ("", f"Read {len(found.scans)} log{'s' if len(found.scans) != 1 else ''}, {lines:,} lines.")
