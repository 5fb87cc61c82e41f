"""Where NeMo's exp_manager looks for checkpoints, and what in that place is another in each chunk."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..records import dataclass
from ..syntax.interpolation import Reference, Resolver, references
from ..syntax.nodes import Scalar
from .config import TrainingConfig
from .trainer import CALLBACK, MANAGER, field
from .values import Origin, Setting

if TYPE_CHECKING:
    from .launcher.facts import Launch, Word

_JOB_ID, _ARRAY_INDEX = "the job id", "the chunk's array index"

#: All chunks of one array share it.
_SHARED = "SLURM_ARRAY_JOB_ID"
#: Variables that a scheduler sets anew for each job, and what they hold.
_BY_JOB = {
    **dict.fromkeys(("SLURM_JOB_ID", "SLURM_JOBID", "PBS_JOBID", "LSB_JOBID"), _JOB_ID),
    **dict.fromkeys(
        ("SLURM_ARRAY_TASK_ID", "PBS_ARRAY_INDEX", "PBS_ARRAYID", "LSB_JOBINDEX", "SGE_TASK_ID"), _ARRAY_INDEX
    ),
    **dict.fromkeys(("SLURM_JOB_START_TIME", "SLURM_JOB_END_TIME"), "the job's time"),
    "SLURM_RESTART_COUNT": "the restart count",
    **dict.fromkeys(("HOSTNAME", "SLURMD_NODENAME"), "the node's name"),
}
#: Words in the name of a variable of the user's own that speak of one chunk.
_BY_NAME = re.compile(r"(?:^|_)(CHUNK|ATTEMPT|RESTART|DATE|DATETIME|TIMESTAMP|UUID|JOB_?ID)(?:_|$)")
#: strftime's directives that say nothing below the month.
_COARSE = frozenset("YyGCmbBh%")
#: Those, and the ones that speak of whole days.
_DAYS = _COARSE | frozenset("dejuwaADFxUVW")


#: What stays the same where a job is put back into the queue instead of followed by another.
_OF_THE_JOB = (_JOB_ID, _ARRAY_INDEX)
#: What a launcher's value carries, by the kind of its variation.
_BY_KIND = {
    "random": "a random value",
    "time": "the time",
    "job": _JOB_ID,
    "array": _ARRAY_INDEX,
    "restart": "the restart count",
    "loop": "the chunk's number",
    "chunk": "the chunk's number",
}


@dataclass(frozen=True, slots=True)
class Moving:
    """A part of a path that is another in each chunk."""

    what: str  #: a phrase: "the job id"
    text: str  #: as written: `${oc.env:SLURM_JOB_ID}`
    sure: bool  #: false where only the name of a variable says so


def checkpoint_place(config: TrainingConfig) -> tuple[Setting, ...]:
    """The settings that make up the folder in which a chunk looks for its checkpoint, those that count.

    `dirpath` of the callback comes first, then `explicit_log_dir`, then exp_dir/name/version. Of the version only a stated
    one counts: with `resume_if_exists` exp_manager makes no folder of its own for it, neither by date nor by number.
    """
    for path in (f"{CALLBACK}.dirpath", f"{MANAGER}.explicit_log_dir"):
        setting = field(config, path)
        if not setting.known or setting.value:
            return (setting,)
    return tuple(field(config, f"{MANAGER}.{name}") for name in ("exp_dir", "name", "version"))


def moving_parts(config: TrainingConfig, setting: Setting) -> tuple[Moving, ...]:
    """What in a setting is another in each chunk: in its text, in what that refers to, and in what a launcher puts there."""
    launch = config.launch
    resolvers = _resolvers(config, tuple(setting.subject.split(".")), set())
    found = [_moving(piece, text, launch) for piece, text in resolvers]
    if setting.origin is Origin.LAUNCHER and launch is not None:
        words = [override.value for override in launch.overrides if override.key == setting.subject]
        found += [_by_launcher(word, word.location.source.cut(word.location.span)) for word in words[-1:]]
    requeued = launch is not None and "requeue" in (launch.chain.by or "")
    return tuple(dict.fromkeys(part for part in found if part and not (requeued and part.what in _OF_THE_JOB)))


def _resolvers(
    config: TrainingConfig, path: tuple[str, ...], seen: set[tuple[str, ...]]
) -> Iterator[tuple[Resolver, str]]:
    """Every resolver that the value at a path is computed with, and its text."""
    section = config.composition.root.at(path[:-1])
    found = section.get(path[-1]) if section is not None and path not in seen else None
    if found is None or not isinstance(found.node, Scalar) or not isinstance(found.node.value, str):
        return
    seen.add(path)
    text = found.node.value
    for piece in references(text):
        if isinstance(piece, Resolver):
            yield piece, text[piece.start : piece.end] or text
        else:
            yield from _resolvers(config, _target(piece, path), seen)


def _target(piece: Reference, own: tuple[str, ...]) -> tuple[str, ...]:
    names = tuple(part if isinstance(part, str) else "" for part in piece.path)
    return (*own[: max(len(own) - piece.level, 0)], *names) if piece.level else names


def _by_launcher(word: Word, text: str) -> Moving | None:
    """What a launcher's word carries that is another in each chunk."""
    return Moving(_BY_KIND.get(word.varies.kind, word.varies.by), text, sure=True) if word.varies else None


def _moving(piece: Resolver, text: str, launch: Launch | None) -> Moving | None:
    argument = piece.args[0].strip().strip("'\"") if piece.args else ""
    exported = launch.env.get(argument) if launch is not None and piece.name == "oc.env" else None
    if exported is not None and exported.reaches and (exported.value.varies or exported.value.text is not None):
        return _by_launcher(exported.value, text)
    if piece.name == "oc.env":
        if argument in _BY_JOB:
            return Moving(_BY_JOB[argument], text, sure=True)
        named = _BY_NAME.search(argument) if argument != _SHARED else None
        return Moving(f"`{named[1]}`", text, sure=False) if named else None
    directives = set(re.findall(r"%-?(.)", argument)) if piece.name == "now" else set()
    if directives - _COARSE:
        return Moving("the date" if directives <= _DAYS else "the time", text, sure=True)
    if piece.name == "hydra" and argument in ("job.id", "job.num"):
        return Moving(_JOB_ID, text, sure=True)
    return None
