"""One data file beside its sidecar: missing, corrupt, stale or fine, by what Lhotse and NeMo make of it."""

from __future__ import annotations

import hashlib
import json
import os

from ..records import dataclass
from . import sidecar_files
from .index_needs import NOT_HERE, REMOTE, TARS, UNREADABLE, is_remote
from .index_states import CORRUPT, FINE, MISSING, STALE
from .paths import compression
from .readers import JSONL, NEMO_TAR, SGROUTE, SUFFIXES, WDS_V2
from .sidecar_files import ABSENT, FILE, FOLDER, WORD, Sidecar, Stat, only_zeros, open_regular, read_sidecar
from .sidecars import sidecar_path

_MAX_METADATA = 1 << 16

#: What follows, as read in lhotse's indexing.py and NeMo's indexed_adapters.py.
_RAISES = "a ValueError at start-up"
_ANEW = "Lhotse takes it for absent and builds it anew at start-up"
_ASTRAY = "records are read from the wrong places, or start-up fails"
_CUT = "what lies behind the indexed records is never read, without a word"
_GROWN = {
    NEMO_TAR: "the loader takes the old end for one more member, and never reads those behind it",
    WDS_V2: _RAISES,
}
_OLDER = "the loader does not notice, and records may be read from the wrong places"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is known of one sidecar."""

    state: str  #: fine · missing · corrupt · stale · "" where it could not be looked at
    sidecar: str = ""  #: where it lies or should lie, as the config's paths begin
    detail: str = ""  #: a clause without subject; why it could not be looked at
    severe: bool = False  #: missing, and the loader does not build it
    records: int = -1  #: of a sidecar that fits its source


def judge(launch_dir: str, root: str | None, kind: str, built: bool, file: str) -> Verdict:
    """Look at the sidecar of one file. `root` is local; remote data is known by its sidecar alone, if that is here."""
    if kind == SGROUTE:
        return _route(launch_dir, file)
    suffixes = SUFFIXES.get(kind) or (".idx",)
    shown = sidecar_path(file, root, suffixes[0])
    if root is None and is_remote(file):
        return Verdict("", detail=REMOTE)
    path = os.path.join(launch_dir, shown)
    found = sidecar_files.look(path)
    source = None if is_remote(file) else sidecar_files.look(os.path.join(launch_dir, file))
    if found.kind == sidecar_files.UNSEEN:
        return Verdict("", detail=UNREADABLE)
    if found.kind == ABSENT:
        if source is None or source.kind != FILE:
            return Verdict("", detail=REMOTE if source is None else NOT_HERE)
        nowhere = kind == NEMO_TAR and sidecar_files.look(os.path.dirname(path)).kind != FOLDER
        return Verdict(MISSING, shown, "its folder does not exist" if nowhere else "", severe=nowhere or not built)
    if compression(file) is not None:
        source = None  # the sidecar speaks of the size of what is compressed
    known = source if source is not None and source.kind == FILE else None
    content = read_sidecar(
        path, found, jsonl=kind == JSONL, strict=kind == WDS_V2, source_size=None if known is None else known.size
    )
    if content.unreadable:
        return Verdict("", detail=UNREADABLE)
    if content.problem:
        anew = content.rebuilt and built
        return Verdict(CORRUPT, shown, f"{content.problem}: {_ANEW if anew else _ASTRAY}")
    if known is None:
        return Verdict(FINE, shown, records=content.records)
    fits = _beside(os.path.join(launch_dir, file), kind, known, found, content)
    if fits is None and kind == WDS_V2:
        fits = _beside_metadata(launch_dir, root, file, path, known, content)
    return (
        Verdict(fits[0], fits[2] or shown, fits[1], fits[0] == MISSING)
        if fits
        else Verdict(FINE, shown, records=content.records)
    )


def _beside(file: str, kind: str, source: Stat, found: Stat, content: Sidecar) -> tuple[str, str, str] | None:
    """State and detail where the sidecar does not fit its source; the source's size is the last entry."""
    if content.end > source.size:
        what = _RAISES if kind in TARS else "the loader reads past its end, and a JSON decode error follows"
        return STALE, f"was made of {content.end:,} bytes, and its source has {source.size:,}: {what}", ""
    if content.end < source.size and not (_pads(kind) and only_zeros(file, content.end, source.size)):
        return (
            STALE,
            f"was made of {content.end:,} bytes, and its source has {source.size:,}: {_GROWN.get(kind, _CUT)}",
            "",
        )
    if not content.records and source.size and kind == JSONL:
        return CORRUPT, f"counts no record in a source of {source.size:,} bytes: nothing of it is read", ""
    if kind in TARS and content.records and content.last >= source.size:
        return CORRUPT, f"has its last member start at byte {content.last:,}, where the tar ends: {_RAISES}", ""
    if source.mtime_ns > found.mtime_ns:
        return STALE, f"is older than its source: {_OLDER}", ""
    return None


