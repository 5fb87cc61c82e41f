"""Commands of a shell script: its own functions, what is built into the shell, and what goes to the outside."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from ....findings import Location
from ..commands import Around, Commands
from ..facts import EnvVar, Fact, Variation
from ..recording import Recorder
from ..texts import Arg, Script, Text, concat, fixed, unknown, varying, word
from .control import Control, Stop
from .expanding import Expander
from .state import State, Var
from .tree import at, first_line, span, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_MAX_DEPTH = 25
#: What prints another text in each run.
_DRAWN = re.compile(
    r"/dev/u?random|\buuidgen\b|\bshuf\b|\bmktemp\b|\bopenssl\s+rand\b|\bpwgen\b|\brandom\b|\bsecrets\b"
)
_CLOCK = re.compile(r"(?:^|[\s(|;`])date\b|time\.time|datetime")
_TRACKED = re.compile(r"AIS_|USE_AIS_|LHOTSE_|PL_GLOBAL_SEED$|PYTHONPATH$")
_QUIET = frozenset(
    ["echo", "printf", "sleep", "mkdir", "test", "[", ":", "true", "false", "wait", "ls", "cat", "touch", "rm"]
)
_ACTIVATE = re.compile(r"(?:^|/)activate$|conda\.sh$|/profile\.d/")


class Calls(Control):
    """The part of a shell that calls."""

    recorder: Recorder
    commands: Commands
    _depth: int
    _state: State
    _name: str

    def _expander(self, script: Script, state: State) -> Expander:
        return Expander(script, state, self._substitute)

    def _load(self, name: str) -> Script | None:
        raise NotImplementedError

    def run(self, script: Script, state: State, around: Around | None = None) -> None:
        """Walk a script."""
        raise NotImplementedError

    def _substitute(self, script: Script, node: Node, state: State) -> Text:
        """What `$(…)` prints: the commands in it are walked, and what they print is rarely known."""
        written, where = text_of(script, node), at(script, node)
        branch = state.copy()
        self._all(script, [child for child in node.children if child.is_named], branch, None)
        if _DRAWN.search(written):
            source = "`/dev/urandom`" if "urandom" in written else f"`{_short(written)}`"
            return unknown("", where, varies=Variation("random", source))
        if _CLOCK.search(written):
            return unknown("", where, varies=Variation("time", f"the clock (`{_short(written)}`)"))
        inner = [child for child in node.children if child.is_named]
        if len(inner) == 1 and inner[0].type == "command":
            words = self._words(script, inner[0], state)
            if words and words[0].known == "echo" and all(arg.known is not None for arg in words[1:]):
                return fixed(" ".join(arg.known or "" for arg in words[1:]), where)
            if words and words[0].known == "seq":
                return unknown("a sequence of numbers", where)
            varies = next((found for arg in words for arg_text in [arg.text] if (found := varying(arg_text))), None)
            if varies is not None and words[0].known not in state.functions:
                return unknown("", where, varies=varies)
        return unknown(f"`{_short(written)}` prints what only a run shows", where)

    def _words(self, script: Script, node: Node, state: State) -> list[Arg]:
        """The words of a command, its name first."""
        expander = self._expander(script, state)
        words: list[Arg] = []
        for child in node.children:
            if child.type == "variable_assignment" or not child.is_named or "redirect" in child.type:
                continue
            target = child.children[0] if child.type == "command_name" and child.children else child
            words += expander.args(target)
        return words

    def _redirected(self, script: Script, node: Node, state: State, around: Around | None) -> None:
        body = node.child_by_field_name("body")
        stdin: Text | None = None
        expander = self._expander(script, state)
        after: list[Node] = []
        for redirect in node.children_by_field_name("redirect"):
            if redirect.type == "heredoc_redirect":
                start = next((child for child in redirect.children if child.type == "heredoc_start"), None)
                inner = next((child for child in redirect.children if child.type == "heredoc_body"), None)
                if start is not None and inner is not None:
                    quoted = text_of(script, start)[:1] in ("'", '"', "\\")
                    stdin = script.literal(*span(script, inner)) if quoted else expander.text(inner)
                after += redirect.children_by_field_name("right")
                after += [child for child in redirect.children if child.type in ("pipeline",)]
            elif redirect.type == "herestring_redirect":
                value = [child for child in redirect.children if child.is_named]
                stdin = expander.text(value[-1]) if value else None
        if body is not None and body.type == "command":
            self._command(script, body, state, around, stdin)
        elif body is not None:
            self._one(script, body, state, around)
        for node_after in after:
            if text_of(script, node_after) != "true":
                self._one(script, node_after, state, around)

    def _command(self, script: Script, node: Node, state: State, around: Around | None, stdin: Text | None) -> None:
        words = self._words(script, node, state)
        expander = self._expander(script, state)
        assigned = {
            text_of(script, name): expander.assigned(child)
            for child in node.children
            if child.type == "variable_assignment" and (name := child.child_by_field_name("name")) is not None
        }
        if not words:
            for name, value in assigned.items():
                state.set(name, value)
            return
        name = words[0].known or ""
        while name in ("command", "builtin") and len(words) > 1:
            words = words[1:]
            name = words[0].known or ""
        where = first_line(script, node)
        if name in state.functions and self._depth < _MAX_DEPTH:
            self._call(name, words[1:], state, around)
        elif not self._built_in(script, node, name, words[1:], state, around, stdin, where):
            self._outside(script, node, words, assigned, state, around, stdin, where)

    def _call(self, name: str, args: list[Arg], state: State, around: Around | None) -> None:
        function = state.functions[name]
        before = state.args
        state.args = tuple(args)
        self._depth += 1
        try:
            self._one(function.script, function.body, state, around)
        finally:
            self._depth -= 1
            state.args = before

    def _built_in(
        self,
        script: Script,
        node: Node,
        name: str,
        args: list[Arg],
        state: State,
        around: Around | None,
        stdin: Text | None,
        where: Location,
    ) -> bool:
        """Carry out what a shell does itself; False for any other command."""
        if name in ("exit", "return"):
            if name == "exit":
                raise Stop
        elif name == "cd":
            state.folder = args[0].text if args else ()
        elif name in ("source", "."):
            self._source(args, state, around, where)
        elif name == "eval":
            self.recorder.gap(where, "`eval` runs text that is only known when it runs")
        elif name == "read" and stdin is not None:
            target = args[-1].known if args else None
            if target is not None:
                state.set(target, Var(where, stdin))
        elif name == "read":
            for arg in args:
                if (target := arg.known) is not None and re.fullmatch(r"[A-Za-z_]\w*", target):
                    state.set(target, Var(where, unknown(f"`{target}` is read from the input", where, name=target)))
        elif name == "printf" and len(args) > 2 and args[0].known == "-v" and args[1].known is not None:
            varies = next((found for arg in args if (found := varying(arg.text)) is not None), None)
            text = unknown("`printf` is not computed here", where, varies=varies, name=args[1].known)
            state.set(args[1].known, Var(where, text))
        elif name == "shift":
            if state.args is not None:
                count = args[0].known if args else "1"
                state.args = state.args[int(count) :] if count and count.isdigit() else None
        elif name == "set":
            values = [index for index, arg in enumerate(args) if arg.known == "--"]
            if values:
                state.args = tuple(args[values[0] + 1 :])
        elif name == "ulimit":
            if any(arg.known in ("-n", "-Sn", "-Hn", "-SHn", "-HSn") for arg in args):
                text_value = args[-1].known
                state.open_files = Fact(int(text_value) if text_value and text_value.isdigit() else None, where)
        elif name in ("conda", "micromamba", "mamba", "module", "pyenv"):
            if any(arg.known in ("activate", "load", "shell") for arg in args) and name != "module":
                state.python = args[-1]
        elif name not in _QUIET:
            return False
        return True

    def _source(self, args: list[Arg], state: State, around: Around | None, where: Location) -> None:
        if not args:
            return
        path = args[0].shown
        if _ACTIVATE.search(path):
            state.python = Arg(concat(_spaced(args)), args[0].at)
            return
        script = self._load(args[0].known) if args[0].known is not None else None
        if script is None:
            self.recorder.gap(where, f"the sourced file `{path}` is not here")
        elif self._depth < _MAX_DEPTH:
            from .tree import parse

            self._depth += 1
            try:
                self._all(script, parse(script).children, state, around)
            finally:
                self._depth -= 1

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
        env = {
            name: _variable(name, value)
            for name, value in state.variables.items()
            if value.exported or _TRACKED.match(name)
        }
        if around is not None:
            env = {**around.env, **env}
        env |= {name: replace(_variable(name, value), reaches=True) for name, value in assigned.items()}
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


def _variable(name: str, value: Var) -> EnvVar:
    text = value.text if value.items is None else ()
    return EnvVar(name, word(text, value.at), value.at, value.exported)


def _spaced(args: list[Arg]) -> Iterator[Text]:
    for index, arg in enumerate(args):
        yield (fixed(" ", arg.at) if index else ()) + arg.text


def _short(written: str) -> str:
    line = " ".join(written.split())
    return line if len(line) <= 40 else f"{line[:37]}..."
