"""From libyaml's events to nodes, in one pass: a loop that is long because every call in it is paid for each scalar."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import yaml
from yaml.events import (
    AliasEvent,
    DocumentEndEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from ..text import Span
from .interpolation import MalformedInterpolation, parse_interpolations
from .making import make_pair, make_plain, make_span
from .merging import Findings, build_lookup, is_merge
from .nodes import Alias, Mapping, Node, Pair, Scalar, ScalarValue, Sequence, SyntaxProblem, deref
from .scalars import (
    FINE,
    INTERPOLATED,
    MERGE,
    VALUE,
    Unreadable,
    construct,
    plain_tag,
    remembered,
    resolve_plain,
    shown,
)
from .tags import as_pairs, as_path, collection_problem

#: libyaml's parser where PyYAML has it; the pure one reads the same, some twelve times slower.
Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

#: OmegaConf runs into Python's recursion limit between 75 and 110 levels.
MAX_DEPTH = 100

_PROPERTIES = re.compile(r"(?:(?:&[^\s,\[\]{}]+|!<[^>]*>|![^\s,\[\]{}]*)(?:\s|#[^\n\r]*(?=[\n\r]))*)+")
_BLANK_END = re.compile(r"(?:[\r\n]+[ \t]*)+\Z")
_STYLES = {"'": "single", '"': "double", "|": "literal", ">": "folded"}

_Finished = Scalar | Sequence | Mapping


class TooDeep(Exception):
    """The nesting is deeper than OmegaConf can follow; `offset` is where."""

    def __init__(self, offset: int) -> None:
        super().__init__(offset)
        self.offset = offset


@dataclass(slots=True)
class _Open:
    """A collection whose end has not come yet."""

    start: int
    inner: int
    flow: bool
    anchor: str | None
    tag: str | None
    mapping: bool
    nodes: list[Node] = field(default_factory=list)
    copied: int = 0  #: nodes below its own children, aliases counted as copies


@dataclass(slots=True)
class Build:
    """One text on its way to a document. `root`, `further` and `count` hold what was read so far."""

    text: str
    findings: Findings = field(default_factory=Findings)
    #: Scalars with a malformed interpolation: a problem only where the value is used.
    malformed: list[tuple[Scalar, SyntaxProblem]] = field(default_factory=list)
    root: Node | None = None
    further: list[Span] = field(default_factory=list)
    count: int = 0
    _anchors: dict[str, tuple[_Finished | None, int, int]] = field(default_factory=dict)

    def run(self) -> None:
        """Consume all events; raises yaml.YAMLError where the text is no YAML, and TooDeep."""
        text = self.text
        # libyaml takes one byte order mark away and does not count it; one that is part of the text needs another before it
        loader: Any = Loader("\ufeff" + text if text.startswith("\ufeff") else text)
        try:
            self._first(loader.get_event)
            while (event := loader.get_event()) is not None:
                if isinstance(event, DocumentStartEvent):
                    mark: Any = event.start_mark
                    start = min(mark.index, len(text))
                    self.further.append(Span(start, start + text.startswith("---", start) * 3))
        finally:
            loader.dispose()

    def _first(self, next_event: Any) -> None:
        """The first document. OmegaConf looks at no other."""
        known = remembered().get
        stack: list[_Open] = []
        top = _Open(0, 0, False, None, None, False)
        current, nodes = top, top.nodes
        while (event := next_event()) is not None:
            kind = type(event)
            if kind is ScalarEvent:
                start, end = event.start_mark.index, event.end_mark.index
                if event.style or event.anchor is not None or event.tag is not None or start == end:
                    nodes.append(self._scalar(event, current))
                    continue
                value = event.value
                plain = known(value) or resolve_plain(value)
                node = make_plain(start, end, plain[0], value)
                if plain[1]:
                    self._look(node, plain[1], current)
                nodes.append(node)
            elif kind is AliasEvent:
                nodes.append(self._alias(event, current))
            elif kind is MappingStartEvent or kind is SequenceStartEvent:
                stack.append(current)
                if len(stack) > MAX_DEPTH:
                    raise TooDeep(event.start_mark.index)
                current = self._opened(event, kind is MappingStartEvent, current)
                nodes = current.nodes
            elif kind is MappingEndEvent or kind is SequenceEndEvent:
                closed = current
                current = stack.pop()
                nodes = current.nodes
                nodes.append(self._closed(closed, event.end_mark.index, current))
            elif kind is DocumentEndEvent:
                self.root = nodes[0] if nodes else None
                self.count = len(nodes) + current.copied
                return

    def _problem(self, kind: str, message: str, start: int, end: int) -> None:
        self.findings.add(kind, message, Span(start, end))

    def _after_properties(self, start: int, has_properties: bool) -> int:
        match = _PROPERTIES.match(self.text, start) if has_properties else None
        return match.end() if match else start

    def _scalar(self, event: Any, parent: _Open) -> Scalar:
        """A scalar with quotes, an anchor or a tag, or one that is left out."""
        outer, end = event.start_mark.index, event.end_mark.index
        tag, anchor, text = event.tag, event.anchor, event.value
        start = min(self._after_properties(outer, anchor is not None or tag is not None), end)
        style = _STYLES.get(event.style, "plain")
        if style in ("literal", "folded"):
            end -= len(match[0]) if (match := _BLANK_END.search(self.text, start, end)) else 0
        elif outer == end:
            outer = start = end = self._left_out(end, parent)
        value, care = self._value(tag, text, event.implicit[0], parent, Span(outer, end))
        span = make_span(start, end)
        node = Scalar(span, span if outer == start else Span(outer, end), value, text, style, anchor, tag)
        if care:
            self._look(node, care, parent)
        if anchor is not None:
            self._anchor(anchor, outer)
            self._anchors[anchor] = (node, 1, outer)
        return node

    def _value(self, tag: str | None, text: str, implicit: bool, parent: _Open, span: Span) -> tuple[ScalarValue, int]:
        if (tag is None or tag == "!") and implicit:
            return remembered().get(text) or resolve_plain(text)
        if tag in (MERGE, VALUE) and parent.mapping and len(parent.nodes) % 2 == 0:
            return "<<" if tag == MERGE else text, FINE
        try:
            value = text if tag is None or tag == "!" else construct(tag, text)
        except Unreadable as error:
            self.findings.add("construction", str(error), span)
            return text, FINE
        return value, INTERPOLATED if isinstance(value, str) and "${" in value else FINE

    def _left_out(self, offset: int, parent: _Open) -> int:
        """The place of a value that is not there: after its colon, after its dash, or after its key."""
        if parent.mapping and len(parent.nodes) % 2:
            key_end = parent.nodes[-1].outer.end
            colon = self.text.find(":", key_end, offset)
            return key_end if colon < 0 else colon + 1
        return offset

    def _look(self, node: Scalar, care: int, parent: _Open) -> None:
        """Check a scalar that may be refused as a value; keys are never interpolated, and `<<` and `=` are keys."""
        if parent.mapping and len(parent.nodes) % 2 == 0:
            if care == INTERPOLATED or node.text == "=" or is_merge(node):
                return
        if care == INTERPOLATED:
            try:
                _check_interpolations(node.text)
            except MalformedInterpolation as error:
                message = f"`{shown(node.text, 80)}` is no valid interpolation: {error}"
                self.malformed.append((node, SyntaxProblem("interpolation", message, node.span)))
            return
        try:
            construct(plain_tag(node.text), node.text)
        except Unreadable as error:
            self._problem("construction", str(error), node.span.start, node.span.end)

    def _alias(self, event: Any, parent: _Open) -> Alias:
        span = Span(event.start_mark.index, event.end_mark.index)
        name = event.anchor
        target, count, _ = self._anchors.get(name, (None, 1, 0))
        if target is None:
            if name in self._anchors:
                self._problem("recursion", f"`*{name}` stands inside its own anchor `&{name}`", span.start, span.end)
            else:
                self._problem("construction", f"`*{name}` has no anchor `&{name}` above it", span.start, span.end)
            target = Scalar(span, span, None, "", "plain")
        parent.copied += count - 1
        return Alias(span, name, target)

    def _anchor(self, name: str, start: int) -> None:
        first = self._anchors.get(name)
        if first is not None:
            span, before = (Span(at, at + 1 + len(name)) for at in (self._ampersand(start), self._ampersand(first[2])))
            message = f"the anchor `&{name}` is defined a second time"
            self.findings.add("construction", message, span, before, "first defined here")

    def _ampersand(self, start: int) -> int:
        return max(self.text.find("&", start), start)

    def _opened(self, event: Any, mapping: bool, parent: _Open) -> _Open:
        start, anchor, tag = event.start_mark.index, event.anchor, event.tag
        inner = self._after_properties(start, anchor is not None or tag is not None)
        if anchor is not None:
            self._anchor(anchor, start)
            self._anchors[anchor] = (None, 1, start)
        if tag is not None and not _merged(parent) and (words := collection_problem(tag, mapping)):
            self._problem("construction", words, start, max(inner, start + 1))
        return _Open(start, inner, bool(event.flow_style), anchor, tag, mapping)

    def _closed(self, collection: _Open, end: int, parent: _Open) -> _Finished:
        nodes, tag = collection.nodes, collection.tag
        if not collection.flow:
            end = max(nodes[-1].outer.end, collection.inner) if nodes else collection.inner
        span = make_span(collection.inner, end)
        outer = span if collection.start == collection.inner else Span(collection.start, end)
        below = len(nodes) + collection.copied
        node: _Finished
        if collection.mapping:
            each = iter(nodes)
            pairs: tuple[Pair, ...] = tuple([make_pair(key, value) for key, value in zip(each, each)])
            lookup = build_lookup(pairs, self.findings)
            node = Mapping(span, outer, pairs, collection.flow, collection.anchor, tag, lookup)
        elif tag is not None and (path := as_path(tag, nodes)) is not None:
            node = Scalar(span, outer, path, path, "plain", collection.anchor, tag)
        else:
            items = tuple(nodes) if tag is None else as_pairs(tag, nodes, self.findings)
            node = Sequence(span, outer, items, collection.flow, collection.anchor, tag)
        if collection.anchor is not None:
            self._anchors[collection.anchor] = (node, 1 + below, collection.start)
        parent.copied += below
        return node


@lru_cache(4096)
def _check_interpolations(text: str) -> None:
    """Raise where an interpolation is malformed. What is right is remembered, for it is there at the next key stroke too."""
    parse_interpolations(text)


def _merged(parent: _Open) -> bool:
    """Whether the next node is what a merge key takes apart; its own tag is never looked at."""
    return parent.mapping and len(parent.nodes) % 2 == 1 and is_merge(parent.nodes[-1])


def used(root: Node | None) -> set[int]:
    """The identities of all nodes that come to be values: a value overridden by a later or nearer key does not."""
    seen: set[int] = set()
    stack = [] if root is None else [root]
    while stack:
        node = deref(stack.pop())
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, Sequence):
            stack += node.items
        elif isinstance(node, Mapping):
            stack += [pair.value for _, pair in node]
    return seen
