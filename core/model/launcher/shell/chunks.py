"""A script that queues itself: walked as its first chunk and as the next one, so that what it hands on is seen to change."""

from __future__ import annotations

from dataclasses import replace

from ..facts import Variation
from ..recording import Recorder
from ..texts import Arg, Script, Text, known, varying
from .running import Load, Shell
from .state import State, Var


def walk_chunks(script: Script, recorder: Recorder, load: Load, name: str) -> Recorder:
    """The record of a script; of one that hands something to its successor, what differs there varies."""
    Shell(recorder, load, name).run(script, State())
    handed = recorder.handed_on
    if not handed:
        return recorder
    following = Recorder()
    Shell(following, load, name).run(script, _given(handed))
    if _said(following) == _said(recorder) and all(_same(handed[key], following.handed_on.get(key)) for key in handed):
        return recorder
    moving = {
        key: arg if varying(arg.text) is not None else Arg(_moving(key, arg), arg.at) for key, arg in handed.items()
    }
    whole = Recorder()
    Shell(whole, load, name).run(script, _given(moving))
    return whole


def _given(handed: dict[str, Arg]) -> State:
    """The state in which a chunk begins that was handed these variables and arguments."""
    variables = {key: Var(arg.at, arg.text, exported=True) for key, arg in handed.items() if not key.isdigit()}
    numbers = sorted(int(key) for key in handed if key.isdigit())
    args = tuple(handed[str(number)] for number in numbers) if numbers else None
    return State(variables, args=args)


def _moving(key: str, arg: Arg) -> Text:
    """A value that each chunk hands to the next, changed."""
    varies = Variation("chunk", f"`${key}`, which each chunk hands to the next", arg.at)
    piece = arg.text[0] if arg.text else None
    if piece is None:
        return ()
    return (replace(piece, text=None, exact=False, reason="", varies=varies, defaulted=False, name=key),)


def _same(one: Arg, other: Arg | None) -> bool:
    return other is not None and known(one.text) == known(other.text) and varying(one.text) is None


def _said(recorder: Recorder) -> list[object]:
    """What reaches training: the values of overrides and variables."""
    return [
        (
            [(override.key, override.value.text) for override in launch.overrides],
            {name: variable.value.text for name, variable in launch.env.items() if variable.reaches},
        )
        for launch in recorder.launches
    ]
