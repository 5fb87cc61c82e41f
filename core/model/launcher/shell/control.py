"""Branches and loops of a shell script: the ones that run for sure, and all that may."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ....findings import Location
from ..commands import Around
from ..facts import Variation
from ..texts import Arg, Piece, Script, known, unknown, varying
from .arithmetic import arithmetic, certain, condition
from .expanding import Expander
from .state import State, Var, merge
from .tree import first_line, text_of

if TYPE_CHECKING:
    from tree_sitter import Node


class Stop(Exception):
    """The script ends here."""


class Control:
    """The part of a shell that decides what runs; the statements themselves are the subclass's."""

    def _all(self, script: Script, nodes: list[Node], state: State, around: Around | None) -> None:
        raise NotImplementedError

    def _one(self, script: Script, node: Node, state: State, around: Around | None) -> None:
        raise NotImplementedError

    def _expander(self, script: Script, state: State) -> Expander:
        raise NotImplementedError

    def _list(self, script: Script, node: Node, state: State, around: Around | None) -> None:
        """`a && b`, `a || b`: the right side runs unless the left says for sure that it does not."""
        inner = [child for child in node.children if child.is_named]
        sign = next((child.type for child in node.children if child.type in ("&&", "||")), "&&")
        if len(inner) != 2:
            return self._all(script, inner, state, around)
        holds = self._holds(script, inner[0], state)
        self._one(script, inner[0], state, around)
        if holds is (sign == "||"):
            return None
        plain = inner[1].type == "command" and text_of(script, inner[1]).split(None, 1)[0] in (
            "exit",
            "return",
            "continue",
            "break",
        )
        if plain:
            return None
        if isinstance(holds, Variation):
            return self._branches(script, [([inner[1]], holds), ([], holds)], state, around, first_line(script, node))
        self._one(script, inner[1], state, around)
        return None

    def _holds(self, script: Script, node: Node, state: State) -> bool | Variation | None:
        """Whether a condition holds, where that is known."""
        if node.type == "list":
            inner = [child for child in node.children if child.is_named]
            sign = next((child.type for child in node.children if child.type in ("&&", "||")), "&&")
            values = [self._holds(script, child, state) for child in inner]
            decisive = sign == "||"
            if any(value is decisive for value in values):
                return decisive
            if all(isinstance(value, bool) for value in values):
                return not decisive
            return next((value for value in values if isinstance(value, Variation)), None)
        expander = self._expander(script, state)
        if node.type == "compound_statement" and text_of(script, node).startswith("(("):
            value = arithmetic(script, node, certain(expander.look))
            return bool(value) if isinstance(value, int) else value
        if node.type == "command" and text_of(script, node) in ("true", "false", ":"):
            return text_of(script, node) != "false"
        if node.type in ("test_command", "negated_command"):
            return condition(script, node, expander.text, expander.look)
        return None

    def _if(self, script: Script, node: Node, state: State, around: Around | None) -> None:
        test = node.child_by_field_name("condition")
        then: list[Node] = []
        clauses: list[Node] = []
        for index, child in enumerate(node.children):
            if child.type in ("elif_clause", "else_clause"):
                clauses.append(child)
            elif child.is_named and node.field_name_for_child(index) != "condition":
                then.append(child)
        holds = self._holds(script, test, state) if test is not None else None
        if test is not None:
            self._one(script, test, state, around)
        where = first_line(script, node)
        if holds is True:
            return self._all(script, then, state, around)
        otherwise = clauses[:1]
        if holds is False:
            return self._clause(script, clauses, state, around)
        why = holds if isinstance(holds, Variation) else None
        branches: list[tuple[list[Node], Variation | None]] = [(then, why), (otherwise, why)]
        return self._branches(script, branches, state, around, where, rest=clauses)

    def _clause(self, script: Script, clauses: list[Node], state: State, around: Around | None) -> None:
        """The first `elif` that may hold, or the `else`."""
        for index, clause in enumerate(clauses):
            inner = [child for child in clause.children if child.is_named]
            if clause.type == "else_clause":
                return self._all(script, inner, state, around)
            holds = self._holds(script, inner[0], state) if inner else None
            if holds is True:
                return self._all(script, inner[1:], state, around)
            if holds is None or isinstance(holds, Variation):
                why = holds if isinstance(holds, Variation) else None
                return self._branches(
                    script,
                    [(inner[1:], why), ([], why)],
                    state,
                    around,
                    first_line(script, clause),
                    rest=clauses[index + 1 :],
                )
        return None

    def _branches(
        self,
        script: Script,
        branches: list[tuple[list[Node], Variation | None]],
        state: State,
        around: Around | None,
        where: Location,
        rest: list[Node] | None = None,
    ) -> None:
        """Branches of a condition that is not known, or another in each chunk: all of them are walked."""
        ends: list[State] = []
        for index, (nodes, why) in enumerate(branches):
            branch = state.copy()
            branch.conditions = (*state.conditions, (why, where))
            try:
                if index == 1 and rest:
                    self._clause(script, rest, branch, around)
                else:
                    self._all(script, nodes, branch, around)
            except Stop:
                continue  # a branch that exits leaves nothing behind
            branch.conditions = state.conditions
            ends.append(branch)
        if not ends:
            raise Stop
        merge(state, ends, branches[0][1], where)

    def _case(self, script: Script, node: Node, state: State, around: Around | None) -> None:
        """The items whose pattern may match; options of the script itself (`getopts`) are left at their defaults."""
        value_node = node.child_by_field_name("value")
        expander = self._expander(script, state)
        value = expander.text(value_node) if value_node is not None else ()
        text = known(value)
        items = [child for child in node.children if child.type == "case_item"]
        bodies: list[tuple[list[Node], Variation | None]] = []
        for item in items:
            patterns = [text_of(script, p).strip("\"'") for p in item.children_by_field_name("value")]
            body = [
                child for child in item.children if child.is_named and child not in item.children_by_field_name("value")
            ]
            if text is not None and any(pattern == text or pattern == "*" for pattern in patterns):
                return self._all(script, body, state, around)
            bodies.append((body, varying(value)))
        if text is None and not any(piece.name in _OPTIONS for piece in value):
            self._branches(script, [*bodies, ([], varying(value))], state, around, first_line(script, node))
        return None

    def _loop(self, script: Script, node: Node, state: State, around: Around | None) -> None:
        body = node.child_by_field_name("body")
        if body is None:
            return
        where = first_line(script, node)
        kind = "while" if node.type == "while_statement" else "for"
        condition_node = node.child_by_field_name("condition")
        if kind == "while" and condition_node is not None:
            if text_of(script, condition_node).startswith("getopts"):
                state = state.copy()  # flags of the script keep their defaults
                state.variables["OPTARG"] = Var(
                    where, unknown("an option's argument is given by the caller", where, name="OPTARG")
                )
            elif self._holds(script, condition_node, state) is False:
                return
        chunked = self._loop_variable(script, node, state, where) if kind == "for" else True
        for name in _counted(text_of(script, node)):
            varies = Variation("loop", f"the loop's counter `{name}`")
            state.variables[name] = Var(where, (Piece(None, where, varies=varies, drawn=where, name=name),))
        for name in _ASSIGNED.findall(text_of(script, body)):
            before = state.variables.get(name)
            if before is not None and before.items is None and known(before.text) == "":
                reason = f"`${name}` is left by the turn of the loop before"
                state.variables[name] = Var(where, unknown(reason, where, name=name))
        loops = state.loops
        if chunked:
            state.loops = (*loops, kind)
        self._all(script, [child for child in body.children if child.is_named], state, around)
        state.loops = loops

    def _loop_variable(self, script: Script, node: Node, state: State, where: Location) -> bool:
        """Give a `for` its variable; False where the loop runs once."""
        variable = node.child_by_field_name("variable")
        if variable is None:
            return True
        name = text_of(script, variable)
        expander = self._expander(script, state)
        words: list[Arg] = [arg for child in node.children_by_field_name("value") for arg in expander.args(child)]
        if (
            len(words) == 1
            and known(words[0].text) is not None
            and "$" not in text_of(script, node.children_by_field_name("value")[0])
        ):
            state.variables[name] = Var(where, words[0].text)
            return False
        values = ", ".join(filter(None, (known(arg.text) for arg in words)))
        by = f"the loop over {values}" if 0 < len(values) <= 40 else f"the loop's variable `{name}`"
        varies = Variation("list" if values else "loop", by)
        state.variables[name] = Var(where, (Piece(None, where, varies=varies, drawn=where, name=name),))
        return True


_ASSIGNED = re.compile(r"(?:^|[\s;])(\w+)=", re.M)
_LEAVING = ("exit", "return", "continue", "break")
#: Variables that hold what `getopts` found or what is left of the arguments.
_OPTIONS = frozenset({"OPTARG", "opt", "flag", "option", "o", "1", "key", "arg"})
_SELF = re.compile(
    r"(\w+)\s*\+\+|(\w+)\s*--(?!\w)|(\w+)\s*[-+*]=(?!=)|(\w+)=\$\(\([^)]*\b\4\b[^)]*\)\)|let\s+[\"']?(\w+)"
)


def _counted(text: str) -> set[str]:
    """The variables that a loop counts up or down."""
    return {name for match in _SELF.finditer(text) for name in match.groups() if name and not name.isdigit()}
