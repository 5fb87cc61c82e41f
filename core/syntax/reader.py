"""Reads YAML exactly as OmegaConf does, into nodes with spans: from libyaml's events, so that alias sites keep their place."""

from __future__ import annotations

import gc
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import yaml
from yaml import events

from ..text import Source, Span
from .interpolation import MalformedInterpolation, parse_interpolations
from .merging import build_lookup
from .nodes import Alias, Document, Mapping, Node, Pair, Scalar, Sequence, SyntaxProblem
from .problems import from_yaml_error
from .scalars import STR, Unreadable, construct, resolve_plain, short_tag

Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_PROPERTIES = re.compile(r"(?:(?:&[^\s,\[\]{}]+|![^\s,\[\]{}]*)(?:\s|#[^\n\r]*(?=[\n\r]))*)+")
_STYLES = {None: "plain", "": "plain", "'": "single", '"': "double", "|": "literal", ">": "folded"}
_COLLECTION_TAGS = ("tag:yaml.org,2002:map", "tag:yaml.org,2002:seq", "!")
_MAX_DEPTH = 300


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


def read(source: Source, *, recover: bool = True) -> Document:
    """Read the first document of a text. Never raises: what OmegaConf would refuse becomes a problem with its place.

    With `recover`, text that is no YAML is read again with the offending lines left out, so that the rest can be judged.
    """
    builder = _Builder(source)
    try:
        with _gc_paused():
            builder.run()
    except yaml.YAMLError as error:
        problem = from_yaml_error(error, source)
        if recover:
            from .recovery import recovered

            return recovered(source, problem)
        return Document(source, None, (problem,))
    return builder.document()


