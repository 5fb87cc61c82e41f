"""Reads an `.idxpack` from disk, without trusting it: its header, its catalog, and the sources of a collection.

The layout is that of lhotse's `index_pack.py`: 256 bytes of header, rows of collections, sequences and segments, strings,
payload. Version 2 holds offsets, version 3 also arrays of u32; the magic is the same. Numbers are little-endian.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field
from typing import Any

from ..records import dataclass
from .sidecar_files import FILE, FOLDER, open_regular
from .sidecar_files import look as stat_of

MAGIC = b"IDXPACK2"
HEADER_SIZE = 256
_HEADER = struct.Struct("<8sIIQQQQQQQQQQ32s")
_COLLECTION = struct.Struct("<32sQQQQII")  #: key, first sequence, sequences, records, kind's place and length, flags
_SEQUENCE = struct.Struct("<QQ")  #: segment, records up to its end
_SEGMENT = struct.Struct("<QQIIQQQII")  #: path, payload, path length, flags, items, source size, bytes, crc, meta flags
_U64 = struct.Struct("<Q")

PATHS_ONLY, ARRAY = 1, 2  #: flags of collections and of segments
_SIZE_IN_PAYLOAD = 1  #: meta flag of a segment without offsets: its payload is the source's size
_VERSIONS, _KNOWN_LAYOUTS = (2, 3, 4), (2, 3)  #: version 4 is spoken of in Speech's scripts, and not released
_BLOCK, _KEPT = 1 << 16, 16
_MAX_STRING = 1 << 16
_MAX_ROWS = 20_000_000  #: a table beyond this is not gone through; real packs hold some 100,000 segments


class _Corrupt(Exception):
    """What keeps a pack from being opened; the message is a clause without subject."""


@dataclass(frozen=True, slots=True)
class Collection:
    """One ordered collection of a pack."""

    start: int  #: the first of its sequence rows
    shards: int
    records: int
    kind: str
    flags: int


@dataclass(frozen=True, slots=True)
class Segment:
    """One source file of a collection."""

    path: str
    size: int | None  #: of the source in bytes when the pack was written; None where the pack does not say it
    records: int


@dataclass(frozen=True, slots=True)
class Pack:
    """What a pack file holds. `problem` is a clause without subject, "" for a pack that can be opened."""

    path: str
    problem: str = ""
    unseen: str = ""  #: why it was not looked into, a clause
    version: int = 0
    collections: Mapping[bytes, Collection] = field(default_factory=dict)


def collection_key(role: str, kind: str, source_spec: object) -> bytes:
    """The key of a collection (lhotse's `index_pack_collection_key`): the specification counts as the YAML gives it.

    Raises ValueError or TypeError for a specification that is no JSON value.
    """
    identity = {"kind": kind, "role": role, "source_spec": source_spec}
    text = json.dumps(identity, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return hashlib.sha256(text.encode("utf-8")).digest()


def read_pack(path: str) -> Pack:
    """Read a pack's header and tables as Lhotse does when it opens one."""
    found = stat_of(path)
    if found.kind != FILE:
        return Pack(path, "is a folder" if found.kind == FOLDER else "is no regular file")
    if found.size < HEADER_SIZE:
        return Pack(path, f"is {found.size:,} bytes long, shorter than its header of {HEADER_SIZE}")
    version = 0
    try:
        with _opened(path) as data:
            head = _Header(data)
            version = head.version
            if version not in _KNOWN_LAYOUTS:
                return Pack(path, "", f"its version {version} has no published layout", version)
            head.check_bounds(data.size)
            if max(head.collections, head.sequences, head.segments) > _MAX_ROWS:
                return Pack(path, "", "its tables are too long to be gone through", version)
            _check_segments(data, head)
            return Pack(path, version=version, collections=_read_collections(data, head))
    except _Corrupt as error:
        return Pack(path, str(error), version=version)
    except (OSError, ValueError):  # no permission, or it became shorter since
        return Pack(path, "", "it cannot be read here")


def segments(pack: Pack, key: bytes) -> Iterator[Segment]:
    """The sources of a collection, in order; none of an array. Ends early where the file can no longer be read."""
    collection = pack.collections[key]
    try:
        with _opened(pack.path) as data:
            head = _Header(data)
            for number in range(collection.start, collection.start + collection.shards):
                segment, _ = data.row(_SEQUENCE, head.sequences_at + number * _SEQUENCE.size)
                row = data.row(_SEGMENT, head.segments_at + segment * _SEGMENT.size)
                if not row[3] & ARRAY:
                    yield _segment(data, row)
    except (OSError, ValueError, struct.error, _Corrupt):
        return


def _segment(data: _Data, row: tuple[int, ...]) -> Segment:
    place, payload, length, flags, items, size, _, _, meta = row
    path = data[place : place + length].decode("utf-8", "replace")
    if not flags & PATHS_ONLY:
        return Segment(path, size, items - 1)
    known = meta & _SIZE_IN_PAYLOAD
    return Segment(path, data.row(_U64, payload)[0] if known else None, 0)


class _Data:
    """The bytes of a file, by blocks of which a few are kept. A mapping would end the process if the file were cut now."""

    def __init__(self, file: io.FileIO, size: int) -> None:
        self.file, self.size = file, size
        self._blocks: dict[int, bytes] = {}

    def __getitem__(self, part: slice) -> bytes:
        """The bytes from start to stop; raises _Corrupt where the file has become shorter."""
        start, stop = part.start, part.stop
        pieces = []
        while start < stop:
            number, offset = divmod(start, _BLOCK)
            block = self._blocks.get(number)
            if block is None:
                if len(self._blocks) >= _KEPT:
                    del self._blocks[next(iter(self._blocks))]
                self.file.seek(number * _BLOCK)
                block = self._blocks[number] = self.file.read(_BLOCK) or b""
            piece = block[offset : offset + stop - start]
            if not piece:
                raise _Corrupt("became shorter while it was read")
            pieces.append(piece)
            start += len(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def row(self, layout: struct.Struct, start: int) -> tuple[Any, ...]:
        """One row of a table."""
        return layout.unpack(self[start : start + layout.size])


@contextmanager
def _opened(path: str) -> Iterator[_Data]:
    with open_regular(path) as file:
        yield _Data(file, os.fstat(file.fileno()).st_size)


class _Header:
    """The header's fields; raises _Corrupt where they are not of an index pack that Lhotse reads."""

    def __init__(self, data: _Data) -> None:
        if data.size < HEADER_SIZE:
            raise _Corrupt("became shorter while it was read")
        fields = _HEADER.unpack(data[0 : _HEADER.size])
        self.version: int = fields[1]
        if fields[0] != MAGIC:
            raise _Corrupt(f"does not begin with `{MAGIC.decode()}`")
        if self.version not in _VERSIONS:
            raise _Corrupt(f"is of version {self.version}, which no Lhotse writes")
        if fields[2] != HEADER_SIZE:
            raise _Corrupt(f"says that its header has {fields[2]:,} bytes, and Lhotse takes {HEADER_SIZE} only")
        self.collections_at, self.collections, self.sequences_at, self.sequences = fields[3:7]
        self.segments_at, self.segments, self.strings_at, self.strings_size = fields[7:11]
        self.payload_at, self.payload_size = fields[11:13]

    def check_bounds(self, size: int) -> None:
        """Hold the sections against each other and the file: they follow each other without a gap, to its very end."""
        sections = (
            ("collections", self.collections_at, self.collections * _COLLECTION.size),
            ("sequences", self.sequences_at, self.sequences * _SEQUENCE.size),
            ("segments", self.segments_at, self.segments * _SEGMENT.size),
            ("strings", self.strings_at, self.strings_size),
            ("payload", self.payload_at, self.payload_size),
        )
        expected = HEADER_SIZE
        for name, start, length in sections:
            if name == "payload":
                expected += -expected % _U64.size
            if start + length > size:
                raise _Corrupt(f"has its {name} up to byte {start + length:,} and ends at {size:,}")
            if start != expected:
                raise _Corrupt(f"has its {name} at byte {start:,} and not at {expected:,}")
            expected = start + length
        if expected != size:
            raise _Corrupt(f"has its payload end at byte {expected:,} and ends itself at {size:,}")

    def string(self, data: _Data, place: int, length: int, what: str) -> str:
        """A string of the strings section; raises _Corrupt where it lies elsewhere or is no UTF-8."""
        if place < self.strings_at or place + length > self.strings_at + self.strings_size:
            raise _Corrupt(f"has {what} outside its strings")
        if length > _MAX_STRING:
            raise _Corrupt(f"has {what} of {length:,} bytes, which no file system takes")
        try:
            return data[place : place + length].decode("utf-8")
        except UnicodeDecodeError:
            raise _Corrupt(f"has {what} that is no UTF-8") from None


def _rows(data: _Data, layout: struct.Struct, start: int, number: int) -> Iterator[tuple[int, ...]]:
    """The rows of a table, a part at a time: a table as a whole may be long."""
    step = 65536 // layout.size
    for first in range(0, number, step):
        count = min(step, number - first)
        begin = start + first * layout.size
        yield from layout.iter_unpack(data[begin : begin + count * layout.size])


def _flags(head: _Header) -> int:
    return PATHS_ONLY | ARRAY if head.version >= 3 else PATHS_ONLY


def _check_segments(data: _Data, head: _Header) -> None:
    """Their payloads fill the payload section in order, and their paths lie among the strings."""
    cursor, end = head.payload_at, head.payload_at + head.payload_size
    for number, row in enumerate(_rows(data, _SEGMENT, head.segments_at, head.segments)):
        place, payload, length, flags, items, size, octets, _, meta = row
        name = f"segment {number:,}"
        if flags & ~_flags(head) or flags == PATHS_ONLY | ARRAY:
            raise _Corrupt(f"has unknown flags at {name}")
        head.string(data, place, length, f"the path of {name}")
        array = bool(flags & ARRAY)
        if octets != items * (4 if array else 8) or (items < 1 and not array) or (flags & PATHS_ONLY and items != 1):
            raise _Corrupt(f"has {name} with {items:,} items in {octets:,} bytes")
        if payload != cursor or payload + octets > end:
            raise _Corrupt(f"has the payload of {name} at byte {payload:,} and not at {cursor:,}")
        if (array and (length or size or meta)) or (flags & PATHS_ONLY and meta & _SIZE_IN_PAYLOAD and size):
            raise _Corrupt(f"has {name} with a source that it cannot have")
        cursor += octets
    if cursor != end:
        raise _Corrupt(f"has segments up to byte {cursor:,} and a payload up to {end:,}")


def _read_collections(data: _Data, head: _Header) -> dict[bytes, Collection]:
    """The catalog by key; each collection's records are counted through its sequence rows."""
    found: dict[bytes, Collection] = {}
    start = 0
    for number in range(head.collections):
        row = data.row(_COLLECTION, head.collections_at + number * _COLLECTION.size)
        key, first, shards, records, place, length, flags = row
        name = f"collection {number:,}"
        if flags & ~_flags(head) or flags == PATHS_ONLY | ARRAY:
            raise _Corrupt(f"has unknown flags at {name}")
        if first != start or first + shards > head.sequences:
            raise _Corrupt(f"has {name} with sequences that are not its own")
        if key in found:
            raise _Corrupt(f"holds {name} twice")
        kind = head.string(data, place, length, f"the kind of {name}")
        kinds = _check_sequences(data, head, first, shards, records, name)
        if (shards and bool(flags & ARRAY) != (kinds == ARRAY)) or (shards and flags & PATHS_ONLY and not kinds):
            raise _Corrupt(f"has {name} of another sort than its segments")
        found[key] = Collection(first, shards, records, kind, kinds if shards else flags)
        start += shards
    if start != head.sequences:
        raise _Corrupt("has sequences that belong to no collection")
    return found


def _check_sequences(data: _Data, head: _Header, first: int, shards: int, records: int, name: str) -> int:
    """The sort of a collection's segments, all of one; their records add up."""
    counted, sort = 0, -1
    for segment, until in _rows(data, _SEQUENCE, head.sequences_at + first * _SEQUENCE.size, shards):
        if segment >= head.segments:
            raise _Corrupt(f"has {name} with a segment that is not there")
        row = data.row(_SEGMENT, head.segments_at + segment * _SEGMENT.size)
        if sort not in (-1, row[3]):
            raise _Corrupt(f"has {name} with segments of different sorts")
        sort = row[3]
        counted += row[4] if sort == ARRAY else row[4] - 1
        if until != counted:
            raise _Corrupt(f"has {name} with {until:,} records where its segments have {counted:,}")
    if counted != records:
        raise _Corrupt(f"has {name} with {records:,} records where its segments have {counted:,}")
    return max(sort, 0)
