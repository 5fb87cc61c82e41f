"""Suppression comments: `# nemo-resumable: ignore[NR110] reason` on the line, the line above or a parent key."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ..findings import Edit, Finding, Fix, FixKind, Location, Severity
from ..syntax.nodes import Alias, Document, Mapping, Node, Sequence
from ..text import Span
from .drafts import Draft
from .registry import rule

_COMMENT = re.compile(
    r"(?:^|(?<=\s))#\s*nemo-resumable:\s*ignore(?P<file>-file)?\[(?P<codes>[^\]\n]*)\][ \t]*(?P<reason>[^\n\r]*)", re.M
)


@dataclass(frozen=True, slots=True)
class Suppression:
    """One comment, for one code of it."""

    document: Document
    span: Span
    code: str
    reason: str
    whole_file: bool
    line: int
    alone: bool  #: the comment is the only thing on its line
    cut: Span | None = None  #: where the comment names several codes, this one with a comma beside it


def suppressions(document: Document) -> tuple[Suppression, ...]:
    """The suppressions written in a file."""
    source = document.source
    if "nemo-resumable:" not in source.text:
        return ()
    found = []
    for match in _COMMENT.finditer(source.text):
        line = source.lines.position(match.start()).line
        alone = source.lines.line_text(line).lstrip().startswith("#")
        span = Span(match.start(), match.start() + len(match[0].rstrip()))
        codes = match["codes"].split(",")
        place = match.start("codes")
        for index, code in enumerate(codes):
            name = code.strip()
            cut = None
            if len(codes) > 1:
                following = codes[1]
                blank = len(following) - len(following.lstrip())
                cut = Span(place - 1, place + len(code)) if index else Span(place, place + len(code) + 1 + blank)
            place += len(code) + 1
            if name:
                reason = match["reason"].strip()
                found.append(Suppression(document, span, name, reason, bool(match["file"]), line, alone, cut))
    return tuple(found)


def suppressed_by(finding: Finding, candidates: tuple[Suppression, ...]) -> Suppression | None:
    """The suppression that holds for a finding, or None."""
    names = (finding.code, finding.name)
    mine = [s for s in candidates if s.code in names]
    if not mine:
        return None
    lines = finding.location.source.lines
    holders = {lines.position(finding.location.span.start).line}
    holders.update(_parent_lines(mine[0].document, finding.location.span.start))
    for suppression in mine:
        if suppression.whole_file or (suppression.line in holders and not suppression.alone):
            return suppression
        if suppression.alone and _next_written_line(suppression) in holders:
            return suppression
    return None


def _next_written_line(suppression: Suppression) -> int:
    """The first line below a comment that is not itself a comment."""
    lines = suppression.document.source.lines
    number = suppression.line + 1
    while number <= len(lines) and lines.line_text(number).lstrip().startswith("#"):
        number += 1
    return number


def _parent_lines(document: Document, offset: int) -> Iterator[int]:
    """The lines of the keys and list items around an offset."""
    position = document.source.lines.position
    node: Node | None = document.root
    while node is not None and not isinstance(node, Alias):
        below: Node | None = None
        if isinstance(node, Mapping):
            for pair in node.pairs:
                if pair.key.outer.start <= offset <= max(pair.value.outer.end, pair.key.outer.end):
                    yield position(pair.key.outer.start).line
                    below = pair.value
        elif isinstance(node, Sequence):
            for item in node.items:
                if item.outer.start <= offset <= item.outer.end:
                    yield position(item.outer.start).line
                    below = item
        node = below


@rule("NR014", "unused-suppression", Severity.WARNING, fix=FixKind.SAFE)
def unused_suppression(suppression: Suppression) -> Iterator[Draft]:
    """A suppression comment suppresses nothing."""
    source = suppression.document.source
    if suppression.cut is not None:
        cut = suppression.cut
    elif suppression.alone:
        starts = source.lines.starts
        end = starts[suppression.line] if suppression.line < len(starts) else len(source.text)
        cut = Span(starts[suppression.line - 1], end)
    else:
        start = suppression.span.start
        while source.text[start - 1] in " \t":
            start -= 1
        cut = Span(start, source.lines.line_span(suppression.line).end)
    yield Draft(
        f"the suppression of `{suppression.code}` suppresses nothing",
        Location(source, suppression.span),
        "suppression",
        current=suppression.code,
        fix=Fix("Remove the code" if suppression.cut else "Remove the comment", (Edit(source.path, cut, ""),)),
    )
