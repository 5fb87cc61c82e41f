"""A config as Hydra composes it: the file over its `defaults`, seen through one merged tree without copying."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from ..findings import Location
from ..records import dataclass
from ..syntax.nodes import DELETED, Alias, Document, Mapping, Node, Pair, Scalar, Sequence, deref
from ..syntax.store import Unreadable
from .values import Origin

Load = Callable[[Path], "Document | Unreadable"]

_PACKAGE = re.compile(r"^#\s*@package\s+(\S+)\s*$", re.MULTILINE)
_MAX_BASES = 64


@dataclass(frozen=True, slots=True, eq=False)
class Layer:
    """One document's part of a section. `prefix` is the package path still to walk before its content counts."""

    document: Document
    mapping: Mapping
    origin: Origin = Origin.FILE  #: file · base config · launcher override
    prefix: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """The pair that decides a key, and the document that holds it."""

    document: Document
    pair: Pair
    origin: Origin

    @property
    def node(self) -> Node:
        return deref(self.pair.value)

    @property
    def location(self) -> Location:
        """The value at its use; the key where the value is left out."""
        span = self.pair.merged_at or self.pair.value.span
        if span.start == span.end:
            span = self.pair.key.span
        return Location(self.document.source, span)

    @property
    def key_location(self) -> Location:
        return Location(self.document.source, self.pair.merged_at or self.pair.key.span)

    @property
    def anchor(self) -> Location | None:
        """Where an aliased or merged value is defined."""
        if self.pair.merged_at is not None or isinstance(self.pair.value, Alias):
            return Location(self.document.source, deref(self.pair.value).span)
        return None


@dataclass(frozen=True, slots=True, eq=False)
class Section:
    """A mapping of the composed config: the layers that speak of it, strongest first."""

    path: tuple[str, ...]
    layers: tuple[Layer, ...]
    key_location: Location | None = None  #: the key that opens the section

    def get(self, key: str) -> Found | None:
        """What decides `key`; a layer that only passes through by its package does not count."""
        for layer in self.layers:
            if not layer.prefix and (pair := layer.mapping.get(key)):
                return None if is_deleted(pair.value) else Found(layer.document, pair, layer.origin)
        return None

    def section(self, key: str) -> Section | None:
        """The child mapping `key`, merged over all layers; None where the strongest says something else."""
        layers: list[Layer] = []
        opened: tuple[Origin, Location] | None = None  # where no file opens the section, an override does
        for layer in self.layers:
            if layer.prefix:
                if layer.prefix[0] == key:
                    layers.append(Layer(layer.document, layer.mapping, layer.origin, layer.prefix[1:]))
                continue
            if (pair := layer.mapping.get(key)) is None:
                continue
            found = Found(layer.document, pair, layer.origin)
            if not isinstance(found.node, Mapping):
                if not layers and not _is_null(found.node):
                    return None
                break
            if opened is None or opened[0] is Origin.LAUNCHER:
                opened = (layer.origin, found.key_location)
            layers.append(Layer(layer.document, found.node, layer.origin))
        if not layers:
            return None
        if opened is None:
            first = layers[0]
            opened = (first.origin, Location(first.document.source, first.mapping.span))
        return Section((*self.path, key), tuple(layers), opened[1])

    def at(self, path: tuple[str, ...]) -> Section | None:
        """The section at a path below this one."""
        section: Section | None = self
        for key in path:
            section = section.section(key) if section else None
        return section

    def names(self) -> Iterator[str]:
        """The string keys of all layers, strongest layer's order first, each once."""
        seen: set[str] = set()
        for layer in self.layers:
            pairs = ((layer.prefix[0], None),) if layer.prefix else layer.mapping
            for key, pair in pairs:
                if isinstance(key, str) and key not in seen:
                    seen.add(key)
                    if pair is None or not is_deleted(pair.value):
                        yield key

    @property
    def strongest(self) -> Layer:
        """The strongest layer of a file, for what a launcher puts on top of it has no text to edit."""
        return next((layer for layer in self.layers if layer.origin is not Origin.LAUNCHER), self.layers[0])

    @property
    def document(self) -> Document:
        return self.strongest.document

    def owned(self, document: Document) -> Mapping | None:
        """The mapping of this section that stands in `document` itself, for edits there."""
        for layer in self.layers:
            if layer.document is document and not layer.prefix:
                return layer.mapping
        return None


def is_deleted(node: Node) -> bool:
    """Whether it stands for a key that the launcher deletes (`~key`)."""
    return isinstance(node, Scalar) and node.tag == DELETED


def _is_null(node: Node) -> bool:
    return isinstance(node, Scalar) and node.value is None


@dataclass(frozen=True, slots=True)
class MissingBase:
    """A base config that could not be read, the place that names it, and the package it would have gone to."""

    name: str
    location: Location
    package: tuple[str, ...]

    def may_set(self, path: tuple[str, ...]) -> bool:
        """Whether it may have set the value at a path."""
        shorter = min(len(path), len(self.package))
        return path[:shorter] == self.package[:shorter]


