"""Branches of a shell script: those that run for sure, and all that may."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ....findings import Location
from ..around import Around
from ..facts import Variation
from ..texts import Script, known, unknown, varying
from .conditions import DOUBT, SUCCEEDS, Doubt, Truth, both, condition, either, matches, opposite, test_words, truth_of
from .expanding import Expander
from .state import State, merge
from .tree import first_line, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

Body = Callable[[State], None]


class Stop(Exception):
    """The script ends here."""


class Leave(Stop):
    """A function or a loop ends here: `return`, `break`, `continue`."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


class Control:
    """The part of a shell that decides what runs; the statements themselves are the subclass's."""

    def _all(self, script: Script, nodes: list[Node], state: State, around: Around | None) -> None:
        raise NotImplementedError

    def _one(self, script: Script, node: Node, state: State, around: Around | None) -> None:
        raise NotImplementedError

    def _expander(self, script: Script, state: State) -> Expander:
        raise NotImplementedError

    def _test(self, script: Script, node: Node, state: State, around: Around | None) -> Truth:
        """Carry out a statement once, and say whether it succeeds, where that is known."""
        kind = node.type
        expander = self._expander(script, state)
        if kind == "compound_statement" and text_of(script, node).startswith("(("):
            return truth_of(expander.compute(node))
        if kind == "test_command":
            return condition(script, node, expander.text, expander.compute)
        if kind == "negated_command":
            return opposite(self._test(script, node.children[-1], state, around))
        if kind == "list":
            return self._list(script, node, state, around)
        if kind == "command":
            written = text_of(script, node)
            if written in ("true", ":", "false"):
                return written != "false"
            if written.startswith("test "):
                inner = [child for child in node.children if child.is_named]
                return test_words([expander.text(child) for child in inner[1:]])
        if kind == "variable_assignment":
            self._one(script, node, state, around)
            return "$(" not in text_of(script, node) or SUCCEEDS
        self._one(script, node, state, around)
        if kind == "command" and text_of(script, node).startswith("getopts"):
            return Doubt(caller=True)
        return SUCCEEDS

    def _list(self, script: Script, node: Node, state: State, around: Around | None) -> Truth:
        """`a && b || c`: what stands behind a sign runs unless what comes before says for sure that it does not."""
        rest: list[tuple[str, Node]] = []
        where = first_line(script, node)
        while node.type == "list":
            inner = [child for child in node.children if child.is_named and child.type != "comment"]
            if len(inner) != 2:
                self._all(script, inner, state, around)
                return DOUBT
            rest.append((next((child.type for child in node.children if child.type in ("&&", "||")), "&&"), inner[1]))
            node = inner[0]
        truth = self._test(script, node, state, around)
        for sign, each in reversed(rest):
            truth = self._joined(script, truth, sign, each, state, around, where)
        return truth

    def _joined(
        self,
        script: Script,
        left: Truth,
        sign: str,
        node: Node,
        state: State,
        around: Around | None,
        where: Location,
    ) -> Truth:
        """What stands behind `&&` or `||`, once what comes before it is known."""
        if isinstance(left, bool):
            return left if left is (sign == "||") else self._test(script, node, state, around)
        if sign == "&&" and isinstance(left, Doubt) and left.succeeds:
            return self._test(script, node, state, around)  # `cd x && train`
        right: list[Truth] = [DOUBT]

        def run(branch: State) -> None:
            right[0] = self._test(script, node, branch, around)

        self._branches([run, _nothing], left, state, where)
        return both(left, right[0]) if sign == "&&" else either(left, right[0])

    def _if(self, script: Script, node: Node, state: State, around: Around | None) -> None:
        test: Node | None = None
        then: list[Node] = []
        clauses: list[Node] = []
        for index, child in enumerate(node.children):
            if child.type in ("elif_clause", "else_clause"):
                clauses.append(child)
            elif child.is_named and node.field_name_for_child(index) == "condition":
                if test is not None:
                    self._one(script, test, state, around)
                test = child
            elif child.is_named:
                then.append(child)
        self._choose(script, test, then, clauses, state, around, first_line(script, node))

    def _choose(
        self,
        script: Script,
        test: Node | None,
        then: list[Node],
        clauses: list[Node],
        state: State,
        around: Around | None,
        where: Location,
    ) -> None:
        """A condition with what follows if it holds, and the clauses that follow if it does not."""
        truth = self._test(script, test, state, around) if test is not None else DOUBT
        if truth is True:
            self._all(script, then, state, around)
        elif truth is False:
            self._clauses(script, clauses, state, around)
        else:
            bodies: list[Body] = [
                lambda branch: self._all(script, then, branch, around),
                lambda branch: self._clauses(script, clauses, branch, around),
            ]
            self._branches(bodies, truth, state, where)

    def _clauses(self, script: Script, clauses: list[Node], state: State, around: Around | None) -> None:
        """`elif` and `else`."""
        if not clauses:
            return
        inner = [child for child in clauses[0].children if child.is_named]
        if clauses[0].type == "else_clause":
            self._all(script, inner, state, around)
        elif inner:
            self._choose(script, inner[0], inner[1:], clauses[1:], state, around, first_line(script, clauses[0]))

    def _branches(self, bodies: list[Body], why: Variation | Doubt, state: State, where: Location) -> None:
        """Branches of a condition that is not known, or another in each chunk: all of them are walked."""
        ends: list[State] = []
        stopped: Stop | None = None
        for body in bodies:
            branch = state.copy()
            branch.conditions = (*state.conditions, (why if isinstance(why, Variation) else None, where))
            if state.printed is not None:
                branch.printed = []
            try:
                body(branch)
            except Stop as stop:
                stopped = stop
                continue  # a branch that leaves has nothing to say about what follows
            branch.conditions = state.conditions
            ends.append(branch)
        if not ends:
            raise stopped or Stop
        self._printed_by(ends, why, state, where)
        merge(state, ends, why, where)

    @staticmethod
    def _printed_by(ends: list[State], why: Variation | Doubt, state: State, where: Location) -> None:
        """What branches print, where something takes it."""
        if state.printed is None:
            return
        outputs = [tuple(piece for text in end.printed or () for piece in text) for end in ends]
        texts = {known(text) for text in outputs}
        if len(texts) == 1 and None not in texts:
            state.printed.append(outputs[0])
            return
        varies = why if isinstance(why, Variation) else next(filter(None, map(varying, outputs)), None)
        state.printed.append(unknown("what is printed depends on what only a run shows", where, varies=varies))

    def _case(self, script: Script, node: Node, state: State, around: Around | None) -> None:
        """The items whose pattern may match."""
        value_node = node.child_by_field_name("value")
        expander = self._expander(script, state)
        value = expander.text(value_node) if value_node is not None else ()
        text = known(value)
        bodies: list[Body] = []
        certain = False
        for item in (child for child in node.children if child.type == "case_item"):
            patterns = item.children_by_field_name("value")
            body = [child for child in item.children if child.is_named and child not in patterns]
            written = [known(expander.text(pattern)) for pattern in patterns]

            def run(branch: State, body: list[Node] = body) -> None:
                self._all(script, body, branch, around)

            if text is not None and any(each is not None and matches(text, each) for each in written):
                if not bodies:
                    return run(state)
                bodies.append(run)
                certain = True
                break
            if text is None or None in written:
                bodies.append(run)
            if "*" in written:
                certain = True
                break
        if not bodies:
            return None
        if not certain:
            bodies.append(_nothing)
        why = varying(value) or Doubt(any(piece.caller for piece in value))
        return self._branches(bodies, why, state, first_line(script, node))


def _nothing(state: State) -> None:
    """A branch in which nothing happens."""
