"""Where a shell's output goes and its input comes from: here-documents, pipes, files that it writes, `$(…)`."""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING

from ..around import Around
from ..texts import Arg, Script, Text, concat, cut, flat, unknown
from .control import Stop
from .expanding import Expander
from .loops import Loops
from .printing import ended
from .state import State
from .tree import at, span, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_MAX_DEPTH = 25
_MAX_OUTPUT = 500


class Redirects(Loops):
    """The part of a shell that redirects."""

    _depth: int

    def _command(self, script: Script, node: Node, state: State, around: Around | None, stdin: Text | None) -> None:
        raise NotImplementedError

    # -- what is printed

    def _substitute(self, script: Script, node: Node, state: State) -> Text:
        """What `$(…)` prints."""
        branch = state.copy()
        branch.printed = []
        inner = [child for child in node.children if child.is_named]
        if len(inner) == 1 and inner[0].type == "file_redirect":
            return self._file_read(script, inner[0], state)
        self._depth += 1
        try:
            if self._depth < _MAX_DEPTH:
                self._all(script, inner, branch, None)
        except Stop:
            pass
        finally:
            self._depth -= 1
        return ended(concat(branch.printed))

    def _file_read(self, script: Script, redirect: Node, state: State) -> Text:
        """`$(<file)`."""
        target = redirect.child_by_field_name("destination")
        name = self._expander(script, state).text(target) if target is not None else ()
        path = "".join(piece.text or "" for piece in name)
        if path in state.files:
            return ended(state.files[path])
        return unknown(f"what stands in `{path}` is only known when it runs", at(script, redirect))

    @staticmethod
    def _print(state: State, text: Text) -> None:
        if state.printed is not None and len(state.printed) < _MAX_OUTPUT:
            state.printed.append(text)

    def _pipeline(self, script: Script, node: Node, state: State, around: Around | None) -> None:
        """Each command gets what the one before it prints; none changes the shell's own variables."""
        members = [child for child in node.children if child.is_named]
        stdin = state.stdin
        for index, member in enumerate(members):
            branch = state.copy()
            branch.stdin = stdin
            last = index == len(members) - 1
            if not last:
                branch.printed = []
            with contextlib.suppress(Stop):
                self._one(script, member, branch, around)
            stdin = concat(branch.printed or ()) if not last else None

    # -- redirections

    def _redirected(self, script: Script, node: Node, state: State, around: Around | None) -> None:
        body = node.child_by_field_name("body")
        expander = self._expander(script, state)
        stdin: Text | None = None
        target: tuple[str, bool] | None = None
        after: list[Node] = []
        for redirect in node.children_by_field_name("redirect"):
            if redirect.type == "heredoc_redirect":
                stdin = self._heredoc(script, redirect, expander)
                after += [child for child in redirect.children if child.type in ("pipeline", "command", "list")]
                for inner in redirect.children:
                    if inner.type == "file_redirect":
                        target = self._target(script, inner, expander) or target
            elif redirect.type == "herestring_redirect":
                stdin = self._herestring(redirect, expander)
            elif redirect.type == "file_redirect":
                target = self._target(script, redirect, expander) or target
        piped = any(child.type == "pipeline" for child in after)
        inner_state = state
        output = state.printed
        if target is not None or piped:
            state.printed = []
        before = state.stdin
        state.stdin = stdin if stdin is not None else state.stdin
        try:
            if body is not None and body.type == "command":
                self._command(script, body, inner_state, around, state.stdin)
            elif body is not None:
                self._one(script, body, inner_state, around)
        finally:
            written = concat(state.printed or ())
            state.printed, state.stdin = output, before
        if target is not None and written:
            name, more = target
            state.files[name] = (state.files.get(name, ()) if more else ()) + written
        for each in after:
            if each.type == "pipeline":
                branch = state.copy()
                branch.stdin = written
                self._piped(script, each, branch, around)
            elif text_of(script, each) != "true":
                self._one(script, each, state, around)

    def _piped(self, script: Script, node: Node, state: State, around: Around | None) -> None:
        """`cat <<EOF | sbatch`: what follows a here-document's pipe."""
        with contextlib.suppress(Stop):
            self._pipeline(script, node, state, around)

    def _heredoc(self, script: Script, redirect: Node, expander: Expander) -> Text:
        start = next((child for child in redirect.children if child.type == "heredoc_start"), None)
        inner = next((child for child in redirect.children if child.type == "heredoc_body"), None)
        if start is None or inner is None:
            return ()
        quoted = any(sign in text_of(script, start) for sign in "'\"\\")
        text = script.literal(*span(script, inner)) if quoted else expander.text(inner)
        if any(child.type == "<<-" for child in redirect.children):
            return _without_tabs(text)
        return text

    @staticmethod
    def _herestring(redirect: Node, expander: Expander) -> Text:
        value = [child for child in redirect.children if child.is_named]
        return expander.text(value[-1]) if value else ()

    @staticmethod
    def _target(script: Script, redirect: Node, expander: Expander) -> tuple[str, bool] | None:
        """The file that output goes to, and whether it is added to."""
        sign = next((child.type for child in redirect.children if child.type in (">", ">>", ">|", "&>", "&>>")), None)
        place = redirect.child_by_field_name("destination")
        descriptor = redirect.child_by_field_name("descriptor")
        if sign is None or place is None or (descriptor is not None and text_of(script, descriptor) != "1"):
            return None
        where = at(script, place)
        name = Arg(expander.text(place), where).shown
        return name, sign.endswith(">>")


def _without_tabs(text: Text) -> Text:
    """A here-document of `<<-`: tabs at the beginning of its lines are left out."""
    parts: list[Text] = []
    position = 0
    for match in re.finditer(r"(?m)^\t+", flat(text)):
        parts.append(cut(text, position, match.start()))
        position = match.end()
    parts.append(cut(text, position))
    return concat(parts)
