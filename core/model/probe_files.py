"""Reads files of a NeMo or Lhotse that may be broken or hostile: bounded, remembered while unchanged, never run."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

LARGEST = 2 * 2**20  #: bytes; the largest file that is looked for has 150 kB
_MOST_NAMES = 50_000  #: entries of a folder of packages

T = TypeVar("T")


class CannotRead(Exception):
    """A file that is there cannot be used; the message is a clause that says why."""


class Reader(Generic[T]):
    """A function from a file's text to facts, which are kept until the file changes."""

    def __init__(self, read: Callable[[str], T]) -> None:
        self._read = read
        self._kept: dict[str, tuple[tuple[int, int], T | CannotRead]] = {}

    def __call__(self, path: Path) -> T | None:
        """The facts of a file, None where there is no such file. Raises CannotRead."""
        try:
            status = path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, ValueError) as error:
            raise CannotRead(_why(error)) from None
        known = self._kept.get(str(path))
        mark = (status.st_mtime_ns, status.st_size)
        if known is None or known[0] != mark:
            if len(self._kept) > 200:
                self._kept.clear()
            known = self._kept[str(path)] = (mark, self._try(path, status))
        if isinstance(known[1], CannotRead):
            raise known[1]
        return known[1]

    def _try(self, path: Path, status: os.stat_result) -> T | CannotRead:
        try:
            return self._read(_text(path, status))
        except CannotRead as error:
            return error
        except SyntaxError as error:
            return CannotRead(f"it is no Python: {error.msg}" + (f", line {error.lineno}" if error.lineno else ""))
        except (OSError, ValueError, RecursionError, MemoryError) as error:
            return CannotRead(_why(error))


def _text(path: Path, status: os.stat_result) -> str:
    if not stat.S_ISREG(status.st_mode):
        raise CannotRead("it is no file")
    if status.st_size > LARGEST:
        raise CannotRead(f"it is larger than {LARGEST // 2**20} MB")
    with path.open("rb") as file:
        data = file.read(LARGEST + 1)
    if b"\0" in data:
        raise CannotRead("it is binary")
    return data.decode("utf-8-sig")


def _why(error: BaseException) -> str:
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8"
    if isinstance(error, (RecursionError, MemoryError)):
        return "it is nested too deeply"
    return (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__


_listed: dict[str, tuple[int, tuple[str, ...]]] = {}


def names_in(folder: Path) -> tuple[str, ...]:
    """The names in a folder, in order; nothing where it cannot be listed."""
    try:
        changed = folder.stat().st_mtime_ns
        known = _listed.get(str(folder))
        if known is None or known[0] != changed:
            if len(_listed) > 50:
                _listed.clear()
            with os.scandir(folder) as entries:
                found = [entry.name for _, entry in zip(range(_MOST_NAMES), entries)]
            known = _listed[str(folder)] = (changed, tuple(sorted(found)))
    except (OSError, ValueError):
        return ()
    return known[1]


def is_folder(path: Path) -> bool:
    """Whether a path is a folder; False too where that cannot be asked."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def is_file(path: Path) -> bool:
    """Whether a path is a file; False too where that cannot be asked."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False
