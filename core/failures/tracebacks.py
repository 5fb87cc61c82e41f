"""Puts tracebacks together from lines: chains, workers' own tracebacks, several ranks' mixed with each other."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from .records import Frame, Raised

HEADER = "Traceback (most recent call last)"
_FRAME = re.compile(r'\s*(?:[|+]\s*)*File "(?P<file>[^"\n]+)", line (?P<line>\d+)(?:, in (?P<function>.+))?')
#: As the `rich` library draws it.
_RICH = re.compile(r"│\s*(?P<file>\S+\.py):(?P<line>\d+) in (?P<function>[\w<>.]+)\s*│?")
_RICH_SOURCE = re.compile(r"│ ❱ *\d+ *(?P<source>.*?)[ │]*$")
_RAISED = re.compile(r"(?P<type>(?:[A-Za-z_]\w*\.)*[A-Z_]\w*)(?::(?: (?P<message>.*))?)?")
#: Names that tell an exception by themselves; another one only counts right below a frame.
_TELLING = re.compile(r"(?:Error|Exception|Warning|Interrupt|Exit|StopIteration|Value|Pool|Failed|NotFound|Timeout)$")
#: What stands before a colon and is no exception.
_WORDS = frozenset(
    (
        *("DEBUG", "INFO", "WARNING", "WARN", "ERROR", "CRITICAL", "FATAL", "NOTE", "HINT"),
        *("Training", "Epoch", "Validation", "Validating", "Testing", "Predicting", "Sanity"),
        *("File", "Note", "Key", "Exception"),
    )
)
_CONNECTING = ("During handling of the above exception", "The above exception was the direct cause")
_RECORD = re.compile(
    r"\[NeMo [A-Z] |\[?\d{4}-\d\d-\d\d[T ]|[IWEF]\d{4} \d\d:|srun: |slurmstepd|\[rank\d|INFO|WARNING|ERROR"
)

_MOST_FRAMES = 400  #: of one traceback; a recursion repeats itself
_MOST_MESSAGE = 24  #: lines of a message
_MOST_WIDTH = 4000  #: characters of one of them
_MOST_PEERS = 64
_MOST_SOURCE = 400  #: characters
_PATIENCE = 300  #: lines of others between two of a traceback
_GAP = 4  #: lines between an exception and what connects it to the next


@dataclass(slots=True)
class Assembly:
    """The tracebacks that one label prints: fed line by line, `finished` once nothing can follow.

    Several ranks without labels print into each other: more than one header comes before the first exception. Frames
    are then shared, and each exception ends one of the tracebacks.
    """

    handled: bool = False
    links: list[Raised] = field(default_factory=list)  #: the chain, root first
    peers: list[Raised] = field(default_factory=list)  #: what ranks raised that are mixed with the first
    finished: bool = False
    _state: str = "frames"  #: frames · message · after
    _awaited: int = 1  #: tracebacks that have no exception yet
    _frames: list[Frame] = field(default_factory=list)
    _link: Raised | None = None  #: the exception of the link that is being read
    _type: str = ""
    _message: list[str] = field(default_factory=list)
    _below: bool = False  #: whether the line above belongs to a frame
    _foreign: int = 0  #: lines of others since the last one of ours
    _connected: bool = False  #: whether the next header continues the chain
    _inner: bool = False  #: whether the link is the cause of the one before it, as a worker's is

    def feed(self, text: str, record: bool = False) -> bool:
        """Take a line; returns False for one that belongs to something else, as a `record` with a time of its own does."""
        bare = text.strip()
        if record and HEADER not in text:
            text, bare, taken = "", "", False
            if self._state == "message":
                self._in_message("", "")
        elif HEADER in text:
            taken = self._header(inner="Original" in text)
        elif bare.startswith(_CONNECTING):
            taken = self._connection()
        elif self._state == "frames":
            taken = self._in_frames(text, bare)
        elif self._state == "message":
            taken = self._in_message(text, bare)
        else:
            taken = not bare or bare == '"""'
        self._foreign = 0 if taken and bare else self._foreign + 1
        patience = _GAP if self._state == "after" and not self._connected else _PATIENCE
        self.finished = self.finished or self._foreign > patience
        return taken

    def end(self) -> None:
        """No more lines will come."""
        self._settle()
        if self._link is None and self._frames:
            self._link = Raised("", "", tuple(self._frames))
        self._close_link()
        self.finished = True

    def _header(self, inner: bool) -> bool:
        if self._state == "frames" or (self._state == "message" and self._awaited and not inner):
            self._awaited += 1
            return True
        if not (inner or self._connected):
            self.finished = True
            return False
        self._settle()
        self._close_link()
        self._state, self._awaited, self._frames = "frames", 1, []
        self._connected, self._below, self._inner = False, False, inner
        return True

    def _connection(self) -> bool:
        self._settle()
        self._state, self._connected = "after", True
        return True

    def _in_frames(self, text: str, bare: str) -> bool:
        """A frame, its source and underline, the exception, or a line of somebody else."""
        if (frame := _FRAME.match(text) or _RICH.match(text)) is not None:
            self._add(Frame(frame["file"], int(frame["line"]), (frame["function"] or "<module>").strip()))
            return True
        underline = bool(bare) and set(bare) <= set("^~ ")
        if not bare or underline or text[0] in " \t│╭╰|":
            if bare and not underline and self._frames:
                self._add_source(bare)
            return True
        raised = _RAISED.fullmatch(text) if self._frames else None
        if raised is not None and self._is_exception(raised["type"]):
            self._take(raised)
            return True
        self._below = False
        return False

    def _in_message(self, text: str, bare: str) -> bool:
        """More of the message, the exception of another rank, or what ends it."""
        raised = _RAISED.fullmatch(text) if self._awaited else None
        if raised is not None and _TELLING.search(raised["type"]) and self._is_exception(raised["type"]):
            self._settle()
            self._take(raised)
            return True
        frame = _FRAME.match(text) is not None
        if frame and self._awaited:
            self._settle()
            self._state = "frames"
            return self._in_frames(text, bare)
        ends = not bare or bare == '"""' or frame or _RECORD.match(text) is not None
        if not ends and len(self._message) < _MOST_MESSAGE:
            self._message.append(text[:_MOST_WIDTH])
            return True
        self._settle()
        self._state = "frames" if self._awaited else "after"
        return not bare or bare == '"""'

    def _take(self, raised: re.Match[str]) -> None:
        self._type, self._message = raised["type"], [(raised["message"] or "")[:_MOST_WIDTH]]
        self._state, self._below = "message", False
        self._awaited -= 1
        if raised.end("type") == raised.end():  # without a colon there is no message, however the log goes on
            self._settle()
            self._state = "frames" if self._awaited else "after"

    def _is_exception(self, type_: str) -> bool:
        name = type_.rpartition(".")[2]
        return type_ not in _WORDS and (_TELLING.search(name) is not None or self._below)

    def _add(self, frame: Frame) -> None:
        self._below = True
        place = (frame.file, frame.line, frame.function)
        mixed = self._awaited > 1 or self._link is not None
        if mixed and any((f.file, f.line, f.function) == place for f in self._frames):
            return
        if len(self._frames) < _MOST_FRAMES:
            self._frames.append(frame)
        else:
            self._frames[-1] = frame  # the innermost one stays the last

    def _add_source(self, line: str) -> None:
        """Write a frame's source down. Of tracebacks that are mixed, it may belong to a frame further up: all are kept."""
        if line[0] in "│╭╰":
            if (drawn := _RICH_SOURCE.match(line)) is None:
                return
            line = drawn["source"]
        last = self._frames[-1]
        if not last.source and self._below:
            source = line
        elif self._awaited > 1 and line not in last.source:
            source = f"{last.source}\n{line}".lstrip()
        else:
            return
        self._frames[-1] = Frame(last.file, last.line, last.function, source[:_MOST_SOURCE])

    def _settle(self) -> None:
        """Write down the exception that was read."""
        if not self._type:
            return
        raised = Raised(self._type, "\n".join(self._message).rstrip(), tuple(self._frames))
        self._type, self._message = "", []
        if self._link is None:
            self._link = raised
        elif (raised.type, raised.message) != (self._link.type, self._link.message) and len(self.peers) < _MOST_PEERS:
            self.peers.append(raised)

    def _close_link(self) -> None:
        if self._link is not None and self._inner:
            self.links.insert(max(0, len(self.links) - 1), self._link)
        elif self._link is not None:
            self.links.append(self._link)
        self._link = None
