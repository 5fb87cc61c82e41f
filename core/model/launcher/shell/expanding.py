"""Words of a shell expanded: quotes, variables, arrays and arithmetic; what cannot be known says why."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from ....findings import Location
from ..texts import Arg, Piece, Script, Text, concat, cut, fixed, flat, place, split, unknown
from .state import State, Var
from .tree import at, literal, span, text_of
from .variables import Variables

if TYPE_CHECKING:
    from tree_sitter import Node

EXPANSIONS = ("simple_expansion", "expansion", "command_substitution", "arithmetic_expansion", "process_substitution")
_QUOTED = ("string", "raw_string", "ansi_c_string", "translated_string")
_BRACES = re.compile(r"(?P<before>[^{}]*)\{(?P<inside>[^{}]*)\}(?P<after>[^{}]*)")
_RANGE = re.compile(r"(-?\d+)\.\.(-?\d+)(?:\.\.(\d+))?")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b"}
_MISSED = re.compile(r"(?<!\\)(?:\\\\)*(\$([A-Za-z_]\w*|\d))")
_MAX_WORDS = 2000
_MAX_LENGTH = 200_000
_MAX_PIECES = 5_000

#: Runs a command substitution and says what it prints.
Substitute = Callable[[Script, "Node", State], Text]


class Expander(Variables):
    """Expands the words of one script in one state."""

    def __init__(self, script: Script, state: State, substitute: Substitute) -> None:
        self.script, self.state, self._substitute = script, state, substitute

    # -- words

    def args(self, node: Node) -> list[Arg]:
        """The words that one argument becomes: arrays give several, an unquoted value is split at blanks."""
        several = self.several(node)
        if several is not None:
            return several[:_MAX_WORDS]
        where = at(self.script, node)
        text = self.text(node)
        if node.type in _QUOTED:
            return [Arg(text, _own_place(text, where))]
        braces = self._braces(node, text, where)
        if braces is not None:
            return braces
        if not _has_unquoted(node):
            return [Arg(text, _own_place(text, where))]
        words = list(split(text))[:_MAX_WORDS]
        if len(words) == 1:
            return [Arg(words[0], _own_place(words[0], where))]
        return [Arg(each, place(each, where) if all(piece.exact for piece in each) else where) for each in words]

    def _braces(self, node: Node, text: Text, where: Location) -> list[Arg] | None:
        """`a{1..3}` and `{x,y}` without quotes and variables in them; None where there are none."""
        written = text_of(self.script, node)
        if "{" not in written or any(sign in written for sign in "$`'\"\\"):
            return None
        match = _BRACES.fullmatch(written)
        if match is None or flat(text) != written:
            return None
        begin, end = match.span("inside")
        numbers = _RANGE.fullmatch(match["inside"])
        inner: list[Text] = []
        if numbers is not None:
            first, last, step = int(numbers[1]), int(numbers[2]), int(numbers[3] or 1) or 1
            if abs(last - first) // step > _MAX_WORDS:
                return [Arg(unknown("too many words to be listed", where), where)]
            steps = range(first, last + 1, step) if first <= last else range(first, last - 1, -step)
            inner = [fixed(str(number), where) for number in steps]
        elif "," in match["inside"]:
            position = begin
            for part in match["inside"].split(","):
                inner.append(cut(text, position, position + len(part)))
                position += len(part) + 1
        else:
            return None
        return [Arg(cut(text, 0, begin - 1) + each + cut(text, end + 1), where) for each in inner]

    def text(self, node: Node) -> Text:
        """The value of a word as one text."""
        text = self._text(node)
        if len(text) > _MAX_PIECES or (len(text) > 1 and sum(len(each.text or "") for each in text) > _MAX_LENGTH):
            return unknown("it is too long to be followed", at(self.script, node))
        return text

    def _text(self, node: Node) -> Text:
        kind = node.type
        start, end = span(self.script, node)
        if kind == "string":
            return self.region(node, start + 1, end - 1, '$`"\\', quotes=False)
        if kind == "raw_string":
            return self.script.literal(start + 1, end - 1)
        if kind == "ansi_c_string":
            return self._ansi(start + 2, end - 1)
        if kind == "translated_string":
            return concat(self.text(child) for child in node.children if child.is_named)
        if kind == "heredoc_body":
            return self.region(node, start, end, "$`\\", quotes=False)
        if kind in ("simple_expansion", "expansion"):
            return self.expansion(node)
        if kind == "arithmetic_expansion" or (
            kind == "command_substitution" and text_of(self.script, node).startswith("$((")
        ):
            return self.compute(node).text(at(self.script, node), text_of(self.script, node))
        if kind == "command_substitution":
            return self._substitute(self.script, node, self.state)
        if kind == "process_substitution":
            self._substitute(self.script, node, self.state)
            return unknown("it is the name of a pipe", at(self.script, node))
        return self.region(node, start, end, None)

    def region(self, node: Node, start: int, end: int, escaped: str | None, *, quotes: bool = True) -> Text:
        """A stretch of a node with expansions and quoted parts in it; the tree leaves out some of what is between them."""
        whole = span(self.script, node) == (start, end)
        parts: list[Text] = []
        position = start
        for unit in self._units(node, start, end, quotes):
            first, last = span(self.script, unit)
            if first < position:
                continue
            parts.append(self._plain(position, first, escaped))
            inside = first > start or last < end or (whole and unit.type in _QUOTED)
            parts.append(self._brought_in(unit) if inside else self.text(unit))
            position = last
        parts.append(self._plain(position, end, escaped))
        return concat(parts)

    def _plain(self, start: int, end: int, escaped: str | None) -> Text:
        """A stretch without expansions of the tree's; a `$name` in it is one that the parser did not see."""
        text = self.script.text[start:end]
        if "$" not in text:
            return literal(self.script, start, end, escaped=escaped)
        parts: list[Text] = []
        position = 0
        for match in _MISSED.finditer(text):
            parts.append(literal(self.script, start + position, start + match.start(1), escaped=escaped))
            where = self.script.at(start + match.start(1), start + match.end())
            found = self.look(match[2], where)
            parts.append(tuple(piece if piece.used else replace(piece, used=where) for piece in found))
            position = match.end()
        parts.append(literal(self.script, start + position, end, escaped=escaped))
        return concat(parts)

    def args_of(self, node: Node, children: list[Node]) -> list[Arg]:
        """The words of a command's parts, which the parser may have cut in the middle of a word."""
        words: list[Arg] = []
        index = 0
        while index < len(children):
            last = index
            while last + 1 < len(children) and children[last].end_byte == children[last + 1].start_byte:
                last += 1
            if last == index:
                words += self.args(children[index])
            else:
                start, end = span(self.script, children[index])[0], span(self.script, children[last])[1]
                words.append(Arg(self.region(node, start, end, None), self.script.at(start, end)))
            index = last + 1
        return words

    def _units(self, node: Node, start: int, end: int, quotes: bool) -> Iterator[Node]:
        """The expansions and quoted parts in a stretch, from left to right, not those inside others."""
        waiting = list(reversed(node.children))
        while waiting:
            child = waiting.pop()
            first, last = span(self.script, child)
            if last <= start or first >= end or not child.is_named:
                continue
            if (child.type in EXPANSIONS or (quotes and child.type in _QUOTED)) and first >= start and last <= end:
                yield child
            else:
                waiting += reversed(child.children)

    def _brought_in(self, node: Node) -> Text:
        """An expansion's pieces, which stand where the expansion does; parts of a command keep their own places."""
        where = at(self.script, node)
        text = self.text(node)
        begin, _ = span(self.script, node)
        alone = begin == 0 or self.script.text[begin - 1].isspace()  # it begins a word of a script in a text
        if node.type in EXPANSIONS and re.search(r"\s|=" if alone else r"\s", flat(text)):
            return text
        quoted = node.type not in EXPANSIONS
        return tuple(piece if quoted and _within(piece, where) else replace(piece, used=where) for piece in text)

    def _ansi(self, start: int, end: int) -> Text:
        """`$'…'`: backslashes are read."""
        parts: list[Text] = []
        text = self.script.text[start:end]
        position = 0
        for match in re.finditer(r"\\(.)", text, re.S):
            if match.start() < position:
                continue
            parts.append(self.script.literal(start + position, start + match.start()))
            where = self.script.at(start + match.start(), start + match.end())
            parts.append(fixed(_ESCAPES.get(match[1], match[1]), where))
            position = match.end()
        parts.append(self.script.literal(start + position, end))
        return concat(parts)

    # -- assignments

    def assigned(self, node: Node, *, keyed: bool = False) -> Var:
        """What an assignment gives a variable; `keyed` for an associative array."""
        value = node.child_by_field_name("value")
        where = at(self.script, node)
        if value is None:
            return Var(where)
        if value.type != "array":
            return Var(where, self.text(value))
        items: list[Arg] = []
        keys: list[str] = []
        for arg in self.args_of(
            value, [child for child in value.children if child.is_named and child.type != "comment"]
        ):
            match = re.match(r"\[([^\]]*)\]=", flat(arg.text))
            if match is not None:
                keys.append(match[1].strip("\"'"))
                arg = Arg(cut(arg.text, match.end()), arg.at)
            items.append(arg)
        if keyed and len(keys) == len(items):
            return Var(where, items=tuple(items), keys=tuple(keys))
        if keys and keys != [str(index) for index in range(len(items))]:
            return Var(where, unknown("the array's elements are set one by one", where))
        return Var(where, items=tuple(items))


def _within(piece: Piece, where: Location) -> bool:
    """Whether a piece stands in a place as it is, or already has its own place there."""
    at = piece.used or piece.at
    own = piece.exact or piece.used is not None
    return own and at.source is where.source and where.span.start <= at.span.start and at.span.end <= where.span.end


def _has_unquoted(node: Node) -> bool:
    """Whether a word has an expansion outside quotes, which is split."""
    if node.type in EXPANSIONS:
        return True
    return node.type in ("concatenation", "command_name") and any(_has_unquoted(child) for child in node.children)


def _own_place(text: Text, where: Location) -> Location:
    """A word that came whole out of a variable stands where it is written, if it is an option or an override."""
    if not text or not text[0].exact or text[0].used is not None or "=" not in (text[0].text or ""):
        return where
    own = place(text, where)
    inside = own.source is where.source and where.span.start <= own.span.start and own.span.end <= where.span.end
    return where if inside else own
