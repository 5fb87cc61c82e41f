"""Reads one log: jumps from one telling word to the next, and reads line by line only where something is said."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from .lines import LONGEST, Line, last_time, read_line
from .logs import Log, Reader
from .modes import is_telling, telling_pieces
from .records import Activity, Incident, Place, Raised, Time
from .tracebacks import HEADER, Assembly

#: What is told of the reading: the log's name, bytes read, bytes in all (None where that is unknown).
Progress = Callable[[str, int, "int | None"], None]

#: Every line that is looked at holds one of these.
_ANCHORS = (
    HEADER.encode(),
    b"Error",
    b"Exception",
    b"error: ",
    b"rror ",
    b"ailed",
    b"FAILED",
    b"CANCELLED",
    b"oom_kill",
    b"oom-kill",
    b"Killed",
    b"Out Of Memory",
    b"nvidia-container-cli",
    b"Restor",
    b"empty content",
    b"FallbackDataset",
    b"collective operation timeout",
    b"Time limit reached",
    b"keys are ignored",
    b"Overriding the shuffle",
    b"DeepEP",
    b"SIGTERM",
)
_STEPS = (b"it/s", b"s/it")  #: in the progress bar of each step
_RECORDS = (b"[NeMo I ", b" INFO ")
_ENDS = "CANCELLED AT"
_NONE = Activity()
_NAMED = re.compile(rb"(\w+): ")
_BREAK = re.compile(rb"[\r\n]")
_NEARBY = 8192  #: bytes above a line in which its time is looked for
_IGNORED = "Exception ignored in"
#: What the scan itself looks for in a line; failure modes add theirs.
_OWN = (HEADER.encode(), b"Restored all states", b"Time limit reached", b"Received SIGTERM", _IGNORED.encode())
_MOST_DULL = 2000  #: lines that are remembered to say nothing
_MOST_INCIDENTS = 2000  #: different ones kept of a log
_RESTORED = re.compile(r"Restored all states from the checkpoint")
_STOPPED = re.compile(r"Time limit reached\. Elapsed time is|Received SIGTERM, saving checkpoint and exiting")


@dataclass(slots=True)
class Scan:
    """What one log says."""

    log: Log
    number: int
    incidents: list[Incident] = field(default_factory=list)
    lines: int = 0
    activity: Activity = _NONE  #: signs of a running training in all
    restored: Place | None = None  #: where a checkpoint was restored last
    activity_restored: Activity = _NONE  #: signs of a running training up to there
    stopped: Place | None = None  #: where the training was told to save and stop in time
    last: Time | None = None  #: the last time written in it
    ranks: set[str] = field(default_factory=set)
    problem: str = ""
    left_out: int = 0  #: incidents beyond those that are kept


def scan(log: Log, number: int, progress: Progress | None = None) -> Scan:
    """Read a log. Raises LogError."""
    reader = Reader(log)
    scanner = _Scanner(Scan(log, number))
    try:
        for block in reader.blocks():
            scanner.block(block)
            if progress is not None:
                progress(log.name, reader.done, reader.size)
    finally:
        if log.stream is None:
            reader.close()
    scanner.end()
    scanner.scan.problem = reader.problem
    return scanner.scan


@dataclass(frozen=True, slots=True)
class _Open:
    """A traceback that is being printed."""

    assembly: Assembly
    place: Place  #: of its first line
    activity: Activity
    stamped: bool  #: whether a time stands before each of its lines


class _Scanner:
    """Goes through blocks. Offsets are those in the whole log, `base` is where the block begins."""

    def __init__(self, result: Scan) -> None:
        self.scan = result
        self._pieces = telling_pieces()
        self._always = (*_OWN, *self._pieces[b""])
        self._base = 0
        self._open: dict[str, _Open] = {}
        self._seen: dict[tuple[object, ...], int] = {}
        self._ignoring = False
        self._dull: set[bytes] = set()

    def block(self, data: bytes) -> None:
        """Look at one block of whole lines."""
        counted, line = 0, self.scan.lines
        for start, end in self._interesting(data):
            if not self._open and not self._tells(data[start : min(end, start + LONGEST)]):
                continue
            line += data.count(b"\n", counted, start)
            self.scan.activity = _more(self.scan.activity, data, counted, start)
            counted = start
            self._line(data, start, end, line + 1)
        self.scan.lines = line + data.count(b"\n", counted)
        self.scan.activity = _more(self.scan.activity, data, counted, len(data))
        self.scan.last = last_time(data[-_NEARBY:]) or self.scan.last
        self._base += len(data)

    def end(self) -> None:
        """The log is at its end."""
        for rank in list(self._open):
            self._finish(rank)
        self.scan.incidents.sort(key=lambda incident: incident.place.offset)

    def _interesting(self, data: bytes) -> Iterator[tuple[int, int]]:
        """Lines with a telling word, and all lines while a traceback is open."""
        upcoming = [data.find(anchor) for anchor in _ANCHORS]
        position = 0
        while position < len(data):
            if not self._open:
                hit = min((found for found in upcoming if found >= 0), default=-1)
                if hit < 0:
                    return
                position = max(position, max(data.rfind(b"\n", position, hit), data.rfind(b"\r", position, hit)) + 1)
            match = _BREAK.search(data, position)
            end = match.start() if match else len(data)
            yield position, end
            position = end + 1
            for index, found in enumerate(upcoming):
                if 0 <= found < position:
                    upcoming[index] = data.find(_ANCHORS[index], position)

    def _line(self, data: bytes, start: int, end: int, number: int) -> None:
        line = read_line(data[start : min(end, start + LONGEST)])
        text, rank = line.text, line.rank
        if not text and not self._open:
            return

        def before() -> Time | None:
            return last_time(data[max(0, start - _NEARBY) : start]) or self.scan.last

        def place() -> Place:
            return Place(self.scan.number, self._base + start, number, rank, line.time or before())

        if rank:
            self.scan.ranks.add(rank)
        taken = self._into_open(line)
        if HEADER in text and not taken:
            self._open[rank] = _Open(Assembly(handled=self._ignoring), place(), self.scan.activity, line.stamped)
            self._ignoring = False
            return
        if not text:
            return
        self._ignoring = _IGNORED in text or (self._ignoring and taken)
        if taken or not self._tells(text.encode()):
            return
        if _RESTORED.search(text):
            self.scan.restored, self.scan.activity_restored = place(), self.scan.activity
        elif _STOPPED.search(text):
            self.scan.stopped = place()
        if is_telling(text):
            above = data[max(0, start - _NEARBY) : start].decode("utf-8", "replace") if _ENDS in text else ""
            self._keep(Incident(place(), (), text.strip()[:600], self.scan.activity, before(), above))

    def _tells(self, raw: bytes) -> bool:
        """Whether a line may say something, at a glance: there may be millions with a telling word in them.

        Most are the same but for their numbers, which no two failure modes differ by.
        """
        skeleton = raw.translate(None, b"0123456789")
        if skeleton in self._dull:
            return False
        if self._has_piece(raw):
            return True
        if len(self._dull) >= _MOST_DULL:
            self._dull.clear()
        self._dull.add(skeleton)
        return False

    def _has_piece(self, raw: bytes) -> bool:
        for piece in self._always:
            if piece in raw:
                return True
        for name in _NAMED.findall(raw):
            for piece in self._pieces.get(name, ()):
                if piece in raw:
                    return True
        return False

    def _into_open(self, line: Line) -> bool:
        """Give the line to the traceback that its label has open."""
        entry = self._open.get(line.rank)
        if entry is None:
            return False
        taken = entry.assembly.feed(line.text, record=line.stamped and not entry.stamped)
        if entry.assembly.finished:
            self._finish(line.rank)
        return taken

    def _finish(self, rank: str) -> None:
        entry = self._open.pop(rank)
        assembly = entry.assembly
        assembly.end()
        if assembly.links:
            self._keep(Incident(entry.place, tuple(assembly.links), "", entry.activity, handled=assembly.handled))
        for peer in assembly.peers:
            self._keep(Incident(entry.place, (peer,), "", entry.activity, handled=assembly.handled))

    def _keep(self, incident: Incident) -> None:
        """Add an incident, or count it where the same is there already."""
        key = (incident.place.rank, _alike(incident.text), *map(_identity, incident.chain))
        known = self._seen.get(key)
        if known is not None:
            self.scan.incidents[known] = replace(
                self.scan.incidents[known], repeated=self.scan.incidents[known].repeated + 1
            )
        elif len(self.scan.incidents) < _MOST_INCIDENTS:
            self._seen[key] = len(self.scan.incidents)
            self.scan.incidents.append(incident)
        else:
            self.scan.left_out += 1


_NUMBERS = re.compile(r"\d+")


def _alike(text: str) -> str:
    """A message without its numbers: a thousand of the same kind are one."""
    return _NUMBERS.sub("#", text[:200])


def _identity(raised: Raised) -> tuple[object, ...]:
    inner = raised.frames[-1] if raised.frames else None
    return raised.type, _alike(raised.message), inner and (inner.file, inner.line, inner.function)


def _more(activity: Activity, data: bytes, start: int, end: int) -> Activity:
    """The counts with those of a piece."""
    steps, records = (sum(data.count(sign, start, end) for sign in signs) for signs in (_STEPS, _RECORDS))
    return Activity(activity.steps + steps, activity.records + records) if steps or records else activity
