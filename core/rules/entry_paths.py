"""NR316-NR318: the paths of a source: shards that pair up, patterns and names as they are read, storage that can seek."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from ..findings import Related, Severity
from ..model import paths
from ..model.blend import PathText, Source
from .blockers import at_path
from .drafts import Draft, about
from .registry import rule

#: What NeMo's tarred reader looks for in file names (nemo_adapters.py).
_TAR_NAME = re.compile(r"audio[^/]*_(\d+)[^/]*\.tar")
_MANIFEST_NAME = re.compile(r"manifest[^/]*_(\d+)[^/]*\.json")


@rule("NR316", "shard-count-mismatch", Severity.ERROR)
def shard_count_mismatch(source: Source) -> Iterator[Draft]:
    """Manifests and tars do not pair up."""
    if source.reader not in ("nemo_tarred", "multimodal_conversation", "share_gpt"):
        return
    if not source.has("tarred_audio_filepaths") or source["tar_lookup_mode"].value not in (None, "paired"):
        return
    manifests = [path for path in source.paths if path.key == "manifest_filepath"]
    tars = [path for path in source.paths if path.key == "tarred_audio_filepaths"]
    if len(manifests) == len(tars) == 1 and _pair_up(manifests[0].text, tars[0].text):
        return  # as nearly always
    if not manifests or not tars or any(path.known is False and "${" in path.name for path in (*manifests, *tars)):
        return
    rows, members = (sum(paths.count(path.text) for path in side) for side in (manifests, tars))
    at = source["tarred_audio_filepaths"]
    related = (Related(manifests[0].location, f"{rows} manifest{'s' if rows != 1 else ''}"),)
    if rows == 1 and source["index_pack"].value is not None:
        return  # one manifest for all tars: a pack holds the way from each row to its tar
    if rows != members:
        yield about(
            at,
            f"{rows} manifest{'s' if rows != 1 else ''} and {members} tar{'s' if members != 1 else ''} do not pair up: rows are "
            "looked up in the wrong tar or never read",
            related=related,
        )
    elif len(manifests) == len(tars) == 1 and rows > 1:
        left, right = (set(_numbers(path.text)) for path in (manifests[0], tars[0]))
        if left != right and rows <= 10_000:
            yield about(
                at,
                "manifests and tars carry different shard numbers: start-up raises an AssertionError or pairs the wrong files",
                related=related,
            )


@lru_cache(maxsize=1 << 14)
def _pair_up(manifests: str, tars: str) -> bool:
    """Whether two patterns stand for as many files with the same ranges: no need to write out thousands of names."""
    rows = paths.count(manifests)
    return rows == paths.count(tars) and (rows == 1 or paths.shard_numbers(manifests) == paths.shard_numbers(tars))


def _numbers(pattern: str) -> Iterator[str]:
    for name in paths.expand(pattern):
        digits = re.findall(r"_(\d+)", name.rsplit("/", 1)[-1])
        yield digits[-1].lstrip("0") if digits else ""


@rule("NR317", "misread-path-pattern", Severity.ERROR)
def misread_path_pattern(source: Source) -> Iterator[Draft]:
    """A path pattern is not read as it looks."""
    for path in source.paths:
        if paths.is_pipe(path.text) or _looks_as_it_is(path.key, path.text):
            continue
        if "@OP@" in path.text or "@CL@" in path.text:
            yield at_path(
                source, path, "`@OP@` and `@CL@` are not expanded: the path is opened as it stands", "", choice=False
            )
        elif path.known and source.reader != "shar" and paths.has_literal_brackets(path.text):
            yield at_path(
                source,
                path,
                f"brackets in a path become braces: NeMo opens `{paths.to_braces(path.text)}`",
                "",
                choice=False,
                severity=Severity.WARNING,
            )
        elif (
            source.reader == "nemo_tarred" and path.name and source["index_pack"].value is None
        ):  # packs know the pairs
            yield from _unmatched_name(source, path)


@lru_cache(maxsize=1 << 14)
def _looks_as_it_is(key: str, text: str) -> bool:
    """Whether there is nothing about a path to look at, however it is read."""
    return not ("@OP@" in text or "@CL@" in text or paths.has_literal_brackets(text) or _looked_for(key, text))


def _looked_for(key: str, text: str) -> str:
    """The form in which the tarred reader looks for the numbers of a path that does not have it, else ""."""
    first = paths.first(text)
    if key == "tarred_audio_filepaths" and not _TAR_NAME.search(first):
        return "audio…_<number>….tar"
    if key == "manifest_filepath" and paths.count(text) > 1 and not _MANIFEST_NAME.search(first):
        return "manifest…_<number>….json"
    return ""


def _unmatched_name(source: Source, path: PathText) -> Iterator[Draft]:
    if not (looks_for := _looked_for(path.key, path.text)):
        return
    yield at_path(
        source,
        path,
        f"the tarred reader finds shard numbers in names like `{looks_for}`, which `{path.name}` is not: an AssertionError at "
        "start-up",
        "",
        choice=False,
    )


@rule("NR318", "unseekable-remote", Severity.WARNING)
def unseekable_remote(source: Source) -> Iterator[Draft]:
    """An indexed source lies on a backend that may lack range reads."""
    if not source.judged_indexed:
        return
    for path in source.special_paths:
        scheme = paths.scheme(path.text) if path.known else None
        if scheme not in (None, "pipe", "file", *paths.OBJECT_STORES):
            yield at_path(
                source,
                path,
                f"`{scheme}://` is read at offsets through AIStore's range reader, which may not serve it: without it, indexed "
                "access fails at start-up",
                "",
                choice=False,
            )
