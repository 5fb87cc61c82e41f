"""The texts that are open in the editor: our own buffers, since pygls' lose edits after U+2028, form feeds and NEL."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lsprotocol import types
from nemo_resumable.core.text import LineIndex, column_from_units

from . import uris


@dataclass(frozen=True, slots=True)
class OpenDocument:
    """One version of an open text. `text` is what the client holds, a byte order mark included."""

    uri: str  #: as the client wrote it, which is how it is answered
    path: Path  #: of the file, or one that stands in for a text without a file
    version: int
    text: str
    language: str
    is_file: bool

    def changed(
        self, version: int, changes: Iterable[types.TextDocumentContentChangeEvent], encoding: str
    ) -> OpenDocument:
        """The document after changes, each of which speaks of the text that the one before it left."""
        text = self.text
        for change in changes:
            if isinstance(change, types.TextDocumentContentChangePartial):
                lines = LineIndex(text)
                start = _offset(text, lines, change.range.start, encoding)
                end = max(start, _offset(text, lines, change.range.end, encoding))
                text = text[:start] + change.text + text[end:]
            else:
                text = change.text
        return OpenDocument(self.uri, self.path, version, text, self.language, self.is_file)


def _offset(text: str, lines: LineIndex, position: types.Position, encoding: str) -> int:
    """The code point offset of a position; past a line's end is its end, past the last line is the text's end."""
    if position.line >= len(lines):
        return len(text)
    line = lines.line_span(position.line + 1)
    return line.start + column_from_units(text[line.start : line.end], position.character, encoding)


@dataclass(slots=True)
class Documents:
    """All open documents, by URI and by path. Two URIs that differ in spelling only are one document."""

    _by_uri: dict[str, OpenDocument] = field(default_factory=dict)
    _by_path: dict[str, OpenDocument] = field(default_factory=dict)

    def open(self, document: OpenDocument) -> None:
        """Add a document, or put its next version in place."""
        self._by_uri[document.uri] = document
        for name in _names(document):
            self._by_path[name] = document

    def close(self, uri: str) -> OpenDocument | None:
        """Forget a document; None where it was not open."""
        document = self.get(uri)
        if document is None:
            return None
        self._by_uri.pop(document.uri, None)
        for name in _names(document):
            self._by_path.pop(name, None)
        return document

    def get(self, uri: str) -> OpenDocument | None:
        """The document with a URI, in whatever spelling."""
        found = self._by_uri.get(uri)
        if found is None and (name := uris.file_path(uri)) is not None:
            found = self.at(Path(name))
        return found

    def at(self, path: Path) -> OpenDocument | None:
        """The open document of a path."""
        return self._by_path.get(uris.key(path))

    def __iter__(self) -> Iterator[OpenDocument]:
        return iter(tuple(self._by_uri.values()))

    def __len__(self) -> int:
        return len(self._by_uri)

    def texts(self) -> Mapping[Path, str]:
        """The texts that stand in place of files, also under the name that a link leads to."""
        texts: dict[Path, str] = {}
        for name, document in self._by_path.items():
            texts[document.path if name == uris.key(document.path) else Path(name)] = document.text
        return texts


def _names(document: OpenDocument) -> tuple[str, ...]:
    """The keys under which a path finds a document: its own, and the one that links lead to."""
    own = uris.key(document.path)
    if not document.is_file:
        return (own,)
    real = uris.key(Path(os.path.realpath(document.path)))
    return (own,) if real == own else (own, real)
