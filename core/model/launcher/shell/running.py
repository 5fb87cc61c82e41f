"""A shell script walked from top to bottom without running anything: its statements, and the scripts nested in it."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from dataclasses import fields, replace
from typing import TYPE_CHECKING

from ..around import Around
from ..commands import Commands
from ..facts import EnvVar
from ..jobs import Job, header, variables
from ..recording import Recorder
from ..texts import Arg, Piece, Script, Text, known, unknown
from .calling import Calls
from .control import Stop
from .expanding import Expander
from .state import Function, State, Var, exported
from .tree import at, first_error, first_line, parse, span, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_MAX_STEPS = 10_000
_MAX_DEPTH = 25
_MAX_TREE = 60  # each level takes several frames of Python, and its stack is one for all
_MAX_ITEMS = 5_000
_MAX_LENGTH = 200_000
#: Loads another script by its path, or None where it is not here.
Load = Callable[[str], "Script | None"]


class Shell(Calls):
    """Walks scripts; what they start goes through `Commands` to the recorder."""

    def __init__(self, recorder: Recorder, load: Load, name: str = "") -> None:
        self.recorder, self._loader, self._name = recorder, load, name
        self.commands = Commands(recorder, self.nested, self._file)
        self._steps = 0
        self._depth = 0
        self._depth_of_tree = 0
        self._state = State()

    # -- scripts

    def _load(self, name: str) -> Script | None:
        return self._loader(name)

    def run(self, script: Script, state: State, around: Around | None = None) -> None:
        """One script in a state; `around` is what its commands are wrapped in."""
        if self._depth >= _MAX_DEPTH or not script.text.strip():
            return
        job = header(script)
        staged = None
        if job is not None and (around is None or around.job is None or around.step is None):
            given = around.job if around is not None else None
            job = job if given is None else _over(job, given)
            state.job = job
        if state.job is not None:
            where = script.at(0, 1)
            for name, text in variables(state.job, where).items():
                state.variables.setdefault(name, Var(where, text, given=True))
            staged = self.recorder.new_job() if around is None or around.step is None else None
        tree = parse(script)
        if tree.has_error and self._depth == 0 and (wrong := first_error(tree)) is not None:
            self.recorder.gap(first_line(script, wrong), "from here on a part is no shell text that can be read")
        self._depth += 1
        try:
            self._all(script, tree.children, state, around)
        except Stop:
            pass
        finally:
            self._depth -= 1
            if staged is not None and self._depth:
                self.recorder.back_to(staged)

    def nested(self, text: Text, around: Around, args: tuple[Arg, ...] | None) -> None:
        """`bash -c`, a here-document, `--wrap`: a child that sees what is exported."""
        outer = self._state
        state = State(dict(exported(outer.variables)), {}, args, outer.folder, around.python or outer.python)
        state.variables |= {
            name: Var(found.location, _of_word(found))
            for name, found in around.env.items()
            if name not in state.variables
        }
        for name in state.variables:
            state.variables[name] = replace(state.variables[name], exported=True)
        state.open_files, state.job, state.conditions, state.loops = (
            outer.open_files,
            around.job,
            outer.conditions,
            outer.loops,
        )
        if around.job is not None and around.step is None and around.job is not outer.job:
            state.loops, state.conditions = (), ()
        self.run(Script(text), state, around)

    def _file(self, name: str, around: Around, args: tuple[Arg, ...]) -> bool:
        written = self._state.files.get(name)
        if written is None:
            script = self._load(name)
            if script is None:
                return False
            written = script.literal(0, len(script.text))
        self.nested(written, around, args)
        return True

    # -- statements

    def _all(self, script: Script, nodes: list[Node], state: State, around: Around | None) -> None:
        for node in nodes:
            self._one(script, node, state, around)

    def _one(self, script: Script, node: Node, state: State, around: Around | None) -> None:
        self._steps += 1
        if self._steps > _MAX_STEPS:
            self.recorder.gap(first_line(script, node), "the launcher is too long to be followed to its end")
            raise Stop
        self._depth_of_tree += 1
        try:
            if self._depth_of_tree > _MAX_TREE:
                self.recorder.gap(first_line(script, node), "the launcher is nested too deeply to be followed")
                raise Stop
            self._statement(script, node, state, around)
        finally:
            self._depth_of_tree -= 1

    def _statement(self, script: Script, node: Node, state: State, around: Around | None) -> None:
        kind = node.type
        inner = [child for child in node.children if child.is_named]
        if kind == "command":
            self._command(script, node, state, around, state.stdin)
        elif kind == "redirected_statement":
            self._redirected(script, node, state, around)
        elif kind in ("variable_assignment", "variable_assignments", "declaration_command"):
            self._assign(script, node, state)
        elif kind == "function_definition":
            name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
            if name is not None and body is not None:
                state.functions[text_of(script, name)] = Function(script, body)
        elif kind == "if_statement":
            self._if(script, node, state, around)
        elif kind == "case_statement":
            self._case(script, node, state, around)
        elif kind in ("for_statement", "c_style_for_statement", "while_statement"):
            self._loop(script, node, state, around)
        elif kind in ("list", "test_command", "negated_command"):
            self._test(script, node, state, around)
        elif kind == "pipeline":
            self._pipeline(script, node, state, around)
        elif kind == "subshell":
            branch = state.copy()
            with contextlib.suppress(Stop):
                self._all(script, inner, branch, around)
        elif kind == "unset_command":
            for child in node.children:
                state.variables.pop(text_of(script, child), None)
        elif kind in ("compound_statement", "do_group", "program", "ERROR", "else_clause"):
            if text_of(script, node).startswith("(("):
                self._expander(script, state).compute(node)
            else:
                self._all(script, inner, state, around)

    def _assign(self, script: Script, node: Node, state: State) -> None:
        expander = self._expander(script, state)
        words = [child for child in node.children if child.type == "variable_assignment"]
        if node.type == "variable_assignment":
            words = [node]
        written = text_of(script, node) if node.type == "declaration_command" else ""
        declared = written.split(None, 1)[0] if written else ""
        flags = "".join(re.findall(r"(?<=\s)-(\w+)", written.split("=", 1)[0]))
        export = (declared == "export" and "n" not in flags) or "x" in flags
        if declared == "export" and "n" in flags:
            for child in node.children:
                if (name := text_of(script, child)) in state.variables:
                    state.variables[name] = replace(state.variables[name], exported=False)
            return
        local = declared == "local" or (declared in ("declare", "typeset") and "g" not in flags)
        for each in words:
            name_node = each.child_by_field_name("name")
            if name_node is None:
                continue
            value = expander.assigned(each, keyed="A" in flags)
            where = at(script, node) if node.type == "declaration_command" and len(words) == 1 else value.at
            value = replace(value, at=where, exported=export)
            if name_node.type == "subscript":
                self._element(script, name_node, value, expander, state)
                continue
            name = text_of(script, name_node)
            if local:
                state.hide(name)
            before = state.variables.get(name)
            if any(child.type == "+=" for child in each.children) and before is not None:
                value = _added(value, before)
            state.set(name, value)
        for child in node.children:
            name = text_of(script, child)
            if child.type != "variable_name" or node.type != "declaration_command":
                continue
            if local:
                state.hide(name)
                state.variables[name] = Var(at(script, node), items=() if set(flags) & {"a", "A"} else None)
                if "A" in flags:
                    state.variables[name] = replace(state.variables[name], keys=())
            elif export and name in state.variables:
                state.variables[name] = replace(state.variables[name], exported=True, at=at(script, node))

    @staticmethod
    def _element(script: Script, place: Node, value: Var, expander: Expander, state: State) -> None:
        """`A[1]=x` and `M[key]=x`."""
        name_node, index_node = place.child_by_field_name("name"), place.child_by_field_name("index")
        if name_node is None or index_node is None:
            return
        name = text_of(script, name_node)
        before = state.variables.get(name) or Var(value.at, items=())
        items = list(before.items or ())
        arg = Arg(value.text, value.at)
        if before.keys is not None:
            key = known(expander.text(index_node))
            keys = list(before.keys)
            if key in keys:
                items[keys.index(key)] = arg
            elif key is not None:
                keys.append(key)
                items.append(arg)
            state.set(name, replace(before, items=tuple(items), keys=tuple(keys)))
            return
        number = expander.compute(index_node, span(script, index_node)).value
        if number is not None and 0 <= number <= len(items) and before.items is not None:
            items[number : number + 1] = [arg]
            state.set(name, replace(before, items=tuple(items), at=value.at))
        else:
            state.set(name, Var(value.at, unknown("the array's elements are set one by one", value.at, name=name)))


def _added(value: Var, before: Var) -> Var:
    """`+=`."""
    if value.items is not None:
        if before.items is None and before.text and known(before.text) != "":
            return replace(value, items=(Arg(before.text, before.at), *value.items))
        items = (before.items or ()) + value.items
        if len(items) > _MAX_ITEMS:
            return replace(value, items=None, text=unknown("it is too long to be followed", value.at))
        return replace(value, items=items)
    if before.items is not None:
        return before
    if len(before.text) > _MAX_ITEMS or sum(len(piece.text or "") for piece in before.text) > _MAX_LENGTH:
        return replace(value, text=unknown("it is too long to be followed", value.at))
    return replace(value, text=before.text + value.text)


def _over(job: Job, given: Job) -> Job:
    """A script's header under the options of the command line, which win."""
    plain = Job()
    names = [field.name for field in fields(Job) if field.name != "in_job"]
    return replace(
        job, **{name: getattr(given, name) for name in names if getattr(given, name) != getattr(plain, name)}
    )


def _of_word(found: EnvVar) -> Text:
    """A variable's value as a text again."""
    value = found.value
    if value.text is not None:
        return (Piece(value.text, value.location, defaulted=value.defaulted, drawn=value.drawn),)
    return (Piece(None, value.location, reason=value.reason, varies=value.varies, drawn=value.drawn, name=found.name),)
