"""Source text with exact positions: bytes to text, line starts, spans and column units."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import field
from pathlib import Path

from .lazily import cached_property
from .records import dataclass

_NEWLINE = re.compile(r"\r\n|\n|\r")
_BOM = "\ufeff"


class UndecodableText(ValueError):
    """The bytes are not UTF-8 text; `offset` is the byte at which they stop being so."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.offset = offset


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A half-open range of code points in a `Source.text` (the byte order mark is not counted)."""

    start: int
    end: int


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place in a text: line and column, both from 1, the column in code points."""

    line: int
    column: int


class LineIndex:
    """Line starts of a text. Only `\\r\\n`, `\\n` and `\\r` end a line, as editors and YAML users count them."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.starts: list[int] = [0, *(match.end() for match in _NEWLINE.finditer(text))]

    def position(self, offset: int) -> Position:
        """The position of a code point offset; an offset past the end is the end."""
        offset = min(max(offset, 0), len(self._text))
        line = bisect_right(self.starts, offset)
        return Position(line, offset - self.starts[line - 1] + 1)

    def offset(self, position: Position) -> int:
        """The code point offset of a position, held inside its line and the text."""
        line = min(max(position.line, 1), len(self.starts))
        content = self.line_span(line)
        return min(content.start + max(position.column, 1) - 1, content.end)

    def line_span(self, line: int) -> Span:
        """The content of a line (from 1), without its newline."""
        start = self.starts[line - 1]
        end = self.starts[line] if line < len(self.starts) else len(self._text)
        while end > start and self._text[end - 1] in "\r\n":
            end -= 1
        return Span(start, end)

    def line_text(self, line: int) -> str:
        """The characters of a line (from 1), without its newline."""
        span = self.line_span(line)
        return self._text[span.start : span.end]

    def __len__(self) -> int:
        return len(self.starts)


@dataclass(frozen=True, eq=False)
class Source:
    """One version of one file: its text without the byte order mark, and what is needed to write it back unchanged."""

    path: Path
    text: str
    bom: bool = False
    lines: LineIndex = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "lines", LineIndex(self.text))

    @classmethod
    def from_bytes(cls, path: Path, data: bytes) -> Source:
        """Decode UTF-8 with or without a byte order mark; raises UndecodableText with the offending byte offset."""
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise UndecodableText(f"byte {error.start} is not UTF-8", error.start) from None
        return cls.from_text(path, text)

    @classmethod
    def from_text(cls, path: Path, text: str) -> Source:
        """A source from decoded text that may still begin with a byte order mark."""
        if text.startswith(_BOM):
            return cls(path, text[1:], bom=True)
        return cls(path, text)

    def to_bytes(self) -> bytes:
        """The bytes of the file: what `from_bytes` read, if the text was not changed."""
        return ((_BOM if self.bom else "") + self.text).encode("utf-8")

    def with_text(self, text: str) -> Source:
        """The same file with another text."""
        return Source(self.path, text, self.bom)

    @cached_property
    def newline(self) -> str:
        """The newline that most lines of the text end with; `\\n` where there is none."""
        crlf = self.text.count("\r\n")
        counts = {"\r\n": crlf, "\n": self.text.count("\n") - crlf, "\r": self.text.count("\r") - crlf}
        return max(counts, key=lambda newline: (counts[newline], newline == "\n"))

    def cut(self, span: Span) -> str:
        """The characters of a span."""
        return self.text[span.start : span.end]


def column_in_units(line_text: str, column: int, encoding: str) -> int:
    """Convert a code point column (from 0) of a line into code units of `utf-8`, `utf-16` or `utf-32`."""
    prefix = line_text[:column]
    if encoding == "utf-8":
        return len(prefix.encode("utf-8", "surrogatepass"))
    if encoding == "utf-16":
        return len(prefix) + sum(ord(char) > 0xFFFF for char in prefix)
    return len(prefix)


def column_from_units(line_text: str, units: int, encoding: str) -> int:
    """Convert a column in code units (from 0) into code points; a unit inside a character means that character's start."""
    if encoding == "utf-32":
        return min(units, len(line_text))
    passed = 0
    for column, char in enumerate(line_text):
        width = len(char.encode("utf-8", "surrogatepass")) if encoding == "utf-8" else 1 + (ord(char) > 0xFFFF)
        if passed + width > units:
            return column
        passed += width
    return len(line_text)
