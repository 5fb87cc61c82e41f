"""The order in time of what several logs say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .records import Incident, Time
from .scan import Scan


def seconds(time: Time | None) -> float:
    """A time as a number that grows with it; minus infinity for none."""
    if time is None:
        return float("-inf")
    year, month, day, hour, minute, second, part = time
    return ((((year * 13 + month) * 32 + day) * 24 + hour) * 60 + minute) * 60.0 + second + part / 1e6


def in_time(scans: Sequence[Scan]) -> tuple[list[Incident], bool]:
    """All incidents, the earliest first, and whether times could say so.

    In one log what stands above is earlier: logs are flushed in pieces, and a line may bear an older time than the one
    above it, so a time only counts between logs. Without times the logs follow each other as they were given.
    """
    year = next((i.place.time[0] for s in scans for i in s.incidents if i.place.time and i.place.time[0]), 0)
    queues = [[_dated(incident, year) for incident in s.incidents] for s in scans]
    queues = [queue for queue in queues if queue]
    ordered = len(queues) < 2 or all(incident.place.time is not None for queue in queues for incident in queue)
    if not ordered:
        return [incident for queue in queues for incident in queue], False
    merged: list[Incident] = []
    heads = [0] * len(queues)
    while any(head < len(queue) for head, queue in zip(heads, queues)):
        number = min(
            (n for n, queue in enumerate(queues) if heads[n] < len(queue)),
            key=lambda n: (seconds(queues[n][heads[n]].place.time), n),
        )
        merged.append(queues[number][heads[number]])
        heads[number] += 1
    return merged, True


def _dated(incident: Incident, year: int) -> Incident:
    """The incident with the year that others bear, where its own time is written without one."""
    time = incident.place.time
    if time is None or time[0] or not year:
        return incident
    return replace(incident, place=replace(incident.place, time=(year, *time[1:])))
