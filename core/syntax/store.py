"""Files as documents: open buffers before the disk, one sentence for what cannot be read, and a memo of what was parsed."""

from __future__ import annotations

import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar, cast

from ..records import dataclass
from ..text import Source, UndecodableText
from .nodes import Document
from .reader import read

_T = TypeVar("_T")

MAX_BYTES = 64 * 2**20


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A file that could not be read, and why, as a sentence without its full stop."""

    path: Path
    reason: str
    kind: str  #: missing · folder · permission · binary · not-utf8 · too-large · other


class DocumentStore:
    """Loads and remembers documents. `overlays` are texts that stand in place of files."""

    def __init__(self, overlays: Mapping[Path, str] | None = None) -> None:
        self.overlays = dict(overlays or {})
        self._memo: dict[object, tuple[object, object]] = {}

    def with_overlays(self, overlays: Mapping[Path, str]) -> DocumentStore:
        """A store that sees these texts too and shares what was parsed so far."""
        store = DocumentStore({**self.overlays, **overlays})
        store._memo = dict(self._memo)
        return store

    def text_of(self, path: Path) -> str | Unreadable:
        """The text at a path as it stands in the file, its byte order mark left out; not parsed."""
        if path in self.overlays:
            return Source.from_text(path, self.overlays[path]).text
        source = read_source(path)
        return source if isinstance(source, Unreadable) else source.text

    def load(self, path: Path) -> Document | Unreadable:
        """The document at a path. A text is parsed once, as long as the overlay or the file stays what it was."""
        return self._remembered(path, path, read)

    def made(self, path: Path, make: Callable[[Source], _T]) -> _T | Unreadable:
        """What `make` reads out of a text that is no YAML, such as a launcher's; remembered like a document."""
        return self._remembered((path, make), path, make)

    def _remembered(self, name: object, path: Path, make: Callable[[Source], _T]) -> _T | Unreadable:
        overlay = self.overlays.get(path)
        if overlay is not None:
            key: object = overlay
        else:
            try:
                status = path.stat()
            except (OSError, ValueError) as error:
                return _refused(path, error)
            key = (status.st_mtime_ns, status.st_size, status.st_ino)
        known = self._memo.get(name)
        if known is not None and known[0] == key:
            return cast("_T", known[1])
        source = Source.from_text(path, overlay) if overlay is not None else read_source(path)
        if isinstance(source, Unreadable):
            return source
        value = make(source)
        self._memo[name] = (key, value)
        return value


def read_source(path: Path) -> Source | Unreadable:
    """The text of a file on disk."""
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            return Unreadable(path, f"`{path}` is a folder; name a YAML file", "folder")
        if not stat.S_ISREG(status.st_mode):
            return Unreadable(path, f"`{path}` is no ordinary file; name a YAML file", "other")
        if status.st_size > MAX_BYTES:
            size = status.st_size // 2**20
            return Unreadable(
                path, f"`{path}` has {size} MiB, and more than {MAX_BYTES // 2**20} is not read; split it", "too-large"
            )
        data = path.read_bytes()
    except (OSError, ValueError) as error:
        return _refused(path, error)
    if b"\0" in data[:8192]:
        return Unreadable(path, f"`{path}` is a binary file; name a YAML file", "binary")
    try:
        return Source.from_bytes(path, data)
    except UndecodableText as error:
        line = data[: error.offset].count(b"\n") + 1
        return Unreadable(path, f"`{path}` is not UTF-8 at line {line}; save it as UTF-8", "not-utf8")


def _refused(path: Path, error: OSError | ValueError) -> Unreadable:
    if isinstance(error, (FileNotFoundError, NotADirectoryError)):
        return Unreadable(path, f"there is no `{path}`; check the path", "missing")
    if isinstance(error, PermissionError):
        return Unreadable(path, f"`{path}` may not be read; check its permissions", "permission")
    words = getattr(error, "strerror", None) or str(error)
    return Unreadable(path, f"`{path}` cannot be read ({words}); check the path", "other")
