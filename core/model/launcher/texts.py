"""Text of a launcher with its provenance: each piece knows where it stands, or why it is not known; scripts made of pieces."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import replace

from ...findings import Location
from ...records import dataclass
from ...text import Source, Span
from .facts import Variation, Word

#: What stands in a script for a piece that is not known: characters that no shell treats specially.
_HOLE = 0xE000
_MAX_HOLES = 6000


@dataclass(frozen=True, slots=True)
class Maybe:
    """Why a part may also be left out: for a condition that is another in each chunk (`varies`), or is not known."""

    varies: Variation | None = None


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a value. With `text` None it is unknown; with `exact` it stands in the file character by character."""

    text: str | None
    at: Location
    exact: bool = False
    reason: str = ""
    varies: Variation | None = None
    defaulted: bool = False
    drawn: Location | None = None  #: the assignment through which it came
    name: str = ""  #: the variable, for a piece that is not known
    used: Location | None = None  #: the expansion inside a longer text that brought it in
    caller: bool = False  #: not known since it is for whoever starts the launcher to say
    maybe: Maybe | None = None  #: it may be left out
    turns: tuple[str, ...] = ()  #: of what varies, what it is in turn, where that is known

    @property
    def where(self) -> Location | None:
        """Where it stands in the text that it is a part of; None where that is not known."""
        return self.used or (self.at if self.exact else None)


Text = tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Arg:
    """One word of a command line, and where it stands."""

    text: Text
    at: Location

    @property
    def known(self) -> str | None:
        """The word's text where all of it is known."""
        return known(self.text)

    @property
    def shown(self) -> str:
        return shown(self.text)


def known(text: Text) -> str | None:
    """The text where every piece is known, and none may be left out."""
    parts = [piece.text if piece.maybe is None else None for piece in text]
    return None if None in parts else "".join(part for part in parts if part is not None)


def shown(text: Text) -> str:
    """The text with `$NAME` for what is not known."""
    return "".join(piece.text if piece.text is not None else f"${piece.name or '(…)'}" for piece in text)


def varying(text: Text) -> Variation | None:
    """Why the text is another in each chunk, with the place that decides it."""
    for piece in text:
        varies = piece.varies or (piece.maybe.varies if piece.maybe is not None else None)
        if varies is not None:
            return replace(varies, at=varies.at or piece.drawn)
    return None


def word(text: Text, at: Location) -> Word:
    """The text as a fact about a word at a place."""
    value, varies = known(text), varying(text)
    drawn = next((piece.drawn for piece in text if piece.drawn is not None), None)
    lone = text[0].name if len(text) == 1 else ""
    return Word(
        value if varies is None else None,
        at,
        _reason(text),
        varies,
        any(piece.defaulted for piece in text),
        drawn,
        shown(text),
        lone,
    )


def _reason(text: Text) -> str:
    """Why a text is not known."""
    for piece in text:
        if piece.text is None:
            return piece.reason
        if piece.maybe is not None and piece.maybe.varies is None:
            return "whether it is given depends on what only a run shows"
    return ""


def cut(text: Text, start: int, end: int | None = None) -> Text:
    """A part of the text by positions in it; an unknown piece counts as one character."""
    found: list[Piece] = []
    position = 0
    for piece in text:
        size = len(piece.text) if piece.text is not None else 1
        first, last = max(start - position, 0), size if end is None else min(end - position, size)
        if first < last:
            found.append(_part(piece, first, last))
        position += size
    return tuple(found)


def _part(piece: Piece, first: int, last: int) -> Piece:
    if piece.text is None or (first, last) == (0, len(piece.text)):
        return piece
    at = piece.at
    if piece.exact:
        start = at.span.start
        at = Location(at.source, Span(start + first, start + last))
    return replace(piece, text=piece.text[first:last], at=at)


def flat(text: Text) -> str:
    """The text with one private character for each unknown piece."""
    return "".join(piece.text if piece.text is not None else chr(_HOLE) for piece in text)


