"""Words for what libyaml refuses: its marked errors become problems with a span and a sentence an engineer understands."""

from __future__ import annotations

from typing import Any

import yaml

from ..text import Source, Span
from .nodes import SyntaxProblem

#: libyaml's words → ours. Its own stay in brackets, for searching.
_WORDS = (
    (
        "mapping values are not allowed",
        "a `:` stands where no key can be; check the indentation and the line above, or quote the value",
    ),
    ("could not find expected ':'", "a key has no `:` after it"),
    ("did not find expected key", "this line is not indented like the keys around it"),
    ("did not find expected '-' indicator", "this line is not indented like the list items above it"),
    (
        "found character that cannot start any token",
        "a tab, `@` or backtick cannot begin a value; indent with spaces or quote it",
    ),
    ("found unexpected end of stream", "a quote or bracket is never closed"),
    ("did not find expected ',' or ']'", "a `[` list is not closed, or a comma is missing"),
    ("did not find expected ',' or '}'", "a `{` mapping is not closed, or a comma is missing"),
    ("did not find expected node content", "a value is missing here"),
    ("block sequence entries are not allowed", "a `- ` item cannot begin here; put it on a line of its own"),
    ("did not find expected alphabetic or numeric character", "`*` or `&` needs a name; quote the value if it is text"),
    ("found unknown escape character", "a backslash in double quotes begins an unknown escape; use single quotes"),
    ("found undefined tag handle", "the tag's `!handle!` is not declared"),
    ("found a tab character", "a tab is used for indentation; use spaces"),
    ("control characters are not allowed", "there is a control character in the text"),
    ("found incompatible YAML document", "the `%YAML` version is not supported"),
    ("did not find expected <document start>", "the text goes on after the end of the document"),
)


def from_yaml_error(error: yaml.YAMLError, source: Source) -> SyntaxProblem:
    """A problem of kind syntax at the error's own place, or where what was left open begins."""
    words = str(getattr(error, "problem", None) or getattr(error, "reason", None) or error).strip()
    message = next((ours for theirs, ours in _WORDS if theirs in words), "")
    message = f"{message} (YAML: {words})" if message else f"it is no YAML: {' '.join(words.split())}"
    span = _span(error, source)
    context: Any = getattr(error, "context_mark", None)
    if context is None or context.index >= span.start:
        return SyntaxProblem("syntax", message, span)
    begun = _one_character(context.index, source)
    if source.lines.position(begun.start).line < source.lines.position(span.start).line:
        if words.startswith("could not find expected ':'"):
            return SyntaxProblem("syntax", message, _rest_of_line(begun, source))
        if "quoted scalar" in str(getattr(error, "context", "")) or "flow" in str(getattr(error, "context", "")):
            return SyntaxProblem("syntax", message, begun, span, "what comes until here belongs to it")
    return SyntaxProblem("syntax", message, span, begun, "in what begins here")


def from_encode_error(error: UnicodeEncodeError) -> SyntaxProblem:
    """A problem for half of a surrogate pair, which an editor may send and no file can hold."""
    char = ord(error.object[error.start])
    message = f"the character U+{char:04X} is half of a pair and cannot stand in a file"
    return SyntaxProblem("syntax", message, Span(error.start, error.start + 1))


def _span(error: yaml.YAMLError, source: Source) -> Span:
    mark: Any = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    if mark is not None:
        return _one_character(mark.index, source)
    position = getattr(error, "position", None)
    if isinstance(position, int):  # a reader error counts bytes of the UTF-8 text
        return _one_character(len(source.text.encode("utf-8")[:position].decode("utf-8", "ignore")), source)
    return Span(0, min(1, len(source.text)))


def _rest_of_line(begun: Span, source: Source) -> Span:
    """From a place to the last character of its line, a comment left out."""
    end = source.lines.line_span(source.lines.position(begun.start).line).end
    written = source.text[begun.start : end].split(" #", 1)[0].rstrip()
    return Span(begun.start, max(begun.start + len(written), begun.end))


def _one_character(index: int, source: Source) -> Span:
    """The character at an index; at the end of the text or of a line, the one before it."""
    text = source.text
    index = min(index, len(text))
    while index > 0 and (index == len(text) or text[index] in "\r\n"):
        index -= 1
    return Span(index, min(index + 1, len(text)))
