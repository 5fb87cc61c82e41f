"""What stands at an offset of a document: the keys that lead to it, the key or value itself, and interpolations in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from nemo_resumable.core.syntax.interpolation import Reference, Resolver, references
from nemo_resumable.core.syntax.nodes import Alias, Document, Mapping, Node, Pair, Scalar, Sequence
from nemo_resumable.core.text import Source, Span

KEY, VALUE = "key", "value"


@dataclass(frozen=True, slots=True, eq=False)
class Holder:
    """A mapping on the way to a place, and the keys and list positions that lead to it."""

    mapping: Mapping
    path: tuple[str, ...]
    sequence: Sequence | None = None  #: the list whose item it is


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """A key, or a scalar or alias below it."""

    role: str  #: key · value
    node: Node  #: as written: an alias stays one
    path: tuple[str, ...]  #: keys and list positions from the top of the document
    holder: Holder | None  #: the innermost mapping; None for an item of a list of scalars
    pair: Pair | None  #: of that mapping

    @property
    def key(self) -> str:
        """The innermost key; empty where there is none."""
        key = self.pair.key if self.pair is not None else None
        return str(key.value) if isinstance(key, Scalar) else ""


def place_at(document: Document, offset: int) -> Place | None:
    """What stands at an offset, the end of a word included; None between words, in comments and on brackets."""
    node = document.root
    path: tuple[str, ...] = ()
    holder: Holder | None = None
    pair: Pair | None = None
    sequence: Sequence | None = None
    while node is not None:
        if isinstance(node, Mapping):
            holder = Holder(node, path, sequence)
            pair = next((each for each in node.pairs if _holds(each.key, offset) or _holds(each.value, offset)), None)
            if pair is None:
                return None
            key = pair.key
            path = (*path, str(key.value) if isinstance(key, Scalar) else "")
            if _holds(key, offset):
                return Place(KEY, key, path, holder, pair)
            node, sequence = pair.value, None
        elif isinstance(node, Sequence):
            index = next((index for index, item in enumerate(node.items) if _holds(item, offset)), None)
            if index is None:
                return None
            sequence, path, node = node, (*path, str(index)), node.items[index]
        else:
            return Place(VALUE, node, path, holder, pair)
    return None


def _holds(node: Node, offset: int) -> bool:
    return node.outer.start <= offset <= node.outer.end and node.outer.start < node.outer.end


@dataclass(frozen=True, slots=True)
class Interpolated:
    """A `${…}` of a scalar, and where it stands in the file."""

    piece: Reference | Resolver
    span: Span
    text: str


def interpolations(source: Source, node: Node) -> Iterator[Interpolated]:
    """Every interpolation in a scalar as written, outer ones before those within."""
    if not isinstance(node, Scalar) or "${" not in node.text:
        return
    written = source.cut(node.span)
    quotes = 1 if node.style in ("single", "double") else 0
    inner = written[quotes : len(written) - quotes]
    start = node.span.start + quotes
    for piece in references(inner):
        if piece.end > piece.start:
            yield Interpolated(piece, Span(start + piece.start, start + piece.end), inner[piece.start : piece.end])


def interpolation_at(source: Source, node: Node, offset: int) -> Interpolated | None:
    """The innermost interpolation at an offset."""
    meeting = [each for each in interpolations(source, node) if each.span.start <= offset <= each.span.end]
    return min(meeting, key=lambda each: each.span.end - each.span.start, default=None)


def scalars(node: Node | None) -> Iterator[Scalar]:
    """Every scalar value as written, in order; aliases are not followed."""
    stack = [node] if node is not None else []
    while stack:
        node = stack.pop()
        if isinstance(node, Scalar):
            yield node
        elif isinstance(node, Sequence):
            stack += reversed(node.items)
        elif isinstance(node, Mapping):
            stack += [pair.value for pair in reversed(node.pairs)]


def anchor_of(source: Source, alias: Alias) -> Span:
    """Where the anchor of an alias is defined: `&name` itself."""
    start = source.text.find(f"&{alias.name}", alias.target.outer.start)
    if start < 0:
        return alias.target.span
    return Span(start, start + 1 + len(alias.name))
