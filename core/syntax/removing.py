"""Edits that take something out or give it another form: remove, rename, quote, unwrap, comment out."""

from __future__ import annotations

import json

from ..findings import Edit
from ..text import Span
from .editing import CannotEdit, serialize, written_pair
from .nodes import Document, Mapping, Pair, Scalar, Sequence


def rename_key(document: Document, mapping: Mapping, key: str, new: str, *, note: str = "") -> tuple[Edit, ...]:
    """Give a key another name."""
    pair = _written(mapping, key)
    if mapping.get(new) is not None:
        raise CannotEdit(f"`{new}` is there too")
    return (Edit(document.source.path, pair.key.span, serialize(new), note or f"was {key}"),)


def quote_scalar(document: Document, scalar: Scalar, *, note: str = "") -> tuple[Edit, ...]:
    """Turn a plain scalar into a string of the same characters."""
    text = document.source.cut(scalar.span)
    if scalar.style != "plain" or "\n" in text or "\r" in text:
        raise CannotEdit("only a plain value on one line can be quoted")
    return (Edit(document.source.path, scalar.span, json.dumps(text, ensure_ascii=False), note or f"was {text}"),)


def remove_pair(document: Document, mapping: Mapping, key: str, *, note: str = "") -> tuple[Edit, ...]:
    """Take a key out with its value; comment lines above it stay."""
    pair = _written(mapping, key)
    file, source = document.source.path, document.source
    index = mapping.pairs.index(pair)
    following = mapping.pairs[index + 1] if index + 1 < len(mapping.pairs) else None
    start, end = pair.key.outer.start, max(pair.value.outer.end, pair.key.outer.end)
    if mapping.flow:
        if following is not None:
            end = following.key.outer.start
        elif index:
            start = mapping.pairs[index - 1].value.outer.end
        return (Edit(file, Span(start, end), "", note),)
    if len(mapping.pairs) == 1:
        raise CannotEdit(f"`{key}` is the only key of its section")
    line = source.lines.position(start).line
    begin = source.lines.starts[line - 1]
    if source.text[begin:start].strip():  # the first key of a list item, behind its dash
        assert following is not None
        if "#" in source.text[end : following.key.outer.start]:
            raise CannotEdit("a comment stands between this key and the next")
        return (Edit(file, Span(start, following.key.outer.start), "", note),)
    last = source.lines.position(end).line
    if last < len(source.lines):
        return (Edit(file, Span(begin, source.lines.starts[last]), "", note),)
    previous_end = source.lines.line_span(line - 1).end
    return (Edit(file, Span(previous_end, source.lines.line_span(last).end), "", note),)


def unwrap_root_pair(document: Document, key: str, *, note: str = "") -> tuple[Edit, ...]:
    """Make a document whose root holds only `key` the list that stands under it."""
    root, source = document.root, document.source
    if not isinstance(root, Mapping) or len(root.pairs) != 1:
        raise CannotEdit(f"`{key}` is not the only key of the file")
    pair = _written(root, key)
    sequence = pair.value
    if not isinstance(sequence, Sequence) or sequence.anchor is not None:
        raise CannotEdit(f"`{key}` holds no plain list")
    if root.flow:
        raise CannotEdit("the file is one flow mapping")
    if sequence.flow:
        return (Edit(source.path, Span(pair.key.outer.start, sequence.outer.start), "", note),)
    first = source.lines.position(pair.key.outer.start).line
    indent = source.lines.position(sequence.span.start).column - 1
    starts = [*source.lines.starts[first:], len(source.text)]
    lines = [source.text[start:end] for start, end in zip(starts, starts[1:])]
    dedented = [line[min(indent, len(line) - len(line.lstrip(" "))) :] for line in lines]
    return (Edit(source.path, Span(source.lines.starts[first - 1], len(source.text)), "".join(dedented), note),)


def comment_out_item(document: Document, sequence: Sequence, index: int, reason: str) -> tuple[Edit, ...]:
    """Turn an item of a block list into comment lines under a line with the reason."""
    source = document.source
    if sequence.flow:
        raise CannotEdit("it stands in a list in brackets")
    if len(sequence.items) == 1:
        raise CannotEdit("it is the only source of its list")
    item = sequence.items[index]
    first = source.lines.position(item.outer.start).line
    begin = source.lines.starts[first - 1]
    before = source.text[begin : item.outer.start]
    indent = before.split("-", 1)[0]
    if before.strip() != "-" or indent.strip():
        raise CannotEdit("it does not begin a line of its own")
    last = source.lines.position(max(item.outer.end - 1, item.outer.start)).line
    lines = [f"{indent}# {reason}"]
    for number in range(first, last + 1):
        text = source.lines.line_text(number)
        body = text[len(indent) :] if text.startswith(indent) else text.lstrip()
        lines.append(f"{indent}# {body}".rstrip())
    end = source.lines.line_span(last).end
    return (Edit(source.path, Span(begin, end), source.newline.join(lines)),)


def _written(mapping: Mapping, key: str) -> Pair:
    pair = written_pair(mapping, key)
    if pair is None:
        raise CannotEdit(f"`{key}` does not stand in this section itself")
    return pair