def _pads(kind: str) -> bool:
    """Whether the last entry may leave out a tar's padding: Lhotse's own indexer of Shar stops where it has read to."""
    return kind in TARS and kind not in (NEMO_TAR, WDS_V2)


def _route(launch_dir: str, file: str) -> Verdict:
    found = sidecar_files.look(os.path.join(launch_dir, file))
    if found.kind == ABSENT:
        here = sidecar_files.look(os.path.dirname(os.path.join(launch_dir, file))).kind == FOLDER
        return Verdict(MISSING, file, severe=True) if here else Verdict("", detail=NOT_HERE)
    if found.kind == sidecar_files.UNSEEN:
        return Verdict("", detail=UNREADABLE)
    if found.kind != FILE:
        return Verdict(CORRUPT, file, f"is no regular file: {_RAISES}")
    return Verdict(FINE, file) if found.size else Verdict(CORRUPT, file, f"is empty: {_RAISES}")


def _beside_metadata(
    launch_dir: str, root: str | None, file: str, index: str, source: Stat, content: Sidecar
) -> tuple[str, str, str] | None:
    """What format 2 of a WebDataset index adds: metadata by which the reader holds tar and offsets against each other."""
    shown = sidecar_path(file, root, SUFFIXES[WDS_V2][1])
    path = os.path.join(launch_dir, shown)
    found = sidecar_files.look(path)
    if found.kind == ABSENT:
        return MISSING, "", shown  # severe: the loader builds none of the two
    if found.kind != FILE or not 0 < found.size <= _MAX_METADATA:
        return CORRUPT, f"is no metadata of a WebDataset index: {_RAISES}", shown
    try:
        with open_regular(path) as opened:
            said = json.loads(opened.read(_MAX_METADATA) or b"")
        made_of = said["source"]
        size, mtime, of = made_of["size_bytes"], made_of["mtime_ns"], made_of["path"]
        digest, count = said["offsets_sha256"], said["sample_count"]
    except OSError:
        return None
    except (ValueError, KeyError, TypeError, RecursionError):
        return CORRUPT, f"is no metadata of a WebDataset index: {_RAISES}", shown
    if count != content.records or digest != _digest(index):
        return CORRUPT, f"is of other offsets than those beside it: {_RAISES}", shown
    if of != file:
        name = f"`{of}`" if isinstance(of, str) and len(of) < 200 else "another file"
        return STALE, f"is of {name}: {_RAISES}", shown
    if (size, mtime) != (source.size, source.mtime_ns):
        return STALE, f"is of another size or time than the tar has: {_RAISES}", shown
    return None


def _digest(path: str) -> str:
    digest = hashlib.sha256()
    try:
        with open_regular(path) as file:
            while block := file.read(WORD << 17):
                digest.update(block)
    except OSError:
        return ""
    return digest.hexdigest()
