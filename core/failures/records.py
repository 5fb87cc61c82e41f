"""What is read out of a log: exceptions with their frames, and single lines that say something by themselves."""

from __future__ import annotations

from ..records import dataclass

#: A point in time as it stands in a log, without its zone: year (0 where none is written), month, day, hour, minute,
#: second, microsecond.
Time = tuple[int, int, int, int, int, int, int]


@dataclass(frozen=True, slots=True)
class Frame:
    """One `File "…", line …, in …` of a traceback, and the source line below it, "" where there is none."""

    file: str
    line: int
    function: str
    source: str = ""

    def within(self, place: str) -> bool:
        """Whether the frame is at a place such as `lhotse/lazy.py:__iter__`; a path is compared from its end."""
        path, _, function = place.partition(":")
        file = self.file.replace("\\", "/")
        if function and function != self.function.rpartition(".")[2]:
            return False
        return not path or file == path or file.endswith(f"/{path}")


@dataclass(frozen=True, slots=True)
class Raised:
    """One exception: of a chain the single link, with the frames of its own traceback, outermost first."""

    type: str  #: as printed: `omegaconf.errors.ValidationError`
    message: str  #: all its lines, "" for a bare exception
    frames: tuple[Frame, ...]

    @property
    def name(self) -> str:
        """The type without its module."""
        return self.type.rpartition(".")[2]

    @property
    def summary(self) -> str:
        """The exception as Python prints it, its first line."""
        first = self.message.split("\n", 1)[0]
        return f"{self.type}: {first}" if first else self.type


@dataclass(frozen=True, slots=True)
class Place:
    """Where in the logs something stands."""

    log: int  #: the number of the log among those given
    offset: int  #: in bytes of the (unpacked) log, for the order in it
    line: int  #: from 1
    rank: str  #: as the log labels it, "" for a line without a label
    time: Time | None  #: written on the line, or last seen above it


@dataclass(frozen=True, slots=True)
class Activity:
    """Signs of a running training, counted: progress bars of steps, and records of what is going on."""

    steps: int = 0
    records: int = 0

    def since(self, earlier: Activity) -> Activity:
        """What came after another count."""
        return Activity(self.steps - earlier.steps, self.records - earlier.records)


@dataclass(frozen=True, slots=True)
class Incident:
    """A traceback with its chain, root first, or a line that says something by itself (then `text` holds it)."""

    place: Place
    chain: tuple[Raised, ...] = ()
    text: str = ""
    so_far: Activity = Activity()  #: signs of a running training above it in its log
    before: Time | None = None  #: of a line, the last time above it
    above: str = ""  #: of a line that ends a log, what stands above it
    handled: bool = False  #: printed by something that went on: `Exception ignored in`
    repeated: int = 0  #: how often the same was seen again

    @property
    def summary(self) -> str:
        """What was raised last, as Python prints it; the line itself where nothing was."""
        return self.chain[-1].summary if self.chain else self.text

    @property
    def frames(self) -> tuple[Frame, ...]:
        """The frames of the whole chain."""
        return tuple(frame for raised in self.chain for frame in raised.frames)
