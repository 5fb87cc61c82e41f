"""Words of a shell expanded: quotes, variables, defaults, arrays and arithmetic; what cannot be known says why."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from ....findings import Location
from ..facts import Variation
from ..texts import Arg, Piece, Script, Text, concat, fixed, known, split, unknown, varying
from .arithmetic import arithmetic, as_text
from .state import State, Var
from .tree import at, literal, span, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

#: Variables of the shell itself that are another in each run.
_OWN = {
    "RANDOM": Variation("random", "`$RANDOM`"),
    "SRANDOM": Variation("random", "`$SRANDOM`"),
    "SECONDS": Variation("time", "`$SECONDS`"),
    "EPOCHSECONDS": Variation("time", "`$EPOCHSECONDS`"),
    "EPOCHREALTIME": Variation("time", "`$EPOCHREALTIME`"),
    "$": Variation("random", "the process id"),
    "BASHPID": Variation("random", "the process id"),
}
_EXPANSIONS = ("simple_expansion", "expansion", "command_substitution", "arithmetic_expansion", "process_substitution")
_INNER = re.compile(r"\$\{(?P<mark>[#!]?)(?P<name>\w+|[@*#?$!-])(?P<index>\[[^\]]*\])?(?P<rest>.*)\}", re.S)

#: Runs a command substitution and says what it prints.
Substitute = Callable[[Script, "Node", State], Text]


class Expander:
    """Expands the words of one script in one state."""

    def __init__(self, script: Script, state: State, substitute: Substitute) -> None:
        self.script, self.state, self._substitute = script, state, substitute

    # -- words

    def args(self, node: Node) -> list[Arg]:
        """The words that one argument becomes: arrays give several, an unquoted value is split at blanks."""
        several = self._items(node)
        if several is not None:
            return several
        where = at(self.script, node)
        text = self.text(node)
        if node.type in ("string", "raw_string", "ansi_c_string") or not _has_unquoted(node):
            return [Arg(text, where)]
        words = list(split(text))
        if len(words) == 1:
            return [Arg(words[0], where)]
        return [Arg(each, _own_place(each, where)) for each in words]

    def text(self, node: Node) -> Text:
        """The value of a word as one text."""
        kind = node.type
        start, end = span(self.script, node)
        if kind in ("word", "command_name", "extglob_pattern", "regex", "variable_name", "test_operator"):
            if kind == "command_name" and node.children:
                return concat(self.text(child) for child in node.children)
            return literal(self.script, start, end, escaped=None)
        if kind == "number":
            return self._mixed(node, start, end, None) if node.children else self.script.literal(start, end)
        if kind == "string":
            return self._mixed(node, start + 1, end - 1, '$`"\\')
        if kind == "raw_string":
            return self.script.literal(start + 1, end - 1)
        if kind == "ansi_c_string":
            return literal(self.script, start + 2, end - 1, escaped=None)
        if kind == "translated_string":
            return concat(self.text(child) for child in node.children if child.is_named)
        if kind in ("concatenation", "heredoc_body"):
            return self._mixed(node, start, end, None if kind == "concatenation" else "$`\\")
        if kind in ("simple_expansion", "expansion"):
            return self.expansion(node)
        if kind == "arithmetic_expansion":
            return as_text(arithmetic(self.script, node, self.look), at(self.script, node), text_of(self.script, node))
        if kind == "command_substitution":
            return self._substitute(self.script, node, self.state)
        return unknown(f"`{text_of(self.script, node)[:40]}` is not understood", at(self.script, node))

    def _mixed(self, node: Node, start: int, end: int, escaped: str | None) -> Text:
        """Literal text with expansions and quoted parts in it; the tree leaves out some of what is between them."""
        parts: list[Text] = []
        position = start
        for child in node.children:
            first, last = span(self.script, child)
            inside = first > start or last < end  # a text that is nothing but one variable keeps its own places
            nested = child.type in ("string", "raw_string", "ansi_c_string", "concatenation") and node.type != "string"
            if first < position or not (child.type in _EXPANSIONS or nested):
                continue
            parts.append(literal(self.script, position, first, escaped=escaped))
            parts.append(self._brought_in(child) if inside and child.type in _EXPANSIONS else self.text(child))
            position = last
        parts.append(literal(self.script, position, end, escaped=escaped))
        return concat(parts)

    def _brought_in(self, node: Node) -> Text:
        """An expansion's pieces, which stand where the expansion does."""
        where = at(self.script, node)
        return tuple(piece if piece.used else replace(piece, used=where) for piece in self.text(node))

    # -- variables

    def look(self, name: str, where: Location) -> Text:
        """The value of a variable by its name."""
        if name.isdigit():
            return self._positional(int(name), where)
        variable = self.state.variables.get(name)
        if variable is None:
            if name == "PWD" and self.state.folder:
                return self.state.folder
            if name in _OWN:
                return unknown("", where, varies=_OWN[name], name=name)
            return unknown(f"`${name}` is not set in this file", where, name=name)
        text = variable.text if variable.items is None else (variable.items[0].text if variable.items else ())
        drawn = None if variable.given else variable.at
        return tuple(
            replace(piece, drawn=piece.drawn or drawn, name=piece.name or (name if piece.text is None else ""))
            for piece in text
        )

    def _positional(self, index: int, where: Location) -> Text:
        if index == 0:
            return unknown("`$0` is the name of the script", where, name="0")
        if self.state.args is None:
            return unknown(f"`${index}` is given by whoever starts the launcher", where, name=str(index))
        return self.state.args[index - 1].text if index <= len(self.state.args) else ()

    def expansion(self, node: Node) -> Text:
        """`$x`, `${x}` and `${x<operator>…}` as one text."""
        written = text_of(self.script, node)
        where = at(self.script, node)
        match = _INNER.fullmatch(written)
        if match is None:
            name = written.removeprefix("$")
            if name in ("@", "*"):
                return _spaced(self.state.args, where)
            if name == "#":
                return (
                    fixed(str(len(self.state.args)), where)
                    if self.state.args is not None
                    else unknown("", where, name="#")
                )
            return self.look(name, where)
        name, rest = match["name"], match["rest"]
        if match["mark"] == "#":
            return self._length(name, match["index"], where)
        if match["mark"] == "!":
            return unknown(f"`{written}` names a variable by another", where)
        if name in ("@", "*"):
            return _spaced(self.state.args, where)
        value = self._element(node, name, match["index"], where) if match["index"] else self.look(name, where)
        return self._operated(node, name, value, rest, where) if rest else value

    def _length(self, name: str, index: str | None, where: Location) -> Text:
        variable = self.state.variables.get(name)
        if index and variable is not None and variable.items is not None:
            return fixed(str(len(variable.items)), where)
        value = known(self.look(name, where))
        return (
            fixed(str(len(value)), where)
            if value is not None
            else unknown(f"the length of `{name}` is not known", where)
        )

    def _element(self, node: Node, name: str, index: str, where: Location) -> Text:
        items = self._array(name)
        if index in ("[@]", "[*]"):
            return _spaced(items, where)
        subscript = next((child for child in node.children if child.type == "subscript"), None)
        place = subscript.child_by_field_name("index") if subscript is not None else None
        number = arithmetic(self.script, place, self.look) if place is not None else None
        if isinstance(number, Variation):
            by = f"`{name}[{index[1:-1].replace('$', '').strip('{}')}]`"
            return unknown("", where, varies=Variation("list", by), name=name)
        if isinstance(number, int) and items is not None and -len(items) <= number < len(items):
            variable = self.state.variables[name]
            return tuple(piece if piece.drawn else replace(piece, drawn=variable.at) for piece in items[number].text)
        return unknown(f"`{text_of(self.script, node)}` is not known", where, name=name)

    def _array(self, name: str) -> tuple[Arg, ...] | None:
        variable = self.state.variables.get(name)
        return variable.items if variable is not None else None

    def _operated(self, node: Node, name: str, value: Text, rest: str, where: Location) -> Text:
        """`${x:-default}` and its kin."""
        variable = self.state.variables.get(name)
        absent = variable is None and not name.isdigit() and name not in _OWN
        if name.isdigit():
            absent = self.state.args is None or int(name) > len(self.state.args)
        empty = known(value) == ""
        sign = rest[:2] if rest[:1] == ":" and rest[1:2] in "-=?+" else rest[:1]
        if sign in (":-", "-", ":=", "="):
            if absent or (empty and sign[0] == ":"):
                default = self._behind(node, len(rest) - len(sign))
                open_ = absent and not (self.state.args is not None and name.isdigit())
                if open_ and not default:
                    return unknown(f"`${name}` comes from outside, if at all", where, name=name)
                return tuple(replace(piece, defaulted=piece.defaulted or open_) for piece in default)
            return value
        if sign in (":?", "?"):
            return value
        if sign in (":+", "+"):
            return (
                ()
                if (absent and name not in self.state.variables and not name.isdigit()) or empty
                else self._behind(node, len(rest) - len(sign))
            )
        return _trimmed(value, rest, where, name)

    def _behind(self, node: Node, size: int) -> Text:
        """The text behind an operator, expanded: `size` characters before the closing brace."""
        _, end = span(self.script, node)
        start = end - 1 - size
        inner = [child for child in node.children if child.is_named and span(self.script, child)[0] >= start]
        if len(inner) == 1 and span(self.script, inner[0]) == (start, end - 1):
            return self.text(inner[0])
        parts: list[Text] = []
        position = start
        for child in inner:
            first, last = span(self.script, child)
            parts += [literal(self.script, position, first, escaped=None), self.text(child)]
            position = last
        parts.append(literal(self.script, position, end - 1, escaped=None))
        return concat(parts)

    # -- several words at once

    def _items(self, node: Node) -> list[Arg] | None:
        """The words of `"$@"`, `"${a[@]}"` and their unquoted forms; None for any other word."""
        inner = node
        if node.type == "string":
            parts = [child for child in node.children if child.is_named]
            if len(parts) != 1 or text_of(self.script, node) != f'"{text_of(self.script, parts[0])}"':
                return None
            inner = parts[0]
        if inner.type not in ("simple_expansion", "expansion"):
            return None
        written = text_of(self.script, inner)
        if written in ("$@", "$*", "${@}", "${*}"):
            return list(self.state.args) if self.state.args is not None else [self._rest(node)]
        match = _INNER.fullmatch(written)
        if match is None:
            return None
        if match["name"] in ("@", "*") and not match["mark"]:
            return list(self.state.args) if self.state.args is not None else [self._rest(node)]
        if match["index"] in ("[@]", "[*]") and match["mark"] != "#":
            items = self._array(match["name"])
            where = at(self.script, node)
            if match["mark"] == "!" or (items is None and match["name"] not in self.state.variables):
                return [Arg(unknown(f"`{written}` is not set in this file", where, name=match["name"]), where)]
            return list(items) if items is not None else [Arg(self.look(match["name"], where), where)]
        return None

    def _rest(self, node: Node) -> Arg:
        where = at(self.script, node)
        return Arg(unknown("the arguments are given by whoever starts the launcher", where, name="@"), where)

    def assigned(self, node: Node) -> Var:
        """What an assignment gives a variable."""
        value = node.child_by_field_name("value")
        where = at(self.script, node)
        if value is None:
            return Var(where)
        if value.type == "array":
            items = [
                arg
                for child in value.children
                if child.is_named and child.type != "comment"
                for arg in self.args(child)
            ]
            return Var(where, items=tuple(items))
        return Var(where, self.text(value))


