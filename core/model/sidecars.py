"""Where the sidecar of a data file lies, by Lhotse's `index_file_path`, and which files would share one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..records import dataclass
from . import paths
from .blend import Entry, PathText

if TYPE_CHECKING:
    from .config import TrainingConfig

_SCHEME = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]*://")
_DRIVE = re.compile(r"^[A-Za-z]:(?=[\\/])")
_MAX_NAMES = 10_000  #: ranges beyond this are compared by their text alone


def mirrored(path: str) -> str:
    """A data path as it is put below an `indexes_root`: without its scheme, drive and leading slashes."""
    if "://" in path:
        path = _SCHEME.sub("", path)
    if path[1:2] == ":":
        path = _DRIVE.sub("", path)
    return path.lstrip("/\\")


def sidecar_path(path: str, root: str | None, suffix: str = ".idx") -> str:
    """The index file of a data file: below the root, or beside the data where there is none."""
    return f"{path}{suffix}" if root is None else f"{root.rstrip('/')}/{mirrored(path)}{suffix}"


@dataclass(frozen=True, slots=True)
class Place:
    """A path of a source that has sidecars, and the root they go to."""

    source: Entry
    path: PathText
    root: str


def collisions(config: TrainingConfig) -> Iterator[tuple[Place, Place, str]]:
    """Pairs of places whose different files share a sidecar below one root, with one such sidecar; each place once."""
    groups: dict[tuple[str, str], dict[str, Place]] = {}
    for place in _places(config):
        pattern = paths.to_braces(place.path.text)
        folder = mirrored(pattern).split("{", 1)[0].rpartition("/")[0]
        groups.setdefault((place.root, folder), {}).setdefault(pattern, place)
    for (root, _), places in groups.items():
        taken: dict[str, Place] = {}
        prefixes = {pattern[: len(pattern) - len(mirrored(pattern))] for pattern in places}
        if len(prefixes) < 2:
            continue  # one scheme: equal sidecars are of equal files
        for pattern, place in places.items():
            names = _names(pattern)
            other = next((taken[name] for name in names if name in taken and _differ(taken[name], place)), None)
            if other is not None:
                shared = next(name for name in _names(pattern) if taken.get(name) is other)
                yield other, place, f"{root.rstrip('/')}/{shared}.idx"
            for name in names:
                taken.setdefault(name, place)


def _names(pattern: str) -> list[str]:
    """The mirrored names of a pattern; the pattern itself where they are too many."""
    if paths.count(pattern) > _MAX_NAMES:
        return [mirrored(pattern)]
    return [mirrored(name) for name in paths.expand(pattern)]


def _differ(first: Place, second: Place) -> bool:
    """Whether equal mirrored names are of different files: they differ in what the mirror leaves out."""
    one, two = (paths.to_braces(place.path.text) for place in (first, second))
    return one[: len(one) - len(mirrored(one))] != two[: len(two) - len(mirrored(two))]


def _places(config: TrainingConfig) -> Iterator[Place]:
    for dataset in config.datasets:
        for source in dataset.sources:
            root = source["indexes_root"]
            if not isinstance(root.value, str) or not source.judged_indexed or source.reader == "parquet":
                continue
            for path in source.paths:
                if path.known and not paths.is_pipe(path.text) and not paths.is_stdin(path.text):
                    yield Place(source, path, root.value)
