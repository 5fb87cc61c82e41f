"""Logs as blocks of whole lines: plain or packed, of any size, read once from beginning to end in bounded memory."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from ..records import dataclass

BLOCK = 1 << 20  #: bytes read at once
_LONGEST = 4 * BLOCK  #: a line without an end is cut here
_PACKED = ((b"\x1f\x8b", gzip.open), (b"BZh", bz2.open), (b"\xfd7zXZ\x00", lzma.open))
_FOREIGN = (
    (b"\x28\xb5\x2f\xfd", "packed with zstd; unpack it first"),
    (b"PK\x03\x04", "a ZIP archive or a checkpoint, no log"),
    (b"\x7fELF", "a program, no log"),
    (b"\x89HDF", "an HDF5 file, no log"),
    (b"\x93NUMPY", "a NumPy array, no log"),
    (b"\x80\x02", "a pickle, no log"),
)
#: Control characters that no log holds in numbers.
_ODD = tuple(code for code in range(1, 32) if code not in (7, 8, 9, 10, 12, 13, 27))
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


class LogError(Exception):
    """A log cannot be read; the message says why."""


@dataclass(frozen=True, slots=True)
class Log:
    """A log to be read: a file, or an open stream under a name."""

    name: str
    path: Path | None = None
    stream: BinaryIO | None = None


class Reader:
    """Yields blocks that end with a line. `problem` says afterwards what kept it from reading to the end."""

    def __init__(self, log: Log) -> None:
        """Open it; raises LogError for what is no log."""
        self.problem = ""
        self.size: int | None = None  #: of the file as it lies on the disk, in bytes
        self._raw, self._first = self._open(log)
        unpack = next((opener for magic, opener in _PACKED if self._first.startswith(magic)), None)
        self._packed = unpack is not None
        if unpack is not None:
            if log.path is None:
                raise LogError(f"`{log.name}` is packed; unpack it on the way in, as `zcat` does")
            self._raw.seek(0)
            self._stream: BinaryIO = unpack(self._raw, "rb")  # type: ignore[assignment]
            self._first = b""
        else:
            self._stream = self._raw
            self._refuse(log.name, self._first)

    def _open(self, log: Log) -> tuple[BinaryIO, bytes]:
        if log.stream is not None:
            return log.stream, log.stream.read(8192)
        path = log.path
        assert path is not None
        if path.is_dir():
            raise LogError(f"`{log.name}` is a folder; name the logs in it")
        try:
            raw = path.open("rb")
        except FileNotFoundError:
            raise LogError(f"there is no file `{log.name}`; check the path") from None
        except OSError as error:
            raise LogError(f"`{log.name}` cannot be read: {error.strerror}") from None
        try:
            self.size = path.stat().st_size
            return raw, raw.read(8192)
        except OSError as error:
            raw.close()
            raise LogError(f"`{log.name}` cannot be read: {error.strerror}") from None

    def _refuse(self, name: str, first: bytes) -> None:
        """A file of another kind would be read in vain; zeros alone, as a rotated log begins with, are none."""
        for magic, kind in _FOREIGN:
            if first.startswith(magic):
                self.close()
                raise LogError(f"`{name}` is {kind}")
        if first.startswith(_UTF16):
            self.close()
            raise LogError(f"`{name}` is UTF-16; convert it to UTF-8 first")
        inner = first.strip(b"\0")
        zeros, odd = inner.count(b"\0"), sum(inner.count(bytes([code])) for code in _ODD)
        if zeros * 8 > len(inner) or odd * 20 > len(inner):
            self.close()
            raise LogError(f"`{name}` is binary; a log is text")

    @property
    def done(self) -> int:
        """How many bytes of the file on the disk were read."""
        try:
            return self._raw.tell()
        except (OSError, ValueError):
            return 0

    def blocks(self) -> Iterator[bytes]:
        """The blocks; each ends after a line end, save the last and one in which no line ends."""
        rest, piece = b"", self._first
        while True:
            piece = piece or self._next()
            if not piece:
                break
            data, piece = (rest + piece if rest else piece), b""
            # A carriage return at the very end may be one half of a line end.
            cut = max(data.rfind(b"\n"), data.rfind(b"\r", 0, len(data) - 1)) + 1
            if not cut and len(data) < _LONGEST:
                rest = data
                continue
            cut = cut or len(data)
            yield data[:cut]
            rest = data[cut:]
        if rest:
            yield rest

    def _next(self) -> bytes:
        """Up to a block; of a damaged file what stands before the damage, then nothing."""
        pieces: list[bytes] = []
        left = BLOCK
        while left > 0 and not self.problem:
            try:
                # One read of a packed file would lose all that it had unpacked before the damage.
                piece = self._stream.read1(left) if self._packed else self._stream.read(left)  # type: ignore[attr-defined]
            except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
                what = "ends in the middle" if isinstance(error, EOFError) else f"breaks off ({error})"
                self.problem = f"{what}; what stands before was read"
                break
            pieces.append(piece)
            left = left - len(piece) if piece and self._packed else 0
        return b"".join(pieces)

    def close(self) -> None:
        """Let go of the file."""
        self._raw.close()