def _has_unquoted(node: Node) -> bool:
    """Whether a word has an expansion outside quotes, which is split."""
    if node.type in _EXPANSIONS:
        return True
    return node.type == "concatenation" and any(child.type in _EXPANSIONS for child in node.children)


def _own_place(text: Text, where: Location) -> Location:
    """A word that came out of a variable stands where it is written, if it is written somewhere as it is."""
    exact = [piece for piece in text if piece.exact]
    if not exact or len(exact) != len(text):
        return where
    from ..texts import place

    return place(text, where)


def _spaced(items: tuple[Arg, ...] | None, where: Location) -> Text:
    if items is None:
        return unknown("the arguments are given by whoever starts the launcher", where, name="@")
    return concat(_between(items, where))


def _between(items: tuple[Arg, ...], where: Location) -> Iterator[Text]:
    for index, item in enumerate(items):
        if index:
            yield fixed(" ", where)
        yield item.text


def _trimmed(value: Text, rest: str, where: Location, name: str) -> Text:
    """`${x%pattern}`, `${x#pattern}`, `${x^^}`, `${x:1:2}` and `${x/a/b}`, where all of it is known."""
    text = known(value)
    result: str | None = None
    if text is not None:
        if match := re.fullmatch(r"(%%?|##?)([^$`]*)", rest):
            result = _cut_pattern(text, match[1], match[2])
        elif match := re.fullmatch(r":(\d+)(?::(\d+))?", rest):
            begin = int(match[1])
            result = text[begin : begin + int(match[2])] if match[2] else text[begin:]
        elif rest in ("^^", ",,"):
            result = text.upper() if rest == "^^" else text.lower()
        elif match := re.fullmatch(r"(//?)([^/$`*?\[]+)/([^/$`]*)", rest):
            result = text.replace(match[2], match[3], -1 if match[1] == "//" else 1)
    if result is not None:
        drawn = next((piece.drawn for piece in value if piece.drawn), None)
        return (Piece(result, where, defaulted=any(piece.defaulted for piece in value), drawn=drawn),)
    return unknown(f"`${{{name}{rest}}}` cannot be computed here", where, varies=varying(value), name=name)


def _cut_pattern(text: str, sign: str, pattern: str) -> str:
    ends = range(len(text) + 1)
    if sign[0] == "%":
        order = ends if sign == "%%" else reversed(ends)
        return next((text[:end] for end in order if fnmatch.fnmatchcase(text[end:], pattern)), text)
    order = reversed(ends) if sign == "##" else ends
    return next((text[end:] for end in order if fnmatch.fnmatchcase(text[:end], pattern)), text)
