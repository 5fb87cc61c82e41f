"""OmegaConf's `${…}` grammar: splits a string into literal text, references and resolver calls, or says what is malformed."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_KEY = re.compile(r"[^\\{}()\[\]:. \t'\"$]+")
_ID = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_SPACE = re.compile(r"[ \t]*")
#: Characters a resolver's argument may hold without quotes (OmegaConfGrammarLexer, VALUE_MODE).
_BARE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_/-\\+.$%*@?|=~^: \t\r\n")
_MAX_DEPTH = 50


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

    name: str
    args: tuple[str, ...]
    start: int = 0
    end: int = 0
    nested: tuple[Reference | Resolver, ...] = field(default=())


Piece = str | Reference | Resolver


def parse_interpolations(text: str) -> tuple[Piece, ...]:
    """Split a string value into its pieces; text without `${` is one piece. Raises MalformedInterpolation."""
    pieces: list[Piece] = []
    literal = ""
    position = 0
    while (start := text.find("${", position)) >= 0:
        slashes = len(text[position:start]) - len(text[position:start].rstrip("\\"))
        literal += text[position : start - slashes] + "\\" * (slashes // 2)
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
    if literal or not pieces:
        pieces.append(literal)
    return tuple(pieces)


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
        if isinstance(piece, Resolver):
            stack += piece.nested
        else:
            stack += [part for part in piece.path if not isinstance(part, str)]
    return tuple(found)


def _skip(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position


def _interpolation(text: str, start: int, depth: int) -> tuple[Reference | Resolver, int]:
    """Parse `${…}` at `start`; returns it with the offset after its closing brace."""
    if depth > _MAX_DEPTH:
        raise MalformedInterpolation("it is nested too deeply", start)
    position = _skip(text, start + 2)
    level = 0
    while position < len(text) and text[position] == ".":
        level += 1
        position += 1
    path: list[str | Reference | Resolver] = []
    first = True
    while True:
        if position >= len(text):
            raise MalformedInterpolation("its `${` is never closed", start)
        char = text[position]
        if char == "[":
            part, position = _key(text, _skip(text, position + 1), depth)
            position = _skip(text, position)
            if position >= len(text) or text[position] != "]":
                raise MalformedInterpolation("its `[` is never closed", position)
            position += 1
            path.append(part)
        elif first or char == ".":
            if not first:
                position += 1
            if first and level and _skip(text, position) < len(text) and text[_skip(text, position)] == "}":
                return Reference((), level, start, _skip(text, position) + 1), _skip(text, position) + 1
            part, position = _key(text, position, depth)
            path.append(part)
        else:
            break
        first = False
    after = _skip(text, position)
    if after < len(text) and text[after] == "}":
        return Reference(tuple(path), level, start, after + 1), after + 1
    if after < len(text) and text[after] == ":" and not level:
        name = ".".join(part if isinstance(part, str) else "${}" for part in path)
        if not all(not isinstance(part, str) or _ID.fullmatch(part) for part in path):
            raise MalformedInterpolation(f"`{name}` is no resolver name", start)
        args, nested, end = _arguments(text, after + 1, depth)
        return Resolver(name, args, start, end, nested), end
    raise MalformedInterpolation("its `${` is never closed" if after >= len(text) else "a `}` is missing", after)


def _key(text: str, position: int, depth: int) -> tuple[str | Reference | Resolver, int]:
    if text.startswith("${", position):
        return _interpolation(text, position, depth + 1)
    match = _KEY.match(text, position)
    if match is None:
        raise MalformedInterpolation("a key name is missing", position)
    return match[0], match.end()


def _arguments(text: str, position: int, depth: int) -> tuple[tuple[str, ...], tuple[Reference | Resolver, ...], int]:
    """The arguments up to the closing brace of a resolver call: raw texts, what is nested in them, the end."""
    args: list[str] = []
    nested: list[Reference | Resolver] = []
    brackets: list[str] = []
    begin = position
    while position < len(text):
        char = text[position]
        if text.startswith("${", position):
            inner, position = _interpolation(text, position, depth + 1)
            nested.append(inner)
        elif char in "'\"":
            position = _quoted(text, position)
        elif char == "\\" and position + 1 < len(text):
            position += 2
        elif char in "[{":
            brackets.append("]" if char == "[" else "}")
            position += 1
        elif brackets and char == brackets[-1]:
            brackets.pop()
            position += 1
        elif char == "}" and not brackets:
            last = text[begin:position].strip()
            if last or args:
                args.append(last)
            return tuple(args), tuple(nested), position + 1
        elif char == "," and not brackets:
            args.append(text[begin:position].strip())
            position += 1
            begin = position
        elif char == "," or char in _BARE or char > "\x7f":
            position += 1
        else:
            raise MalformedInterpolation(f"`{char}` needs quotes in an argument", position)
    raise MalformedInterpolation("its `${` is never closed", begin)


def _quoted(text: str, start: int) -> int:
    """The offset after a quoted argument."""
    quote, position = text[start], start + 1
    while position < len(text):
        if text[position] == "\\":
            position += 2
        elif text[position] == quote:
            return position + 1
        else:
            position += 1
    raise MalformedInterpolation("a quote is never closed", start)
