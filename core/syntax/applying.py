"""Edits applied to a source; for migrated artifacts with a comment at each change that says what was there."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby, takewhile
from typing import TypeVar

from ..findings import Edit
from ..text import Source, Span
from .nodes import to_plain
from .reader import read
from .serializing import printable

#: With every alias counted as a copy. A text that stands for more is not compared value by value.
MAX_COMPARED_NODES = 5_000_000

_T = TypeVar("_T")


class OverlappingEdits(ValueError):
    """Two edits want to change the same characters."""


def ordered(edits: Iterable[Edit]) -> list[Edit]:
    """Edits by place, identical ones once; insertions at one place keep their order."""
    unique: dict[tuple[int, int, str], Edit] = {}
    for edit in edits:
        unique.setdefault((edit.span.start, edit.span.end, edit.text), edit)
    return sorted(unique.values(), key=lambda edit: (edit.span.start, edit.span.end))


def overlap(edits: Sequence[Edit]) -> bool:
    """Whether ordered edits of one file touch the same characters."""
    return any(second.span.start < first.span.end for first, second in zip(edits, edits[1:]))


class Claims:
    """Spans of one file that edits have claimed so far; a further edit is let in when it overlaps none."""

    def __init__(self) -> None:
        self._spans: list[Span] = []
        self._known: set[tuple[Span, str]] = set()

    def free(self, edits: Sequence[Edit]) -> bool:
        """Whether edits overlap nothing that was claimed; an edit that was made already counts as free."""
        return all((edit.span, edit.text) in self._known or self._fits(edit.span) for edit in edits)

    def claim(self, edits: Sequence[Edit]) -> None:
        """Keep the spans of edits from others."""
        for edit in edits:
            if (edit.span, edit.text) not in self._known:
                self._known.add((edit.span, edit.text))
                insort(self._spans, edit.span)

    def _fits(self, span: Span) -> bool:
        # Claimed spans overlap nowhere, so their ends rise with their starts and the neighbours decide.
        index = bisect_right(self._spans, span)
        before = self._spans[index - 1].end <= span.start if index else True
        return before and (index == len(self._spans) or self._spans[index].start >= span.end)


def apply_edits(source: Source, edits: Iterable[Edit]) -> Source:
    """The source with the edits made; raises OverlappingEdits."""
    in_order = ordered(edits)
    if overlap(in_order):
        raise OverlappingEdits("two edits overlap")
    parts, position = [], 0
    for edit in _joined(in_order, source):
        parts += [source.text[position : edit.span.start], edit.text]
        position = edit.span.end
    return source.with_text("".join([*parts, source.text[position:]]))


def _joined(edits: Sequence[Edit], source: Source) -> list[Edit]:
    """The edits with those put together that meet at one place: keys that open the same new section, so that it is
    opened once, and keys that go into empty braces, with the commas between them."""
    newline = source.newline
    joined: list[Edit] = []
    for place, group in groupby(edits, key=lambda edit: edit.span):
        inserted = list(group)
        if len(inserted) > 1 and all(edit.text.startswith(newline) and _opened(edit, newline) for edit in inserted):
            tree: _Tree = {}
            for edit in inserted:
                level = tree
                for line in _opened(edit, newline):
                    level = level.setdefault(line, {})
                level.setdefault(newline.join(edit.text.split(newline)[1 + len(_opened(edit, newline)) :]), {})
            joined.append(Edit(inserted[0].file, place, "".join(f"{newline}{line}" for line in _lines(tree))))
        elif len(inserted) > 1 and source.text[place.start - 1 : place.start] == "{" and place.start == place.end:
            joined.append(Edit(inserted[0].file, place, ", ".join(edit.text for edit in inserted)))
        else:
            joined += inserted
    return joined


_Tree = dict[str, "_Tree"]


def _opened(edit: Edit, newline: str) -> list[str]:
    """The lines with which an inserted text opens sections (`data:`), up to the first that says something."""
    return list(takewhile(lambda line: line.endswith(":"), edit.text.split(newline)[1:]))


def _lines(tree: _Tree) -> Iterator[str]:
    for line, below in tree.items():
        yield line
        yield from _lines(below)


def annotated(source: Source, edits: Iterable[Edit], notes: Mapping[Edit, str]) -> Source:
    """The source with the edits made and a comment line above each change. A comment that would change what the file
    means (inside a multi-line string) is left out."""
    in_order = ordered(edits)
    wanted = to_plain_text(apply_edits(source, in_order))
    comments = {index: note for index, edit in enumerate(in_order) if (note := notes.get(edit, ""))}

    def made(with_comment: Iterable[int]) -> Source:
        chosen = set(with_comment)
        every = [
            _commented(source, edit, comments[index]) if index in chosen else [edit]
            for index, edit in enumerate(in_order)
        ]
        return apply_edits(source, [part for parts in every for part in parts])

    kept, _ = largest([], list(comments), lambda chosen: "" if to_plain_text(made(chosen)) == wanted else "it differs")
    return made(kept)


def largest(base: list[_T], items: list[_T], fault: Callable[[list[_T]], str]) -> tuple[list[_T], list[tuple[_T, str]]]:
    """The items that pass together on top of `base`, and those that fail with their fault.

    Halves are tried where the whole fails, so that a few faults among many items cost few trials.
    """
    if not items:
        return base, []
    found = fault([*base, *items])
    if not found:
        return [*base, *items], []
    if len(items) == 1:
        return base, [(items[0], found)]
    middle = len(items) // 2
    base, failed = largest(base, items[:middle], fault)
    base, others = largest(base, items[middle:], fault)
    return base, [*failed, *others]


def to_plain_text(source: Source) -> str:
    """What a text means, for comparison."""
    document = read(source, recover=False)
    if document.root is None or not document.parses or document.expanded_nodes > MAX_COMPARED_NODES:
        return "unreadable"
    return repr(to_plain(document.root)) + repr([problem.kind for problem in document.problems])


def _commented(source: Source, edit: Edit, note: str) -> list[Edit]:
    """An edit with its comment: above the line of a replacement, above the new line of an insertion."""
    note = printable(note)
    if edit.text.startswith(("\n", "\r")):
        opened, _, last = edit.text.rpartition(source.newline)
        return [Edit(edit.file, edit.span, f"{opened}{source.newline}{_indent(last)}# {note}{source.newline}{last}")]
    line = source.lines.position(edit.span.start).line
    start = source.lines.starts[line - 1]
    if start == edit.span.start == edit.span.end and edit.text.endswith(("\n", "\r")):
        return [Edit(edit.file, edit.span, f"{_indent(edit.text)}# {note}{source.newline}{edit.text}")]
    indent = _indent(source.lines.line_text(line))
    return [Edit(edit.file, Span(start, start), f"{indent}# {note}{source.newline}"), edit]


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]
