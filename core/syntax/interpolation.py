"""OmegaConf's `${…}` grammar: splits a string into literal text, references and resolver calls, or says what is malformed."""

from __future__ import annotations

import re

from ..records import dataclass
from .quick_pattern import LITERAL, QUICK

#: OmegaConfGrammarLexer, INTERPOLATION_MODE: the names between dots and brackets. 2.4 takes `\.` in them too, 2.3 does not.
_KEY = re.compile(r"[^\\{}()\[\]:. \t'\"]+")
_ID = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_BLANKS = re.compile(r"[ \t]*")
#: VALUE_MODE: what an argument may hold without quotes, except `:` and blanks, which end a dict's key.
_BARE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_/-\\+.$%*@?|")
_ESCAPABLE = frozenset("\\()[]{}:=, \t")
_MAX_DEPTH = 60


class MalformedInterpolation(ValueError):
    """The text is refused by OmegaConf's grammar; `offset` is where, in code points of the text."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.offset = offset


@dataclass(frozen=True, slots=True)
class Reference:
    """`${a.b}`: a path in the config; `level` is the number of leading dots, 0 for an absolute path."""

    path: tuple[str | Reference | Resolver, ...]
    level: int
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class Resolver:
    """`${name:arg,…}`: a value computed by a resolver; arguments as written, outer blanks stripped."""

    name: str  #: a part of the name that is an interpolation itself is written `${}`
    args: tuple[str, ...]
    start: int = 0
    end: int = 0
    nested: tuple[Reference | Resolver, ...] = ()


Piece = str | Reference | Resolver


def parse_interpolations(text: str) -> tuple[Piece, ...]:
    """Split a string value into its pieces; text without `${` is one piece. Raises MalformedInterpolation."""
    if "${" not in text:
        return (text,)
    try:
        return _split(text)
    except MalformedInterpolation:
        pieces = _quickly(text)
        if pieces is None:
            raise
        return pieces


def references(text: str) -> tuple[Reference | Resolver, ...]:
    """Every interpolation of a text, nested ones included; none where the text is malformed."""
    try:
        pieces = parse_interpolations(text)
    except MalformedInterpolation:
        return ()
    found: list[Reference | Resolver] = []
    stack = [piece for piece in pieces if not isinstance(piece, str)]
    while stack:
        piece = stack.pop(0)
        found.append(piece)
        stack += (
            piece.nested if isinstance(piece, Resolver) else [part for part in piece.path if not isinstance(part, str)]
        )
    return tuple(found)


def _split(text: str) -> tuple[Piece, ...]:
    """The pieces by the grammar. A backslash before `${` escapes it, and is escaped by another one."""
    pieces: list[Piece] = []
    literal = ""
    position = 0
    while (start := text.find("${", position)) >= 0:
        before = text[position:start].rstrip("\\")
        slashes = start - position - len(before)
        literal += before + "\\" * (slashes // 2)
        if slashes % 2:
            literal += "${"
            position = start + 2
            continue
        if literal:
            pieces.append(literal)
            literal = ""
        piece, position = _interpolation(text, start, 0)
        pieces.append(piece)
    literal += text[position:]
    if literal:
        pieces.append(literal)
    return tuple(pieces)


def _quickly(text: str) -> tuple[Piece, ...] | None:
    """The pieces of a text that only OmegaConf's quick pattern takes, None where it does not either."""
    pieces: list[Piece] = []
    position = 0
    while True:
        match = LITERAL.match(text, position)
        if match is not None and match.end() > position:
            pieces.append(match[0])
            position = match.end()
        if position == len(text):
            return tuple(pieces)
        found = QUICK.match(text, position)
        if found is None:
            return None
        position = found.end()
        if found["path"] is not None:
            path = found["path"]
            level = len(path) - len(path.lstrip("."))
            names = tuple(name for name in re.split(r"[.\[\]]+", path) if name)
            pieces.append(Reference(names, level, found.start(), position))
        else:
            args = tuple(arg.strip() for arg in found["args"].split(","))
            pieces.append(Resolver(found["name"], args, found.start(), position))


def _skip(text: str, position: int) -> int:
    match = _BLANKS.match(text, position)
    return match.end() if match else position


def _expect(text: str, position: int, char: str, opened: int) -> int:
    """The offset after `char`, which has to stand here, blanks left out."""
    position = _skip(text, position)
    if text.startswith(char, position):
        return position + 1
    if position >= len(text):
        raise MalformedInterpolation(f"its `{text[opened]}` is never closed", opened)
    raise MalformedInterpolation(f"a `{char}` is missing before `{text[position]}`", position)


