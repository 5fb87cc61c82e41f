"""Markdown that keeps its form whatever names and values it tells: rows, fences, marks, and lines without elements or links."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_ELEMENT = re.compile(r"<(?=[A-Za-z/!?])")


def row(*cells: str) -> str:
    """A row of a table; a bar inside a cell does not end it."""
    return "| " + " | ".join(re.sub(r"(?<!\\)\|", r"\\|", cell) for cell in cells) + " |"


def fenced(lines: Sequence[str], language: str) -> list[str]:
    """A block of code that nothing in it ends."""
    longest = max((len(run) for line in lines for run in re.findall(r"`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}{language}", *lines, fence]


def mark(text: str, form: str) -> str:
    """A comment that tells programs something, such as which config a report is of; `form` has one place for it."""
    return form.format(_on_one_line(text).replace(">", "&gt;"))


def joined(lines: Iterable[str]) -> str:
    """The text of a file out of its lines, each of which stays one line, and outside of code neither element nor link."""
    told: list[str] = []
    fence = ""
    for line in map(_on_one_line, lines):
        opened = re.match(r" *(```+)", line)
        if fence or opened or line.startswith("<!-- "):
            told.append(line)
        else:
            told.append(_harmless(line))
        if fence:
            fence = "" if line.strip() == fence else fence
        elif opened:
            fence = opened[1]
    return "\n".join(told) + "\n"


def _on_one_line(text: str) -> str:
    text = re.sub(r"[\r\n]+", " ", text)
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _harmless(line: str) -> str:
    told, end = [], 0
    for code in _CODE.finditer(line):
        told += [_plain(line[end : code.start()]), code[0]]
        end = code.end()
    return "".join([*told, _plain(line[end:])])


def _plain(text: str) -> str:
    return _ELEMENT.sub("&lt;", text).replace("](", "]\\(")
