"""Values of a Python launcher, as far as they matter: texts, numbers, lists, tables, functions, and what is not known."""

from __future__ import annotations

import ast
from dataclasses import field, replace

from ....findings import Location
from ....records import dataclass
from ..facts import Variation
from ..texts import Piece, Text, known, varying


@dataclass(frozen=True, slots=True)
class Str:
    """A text (also a path)."""

    text: Text


@dataclass(frozen=True, slots=True)
class Const:
    """A number, a truth value or None; `defaulted` where a caller may give another, which decides no condition then."""

    value: int | float | bool | None
    at: Location | None = None
    defaulted: bool = False
    drawn: Location | None = None


@dataclass(frozen=True, slots=True)
class Unknown:
    """What cannot be known, or is another in each chunk."""

    reason: str = ""
    varies: Variation | None = None
    drawn: Location | None = None
    name: str = ""


@dataclass(frozen=True, slots=True)
class Items:
    """A list or tuple whose items are known one by one; `open` where more may come."""

    items: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A dict: entries with the place of each; `inherits` where it begins as a copy of the environment."""

    entries: tuple[tuple[str, Value, Location], ...] = ()
    inherits: bool = False

    def get(self, key: str) -> Value | None:
        return next((value for name, value, _ in reversed(self.entries) if name == key), None)

    def having(self, key: str, value: Value, at: Location) -> Table:
        """The table with one entry more."""
        return replace(self, entries=(*(entry for entry in self.entries if entry[0] != key), (key, value, at)))


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """A function of the script, with the variables that it closes over."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    outer: dict[str, Value] | None = None


@dataclass(frozen=True, slots=True)
class Name:
    """Something of another module, by its dotted name: subprocess.run."""

    dotted: str


@dataclass(frozen=True, slots=True, eq=False)
class Record:
    """An object with attributes: an argument parser, its result, an executor or script of nemo-run."""

    kind: str
    attributes: dict[str, Value] = field(default_factory=dict)
    at: Location | None = None


Value = Str | Const | Unknown | Items | Table | Function | Name | Record


def as_text(value: Value, at: Location) -> Text:
    """The value as `str()` would print it, with its provenance."""
    if isinstance(value, Str):
        return value.text
    if isinstance(value, Const):
        return (Piece(str(value.value), at, drawn=value.drawn),)
    if isinstance(value, Unknown):
        return (Piece(None, at, reason=value.reason, varies=value.varies, drawn=value.drawn, name=value.name),)
    return (Piece(None, at, reason="it is no plain text"),)


def variation(*values: Value) -> Variation | None:
    """Why any of the values is another in each chunk."""
    for value in values:
        found: Variation | None = None
        if isinstance(value, Unknown):
            found = value.varies
        elif isinstance(value, Str):
            found = varying(value.text)
        elif isinstance(value, Items):
            found = variation(*value.items)
        elif isinstance(value, Table):
            found = variation(*(entry[1] for entry in value.entries))
        if found is not None:
            return found
    return None


def truth(value: Value) -> bool | None:
    """Whether a value is true, where that is sure."""
    if isinstance(value, Const) and not value.defaulted:
        return bool(value.value)
    if isinstance(value, Str) and not any(piece.defaulted for piece in value.text):
        text = known(value.text)
        return bool(text) if text is not None else (True if any(piece.text for piece in value.text) else None)
    if isinstance(value, Items):
        return bool(value.items)
    if isinstance(value, (Function, Record)):
        return True
    return None


def drawn_at(value: Value, at: Location) -> Value:
    """The value as it comes out of a variable that is assigned there."""
    if isinstance(value, (Unknown, Const)):
        return value if value.drawn is not None else replace(value, drawn=at)
    if isinstance(value, Str):
        return Str(tuple(piece if piece.drawn else replace(piece, drawn=at) for piece in value.text))
    return value


def same(one: Value, other: Value) -> bool:
    """Whether two values are alike, places aside."""
    if isinstance(one, Str) and isinstance(other, Str):
        return [(p.text, p.name, p.varies) for p in one.text] == [(p.text, p.name, p.varies) for p in other.text]
    if isinstance(one, Const) and isinstance(other, Const):
        return one.value == other.value
    if isinstance(one, Items) and isinstance(other, Items):
        return len(one.items) == len(other.items) and all(map(same, one.items, other.items))
    return one is other or (isinstance(one, (Unknown, Name)) and one == other)


def either(one: Value, other: Value, varies: Variation | None) -> Value:
    """What a condition decides that is not known: another in each chunk where the condition is."""
    if same(one, other):
        return one
    if varies is not None:
        return Unknown("", varies)
    if isinstance(one, Const) and one.value is None:
        return other
    if isinstance(other, Const) and other.value is None:
        return one
    return Unknown("a condition decides it", variation(one, other))


def elements(value: Value) -> tuple[Value, ...] | None:
    """The items that a loop goes over, where they are known."""
    if isinstance(value, Items):
        return value.items
    return None


def plain(value: Value) -> object:
    """The Python value of a constant that no caller can replace, else None."""
    if isinstance(value, Const) and not value.defaulted:
        return value.value
    if isinstance(value, Str) and not any(piece.defaulted for piece in value.text):
        return known(value.text)
    return None


def shortened(written: str) -> str:
    """Source on one line, at most 40 characters."""
    line = " ".join(written.split())
    return line if len(line) <= 40 else f"{line[:37]}..."