@contextmanager
def _gc_paused() -> Iterator[None]:
    """Nothing here is garbage, and on large files the collector takes half of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


_Finished = Scalar | Sequence | Mapping


class _Builder:
    """Turns the event stream of one text into nodes."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.text = source.text
        self.problems: list[SyntaxProblem] = []
        self.anchors: dict[str, _Finished | None] = {}
        self.root: Node | None = None
        self.further: list[Span] = []
        self.expanded: dict[int, int] = {}

    def run(self) -> None:
        """Consume all events; raises yaml.YAMLError where the text is no YAML."""
        open_: list[_Open] = []
        documents = 0
        loader = Loader(self.text)
        try:
            while (event := loader.get_event()) is not None:
                kind = type(event)
                if kind is events.ScalarEvent:
                    node: Node = self._scalar(event)
                elif kind is events.AliasEvent:
                    node = self._alias(event)
                elif kind is events.MappingStartEvent or kind is events.SequenceStartEvent:
                    open_.append(self._opened(event, mapping=kind is events.MappingStartEvent))
                    if len(open_) > _MAX_DEPTH:
                        start = event.start_mark.index
                        self._problem("recursion", f"it is nested more than {_MAX_DEPTH} levels deep", start, start + 1)
                        return
                    continue
                elif kind is events.MappingEndEvent or kind is events.SequenceEndEvent:
                    node = self._closed(open_.pop(), event.end_mark.index)
                elif kind is events.DocumentStartEvent:
                    documents += 1
                    if documents > 1:
                        self.further.append(
                            Span(event.start_mark.index, max(event.end_mark.index, event.start_mark.index))
                        )
                    continue
                else:
                    continue
                if open_:
                    open_[-1].nodes.append(node)
                elif documents == 1:
                    self.root = node
        finally:
            loader.dispose()

    def document(self) -> Document:
        """The finished document."""
        root = self.root
        if isinstance(root, Scalar) and root.value is not None:
            self._problem(
                "not-a-config", "the file holds a single value instead of keys", root.span.start, root.span.end
            )
        count = self.expanded.get(id(root), 1) if root is not None else 0
        problems = tuple(sorted(self.problems, key=lambda problem: problem.span))
        return Document(self.source, root, problems, tuple(self.further), count)

    def _problem(self, kind: str, message: str, start: int, end: int) -> None:
        self.problems.append(SyntaxProblem(kind, message, Span(start, end)))

    def _after_properties(self, start: int, has_properties: bool) -> int:
        if not has_properties:
            return start
        match = _PROPERTIES.match(self.text, start)
        return match.end() if match else start

    def _scalar(self, event: Any) -> Scalar:
        outer, end = event.start_mark.index, event.end_mark.index
        tag, anchor, text = event.tag, event.anchor, event.value
        start = min(self._after_properties(outer, anchor is not None or tag is not None), end)
        style = _STYLES[event.style]
        if style in ("literal", "folded"):
            end = start + len(self.text[start:end].rstrip())
        try:
            if tag is None or tag == "!":
                if event.implicit[0]:
                    resolved, value = resolve_plain(text)
                else:
                    resolved, value = STR, text
            else:
                resolved, value = tag, construct(tag, text)
        except Unreadable as error:
            self._problem("construction", str(error), outer, end)
            resolved, value = STR, text
        if resolved == STR and "${" in text:
            self._check_interpolation(text, start, end)
        node = Scalar(Span(start, end), Span(outer, end), value, text, style, anchor, tag)
        if anchor is not None:
            self._anchor(anchor, node, outer)
        return node

    def _check_interpolation(self, text: str, start: int, end: int) -> None:
        try:
            parse_interpolations(text)
        except MalformedInterpolation as error:
            self._problem("interpolation", f"`{text.strip()[:80]}` is no valid interpolation: {error}", start, end)

    def _alias(self, event: Any) -> Node:
        span = Span(event.start_mark.index, event.end_mark.index)
        name = event.anchor
        target = self.anchors.get(name)
        if target is None:
            if name in self.anchors:
                self._problem("recursion", f"`*{name}` stands inside its own anchor", span.start, span.end)
            else:
                self._problem("construction", f"`*{name}` has no anchor `&{name}` above it", span.start, span.end)
            target = Scalar(span, span, None, "", "plain")
        return Alias(span, name, target)

    def _anchor(self, name: str, node: _Finished | None, start: int) -> None:
        if node is not None and self.anchors.get(name) is not None:
            first = self.anchors[name]
            assert first is not None
            self.problems.append(
                SyntaxProblem(
                    "construction",
                    f"the anchor `&{name}` is defined a second time",
                    Span(start, start + 1 + len(name)),
                    Span(first.outer.start, first.outer.start + 1 + len(name)),
                    "first defined here",
                )
            )
        self.anchors[name] = node

    def _opened(self, event: Any, *, mapping: bool) -> _Open:
        start, anchor, tag = event.start_mark.index, event.anchor, event.tag
        inner = self._after_properties(start, anchor is not None or tag is not None)
        if anchor is not None:
            if self.anchors.get(anchor) is not None:
                self._anchor(anchor, Scalar(Span(start, start), Span(start, start), None, "", "plain"), start)
            self.anchors[anchor] = None
        if tag is not None and tag not in _COLLECTION_TAGS:
            self._problem(
                "construction", f"the tag `{short_tag(tag)}` is not taken by OmegaConf", start, inner or start + 1
            )
        return _Open(start, inner, bool(event.flow_style), anchor, tag, mapping)

    def _closed(self, collection: _Open, end: int) -> _Finished:
        nodes = collection.nodes
        if not collection.flow:
            end = max(nodes[-1].outer.end, collection.inner) if nodes else collection.inner
        span, outer = Span(collection.inner, end), Span(collection.start, end)
        node: _Finished
        total = 1 + sum(self._expanded(child) for child in nodes)
        if collection.mapping:
            pairs = tuple(Pair(nodes[i], nodes[i + 1]) for i in range(0, len(nodes) - 1, 2))
            lookup = build_lookup(pairs, self.problems)
            node = Mapping(span, outer, pairs, collection.flow, collection.anchor, collection.tag, lookup)
        else:
            node = Sequence(span, outer, tuple(nodes), collection.flow, collection.anchor, collection.tag)
        self.expanded[id(node)] = total
        if collection.anchor is not None:
            self.anchors[collection.anchor] = node
        return node

    def _expanded(self, node: Node) -> int:
        if isinstance(node, Scalar):
            return 1
        return self.expanded.get(id(node.target if isinstance(node, Alias) else node), 1)