@dataclass(frozen=True, slots=True, eq=False)
class Composition:
    """The composed root, the base configs that took part, and those that could not be read."""

    root: Section
    bases: tuple[Document, ...]
    missing: tuple[MissingBase, ...]

    def hidden(self, path: tuple[str, ...]) -> MissingBase | None:
        """The missing base config that may have set the value at a path."""
        return next((base for base in self.missing if base.may_set(path)), None)


def compose(document: Document, load: Load) -> Composition | None:
    """Compose a config file with the `defaults` it names inside its own folder; None when it is no mapping."""
    if not isinstance(document.root, Mapping):
        return None
    missing: list[MissingBase] = []
    layers = _layers(document, document.root, load, document.source.path.parent, (), missing, frozenset(), Origin.FILE)
    layers.reverse()
    bases = {id(layer.document): layer.document for layer in layers if layer.origin is Origin.BASE}
    return Composition(Section((), tuple(layers)), tuple(bases.values()), tuple(missing))


def _layers(
    document: Document,
    root: Mapping,
    load: Load,
    folder: Path,
    package: tuple[str, ...],
    missing: list[MissingBase],
    above: frozenset[Path],
    origin: Origin,
) -> list[Layer]:
    """The layers of a config and its defaults, weakest first (Hydra 1.1: the file itself last unless `_self_` says else)."""
    own = Layer(document, root, origin, package)
    pair = root.get("defaults")
    entries = deref(pair.value) if pair else None
    if not isinstance(entries, Sequence) or len(above) >= _MAX_BASES:
        return [own]
    layers: list[Layer] = []
    placed = False
    for item in entries.items:
        node = deref(item)
        name, target_package = _default_entry(node)
        if name == "_self_":
            layers.append(own)
            placed = True
        elif name is not None:
            path = _base_path(folder, document.source.path.parent, name)
            found = load(path) if path not in above else None
            optional = isinstance(node, Mapping) and any(str(key).startswith("optional ") for key, _ in node)
            if isinstance(found, Document) and isinstance(found.root, Mapping):
                inside = package + _package_of(found, target_package)
                layers += _layers(
                    found, found.root, load, folder, inside, missing, above | {document.source.path}, Origin.BASE
                )
            elif not optional:
                missing.append(MissingBase(name, Location(document.source, node.span), package + target_package))
    return layers if placed else [*layers, own]


def named_bases(document: Document, config_folder: Path) -> Iterator[tuple[Location, Path]]:
    """The items of a file's `defaults` that name a config, and the file that each stands for, there or not."""
    pair = document.root.get("defaults") if isinstance(document.root, Mapping) else None
    entries = deref(pair.value) if pair else None
    for item in entries.items if isinstance(entries, Sequence) else ():
        node = deref(item)
        name, _ = _default_entry(node)
        if name is not None and name != "_self_":
            span = node.span if isinstance(item, Alias) or not isinstance(node, Mapping) else node.pairs[0].value.span
            path = _base_path(config_folder, document.source.path.parent, name)
            yield Location(document.source, item.span if isinstance(item, Alias) else span), path


def _default_entry(node: Node) -> tuple[str | None, tuple[str, ...]]:
    """The config name of one `defaults` item and the package it goes to; (None, …) for what composes no data."""
    if isinstance(node, Scalar) and isinstance(node.value, str):
        name, _, package = node.value.partition("@")
        return name, _packages(package) if package else tuple(name.strip("/").split("/")[:-1])
    if isinstance(node, Mapping):
        for key, pair in node:
            value = deref(pair.value)
            if not isinstance(key, str) or key.startswith("override ") or not isinstance(value, Scalar):
                return None, ()
            if not isinstance(value.value, str) or "${" in value.value or value.value == "???":
                return None, ()
            group, _, package = key.removeprefix("optional ").strip().partition("@")
            if group.startswith("hydra/") or group == "hydra":
                return None, ()
            return f"{group}/{value.value}", _packages(package) if package else tuple(group.strip("/").split("/"))
    return None, ()


def _packages(package: str) -> tuple[str, ...]:
    return () if package in ("_global_", "_here_") else tuple(package.split("."))


def _package_of(document: Document, default: tuple[str, ...]) -> tuple[str, ...]:
    """The package a base config declares for itself (`# @package model`), else the one its entry gave."""
    match = _PACKAGE.search(document.source.text[:2000])
    if match is None or match[1] == "_group_":
        return default
    return _packages(match[1])


def _base_path(config_folder: Path, own_folder: Path, name: str) -> Path:
    """`name` below the config folder for `/name`, else beside the file that lists it."""
    folder = config_folder if name.startswith("/") else own_folder
    name = name.lstrip("/")
    return folder / (name if name.endswith((".yaml", ".yml")) else f"{name}.yaml")


def header_package(document: Document) -> tuple[str, ...]:
    """The package in which Hydra would place this file's content, from its own header."""
    return _package_of(document, ())
