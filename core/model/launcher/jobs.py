"""Slurm's side of a launcher: headers and options of a job as facts, and the variables that follow from them."""

from __future__ import annotations

import re
from dataclasses import replace

from ...findings import Location
from ...records import dataclass
from ...text import Span
from ..trainer import walltime_seconds
from .facts import NOTHING, Fact, Variation, Walltime
from .texts import Arg, Script, Text, cut, fixed, flat, shown, unknown, varying

#: Short options of sbatch and srun that say something here, by their long name.
SHORT = {
    "-N": "--nodes",
    "-n": "--ntasks",
    "-t": "--time",
    "-a": "--array",
    "-d": "--dependency",
    "-p": "--partition",
    "-G": "--gpus",
    "-J": "--job-name",
    "-c": "--cpus-per-task",
    "-A": "--account",
    "-o": "--output",
    "-e": "--error",
    "-w": "--nodelist",
    "-x": "--exclude",
    "-q": "--qos",
    "-C": "--constraint",
    "-D": "--chdir",
    "-L": "--licenses",
    "-M": "--clusters",
    "-m": "--distribution",
    "-i": "--input",
    "-b": "--begin",
    "-S": "--core-spec",
    "-F": "--nodefile",
}
_ALONE = """
--parsable --requeue --no-requeue --exclusive --overcommit --label --unbuffered --wait --hold --test-only --quiet --verbose
--overlap --exact --pty --no-kill --spread-job --contiguous --ignore-pbs --container-mount-home --no-container-mount-home
--container-writable --container-readonly --container-remap-root --no-container-remap-root --container-entrypoint
--no-container-entrypoint --multi-prog --oversubscribe --use-min-nodes --preserve-env --help --interactive --propagate
-l -u -v -Q -H -s -O -K -W -E -X
"""
#: Options that stand alone: every other takes the next word where it has no `=`.
ALONE = frozenset(_ALONE.split())
_HEADER = re.compile(r"#SBATCH[ \t]+(.*)")
_COUNT = re.compile(r"(\d+)(?:-(\d+))?")
_GPUS = re.compile(r"(?:gpu|gres/gpu)(?::[^:,\d][^:,]*)?:(\d+)")


