"""What a shell knows while its script is walked: variables, functions, arguments, the job, and what surrounds a command."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ....findings import Location
from ..facts import Fact, Variation
from ..texts import Arg, Maybe, Piece, Text, known, shown
from .conditions import Doubt

if TYPE_CHECKING:
    from tree_sitter import Node

    from ..jobs import Job
    from ..texts import Script


@dataclass(frozen=True, slots=True)
class Var:
    """A variable: a text, or the items of an array; `at` is the assignment."""

    at: Location
    text: Text = ()
    items: tuple[Arg, ...] | None = None
    exported: bool = False
    given: bool = False  #: set by Slurm and not in the script
    keys: tuple[str, ...] | None = None  #: of an associative array, beside its items


@dataclass(frozen=True, slots=True)
class Function:
    """A function's body in its script."""

    script: Script
    body: Node


@dataclass(slots=True)
class State:
    """The variables and what else a later command depends on; copied for branches and subshells."""

    variables: dict[str, Var] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)
    args: tuple[Arg, ...] | None = None  #: positional arguments; None at the top, where the caller decides
    folder: Text = ()
    python: Arg | None = None  #: a virtual environment that is switched on
    open_files: Fact | None = None
    job: Job | None = None
    #: What decides whether a command runs at all: why it is another in each chunk, and where that is written.
    conditions: tuple[tuple[Variation | None, Location], ...] = ()
    loops: tuple[str, ...] = ()  #: kinds of the loops around: for · while
    files: dict[str, Text] = field(default_factory=dict)  #: files that the script writes, by the path as written
    scopes: tuple[dict[str, Var | None], ...] = ()  #: for each call, what its local variables hide
    exports_all: bool = False  #: `set -a`
    printed: list[Text] | None = None  #: where output goes that a `$(…)`, a pipe or a file takes
    stdin: Text | None = None  #: what a pipe brings

    def copy(self) -> State:
        """A state that goes its own way."""
        return replace(self, variables=dict(self.variables), functions=dict(self.functions), files=dict(self.files))

    def set(self, name: str, value: Var) -> None:
        """Assign; an exported variable stays exported."""
        before = self.variables.get(name)
        if self.exports_all or (before is not None and before.exported and not value.exported):
            value = replace(value, exported=True)
        self.variables[name] = value

    def hide(self, name: str) -> None:
        """Make a variable local to the function that runs."""
        if self.scopes and name not in self.scopes[-1]:
            self.scopes[-1][name] = self.variables.get(name)


def merge(into: State, branches: list[State], why: Variation | Doubt, at: Location) -> None:
    """Take over what branches of a condition left behind: what they disagree on is the condition's to decide."""
    names = dict.fromkeys(name for branch in branches for name in branch.variables)
    merged: dict[str, Var] = {}
    for name in names:
        found = [branch.variables.get(name) for branch in branches]
        if len({_key(each) for each in found}) == 1 and found[0] is not None:
            merged[name] = found[0]
        else:
            merged[name] = _disagreed(name, into.variables.get(name), found, why, at)
    into.variables = merged
    into.args = branches[0].args if len({_args_key(branch.args) for branch in branches}) == 1 else None
    for branch in branches:
        into.functions.update(branch.functions)
        into.files.update(branch.files)
        into.python = into.python or branch.python
        into.open_files = into.open_files or branch.open_files
        if branch.folder != into.folder:
            into.folder = branch.folder


def _disagreed(name: str, before: Var | None, found: list[Var | None], why: Variation | Doubt, at: Location) -> Var:
    """A variable that the branches of a condition leave with different values."""
    present = [each for each in found if each is not None]
    exported = any(each.exported for each in present)
    maybe = Maybe(replace(why, at=why.at or at) if isinstance(why, Variation) else None)
    if any(each.items is not None for each in present):
        return replace(_lists(name, [each.items if each else () for each in found], maybe, at), exported=exported)
    texts = [each.text if each is not None else () for each in found]
    longest = max(texts, key=len)
    if all(_begins(longest, text) for text in texts) and (before is not None or len(present) == len(found)):
        shortest = min(texts, key=len)
        if len(shortest) == len(longest):
            doubtful = [each for each in present if any(piece.defaulted or piece.maybe for piece in each.text)]
            return replace((doubtful or present)[0], exported=exported)
        added = tuple(replace(piece, maybe=piece.maybe or maybe) for piece in longest[len(shortest) :])
        where = next(each.at for each in present if each.text is longest)
        return Var(where, shortest + added, exported=exported)
    moving = next((piece.varies for text in texts for piece in text if piece.varies is not None), None)
    if isinstance(why, Variation):
        varies = replace(why, at=at)
        turns = tuple(dict.fromkeys(map(shown, texts)))
        return Var(at, (Piece(None, at, varies=varies, drawn=at, name=name, turns=turns),), exported=exported)
    if moving is not None:
        return Var(
            at, (Piece(None, at, varies=replace(moving, at=moving.at or at), drawn=at, name=name),), exported=exported
        )
    if why.caller and before is not None and known(before.text) is not None and _key(before) in map(_key, found):
        # The caller may give another: what stands without that is a default.
        return replace(before, text=tuple(replace(piece, defaulted=True) for piece in before.text), exported=exported)
    if why.caller and len(present) == 1 and before is None:
        return replace(present[0], exported=exported)  # given, or not set at all
    reason = f"`{name}` depends on a condition that only a run shows"
    return Var(at, (Piece(None, at, reason=reason, drawn=at, name=name, caller=why.caller),), exported=exported)


def _lists(name: str, lists: list[tuple[Arg, ...] | None], maybe: Maybe, at: Location) -> Var:
    """Arrays that agree in their beginning: what some have more may be left out."""
    known_lists = [each for each in lists if each is not None]
    longest, shortest = max(known_lists, key=len), min(known_lists, key=len)
    agree = len(known_lists) == len(lists) and all(
        [_text_key(item.text) for item in each] == [_text_key(item.text) for item in longest[: len(each)]]
        for each in known_lists
    )
    if not agree:
        return Var(at, (Piece(None, at, reason=f"`{name}` depends on a condition that only a run shows", name=name),))
    added = tuple(
        Arg(tuple(replace(piece, maybe=piece.maybe or maybe) for piece in item.text), item.at)
        for item in longest[len(shortest) :]
    )
    return Var(at, items=shortest + added)


def _begins(whole: Text, part: Text) -> bool:
    return _said(whole[: len(part)]) == _said(part)


def _said(text: Text) -> list[object]:
    """What a text says, however it came to be."""
    return [(piece.text, piece.reason, piece.varies and (piece.varies.kind, piece.varies.by)) for piece in text]


def _text_key(text: Text) -> tuple[object, ...]:
    return tuple((piece.text, piece.varies, piece.name, piece.maybe, piece.defaulted) for piece in text)


def _args_key(args: tuple[Arg, ...] | None) -> object:
    return None if args is None else tuple(_text_key(arg.text) for arg in args)


def _key(value: Var | None) -> object:
    if value is None:
        return None
    if value.items is not None:
        return tuple(_text_key(item.text) for item in value.items), value.keys
    return _text_key(value.text)


def changed(before: Mapping[str, Var], after: Mapping[str, Var]) -> list[str]:
    """The variables that hold something else afterwards."""
    return [name for name, value in after.items() if name in before and _key(value) != _key(before[name])]


def exported(variables: Mapping[str, Var]) -> dict[str, Var]:
    """The variables that a child process sees."""
    return {name: value for name, value in variables.items() if value.exported}
