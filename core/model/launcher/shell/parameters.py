"""What stands between the braces of `${…}`: defaults, parts, patterns, lengths, and the words of arrays."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from ....findings import Location
from ..texts import Arg, Maybe, Piece, Script, Text, fixed, known, unknown, varying
from .arithmetic import Number
from .conditions import matches
from .state import State, Var
from .tree import at, span, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

EXPANSION = re.compile(r"\$\{(?P<mark>[#!]?)(?P<name>\w+|[@*#?$!-])(?P<index>\[[^\]]*\])?(?P<rest>.*)\}", re.S)
#: Why a variable has no value here.
ABSENT = "`${name}` comes from outside, if at all"
_DEFAULTS = (":-", "-", ":=", "=")
_MAX_TEXT = 10_000


class Operated:
    """The part of an expander that knows the operators; it has a script and a state."""

    script: Script
    state: State

    def look(self, name: str, where: Location) -> Text:
        """The value of a variable."""
        raise NotImplementedError

    def region(self, node: Node, start: int, end: int, escaped: str | None, *, quotes: bool = True) -> Text:
        """A stretch of a node, expanded."""
        raise NotImplementedError

    def compute(self, node: Node, bounds: tuple[int, int] | None = None) -> Number:
        """The number that a stretch is."""
        raise NotImplementedError

    def length(self, name: str, index: str | None, where: Location) -> Text:
        """`${#x}` and `${#a[@]}`."""
        if name in ("@", "*", "#") or not name:
            args = self.state.args
            return fixed(str(len(args)), where) if args is not None else self.look("#", where)
        variable = self.state.variables.get(name)
        if index in ("[@]", "[*]") and variable is not None and variable.items is not None:
            if not any(piece.maybe for item in variable.items for piece in item.text):
                return fixed(str(len(variable.items)), where)
            return unknown(f"the length of `{name}` is not known", where)
        value = self.look(name, where)
        text = known(value)
        if text is not None:
            return (Piece(str(len(text)), where, defaulted=any(piece.defaulted for piece in value)),)
        return unknown(f"the length of `{name}` is not known", where, caller=any(piece.caller for piece in value))

    def operated(self, node: Node, name: str, index: str, value: Text, rest: str, where: Location) -> Text:
        """`${x:-default}`, `${x%pattern}` and their kin."""
        sign = rest[:2] if rest[:1] == ":" and rest[1:2] in ("-", "=", "?", "+") else rest[:1]
        if sign in _DEFAULTS:
            return self._default(node, name, value, sign, len(rest) - len(sign), where)
        if sign in (":?", "?"):
            return value
        if sign in (":+", "+"):
            return self._alternative(node, name, value, sign, len(rest) - len(sign))
        _, end = span(self.script, node)
        if sign == ":":
            return self._part(node, value, rest, where, name)
        if sign in ("%", "#"):
            double = rest[:2] == sign * 2
            pattern = known(self.region(node, end - 1 - len(rest) + 1 + double, end - 1, None))
            return _changed(value, where, name, rest, lambda text: _trimmed(text, sign, double, pattern))
        if sign == "/":
            return self._replaced(node, value, rest, where, name)
        if rest in ("^^", ",,", "^", ","):
            return _changed(value, where, name, rest, lambda text: _cased(text, rest))
        return unknown(
            f"`{text_of(self.script, node)}` cannot be computed here", where, varies=varying(value), name=name
        )

    def _absent(self, name: str) -> bool:
        """Whether nothing in the file gives the variable a value."""
        if name.isdigit():
            return self.state.args is None or int(name) > len(self.state.args)
        return name not in self.state.variables and name not in ("RANDOM", "SRANDOM", "SECONDS", "EPOCHSECONDS", "PWD")

    def _default(self, node: Node, name: str, value: Text, sign: str, size: int, where: Location) -> Text:
        absent = self._absent(name)
        left_open = bool(value) and all(piece.text is None and piece.caller for piece in value)
        maybe = bool(value) and all(piece.maybe is not None for piece in value) and sign[0] == ":"
        if not (absent or (known(value) == "" and sign[0] == ":") or maybe or left_open):
            return value
        _, end = span(self.script, node)
        default = self.region(node, end - 1 - size, end - 1, None)
        outside = left_open or (absent and not (name.isdigit() and self.state.args is not None))
        if maybe:
            varies = varying(value)
            return unknown(f"`${name}` may be set or not", where, varies=varies, name=name)
        if outside and not default:
            return unknown(ABSENT.replace("{name}", name), where, name=name, caller=True)
        found = tuple(replace(piece, defaulted=piece.defaulted or outside) for piece in default)
        if sign.endswith("=") and not name.isdigit():
            self.state.set(name, Var(where, found))
        return found

    def _alternative(self, node: Node, name: str, value: Text, sign: str, size: int) -> Text:
        """`${x:+word}`: the word where `x` has a value."""
        text = known(value)
        if text == "" and (sign == ":+" or self._absent(name)):
            return ()
        _, end = span(self.script, node)
        found = self.region(node, end - 1 - size, end - 1, None)
        certain = text is not None or any(piece.text and piece.maybe is None for piece in value)
        if certain or (varying(value) is not None and not any(piece.maybe for piece in value)):
            return found
        if self._absent(name) and not name.isdigit():
            return tuple(replace(piece, maybe=piece.maybe or Maybe()) for piece in found)
        return tuple(replace(piece, maybe=piece.maybe or Maybe(varying(value))) for piece in found)

    def _part(self, node: Node, value: Text, rest: str, where: Location, name: str) -> Text:
        match = re.fullmatch(r":\s*(-?\d+|\(-\d+\))\s*(?::\s*(-?\d+))?", rest)
        if match is None:
            return _changed(value, where, name, rest, lambda text: None)
        begin, size = int(match[1].strip("()")), match[2]

        def part(text: str) -> str:
            kept = text[begin:]
            return kept if size is None else kept[: int(size)]

        return _changed(value, where, name, rest, part)

    def _replaced(self, node: Node, value: Text, rest: str, where: Location, name: str) -> Text:
        match = re.fullmatch(r"/([/#%]?)((?:[^/\\]|\\.)+)(?:/(.*))?", rest, re.S)
        if match is None or re.search(r"[*?\[]", match[2]):
            return _changed(value, where, name, rest, lambda text: None)
        _, end = span(self.script, node)
        base = end - 1 - len(rest)
        old = known(self.region(node, base + match.start(2), base + match.end(2), None))
        new: str | None = ""
        if match[3] is not None:
            new = known(self.region(node, base + match.start(3), base + match.end(3), None))
        if old is None or new is None:
            return _changed(value, where, name, rest, lambda text: None)
        mode, before, after = match[1], old, new

        def replaced(text: str) -> str:
            if mode == "#":
                return after + text[len(before) :] if text.startswith(before) else text
            if mode == "%":
                return text[: -len(before)] + after if text.endswith(before) else text
            return text.replace(before, after, -1 if mode == "/" else 1)

        return _changed(value, where, name, rest, replaced)

    # -- several words at once

    def several(self, node: Node) -> list[Arg] | None:
        """The words of `"$@"`, `"${a[@]}"`, `"${!a[@]}"` and their unquoted forms; None for any other word."""
        inner = node
        if node.type == "string":
            parts = [child for child in node.children if child.is_named]
            if len(parts) != 1 or text_of(self.script, node) != f'"{text_of(self.script, parts[0])}"':
                return None
            inner = parts[0]
        if inner.type not in ("simple_expansion", "expansion"):
            return None
        written = text_of(self.script, inner)
        where = at(self.script, node)
        if written in ("$@", "$*", "${@}", "${*}"):
            return self._arguments(where)
        match = EXPANSION.fullmatch(written)
        if match is None or match["mark"] == "#":
            return None
        name, index, rest = match["name"], match["index"], match["rest"]
        if name in ("@", "*"):
            found = self._arguments(where)
            begin = re.match(r":\s*(\d+)", rest)
            if begin is not None and self.state.args is not None:
                return _sliced(found, f":{max(int(begin[1]) - 1, 0)}{rest[begin.end() :]}")
            return found
        if index not in ("[@]", "[*]"):
            return None
        variable = self.state.variables.get(name)
        if match["mark"] == "!":
            return self._keys(variable, written, name, where)
        if variable is None:
            return [Arg(unknown(f"`{written}` is not set in this file", where, name=name, caller=True), where)]
        if variable.items is None:
            return [Arg(self.look(name, where), where)]
        if not rest or rest[0] in "-+" or rest[:2] in (":-", ":+"):
            return list(variable.items)
        return _sliced(list(variable.items), rest)

    def _arguments(self, where: Location) -> list[Arg]:
        return list(self.state.args) if self.state.args is not None else [Arg(rest(where), where)]

    def _keys(self, variable: Var | None, written: str, name: str, where: Location) -> list[Arg]:
        if variable is None or variable.items is None:
            return [Arg(unknown(f"`{written}` is not known", where, name=name), where)]
        keys = variable.keys if variable.keys is not None else [str(number) for number in range(len(variable.items))]
        return [Arg(fixed(key, where), where) for key in keys]


def rest(where: Location) -> Text:
    """The caller's arguments."""
    return unknown("the arguments are given by whoever starts the launcher", where, name="@", caller=True)


