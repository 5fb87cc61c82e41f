"""Edits that take something out or give it another form: remove, rename, quote, unwrap, comment out."""

from __future__ import annotations

import re

from ..findings import Edit
from ..text import Span
from .layout import (
    COMMENT,
    begins_line,
    colon_of,
    header,
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
from .nodes import Document, Mapping, Pair, Scalar, Sequence
from .serializing import CannotEdit, quoted, serialize

_COMMA = re.compile(r"(?:\s|(?<=\s)#[^\n\r]*)*,")
_DASH_LINE = re.compile(r"^([ \t]*)-(?=[ \t\r\n]|$)", re.MULTILINE)


def rename_key(document: Document, mapping: Mapping, key: str, new: str, *, note: str = "") -> tuple[Edit, ...]:
    """Give a key another name."""
    refuse_shared(document, mapping.anchor)
    pair = _written(mapping, key)
    if mapping.get(new) is not None:
        raise CannotEdit(f"`{new}` is there too")
    return (Edit(document.source.path, pair.key.span, serialize(new), note or f"was {key}"),)


def quote_scalar(document: Document, scalar: Scalar, *, note: str = "") -> tuple[Edit, ...]:
    """Turn a plain scalar into a string of the same characters."""
    text = document.source.cut(scalar.span)
    if scalar.style != "plain" or not text or scalar.tag is not None:
        raise CannotEdit("only a plain value without a tag can be quoted")
    refuse_shared(document, scalar.anchor)
    return (Edit(document.source.path, scalar.span, quoted(scalar.text), note or f"was {scalar.text}"),)


def remove_pair(document: Document, mapping: Mapping, key: str, *, note: str = "") -> tuple[Edit, ...]:
    """Take a key out with its value and the comment behind it; comment lines above it stay.

    The only key of a mapping leaves `{}` behind, so that what stood there is still read as a mapping.
    """
    pair = _written(mapping, key)
    refuse_shared(document, mapping.anchor)
    refuse_shared_below(document, pair.key, pair.value)
    if mapping.flow:
        return (_remove_from_flow(document, mapping, pair, note),)
    if is_explicit(document, pair):
        raise CannotEdit("the key stands behind a question mark")
    source, file = document.source, document.source.path
    index = mapping.pairs.index(pair)
    start, end = pair.key.outer.start, pair_end(document, pair)
    if len(mapping.pairs) == 1:
        return (_emptied(document, mapping, pair, note),)
    if not begins_line(document, start):  # the first key of a list item, behind its dash
        following = mapping.pairs[index + 1]
        if is_explicit(document, following):
            raise CannotEdit("the keys stand behind question marks")
        rest = line_end(document, end)
        comment = COMMENT.search(source.text, rest, following.key.outer.start)
        return (Edit(file, Span(start, comment.start() if comment else following.key.outer.start), "", note),)
    begin, close = line_start(document, start), line_end(document, end)
    _refuse_reattached(document, mapping, index, close)
    number = source.lines.position(end).line
    if number < len(source.lines):
        return (Edit(file, Span(begin, source.lines.starts[number]), "", note),)
    if begin == 0 or (index and is_block_scalar(last_leaf(mapping.pairs[index - 1].value))):
        return (Edit(file, Span(begin, close), "", note),)  # the newline before it belongs to the text above
    return (Edit(file, Span(source.lines.line_span(source.lines.position(begin).line - 1).end, close), "", note),)


def _refuse_reattached(document: Document, mapping: Mapping, index: int, close: int) -> None:
    """Raise CannotEdit where lines after a removed pair would become part of a block scalar before it."""
    leaf = last_leaf(mapping.pairs[index - 1].value) if index else None
    if leaf is None or not is_block_scalar(leaf):
        return
    lines = document.source.lines
    number = lines.position(close).line + 1
    indent = lines.position(mapping.pairs[index].key.outer.start).column - 1
    while number <= len(lines):
        text = lines.line_text(number)
        bare = text.strip()
        if bare and (not bare.startswith("#") or len(text) - len(text.lstrip()) <= indent):
            return
        if bare or len(text) > indent or ("+" in header(document, leaf) and number < len(lines)):
            raise CannotEdit("the lines after it would become part of the text above")
        number += 1


def _emptied(document: Document, mapping: Mapping, pair: Pair, note: str) -> Edit:
    """Braces in place of the only pair, behind the parent's key where nothing stands between."""
    source = document.source
    start = pair.key.outer.start
    close = pair_end(document, pair)
    if not is_block_scalar(last_leaf(pair.value)):
        close = line_end(document, close)
    before = source.text[: mapping.outer.start]
    bare = before.rstrip()
    if (
        mapping.outer == mapping.span
        and bare.endswith(":")
        and ("\n" in before[len(bare) :] or "\r" in before[len(bare) :])
    ):
        return Edit(source.path, Span(len(bare), close), " {}", note)
    return Edit(source.path, Span(start, close), "{}", note)


def _remove_from_flow(document: Document, mapping: Mapping, pair: Pair, note: str) -> Edit:
    source, file = document.source, document.source.path
    if source.text[mapping.span.start] != "{":
        raise CannotEdit("it is a pair in a list, without braces of its own")
    if is_explicit(document, pair):
        raise CannotEdit("the key stands behind a question mark")
    index = mapping.pairs.index(pair)
    start, end = pair.key.outer.start, pair_end(document, pair)
    comma = _COMMA.match(source.text, end)
    behind = comma.end() if comma else end
    close = line_end(document, behind)
    rest = source.text[behind:close].strip()
    own_lines = begins_line(document, start) and (not rest or COMMENT.match(rest) is not None)
    if own_lines and (comma or not index or not COMMENT.search(source.text, end, behind)):
        # Whole lines go; a comma that is left behind the pair before is allowed at the end.
        number = source.lines.position(behind).line
        after = source.lines.starts[number] if number < len(source.lines) else close
        return Edit(file, Span(line_start(document, start), after), "", note)
    if comma:
        if COMMENT.search(source.text, end, behind):
            raise CannotEdit("a comment stands before the comma")
        while behind < len(source.text) and source.text[behind] in " \t":
            behind += 1
        return Edit(file, Span(start, behind), "", note)
    if index:
        previous = pair_end(document, mapping.pairs[index - 1])
        if not COMMENT.search(source.text, previous, start):
            return Edit(file, Span(previous, end), "", note)
    return Edit(file, Span(start, end), "", note)


def unwrap_root_pair(document: Document, key: str, *, note: str = "") -> tuple[Edit, ...]:
    """Make a document whose root holds only `key` the list that stands under it; comments stay."""
    root, source = document.root, document.source
    if not isinstance(root, Mapping) or len(root.pairs) != 1:
        raise CannotEdit(f"`{key}` is not the only key of the file")
    pair = _written(root, key)
    sequence = pair.value
    if not isinstance(sequence, Sequence) or sequence.outer != sequence.span or root.outer != root.span:
        raise CannotEdit(f"`{key}` holds no plain list")
    colon = colon_of(document, pair)
    if colon is None or is_explicit(document, pair) or pair.key.outer != pair.key.span:
        raise CannotEdit("the key stands behind a question mark or has an anchor")
    file, begin = source.path, root.span.start
    if sequence.flow:
        if COMMENT.search(source.text, begin, sequence.span.start) or COMMENT.search(
            source.text, sequence.span.end, max(root.span.end, sequence.span.end)
        ):
            raise CannotEdit("a comment stands between the key and its list")
        opening = Edit(file, Span(begin, sequence.span.start), "", note)
        return (opening, Edit(file, Span(sequence.span.end, root.span.end), "")) if root.flow else (opening,)
    lines = source.lines
    first = lines.position(begin).line
    comment = COMMENT.search(source.text, colon + 1, line_end(document, colon))
    if comment:
        edits = [Edit(file, Span(begin, comment.start()), "", note)]
    else:
        edits = [Edit(file, Span(begin, lines.starts[first]), "", note)]
    indent = lines.position(sequence.span.start).column - 1
    for number in range(first + 1, lines.position(sequence.span.end).line + 1):
        text = lines.line_text(number)
        width = min(indent, len(text) - len(text.lstrip(" ")))
        if width:
            edits.append(Edit(file, Span(lines.starts[number - 1], lines.starts[number - 1] + width), ""))
    return (*edits, *_dedented_tail(document, lines.position(sequence.span.end).line + 1, indent))


def _dedented_tail(document: Document, number: int, indent: int) -> list[Edit]:
    """The comments after the list, and the spaces that belong to its last text."""
    source, edits = document.source, []
    while indent and number <= len(source.lines):
        text = source.lines.line_text(number)
        if text.strip() and not text.lstrip().startswith("#"):
            break
        width = min(indent, len(text) - len(text.lstrip(" ")))
        start = source.lines.starts[number - 1]
        if width:
            edits.append(Edit(source.path, Span(start, start + width), ""))
        number += 1
    return edits


def comment_out_item(document: Document, sequence: Sequence, index: int, reason: str) -> tuple[Edit, ...]:
    """Turn an item of a block list into comment lines under a line with the reason."""
    source = document.source
    if sequence.flow:
        raise CannotEdit("it stands in a list in brackets")
    if len(sequence.items) == 1:
        raise CannotEdit("it is the only source of its list")
    item = sequence.items[index]
    refuse_shared_below(document, item)
    before = sequence.items[index - 1].outer.end if index else line_start(document, sequence.span.start)
    column = source.lines.position(sequence.span.start).column
    found = _DASH_LINE.finditer(source.text, before, max(item.outer.start, before))
    dash = next((match for match in found if len(match.group()) == column), None)
    if dash is None:
        raise CannotEdit("it does not begin a line of its own")
    indent, first = dash.group(1), source.lines.position(dash.start()).line
    end = item.outer.start if is_omitted(item) else item.outer.end - 1
    last = source.lines.position(max(end, dash.end() - 1)).line
    lines = [f"{indent}# {' '.join(reason.split())}"]
    for number in range(first, last + 1):
        text = source.lines.line_text(number)
        body = text[len(indent) :] if text.startswith(indent) else text.lstrip()
        lines.append(f"{indent}# {body}".rstrip())
    span = Span(source.lines.starts[first - 1], source.lines.line_span(last).end)
    return (Edit(source.path, span, source.newline.join(lines)),)


def _written(mapping: Mapping, key: str) -> Pair:
    pair = written_pair(mapping, key)
    if pair is None:
        raise CannotEdit(f"`{key}` does not stand in this section itself")
    return pair
