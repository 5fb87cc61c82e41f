"""Where things stand in a text: indents, colons, line ends, last leaves, and what an anchor ties together."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from .nodes import Alias, Document, Mapping, Node, Pair, Scalar, Sequence, deref
from .serializing import CannotEdit

_COLON = re.compile(r"\s*:")
_EXPLICIT = re.compile(r"(?:^|[\n\r]|[-?:{,\[ \t])\?[ \t]+\Z")
COMMENT = re.compile(r"(?:^|(?<=\s))#")


def written_pair(mapping: Mapping, key: str) -> Pair | None:
    """The pair of a key as it stands in the mapping itself, not one that a merge key brings."""
    found = None
    for pair in mapping.pairs:
        name = deref(pair.key)
        if isinstance(name, Scalar) and name.value == key and type(name.value) is str:
            found = pair
    return found


def refuse_shared(document: Document, anchor: str | None) -> None:
    """Raise CannotEdit where an anchor is used: the change would show in other places too."""
    if anchor is not None and re.search(rf"\*{re.escape(anchor)}(?![^\s,\[\]{{}}])", document.source.text):
        raise CannotEdit(f"`&{anchor}` is used in other places too")


def refuse_shared_below(document: Document, *nodes: Node) -> None:
    """Raise CannotEdit where something inside the nodes has an anchor that is used."""
    for node in nodes:
        for below in _written_below(node):
            refuse_shared(document, below.anchor)


def _written_below(node: Node) -> Iterator[Scalar | Sequence | Mapping]:
    stack = [node]
    while stack:
        node = stack.pop()
        if isinstance(node, Alias):
            continue
        yield node
        if isinstance(node, Mapping):
            for pair in node.pairs:
                stack += (pair.key, pair.value)
        elif isinstance(node, Sequence):
            stack += node.items


def is_explicit(document: Document, pair: Pair) -> bool:
    """Whether the key is written behind a question mark."""
    start = pair.key.outer.start
    line = document.source.lines.starts[document.source.lines.position(start).line - 1]
    return _EXPLICIT.search(document.source.text[line:start]) is not None


def colon_of(document: Document, pair: Pair) -> int | None:
    """The offset of the colon behind a key; None where the key stands alone (`{a}`, `? a`)."""
    match = _COLON.match(document.source.text, pair.key.outer.end)
    return match.end() - 1 if match else None


def is_omitted(node: Node) -> bool:
    """Whether a value is left out altogether (`key:`)."""
    return isinstance(node, Scalar) and node.outer.start == node.outer.end


def pair_end(document: Document, pair: Pair) -> int:
    """Where a pair ends: after its value, or after the colon of a value that is left out."""
    if is_omitted(pair.value):
        colon = colon_of(document, pair)
        return pair.key.outer.end if colon is None else colon + 1
    return max(pair.value.outer.end, pair.key.outer.end)


def indent_of(document: Document, mapping: Mapping) -> str:
    """The indent of a block mapping's keys; raises CannotEdit where the keys stand behind question marks."""
    first = mapping.pairs[0]
    if is_explicit(document, first):
        raise CannotEdit("the keys stand behind question marks")
    return " " * (document.source.lines.position(first.key.outer.start).column - 1)


def line_start(document: Document, offset: int) -> int:
    """The first character of the line of an offset."""
    return document.source.lines.starts[document.source.lines.position(offset).line - 1]


def line_end(document: Document, offset: int) -> int:
    """The end of the line of an offset, before its newline."""
    lines = document.source.lines
    return lines.line_span(lines.position(offset).line).end


def begins_line(document: Document, offset: int) -> bool:
    """Whether only white space stands before an offset on its line."""
    return not document.source.text[line_start(document, offset) : offset].strip()


def last_leaf(node: Node) -> Node:
    """The node that is written last inside another."""
    while not isinstance(node, (Scalar, Alias)):
        children = [pair.value for pair in node.pairs] if isinstance(node, Mapping) else list(node.items)
        if node.flow or not children:
            return node
        node = children[-1]
    return node


def is_block_scalar(node: Node) -> bool:
    """Whether a node is written as `|` or `>`."""
    return isinstance(node, Scalar) and node.style in ("literal", "folded")


def header(document: Document, scalar: Node) -> str:
    """The indicator of a block scalar with its digits and signs: `|`, `>-`, `|2+`."""
    match = re.compile(r"[|>][-+\d]*").match(document.source.text, scalar.span.start)
    return match.group() if match else ""


def after_blank_lines(document: Document, offset: int) -> int:
    """The start of the first line after the one of an offset that is not blank, or the end of the text."""
    lines = document.source.lines
    number = lines.position(offset).line + 1
    while number <= len(lines) and not lines.line_text(number).strip():
        number += 1
    return lines.starts[number - 1] if number <= len(lines) else len(document.source.text)


def indent_step(document: Document) -> int:
    """The usual indent of a block mapping inside a block mapping, over the first few hundred; 2 where there is none."""
    stack: list[Node] = [document.root] if document.root is not None else []
    position = document.source.lines.position
    steps: Counter[int] = Counter()
    for _ in range(2000):
        if not stack:
            break
        node = stack.pop()
        if isinstance(node, Sequence):
            stack += node.items[:50]
        if not isinstance(node, Mapping) or node.flow:
            continue
        for pair in node.pairs:
            inner = pair.value
            if isinstance(inner, Mapping) and not inner.flow and inner.pairs:
                outer = position(pair.key.outer.start).column
                steps[position(inner.pairs[0].key.outer.start).column - outer] += 1
            stack.append(inner)
    usual = [step for step, _ in steps.most_common() if step > 0]
    return usual[0] if usual else 2