def place(text: Text, fallback: Location) -> Location:
    """Where a text stands as a whole: from its first exact piece to its last, where they are of one file."""
    exact = [at for piece in text if (at := piece.where) is not None]
    if not exact:
        return text[0].at if text else fallback
    first, last = exact[0], exact[-1]
    if first.file != last.file or last.span.end < first.span.start:
        return first
    return Location(first.source, Span(first.span.start, last.span.end))


def fixed(value: str, at: Location) -> Text:
    """A known text that stands nowhere as it is."""
    return (Piece(value, at),)


def unknown(
    reason: str, at: Location, *, varies: Variation | None = None, name: str = "", caller: bool = False
) -> Text:
    """A text of which nothing is known; with `caller` since it is for whoever starts the launcher to say."""
    return (Piece(None, at, reason=reason, varies=varies, name=name, caller=caller),)


class Script:
    """The text of a script as a parser gets it, and the way back from its positions to files and pieces."""

    def __init__(self, pieces: Text) -> None:
        self._starts: list[int] = []
        self._pieces: list[Piece] = []
        self.holes: dict[str, Piece] = {}
        parts: list[str] = []
        position = 0
        for piece in pieces:
            if piece.text is None:
                sign = chr(_HOLE + min(len(self.holes), _MAX_HOLES))
                self.holes[sign] = piece
                text = sign
            else:
                text = piece.text
            if text:
                self._starts.append(position)
                self._pieces.append(piece)
                parts.append(text)
                position += len(text)
        self.text = "".join(parts)
        self.encoded = self.text.encode("utf-8", "surrogatepass")
        self._ascii = len(self.encoded) == len(self.text)

    @classmethod
    def of(cls, source: Source) -> Script:
        """The script that a file is."""
        text = source.text
        if "\r\n" not in text:
            return cls((Piece(text, Location(source, Span(0, len(text))), exact=True),))
        # The carriage returns of Windows are left out; each line stays a piece with its own place.
        pieces = []
        position = 0
        for line in text.split("\r\n"):
            end = position + len(line)
            at = Location(source, Span(position, end))
            pieces.append(Piece(line, at, exact=True))
            if end < len(text):
                pieces.append(Piece("\n", Location(source, Span(end, end + 2))))
            position = end + 2
        return cls(tuple(pieces))

    def position(self, byte: int) -> int:
        """The character at a byte of `encoded`."""
        return byte if self._ascii else len(self.encoded[:byte].decode("utf-8", "surrogatepass"))

    def literal(self, start: int, end: int) -> Text:
        """The pieces of a stretch of the text."""
        found: list[Piece] = []
        index = max(bisect_right(self._starts, start) - 1, 0)
        while index < len(self._pieces) and self._starts[index] < end:
            piece, base = self._pieces[index], self._starts[index]
            if piece.text is None:
                found.append(piece)
            else:
                first, last = max(start - base, 0), min(end - base, len(piece.text))
                if first < last:
                    found.append(_part(piece, first, last))
            index += 1
        return tuple(found)

    def at(self, start: int, end: int) -> Location:
        """The place of a stretch of the text in its file."""
        pieces = self.literal(start, max(end, start + 1)) or self.literal(max(len(self.text) - 1, 0), len(self.text))
        if not pieces:
            raise ValueError("an empty script has no places")
        return place(pieces, pieces[0].at)


def split(text: Text) -> Iterator[Text]:
    """The words of an unquoted value, split at blanks; an empty value gives none."""
    position, start = 0, None
    for char in flat(text):
        if char in " \t\n":
            if start is not None:
                yield cut(text, start, position)
                start = None
        elif start is None:
            start = position
        position += 1
    if start is not None:
        yield cut(text, start, position)


def concat(texts: Iterable[Text]) -> Text:
    """Texts one behind the other."""
    return tuple(piece for text in texts for piece in text)
