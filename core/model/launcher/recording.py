"""What walking a launcher finds: training commands, submissions, index builds, copies, and what could not be read."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ...findings import Location
from .chains import chain_of, chain_of_loop, queued_again
from .facts import Chain, Handed, IndexBuild, Launch, Staging, Submission, Unread
from .jobs import Job
from .texts import Arg, Text, word

if TYPE_CHECKING:
    from .around import Around

_MAX_LAUNCHES = 200


#: Counts of what is recorded, the gaps, and what is known of chains.
Point = tuple[tuple[int, int, int, int], dict[Location, Unread], "tuple[bool, Chain | None]"]


class Recorder:
    """Collects facts in the order in which a launcher comes to them."""

    def __init__(self) -> None:
        self.launches: list[Launch] = []
        self.submissions: list[Submission] = []
        self.index_builds: list[IndexBuild] = []
        self.gaps: dict[Location, Unread] = {}
        self.requeued = False
        self.own_chain: Chain | None = None
        self.handed_on: dict[str, Arg] = {}  #: what a script that queues itself gives its successor
        self._staged: list[Staging] = []

    def launch(self, launch: Launch) -> None:
        """A training command, with the copies that came before it."""
        launch = replace(launch, staging=tuple(self._staged))
        for index, other in enumerate(self.launches):
            if other.location == launch.location and replace(other, chain=launch.chain) == launch:
                # The first chunk of a chain and the next, which differ in what they wait for.
                if len(launch.chain.by or "") > len(other.chain.by or ""):
                    self.launches[index] = launch
                return
        if len(self.launches) < _MAX_LAUNCHES:
            self.launches.append(launch)

    def stage(self, copied: Staging, around: Around) -> None:
        """A copy of index files, and under which condition it runs."""
        conditions = [at for why, at in around.conditions if why is not None]
        if conditions:
            copied = replace(copied, every_chunk=False, condition=conditions[0])
        if copied not in self._staged:
            self._staged.append(copied)

    def new_job(self) -> list[Staging]:
        """Forget the copies of the job before; returns them for `back_to`."""
        before, self._staged = self._staged, []
        return before

    def back_to(self, staged: list[Staging]) -> None:
        """Go on in the script around a job."""
        self._staged = staged

    def mark(self) -> tuple[int, int, int]:
        """How much was found so far."""
        return len(self.launches), len(self.submissions), len(self.index_builds)

    def back_to_mark(self, mark: tuple[int, int, int]) -> None:
        """Forget what was found since."""
        del self.launches[mark[0] :], self.submissions[mark[1] :], self.index_builds[mark[2] :]

    def point(self) -> Point:
        """How much is recorded by now, for `undo` and `started_since`."""
        return (*self.mark(), len(self._staged)), dict(self.gaps), (self.requeued, self.own_chain)

    def undo(self, point: Point) -> None:
        """Forget all that came after a point: it was walked only to see what happens."""
        counts, gaps, (self.requeued, self.own_chain) = point
        self.back_to_mark(counts[:3])
        del self._staged[counts[3] :]
        self.gaps = dict(gaps)

    def started_since(self, point: Point) -> bool:
        """Whether a training or a job was started after a point."""
        return len(self.launches) > point[0][0] or len(self.submissions) > point[0][1]

    def gap(self, at: Location, sentence: str) -> None:
        """A part that cannot be read; each place once."""
        self.gaps.setdefault(at, Unread(at, sentence))

    def submits_itself(self, job: Job, exports: list[tuple[str, Arg, Text]], args: list[Arg]) -> None:
        """The script queues itself again, with these variables and arguments."""
        how = f" with --dependency={job.dependency[0]}" if job.dependency else ""
        self.own_chain = Chain(True, f"the job submits itself{how}")
        self.handed_on |= {name: Arg(text, arg.at) for name, arg, text in exports}
        self.handed_on |= {str(number): arg for number, arg in enumerate(args, 1)}

    def chain_of_submission(self, job: Job, around: Around) -> Chain:
        """What an `sbatch` says of the chunks it makes."""
        own = chain_of(job)
        if around.loops and not own.array:
            return chain_of_loop(job, after_build=bool(self.index_builds))
        return own if own.chained or own.array else around.chain

    def submit(
        self,
        at: Location,
        job_file: Arg,
        args: list[Arg],
        exports: list[tuple[str, Arg, Text]],
        job: Job,
        chain: Chain,
    ) -> None:
        """A job file that is not here, with what it is handed."""
        handed = [Handed(name, word(text, arg.at), arg.at) for name, arg, text in exports]
        for number, arg in enumerate(args, 1):
            value = word(arg.text, arg.at)
            handed.append(Handed(value.name or f"argument {number}", value, arg.at))
        self.submissions.append(
            Submission(
                at,
                word(job_file.text, job_file.at),
                tuple(handed),
                job.nodes,
                job.tasks_per_node,
                job.walltime,
                chain,
            )
        )
        if job_file.known is None:
            self.gap(job_file.at, "which job file is started is only known at the call")
        else:
            self.gap(job_file.at, f"the job file `{job_file.known}` is not here")

    def finished(self) -> tuple[Launch, ...]:
        """The training commands with what only the whole launcher says of chains."""
        return tuple(queued_again(launch, requeued=self.requeued, by_itself=self.own_chain) for launch in self.launches)
