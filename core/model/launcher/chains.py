"""What makes a training command one of several chunks: arrays, dependencies, loops over sbatch, jobs that queue themselves."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from .facts import NO_CHAIN, Chain, EnvVar, Launch, Word

if TYPE_CHECKING:
    from .jobs import Job

REQUEUE = "--requeue"


def chain_of(job: Job) -> Chain:
    """What a job's own options say of its chunks."""
    if job.array is not None:
        if re.search(r"%1$", job.array):
            return Chain(True, "array, one task at a time", job.array)
        return Chain(False, None, job.array)
    if job.dependency:
        return Chain(True, f"--dependency={job.dependency[0]}")
    return Chain(True, REQUEUE) if job.requeue else NO_CHAIN


def chain_of_loop(job: Job, *, after_build: bool) -> Chain:
    """A loop over sbatch; `after_build` where the first of its jobs waits for an index build."""
    kinds = list(dict.fromkeys(job.dependency))
    if len(kinds) > 1:
        build = " on the index build" if after_build else ""
        return Chain(True, f"loop over sbatch, {kinds[0]}{build}, then {', then '.join(kinds[1:])}")
    return Chain(True, f"loop over sbatch --dependency={kinds[0]}" if kinds else "loop over sbatch")


def queued_again(launch: Launch, *, requeued: bool, by_itself: Chain | None) -> Launch:
    """A training command with what the end of its launcher says: the job queues itself, or is put back into the queue."""
    if by_itself is not None and (not launch.chain.chained or launch.chain.by == REQUEUE):
        return replace(launch, chain=by_itself)
    if requeued and (not launch.chain.chained or launch.chain.by == REQUEUE):
        launch = replace(launch, chain=Chain(True, "scontrol requeue", launch.chain.array))
    elif launch.chain.by != REQUEUE:
        return launch
    return _with_one_id(launch)


def _with_one_id(launch: Launch) -> Launch:
    """A job that goes back into the queue keeps its id: what follows from it is not known, and the same in each chunk."""
    overrides = tuple(replace(override, value=_settled(override.value)) for override in launch.overrides)
    env: dict[str, EnvVar] = {
        name: replace(variable, value=_settled(variable.value)) for name, variable in launch.env.items()
    }
    return replace(launch, overrides=overrides, env=env)


def _settled(word: Word) -> Word:
    if word.varies is None or word.varies.kind != "job":
        return word
    return replace(word, varies=None, reason="the job id is only known at the call, and a requeued job keeps it")
