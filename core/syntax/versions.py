"""What only one OmegaConf refuses: 2.3, which NeMo pins, reads with PyYAML's pure parser and flattens merges as it goes."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from ..text import Span
from .merging import Findings, is_merge
from .nodes import Alias, Mapping, Node, Pair, Scalar, Sequence, SyntaxProblem, deref
from .scalars import shown

_COMMENT = re.compile(r"(?:^|[ \t])#")
_QUESTION = re.compile(r"\?(?<=[^\s?]\?)")  # the literal first: it is looked for in every text
_WRITTEN = re.compile(r"[^ \t\r\n]")
_NEWLINE = re.compile(r"[\r\n]")
#: Pairs handled before a pile of merges is left alone; OmegaConf itself would take minutes over it.
_MOST_PAIRS = 200_000


def version_problems(text: str, root: Node | None, findings: Findings) -> Iterator[SyntaxProblem]:
    """Problems that depend on the version of OmegaConf; each message names it."""
    if root is None:
        return
    if "\t" in text:
        yield from _tab(text, root)
    if _QUESTION.search(text):
        yield from _question(root)
    if findings.nested_merge:
        for construct in (_Construct23(), _Construct24()):
            yield from construct.run(root)


def _tab(text: str, root: Node) -> Iterator[SyntaxProblem]:
    """The first tab that is neither in quotes, nor in a block of text, nor in a comment: libyaml takes it for a blank."""
    shielded = sorted(_shielded(text, root))
    starts = [start for start, _ in shielded]
    offset = text.find("\t")
    while offset >= 0:
        at = bisect_right(starts, offset) - 1
        if at < 0 or offset >= shielded[at][1]:
            line = max(text.rfind("\n", 0, offset), text.rfind("\r", 0, offset)) + 1
            # what is shielded on this line is no comment, whatever it holds
            begin = max(line, shielded[at][1]) if at >= 0 else line
            if not _COMMENT.search(text[begin:offset]):
                message = "a tab stands here outside of quotes, which OmegaConf 2.3 (the one NeMo installs) refuses; use blanks"
                yield SyntaxProblem("construction", message, Span(offset, offset + 1))
                return
        offset = text.find("\t", offset + 1)


def _question(root: Node) -> Iterator[SyntaxProblem]:
    """The first unquoted value with a `?` in a flow collection, such as an address with a query: libyaml takes it."""
    stack = [(root, False)]
    found: list[Scalar] = []
    while stack:
        node, flow = stack.pop()
        if isinstance(node, Mapping):
            stack += [(part, flow or node.flow) for pair in node.pairs for part in (pair.key, pair.value)]
        elif isinstance(node, Sequence):
            stack += [(item, flow or node.flow) for item in node.items]
        elif isinstance(node, Scalar) and flow and node.style == "plain" and "?" in node.text:
            found.append(node)
    for node in sorted(found, key=lambda scalar: scalar.span)[:1]:
        message = (
            f"`{shown(node.text)}` holds a `?`, which OmegaConf 2.3 (the one NeMo installs) refuses here; quote it"
        )
        yield SyntaxProblem("construction", message, node.span)


def _shielded(text: str, root: Node) -> Iterator[tuple[int, int]]:
    """Where tabs are text: inside quotes, and in block scalars below their first line."""
    stack = [root]
    while stack:
        node = stack.pop()
        if isinstance(node, Mapping):
            stack += [part for pair in node.pairs for part in (pair.key, pair.value)]
        elif isinstance(node, Sequence):
            stack += node.items
        elif isinstance(node, Scalar) and node.style != "plain":
            start, end = node.span.start, node.span.end
            if node.style in ("literal", "folded") and (newline := _NEWLINE.search(text, start)):
                start = newline.start()
                end = len(text) if (after := _WRITTEN.search(text, end)) is None else after.start()
            yield start, end


class _Construct24:
    """PyYAML's order of construction, level by level, with OmegaConf 2.4's check for duplicates before each merge.

    A mapping that is merged elsewhere is flattened more than once; the second time what the first has merged looks written.
    """

    def __init__(self) -> None:
        self.content: dict[int, list[Pair]] = {}  #: what a mapping holds by now
        self.flattening: set[int] = set()
        self.found: list[SyntaxProblem] = []
        self.refused: set[int] = set()
        self.left = _MOST_PAIRS

    def run(self, root: Node) -> list[SyntaxProblem]:
        """The problems met while constructing a document."""
        seen: set[int] = set()
        level: list[Node] = [root]
        while level and self.left > 0:
            below: list[Node] = []
            for node in level:
                target = deref(node)
                if id(target) in seen or isinstance(target, Scalar):
                    continue
                seen.add(id(target))
                below += target.items if isinstance(target, Sequence) else self.construct(target)
            level = below
        return self.found

    def construct(self, mapping: Mapping) -> list[Node]:
        """Make a mapping's dict; returns its children."""
        self.flatten(mapping)
        return [part for pair in self.pairs(mapping) for part in (pair.key, pair.value)]

    def pairs(self, mapping: Mapping) -> list[Pair]:
        return self.content.setdefault(id(mapping), list(mapping.pairs))

    def flatten(self, mapping: Mapping) -> None:
        """Put merged pairs in the place of merge keys, for good."""
        if id(mapping) in self.flattening or self.left <= 0:
            return
        self.check(mapping)
        self.flattening.add(id(mapping))
        merged: list[Pair] = []
        own: list[Pair] = []
        for pair in self.pairs(mapping):
            if is_merge(pair.key):
                value = deref(pair.value)
                sources = reversed(value.items) if isinstance(value, Sequence) else [value]
                for source in [target for item in sources if isinstance(target := deref(item), Mapping)]:
                    self.flatten(source)
                    merged += self.pairs(source)
            else:
                own.append(pair)
        self.left -= len(merged) + len(own)
        self.content[id(mapping)] = self.joined(merged, own)
        self.flattening.discard(id(mapping))

    def joined(self, merged: list[Pair], own: list[Pair]) -> list[Pair]:
        """2.4 leaves out what is overridden."""
        names = {name for pair in own if (name := _name(pair)) is not None}
        return [*(pair for pair in merged if _name(pair) not in names), *own]

    def check(self, mapping: Mapping) -> None:
        """Refuse a key that stands twice, unless it was written twice, which is said of the text itself."""
        seen: dict[str, Pair] = {}
        written = {id(pair) for pair in mapping.pairs}
        for pair in self.pairs(mapping):
            name = _name(pair)
            if name is None:
                continue
            if name not in seen:
                seen[name] = pair
                continue
            first = seen[name]
            if id(mapping) not in self.refused and not (id(first) in written and id(pair) in written):
                self.refused.add(id(mapping))
                self.found.append(self.problem(name, mapping, pair, first))

    def problem(self, name: str, mapping: Mapping, second: Pair, first: Pair) -> SyntaxProblem:
        message = f"OmegaConf 2.4 refuses this mapping: two mappings merged into it set `{name}`, and it is itself merged elsewhere"
        merge = next((pair.key.span for pair in mapping.pairs if is_merge(pair.key)), mapping.span)
        return SyntaxProblem("construction", message, merge, first.key.span, f"one `{name}`")


class _Construct23(_Construct24):
    """OmegaConf 2.3 checks when a mapping's turn comes; one that was merged elsewhere before already holds both."""

    def construct(self, mapping: Mapping) -> list[Node]:
        super().check(mapping)
        return super().construct(mapping)

    def check(self, mapping: Mapping) -> None:
        """Nothing is checked while flattening."""

    def joined(self, merged: list[Pair], own: list[Pair]) -> list[Pair]:
        return merged + own

    def problem(self, name: str, mapping: Mapping, second: Pair, first: Pair) -> SyntaxProblem:
        message = (
            f"OmegaConf 2.3 (the one NeMo installs) takes `{name}` for a duplicate key: this mapping changes what it merges, "
            "and is itself merged by a mapping that is read before it; define it at the top of the file"
        )
        return SyntaxProblem("construction", message, second.key.span, first.key.span, "merged from here")


def _name(pair: Pair) -> str | None:
    """A key that OmegaConf's check looks at: text, however it is written."""
    key = pair.key.target if isinstance(pair.key, Alias) else pair.key
    if not isinstance(key, Scalar) or not isinstance(key.value, str) or is_merge(key):
        return None
    return None if key.value == "=" and key.style == "plain" else key.value
