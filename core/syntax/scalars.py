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


def construct(tag: str, text: str) -> ScalarValue:
    """The value of a scalar under a tag; raises Unreadable where the loader or OmegaConf would refuse it."""
    if tag == STR:
        return text
    node = ScalarNode(tag, text)
    try:
        if tag == f"{_PREFIX}int":
            return _CONSTRUCTOR.construct_yaml_int(node)
        if tag == f"{_PREFIX}float":
            return _CONSTRUCTOR.construct_yaml_float(node)
        if tag == f"{_PREFIX}bool":
            return _CONSTRUCTOR.construct_yaml_bool(node)
        if tag == f"{_PREFIX}null":
            return None
        if tag == f"{_PREFIX}binary":
            return _CONSTRUCTOR.construct_yaml_binary(node)
    except (ValueError, KeyError, IndexError, ConstructorError):
        raise Unreadable(f"`{text}` is not a valid {tag.rsplit(':', 1)[-1]}") from None
    if tag == _TIMESTAMP:
        raise Unreadable(f"`{text}` is a timestamp, which OmegaConf does not take")
    if tag == MERGE:
        raise Unreadable("`<<` stands for no value here")
    raise Unreadable(f"the tag `{short_tag(tag)}` is unknown to OmegaConf's loader")


def short_tag(tag: str) -> str:
    """A tag as one writes it: `!!int`, `!custom`."""
    return f"!!{tag.removeprefix(_PREFIX)}" if tag.startswith(_PREFIX) else tag


_CACHE: dict[str, tuple[str, ScalarValue]] = {}


def resolve_plain(text: str) -> tuple[str, ScalarValue]:
    """Tag and value of a plain scalar, remembered: configs repeat the same few words."""
    known = _CACHE.get(text)
    if known is None:
        tag = plain_tag(text)
        known = (tag, text if tag == STR else None if tag == MERGE else construct(tag, text))
        if len(text) < 64 and len(_CACHE) < 100_000:
            _CACHE[text] = known
    return known
