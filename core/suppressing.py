"""Writes suppression comments: beside the codes that a line already names, at its end, or on a line of its own above."""

from __future__ import annotations

from collections.abc import Iterator

from .findings import Edit, Finding
from .rules.suppression import suppressed_by, suppressions
from .syntax.applying import apply_edits, to_plain_text
from .syntax.nodes import Document
from .syntax.reader import read
from .text import Span

_COMMENT = "# nemo-resumable: ignore[{}]"


def suppress(document: Document, finding: Finding, reason: str = "") -> Edit | None:
    """The edit that suppresses a finding where it stands, and changes nothing that the file says; None where none does.

    The reason is for a comment that is new; beside codes that are there already, theirs holds.

    The first line of a text in quotes or below `|` cannot carry a comment at its end: there it goes above.
    """
    if not document.parses or finding.location.source is not document.source:
        return None
    meaning = to_plain_text(document.source)
    for edit in _candidates(document, finding, reason):
        changed = read(apply_edits(document.source, [edit]), recover=False)
        moved = len(edit.text) - (edit.span.end - edit.span.start)
        start = finding.location.span.start
        place = start + moved if edit.span.start <= start else start
        if to_plain_text(changed.source) == meaning and _holds(changed, finding, place):
            return edit
    return None


def _holds(changed: Document, finding: Finding, place: int) -> bool:
    """Whether a suppression of the changed text is for the finding's line."""
    from dataclasses import replace

    from .findings import Location

    moved = replace(finding, location=Location(changed.source, Span(place, place)))
    return suppressed_by(moved, suppressions(changed)) is not None


def _candidates(document: Document, finding: Finding, reason: str) -> Iterator[Edit]:
    source = document.source
    line = source.lines.position(finding.location.span.start).line
    content = source.lines.line_span(line)
    for written in suppressions(document):
        if written.line == line and not written.whole_file and written.code:
            inside = source.text.index("]", written.span.start)
            yield Edit(source.path, Span(inside, inside), f", {finding.code}")
            break
    comment = f"{_COMMENT.format(finding.code)} {reason}".rstrip()
    text = source.cut(content)
    end = content.start + len(text.rstrip())
    yield Edit(source.path, Span(end, content.end), f"  {comment}")
    indent = text[: len(text) - len(text.lstrip(" "))]
    yield Edit(source.path, Span(content.start, content.start), f"{indent}{comment}{source.newline}")
