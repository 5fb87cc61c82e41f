"""Half-typed text: leave out the line YAML stumbles over and read the rest, a bounded number of times."""

from __future__ import annotations

from ..text import Source, Span
from .nodes import Document, SyntaxProblem

_MAX_ROUNDS = 20
_LARGE = 400_000  # characters; above this a few rounds already cost a noticeable time


def recovered(source: Source, problem: SyntaxProblem) -> Document:
    """A document with the original text, its first problem, and whatever could be read of the rest."""
    from .reader import read

    text = source.text
    current = problem
    blanked: set[int] = set()
    rounds = _MAX_ROUNDS if len(text) < _LARGE else 4
    for _ in range(rounds):
        line = _culprit(source, current, blanked)
        if line is None:
            break
        blanked.add(line)
        text = _blank(source, text, line)
        document = read(source.with_text(text), recover=False)
        if document.parses:
            further = tuple(p for p in document.problems if p.kind == "duplicate-key")
            return Document(
                source, document.root, (problem, *further), document.further_documents, document.expanded_nodes
            )
        current = document.problems[0]
    return Document(source, None, (problem,))


def _culprit(source: Source, problem: SyntaxProblem, blanked: set[int]) -> int | None:
    """The next line to leave out: where the problem is, else the nearest written line above, else what it began in."""
    line = source.lines.position(problem.span.start).line
    for candidate in range(line, max(line - 4, 0), -1):
        if candidate not in blanked and source.lines.line_text(candidate).strip():
            return candidate
    if problem.related is not None:
        context = source.lines.position(problem.related.start).line
        if context not in blanked:
            return context
    return None


def _blank(source: Source, text: str, line: int) -> str:
    """Replace a line's characters by blanks, so that every offset stays what it was."""
    span: Span = source.lines.line_span(line)
    return text[: span.start] + " " * (span.end - span.start) + text[span.end :]
