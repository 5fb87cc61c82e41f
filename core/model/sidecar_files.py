"""Reads one `.idx` sidecar from disk, without trusting it: little-endian u64 starts of records, then the source's size."""

from __future__ import annotations

import io
import os
import stat
import sys
from array import array
from collections.abc import Callable
from itertools import islice
from operator import le, lt

from ..records import dataclass

WORD = 8
_CHUNK = 1 << 20
#: Of a sidecar beyond this only so much and its end is read: 32 million records, more than real shards have.
_READ_LIMIT = 1 << 28

FILE, FOLDER, OTHER, ABSENT, UNSEEN = "file", "folder", "other", "absent", "unseen"


@dataclass(frozen=True, slots=True)
class Stat:
    """What lies at a path. `unseen` means that this user may not look, or that no file can have this name."""

    kind: str  #: file · folder · other (a pipe, a device, a socket) · absent · unseen
    size: int = 0  #: bytes
    mtime_ns: int = 0


_ABSENT, _UNSEEN = Stat(ABSENT), Stat(UNSEEN)


def look(path: str) -> Stat:
    """What lies at a path, links followed; never raises."""
    try:
        found = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return _ABSENT
    except (OSError, ValueError):  # no permission, a loop of links, a name too long, a null byte
        return _UNSEEN
    mode = found.st_mode
    kind = FILE if stat.S_ISREG(mode) else FOLDER if stat.S_ISDIR(mode) else OTHER
    return Stat(kind, found.st_size, found.st_mtime_ns)


def open_regular(path: str) -> io.FileIO:
    """A regular file, unbuffered; raises OSError for anything else, and never waits for a pipe's writer."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(f"{path} is no regular file")
    return io.FileIO(descriptor)


@dataclass(frozen=True, slots=True)
class Sidecar:
    """The content of a sidecar. With a `problem`, the figures say how far it was understood."""

    problem: str = ""  #: a clause without subject: "is 12 bytes long, which is no multiple of 8"
    rebuilt: bool = False  #: Lhotse takes a sidecar of this length for absent, and builds the kinds it builds anew
    unreadable: bool = False  #: this user may not read it
    records: int = 0
    last: int = 0  #: where the last record starts, in bytes
    end: int = 0  #: the sentinel: the size that the source had


def read_sidecar(path: str, found: Stat, *, jsonl: bool, strict: bool, source_size: int | None) -> Sidecar:
    """Read a sidecar in chunks; `found` is what `look` says of it.

    The first record of a JSONL file starts at 0. `strict` asks for starts that rise, where equal neighbours are allowed
    else. A source cannot have more records than bytes: with its size known, a longer sidecar is not read.
    """
    if found.kind != FILE:
        what = "a folder" if found.kind == FOLDER else "no regular file"
        return Sidecar(f"is {what}")
    if found.size < WORD or found.size % WORD:
        if not found.size:
            return Sidecar("is empty", rebuilt=True)
        return Sidecar(f"is {found.size:,} bytes long, which is no multiple of {WORD}", rebuilt=True)
    if source_size is not None and found.size // WORD - 1 > source_size:
        return Sidecar(f"counts {found.size // WORD - 1:,} records in a source of {source_size:,} bytes")
    try:
        with open_regular(path) as file:
            return _read(file, found.size, lt if strict else le, jsonl)
    except OSError:
        return Sidecar(unreadable=True)


def _read(file: io.FileIO, size: int, rises: Callable[[int, int], bool], jsonl: bool) -> Sidecar:
    previous: int | None = None
    last = end = position = 0
    limit = min(size, _READ_LIMIT)
    while position < limit:
        words = _words(_at(file, position, min(_CHUNK, limit - position)))
        if not words:
            return Sidecar("became shorter while it was read")
        if previous is None and jsonl and words[0] != 0:
            return Sidecar(f"starts its first record at byte {words[0]:,} and not at 0")
        if not _rise(previous, words, rises):
            return Sidecar(_fall(previous, words, rises, position // WORD))
        last = words[-2] if len(words) > 1 else end
        previous = end = words[-1]
        position += len(words) * WORD
    if limit < size:  # the rest is too long to be read; what counts most stands at its end
        tail = _words(_at(file, size - 2 * WORD, 2 * WORD))
        if len(tail) == 2:
            last, end = tail
            if not (rises(last, end) and rises(previous or 0, last)):
                return Sidecar("has offsets that do not rise")
    return Sidecar("", records=size // WORD - 1, last=last, end=end)


def _at(file: io.FileIO, position: int, size: int) -> bytes:
    file.seek(position)
    return file.read(size) or b""


def _words(data: bytes) -> array[int]:
    words = array("Q")
    words.frombytes(data[: len(data) // WORD * WORD])
    if sys.byteorder == "big":
        words.byteswap()
    return words


def _rise(previous: int | None, words: array[int], rises: Callable[[int, int], bool]) -> bool:
    return (previous is None or rises(previous, words[0])) and all(map(rises, words, islice(words, 1, None)))


def _fall(previous: int | None, words: array[int], rises: Callable[[int, int], bool], first: int) -> str:
    """Where the offsets do not rise, as a clause; `first` is the number of the first word."""
    for number, word in enumerate(words, first):
        if previous is not None and not rises(previous, word):
            return f"has offsets that do not rise: entry {number:,} is {word:,} after {previous:,}"
        previous = word
    return "has offsets that do not rise"


def only_zeros(path: str, start: int, size: int) -> bool:
    """Whether a file holds nothing but zero bytes from a place to its end: the padding of a tar. At most 64 MiB are read."""
    if not 0 <= start < size or size - start > 64 * _CHUNK:
        return False
    try:
        with open_regular(path) as file:
            while start < size:
                data = _at(file, start, min(_CHUNK, size - start))
                if not data or data.count(0) != len(data):
                    return False
                start += len(data)
    except OSError:
        return False
    return True
