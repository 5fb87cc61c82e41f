"""Wished changes as text edits over one version of a document: everything outside the edits stays byte for byte."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..findings import Edit
from ..text import Span
from .layout import (
    COMMENT,
    after_blank_lines,
    begins_line,
    colon_of,
    header,
    indent_of,
    indent_step,
    is_block_scalar,
    is_explicit,
    is_omitted,
    last_leaf,
    line_end,
    line_start,
    pair_end,
    refuse_shared,
    refuse_shared_below,
    written_pair,
)
from .nodes import Alias, Document, Mapping, Pair, Scalar
from .serializing import CannotEdit, quoted, serialize

__all__ = ["CannotEdit", "insert_pair", "quoted", "serialize", "set_nested", "set_value", "written_pair"]

_TRAILING_COMMENT = re.compile(r"[ \t]*(?:^|(?<=[ \t]))#.*")


def set_value(document: Document, mapping: Mapping, key: str, value: object, *, note: str = "") -> tuple[Edit, ...]:
    """Give a key of a mapping a value: replace what is written, or insert the key at the end.

    A key that only a merge key brings is written out, which wins. Raises CannotEdit.
    """
    refuse_shared(document, mapping.anchor)
    pair = written_pair(mapping, key)
    if pair is None:
        return insert_pair(document, mapping, key, serialize(value), note=note)
    return _replace(document, mapping, pair, serialize(value), note)


def _replace(document: Document, mapping: Mapping, pair: Pair, text: str, note: str) -> tuple[Edit, ...]:
    file, node, source = document.source.path, pair.value, document.source
    if isinstance(node, Alias):
        return (Edit(file, node.span, text, note),)
    refuse_shared_below(document, node)
    if is_omitted(node):
        return (_fill_omitted(document, mapping, pair, text, note),)
    if not isinstance(node, Scalar) and not node.flow:
        return _replace_block(document, pair, text, note)
    if COMMENT.search(source.text, node.outer.start, node.span.start):
        raise CannotEdit("a comment stands inside the value")
    if is_block_scalar(node):
        end_of_header = line_end(document, node.span.start)
        comment = _TRAILING_COMMENT.search(source.text, node.span.start, end_of_header)
        kept = comment.group() if comment else ""
        return (Edit(file, node.outer, text + kept, note),)
    if not isinstance(node, Scalar) and COMMENT.search(source.cut(node.span)):
        raise CannotEdit("comments inside the value would be lost")
    return (Edit(file, node.outer, text, note),)


def _fill_omitted(document: Document, mapping: Mapping, pair: Pair, text: str, note: str) -> Edit:
    """The value of a key that has none."""
    colon = colon_of(document, pair)
    if colon is not None:
        return Edit(document.source.path, Span(colon + 1, colon + 1), f" {text}", note)
    if not mapping.flow:
        raise CannotEdit("the key stands behind a question mark")
    end = pair.key.outer.end
    return Edit(document.source.path, Span(end, end), f": {text}", note)


def _replace_block(document: Document, pair: Pair, text: str, note: str) -> tuple[Edit, ...]:
    """A block collection made a value on the key's line; the comment behind the key stays there."""
    source, span = document.source, pair.value.span
    colon = colon_of(document, pair)
    if colon is None or is_explicit(document, pair):
        raise CannotEdit("the key stands behind a question mark")
    end = line_end(document, colon)
    if COMMENT.search(source.text, min(end, span.start), span.end):
        raise CannotEdit("comments inside the value would be lost")
    comment = _TRAILING_COMMENT.search(source.text, colon + 1, end)
    if comment is None or span.start <= end:
        return (Edit(source.path, Span(colon + 1, span.end), f" {text}", note),)
    value = Edit(source.path, Span(colon + 1, comment.start()), f" {text}", note)
    return (value, Edit(source.path, Span(end, span.end), ""))


