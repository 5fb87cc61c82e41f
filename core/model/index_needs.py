"""Which index files an indexed source opens: for each of its paths, the data files behind it and the kind of sidecar."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path, PurePath

from ..records import dataclass
from . import paths
from .blend import Entry, PathText
from .environment import variable
from .packs import pack_file
from .readers import JSONL, NEMO_TAR, READERS, SGROUTE, SHAR, WDS, WDS_V2
from .readers import Sidecar as SidecarNeed
from .sidecar_files import ABSENT, FILE, FOLDER, look, open_regular

#: A tar of a Shar folder: an offset for each pair of members.
SHAR_TAR = "shar_tar"
TARS = frozenset({NEMO_TAR, SHAR_TAR, WDS, WDS_V2})
_MAX_FILES = 1_000_000  #: files behind one path that are looked at; none where there are more
_MAX_CATALOG = 64 << 20  #: bytes

#: Why index files could not be looked at, as what is said of the sources.
UNKNOWN_PATH = "whose paths or `indexes_root` are not known"
REMOTE = "on remote storage"
NOT_HERE = "whose data or `indexes_root` is not on this machine"
UNREADABLE = "which may not be read here"
TOO_MANY = f"with more than {_MAX_FILES:,} files behind one path"
NO_CATALOG = "whose shard catalog is not read"


@dataclass(frozen=True, slots=True)
class Group:
    """The data files behind one path of a source, in their order, and the sidecars that go with them."""

    path: PathText
    kind: str
    built: bool  #: whether the loader builds a missing sidecar at start-up
    files: Sequence[str] = ()  #: path strings, from which the sidecars' places follow
    unseen: str = ""  #: why the files could not be listed
    rows: bool = False  #: its records are what a sample is read from: manifests, cuts
    pair: int = -1  #: groups of one number hold the same shards: their records go together


def needed(source: Entry) -> Iterator[Group]:
    """The groups of a source. Paths that no index serves (pipes, compressed files) are other rules' matter."""
    reader = READERS.get(source.reader)
    if reader is None or not source.judged_indexed:
        return
    numbers: dict[str, int] = {}
    for path in source.paths:
        number = numbers[path.key] = numbers.get(path.key, -1) + 1
        for need in reader.sidecars:
            if need.key == path.key and need.kind != SGROUTE and _holds(source, need, path):
                yield from _groups(source, need, path, number)
    if any(need.kind == SGROUTE for need in reader.sidecars) and source["tar_lookup_mode"].is_("collection"):
        yield from _route(source)


def _holds(source: Entry, need: SidecarNeed, path: PathText) -> bool:
    """Whether the condition of a sidecar holds (`when` in the table of readers says it in words)."""
    if need.key == "tarred_audio_filepaths":
        if source.reader == "nemo_tarred":
            return not variable(source.dataset.config, "USE_AIS_GET_BATCH").is_true
        if source.reader == "share_gpt":
            mode = source["tar_lookup_mode"]
            return mode.known and mode.is_("collection") is not need.built
        return True
    if need.key == "paths" and len(READERS[source.reader].sidecars) > 1:
        return (need.kind == NEMO_TAR) is _is_tar(source, path)
    if need.kind in (WDS, WDS_V2):
        version = source["wds_sample_index_version"]
        second = version.known and version.value in (2, "2")
        return version.known and second is (need.kind == WDS_V2)
    return True


def _is_tar(source: Entry, path: PathText) -> bool:
    """Whether a path of text conversations is of tars: by its suffix, or because it is a folder."""
    if path.text.endswith(".tar"):
        return True
    return not path.text.endswith((".json", ".jsonl")) and look(local(source, path.text)).kind == FOLDER


def local(source: Entry, path: str) -> str:
    """A path string as this machine opens it: relative ones begin where training is started."""
    return os.path.join(source.dataset.config.context.launch_dir, path)


