"""Suppression comments: `# nemo-resumable: ignore[NR110] reason` on the line, the line above or a parent key."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..findings import Edit, Finding, Fix, FixKind, Location, Severity
from ..records import dataclass
from ..settings_toml import near_match, rule_word
from ..syntax.nodes import Alias, Document, Mapping, Node, Scalar, Sequence
from ..text import Span
from .drafts import Draft
from .registry import all_rules, rule

_COMMENT = re.compile(
    r"(?:^|(?<=\s))#\s*nemo-resumable:\s*ignore(?P<file>-file)?\[(?P<codes>[^\]\n]*)\][ \t]*(?P<reason>[^\n\r]*)", re.M
)
#: What others write to silence a tool, and our own form with something missing; other comments that name us are prose.
_MEANT = re.compile(
    r"(?:^|(?<=\s))#\s*nemo[-_]resumable\s*:?\s*(?:ignore|disable|suppress|noqa|skip|allow|off)\b[^\n\r]*", re.M
)


@dataclass(frozen=True, slots=True)
class Suppression:
    """One comment, for one code of it."""

    document: Document
    span: Span
    code: str  #: a code or a name, as the catalogue writes it; "" where the comment gives none
    reason: str
    whole_file: bool
    line: int
    alone: bool  #: the comment is the only thing on its line
    cut: Span | None = None  #: where the comment names several codes, this one with a comma beside it
    lacks_reason: bool = False  #: it does not hold, because the settings ask for a reason


def suppressions(document: Document) -> tuple[Suppression, ...]:
    """The suppressions written in a file, those that were only meant as such (without a code) at the end."""
    source = document.source
    # Most files say nothing of us, and a search for the words is many times faster than one for a comment.
    if "nemo-resumable" not in source.text and "nemo_resumable" not in source.text:
        return ()
    found = []
    whole: set[int] = set()
    for match in _COMMENT.finditer(source.text):
        if _in_a_scalar(document, match.start()):
            continue
        whole.add(match.start())
        line, alone, span = _place(document, match)
        codes = match["codes"].split(",")
        place = match.start("codes")
        for index, code in enumerate(codes):
            name = rule_word(code)
            cut = None
            if len(codes) > 1:
                following = codes[1]
                blank = len(following) - len(following.lstrip())
                cut = Span(place - 1, place + len(code)) if index else Span(place, place + len(code) + 1 + blank)
            place += len(code) + 1
            if name or len(codes) == 1:
                reason = match["reason"].strip()
                found.append(Suppression(document, span, name, reason, bool(match["file"]), line, alone, cut))
    for match in _MEANT.finditer(source.text):
        if match.start() not in whole and not _in_a_scalar(document, match.start()):
            line, alone, span = _place(document, match)
            found.append(Suppression(document, span, "", "", False, line, alone))
    return tuple(found)


def _place(document: Document, match: re.Match[str]) -> tuple[int, bool, Span]:
    """The line of a comment, whether it is alone there, and its span."""
    lines = document.source.lines
    line = lines.position(match.start()).line
    span = Span(match.start(), match.start() + len(match[0].rstrip()))
    return line, lines.line_text(line).lstrip().startswith("#"), span


def _in_a_scalar(document: Document, offset: int) -> bool:
    """Whether what looks like a comment is part of a quoted or block text."""
    node: Node | None = document.root
    while node is not None and not isinstance(node, Alias):
        if isinstance(node, Scalar):
            return node.style != "plain" and node.span.start < offset < node.span.end
        below = (
            [node for pair in node.pairs for node in (pair.key, pair.value)]
            if isinstance(node, Mapping)
            else node.items
        )
        node = next((each for each in below if each.outer.start <= offset < each.outer.end), None)
    return False


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
    place = Location(source, suppression.span)
    if idle := _idle(suppression):
        yield Draft(idle, place, "suppression", current=suppression.code or None)
        return
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
        place,
        "suppression",
        current=suppression.code,
        fix=Fix("Remove the code" if suppression.cut else "Remove the comment", (Edit(source.path, cut, ""),)),
    )


def _idle(suppression: Suppression) -> str:
    """Why a comment cannot hold as it is written, which its removal would not mend; "" where it could."""
    code = suppression.code
    if not code:
        return "the comment names no rule, so it suppresses nothing: write `# nemo-resumable: ignore[NR110] reason` with the code"
    if suppression.lacks_reason:
        return f"the suppression of `{code}` does not hold: the settings ask for a reason behind the bracket"
    known = [word for each in all_rules() for word in (each.code, each.name)]
    if code in known:
        return ""
    if any(word.startswith(code) for word in known):
        return f"`{code}` is only part of a code, so the comment suppresses nothing: it has to name each rule"
    return f"`{code}` is no rule{near_match(code, known)}: the comment suppresses nothing"
