"""Documents as all analyses of a session share them, and a note of what each analysis asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from nemo_resumable.core.model.presence import on_disk
from nemo_resumable.core.syntax.nodes import Document
from nemo_resumable.core.syntax.store import DocumentStore, Unreadable
from nemo_resumable.core.text import Source

_T = TypeVar("_T")
Memo = dict[object, tuple[object, object]]  #: as the store keeps it: by path, or by path and what is made of the text


class NotingStore(DocumentStore):
    """A store over the open texts that remembers, beside what it parsed, which paths were asked for, found or not."""

    def __init__(self, overlays: Mapping[Path, str], memo: Memo) -> None:
        super().__init__(overlays)
        self._memo = memo  # shared, so that a key press parses one file and no other
        self.asked: set[Path] = set()

    def load(self, path: Path) -> Document | Unreadable:
        """As in every store, and noted."""
        self.asked.add(path)
        return super().load(path)

    def made(self, path: Path, make: Callable[[Source], _T]) -> _T | Unreadable:
        """As in every store, and noted."""
        self.asked.add(path)
        return super().made(path, make)

    def presence(self, path: Path) -> bool | None:
        """Whether a file that is not read is there, and noted: an index pack that comes into being is a change too."""
        self.asked.add(path)
        return on_disk(path)

    def text_of(self, path: Path) -> str | Unreadable:
        """As in every store, and noted."""
        self.asked.add(path)
        return super().text_of(path)


def forget(memo: Memo, gone: Callable[[Path], bool]) -> None:
    """Drop what is remembered of some paths."""
    for name in list(memo):
        path = name[0] if isinstance(name, tuple) else name
        if isinstance(path, Path) and gone(path):
            del memo[name]
