"""String literals of Python as texts whose pieces stand in the file: quotes, escapes, f-strings, literals side by side."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import replace

from ....findings import Location
from ....text import Span
from ..texts import Piece, Script, Text

_PREFIX = "rRbBuUfF"
_NEWLINE = re.compile(r"\r\n?|\n")  #: what ends a line for Python's parser
#: Evaluates an expression of an f-string.
Evaluate = Callable[[ast.expr], Text]


class Places:
    """Where nodes of a syntax tree stand: lines and columns in UTF-8 bytes as positions in a script."""

    def __init__(self, script: Script) -> None:
        self.script = script
        ends = [match.span() for match in _NEWLINE.finditer(script.text)]
        self._starts = [0, *(end for _, end in ends)]
        self._lines = [
            script.text[start:end]
            for start, end in zip(self._starts, [*(begin for begin, _ in ends), len(script.text)])
        ]

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Start and end of a node."""
        start = self._position(getattr(node, "lineno", 1), getattr(node, "col_offset", 0))
        end = self._position(getattr(node, "end_lineno", 1) or 1, getattr(node, "end_col_offset", 0) or 0)
        return start, max(end, start)

    def _position(self, line: int, column: int) -> int:
        text = self._lines[line - 1]
        inside = (
            column if text.isascii() else len(text.encode("utf-8", "surrogatepass")[:column].decode("utf-8", "ignore"))
        )
        return self._starts[line - 1] + inside

    def at(self, node: ast.AST) -> Location:
        """Where a node stands."""
        return self.script.at(*self.span(node))

    def written(self, node: ast.AST) -> str:
        """What stands there."""
        start, end = self.span(node)
        return self.script.text[start:end]


def literal(node: ast.Constant | ast.JoinedStr, places: Places, evaluate: Evaluate) -> Text:
    """The text of a literal. In one that fits on a line every piece stands where the literal does."""
    start, end = places.span(node)
    raw = places.script.text[start:end]
    expressions = (
        [part for part in node.values if isinstance(part, ast.FormattedValue)]
        if isinstance(node, ast.JoinedStr)
        else []
    )
    reader = _Reader(raw, start, places, [_formatted(part, places, evaluate) for part in expressions])
    text = reader.read()
    if text is None:
        value = node.value if isinstance(node, ast.Constant) else ""
        text = (Piece(str(value), places.at(node)),)
    if "\n" not in raw:
        where = places.at(node)
        return tuple(piece if piece.used else replace(piece, used=where) for piece in text) or (Piece("", where),)
    return text


def _formatted(part: ast.FormattedValue, places: Places, evaluate: Evaluate) -> Text:
    text = evaluate(part.value)
    if part.format_spec is None:
        return text
    # A format changes the text of a number; what is not known stays so.
    return tuple(piece if piece.text is None else replace(piece, exact=False) for piece in text)


class _Reader:
    """Walks over the source of a literal."""

    def __init__(self, raw: str, start: int, places: Places, values: list[Text]) -> None:
        self.raw, self.start, self.places, self.values = raw, start, places, values
        self.at = 0

    def read(self) -> Text | None:
        """The pieces, or None where the source is not what a literal looks like."""
        pieces: list[Piece] = []
        while self.at < len(self.raw):
            if self.raw[self.at] in " \t\r\n\\()":
                self.at += 1
            elif self.raw[self.at] == "#":
                self.at = (self.raw + "\n").index("\n", self.at)
            elif not self._one(pieces):
                return None
        return tuple(pieces)

    def _one(self, pieces: list[Piece]) -> bool:
        begin = self.at
        while self.at < len(self.raw) and self.raw[self.at] in _PREFIX:
            self.at += 1
        prefix = self.raw[begin : self.at].lower()
        quote = self.raw[self.at : self.at + 3]
        if quote not in ('"""', "'''"):
            quote = quote[:1]
        if quote[:1] not in ("'", '"'):
            return False
        self.at += len(quote)
        plain = self.at
        while self.at < len(self.raw):
            if self.raw.startswith(quote, self.at):
                self._text(pieces, plain)
                self.at += len(quote)
                return True
            char = self.raw[self.at]
            if char == "\\" and "r" not in prefix:
                self._text(pieces, plain)
                self._escape(pieces)
                plain = self.at
            elif char in "{}" and "f" in prefix:
                self._text(pieces, plain)
                if self.raw[self.at + 1 : self.at + 2] == char:
                    pieces.append(self._piece(char, self.at, self.at + 2))
                    self.at += 2
                elif char == "{":
                    self._expression()
                    pieces += self.values.pop(0) if self.values else ()
                else:
                    return False
                plain = self.at
            else:
                self.at += 1
        return False

    def _text(self, pieces: list[Piece], begin: int) -> None:
        pieces += self.places.script.literal(self.start + begin, self.start + self.at) if self.at > begin else ()

    def _piece(self, text: str, first: int, last: int) -> Piece:
        return Piece(text, self.places.script.at(self.start + first, self.start + last))

    def _escape(self, pieces: list[Piece]) -> None:
        following = self.raw[self.at + 1 : self.at + 2]
        size = {"x": 4, "u": 6, "U": 10}.get(following, 2)
        if following == "N":
            size = (self.raw + "}").index("}", self.at) + 1 - self.at
        source = self.raw[self.at : self.at + size]
        try:
            value = (
                ast.literal_eval(f'"{source}"') if following not in ('"', "\n") else ('"' if following == '"' else "")
            )
        except (SyntaxError, ValueError):
            value = source
        if value:
            pieces.append(self._piece(str(value), self.at, self.at + size))
        self.at += size

    def _expression(self) -> None:
        """Go behind the closing brace of an expression."""
        depth = 0
        quote = ""
        while self.at < len(self.raw):
            char = self.raw[self.at]
            self.at += 1
            if quote:
                quote = "" if char == quote else quote
            elif char in "'\"":
                quote = char
            elif char in "{[(":
                depth += 1
            elif char in "}])":
                depth -= 1
                if depth == 0:
                    return


def joined(parts: list[Text], at: Location) -> Text:
    """Words joined by blanks, in quotes where a shell needs them."""
    found: list[Piece] = []
    for index, part in enumerate(parts):
        if index:
            found.append(Piece(" ", at))
        plain = all(piece.text is None or not set(piece.text) - _SAFE for piece in part) and part
        found += part if plain else (Piece("'", at), *part, Piece("'", at))
    return tuple(found)


_SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%_+=:,./-")


def span_of(first: Location, last: Location) -> Location:
    """From the beginning of one place to the end of another."""
    return Location(first.source, Span(first.span.start, max(last.span.end, first.span.end)))
