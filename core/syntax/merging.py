"""What a mapping's keys mean: merge keys resolved as PyYAML flattens them, duplicates and impossible keys found."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..text import Span
from .making import make_pair
from .nodes import Mapping, Node, Pair, Scalar, ScalarValue, Sequence, SyntaxProblem, deref
from .scalars import MERGE, shown


@dataclass(slots=True)
class Findings:
    """What came up while a document was built."""

    problems: list[SyntaxProblem] = field(default_factory=list)
    nested_merge: bool = False  #: whether a mapping that merges others is merged itself

    def add(self, kind: str, message: str, span: Span, related: Span | None = None, words: str = "") -> None:
        self.problems.append(SyntaxProblem(kind, message, span, related, words))


def build_lookup(pairs: tuple[Pair, ...], findings: Findings) -> dict[ScalarValue, Pair]:
    """The deciding pair of each key. Merged pairs come first and lose against explicit ones; later pairs win."""
    lookup: dict[ScalarValue, Pair] = {}
    for pair in pairs:
        key = pair.key
        if type(key) is not Scalar or type(key.value) is not str or key.value == "<<" or key.value in lookup:
            return _carefully(pairs, findings)
        lookup[key.value] = pair
    return lookup


def is_merge(key: Node) -> bool:
    """Whether a key is YAML's merge key `<<`."""
    key = deref(key)
    if not isinstance(key, Scalar):
        return False
    return key.tag == MERGE or (key.text == "<<" and key.style == "plain" and key.tag in (None, "!"))


def _carefully(pairs: tuple[Pair, ...], findings: Findings) -> dict[ScalarValue, Pair]:
    """The same for mappings with anything but distinct strings for keys."""
    explicit: dict[ScalarValue, Pair] = {}
    merged: dict[ScalarValue, Pair] = {}
    seen: dict[str, Pair] = {}
    for pair in pairs:
        key = deref(pair.key)
        if is_merge(key):
            _merge(pair, merged, findings)
        elif not isinstance(key, Scalar):
            what = "list" if isinstance(key, Sequence) else "mapping"
            findings.add("construction", f"a {what} stands where a key has to be", pair.key.span)
        elif key.value is None:
            what = f"`{shown(key.text)}`" if key.text else "an empty value"
            findings.add("construction", f"{what} cannot be a key: it means null; quote it or name it", _visible(pair))
        else:
            if isinstance(key.value, str) and key.text != "=":
                if (first := seen.setdefault(key.value, pair)) is not pair:
                    message = f"the key `{shown(key.value)}` stands twice in one mapping"
                    findings.add("duplicate-key", message, _visible(pair), first.key.span, "first set here")
            if key.value in explicit:  # the later value decides, but a dict keeps the key it met first: 1 before true
                pair = make_pair(explicit[key.value].key, pair.value) if key.value != key.text else pair
            explicit[key.value] = pair
    lookup = {**merged, **explicit} if merged else explicit
    for number in [key for key in lookup if type(key) is int]:
        if type(lookup.get(str(number))) is Pair:
            message = f"the keys `{number}` and `'{number}'` stand in one mapping, which OmegaConf refuses from 2.4 on"
            spans = sorted((_visible(lookup[str(number)]), _visible(lookup[number])))
            findings.add("construction", message, spans[1], spans[0], "the other one")
    return lookup


def _visible(pair: Pair) -> Span:
    """A key's span, or its value's where the key is left out."""
    return pair.key.span if pair.key.span.end > pair.key.span.start else pair.value.span


def _merge(pair: Pair, merged: dict[ScalarValue, Pair], findings: Findings) -> None:
    value = deref(pair.value)
    if isinstance(value, Mapping):
        _take(value, pair.value.span, merged, findings)
    elif isinstance(value, Sequence):
        for item in reversed(value.items):  # the first of a list wins
            target = deref(item)
            if isinstance(target, Mapping):
                _take(target, item.span, merged, findings)
            else:
                findings.add("construction", "`<<` can only merge mappings, and this is none", item.span)
    else:
        findings.add("construction", "`<<` needs a mapping, or a list of mappings, to merge", _visible(pair))


def _take(mapping: Mapping, use: Span, merged: dict[ScalarValue, Pair], findings: Findings) -> None:
    if not findings.nested_merge:
        findings.nested_merge = any(is_merge(pair.key) for pair in mapping.pairs)
    for key, inner in mapping.lookup.items():
        merged[key] = make_pair(inner.key, inner.value, use)
