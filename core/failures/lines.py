"""A line of a log as it was printed: without colours and labels, with the rank and the time that stood before it."""

from __future__ import annotations

import re

from ..records import dataclass
from .records import Time

LONGEST = 1 << 15  #: bytes of a line that are looked at

_ESCAPES = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])")
_RANKS = re.compile(
    r"""(?:
        \[(?:rank|Rank\ |default|trainer)(?P<bracket>\d{1,6})\]:?[ ]?  # torch: [rank3]: torchrun: [default3]:
      | \[\d{1,6},(?P<mpi>\d{1,6})\](?:<std(?:out|err)>)?:[ ]?  # mpirun --tag-output
      | (?P<srun>[ ]{0,5}\d{1,6}):[ ]  # srun --label
    )""",
    re.X,
)
_EMPTY_RANK = re.compile(r"(?:\[(?:rank|default|trainer)(?P<bracket>\d{1,6})\]:|[ ]{0,5}(?P<srun>\d{1,6}):)\s*")
#: What containers and `ts` put before a line; one space belongs to it, further ones to the line.
_STAMP = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)? (?:std(?:out|err) [FP] )?(?=\S|  )"
)
_DATED = re.compile(
    r"(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)[T _](?P<hour>\d\d):(?P<minute>\d\d):(?P<second>\d\d)(?:[.,](?P<part>\d{1,6}))?"
)
#: glog's form, as torchrun and NCCL's watchdog use it: `W0501 09:12:33.120000`.
_GLOG = re.compile(
    r"(?:^|\[)[IWEFVD](?P<month>\d{1,2})(?P<day>\d\d) (?P<hour>\d\d):(?P<minute>\d\d):(?P<second>\d\d)(?:\.(?P<part>\d{1,9}))?"
)
_REACH = 160  #: characters in which a time may stand


@dataclass(frozen=True, slots=True)
class Line:
    """One line. `text` is what the program printed, its indent kept."""

    text: str
    rank: str
    time: Time | None
    stamped: bool = False  #: whether a time stood before the text


def read_line(raw: bytes, ranked: bool = True) -> Line:
    """Take a line apart; with `ranked` off, a leading number and colon is text."""
    if len(raw) > LONGEST:
        raw = raw[:LONGEST]
    if b"\x1b" in raw:
        raw = _ESCAPES.sub(b"", raw)
    text = raw.decode("utf-8", "replace").replace("\0", "").rstrip()
    time = time_in(text)
    rank, stamped = "", False
    for _ in range(3):  # `0: [rank0]: Traceback`, and a time between them
        stamp = _STAMP.match(text)
        if stamp is not None:
            stamped = True
            text = text[stamp.end() :]
        label = (_RANKS.match(text) or _EMPTY_RANK.fullmatch(text)) if ranked else None
        if label is not None:
            groups = label.groupdict()
            named = groups["bracket"] or groups.get("mpi") or groups["srun"]
            rank = str(int(named))
            text = text[label.end() :]
        elif stamp is None:
            break
    return Line(text, rank, time, stamped)


def time_in(text: str) -> Time | None:
    """The time that stands near the beginning of a text."""
    head = text[:_REACH]
    match = _DATED.search(head) if "-" in head else None
    if match is None:
        match = _GLOG.search(head)
        if match is None:
            return None
    return _time(match)


def last_time(data: bytes) -> Time | None:
    """The last time in a piece of a log."""
    text = data.decode("utf-8", "replace")
    dated = list(_DATED.finditer(text))
    if dated:
        return _time(dated[-1])
    for line in reversed(text.splitlines()):
        if (match := _GLOG.search(line[:_REACH])) is not None:
            return _time(match)
    return None


def _time(match: re.Match[str]) -> Time:
    groups = match.groupdict()
    part = (groups["part"] or "")[:6].ljust(6, "0")
    clock = (int(groups[name]) for name in ("month", "day", "hour", "minute", "second"))
    month, day, hour, minute, second = clock
    return int(groups.get("year") or 0), month, day, hour, minute, second, int(part)


def seconds_between(first: Time, then: Time) -> float | None:
    """How much later one time is than another; None where a year is not written in both, or a date is none."""
    from datetime import datetime

    if not first[0] or not then[0]:
        return None
    try:
        return (datetime(*then) - datetime(*first)).total_seconds()
    except ValueError:
        return None


def written(time: Time) -> str:
    """A time as it is shown."""
    year, month, day, hour, minute, second, _ = time
    date = f"{year:04}-{month:02}-{day:02}" if year else f"{month:02}-{day:02}"
    return f"{date} {hour:02}:{minute:02}:{second:02}"
