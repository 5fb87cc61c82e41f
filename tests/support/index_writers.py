"""Writes tars, `.idx` sidecars and `.idxpack` files for tests, from the description of the formats alone."""

from __future__ import annotations

import hashlib
import io
import json
import struct
import tarfile
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath

import yaml


def index(words: Iterable[int]) -> bytes:
    """A sidecar: starts of records and the source's size, as little-endian u64."""
    return b"".join(struct.pack("<Q", word) for word in words)


def jsonl_index(data: bytes) -> bytes:
    """The sidecar of a JSONL file."""
    starts, position = [], 0
    for line in data.splitlines(keepends=True):
        starts.append(position)
        position += len(line)
    return index([*starts, position])


def tar(members: Mapping[str, int]) -> bytes:
    """An uncompressed tar of members with so many bytes each."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:", format=tarfile.USTAR_FORMAT) as archive:
        for name, size in members.items():
            info = tarfile.TarInfo(name)
            info.size = size
            archive.addfile(info, io.BytesIO(b"x" * size))
    return buffer.getvalue()


def tar_index(data: bytes, *, every: int = 0) -> bytes:
    """The sidecar of a tar: NeMo's, by runs of equal stems, or with `every` = 2 the one of Shar, by pairs of members."""
    starts, previous = [], None
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for number, member in enumerate(archive):
            stem = PurePath(member.name).stem
            if (number % every == 0) if every else stem != previous:
                starts.append(member.offset)
            previous = stem
    return index([*starts, len(data)])


def sidecar(path: Path, place: Path | None = None, *, every: int = 0) -> Path:
    """Write the sidecar of a file, beside it or at a place of its own."""
    data = path.read_bytes()
    place = place or Path(f"{path}.idx")
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(tar_index(data, every=every) if path.suffix == ".tar" else jsonl_index(data))
    return place


@dataclass(frozen=True)
class Collection:
    """One collection of a pack: the sidecar of each source by its path, or arrays of u32, or paths alone."""

    role: str
    kind: str
    source_spec: object
    sidecars: Mapping[str, bytes] = field(default_factory=dict)
    arrays: Sequence[Sequence[int]] = ()
    paths: Mapping[str, int | None] = field(default_factory=dict)  #: path → size, where it is kept

    @property
    def key(self) -> bytes:
        identity = {"role": self.role, "kind": self.kind, "source_spec": self.source_spec}
        text = json.dumps(identity, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(text.encode()).digest()

    def segments(self) -> list[tuple[str, bytes, int, int, int, int]]:
        """Path, payload, flags, items, source size and meta flags of each."""
        rows: list[tuple[str, bytes, int, int, int, int]] = []
        for path, data in self.sidecars.items():
            rows.append((path, data, 0, len(data) // 8, struct.unpack("<Q", data[-8:])[0], 0))
        for values in self.arrays:
            rows.append(("", b"".join(struct.pack("<I", value) for value in values), 2, len(values), 0, 0))
        for path, size in self.paths.items():
            rows.append((path, struct.pack("<Q", size or 0), 1, 1, 0, int(size is not None)))
        return rows


def pack(*collections: Collection) -> bytes:
    """An index pack: version 2, or 3 where it holds arrays."""
    strings = b""
    table, sequences, segments, payloads = [], [], [], b""
    for collection in collections:
        rows, records, start = collection.segments(), 0, len(sequences)
        for path, data, flags, items, size, meta in rows:
            records += items - (flags != 2)
            sequences.append((len(segments), records))
            segments.append((len(strings), len(payloads), len(path.encode()), flags, items, size, data, meta))
            strings += path.encode()
            payloads += data
        flags = 2 if collection.arrays else 1 if collection.paths else 0
        table.append((collection.key, start, len(rows), records, len(strings), len(collection.kind), flags))
        strings += collection.kind.encode()
    sequences_at = 256 + 72 * len(table)
    segments_at = sequences_at + 16 * len(sequences)
    strings_at = segments_at + 56 * len(segments)
    payload_at = strings_at + len(strings)
    payload_at += -payload_at % 8
    sections = (256, len(table), sequences_at, len(sequences), segments_at, len(segments), strings_at, len(strings))
    version = 3 if any(collection.arrays for collection in collections) else 2
    header = struct.pack("<8sII", b"IDXPACK2", version, 256)
    header += struct.pack("<10Q32s", *sections, payload_at, len(payloads), b"\0" * 32)
    out = header.ljust(256, b"\0")
    for key, start, number, records, kind, length, flags in table:
        out += struct.pack("<32sQQQQII", key, start, number, records, strings_at + kind, length, flags)
    for row in sequences:
        out += struct.pack("<QQ", *row)
    for path, place, length, flags, items, size, data, meta in segments:
        row = (strings_at + path, payload_at + place, length, flags, items, size, len(data), zlib.crc32(data), meta)
        out += struct.pack("<QQIIQQQII", *row)
    return (out + strings).ljust(payload_at, b"\0") + payloads


def example_bytes(name: str, text: str) -> bytes:
    """The bytes of a file that a rule's page shows as text: offsets, members with their sizes, collections of a pack."""
    if name.endswith(".idx"):
        return index(int(word) for word in text.replace(",", " ").split())
    if name.endswith(".tar"):
        return tar({member: int(size) for member, size in (line.split() for line in text.splitlines())})
    if name.endswith(".idxpack") and text.startswith("- role: "):
        return pack(*(_shown(item) for item in yaml.safe_load(text)))
    return text.encode()


def _shown(item: dict[str, object]) -> Collection:
    files = item["files"]
    assert isinstance(files, dict)
    sidecars = {path: index(words) for path, words in files.items()}
    return Collection(str(item["role"]), str(item["kind"]), item["source_spec"], sidecars)
