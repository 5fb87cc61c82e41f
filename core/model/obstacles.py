"""What keeps a source from being indexed: one predicate each, used by its rule and by the fixes that depend on it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from ..records import dataclass
from . import paths
from .blend import Entry, PathText
from .dataset import Dataset
from .readers import READERS
from .values import Setting

#: Readers that refuse `slice_length` once they are indexed; the others ignore it.
SLICE_RAISES = frozenset(name for name, reader in READERS.items() if reader.slice_raises)


def extra_fields(source: Entry) -> Setting | None:
    """`extra_fields` on a NeMo manifest reader: positional values that random access cannot reproduce."""
    setting = source.own("extra_fields") if source.reader in ("nemo", "nemo_tarred") else None
    return setting if setting is not None and setting.known and setting.value else None


def slice_length(source: Entry) -> Setting | None:
    """An effective `slice_length`, own or inherited."""
    setting = source["slice_length"]
    return setting if setting.known and setting.value is not None else None


def refused_slice(source: Entry) -> Setting | None:
    """A `slice_length` at which the indexed reader raises."""
    return slice_length(source) if source.reader in SLICE_RAISES else None


def mapped_cuts(source: Entry) -> Setting | None:
    """`cut_map_fns` on a Shar source."""
    setting = source.own("cut_map_fns") if source.reader == "shar" else None
    return setting if setting is not None and setting.known and setting.value else None


def compressed_tars(source: Entry) -> Iterator[PathText]:
    """Tar archives that are compressed as a whole."""
    for path in source.special_paths:
        if _is_tar(path) and paths.compression(path.name) is not None:
            yield path


def compressed_manifests(source: Entry) -> Iterator[PathText]:
    """Manifests, cuts and text that are compressed, also those inside a local Shar folder."""
    if source.reader == "parquet":
        return
    for path in source.paths if source.reader == "shar" else source.special_paths:
        if paths.is_pipe(path.text) or _is_tar(path):
            continue
        if paths.compression(path.name) is not None or (
            source.reader == "shar" and not path.field and path.known and compressed_cuts_inside(source, path.text)
        ):
            yield path


def gzip_indexed(source: Entry, path: PathText) -> bool:
    """Whether the Lhotse in use can index a compressed manifest: gzip on a file system, where it can at all."""
    if not source.dataset.config.context.runtime.gzip_indexes or paths.is_remote(path.text):
        return False
    suffix = paths.compression(path.name)
    if suffix is None:
        return not compressed_cuts_inside(source, path.text, but=".gz")
    return suffix == ".gz"


def unindexed_manifests(source: Entry) -> Iterator[PathText]:
    """Compressed manifests that the Lhotse in use cannot index."""
    return (path for path in compressed_manifests(source) if not gzip_indexed(source, path))


def compressed_cuts_inside(source: Entry, folder: str, but: str | None = None) -> bool:
    """Whether a local Shar folder, where it is on this machine, holds compressed cuts (Lhotse writes them so).

    `but` is a compression that does not count.
    """
    if paths.is_remote(folder):
        return False
    config = source.dataset.config
    memo, path = config.memo, os.path.join(config.context.launch_dir, folder)
    above = os.path.dirname(path.rstrip("/"))
    if above not in memo:  # shards lie side by side, and mostly on another machine
        memo[above] = os.path.isdir(above)
    if not memo[above]:
        return False
    name = ("compressed cuts", path, but)
    if name not in memo:
        memo[name] = _has_compressed_cuts(path, but)
    return bool(memo[name])


def _has_compressed_cuts(folder: str, but: str | None) -> bool:
    try:
        with os.scandir(folder) as entries:
            return any(e.name.startswith("cuts.") and paths.compression(e.name) not in (None, but) for e in entries)
    except (OSError, ValueError):  # a null byte
        return False


def pipes(source: Entry) -> Iterator[PathText]:
    """Paths that are commands."""
    return (path for path in source.special_paths if paths.is_pipe(path.text))


def standard_inputs(source: Entry) -> Iterator[PathText]:
    """Paths that are the standard input."""
    return (path for path in source.special_paths if paths.is_stdin(path.text))


def cuts_without_jsonl(source: Entry) -> Iterator[PathText]:
    """Indexed `cuts_path` files whose name has no `.jsonl`."""
    if source.reader == "cuts":
        for path in source.paths:
            if not path.name or paths.is_pipe(path.text) or paths.is_stdin(path.text):
                continue
            if ".jsonl" not in path.name and paths.compression(path.name) is None:
                yield path


def _is_tar(path: PathText) -> bool:
    return path.key == "tarred_audio_filepaths" or paths.is_tar(path.name)


#: The codes whose sources raise at start-up once they are indexed, with the test for each.
_RAISING: tuple[tuple[str, Callable[[Entry], object]], ...] = (
    ("NR301", extra_fields),
    ("NR302", refused_slice),
    ("NR303", mapped_cuts),
    ("NR304", lambda source: next(compressed_tars(source), None)),
    ("NR305", lambda source: next(unindexed_manifests(source), None)),
    ("NR306", lambda source: next(pipes(source), None)),
    ("NR307", lambda source: next(standard_inputs(source), None)),
    ("NR319", lambda source: next(cuts_without_jsonl(source), None)),
)


@dataclass(frozen=True, slots=True)
class Obstacle:
    """A source that cannot follow into the indexed world, with the code of the rule that says why."""

    source: Entry
    code: str


def obstacle(source: Entry) -> Obstacle | None:
    """The first reason for which a source cannot be indexed; NR308 where it would stream without a word."""
    memo, name = source.dataset.config.memo, ("obstacle", source)
    if name not in memo:  # several rules depend on it
        memo[name] = _obstacle(source)
    return memo[name]  # type: ignore[return-value]


def _obstacle(source: Entry) -> Obstacle | None:
    if source.type is not None and not source.type.indexable:
        return Obstacle(source, "NR308")
    if not source.indexable:
        return None
    for code, test in _RAISING:
        if test(source):
            return Obstacle(source, code)
    return None


def obstacles(dataset: Dataset) -> tuple[Obstacle, ...]:
    """All obstacles of a dataset's blend."""
    return tuple(found for source in dataset.sources if (found := obstacle(source)) is not None)