def insert_pair(document: Document, mapping: Mapping, key: str, text: str, *, note: str = "") -> tuple[Edit, ...]:
    """Insert `key: text` at the end of a mapping. In block style, `text` may hold further lines, indented from zero."""
    if mapping.flow:
        return _insert_in_flow(document, mapping, f"{serialize(key)}: {text}", note)
    source = document.source
    indent = indent_of(document, mapping)
    lines = f"{serialize(key)}: {text}" if not text.startswith("\n") else f"{serialize(key)}:{text}"
    body = lines.replace("\n", f"\n{indent}").replace("\n", source.newline)
    last = mapping.pairs[-1]
    end = max(mapping.span.end, last.key.outer.end)
    place = line_end(document, end)
    leaf = last_leaf(last.value)
    if is_block_scalar(leaf):
        after = after_blank_lines(document, end)
        blank = source.text[place:after]
        # `|+` counts the blank lines after it, and a line of many spaces is content.
        counted = "+" in header(document, leaf) or bool(blank.strip("\r\n"))
        open_end = after == len(source.text) and not source.text.endswith(("\n", "\r"))
        if open_end and (counted or "-" not in header(document, leaf)):
            return (_insert_before(document, last, indent, body, note),)  # a final newline would become content
        if counted:
            return (Edit(source.path, Span(after, after), f"{indent}{body}{source.newline}", note),)
    return (Edit(source.path, Span(place, place), f"{source.newline}{indent}{body}", note),)


def _insert_before(document: Document, pair: Pair, indent: str, body: str, note: str) -> Edit:
    """A pair before another and the comment lines that belong to it."""
    source, start = document.source, pair.key.outer.start
    if is_explicit(document, pair):
        raise CannotEdit("the keys stand behind question marks")
    if not begins_line(document, start):  # the first key of a list item, behind its dash
        return Edit(source.path, Span(start, start), f"{body}{source.newline}{indent}", note)
    number = source.lines.position(start).line
    while number > 1 and source.lines.line_text(number - 1).startswith(f"{indent}#"):
        number -= 1
    place = source.lines.starts[number - 1]
    return Edit(source.path, Span(place, place), f"{indent}{body}{source.newline}", note)


def _insert_in_flow(document: Document, mapping: Mapping, body: str, note: str) -> tuple[Edit, ...]:
    source = document.source
    if source.text[mapping.span.start] != "{":
        raise CannotEdit("it is a pair in a list, without braces of its own")
    if not mapping.pairs:
        place = mapping.span.start + 1
        return (Edit(source.path, Span(place, place), body, note),)
    last = mapping.pairs[-1]
    end = pair_end(document, last)
    comma = re.compile(r"(?:\s|(?<=\s)#[^\n\r]*)*,").match(source.text, end)
    start = last.key.outer.start
    if not begins_line(document, start) or is_explicit(document, last):
        gap = " " if is_omitted(last.value) else ""  # libyaml refuses `a:,`
        return (Edit(source.path, Span(end, end), f"{gap}, {body}", note),)
    lead = source.text[line_start(document, start) : start]
    behind = comma.end() if comma else end
    place = line_end(document, behind)
    rest = source.text[behind:place].strip()
    if rest and not COMMENT.match(source.text[behind:place].lstrip()):
        return (Edit(source.path, Span(end, end), f", {body}", note),)
    new = f"{source.newline}{lead}{body}"
    if comma:
        return (Edit(source.path, Span(place, place), f"{new},", note),)
    gap = " " if is_omitted(last.value) else ""
    if not rest:
        return (Edit(source.path, Span(end, end), f"{gap},{new}", note),)
    return (Edit(source.path, Span(end, end), f"{gap},"), Edit(source.path, Span(place, place), new, note))


