"""Wished changes as text edits over one version of a document: everything outside the edits stays byte for byte."""

from __future__ import annotations

import json
import re

from ..findings import Edit
from ..text import Span
from .nodes import Alias, Document, Mapping, Node, Pair, Scalar, Sequence, deref
from .scalars import STR, plain_tag

_PLAIN = re.compile(r"[A-Za-z0-9_./$~][\w./@+=%~$-]*(?::[\w/.@+=%~$-]+)*")


class CannotEdit(Exception):
    """The change cannot be made without touching something else; the message says what."""


def serialize(value: object) -> str:
    """A value as YAML text that reads back as the same value, in block and in flow style."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        plain = _PLAIN.fullmatch(value) is not None and plain_tag(value) == STR
        return value if plain else json.dumps(value, ensure_ascii=False)
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(serialize(item) for item in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{serialize(key)}: {serialize(item)}" for key, item in value.items()) + "}"
    raise CannotEdit(f"{type(value).__name__} has no YAML form")


def written_pair(mapping: Mapping, key: str) -> Pair | None:
    """The pair of a key as it stands in the mapping itself, not one that a merge key brings."""
    found = None
    for pair in mapping.pairs:
        name = deref(pair.key)
        if isinstance(name, Scalar) and name.value == key:
            found = pair
    return found


def set_value(document: Document, mapping: Mapping, key: str, value: object, *, note: str = "") -> tuple[Edit, ...]:
    """Give a key of a mapping a value: replace what is written, or insert the key at the end."""
    _refuse_shared(document, mapping.anchor)
    pair = written_pair(mapping, key)
    if pair is None:
        return insert_pair(document, mapping, key, serialize(value), note=note)
    return (_replace(document, pair, serialize(value), note),)


def _replace(document: Document, pair: Pair, text: str, note: str) -> Edit:
    file, node = document.source.path, pair.value
    if isinstance(node, Alias):
        return Edit(file, node.span, text, note)
    _refuse_shared(document, node.anchor)
    span = node.outer
    if span.start == span.end:
        return Edit(file, span, f" {text}", note)
    if not isinstance(node, Scalar) and not node.flow:
        if "#" in document.source.cut(span):
            raise CannotEdit("comments inside the value would be lost")
        colon = document.source.text.index(":", pair.key.outer.end)
        return Edit(file, Span(colon + 1, span.end), f" {text}", note)
    return Edit(file, span, text, note)


def _refuse_shared(document: Document, anchor: str | None) -> None:
    if anchor is not None and re.search(rf"\*{re.escape(anchor)}(?![\w-])", document.source.text):
        raise CannotEdit(f"`&{anchor}` is used in other places too")


def insert_pair(document: Document, mapping: Mapping, key: str, text: str, *, note: str = "") -> tuple[Edit, ...]:
    """Insert `key: text` at the end of a mapping. In block style, `text` may hold further lines, indented from zero."""
    source = document.source
    if mapping.flow:
        place, before = (mapping.pairs[-1].value.outer.end, ", ") if mapping.pairs else (mapping.span.start + 1, "")
        return (Edit(source.path, Span(place, place), f"{before}{serialize(key)}: {text}", note),)
    indent = " " * (source.lines.position(mapping.pairs[0].key.outer.start).column - 1)
    lines = f"{serialize(key)}: {text}" if not text.startswith("\n") else f"{serialize(key)}:{text}"
    body = lines.replace("\n", f"\n{indent}").replace("\n", source.newline)
    last = mapping.pairs[-1]
    if _keeps_blank_lines(document, last.value):
        place = last.key.outer.start
        return (Edit(source.path, Span(place, place), f"{body}{source.newline}{indent}", note),)
    place = _line_end(document, max(mapping.span.end, last.key.outer.end))
    return (Edit(source.path, Span(place, place), f"{source.newline}{indent}{body}", note),)


def _line_end(document: Document, offset: int) -> int:
    lines = document.source.lines
    return lines.line_span(lines.position(offset).line).end


def _keeps_blank_lines(document: Document, node: Node) -> bool:
    """Whether the last leaf is a block scalar that counts the blank lines after it (`|+`)."""
    while not isinstance(node, (Scalar, Alias)):
        if isinstance(node, Mapping):
            node = node.pairs[-1].value if node.pairs else Scalar(node.span, node.span, None, "", "plain")
        else:
            node = node.items[-1] if node.items else Scalar(node.span, node.span, None, "", "plain")
    if isinstance(node, Scalar) and node.style in ("literal", "folded"):
        header = document.source.text[node.span.start : node.span.start + 4]
        return "+" in header.split("\n")[0]
    return False


def set_nested(document: Document, path: tuple[str, ...], value: object, *, note: str = "") -> tuple[Edit, ...]:
    """Give the key at a path a value, creating the mappings on the way."""
    source = document.source
    root = document.root
    if root is None or (isinstance(root, Scalar) and root.value is None):
        if root is not None and source.cut(root.outer).strip():
            raise CannotEdit("the document is null")
        lead = source.newline if source.text and not source.text.endswith(("\n", "\r")) else ""
        end = len(source.text)
        body = _nested_block(path, value, document)[1:].replace("\n", source.newline)
        return (Edit(source.path, Span(end, end), f"{lead}{body}{source.newline}", note),)
    node: Node = root
    for depth, key in enumerate(path):
        if not isinstance(node, Mapping):
            raise CannotEdit(f"`{'.'.join(path[:depth])}` is not a section")
        _refuse_shared(document, node.anchor)
        rest = path[depth + 1 :]
        pair = written_pair(node, key)
        if pair is None:
            text = _nested(rest, value, node.flow, document)
            return insert_pair(document, node, key, text, note=note)
        if not rest:
            return (_replace(document, pair, serialize(value), note),)
        if isinstance(pair.value, Alias):
            raise CannotEdit(f"`{key}` is an alias, shared with other places")
        if isinstance(pair.value, Scalar) and pair.value.value is None:
            return _fill_null(document, node, pair, rest, value, note)
        node = pair.value
    raise CannotEdit("the path is empty")


def _nested(path: tuple[str, ...], value: object, flow: bool, document: Document) -> str:
    """The text after `key:` for what is still to be created below it."""
    if not path:
        return serialize(value)
    if flow:
        text = serialize(value)
        for key in reversed(path):
            text = f"{{{serialize(key)}: {text}}}"
        return text
    return _nested_block(path, value, document, 1)


def _nested_block(path: tuple[str, ...], value: object, document: Document, depth: int = 0) -> str:
    step = _indent_step(document)
    lines = [" " * (step * (depth + index)) + f"{serialize(key)}:" for index, key in enumerate(path)]
    return "\n" + "\n".join(lines) + f" {serialize(value)}"


def _fill_null(
    document: Document, parent: Mapping, pair: Pair, rest: tuple[str, ...], value: object, note: str
) -> tuple[Edit, ...]:
    """Turn an empty section (`train_ds:`, `train_ds: null`) into a mapping."""
    source, node = document.source, pair.value
    assert isinstance(node, Scalar)
    if node.anchor is not None:
        raise CannotEdit(f"`&{node.anchor}` would move")
    if parent.flow:
        lead = " " if node.span.start == node.span.end else ""
        return (Edit(source.path, node.outer, lead + _nested(rest, value, True, document), note),)
    indent = " " * (source.lines.position(pair.key.outer.start).column - 1)
    body = _nested_block(rest, value, document, 1).replace("\n", f"\n{indent}").replace("\n", source.newline)
    place = _line_end(document, max(node.outer.end, pair.key.outer.end))
    edits = [Edit(source.path, Span(place, place), body, note)]
    if node.outer.end > node.outer.start:
        start = node.outer.start
        while source.text[start - 1] in " \t":
            start -= 1
        edits.insert(0, Edit(source.path, Span(start, node.outer.end), ""))
    return tuple(edits)


def _indent_step(document: Document) -> int:
    """The file's usual indentation: of the first block mapping inside a block mapping; 2 where there is none."""
    stack: list[Node] = [document.root] if document.root is not None else []
    position = document.source.lines.position
    while stack:
        node = stack.pop()
        if isinstance(node, Mapping) and not node.flow:
            for pair in node.pairs:
                if isinstance(pair.value, Mapping) and not pair.value.flow and pair.value.pairs:
                    outer, inner = position(pair.key.outer.start), position(pair.value.pairs[0].key.outer.start)
                    return max(inner.column - outer.column, 1)
                stack.append(pair.value)
        elif isinstance(node, Sequence):
            stack += node.items
    return 2
