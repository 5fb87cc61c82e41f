"""Loops of a shell script: turned as often as they turn where that is known, else walked as any of their turns."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from ....findings import Location
from ..around import Around
from ..facts import Variation
from ..recording import Recorder
from ..texts import Arg, Piece, Script, known, unknown, varying
from .conditions import Doubt, Truth, truth_of
from .control import Control, Leave, Stop
from .parameters import rest
from .state import State, Var, changed, merge
from .tree import counted_header, first_line, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_MAX_TURNS = 100


class Loops(Control):
    """The part of a shell that repeats."""

    recorder: Recorder

    def _loop(self, script: Script, node: Node, state: State, around: Around | None) -> None:
        body = node.child_by_field_name("body")
        if body is None:
            return
        inner = [child for child in body.children if child.is_named]

        def turn(branch: State) -> None:
            self._all(script, inner, branch, around)

        where = first_line(script, node)
        if node.type == "while_statement":
            self._while(script, node, turn, state, around, where)
        elif node.type == "c_style_for_statement":
            self._counted(script, node, turn, state, where)
        else:
            self._for(script, node, turn, state, where)

    # -- for x in …

    def _for(self, script: Script, node: Node, turn: Callable[[State], None], state: State, where: Location) -> None:
        variable = node.child_by_field_name("variable")
        if variable is None:
            return
        name = text_of(script, variable)
        expander = self._expander(script, state)
        if any(child.type == "in" or text_of(script, child) == "in" for child in node.children):
            words = [arg for child in node.children_by_field_name("value") for arg in expander.args(child)]
        else:
            words = list(state.args) if state.args is not None else [Arg(rest(where), where)]
        listed = all(known(arg.text) is not None for arg in words)
        if not words:
            return
        if len(words) == 1 and listed:
            state.variables[name] = Var(where, words[0].text)
            _once(turn, state)
            return
        if node.children and node.children[0].type == "select":
            state.variables[name] = Var(where, unknown(f"`{name}` is chosen by hand", where, name=name, caller=True))
            _once(turn, state)
            return
        varies = _variation(name, words, where)
        moving = Var(where, (Piece(None, where, varies=varies, drawn=where, name=name),))
        starts = self._starts(_with(turn, name, moving), state, "for")
        if not starts and listed and len(words) <= _MAX_TURNS:
            loops, state.loops = state.loops, (*state.loops, "for")
            for arg in words:
                state.variables[name] = Var(where, arg.text)
                if not _once(turn, state):
                    break
            state.loops = loops
            return
        self._any_turn(_with(turn, name, moving), state, where, "for")

    # -- for ((…;…;…))

    def _counted(
        self, script: Script, node: Node, turn: Callable[[State], None], state: State, where: Location
    ) -> None:
        first, test, step = counted_header(script, node)
        self._expander(script, state).compute(node, first)

        def holds(branch: State) -> Truth:
            expander = self._expander(script, branch)
            return truth_of(expander.compute(node, test)) if test[0] < test[1] else True

        def whole(branch: State) -> None:
            _once(turn, branch)
            self._expander(script, branch).compute(node, step)

        if holds(state) is False:
            return
        if not self._starts(whole, state, "for") and self._turned(turn, whole, holds, state):
            return
        self._any_turn(whole, state, where, "for")

    def _turned(
        self,
        turn: Callable[[State], None],
        whole: Callable[[State], None],
        holds: Callable[[State], Truth],
        state: State,
    ) -> bool:
        """Turn a loop until its condition fails; False (and nothing done) where that does not come, or is not known."""
        trial = state.copy()
        trial.loops = (*state.loops, "for")
        mark = self.recorder.point()
        for _ in range(_MAX_TURNS):
            truth = holds(trial)
            if truth is False:
                _take(state, trial)
                return True
            if truth is not True:
                break
            try:
                whole(trial)
            except Leave as leave:
                if leave.kind != "break":
                    raise
                _take(state, trial)
                return True
        self.recorder.undo(mark)
        return False

    # -- while, until

    def _while(
        self,
        script: Script,
        node: Node,
        turn: Callable[[State], None],
        state: State,
        around: Around | None,
        where: Location,
    ) -> None:
        test = node.child_by_field_name("condition")
        until = bool(node.children) and node.children[0].type == "until"
        if test is None:
            return

        def holds(branch: State) -> Truth:
            truth = self._test(script, test, branch, around)
            return (not truth) if until and isinstance(truth, bool) else truth

        mark = self.recorder.point()
        probe = state.copy()
        first = holds(probe)
        self.recorder.undo(mark)
        if first is False:
            holds(state)
            return
        if isinstance(first, Doubt) and first.caller:
            self._options(turn, holds, state, where)
            return

        def whole(branch: State) -> None:
            holds(branch)
            _once(turn, branch)

        if first is True and not self._starts(whole, state, "while"):
            if self._turned(turn, lambda branch: _raising(turn, branch), holds, state):
                return
        self._any_turn(whole, state, where, "while")

    def _options(
        self, turn: Callable[[State], None], holds: Callable[[State], Truth], state: State, where: Location
    ) -> None:
        """A loop over the caller's arguments: without any, everything stays as it is."""
        branch = state.copy()
        holds(branch)
        try:
            _once(turn, branch)
        except Stop:
            return
        branch.args = state.args
        merge(state, [state.copy(), branch], Doubt(caller=True), where)

    # -- any turn

    def _starts(self, turn: Callable[[State], None], state: State, kind: str) -> bool:
        """Whether a turn starts a training or submits a job: then the turns are chunks."""
        mark = self.recorder.point()
        probe = _inside(state.copy(), kind)
        with contextlib.suppress(Stop):
            _once(turn, probe)
        started = self.recorder.started_since(mark)
        self.recorder.undo(mark)
        return started

    def _any_turn(self, turn: Callable[[State], None], state: State, where: Location, kind: str) -> None:
        """Walk a loop once, with everything that its turns change as another in each."""
        mark = self.recorder.point()
        probe = _inside(state.copy(), kind)
        with contextlib.suppress(Stop):
            _once(turn, probe)
        self.recorder.undo(mark)
        before = state.copy()
        for name in changed(before.variables, probe.variables):
            pair = [_only(before, name), _only(probe, name)]
            joined = State({name: before.variables[name]})
            merge(joined, pair, _turns(name, before.variables[name], probe.variables[name]), where)
            state.variables[name] = joined.variables[name]
        loops, printed = state.loops, state.printed
        _inside(state, kind)
        try:
            _once(turn, state)
        finally:
            state.loops = loops
            if printed is not None:
                lines = list(state.printed or [])
                state.printed = printed
                if lines:
                    varies = next(filter(None, map(varying, lines)), None)
                    printed.append(unknown("each turn of a loop prints something", where, varies=varies))


