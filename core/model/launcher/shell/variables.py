"""Variables of a shell looked up: by name, by position, as elements of arrays, and in arithmetic."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from ....findings import Location
from ..facts import Variation
from ..texts import Arg, Piece, Text, concat, fixed, flat, known, unknown
from .arithmetic import Number, evaluate, number_of
from .parameters import EXPANSION, Operated, spaced
from .state import Var
from .tree import at, span, text_of

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


class Variables(Operated):
    """The part of an expander that looks up."""

    def text(self, node: Node) -> Text:
        """The value of a word as one text."""
        raise NotImplementedError

    # -- numbers

    def compute(self, node: Node, bounds: tuple[int, int] | None = None) -> Number:
        """The value of `((…))`, `$((…))` and `$[…]`, or of the stretch between these bounds."""
        start, end = bounds or span(self.script, node)
        if bounds is None:
            written = self.script.text[start:end]
            for opening, closing in (("$((", "))"), ("((", "))"), ("$[", "]")):
                if written.startswith(opening) and written.endswith(closing):
                    start, end = start + len(opening), end - len(closing)
                    break
        where = self.script.at(start, max(end, start + 1))
        return self.computed(self.region(node, start, end, None), where)

    def computed(self, text: Text, where: Location) -> Number:
        """The value of an expression whose expansions are done."""
        return evaluate(text, where, self.look, lambda name, value: self._assigned_number(name, value, where))

    def _assigned_number(self, name: str, value: Text, where: Location) -> None:
        self.state.set(name, Var(where, value))

    # -- variables

    def look(self, name: str, where: Location) -> Text:
        """The value of a variable by its name, or of an element (`A[1]`)."""
        if "[" in name:
            name, _, index = name.partition("[")
            number = self.computed(fixed(index.rstrip("]"), where), where)
            return self.element_at(name, index.rstrip("]"), number, where)
        if name.isdigit():
            return self._positional(int(name), where)
        variable = self.state.variables.get(name)
        if variable is None:
            return self._unset(name, where)
        text = variable.text if variable.items is None else (variable.items[0].text if variable.items else ())
        # A piece of a script that a variable holds is not drawn anywhere: it stands where it is written.
        drawn = None if variable.given or len(flat(text).split()) > 1 else variable.at
        return tuple(
            replace(piece, drawn=piece.drawn or drawn, name=piece.name or (name if piece.text is None else ""))
            for piece in text
        )

    def _unset(self, name: str, where: Location) -> Text:
        if name == "PWD" and self.state.folder:
            return self.state.folder
        if name in _OWN:
            return unknown("", where, varies=_OWN[name], name=name)
        if name == "BASH_SOURCE":
            return self._positional(0, where)
        if name == "#":
            args = self.state.args
            if args is not None:
                return fixed(str(len(args)), where)
            return unknown("the arguments are given by whoever starts the launcher", where, name="#", caller=True)
        if name in ("?", "!", "-", "_", "PPID", "HOSTNAME", "LINENO", "REPLY"):
            return unknown(f"`${name}` is only known when it runs", where, name=name)
        return unknown(f"`${name}` is not set in this file", where, name=name, caller=not name.startswith("SLURM_"))

    def _positional(self, index: int, where: Location) -> Text:
        if index == 0:
            return unknown("`$0` is the name of the script", where, name="0")
        if self.state.args is None:
            reason = f"`${index}` is given by whoever starts the launcher"
            return unknown(reason, where, name=str(index), caller=True)
        return self.state.args[index - 1].text if 0 < index <= len(self.state.args) else ()

    def expansion(self, node: Node) -> Text:
        """`$x`, `${x}` and `${x<operator>…}` as one text."""
        written = text_of(self.script, node)
        where = at(self.script, node)
        match = EXPANSION.fullmatch(written)
        if match is None:
            name = written.removeprefix("$").strip("{}")
            return spaced(self.state.args, where) if name in ("@", "*") else self.look(name, where)
        name, rest, index = match["name"], match["rest"], match["index"]
        if match["mark"] == "#":
            return self.length(name, index, where)
        if match["mark"] == "!":
            return self._indirect(node, written, where)
        if name in ("@", "*") or index in ("[@]", "[*]"):
            items = self.several(node)
            return concat(_joined(items, where)) if items is not None else unknown("", where, name=name)
        value = self._element(node, name, index, where) if index else self.look(name, where)
        return self.operated(node, name, index or "", value, rest, where) if rest else value

    def _indirect(self, node: Node, written: str, where: Location) -> Text:
        match = EXPANSION.fullmatch(written)
        items = self.several(node)
        if items is not None:
            return concat(_joined(items, where))
        name = known(self.look(match["name"], where)) if match is not None else None
        if name is not None and re.fullmatch(r"\w+", name) and match is not None and not match["rest"]:
            return self.look(name, where)
        return unknown(f"`{written}` names a variable by another", where)

    def _element(self, node: Node, name: str, index: str, where: Location) -> Text:
        subscript = next((child for child in node.children if child.type == "subscript"), None)
        inner = subscript.child_by_field_name("index") if subscript is not None else None
        variable = self.state.variables.get(name)
        if inner is None or name == "BASH_SOURCE":
            return self.look(name, where)
        if variable is not None and variable.keys is not None:
            return self._keyed(variable, name, self.text(inner), index, where)
        return self.element_at(name, index[1:-1], self.compute(inner, span(self.script, inner)), where)

    def _keyed(self, variable: Var, name: str, key: Text, index: str, where: Location) -> Text:
        text = known(key)
        if text is not None and variable.keys is not None and variable.items is not None:
            if text in variable.keys:
                return variable.items[variable.keys.index(text)].text
            return ()
        return self.element_at(name, index[1:-1], number_of(key), where)

    def element_at(self, name: str, index: str, number: Number, where: Location) -> Text:
        """An element of an array by its number, which may be another in each chunk."""
        variable = self.state.variables.get(name)
        items = variable.items if variable is not None else None
        if number.varies is not None:
            by = f"`{name}[{re.sub(r'[${}]', '', index)}]`"
            return unknown("", where, varies=Variation("list", by), name=name)
        if variable is not None and items is not None and number.value is not None:
            if -len(items) <= number.value < len(items):
                found = items[number.value].text
                return tuple(
                    replace(piece, drawn=piece.drawn or variable.at, defaulted=piece.defaulted or number.defaulted)
                    for piece in found
                )
            return ()
        return unknown(f"`{name}[{index}]` is not known", where, name=name, caller=variable is None)


def _joined(items: list[Arg], where: Location) -> Iterator[Text]:
    for index, item in enumerate(items):
        if index:
            yield (Piece(" ", where),)
        yield item.text
