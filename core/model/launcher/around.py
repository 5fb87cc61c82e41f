"""What surrounds a command: its job and step, environment, container, conditions and loops."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from ...findings import Location
from ...records import dataclass
from .facts import NO_CHAIN, Chain, EnvVar, Fact, Mount, Variation
from .jobs import Job
from .texts import Arg, Text


@dataclass(frozen=True, slots=True)
class Around:
    """What surrounds a command."""

    begin: Location  #: where the whole command begins, on one line
    env: Mapping[str, EnvVar] = field(default_factory=dict)
    job: Job | None = None  #: the job whose body it is in
    step: Job | None = None  #: the srun step
    container: Arg | None = None
    mounts: tuple[Mount, ...] = ()
    python: Arg | None = None
    folder: Text = ()
    open_files: Fact | None = None
    chain: Chain = NO_CHAIN
    conditions: tuple[tuple[Variation | None, Location], ...] = ()
    loops: tuple[str, ...] = ()
    starter: tuple[str, ...] = ()
    ranks: Fact | None = None  #: processes that torchrun starts on a node
    torch_nodes: Fact | None = None
    stdin: Text | None = None  #: a here-document or what a program is given
    script: str = ""  #: the file's own name, for a job that submits itself
