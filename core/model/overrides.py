"""A config as a launcher starts it: the overrides of its command line on top of the files, each with its own place."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence as Items
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..records import dataclass
from ..syntax.nodes import DELETED, UNKNOWN, Document, Mapping, Node, Pair, Scalar, ScalarValue, Sequence, deref
from ..text import Source, Span
from .composition import Composition, Layer, Section
from .values import Origin

if TYPE_CHECKING:
    from .config import TrainingConfig
    from .launcher.facts import Launch, Override

_Tree = dict[str, "_Leaf | _Tree"]


@dataclass(frozen=True, slots=True)
class _Leaf:
    """What one override puts at the end of its key."""

    override: Override
    node: Node


def as_started(config: TrainingConfig, launch: Launch, overrides: Items[Override]) -> TrainingConfig:
    """The config with a launch and these of its overrides on top; variables that the launch exports resolve `oc.env`.

    Overrides of a list's element (`input_cfg.0.weight=2`) are left out: see `into_a_list`.
    """
    root = config.composition.root
    layers = _layers([each for each in overrides if not into_a_list(config, each)])
    exported = {
        name: found.value.text for name, found in launch.env.items() if found.reaches and found.value.text is not None
    }
    composition = Composition(
        Section((), (*layers, *root.layers)), config.composition.bases, config.composition.missing
    )
    context = replace(config.context, variables={**exported, **config.context.variables})
    return replace(config, composition=composition, context=context, launch=launch)


def into_a_list(config: TrainingConfig, override: Override) -> bool:
    """Whether the override's key leads into a list, which lies on top of nothing here."""
    section: Section | None = config.composition.root
    for part in override.key.split(".")[:-1]:
        found = section.get(part) if section else None
        if found is not None and isinstance(found.node, Sequence):
            return True
        section = section.section(part) if section else None
    return False


def _layers(overrides: Iterable[Override]) -> tuple[Layer, ...]:
    """One layer for each file in which overrides stand; of a key given twice the last counts, wherever it stands."""
    tree: _Tree = {}
    for override in overrides:
        _put(tree, override.key.split("."), _Leaf(override, _node(override)))
    sources: dict[Path, Source] = {}
    for override in overrides:
        sources.setdefault(override.location.file, override.location.source)
    layers = []
    for path, source in sources.items():
        part = _part(tree, path)
        if part:
            root = _mapping(part)
            layers.append(Layer(Document(source, root), root, Origin.LAUNCHER))
    return tuple(layers)


def _put(tree: _Tree, keys: list[str], leaf: _Leaf) -> None:
    for key in keys[:-1]:
        below = tree.get(key)
        if not isinstance(below, dict):
            below = tree[key] = {}
        tree = below
    tree[keys[-1]] = leaf


def _part(tree: _Tree, path: Path) -> _Tree:
    """The overrides of one file."""
    part: _Tree = {}
    for key, below in tree.items():
        if isinstance(below, dict):
            if inner := _part(below, path):
                part[key] = inner
        elif below.override.location.file == path:
            part[key] = below
    return part


def _mapping(tree: _Tree) -> Mapping:
    pairs = []
    for key, below in tree.items():
        node = _mapping(below) if isinstance(below, dict) else below.node
        pairs.append(Pair(_scalar(key, node.span), node))
    return _mapped(pairs, pairs[0].key.span)


def _mapped(pairs: list[Pair], span: Span) -> Mapping:
    lookup: dict[ScalarValue, Pair] = {}
    for pair in pairs:
        key = deref(pair.key)
        assert isinstance(key, Scalar)
        lookup[key.value] = pair
    return Mapping(span, span, tuple(pairs), True, lookup=lookup)


def _node(override: Override) -> Node:
    """The value of an override as a node that stands where the whole override does."""
    from .launcher.hydra import Unparsed, hydra_value

    span = override.location.span
    if override.prefix == "~":
        return Scalar(span, span, None, "", "plain", tag=DELETED)
    text = override.value.text
    if text is None:
        written = override.location.source.text[span.start : span.end]
        return Scalar(span, span, written, override.value.reason, "plain", tag=UNKNOWN)
    value = hydra_value(text)
    if isinstance(value, Unparsed):
        return Scalar(span, span, text, f"`{text}` is no value that Hydra's grammar allows", "plain", tag=UNKNOWN)
    return _plain(value, span)


def _plain(value: object, span: Span) -> Node:
    if isinstance(value, dict):
        return _mapped([Pair(_scalar(key, span), _plain(item, span)) for key, item in value.items()], span)
    if isinstance(value, (list, tuple)):
        return Sequence(span, span, tuple(_plain(item, span) for item in value), True)
    assert value is None or isinstance(value, (bool, int, float, str))
    return _scalar(value, span)


def _scalar(value: ScalarValue, span: Span) -> Scalar:
    return Scalar(span, span, value, str(value), "single" if isinstance(value, str) else "plain")