def set_nested(document: Document, path: Sequence[str], value: object, *, note: str = "") -> tuple[Edit, ...]:
    """Give the key at a path a value, creating the mappings on the way. Raises CannotEdit."""
    if not path:
        raise CannotEdit("the path is empty")
    node = document.root
    if node is None or (isinstance(node, Scalar) and node.value is None):
        return (_first_lines(document, path, value, note),)
    for depth, key in enumerate(path):
        if not isinstance(node, Mapping):
            kind = "an alias, shared with other places" if isinstance(node, Alias) else "not a section"
            raise CannotEdit(f"`{'.'.join(path[:depth])}` is {kind}" if depth else "the file is not a section")
        refuse_shared(document, node.anchor)
        rest = path[depth + 1 :]
        pair = written_pair(node, key)
        if pair is None:
            merged = node.get(key)
            if rest and merged is not None:
                raise CannotEdit(f"`{key}` comes from an anchor, shared with other places")
            return insert_pair(document, node, key, _nested(rest, value, node.flow, document), note=note)
        if not rest:
            return _replace(document, node, pair, serialize(value), note)
        if isinstance(pair.value, Scalar) and pair.value.value is None:
            return _fill_null(document, node, pair, rest, value, note)
        node = pair.value
    raise AssertionError("the loop ends with the path")


def _first_lines(document: Document, path: Sequence[str], value: object, note: str) -> Edit:
    """The first keys of a document that has none."""
    source, root = document.source, document.root
    if root is not None and source.cut(root.outer).strip():
        raise CannotEdit("the document is null")
    if document.further_documents or re.search(r"^\.\.\.(\s|$)", source.text, re.MULTILINE):
        raise CannotEdit("the file holds several documents")
    lead = source.newline if source.text and not source.text.endswith(("\n", "\r")) else ""
    end = len(source.text)
    body = _nested_block(path, value, document)[1:].replace("\n", source.newline)
    return Edit(source.path, Span(end, end), f"{lead}{body}{source.newline}", note)


def _nested(path: Sequence[str], value: object, flow: bool, document: Document) -> str:
    """The text after `key:` for what is still to be created below it."""
    if path and not flow:
        return _nested_block(path, value, document, 1)
    text = serialize(value)
    for key in reversed(path):
        text = f"{{{serialize(key)}: {text}}}"
    return text


def _nested_block(path: Sequence[str], value: object, document: Document, depth: int = 0) -> str:
    step = indent_step(document)
    lines = [" " * (step * (depth + index)) + f"{serialize(key)}:" for index, key in enumerate(path)]
    return "\n" + "\n".join(lines) + f" {serialize(value)}"


def _fill_null(
    document: Document, parent: Mapping, pair: Pair, rest: Sequence[str], value: object, note: str
) -> tuple[Edit, ...]:
    """Turn an empty section (`train_ds:`, `train_ds: null`) into a mapping."""
    source, node = document.source, pair.value
    refuse_shared_below(document, node)
    if parent.flow:
        return _replace(document, parent, pair, _nested(rest, value, True, document), note)
    colon = colon_of(document, pair)
    if colon is None or is_explicit(document, pair):
        raise CannotEdit("the key stands behind a question mark")
    if COMMENT.search(source.text, node.outer.start, node.outer.end):
        raise CannotEdit("a comment stands inside the value")
    indent = indent_of(document, parent)
    body = _nested_block(rest, value, document, 1).replace("\n", f"\n{indent}").replace("\n", source.newline)
    place = line_end(document, colon)
    if is_omitted(node):
        return (Edit(source.path, Span(place, place), body, note),)
    if node.outer.start > place:  # the null has a line of its own
        if source.text[place : node.outer.start].strip():
            raise CannotEdit(f"`{source.cut(node.span)}` stands below a comment")
        return (Edit(source.path, Span(place, node.outer.end), body, note),)
    start = len(source.text[: node.outer.start].rstrip(" \t"))
    return (Edit(source.path, Span(start, node.outer.end), ""), Edit(source.path, Span(place, place), body, note))