def _interpolation(text: str, start: int, depth: int) -> tuple[Reference | Resolver, int]:
    """Parse `${…}` at `start`; returns it with the offset after its closing brace."""
    if depth > _MAX_DEPTH:
        raise MalformedInterpolation("it is nested too deeply", start)
    position = _skip(text, start + 2)
    level = 0
    while text.startswith(".", position):
        level += 1
        position += 1
    path: list[str | Reference | Resolver] = []
    named = not level  # so far it can still be the name of a resolver
    while not path or text[position : position + 1] in (".", "["):
        bracket = text.startswith("[", position)
        if bracket or path:
            position += 1
        part, position = _key(text, position, depth, start)
        named = named and not bracket and (not isinstance(part, str) or _ID.fullmatch(part) is not None)
        if bracket:
            if not text.startswith("]", position):
                raise MalformedInterpolation("its `[` is never closed", position)
            position += 1
        path.append(part)
    after = _skip(text, position)
    if text.startswith("}", after):
        return Reference(tuple(path), level, start, after + 1), after + 1
    if text.startswith(":", after):
        written = text[start + 2 : after].strip()
        if not named:
            raise MalformedInterpolation(f"`{written}` cannot be the name of a resolver", start + 2)
        nested = [part for part in path if not isinstance(part, str)]
        args, end = _arguments(text, after, start, depth, nested)
        name = ".".join(part if isinstance(part, str) else "${}" for part in path)
        return Resolver(name, args, start, end, tuple(nested)), end
    if after >= len(text):
        raise MalformedInterpolation("its `${` is never closed", start)
    raise MalformedInterpolation(f"`{text[after]}` cannot stand in a reference", after)


def _key(text: str, position: int, depth: int, start: int) -> tuple[str | Reference | Resolver, int]:
    if text.startswith("${", position):
        return _interpolation(text, position, depth + 1)
    match = _KEY.match(text, position)
    if match is None:
        if position >= len(text):
            raise MalformedInterpolation("its `${` is never closed", start)
        raise MalformedInterpolation("a key name is missing", position)
    return match[0], match.end()


_Nested = list["Reference | Resolver"]


def _arguments(text: str, colon: int, start: int, depth: int, nested: _Nested) -> tuple[tuple[str, ...], int]:
    """The arguments after the colon of a resolver call, as written, and the offset after its closing brace."""
    args, position = _sequence(text, _skip(text, colon + 1), "}", start, depth, nested)
    return tuple(args), _expect(text, position, "}", start)


def _sequence(text: str, position: int, close: str, opened: int, depth: int, nested: _Nested) -> tuple[list[str], int]:
    """Elements with commas between them, up to the closing character; each may be left out."""
    if depth > _MAX_DEPTH:
        raise MalformedInterpolation("it is nested too deeply", opened)
    args: list[str] = []
    while True:
        begin = position
        if text[position : position + 1] not in (",", close):
            position = _element(text, position, opened, depth, nested)
        arg = text[begin:position].strip(" \t")
        position = _skip(text, position)
        more = text.startswith(",", position)
        if more or arg or args:
            args.append(arg)
        if not more:
            return args, position
        position = _skip(text, position + 1)


def _element(text: str, position: int, opened: int, depth: int, nested: _Nested) -> int:
    """The offset after one argument: quoted, a list, a dict, or bare."""
    char = text[position : position + 1]
    if char and char in "'\"":
        return _quoted(text, position, depth, nested)
    if char == "[":
        _, end = _sequence(text, _skip(text, position + 1), "]", position, depth + 1, nested)
        return _expect(text, end, "]", position)
    if char == "{":
        return _dict(text, position, depth + 1, nested)
    end = _bare(text, position, depth, nested, key=False)
    if end == position:
        if position >= len(text):
            raise MalformedInterpolation(f"its `{text[opened : opened + 2].strip()}` is never closed", opened)
        raise MalformedInterpolation(f"`{text[position]}` needs quotes in an argument", position)
    return end


def _dict(text: str, opened: int, depth: int, nested: _Nested) -> int:
    """The offset after a `{key: value, …}` argument."""
    position = _skip(text, opened + 1)
    if text.startswith("}", position):
        return position + 1
    while True:
        begin = position
        position = _bare(text, begin, depth, nested, key=True)
        if position == begin:
            raise MalformedInterpolation("a dict needs an unquoted key here", position)
        position = _skip(text, _expect(text, position, ":", opened))
        position = _skip(text, _element(text, position, opened, depth, nested))
        if not text.startswith(",", position):
            return _expect(text, position, "}", opened)
        position = _skip(text, position + 1)


def _bare(text: str, position: int, depth: int, nested: _Nested, *, key: bool) -> int:
    """The offset after an argument, or a dict's key, without quotes; blanks that end it are left out."""
    end = position
    while position < len(text):
        char = text[position]
        if char == "\\" and text[position + 1 : position + 2] in _ESCAPABLE and position + 1 < len(text):
            position += 2
        elif char == "$" and text.startswith("${", position):
            if key:
                return end
            inner, position = _interpolation(text, position, depth + 1)
            nested.append(inner)
        elif char in _BARE or (char == ":" and not key):
            position += 1
        elif char in " \t":
            position += 1
            continue
        else:
            return end
        end = position
    return end


def _quoted(text: str, start: int, depth: int, nested: _Nested) -> int:
    """The offset after a quoted argument."""
    quote, position = text[start], start + 1
    while position < len(text):
        char = text[position]
        if char == "\\":
            slashes = position
            while text.startswith("\\", position):
                position += 1
            if (position - slashes) % 2 == 0:
                continue
            position += 2 if text.startswith("${", position) else 1 if text.startswith(quote, position) else 0
        elif char == quote:
            return position + 1
        elif text.startswith("${", position):
            inner, position = _interpolation(text, position, depth + 1)
            nested.append(inner)
        else:
            position += 1
    raise MalformedInterpolation("a quote is never closed", start)
