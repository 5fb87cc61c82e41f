"""Fixes in a launcher's text: drop an override, pin a seed, remove an export. All are choices, and only editors offer them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..findings import Edit, Fix, FixKind, Location
from ..text import Span

if TYPE_CHECKING:
    from ..model.launcher.facts import Override

_BLANK = " \t"
_APART = "it is put together from several parts; change it by hand"


def drop_override(override: Override) -> Fix:
    """The override taken out of its command, with the line it stands on where nothing else is there."""
    if not _stands_alone(override):
        return Fix(f"Drop the override of `{override.key}`", (), FixKind.CHOICE, withheld=_APART, artifact=False)
    edit = Edit(override.location.file, _extent(override.location), "")
    return Fix(f"Drop the override of `{override.key}`", (edit,), FixKind.CHOICE)


def pin_override(override: Override, value: int) -> Fix:
    """The override with a fixed value, in the quotes it has."""
    if not _stands_alone(override):
        return Fix(f"Pin `{override.key}` to {value}", (), FixKind.CHOICE, withheld=_APART, artifact=False)
    source, span = override.location.source, override.location.span
    raw = source.text[span.start : span.end]
    body = raw.lstrip("fFrRbBuU")
    quote = body[0] if body[:1] in "\"'" and body[-1:] == body[:1] else ""
    text = f"{quote}{override.prefix}{override.key}={value}{quote}"
    return Fix(f"Pin `{override.key}` to {value}", (Edit(override.location.file, span, text),), FixKind.CHOICE)


def remove_statement(location: Location, title: str) -> Fix | None:
    """A statement that has its line to itself taken out; None where it shares the line."""
    lines = location.source.lines
    line = lines.position(location.span.start).line
    around = lines.line_span(line)
    text = location.source.text
    if (text[around.start : location.span.start] + text[location.span.end : around.end]).strip():
        return None
    return Fix(title, (Edit(location.file, _whole_line(location), ""),), FixKind.CHOICE)


def _stands_alone(override: Override) -> bool:
    """Whether the place of an override is just this one word, key and value, and no part of a longer text."""
    text, span = override.location.source.text, override.location.span
    written = text[span.start : span.end]
    _, sign, value = written.partition(f"{override.key}=")
    if override.prefix != "~" and (not sign or not (value.strip("\"'") or override.value.text == "")):
        return False
    if "\n" in written or text[span.start - 1 : span.start] not in ("", *" \t\n\r([{"):
        return False
    return text[span.end : span.end + 1] in ("", *" \t\n\r)]},;&|\"'`")


def _extent(location: Location) -> Span:
    """What has to go with a word for the rest of the command to stay one."""
    text, span = location.source.text, location.span
    around = location.source.lines.line_span(location.source.lines.position(span.start).line)
    start, end = span.start, span.end
    if text[end : end + 1] == ",":
        end += 1  # an item of a list in Python
    before, after = text[around.start : start], text[end : around.end]
    if before.strip(_BLANK):
        return Span(around.start + len(before.rstrip(_BLANK)), end)
    rest = after.strip(_BLANK)
    if rest == "\\" or (not rest and text[end - 1] == ","):
        return _whole_line(location)
    if rest:
        return Span(start, end + len(after) - len(after.lstrip(_BLANK)))
    above = text[: around.start].rstrip("\r\n")
    if above.endswith("\\"):  # the last word of a command that goes over several lines
        return Span(len(above[:-1].rstrip(_BLANK)), end)
    return _whole_line(location)


def _whole_line(location: Location) -> Span:
    """The line of a place with its line end."""
    starts = location.source.lines.starts
    line = location.source.lines.position(location.span.start).line
    end = starts[line] if line < len(starts) else len(location.source.text)
    return Span(starts[line - 1], end)