def is_remote(path: str) -> bool:
    """Whether the path is a URL, in Lhotse's view or by its scheme alone."""
    return "://" in path


def _groups(source: Entry, need: SidecarNeed, path: PathText, number: int) -> Iterator[Group]:
    if not path.known:
        yield Group(path, need.kind, need.built, unseen=UNKNOWN_PATH)
    elif paths.is_pipe(path.text) or paths.is_stdin(path.text) or _compressed(source, path.text):
        return
    elif need.kind == SHAR:
        yield from _shar(source, need, path, number)
    elif need.kind in (WDS, WDS_V2):
        yield _webdataset(source, need, path)
    elif need.key == "paths" and need.kind == NEMO_TAR and not path.text.endswith(".tar"):
        yield _tars_below(source, need, path)
    else:
        yield _listed(path, need.kind, need.built, need.kind == JSONL, number if source.reader == "nemo_tarred" else -1)


def _compressed(source: Entry, path: str) -> bool:
    """Whether it is compressed in a way that the Lhotse in use does not index."""
    suffix = paths.compression(path)
    return suffix is not None and not (suffix == ".gz" and source.dataset.config.context.runtime.gzip_indexes)


def _listed(path: PathText, kind: str, built: bool, rows: bool, pair: int) -> Group:
    """The files that a pattern stands for."""
    if paths.count(path.text) > _MAX_FILES:
        return Group(path, kind, built, unseen=TOO_MANY)
    return Group(path, kind, built, list(paths.expand(path.text)), rows=rows, pair=pair)


def _shar(source: Entry, need: SidecarNeed, path: PathText, number: int) -> Iterator[Group]:
    """Cuts and field files: those of a mapping's field, or all that lie in a folder (lhotse's `_discover_fields`)."""
    if path.field:
        kind = JSONL if path.field == "cuts" or ".tar" not in path.text else SHAR_TAR
        yield _listed(path, kind, need.built, path.field == "cuts", 0)
        return
    if is_remote(path.text):
        yield Group(path, SHAR, need.built, unseen=REMOTE)
        return
    names = _names(local(source, path.text))
    if names is None:
        yield Group(path, SHAR, need.built, unseen=NOT_HERE)
        return
    fields: dict[str, list[str]] = {}
    for name in names:
        if not name.endswith(".idx") and paths.compression(name) is None:
            fields.setdefault(name.split(".")[0], []).append(str(PurePath(path.text) / name))
    for field, files in fields.items():
        for kind, suffix in ((JSONL, ".jsonl"), (SHAR_TAR, ".tar")):
            found = [file for file in files if file.endswith(suffix)]
            if found and not (field == "cuts" and kind == SHAR_TAR):
                yield Group(path, kind, need.built, found, rows=field == "cuts", pair=number)


def _names(folder: str) -> list[str] | None:
    """The names in a folder, sorted; None where it cannot be listed."""
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.name for entry in islice(entries, _MAX_FILES))
    except (OSError, ValueError):
        return None


def _tars_below(source: Entry, need: SidecarNeed, path: PathText) -> Group:
    """Every tar in a folder and below it."""
    if is_remote(path.text):
        return Group(path, need.kind, need.built, unseen=REMOTE)
    top = local(source, path.text)
    if look(top).kind != FOLDER:
        return Group(path, need.kind, need.built, unseen=NOT_HERE)
    found = list(islice(_walk(top), _MAX_FILES))
    files = sorted(str(PurePath(path.text) / os.path.relpath(file, top)) for file in found)
    return Group(path, need.kind, need.built, files)


def _walk(top: str) -> Iterator[str]:
    for folder, _, names in os.walk(top):
        for name in names:
            if name.endswith(".tar"):
                yield os.path.join(folder, name)


