"""Edits applied to a source; for migrated artifacts with a comment at each change that says what was there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ..findings import Edit
from ..text import Source, Span
from .nodes import to_plain
from .reader import read


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


def apply_edits(source: Source, edits: Iterable[Edit]) -> Source:
    """The source with the edits made; raises OverlappingEdits."""
    in_order = ordered(edits)
    if overlap(in_order):
        raise OverlappingEdits("two edits overlap")
    parts, position = [], 0
    for edit in in_order:
        parts += [source.text[position : edit.span.start], edit.text]
        position = edit.span.end
    return source.with_text("".join([*parts, source.text[position:]]))


def annotated(source: Source, edits: Iterable[Edit], notes: Mapping[Edit, str]) -> Source:
    """The source with the edits made and a comment line above each change. A comment that would change what the file
    means (inside a multi-line string) is left out."""
    in_order = ordered(edits)
    wanted = to_plain_text(apply_edits(source, in_order))
    every = [_commented(source, edit, notes.get(edit, "")) for edit in in_order]
    result = apply_edits(source, [part for parts in every for part in parts])
    if to_plain_text(result) == wanted:
        return result
    kept = [[edit] for edit in in_order]
    for index, parts in enumerate(every):
        attempt = [*kept[:index], parts, *kept[index + 1 :]]
        if to_plain_text(apply_edits(source, [part for parts in attempt for part in parts])) == wanted:
            kept = attempt
    return apply_edits(source, [part for parts in kept for part in parts])


def to_plain_text(source: Source) -> str:
    """What a text means, for comparison."""
    document = read(source, recover=False)
    return repr(to_plain(document.root)) if document.root is not None and document.parses else "unreadable"


def _commented(source: Source, edit: Edit, note: str) -> list[Edit]:
    """An edit with its comment: above the line of a replacement, above the new line of an insertion."""
    if not note:
        return [edit]
    if edit.text.startswith(("\n", "\r")):
        body = edit.text.lstrip("\r\n")
        indent = body[: len(body) - len(body.lstrip())]
        return [Edit(edit.file, edit.span, f"{source.newline}{indent}# {note}{edit.text}")]
    line = source.lines.position(edit.span.start).line
    start = source.lines.starts[line - 1]
    text = source.lines.line_text(line)
    indent = text[: len(text) - len(text.lstrip())]
    return [Edit(edit.file, Span(start, start), f"{indent}# {note}{source.newline}"), edit]
