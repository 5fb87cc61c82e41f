"""Nodes without the cost of a frozen dataclass's constructor, which is a third of the time of a read when a file is long."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from ..text import Span
from .nodes import Node, Pair, Scalar, ScalarValue

_T = TypeVar("_T")
_new: Callable[[type[_T]], _T] = object.__new__


def _setters(cls: type) -> tuple[Callable[[object, object], None], ...]:
    """What writes each slot of a class, past the guard of a frozen dataclass; only for objects nobody has seen yet."""
    slots: tuple[str, ...] = vars(cls)["__slots__"]
    descriptors: list[Any] = [vars(cls)[slot] for slot in slots]
    return tuple(descriptor.__set__ for descriptor in descriptors)


_start, _end = _setters(Span)
_span, _outer, _value, _text, _style, _anchor, _tag = _setters(Scalar)
_pair_key, _pair_value, _pair_merged_at = _setters(Pair)


def make_span(start: int, end: int) -> Span:
    """`Span(start, end)`."""
    span = _new(Span)
    _start(span, start)
    _end(span, end)
    return span


def make_plain(start: int, end: int, value: ScalarValue, text: str) -> Scalar:
    """A plain scalar without anchor and tag, which is what nearly all scalars are."""
    span = _new(Span)
    _start(span, start)
    _end(span, end)
    node = _new(Scalar)
    _span(node, span)
    _outer(node, span)
    _value(node, value)
    _text(node, text)
    _style(node, "plain")
    _anchor(node, None)
    _tag(node, None)
    return node


def make_pair(key: Node, value: Node, merged_at: Span | None = None) -> Pair:
    """`Pair(key, value, merged_at)`."""
    pair = _new(Pair)
    _pair_key(pair, key)
    _pair_value(pair, value)
    _pair_merged_at(pair, merged_at)
    return pair