def _webdataset(source: Entry, need: SidecarNeed, path: PathText) -> Group:
    """The tars of a WebDataset folder: those that `wids-meta.json` lists; format 1 without one takes all that are there."""
    if is_remote(path.text):
        return Group(path, need.kind, need.built, unseen=REMOTE)
    top = local(source, path.text)
    if look(top).kind == ABSENT:
        return Group(path, need.kind, need.built, unseen=NOT_HERE)
    names = _catalog(os.path.join(top, "wids-meta.json"))
    if names is None:
        others = ("wids-meta.json", "wds-catalog.json", os.path.join(".nv-meta", "split.yaml"))
        if need.kind == WDS_V2 or any(look(os.path.join(top, name)).kind != ABSENT for name in others):
            return Group(path, need.kind, need.built, unseen=NO_CATALOG)
        return _tars_below(source, need, path)
    return Group(path, need.kind, need.built, [str(PurePath(path.text) / name) for name in names])


def _catalog(file: str) -> list[str] | None:
    """The shards that a `wids-meta.json` lists, relative to its folder; None where there is none that can be read."""
    found = look(file)
    if found.kind != FILE or found.size > _MAX_CATALOG:
        return None
    try:
        with open_regular(file) as opened:
            shards = json.loads(opened.read(_MAX_CATALOG) or b"")["shardlist"]
        urls = [shard["url"] for shard in shards[:_MAX_FILES]]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return urls if all(isinstance(url, str) and url and not is_remote(url) for url in urls) else None


def _route(source: Entry) -> Iterator[Group]:
    """The route of a collection: an absolute path, beside the pack, or below `indexes_root`."""
    key = next((key for key in ("tar_routing_filepath", "tar_routing_index") if source.has(key)), None)
    if key is None:
        return
    setting = source[key]
    text = setting.value if isinstance(setting.value, str) else ""
    path = PathText(text, bool(text), setting.location, key)
    pack, root = pack_file(source), source["indexes_root"]
    if not text or not root.known:
        yield Group(path, SGROUTE, False, unseen=UNKNOWN_PATH)
    elif is_remote(text) or (not os.path.isabs(text) and isinstance(root.value, str) and is_remote(root.value)):
        yield Group(path, SGROUTE, False, unseen=REMOTE)
    elif os.path.isabs(text):
        yield Group(path, SGROUTE, False, (text,))
    elif pack is not None:
        yield Group(
            path, SGROUTE, False, (str(pack.path.parent / text),) if pack.path else (), "" if pack.path else REMOTE
        )
    elif isinstance(root.value, str):
        yield Group(path, SGROUTE, False, (str(Path(root.value) / text),))


_MANIFEST_NUMBER = re.compile(r"manifest[^/]*_(\d+)[^/]*\.json")
_TAR_NUMBER = re.compile(r"audio[^/]*_(\d+)[^/]*\.tar")


def pairs(rows: Sequence[str], others: Sequence[str], kind: str) -> Iterator[tuple[int, int]]:
    """Which shard of the one list goes with which of the other, as positions.

    NeMo pairs manifests with tars by the numbers in their names (nemo_adapters.py), Shar by their order. Nothing where
    it cannot be told: lists of different lengths, or a manifest for many tars.
    """
    if len(rows) != len(others):
        return
    if kind != NEMO_TAR or len(rows) == 1:
        yield from zip(range(len(rows)), range(len(others)))
        return
    first, second = _numbered(rows, _MANIFEST_NUMBER), _numbered(others, _TAR_NUMBER)
    for key, position in first.items():
        if key in second:
            yield position, second[key]


def _numbered(names: Sequence[str], pattern: re.Pattern[str]) -> dict[tuple[int, int], int]:
    """Positions by the number in the name and how often it came before: buckets repeat their numbers."""
    seen: dict[int, int] = {}
    found: dict[tuple[int, int], int] = {}
    for position, name in enumerate(names):
        match = pattern.search(name)
        if match is None:
            return {}
        number = int(match[1][:18])
        found[number, seen.get(number, 0)] = position
        seen[number] = seen.get(number, 0) + 1
    return found
