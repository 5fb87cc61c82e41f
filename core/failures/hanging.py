"""Whether a training hung after a restore: it made some steps and then said nothing until it was killed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from .lines import seconds_between
from .modes import Mode
from .records import Incident
from .scan import Scan

_SOON = 5000  #: steps after a restore up to which the hang that is known comes
_SILENCE = 30 * 60  #: seconds without a step before a kill

#: `410/1000 [12:31<18:00,  1.83s/it`
_BAR = re.compile(
    r"(?P<step>\d+)/(?:\d+|\?) \[(?P<elapsed>[\d:]+)<[^,\]]*,\s*(?P<rate>\d+(?:\.\d+)?)(?P<unit>it/s|s/it)"
)


def hung(found: Iterable[tuple[Incident, Mode | None]], scans: Sequence[Scan]) -> Incident | None:
    """The place of the restore with what ended the run, where it hung; None where it did not, or nothing shows that."""
    if any(scan.stopped for scan in scans):
        return None
    for incident, mode in found:
        if mode is None or mode.slug not in ("collective-timeout", "killed-at-walltime"):
            continue
        own = scans[incident.place.log]
        scan = own if own.restored is not None else next((each for each in scans if each.restored is not None), None)
        if scan is None or scan.restored is None:
            continue
        steps = max(each.activity.since(each.activity_restored).steps for each in (scan, own))
        if steps > _SOON:
            continue
        if mode.slug == "killed-at-walltime" and not _silent(incident, scan, steps):
            continue
        return replace(incident, place=scan.restored, chain=(), text=incident.text or incident.summary, above="")
    return None


def _silent(kill: Incident, scan: Scan, steps: int) -> bool:
    """Whether there was no step for long before the kill.

    Progress bars bear no time of day. How long steps were made is taken from the last bars: their elapsed time, or the
    number of bars at their rate, whichever is more.
    """
    bars = list(_BAR.finditer(kill.above))
    if not bars or not steps or scan.restored is None or kill.place.time is None or scan.restored.time is None:
        return False
    whole = seconds_between(scan.restored.time, kill.place.time)
    logged = seconds_between(kill.before, kill.place.time) if kill.before else whole
    if whole is None or logged is None:
        return False
    last = bars[-1]
    rate = float(last["rate"])
    each = 1 / rate if last["unit"] == "it/s" and rate else rate
    apart = max(1, int(last["step"]) - int(bars[-2]["step"])) if len(bars) > 1 else 1
    busy = max(_seconds(last["elapsed"]), steps * apart * each)
    return min(logged, whole - busy) >= _SILENCE


def _seconds(clock: str) -> int:
    """`12:31` or `1:02:03` in seconds."""
    total = 0
    for part in clock.split(":"):
        total = total * 60 + int(part or 0)
    return total
