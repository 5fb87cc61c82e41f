"""The immutable tree of a YAML document: what OmegaConf would read, and where each piece stands in the text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

from ..records import dataclass
from ..text import Source, Span

#: Tags of scalars that stand for what a launcher does to a key: no YAML text gives a tag of this form.
DELETED, UNKNOWN = "launcher deletes", "launcher sets what cannot be known"

ScalarValue = bool | int | float | str | bytes | None


@dataclass(frozen=True, slots=True, eq=False)
class Scalar:
    """A scalar. `span` covers the value itself with its quotes; it is empty for an omitted value (`key:`)."""

    span: Span
    outer: Span  #: from the anchor or tag, where there is one
    value: ScalarValue  #: as OmegaConf reads it: `yes` is True, `012` is 10, `1e3` is 1000.0
    text: str  #: the characters after unquoting and folding
    style: str  #: plain · single · double · literal · folded
    anchor: str | None = None
    tag: str | None = None  #: an explicit tag, as resolved by YAML


@dataclass(frozen=True, slots=True, eq=False)
class Alias:
    """The use of an anchor (`*name`); `target` is what it stands for."""

    span: Span
    name: str
    target: Node

    @property
    def outer(self) -> Span:
        return self.span


@dataclass(frozen=True, slots=True, eq=False)
class Sequence:
    """A sequence; a block sequence's span ends with its last item, not with the blank lines after it."""

    span: Span
    outer: Span
    items: tuple[Node, ...]
    flow: bool
    anchor: str | None = None
    tag: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """A key and its value as written. `merged_at` is the span of the `<<` value that brought the pair in, if one did."""

    key: Node
    value: Node
    merged_at: Span | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Mapping:
    """A mapping. `pairs` are as written, `lookup` is what is read: merge keys resolved, explicit keys winning."""

    span: Span
    outer: Span
    pairs: tuple[Pair, ...]
    flow: bool
    anchor: str | None = None
    tag: str | None = None
    lookup: dict[ScalarValue, Pair] = field(default_factory=dict, repr=False)

    def get(self, key: ScalarValue) -> Pair | None:
        """The pair that decides a key's value, or None."""
        return self.lookup.get(key)

    def __iter__(self) -> Iterator[tuple[ScalarValue, Pair]]:
        return iter(self.lookup.items())


Node = Scalar | Sequence | Mapping | Alias


def deref(node: Node) -> Scalar | Sequence | Mapping:
    """What a node stands for: the anchored node of an alias, every other node itself."""
    while isinstance(node, Alias):
        node = node.target
    return node


def to_plain(node: Node) -> object:
    """The plain Python value of a node: dict, list or scalar, aliases and merge keys resolved."""
    node = deref(node)
    if isinstance(node, Scalar):
        return node.value
    if isinstance(node, Sequence):
        return [to_plain(item) for item in node.items]
    return {key: to_plain(pair.value) for key, pair in node}


@dataclass(frozen=True, slots=True)
class SyntaxProblem:
    """One reason for which OmegaConf refuses the text (or, for `kind` oversized, may refuse it)."""

    kind: str  #: syntax · duplicate-key · interpolation · construction · recursion · not-a-config
    message: str  #: one sentence without a full stop
    span: Span
    related: Span | None = None
    related_message: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Document:
    """The first document of a file. With problems of kind syntax, `root` is what could be recovered, or None."""

    source: Source
    root: Node | None
    problems: tuple[SyntaxProblem, ...] = ()
    further_documents: tuple[Span, ...] = ()  #: where each document after the first begins (its first character)
    expanded_nodes: int = 0  #: nodes with every alias counted as a copy, as OmegaConf 2.4 counts them

    @property
    def parses(self) -> bool:
        """Whether the text is YAML at all: recovered text is judged, but never fixed."""
        return not any(problem.kind == "syntax" for problem in self.problems)
