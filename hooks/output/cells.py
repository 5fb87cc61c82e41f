"""Text in terminal cells: display width of characters, wrapping, and a source line cut around an underlined span."""

from __future__ import annotations

import unicodedata

_TAB = 4
_ZWJ, _EMOJI_STYLE = "\u200d", "\ufe0f"
_FIRST_SIGN = "©"  #: letters and escapes before it have no emoji form
_ELLIPSIS = "…"


def visible(text: str) -> str:
    """The text with control and direction characters as escapes: what stands in a file must not steer the terminal."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or char in "\u200c\u200d" else _escape(char) for char in text)


def _escape(char: str) -> str:
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def widths(text: str) -> list[int]:
    """The terminal cells of each character: wide East Asian characters and emoji two, what joins the one before none."""
    if text.isascii():
        return [1] * len(text)
    result: list[int] = []
    before = ""
    for char in text:
        result.append(_width(char, before))
        if char == _EMOJI_STYLE and before >= _FIRST_SIGN and result[-2:-1] == [1]:
            result[-1] = 1  # the sign before is shown as an emoji, two cells wide
        before = char
    return result


def _width(char: str, before: str) -> int:
    code = ord(char)
    if code < 0x300:
        return 1
    joins = before == _ZWJ or (0x1F3FB <= code <= 0x1F3FF and unicodedata.east_asian_width(before or " ") in "WF")
    if joins or 0x1160 <= code <= 0x11FF or unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def cells(text: str) -> int:
    """How many terminal cells a text takes."""
    return len(text) if text.isascii() else sum(widths(text))


def wrap(text: str, columns: int, first: str = "", rest: str = "") -> list[str]:
    """A sentence in lines of at most so many columns; a word that is longer stays whole, so that it can be copied."""
    text, used = visible(text), cells(first)
    if used + cells(text) <= columns:
        return [first + text]
    lines: list[str] = []
    line, empty = first, True
    for word in text.split(" "):
        length = cells(word)
        if not empty and used + 1 + length > columns:
            lines.append(line)
            line, used, empty = rest, len(rest), True
        line += word if empty else f" {word}"
        used += length if empty else length + 1
        empty = False
    return [*lines, line]


def excerpt(line: str, start: int, end: int, columns: int) -> tuple[str, int, int]:
    """A source line for display with the cells at which its span begins and how many it takes, at least one.

    Tabs are spread; a line that is too long is cut around the span, with an ellipsis at each cut.
    """
    if len(line) <= columns and line.isascii() and line.isprintable():  # as most lines are
        return line.rstrip(), min(start, len(line)), max(1, min(end, len(line)) - start)
    shown: list[str] = []
    places: list[int] = [0]
    for char, size in zip(line, widths(line)):
        if char == "\t":
            char, size = " " * (_TAB - places[-1] % _TAB), _TAB - places[-1] % _TAB
        elif not char.isprintable() and char not in "\u200c\u200d":
            char = _escape(char)
            size = len(char)
        shown.append(char)
        places.append(places[-1] + size)
    start = min(start, len(line))
    end = min(max(end, start), len(line))
    if places[-1] <= columns:
        return "".join(shown).rstrip(), places[start], max(1, places[end] - places[start])
    return _cut(shown, places, start, end, columns)


def _cut(shown: list[str], places: list[int], start: int, end: int, columns: int) -> tuple[str, int, int]:
    """The piece of a long line around a span; a span wider than the piece is underlined as far as it is seen."""
    total = len(shown)
    span = min(places[end] - places[start], columns)
    # What stands before the span gets a quarter of the room, more where the span leaves it, none where it needs all.
    lead = max(0, min(columns // 4, columns - span - 2))
    first = 0
    if places[min(end, total)] > columns - 1:
        while first < start and places[start] - places[first] > lead:
            first += 1
        while first and places[-1] - places[first - 1] < columns - 1:
            first -= 1  # the line's end is near: show as much of its beginning as fits
        while 0 < first < total and places[first + 1] == places[first]:
            first += 1  # a mark whose letter is cut away would join the ellipsis
    head = 1 if first else 0
    last = first
    while last < total and places[last + 1] - places[first] <= columns - head - 1:
        last += 1
    if last == total - 1 and places[total] - places[first] <= columns - head:
        last = total
    text = (_ELLIPSIS if head else "") + "".join(shown[first:last]) + (_ELLIPSIS if last < total else "")
    begin = head + places[start] - places[first]
    return text.rstrip(), begin, max(1, places[min(end, last)] - places[start])
