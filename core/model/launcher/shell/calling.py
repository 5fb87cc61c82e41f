"""Commands of a shell script: its own functions, what is built into the shell, and what goes to the outside."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from ....findings import Location
from ..around import Around
from ..commands import Commands
from ..facts import EnvVar
from ..texts import Arg, Script, Text, flat, unknown, word
from .builtins import Call, carry_out, printf_to, switches_on
from .control import Leave, Stop
from .expanding import Expander
from .printing import drawn, printed, short
from .redirecting import Redirects
from .state import State, Var
from .tree import first_line, parse, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_MAX_DEPTH = 25
_STEPS_OF_A_PROGRAM = 4  #: what it costs to look at a program's arguments, beside a statement's one
_TRACKED = re.compile(r"AIS_|USE_AIS_|LHOTSE_|PL_GLOBAL_SEED$|PYTHONPATH$")


class Calls(Redirects):
    """The part of a shell that calls."""

    commands: Commands
    _depth: int
    _steps: int
    _state: State
    _name: str

    def _expander(self, script: Script, state: State) -> Expander:
        return Expander(script, state, self._substitute)

    def _load(self, name: str) -> Script | None:
        raise NotImplementedError

    def run(self, script: Script, state: State, around: Around | None = None) -> None:
        """Walk a script."""
        raise NotImplementedError

    # -- commands

    def _words(self, script: Script, node: Node, state: State) -> list[Arg]:
        """The words of a command, its name first."""
        expander = self._expander(script, state)
        parts = [
            child.children[0] if child.type == "command_name" and len(child.children) == 1 else child
            for child in node.children
            if child.is_named and child.type not in ("variable_assignment", "comment") and "redirect" not in child.type
        ]
        return expander.args_of(node, parts)

    def _command(self, script: Script, node: Node, state: State, around: Around | None, stdin: Text | None) -> None:
        expander = self._expander(script, state)
        for child in node.children:
            if child.type == "herestring_redirect":
                stdin = self._herestring(child, expander)
        words = self._words(script, node, state)
        assigned = {
            text_of(script, place): expander.assigned(child)
            for child in node.children
            if child.type == "variable_assignment" and (place := child.child_by_field_name("name")) is not None
        }
        if not words:
            for name, value in assigned.items():
                state.set(name, value)
            return
        name = words[0].known or ""
        while name in ("command", "builtin") and len(words) > 1 and not flat(words[1].text).startswith("-"):
            words = words[1:]
            name = words[0].known or ""
        where = first_line(script, node)
        if name in state.functions and self._depth < _MAX_DEPTH:
            self._call(name, words[1:], assigned, state, around)
            return
        call = Call(script, node, name, words[1:], state, stdin, where, expander, assigned, self.recorder)
        if name in ("source", "."):
            self._source(words[1:], state, around, where)
        elif name == "trap":
            self._trap(words[1:], state, around, where)
        elif not (printf_to(call) or carry_out(call)):
            self._outside(script, node, words, assigned, state, around, stdin, where)

    def _call(self, name: str, args: list[Arg], assigned: dict[str, Var], state: State, around: Around | None) -> None:
        function = state.functions[name]
        before, scopes = state.args, state.scopes
        state.args = tuple(args)
        hidden: dict[str, Var | None] = {}
        state.scopes = (*scopes, hidden)
        for each, value in assigned.items():
            state.hide(each)
            state.variables[each] = replace(value, exported=True)
        self._depth += 1
        try:
            self._one(function.script, function.body, state, around)
        except Leave as leave:
            if leave.kind != "return":
                raise
        finally:
            self._depth -= 1
            state.args, state.scopes = before, scopes
            for each, old in hidden.items():
                if old is None:
                    state.variables.pop(each, None)
                else:
                    state.variables[each] = old

    def _trap(self, args: list[Arg], state: State, around: Around | None, where: Location) -> None:
        """What a signal brings about may happen: a job that queues itself again does it so."""
        if len(args) < 2 or args[0].known in ("-", "", None) or self._depth >= _MAX_DEPTH:
            return
        script = Script(args[0].text)
        branch = state.copy()
        branch.conditions = (*state.conditions, (None, where))
        self._depth += 1
        try:
            self._all(script, parse(script).children, branch, around)
        except Stop:
            pass
        finally:
            self._depth -= 1

    def _source(self, args: list[Arg], state: State, around: Around | None, where: Location) -> None:
        if not args:
            return
        path = args[0].shown
        if switches_on(path):
            state.python = Arg(_spaced_args(args), args[0].at)
            return
        script = self._load(args[0].known) if args[0].known is not None else None
        if script is None:
            self.recorder.gap(where, f"the sourced file `{path}` is not here")
        elif self._depth < _MAX_DEPTH:
            before = state.args
            state.args = tuple(args[1:]) if len(args) > 1 else before
            self._depth += 1
            try:
                self._all(script, parse(script).children, state, around)
            except Leave as leave:
                if leave.kind != "return":
                    raise
            finally:
                self._depth -= 1
                state.args = before

    def _outside(
        self,
        script: Script,
        node: Node,
        words: list[Arg],
        assigned: dict[str, Var],
        state: State,
        around: Around | None,
        stdin: Text | None,
        where: Location,
    ) -> None:
        """A program: it sees what is exported, and what stands in front of it."""
        self._steps += _STEPS_OF_A_PROGRAM
        name = words[0].known or ""
        output = printed(name, words[1:], state, stdin, where)
        written = text_of(script, node)
        if node.parent is not None and node.parent.type == "redirected_statement":
            written = text_of(script, node.parent)  # `tr -dc 0-9 < /dev/urandom`
        if state.printed is not None:
            if output is None:
                varies = drawn(written, words, stdin)
                output = unknown(f"`{short(written)}` prints what only a run shows", where, varies=varies)
            self._print(state, output)
        if name == "tee" and stdin is not None:
            for arg in words[1:]:
                if not flat(arg.text).startswith("-"):
                    state.files[arg.shown] = stdin
        env = {
            each: _variable(each, value)
            for each, value in state.variables.items()
            if value.exported or _TRACKED.match(each)
        }
        if around is not None:
            env = {**around.env, **env}
        env |= {each: replace(_variable(each, value), reaches=True) for each, value in assigned.items()}
        outer = around or Around(where)
        self._state = state
        self.commands.run(
            words,
            replace(
                outer,
                begin=where,
                env=env,
                job=state.job or outer.job,
                python=state.python or outer.python,
                folder=state.folder or outer.folder,
                open_files=state.open_files or outer.open_files,
                conditions=(*outer.conditions, *state.conditions),
                loops=state.loops or outer.loops,
                stdin=stdin,
                script=self._name,
            ),
        )
        if name == "exec" and len(words) > 1:
            raise Stop


def _variable(name: str, value: Var) -> EnvVar:
    text = value.text if value.items is None else ()
    return EnvVar(name, word(text, value.at), value.at, value.exported)


def _spaced_args(args: list[Arg]) -> Text:
    from .parameters import spaced

    return spaced(tuple(args), args[0].at)
