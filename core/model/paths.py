"""Path patterns of manifests, tars and cuts: brace expansion, schemes, compression, storage workflow.

Rules follow NeMo's `expand_sharded_filepaths` and Lhotse's `is_valid_url`: `_OP_`…`_CL_` and literal brackets become
braces anywhere in the string, braces expand without escapes, a URL has both a scheme and a host.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from functools import lru_cache

_OPEN = re.compile(r"_OP_|[(\[<]")
_CLOSE = re.compile(r"_CL_|[)\]>]")
_NUMBERS = re.compile(r"(-?\d{1,18})\.\.(-?\d{1,18})(?:\.\.(-?\d{1,18}))?", re.ASCII)
_PADDED = re.compile(r"-?0\d")
_LETTERS = re.compile(r"([A-Za-z])\.\.([A-Za-z])(?:\.\.(-?\d{1,18}))?", re.ASCII)
_URL = re.compile(r"^([A-Za-z][A-Za-z0-9+.-]*)://[^/?#]")  # a scheme and the beginning of a host
#: A text with more groups or characters than this is nobody's path: it stands for itself, for to follow it takes minutes.
_MOST_GROUPS, _MOST_CHARACTERS = 32, 1 << 16
COMPRESSED_SUFFIXES = (".gz", ".bz2", ".xz", ".lz4", ".zst", ".tgz", ".tbz2", ".txz", ".zip")

#: Rules ask the same of a path again and again, and an editor asks anew after every key press.
_remembered = lru_cache(maxsize=1 << 14)

#: Backends that Lhotse's range reader and the AIStore SDK serve; others may lack range reads.
OBJECT_STORES = frozenset({"s3", "ais"})


@_remembered
def to_braces(pattern: str) -> str:
    """The pattern as it reaches brace expansion, brackets included: `/d/[a]_OP_0..3_CL_` is `/d/{a}{0..3}`."""
    return _CLOSE.sub("}", _OPEN.sub("{", pattern))


@_remembered
def has_literal_brackets(pattern: str) -> bool:
    """Whether literal brackets of the path, not meant as a range, become braces (`/data/[old]/m.json`)."""
    for match in re.finditer(r"[(\[<]([^()\[\]<>]*)[)\]>]", pattern):
        if not (_NUMBERS.fullmatch(match[1]) or _LETTERS.fullmatch(match[1]) or "," in match[1]):
            return True
    return False


def expand(pattern: str) -> Iterator[str]:
    """The paths a pattern stands for, in order; lazily, since a pattern may stand for millions."""
    braces = to_braces(pattern)
    return _expand(braces) if _is_followed(braces) else iter((braces,))


@_remembered
def first(pattern: str) -> str:
    """The first path that a pattern stands for."""
    return next(expand(pattern))


@_remembered
def last(pattern: str) -> str:
    """The last path that a pattern stands for, without making those before it."""
    braces = to_braces(pattern)
    return _last(braces) if _is_followed(braces) else braces


@_remembered
def count(pattern: str) -> int:
    """How many paths a pattern stands for, without making them."""
    braces = to_braces(pattern)
    return _count(braces) if _is_followed(braces) else 1


def _is_followed(braces: str) -> bool:
    return len(braces) <= _MOST_CHARACTERS and braces.count("{") <= _MOST_GROUPS


def _split(text: str) -> tuple[str, list[Iterator[str]] | None, str, int]:
    """Split at the first brace group that expands: (before, alternatives, after, how many)."""
    position = 0
    while (start := text.find("{", position)) >= 0:
        end = _matching(text, start)
        if end < 0:
            break
        inner = text[start + 1 : end]
        sequence = _sequence(inner)
        if sequence is not None:
            numbers, written = sequence
            return text[:start], [map(written, numbers)], text[end + 1 :], len(numbers)
        parts = _alternatives(inner)
        if len(parts) > 1:
            return text[:start], [_expand(part) for part in parts], text[end + 1 :], sum(map(_count, parts))
        position = start + 1
    return text, None, "", 1


def _expand(text: str) -> Iterator[str]:
    before, alternatives, after, _ = _split(text)
    if alternatives is None:
        yield before
        return
    for middle in itertools.chain.from_iterable(alternatives):
        for rest in _expand(after):
            yield before + middle + rest


def _count(text: str) -> int:
    total = 1
    while text:
        _, alternatives, text, number = _split(text)
        if alternatives is None:
            break
        total *= number
    return total


def _last(text: str) -> str:
    position = 0
    while (start := text.find("{", position)) >= 0:
        end = _matching(text, start)
        if end < 0:
            break
        inner = text[start + 1 : end]
        sequence = _sequence(inner)
        parts = _alternatives(inner)
        if sequence is not None:
            return text[:start] + sequence[1](sequence[0][-1]) + _last(text[end + 1 :])
        if len(parts) > 1:
            return text[:start] + _last(parts[-1]) + _last(text[end + 1 :])
        position = start + 1
    return text


def _matching(text: str, start: int) -> int:
    end = text.find("}", start)
    if text.find("{", start + 1, end) < 0:
        return end  # nothing is nested, or nothing is closed
    depth = 0
    for index in range(start, len(text)):
        depth += (text[index] == "{") - (text[index] == "}")
        if depth == 0:
            return index
    return -1


def _alternatives(inner: str) -> list[str]:
    parts, depth, current = [], 0, ""
    for char in inner:
        depth += (char == "{") - (char == "}")
        if char == "," and depth == 0:
            parts.append(current)
            current = ""
        else:
            current += char
    return [*parts, current]


@_remembered
def _sequence(inner: str) -> tuple[range, Callable[[int], str]] | None:
    """The numbers of a range and how each is written; None where it is none."""
    if match := _NUMBERS.fullmatch(inner):
        padded = any(_PADDED.match(part) for part in (match[1], match[2]))
        width = max(len(match[1]), len(match[2])) if padded else 0
        return _range(int(match[1]), int(match[2]), match[3]), f"{{:0{width}d}}".format if width else str
    if match := _LETTERS.fullmatch(inner):
        return _range(ord(match[1]), ord(match[2]), match[3]), chr
    return None


def _range(first: int, last: int, step: str | None) -> range:
    by = abs(int(step or 1)) or 1
    return range(first, last + 1, by) if first <= last else range(first, last - 1, -by)


@_remembered
def shard_numbers(pattern: str) -> tuple[str, ...]:
    """The brace ranges of a pattern, as a key to compare manifests with tars: `m_{0..3}.json` gives `0..3`."""
    return tuple(re.findall(r"\{([^{}]*)\}", to_braces(pattern)))


@_remembered
def scheme(path: str) -> str | None:
    """The scheme of a URL (`s3`), `pipe` for a pipe, None for a local path."""
    if is_pipe(path):
        return "pipe"
    match = _URL.match(path)
    return match[1].lower() if match else None


def is_pipe(path: str) -> bool:
    """Whether Lhotse runs a command to read it."""
    return path.startswith("pipe:")


def is_stdin(path: str) -> bool:
    """Whether it is the standard input."""
    return path == "-"


def is_remote(path: str) -> bool:
    """Whether it is a URL with a host (a pipe is not: what it reads cannot be known)."""
    return scheme(path) not in (None, "pipe", "file")


@_remembered
def compression(path: str) -> str | None:
    """The compression suffix among the last two suffixes (`a.jsonl.gz` and `a.gz.jsonl` both count), or None."""
    name = path.rsplit("/", 1)[-1].lower()
    for suffix in reversed(name.split(".")[1:][-2:]):
        if f".{suffix}" in COMPRESSED_SUFFIXES:
            return f".{suffix}"
    return None


@_remembered
def is_plain(path: str) -> bool:
    """Whether it is nothing but a file on a file system: no URL, no command, not the standard input, not compressed."""
    return scheme(path) is None and not is_stdin(path) and compression(path) is None


@_remembered
def is_tar(name: str) -> bool:
    """Whether a file is a tar archive by its name."""
    lowered = name.lower()
    return ".tar" in lowered or lowered.endswith((".tgz", ".tbz2", ".txz"))


def flatten(spec: object) -> Iterator[str]:
    """Every path string of a specification: string, list, list of lists or of [path, weight], mapping of fields."""
    if isinstance(spec, str):
        yield spec
    elif isinstance(spec, dict):
        for value in spec.values():
            yield from flatten(value)
    elif isinstance(spec, (list, tuple)):
        for value in spec:
            yield from flatten(value)


def total(spec: object) -> int:
    """How many files a specification stands for."""
    return sum(count(path) for path in flatten(spec))