@dataclass(frozen=True, slots=True)
class Job:
    """One Slurm job or step, as far as its options say."""

    nodes: Fact = NOTHING
    tasks: Fact = NOTHING  #: --ntasks
    tasks_per_node: Fact = NOTHING
    gpus_per_node: Fact = NOTHING
    gpus: Fact = NOTHING
    gpus_per_task: Fact = NOTHING
    cpus: Fact = NOTHING
    walltime: Walltime | None = None
    array: str | None = None
    dependency: tuple[str, ...] = ()  #: its kinds (afterok, singleton), in the order in which chunks have them
    partition: str | None = None
    requeue: bool = False
    container: Arg | None = None  #: --container-image
    chosen_nodes: bool = False  #: --nodelist
    in_job: bool = False  #: whether it is a job at all: the body of a script that sbatch gets

    @property
    def ranks(self) -> Fact:
        """Tasks a node; one where nothing says it."""
        if self.tasks_per_node.value is not None or self.tasks_per_node.varies is not None:
            return self.tasks_per_node
        if self.tasks.value is not None and self.nodes.value:
            return Fact(max(1, self.tasks.value // self.nodes.value), self.tasks.location)
        if self.tasks.varies is not None:
            return self.tasks
        return Fact(1) if self.in_job else NOTHING

    @property
    def node_gpus(self) -> Fact:
        """GPUs of a node, by whatever option."""
        if self.gpus_per_node.value is None and self.gpus.value is not None and self.node_count.value:
            return Fact(self.gpus.value // self.node_count.value, self.gpus.location)
        if self.gpus_per_node.value is None and self.gpus_per_task.value is not None and self.ranks.value:
            return Fact(self.gpus_per_task.value * self.ranks.value, self.gpus_per_task.location)
        return self.gpus_per_node

    @property
    def node_count(self) -> Fact:
        """Nodes; one where a job says nothing."""
        return self.nodes if self.nodes != NOTHING or not self.in_job else Fact(1)


def with_option(job: Job, name: str, value: Arg | None, at: Location) -> Job:
    """The job with one option more; a later one wins."""
    text = value.known if value is not None else None
    if name == "--nodes":
        return replace(job, nodes=_fact(value, at))
    if name == "--ntasks":
        return replace(job, tasks=_fact(value, at))
    if name in ("--ntasks-per-node", "--tasks-per-node"):
        return replace(job, tasks_per_node=_fact(value, at))
    if name == "--gpus-per-node":
        return replace(job, gpus_per_node=_gpus(text, at))
    if name == "--gres":
        gpus = _GPUS.search(text or "")
        return replace(job, gpus_per_node=Fact(int(gpus[1]), at)) if gpus else job
    if name == "--gpus-per-task":
        return replace(job, gpus_per_task=_gpus(text, at))
    if name == "--container-image":
        return replace(job, container=value)
    if name == "--gpus":
        return replace(job, gpus=_gpus(text, at))
    if name == "--cpus-per-task":
        return replace(job, cpus=_fact(value, at))
    if name == "--time":
        seconds = walltime_seconds(text) if text is not None else None
        return replace(job, walltime=Walltime(text or "", seconds, at) if seconds is not None else None)
    if name == "--array":
        return replace(job, array=text or "?")
    if name == "--dependency":
        return replace(job, dependency=_kinds(value.text) if value is not None else ())
    if name == "--partition":
        return replace(job, partition=text)
    if name == "--nodelist":
        return replace(job, chosen_nodes=True)
    if name == "--requeue":
        return replace(job, requeue=True)
    return job


def _kinds(text: Text) -> tuple[str, ...]:
    """The kinds of a dependency: one, or those that it has in turn."""
    turns = next((piece.turns for piece in text if piece.turns), ()) or (shown(text),)
    kinds = (re.match(r"[a-z]+", turn) for turn in turns)
    return tuple(kind[0] for kind in kinds if kind is not None) or ("afterany",)


def _fact(value: Arg | None, at: Location) -> Fact:
    if value is None:
        return NOTHING
    varies = varying(value.text)
    if varies is not None:
        return Fact(None, at, varies)
    count = _COUNT.fullmatch(value.known or "")
    return Fact(int(count[1]) if count and not count[2] else None, at)


def _gpus(text: str | None, at: Location) -> Fact:
    digits = re.search(r"(\d+)$", text or "")
    return Fact(int(digits[1]), at) if digits else Fact(None, at)


def header(script: Script) -> Job | None:
    """The job that a script's `#SBATCH` lines ask for: those before the first command; None where there are none."""
    job: Job | None = None
    position = 0
    for line in script.text.splitlines(keepends=True):
        stripped = line.strip()
        start, position = position, position + len(line)
        if stripped and not stripped.startswith("#"):
            break
        match = _HEADER.match(line.rstrip())
        if match is None:
            continue
        at = script.at(start, start + len(line.rstrip()))
        job = job or Job(in_job=True)
        offset = start + match.start(1)
        words = [Arg(script.literal(offset + first, offset + last), at) for first, last in _words(match[1])]
        for name, value in options(words):
            job = with_option(job, name, value, at)
    return job


def _words(text: str) -> list[tuple[int, int]]:
    """Start and end of each word of a header line; a comment ends it."""
    found = []
    for match in re.finditer(r"\S+", text):
        if match[0].startswith("#"):
            break
        found.append(match.span())
    return found


def options(words: list[Arg]) -> list[tuple[str, Arg | None]]:
    """Long names and values of options."""
    found: list[tuple[str, Arg | None]] = []
    index = 0
    while index < len(words):
        name, value, taken = option(words, index)
        index += taken
        if name is not None:
            found.append((name, value))
    return found


def option(words: list[Arg], index: int) -> tuple[str | None, Arg | None, int]:
    """One option at an index: its long name, its value, and how many words it takes; (None, None, 1) for a plain word."""
    text = flat(words[index].text)
    if not text.startswith("-") or text == "-":
        return None, None, 1
    if text.startswith("--"):
        name, sign, _ = text.partition("=")
        if sign:
            return name, Arg(cut(words[index].text, len(name) + 1), words[index].at), 1
        if name in ALONE or index + 1 >= len(words):
            return name, None, 1
        return name, words[index + 1], 2
    if text in ALONE:
        return text, None, 1
    short = text[:2]
    if len(text) > 2 and short in SHORT:
        begin = 3 if text[2] == "=" else 2
        return SHORT[short], Arg(cut(words[index].text, begin), words[index].at), 1
    if short in SHORT and index + 1 < len(words):
        return SHORT[short], words[index + 1], 2
    return text, None, 1


def at_option(words: list[Arg], index: int, taken: int) -> Location:
    """Where an option stands, with the word that is its value."""
    first, last = words[index].at, words[min(index + taken, len(words)) - 1].at
    if first.source is not last.source or last.span.end < first.span.start:
        return first
    return Location(first.source, Span(first.span.start, last.span.end))


def variables(job: Job, at: Location) -> dict[str, Text]:
    """Slurm's variables inside a job: counts are what the options say; ids are others in each chunk."""
    found: dict[str, Text] = {}

    def count(names: str, fact: Fact) -> None:
        for name in names.split():
            if fact.value is not None:
                found[name] = fixed(str(fact.value), fact.location or at)
            elif fact.location is not None:  # without an option Slurm does not set it
                found[name] = unknown(
                    f"`${name}` is not one number by the job's options", at, varies=fact.varies, name=name
                )

    count("SLURM_JOB_NUM_NODES SLURM_NNODES", job.node_count)
    count("SLURM_TASKS_PER_NODE", job.ranks)
    stated = job.ranks.location is not None
    count("SLURM_NTASKS_PER_NODE", job.ranks if stated else NOTHING)
    nodes, ranks = job.node_count.value, job.ranks.value
    count("SLURM_NTASKS SLURM_NPROCS", Fact(nodes * ranks) if stated and nodes and ranks else NOTHING)
    count("SLURM_GPUS_ON_NODE SLURM_GPUS_PER_NODE", job.node_gpus)
    count("SLURM_CPUS_PER_TASK", job.cpus)
    restarts = Variation("restart", "the restart count")
    found["SLURM_RESTART_COUNT"] = unknown("", at, varies=restarts, name="SLURM_RESTART_COUNT")
    index = Variation("array", "the array index")
    found["SLURM_ARRAY_TASK_ID"] = unknown("", at, varies=index, name="SLURM_ARRAY_TASK_ID")
    for name in ("SLURM_JOB_ID", "SLURM_JOBID"):
        found[name] = unknown("", at, varies=Variation("job", "the job id"), name=name)
    return found
