"""Explicit tags before lists and mappings: what PyYAML's safe loader and OmegaConf's own constructors make of them."""

from __future__ import annotations

import os

from .merging import Findings
from .nodes import Mapping, Node, Scalar, Sequence, deref
from .scalars import short_tag

_PREFIX = "tag:yaml.org,2002:"
_SAME = {True: (f"{_PREFIX}map", "!"), False: (f"{_PREFIX}seq", "!")}
_LISTED = (f"{_PREFIX}omap", f"{_PREFIX}pairs")
_PATH = f"{_PREFIX}python/object/apply:pathlib."
_PATHS = (f"{_PATH}Path", f"{_PATH}PosixPath")


def collection_problem(tag: str, mapping: bool) -> str:
    """Why a tag before a list or mapping is refused; empty where it is not."""
    if tag in _SAME[mapping] or (not mapping and tag in (*_LISTED, *_PATHS)):
        return ""
    what = "mapping" if mapping else "list"
    if tag == f"{_PREFIX}set" and mapping:
        return "`!!set` makes a set, which a config cannot hold; write a list"
    if tag.removeprefix(_PREFIX) in (
        "map",
        "seq",
        "set",
        "omap",
        "pairs",
        "str",
        "int",
        "float",
        "bool",
        "null",
        "binary",
    ):
        return f"`{short_tag(tag)}` cannot stand before a {what}"
    return f"the tag `{short_tag(tag)}` before this {what} is unknown; remove it"


def as_pairs(tag: str, nodes: list[Node], findings: Findings) -> tuple[Node, ...]:
    """The items of a list; under `!!omap` and `!!pairs` each is a mapping of one pair, read as a list of two."""
    if tag not in _LISTED:
        return tuple(nodes)
    items: list[Node] = []
    for node in nodes:
        target = deref(node)
        if isinstance(target, Mapping) and len(target.pairs) == 1:
            pair = target.pairs[0]
            items.append(Sequence(target.span, target.outer, (pair.key, pair.value), target.flow))
        else:
            findings.add("construction", f"each item under `{short_tag(tag)}` has to be one `key: value`", node.span)
    return tuple(items)


def as_path(tag: str, nodes: list[Node]) -> str | None:
    """The text of a path that OmegaConf wrote with a tag of Python's; None for every other list."""
    if tag not in _PATHS:
        return None
    parts = [str(part.value) for node in nodes if isinstance(part := deref(node), Scalar)]
    return os.path.join(*parts) if parts else "."
