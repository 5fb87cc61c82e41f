"""What a shell knows while its script is walked: variables, functions, arguments, the job, and what surrounds a command."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ....findings import Location
from ..facts import Fact, Variation
from ..texts import Arg, Piece, Text

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

    def copy(self) -> State:
        """A state that goes its own way."""
        return replace(self, variables=dict(self.variables), functions=dict(self.functions))

    def set(self, name: str, value: Var) -> None:
        """Assign; an exported variable stays exported."""
        known = self.variables.get(name)
        if known is not None and known.exported and not value.exported:
            value = replace(value, exported=True)
        self.variables[name] = value


def merge(into: State, branches: list[State], why: Variation | None, at: Location) -> None:
    """Take over what branches of a condition left behind: a variable that they disagree on is the condition's to decide."""
    names = {name for branch in branches for name in branch.variables}
    merged: dict[str, Var] = {}
    for name in names:
        found = [branch.variables.get(name) for branch in branches]
        different = list(dict.fromkeys(_key(each) for each in found))
        present = [each for each in found if each is not None]
        if len(different) == 1:
            merged[name] = present[0]
        elif why is not None and all(each.items is None for each in present):
            varies = replace(why, at=at)
            merged[name] = Var(
                at, (Piece(None, at, varies=varies, drawn=at, name=name),), exported=any(v.exported for v in present)
            )
        else:
            # The condition is not known: what was assigned in a branch is likelier than what it was before.
            changed = [each for each in present if _key(each) != _key(into.variables.get(name))]
            merged[name] = changed[0] if changed else present[0]
    into.variables = merged
    for branch in branches:
        into.functions.update(branch.functions)
        into.python = into.python or branch.python
        into.open_files = into.open_files or branch.open_files
        into.folder = branch.folder or into.folder


def _key(value: Var | None) -> object:
    if value is None:
        return None
    if value.items is not None:
        return tuple(tuple((p.text, p.varies, p.name) for p in item.text) for item in value.items)
    return tuple((piece.text, piece.varies, piece.name) for piece in value.text)


def exported(variables: Mapping[str, Var]) -> dict[str, Var]:
    """The variables that a child process sees."""
    return {name: value for name, value in variables.items() if value.exported}
