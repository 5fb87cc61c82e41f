"""Scalars as OmegaConf's YAML loader resolves them: YAML 1.1 through PyYAML, its own floats, no timestamps."""

from __future__ import annotations

import re

import yaml
from yaml.constructor import ConstructorError, SafeConstructor
from yaml.nodes import ScalarNode

from .nodes import ScalarValue

_PREFIX = "tag:yaml.org,2002:"
MERGE = f"{_PREFIX}merge"
STR = f"{_PREFIX}str"
VALUE = f"{_PREFIX}value"
_TIMESTAMP = f"{_PREFIX}timestamp"

#: OmegaConf's addition (omegaconf/_utils.py): exponents without a dot are floats too, `1e3` and `1e-4`.
_FLOAT = re.compile(
    r"^(?:[-+]?[0-9]+(?:_[0-9]+)*\.[0-9_]*(?:[eE][-+]?[0-9]+)?"
    r"|[-+]?[0-9]+(?:_[0-9]+)*(?:[eE][-+]?[0-9]+)"
    r"|\.[0-9]+(?:_[0-9]+)*(?:[eE][-+][0-9]+)?"
    r"|[-+]?[0-9]+(?:_[0-9]+)*(?::[0-5]?[0-9])+\.[0-9_]*"
    r"|[-+]?\.(?:inf|Inf|INF)"
    r"|\.(?:nan|NaN|NAN))$"
)

_Resolvers = dict[str, list[tuple[str, "re.Pattern[str]"]]]


def _resolvers() -> _Resolvers:
    table: _Resolvers = {
        first: [(tag, pattern) for tag, pattern in entries if tag != _TIMESTAMP]
        for first, entries in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    for first in "-+0123456789.":
        table.setdefault(first, []).append((f"{_PREFIX}float", _FLOAT))
    return table


_KINDS = {"int": "an integer", "float": "a number", "bool": "true or false", "binary": "base64 data"}
_TABLE = _resolvers()
_CONSTRUCTOR = SafeConstructor()


class Unreadable(ValueError):
    """A scalar OmegaConf refuses; the message names it."""


def plain_tag(text: str) -> str:
    """The tag YAML 1.1, with OmegaConf's changes, gives a plain scalar."""
    for tag, pattern in _TABLE.get(text[:1], ()) if text else _TABLE.get("", ()):
        if pattern.match(text):
            return tag
    return STR


def plain_yaml_value(text: str, value: ScalarValue) -> ScalarValue:
    """The value that PyYAML's own loader gives a plain scalar OmegaConf reads as `value`: `1e-1` is text to it.

    Lhotse loads blends with that loader.
    """
    if isinstance(value, float):
        tags = (
            tag for tag, pattern in yaml.SafeLoader.yaml_implicit_resolvers.get(text[:1], ()) if pattern.match(text)
        )
        if f"{_PREFIX}float" not in tags:
            return text
    return value


#: Of an integer; one with more is not written out by Python (4,300 digits), and no option's value.
_MOST_BITS = 10_000


def construct(tag: str, text: str) -> ScalarValue:
    """The value of a scalar under a tag; raises Unreadable where the loader or OmegaConf would refuse it."""
    if tag == STR:
        return text
    node = ScalarNode(tag, text)
    try:
        if tag == f"{_PREFIX}int":
            number: int = _CONSTRUCTOR.construct_yaml_int(node)
            if number.bit_length() > _MOST_BITS:
                raise ValueError("Python refuses to print it")
            return number
        if tag == f"{_PREFIX}float":
            return _CONSTRUCTOR.construct_yaml_float(node)
        if tag == f"{_PREFIX}bool":
            return _CONSTRUCTOR.construct_yaml_bool(node)
        if tag == f"{_PREFIX}null":
            return None
        if tag == f"{_PREFIX}binary":
            return _CONSTRUCTOR.construct_yaml_binary(node)
    except (ValueError, OverflowError, KeyError, IndexError, ConstructorError):
        raise Unreadable(f"`{shown(text)}` cannot be read as {_KINDS[tag.removeprefix(_PREFIX)]}") from None
    if tag == _TIMESTAMP:
        raise Unreadable(
            f"`{shown(text)}` is tagged `!!timestamp`: a config cannot hold dates, write it without the tag"
        )
    if tag in (MERGE, VALUE):
        raise Unreadable(f"`{shown(text)}` has a meaning of its own in YAML and cannot be a value; quote it")
    if tag.removeprefix(_PREFIX) in ("map", "seq", "set", "omap", "pairs"):
        raise Unreadable(f"`{short_tag(tag)}` cannot stand before a single value")
    raise Unreadable(f"the tag `{short_tag(tag)}` is unknown; remove it, or quote the value if the `!` belongs to it")


def shown(text: str, width: int = 60) -> str:
    """A text as a message quotes it: on one line, and not for pages."""
    line = " ".join(text.split())
    return line if len(line) <= width else f"{line[: width - 3]}..."


def short_tag(tag: str) -> str:
    """A tag as one writes it: `!!int`, `!custom`."""
    return f"!!{tag.removeprefix(_PREFIX)}" if tag.startswith(_PREFIX) else tag


#: A plain scalar's value, and what has to be looked at more closely: nothing, its interpolations, or its tag.
Plain = tuple[ScalarValue, int]
FINE, INTERPOLATED, SPECIAL = 0, 1, 2

_CACHE: dict[str, Plain] = {}
_CACHE_SIZE = 50_000
_CACHED_LENGTH = 200


def remembered() -> dict[str, Plain]:
    """What `resolve_plain` found so far, for loops that cannot afford a call for each scalar."""
    return _CACHE


def resolve_plain(text: str) -> Plain:
    """The value of a plain scalar, remembered: configs repeat the same few words. Never raises; see SPECIAL."""
    tag = plain_tag(text)
    if tag == STR:
        plain: Plain = (text, INTERPOLATED if "${" in text else FINE)
    elif tag in (MERGE, VALUE):
        plain = (text, SPECIAL)
    else:
        try:
            plain = (construct(tag, text), FINE)
        except Unreadable:
            plain = (text, SPECIAL)
    if len(text) < _CACHED_LENGTH:
        if len(_CACHE) >= _CACHE_SIZE:
            _CACHE.clear()
        _CACHE[text] = plain
    return plain
