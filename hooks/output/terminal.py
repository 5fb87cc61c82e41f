"""What a terminal shows: colours, display width of characters, wrapping."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
import unicodedata

STYLES = {
    "fatal": "1;35",
    "error": "1;31",
    "warning": "1;33",
    "note": "1;36",
    "bold": "1",
    "frame": "1;34",
    "help": "1;32",
}


def use_color(choice: str, *, to_file: bool = False) -> bool:
    """Whether to colour: --color first, then NO_COLOR, FORCE_COLOR, PRE_COMMIT_COLOR, then whether it is a terminal."""
    if choice != "auto":
        return choice == "always"
    if to_file or os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    if (wish := os.environ.get("PRE_COMMIT_COLOR")) in ("always", "never"):
        return wish == "always"
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def paint(text: str, style: str, color: bool) -> str:
    """The text in a style, or as it is."""
    return f"\x1b[{STYLES[style]}m{text}\x1b[0m" if color and text else text


def width() -> int:
    """The columns to write in: the terminal's, between 60 and 120; 80 where there is none."""
    return max(60, min(shutil.get_terminal_size((80, 24)).columns, 120))


def cells(text: str) -> int:
    """How many terminal cells a text takes: wide East Asian characters and emoji two, combining marks none."""
    return sum(_cells(char) for char in text)


def _cells(char: str) -> int:
    if ord(char) < 0x300:
        return 1
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def wrap(text: str, columns: int, first: str, rest: str) -> str:
    """Wrap a sentence under a lead."""
    return textwrap.fill(
        text, columns, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
    )


def excerpt(line: str, start: int, end: int, columns: int) -> tuple[str, str]:
    """A source line and its underline, tabs spread and cut around the span to the columns there are."""
    shown = "".join(_visible(char) for char in line)
    offsets = [0]
    for char in line:
        offsets.append(offsets[-1] + len(_visible(char)))
    start, end = offsets[min(start, len(line))], offsets[min(max(end, start + 1), len(line))]
    end = max(end, start + 1)
    left = 0
    if cells(shown) > columns:
        left = max(0, min(start - columns // 4, len(shown) - columns))
        piece = shown[left:]
        while cells(piece) > columns - 2:
            piece = piece[:-1]
        head = "…" if left else ""
        tail = "…" if left + len(piece) < len(shown) else ""
        end = min(end, left + len(piece))
        shown = head + piece + tail
        before = cells(head + piece[: start - left])
        return shown, " " * before + "^" * max(1, cells(piece[start - left : end - left]))
    return shown, " " * cells(shown[:start]) + "^" * max(1, cells(shown[start:end]))


def _visible(char: str) -> str:
    if char == "\t":
        return "    "
    return char if char.isprintable() else f"\\x{ord(char):02x}"