def spaced(items: tuple[Arg, ...] | None, where: Location) -> Text:
    """Words as one text with blanks between them."""
    if items is None:
        return rest(where)
    found: list[Piece] = []
    for index, item in enumerate(items):
        if index:
            found.append(Piece(" ", where))
        found += item.text
    return tuple(found)


def _sliced(items: list[Arg], rest: str) -> list[Arg]:
    match = re.fullmatch(r":\s*(\d+)\s*(?::\s*(\d+))?", rest)
    if match is None:
        return items
    kept = items[int(match[1]) :]
    return kept if match[2] is None else kept[: int(match[2])]


def _changed(value: Text, where: Location, name: str, rest: str, change: object) -> Text:
    """A known value after an operator; unknown where either is."""
    text = known(value)
    assert callable(change)
    result = change(text) if text is not None and len(text) < _MAX_TEXT else None
    if isinstance(result, str):
        drawn = next((piece.drawn for piece in value if piece.drawn), None)
        return (Piece(result, where, defaulted=any(piece.defaulted for piece in value), drawn=drawn),)
    caller = any(piece.caller for piece in value)
    return unknown(
        f"`${{{name}{rest}}}` cannot be computed here", where, varies=varying(value), name=name, caller=caller
    )


def _trimmed(text: str, sign: str, longest: bool, pattern: str | None) -> str | None:
    if pattern is None or len(text) > 1000:
        return None
    ends = range(len(text) + 1)
    if sign == "%":
        order = ends if longest else reversed(ends)
        return next((text[:end] for end in order if matches(text[end:], pattern)), text)
    order = reversed(ends) if longest else ends
    return next((text[end:] for end in order if matches(text[:end], pattern)), text)


def _cased(text: str, sign: str) -> str:
    upper = sign[0] == "^"
    if len(sign) == 2:
        return text.upper() if upper else text.lower()
    return (text[:1].upper() if upper else text[:1].lower()) + text[1:]
