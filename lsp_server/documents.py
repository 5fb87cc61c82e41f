"""The texts that are open in the editor: our own buffers, since pygls' lose edits after U+2028, form feeds and NEL."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
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
    real: Path | None  #: where links lead to; None for a text without a file

    @property
    def paths(self) -> tuple[Path, ...]:
        """The paths under which analyses may ask for it."""
        return (self.path,) if self.real is None or self.real == self.path else (self.path, self.real)

    @classmethod
    def opened(cls, item: types.TextDocumentItem, path: Path, *, is_file: bool) -> OpenDocument:
        """The first version of a text that a client opens."""
        real = Path(os.path.realpath(path)) if is_file else None
        return cls(item.uri, path, item.version, item.text, item.language_id, real)

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
        return replace(self, version=version, text=text)


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
        for path in document.paths:
            self._by_path[uris.key(path)] = document

    def close(self, uri: str) -> OpenDocument | None:
        """Forget a document; None where it was not open."""
        document = self.get(uri)
        if document is None:
            return None
        self._by_uri.pop(document.uri, None)
        for path in document.paths:
            self._by_path.pop(uris.key(path), None)
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
        return {path: document.text for document in self._by_uri.values() for path in document.paths}
