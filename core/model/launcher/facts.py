"""What a launcher says, as facts with their places: commands that start training, overrides, variables, topology, staging."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from ...findings import Location
from ...records import dataclass
from ...text import Source


@dataclass(frozen=True, slots=True)
class Variation:
    """Why a value is another one in each chunk."""

    kind: str  #: random · time · job · array · loop · list · restart · chunk
    by: str  #: as a reader would name it: `$RANDOM`, the array index, `SEEDS[SLURM_ARRAY_TASK_ID]`
    at: Location | None = None  #: where it is drawn or decided


@dataclass(frozen=True, slots=True)
class Word:
    """A piece of a launcher's text as it reaches a command. With `text` None it is unknown, for `reason`, or it varies."""

    text: str | None
    location: Location
    reason: str = ""  #: one clause: "`$X` is not set in this file"
    varies: Variation | None = None
    defaulted: bool = False  #: known by a default that the caller may replace: `${1:-42}`, an argument parser's default
    drawn: Location | None = None  #: where the value is written, when that is not where it is used
    shown: str = ""  #: as a reader would write it, what is not known as `$NAME`: "$HOME/runs/a"
    name: str = ""  #: the variable, where the word is nothing but one


@dataclass(frozen=True, slots=True)
class Override:
    """One Hydra override of a command line."""

    key: str  #: dotted, without prefix
    prefix: str  #: "" · "+" · "++" · "~"
    value: Word  #: of a deletion the empty text
    location: Location  #: the whole word, quotes included: `"++a.b=1"`


@dataclass(frozen=True, slots=True)
class EnvVar:
    """A variable that a launcher sets."""

    name: str
    value: Word
    location: Location  #: the statement: `export AIS_ENDPOINT=…`, `env["X"] = …`, `-e X=…`
    reaches: bool = True  #: whether it reaches training: exported, given as a prefix, handed to the container


@dataclass(frozen=True, slots=True)
class Fact:
    """A number, where it stands, and whether chunks differ in it."""

    value: int | None = None
    location: Location | None = None
    varies: Variation | None = None


NOTHING = Fact()


@dataclass(frozen=True, slots=True)
class Walltime:
    """The time limit of the training job."""

    written: str
    seconds: int
    location: Location


@dataclass(frozen=True, slots=True)
class Chain:
    """Whether the command is one of several chunks, and what makes it so."""

    chained: bool = False
    by: str | None = None  #: "loop over sbatch --dependency=afterany", "array, one task at a time", "scontrol requeue"
    array: str | None = None  #: the array expression: 1-12%1


NO_CHAIN = Chain()


@dataclass(frozen=True, slots=True)
class Mount:
    """A folder of the machine that a container shows, and where it shows it."""

    source: Word
    target: Word


@dataclass(frozen=True, slots=True)
class Staging:
    """A copy of index files before training."""

    location: Location  #: the copying command
    source: Word
    target: Word
    every_chunk: bool = True
    every_node: bool = False
    condition: Location | None = None  #: what it depends on, where it does not run in every chunk
    named: bool = True  #: whether its paths speak of indexes; else it only may be a copy of them


@dataclass(frozen=True, slots=True)
class Launch:
    """One command that starts training."""

    location: Location  #: where the command begins, on one line: `srun python -u salm_train.py`
    starter: tuple[str, ...]  #: what stands before the program: ("srun", "torchrun"), ("python",)
    program: Word
    config_path: Word | None = None  #: --config-path as written, variables resolved where they can be
    config_name: Word | None = None
    config_dir: Word | None = None
    overrides: tuple[Override, ...] = ()
    env: Mapping[str, EnvVar] = field(default_factory=dict)
    nodes: Fact = NOTHING
    tasks_per_node: Fact = NOTHING  #: as Slurm counts them
    ranks_per_node: Fact = NOTHING  #: those that really start: torchrun starts its own
    gpus_per_node: Fact = NOTHING
    walltime: Walltime | None = None
    chain: Chain = NO_CHAIN
    container: Word | None = None  #: the image
    python: Word | None = None  #: a virtual environment that is switched on, or an interpreter by its path
    staging: tuple[Staging, ...] = ()
    open_files: Fact | None = None  #: `ulimit -n`; None where the launcher does not set it
    folder: Word | None = None  #: the working directory, where the launcher changes it
    mounts: tuple[Mount, ...] = ()


@dataclass(frozen=True, slots=True)
class Handed:
    """A value that a submission hands to a job file."""

    name: str  #: the variable (`--export=SEED=…`), or a word for a positional argument: "argument 2"
    value: Word
    location: Location


@dataclass(frozen=True, slots=True)
class Submission:
    """An `sbatch` whose job file is not here or not known."""

    location: Location
    job: Word
    hands_over: tuple[Handed, ...] = ()
    nodes: Fact = NOTHING
    tasks_per_node: Fact = NOTHING
    walltime: Walltime | None = None
    chain: Chain = NO_CHAIN


@dataclass(frozen=True, slots=True)
class IndexBuild:
    """A command that builds indexes or packs."""

    location: Location
    program: Word
    partition: str | None = None
    cpu_partition: bool = False  #: the partition's name speaks of CPUs, and no GPU is asked for
    container: Word | None = None
    gpu_hook_off: bool = False  #: NVIDIA_VISIBLE_DEVICES=void or a site's switch is set


@dataclass(frozen=True, slots=True)
class Unread:
    """A part of a launcher that cannot be read statically."""

    location: Location
    sentence: str  #: one sentence without a full stop


@dataclass(frozen=True, slots=True)
class Launcher:
    """Everything that a launcher file says."""

    source: Source
    kind: str  #: bash · sbatch · python
    launches: tuple[Launch, ...] = ()
    submissions: tuple[Submission, ...] = ()
    index_builds: tuple[IndexBuild, ...] = ()
    gaps: tuple[Unread, ...] = ()
