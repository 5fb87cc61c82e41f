"""Half-typed text: leave out the lines YAML stumbles over and read the rest, a bounded number of times."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

from ..records import dataclass
from ..text import Source
from .building import Loader
from .nodes import Document, SyntaxProblem

_MAX_ROUNDS = 20
#: Characters parsed over all rounds: an editor waits, and each round of a long file costs as much as reading it.
_MAX_PARSED = 6_000_000


def recovered(source: Source, problem: SyntaxProblem) -> Document:
    """A document with the original text, its first problem, and whatever could be read of the rest.

    Only the syntax problem is kept: an alias without its anchor, or a key that stands twice, may come of the lines left out.
    """
    from .reader import read

    search = _Search(source)
    text = search.run()
    if text is not None:
        document = read(source.with_text(text), recover=False)
        return Document(source, document.root, (problem,), document.further_documents, document.expanded_nodes)
    return Document(source, None, (problem,))


@dataclass(frozen=True, slots=True)
class _Failure:
    """Where parsing stopped, and where what it was in began: lines from 1, 0 for none."""

    offset: int
    line: int
    begun: int
    first: bool  #: whether the beginning is the likelier culprit: an open quote or bracket, a key without its colon


class _Search:
    """Blanks lines, each time those after which parsing gets furthest. Offsets stay what they are."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.parsed = 0

    def run(self) -> str | None:
        """A text that parses, or None."""
        text = self.source.text
        failure = self.failure(text)
        for _ in range(_MAX_ROUNDS):
            if failure is None:
                return text
            best: tuple[int, str, _Failure] | None = None
            for lines in self.suspects(text, failure):
                if self.parsed > _MAX_PARSED:
                    return None
                candidate = self.blank(text, lines)
                then = self.failure(candidate)
                if then is None:
                    return candidate
                if best is None or then.offset > best[0]:
                    best = (then.offset, candidate, then)
            if best is None:
                return None
            _, text, failure = best
        return text if failure is None else None

    def failure(self, text: str) -> _Failure | None:
        """Where a text stops being YAML; None where it never does."""
        loader: Any = None
        try:
            loader = Loader(text)
            while loader.get_event() is not None:
                pass
        except yaml.MarkedYAMLError as error:
            mark: Any = error.problem_mark or error.context_mark
            offset = mark.index if mark is not None else 0
            self.parsed += offset + 1
            begun: Any = error.context_mark
            words = f"{error.context} {error.problem}"
            return _Failure(
                offset,
                self.line(offset),
                self.line(begun.index) if begun is not None else 0,
                "quoted" in words or "flow" in words or "simple key" in words,
            )
        except (
            yaml.YAMLError
        ) as error:  # a character that YAML does not take; it is looked for before anything is parsed
            self.parsed += len(text)
            position = getattr(error, "position", None)
            offset = position if isinstance(position, int) else 0
            return _Failure(offset, self.line(len(text.encode()[:offset].decode(errors="ignore"))), 0, False)
        except UnicodeEncodeError as error:
            return _Failure(error.start, self.line(error.start), 0, False)
        finally:
            if loader is not None:
                loader.dispose()
        self.parsed += len(text)
        return None

    def line(self, offset: int) -> int:
        return self.source.lines.position(offset).line

    def suspects(self, text: str, failure: _Failure) -> Iterator[range]:
        """Lines to leave out, likeliest first: alone, then with all that is indented below them."""
        here = self.written(text, failure.line)
        above = self.written(text, here - 1)
        begun = self.written(text, failure.begun)
        places = [begun, here, above] if failure.first else [here, above, begun]
        places = [place for index, place in enumerate(places) if place and place not in places[:index]]
        yield from (range(place, place + 1) for place in places)
        for place in places:
            below = self.below(text, place)
            if len(below) > 1:
                yield below

    def written(self, text: str, line: int) -> int:
        """The nearest line, here or above, with anything on it but a comment; 0 for none."""
        while line > 0:
            span = self.source.lines.line_span(line)
            content = text[span.start : span.end].strip()
            if content and not content.startswith("#"):
                return line
            line -= 1
        return 0

    def below(self, text: str, line: int) -> range:
        """A line and those after it that are indented deeper."""
        indent = self.indent(text, line)
        end = line + 1
        while end <= len(self.source.lines) and (self.indent(text, end) is None or self.deeper(text, end, indent)):
            end += 1
        return range(line, end)

    def deeper(self, text: str, line: int, indent: int | None) -> bool:
        own = self.indent(text, line)
        return own is not None and indent is not None and own > indent

    def indent(self, text: str, line: int) -> int | None:
        """A line's indentation; None for a blank one."""
        span = self.source.lines.line_span(line)
        content = text[span.start : span.end]
        return len(content) - len(content.lstrip()) if content.strip() else None

    def blank(self, text: str, lines: range) -> str:
        """Replace the characters of lines by blanks, one for one."""
        pieces = []
        end = 0
        for line in lines:
            span = self.source.lines.line_span(line)
            pieces += [text[end : span.start], " " * (span.end - span.start)]
            end = span.end
        return "".join(pieces) + text[end:]
