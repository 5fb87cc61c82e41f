"""What a mapping's keys mean: merge keys resolved as PyYAML flattens them, duplicates and impossible keys found."""

from __future__ import annotations

from ..text import Span
from .nodes import Mapping, Pair, Scalar, ScalarValue, Sequence, SyntaxProblem, deref


def build_lookup(pairs: tuple[Pair, ...], problems: list[SyntaxProblem]) -> dict[ScalarValue, Pair]:
    """The deciding pair of each key. Merged pairs come first and lose against explicit ones; later pairs win."""
    explicit: dict[ScalarValue, Pair] = {}
    merged: dict[ScalarValue, Pair] = {}
    seen: dict[str, Scalar] = {}
    for pair in pairs:
        key = deref(pair.key)
        if not isinstance(key, Scalar):
            problems.append(SyntaxProblem("construction", "a list or mapping cannot be a key", pair.key.span))
            continue
        if _is_merge(key):
            _merge(pair, merged, problems)
            continue
        if key.value is None:
            problems.append(SyntaxProblem("construction", "a key cannot be empty or null", _visible(pair)))
            continue
        if isinstance(key.value, str):
            first = seen.get(key.value)
            if first is not None:
                problems.append(
                    SyntaxProblem(
                        "duplicate-key",
                        f"the key `{key.value}` stands twice in one mapping",
                        pair.key.span,
                        first.span,
                        "first set here",
                    )
                )
            seen.setdefault(key.value, key)
        explicit[key.value] = pair
    if not merged:
        return explicit
    return {**merged, **explicit}


def _visible(pair: Pair) -> Span:
    """A key's span, or its value's where the key is left out."""
    return pair.key.span if pair.key.span.end > pair.key.span.start else pair.value.span


def _is_merge(key: Scalar) -> bool:
    return key.text == "<<" and key.style == "plain" and key.tag is None


def _merge(pair: Pair, merged: dict[ScalarValue, Pair], problems: list[SyntaxProblem]) -> None:
    value = deref(pair.value)
    if isinstance(value, Mapping):
        _take(value, pair.value.span, merged)
        return
    if isinstance(value, Sequence):
        for item in reversed(value.items):  # the first of a list wins
            target = deref(item)
            if isinstance(target, Mapping):
                _take(target, item.span, merged)
            else:
                problems.append(SyntaxProblem("construction", "`<<` can only merge mappings", item.span))
        return
    problems.append(SyntaxProblem("construction", "`<<` can only merge a mapping or a list of them", pair.key.span))


def _take(mapping: Mapping, use: Span, merged: dict[ScalarValue, Pair]) -> None:
    for key, inner in mapping:
        merged.pop(key, None)
        merged[key] = Pair(inner.key, inner.value, use)
