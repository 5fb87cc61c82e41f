"""A diagnosis for people: the cause with its exception, what triggers and mends it, and where the config has it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from nemo_resumable.core.analysis import Analysis
from nemo_resumable.core.failures import ConfigCause, Diagnosis
from nemo_resumable.core.failures.diagnosis import Recognised
from nemo_resumable.core.failures.lines import written
from nemo_resumable.core.failures.page import find_page, rules_of
from nemo_resumable.core.failures.records import Place, Raised

from .cells import visible, wrap
from .full import one
from .render import Report, plural, shown
from .terminal import paint, width

_MOST_TEXT = 100  #: sentences are hard to follow in longer lines
_MOST_FRAMES = 5  #: the innermost ones that are shown
_MOST_MESSAGE = 8  #: lines of a message
_MOST_OTHERS = 5
_MOST_FINDINGS = 3


def as_text(found: Diagnosis, cwd: Path, color: bool) -> str:
    """The whole diagnosis."""
    columns = min(width(), _MOST_TEXT)
    blocks = [list(_cause(found, columns, color))]
    if found.at_config is not None and not found.at_config.problem:
        blocks.append(list(_in_config(found.at_config, found, cwd, columns, color)))
    blocks.append(list(_end(found, columns)))
    return "\n".join("".join(f"{line}\n" for line in block) for block in blocks if block)


def _cause(found: Diagnosis, columns: int, color: bool) -> Iterator[str]:
    told = found.cause or found.first
    if told is None:
        yield paint("Unknown cause:", "bold", color) + " no exception, and nothing else that is recognised, was found."
        return
    if found.cause is not None and told.mode is not None:
        head, *more = wrap(f"{told.mode.slug}: {find_page(told.mode.slug).summary}", columns, rest="    ")
        yield paint(told.mode.slug, "error", color) + head[len(told.mode.slug) :]
        yield from more
    elif told.mode is not None:
        yield from wrap(
            f"Unknown cause: only what came of it was found, {told.mode.slug}: {find_page(told.mode.slug).summary}",
            columns,
            rest="    ",
        )
    elif told.survived:
        yield from wrap("Unknown cause. The run went on after its first exception:", columns, rest="    ")
    else:
        yield "Unknown cause. The first exception:"
    yield from _incident(told, found, columns, color)
    if told.mode is not None:
        page = find_page(told.mode.slug)
        for lead, heading in (("what happened", "What happened"), ("trigger", "Trigger"), ("fix", "Fix")):
            yield from _said(lead, page.sections[heading], columns, color)
        rules = ", ".join(f"{code} {name}" for code, name in rules_of(told.mode))
        if rules:
            yield from _said("rules", rules, columns, color)


def _incident(told: Recognised, found: Diagnosis, columns: int, color: bool) -> Iterator[str]:
    """Where it stands, and the exception with its innermost frames, or the line."""
    incident = told.incident
    bar = paint("|", "frame", color)
    yield f"  {paint('-->', 'frame', color)} {_where(incident.place, found)}"
    if not incident.chain:
        for line in wrap(incident.text, columns - 5):
            yield f"   {bar} {line}"
        return
    link = _link(told)
    left = len(link.frames) - _MOST_FRAMES
    if left > 0:
        yield f"   {bar} ({plural(left, 'frame')} above)"
    for frame in link.frames[-_MOST_FRAMES:]:
        yield f'   {bar} File "{visible(frame.file)}", line {frame.line}, in {visible(frame.function)}'
        if frame.source:
            yield f"   {bar}   {visible(frame.source)[: columns - 7]}"
    lines = (f"{link.type}: {link.message}" if link.message else link.type or "(the log ends here)").split("\n")
    for line in lines[:_MOST_MESSAGE]:
        for part in wrap(line, columns - 5, rest="    "):
            yield f"   {bar} {part}"
    if incident.repeated:
        yield f"   {bar} (and {plural(incident.repeated, 'time')} more)"


def _link(told: Recognised) -> Raised:
    """The link of the chain that the mode was known by; the root otherwise."""
    chain = told.incident.chain
    if told.mode is not None:
        for link in chain:
            if any(signature.type and signature.fits(link, told.incident) for signature in told.mode.signatures):
                return link
    return chain[0]


def _where(place: Place, found: Diagnosis) -> str:
    facts = [f"rank {place.rank}"] if place.rank else []
    if place.time is not None:
        facts.append(written(place.time))
    return f"{visible(found.scans[place.log].log.name)}:{place.line}" + (f" ({', '.join(facts)})" if facts else "")


def _said(lead: str, text: str, columns: int, color: bool) -> Iterator[str]:
    plain = " ".join(text.split())
    first, *rest = wrap(f"{lead}: {plain}", columns, "   = ", "     ")
    yield first.replace(f"= {lead}", f"{paint('=', 'frame', color)} {paint(lead, 'bold', color)}", 1)
    yield from rest


def _in_config(cause: ConfigCause, found: Diagnosis, cwd: Path, columns: int, color: bool) -> Iterator[str]:
    name = visible(shown(cause.config, cwd))
    if found.cause is None:
        yield f"{name}: not looked at for a cause that is unknown."
        return
    if not cause.rules:
        yield f"{name}: no rule looks for this."
        return
    if not cause.findings:
        looked = ", ".join(cause.rules)
        yield from wrap(
            f"{name}: none of the rules fires ({looked}), so what the config says now does not explain it; it may have been "
            "changed since, or be overridden.",
            columns,
            rest="    ",
        )
        return
    yield f"In {name}:"
    report = Report(Analysis(cause.findings, (), ()), cwd)
    for finding in cause.findings[:_MOST_FINDINGS]:
        yield ""
        yield from one(finding, report, color).rstrip("\n").split("\n")
    more = len(cause.findings) - _MOST_FINDINGS
    if more > 0:
        yield ""
        yield f"({plural(more, 'finding')} of these rules more; `check` shows them.)"


def _end(found: Diagnosis, columns: int) -> Iterator[str]:
    """What else was found, and how far it can be trusted."""
    if found.others:
        counts = Counter(each.mode.slug for each in found.others if each.mode)
        firsts = {each.mode.slug: each for each in reversed(found.others) if each.mode}
        told = [
            f"{slug} at {_where(firsts[slug].incident.place, found)}"
            + (f" and {number - 1} more" if number > 1 else "")
            for slug, number in counts.items()
        ]
        more = f", and {plural(len(told) - _MOST_OTHERS, 'other')}" if len(told) > _MOST_OTHERS else ""
        yield from wrap(f"Also in the logs: {'; '.join(told[:_MOST_OTHERS])}{more}.", columns, rest="    ")
    if not found.ordered:
        yield from wrap(
            "Not all logs bear times, so which of them came first is not known; they were taken in the order given.",
            columns,
            rest="    ",
        )
    for scan in found.scans:
        if scan.problem:
            yield from wrap(f"{visible(scan.log.name)} {scan.problem}.", columns, rest="    ")
    lines = sum(scan.lines for scan in found.scans)
    ranks = {rank for scan in found.scans for rank in scan.ranks}
    read = f"{plural(len(found.scans), 'log')}, {lines:,} line{'' if lines == 1 else 's'}"
    read += f", {plural(len(ranks), 'rank')}" if ranks else ""
    shown_one = found.cause or found.first
    page = f" `nemo-resumable explain {shown_one.mode.slug}` says more." if shown_one and shown_one.mode else ""
    yield from wrap(f"Read {read}.{page}", columns, rest="    ")
