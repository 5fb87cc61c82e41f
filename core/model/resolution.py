"""Interpolations resolved as OmegaConf would at run time, as far as the files and the settings say what stands behind them."""

from __future__ import annotations

from collections.abc import Mapping as MappingType
from dataclasses import field

from ..records import dataclass
from ..syntax.interpolation import MalformedInterpolation, Reference, Resolver, parse_interpolations
from ..syntax.nodes import UNKNOWN, Mapping, Node, Scalar, Sequence, deref
from ..syntax.scalars import plain_yaml_value
from .composition import Section
from .values import Unknown

MANDATORY = "???"
_MAX_DEPTH = 40
#: Nodes and characters of one value: a few lines of aliases or interpolations may stand for more than memory holds.
_MOST_NODES, _MOST_CHARACTERS = 20_000, 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class Resolution:
    """Where interpolations look: the composed config, then the variables of the settings; never our own environment."""

    root: Section | None  #: None inside an external blend, where the config's keys do not exist
    variables: MappingType[str, str]
    _nodes: list[int] = field(default_factory=lambda: [0], repr=False)  #: met so far on the way to one value

    def value(self, node: Node, path: tuple[str, ...], depth: int = 0) -> object:
        """The plain value of the node at `path`; what cannot be known is Unknown, also inside lists and mappings."""
        node = deref(node)
        if depth == 0:
            self._nodes[0] = 0
        self._nodes[0] += 1
        if self._nodes[0] > _MOST_NODES:
            return Unknown("it stands for too much to be followed", "interpolation")
        if isinstance(node, Scalar):
            value = node.value
            if node.tag == UNKNOWN:
                return Unknown(node.text, "launcher", str(value))
            if isinstance(value, str) and (value == MANDATORY or "${" in value):
                return self._text(value, path, depth)
            if self.root is None and node.style == "plain" and node.tag is None:
                return plain_yaml_value(node.text, value)
            return value
        if depth > _MAX_DEPTH:
            return Unknown("it refers to itself", "interpolation")
        if isinstance(node, Sequence):
            return [self.value(item, (*path, str(index)), depth + 1) for index, item in enumerate(node.items)]
        assert isinstance(node, Mapping)
        return {key: self.value(pair.value, (*path, str(key)), depth + 1) for key, pair in node}

    def _text(self, text: str, path: tuple[str, ...], depth: int) -> object:
        if text == MANDATORY:
            return Unknown("`???` has to be set on the command line", "missing", text)
        if depth > _MAX_DEPTH:
            return Unknown(f"`{text}` refers to itself", "interpolation", text)
        try:
            pieces = parse_interpolations(text)
        except MalformedInterpolation:
            return Unknown(f"`{text}` is no valid interpolation", "interpolation", text)
        values = [piece if isinstance(piece, str) else self._piece(piece, text, path, depth) for piece in pieces]
        if len(values) == 1:
            return values[0]
        for value in values:
            if isinstance(value, Unknown):
                return Unknown(value.reason, value.kind, text)
            if isinstance(value, (list, dict)):
                return Unknown(f"`{text}` puts a whole section into a string", "interpolation", text)
        parts = [_as_text(value) for value in values]
        if sum(map(len, parts)) > _MOST_CHARACTERS:
            return Unknown(f"`{text}` stands for too much to be followed", "interpolation", text)
        return "".join(parts)

    def _piece(self, piece: Reference | Resolver, text: str, own: tuple[str, ...], depth: int) -> object:
        written = text[piece.start : piece.end] or text
        if isinstance(piece, Resolver):
            return self._resolver(piece, written)
        names = [part for part in piece.path if isinstance(part, str)]
        if len(names) != len(piece.path):
            return Unknown(f"`{written}` builds its key at run time", "interpolation", text)
        if piece.level:
            up = len(own) - piece.level
            if up < 0:
                return Unknown(f"`{written}` leads above the top of the config", "interpolation", text)
            path = (*own[:up], *names)
        else:
            path = tuple(names)
        found = self.lookup(path, depth or 1)
        if isinstance(found, Unknown):
            if not piece.level and (given := self.variables.get(".".join(names))) is not None:
                return given
            if found.kind == "missing" and not found.text:
                return Unknown(f"`${{{'.'.join(path)}}}` is not set in the config", "interpolation", text)
            return Unknown(found.reason, found.kind, text)
        return found

    def _resolver(self, piece: Resolver, text: str) -> object:
        if piece.name == "oc.env" and piece.args:
            name = str(piece.args[0]).strip().strip("'\"")
            if (given := self.variables.get(name)) is not None:
                return given
            return Unknown(f"`{text}` is read from the environment", "environment", text)
        return Unknown(f"`{text}` is computed at run time by `{piece.name}`", "interpolation", text)

    def lookup(self, path: tuple[str, ...], depth: int = 0) -> object:
        """The value at an absolute path, Unknown of kind missing without text where there is none."""
        if self.root is None or not path:
            return Unknown("", "missing")
        if depth == 0:
            self._nodes[0] = 0
        section: Section | None = self.root
        for index, key in enumerate(path[:-1]):
            child = section.section(key) if section else None
            if child is None and section is not None and (found := section.get(key)):
                return self._through(self.value(found.node, path[: index + 1], depth + 1), path[index + 1 :])
            section = child
        if section is None:
            return Unknown("", "missing")
        found = section.get(path[-1])
        if found is not None:
            return self.value(found.node, path, depth + 1)
        child = section.section(path[-1])
        if child is not None:
            return {key: self.lookup((*path, key), depth + 1) for key in child.names()}
        return Unknown("", "missing")

    def _through(self, value: object, rest: tuple[str, ...]) -> object:
        """Walk on into a value that is a list, or that came through another interpolation."""
        for key in rest:
            if isinstance(value, Unknown):
                return value
            if isinstance(value, dict) and key in value:
                value = value[key]
            elif isinstance(value, list) and key.lstrip("-").isdigit() and -len(value) <= int(key) < len(value):
                value = value[int(key)]
            else:
                return Unknown("", "missing")
        return value


def _as_text(value: object) -> str:
    return "None" if value is None else str(value)


def first_unknown(value: object) -> Unknown | None:
    """The first Unknown inside a value, or None when all of it is known."""
    if isinstance(value, Unknown):
        return value
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            if (unknown := first_unknown(item)) is not None:
                return unknown
    return None
