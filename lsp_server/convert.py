"""From the analyzer's terms to the protocol's: positions, ranges, places and severities. Nothing is decided here."""

from __future__ import annotations

from lsprotocol import types
from nemo_resumable.core.findings import Severity
from nemo_resumable.core.text import Source, Span, column_from_units, column_in_units

SEVERITIES = {
    Severity.FATAL: types.DiagnosticSeverity.Error,
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.NOTE: types.DiagnosticSeverity.Information,
}
_BOM = "\ufeff"


def position(source: Source, offset: int, encoding: str) -> types.Position:
    """The position of a code point offset in a source, in the client's units (`utf-8`, `utf-16` or `utf-32`)."""
    place = source.lines.position(offset)
    text = source.lines.line_text(place.line)
    column = place.column - 1
    if place.line == 1 and source.bom:  # the client's text begins with the mark, and ours does not
        text, column = _BOM + text, column + 1
    if column == 0 or text.isascii():
        return types.Position(place.line - 1, column)
    return types.Position(place.line - 1, column_in_units(text, column, encoding))


def text_range(source: Source, span: Span, encoding: str) -> types.Range:
    """The range of a span."""
    return types.Range(position(source, span.start, encoding), position(source, span.end, encoding))


def offset(source: Source, place: types.Position, encoding: str) -> int:
    """The code point offset of a client's position, held inside its line and the text."""
    lines = source.lines
    if place.line >= len(lines):
        return len(source.text)
    line = lines.line_span(place.line + 1)
    text = source.text[line.start : line.end]
    if place.line == 0 and source.bom:
        return line.start + max(column_from_units(_BOM + text, place.character, encoding) - 1, 0)
    return line.start + column_from_units(text, place.character, encoding)


def span(source: Source, given: types.Range, encoding: str) -> Span:
    """The span of a client's range."""
    start = offset(source, given.start, encoding)
    return Span(start, max(start, offset(source, given.end, encoding)))
