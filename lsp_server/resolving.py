"""What values come to as far as the files say: interpolations resolved, and the files that path patterns stand for."""

from __future__ import annotations

from dataclasses import dataclass

from nemo_resumable.core.model import paths
from nemo_resumable.core.model.dataset import Dataset
from nemo_resumable.core.model.resolution import Resolution
from nemo_resumable.core.model.sources import READERS
from nemo_resumable.core.syntax.interpolation import MalformedInterpolation, parse_interpolations
from nemo_resumable.core.syntax.nodes import Scalar
from nemo_resumable.core.text import Span

from .sections import package_of, reads_as_blend
from .view import FileView

#: Keys whose values are paths of data files, with ranges.
PATH_KEYS = frozenset(key for reader in READERS.values() for key in reader.data_keys) - {"data_dir"}
#: Stand for what is not known of a path while its ranges are expanded.
_UNKNOWN = 0xE000


@dataclass(frozen=True, slots=True)
class Resolver:
    """Resolves the interpolations of one file."""

    resolution: Resolution
    package: tuple[str, ...]  #: stands before the keys of the file
    outside: bool  #: a blend, where the keys of a config do not exist

    def text(self, text: str, path: tuple[str, ...]) -> object:
        """What a text comes to that stands at a path of the file; Unknown where that is not known."""
        span = Span(0, len(text))
        return self.resolution.value(Scalar(span, span, text, text, "single"), (*self.package, *path))


def resolver_of(view: FileView) -> Resolver:
    """How the interpolations of a file are resolved: as a part of the config that it is or is read into."""
    config = next(iter(view.configs), None)
    if reads_as_blend(view):
        variables = view.project.settings.variables
        return Resolver(config.outside_resolution if config is not None else Resolution(None, variables), (), True)
    if config is None:
        return Resolver(Resolution(None, view.project.settings.variables), (), False)
    return Resolver(config.resolution, package_of(view), False)


@dataclass(frozen=True, slots=True)
class Shards:
    """The files that a path stands for."""

    number: int
    first: str
    last: str
    known: bool  #: whether nothing of the path is left open


def shards_of(text: str) -> Shards:
    """The files behind a path, of which interpolations may be left open: what is in their braces is no range."""
    try:
        pieces = parse_interpolations(text)
    except MalformedInterpolation:
        pieces = (text,)
    opened: list[str] = []
    pattern = ""
    end = 0
    for piece in pieces:
        if isinstance(piece, str):
            continue
        pattern += text[end : piece.start] + chr(_UNKNOWN + len(opened))
        opened.append(text[piece.start : piece.end])
        end = piece.end
    pattern += text[end:]

    def written(path: str) -> str:
        for index, each in enumerate(opened):
            path = path.replace(chr(_UNKNOWN + index), each)
        return path

    return Shards(paths.count(pattern), written(paths.first(pattern)), written(paths.last(pattern)), not opened)


def shard_count(dataset: Dataset) -> int:
    """The shards of all sources of a dataset: manifests, or what is in their place; tars beside them do not count again."""
    return sum(
        shards_of(path.text).number
        for source in dataset.sources
        for path in source.paths
        if path.key == source.data_keys[0]
    )