def _variation(name: str, words: list[Arg], where: Location) -> Variation:
    values = [value for arg in words if (value := known(arg.text)) is not None]
    listed = ", ".join(values)
    if len(values) == len(words) and len(listed) <= 40:
        return Variation("list", f"the loop over {listed}", where)
    return Variation("loop", f"the loop's variable `{name}`", where)


def _turns(name: str, before: Var, after: Var) -> Variation:
    """What to call a variable that the turns of a loop change."""
    numbers = all(re.fullmatch(r"-?\d+", known(each.text) or "") for each in (before, after))
    return Variation(
        "loop", f"the loop's counter `{name}`" if numbers else f"`${name}`, which each turn of the loop sets"
    )


def _only(state: State, name: str) -> State:
    return State({name: state.variables[name]})


def _with(turn: Callable[[State], None], name: str, value: Var) -> Callable[[State], None]:
    def run(state: State) -> None:
        state.variables[name] = value
        turn(state)

    return run


def _inside(state: State, kind: str) -> State:
    state.loops = (*state.loops, kind)
    if state.printed is not None:
        state.printed = []
    return state


def _once(turn: Callable[[State], None], state: State) -> bool:
    """One turn; False where it breaks the loop."""
    try:
        turn(state)
    except Leave as leave:
        if leave.kind == "return":
            raise
        return leave.kind != "break"
    return True


def _raising(turn: Callable[[State], None], state: State) -> None:
    """One turn that lets a `break` through."""
    try:
        turn(state)
    except Leave as leave:
        if leave.kind != "continue":
            raise


def _take(state: State, other: State) -> None:
    """Go on with what another state has come to."""
    for name in ("variables", "functions", "args", "folder", "python", "open_files", "files"):
        setattr(state, name, getattr(other, name))
