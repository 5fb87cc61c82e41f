"""The parse tree of a script: tree-sitter's nodes with positions in characters."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from ....findings import Location
from ....text import Span
from ..texts import Script, Text

if TYPE_CHECKING:
    from tree_sitter import Node, Parser


@lru_cache(maxsize=1)
def _parser() -> Parser:
    import tree_sitter_bash
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))


def parse(script: Script) -> Node:
    """The tree of a script. It always parses: what is wrong in it stands under nodes of type ERROR."""
    return _parser().parse(script.encoded).root_node


def first_error(root: Node) -> Node | None:
    """The first node that the parser could not make sense of."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.type == "ERROR" or node.is_missing:
            return node
        waiting += [child for child in reversed(node.children) if child.has_error or child.is_missing]
    return None


def span(script: Script, node: Node) -> tuple[int, int]:
    """Start and end of a node in characters; blanks that the grammar counts to a variable behind them are left out."""
    start, end = script.position(node.start_byte), script.position(node.end_byte)
    if node.type in ("simple_expansion", "expansion"):
        while start < end and script.text[start].isspace():
            start += 1
    return start, end


def text_of(script: Script, node: Node) -> str:
    """What stands there, as written."""
    start, end = span(script, node)
    return script.text[start:end]


def at(script: Script, node: Node) -> Location:
    """Where a node stands in its file."""
    return script.at(*span(script, node))


def first_line(script: Script, node: Node) -> Location:
    """A node's first line in its file, without the backslash and blanks at its end."""
    start, end = span(script, node)
    line = script.text[start:end].split("\n", 1)[0].rstrip(" \t\\")
    found = script.at(start, start + max(len(line), 1))
    source, first = found.source, found.span.start
    last = min(found.span.end, source.lines.line_span(source.lines.position(first).line).end)
    text = source.text[first:last].rstrip(" \t\\")
    return Location(source, Span(first, first + max(len(text), 1)))


def literal(script: Script, start: int, end: int, *, escaped: str | None) -> Text:
    """A stretch with its backslashes taken out: before any character (`escaped` None), or before one of these."""
    text = script.text[start:end]
    if "\\" not in text:
        return script.literal(start, end)
    pieces: list[Text] = []
    begin = index = 0
    while index < len(text):
        following = text[index + 1 : index + 2]
        if text[index] == "\\" and following and (escaped is None or following in escaped or following == "\n"):
            pieces.append(script.literal(start + begin, start + index))
            begin = index + 2 if following == "\n" else index + 1
            index += 2
        else:
            index += 1
    pieces.append(script.literal(start + begin, end))
    return tuple(piece for part in pieces for piece in part)


def counted_header(script: Script, node: Node) -> tuple[tuple[int, int], tuple[int, int], tuple[int, int]]:
    """Where the three parts of `for ((…; …; …))` stand."""
    bounds: list[int] = []
    for child in node.children:
        if child.type in ("((", "))"):
            bounds.append(span(script, child)[0 if child.type == "))" else 1])
            if child.type == "))":
                break
        elif child.type == ";":
            bounds += [*span(script, child)]
    if len(bounds) != 6:
        start, _ = span(script, node)
        return (start, start), (start, start), (start, start)
    return (bounds[0], bounds[1]), (bounds[2], bounds[3]), (bounds[4], bounds[5])
