"""Changed texts as workspace edits: no more is replaced than has changed, each file in the version it was read in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from lsprotocol import types
from nemo_resumable.core.text import Source, Span

from . import convert
from .client import Client
from .documents import Documents

#: More changed lines than this are replaced in one piece: to match them up would take longer than anyone waits.
_MOST_LINES = 4000


def changes(before: str, after: str) -> Iterator[tuple[Span, str]]:
    """The spans of a text that have to be replaced, and what by, in order."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    place = sum(map(len, old[:head]))
    old, new = old[head : len(old) - tail], new[head : len(new) - tail]
    if not old and not new:
        return
    blocks = [("replace", 0, len(old), 0, len(new))]
    if len(old) + len(new) <= _MOST_LINES:
        blocks = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()  # type: ignore[assignment]
    for tag, first, last, start, end in blocks:
        was, text = "".join(old[first:last]), "".join(new[start:end])
        if tag != "equal":
            yield _narrowed(place, was, text)
        place += len(was)


def _common(one: list[str], other: list[str]) -> int:
    """How many lines two texts begin with together."""
    return next((index for index, pair in enumerate(zip(one, other)) if pair[0] != pair[1]), min(len(one), len(other)))


def _narrowed(place: int, was: str, text: str) -> tuple[Span, str]:
    """A replacement without the characters that stay: cursors and markers beside it keep their place."""
    most = min(len(was), len(text))
    head = next((index for index in range(most) if was[index] != text[index]), most)
    tail = 0
    while tail < most - head and was[len(was) - 1 - tail] == text[len(text) - 1 - tail]:
        tail += 1
    # A line end of two characters is not cut in two.
    if head and was[head - 1 : head + 1] == "\r\n":
        head -= 1
    if tail and was[len(was) - tail - 1 : len(was) - tail + 1] == "\r\n":
        tail -= 1
    return Span(place + head, place + len(was) - tail), text[head : len(text) - tail]


@dataclass(frozen=True, slots=True)
class Editor:
    """Makes workspace edits for one client."""

    client: Client
    documents: Documents
    encoding: str
    uri_of: Callable[[Path], str]

    def edit(
        self, pairs: Mapping[Path, tuple[Source, Source]], notes: Mapping[Path, types.ChangeAnnotation] | None = None
    ) -> types.WorkspaceEdit:
        """The edit from the first text of each file to the second. Notes are left out where a client shows none."""
        made = {
            path: [
                types.TextEdit(convert.text_range(old, span, self.encoding), text)
                for span, text in changes(old.text, new.text)
            ]
            for path, (old, new) in sorted(pairs.items())
        }
        made = {path: found for path, found in made.items() if found}
        if not self.client.can("workspace.workspace_edit.document_changes"):
            return types.WorkspaceEdit(changes={self.uri_of(path): found for path, found in made.items()})
        annotate = notes and self.client.capability("workspace.workspace_edit.change_annotation_support") is not None
        documents: list[types.TextDocumentEdit] = []
        annotations: dict[str, types.ChangeAnnotation] = {}
        for path, found in made.items():
            document = self.documents.at(path)
            identity = types.OptionalVersionedTextDocumentIdentifier(
                self.uri_of(path), document.version if document is not None else None
            )
            edits: list[types.TextEdit | types.AnnotatedTextEdit | types.SnippetTextEdit] = [*found]
            if annotate and notes and path in notes:
                name = str(len(annotations) + 1)
                annotations[name] = notes[path]
                edits = [types.AnnotatedTextEdit(name, edit.range, edit.new_text) for edit in found]
            documents.append(types.TextDocumentEdit(identity, edits))
        return types.WorkspaceEdit(document_changes=documents, change_annotations=annotations or None)
