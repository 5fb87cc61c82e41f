"""The one door: logs in; the cause, what came of it, and the line of the config behind it out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..analysis import analyze
from ..findings import Finding
from ..project import Project
from .hanging import hung
from .logs import Log, Reader
from .modes import Kind, Mode, find_mode, modes_fitting
from .order import in_time, seconds
from .pointing import pointed_at
from .records import Incident, Place
from .scan import Progress, Scan, scan

_STEPS_ON = 200  #: steps after an exception that say that it was not the end
_RECORDS_ON = 20  #: records after one that nobody knows that say the same


@dataclass(frozen=True, slots=True)
class Recognised:
    """An incident with the failure mode it is of; None for one that the table does not know."""

    incident: Incident
    mode: Mode | None
    survived: bool = False  #: whether the training went on after it


@dataclass(frozen=True, slots=True)
class ConfigCause:
    """What the config that was given says to the cause."""

    config: Path
    findings: tuple[Finding, ...]  #: of the mode's rules, the likeliest first
    rules: tuple[str, ...]  #: the rules that were looked for
    problem: str = ""  #: why the config could not be judged


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What the logs say. Without a `cause` it is unknown, and `first` is the first exception, where there is one."""

    cause: Recognised | None
    first: Recognised | None
    others: tuple[Recognised, ...]  #: what else was recognised, in time
    scans: tuple[Scan, ...]
    restored: Place | None  #: where a checkpoint was restored last
    ordered: bool  #: whether times say what came first among several logs
    at_config: ConfigCause | None = None

    @property
    def mode(self) -> Mode | None:
        """The failure mode, where it is known."""
        return self.cause.mode if self.cause else None


def diagnose(
    paths: Sequence[Path | Log],
    project: Project | None = None,
    config: Path | None = None,
    *,
    progress: Progress | None = None,
) -> Diagnosis:
    """Read the logs of one run and name the cause; with a config, point at what in it caused it.

    Raises LogError for what is no log, before any of it is read to the end.
    """
    logs = [item if isinstance(item, Log) else Log(str(item), item) for item in paths]
    for log in logs:
        if log.path is not None and (log.path.is_file() or not log.path.exists() or log.path.is_dir()):
            Reader(log).close()
    scans = tuple(scan(log, number, progress) for number, log in enumerate(logs))
    incidents, ordered = in_time(scans)
    found = [_recognised(incident, scans) for incident in incidents]
    restored = max((s.restored for s in scans if s.restored), key=lambda p: (seconds(p.time), p.offset), default=None)
    cause, first = _cause(found, scans)
    others = tuple(each for each in found if each.mode is not None and each is not cause and each is not first)
    at_config = None
    if project is not None and config is not None:
        at_config = _at_config(cause, project, config)
    return Diagnosis(cause, first, others, scans, restored, ordered, at_config)


def _recognised(incident: Incident, scans: Sequence[Scan]) -> Recognised:
    modes = modes_fitting(incident)
    # A chain may end in what came of it, such as a lost peer: its root cause counts.
    mode = next((each for each in modes if each.kind is Kind.CAUSE), modes[0] if modes else None)
    later = scans[incident.place.log].activity.since(incident.so_far)
    # What is known to end a run is believed longer than what may have been caught and logged.
    survived = later.steps >= _STEPS_ON or (mode is None and later.records >= _RECORDS_ON)
    return Recognised(incident, mode, incident.handled or survived)


def _cause(found: list[Recognised], scans: Sequence[Scan]) -> tuple[Recognised | None, Recognised | None]:
    """The cause, and where it is unknown the first exception."""
    ends = {"killed-at-walltime", "preempted-or-lost-node"}
    candidates = [each for each in found if not each.survived and _may_be_cause(each)]
    exceptions = [each for each in candidates if not (each.mode and each.mode.slug in ends)]
    if exceptions:
        first = _with_its_reason(exceptions[0], found)
        return (first, None) if first.mode else (None, first)
    if (hang := hung([(each.incident, each.mode) for each in found], scans)) is not None:
        return Recognised(hang, find_mode("hang-after-restore")), None
    if candidates:
        return candidates[0], None
    # What a run survived is still what made it suspicious, where nothing else stopped it.
    late = [
        each for each in found if each.mode and each.mode.kind is not Kind.CONSEQUENCE and not each.incident.handled
    ]
    if late:
        return late[0], None
    return None, next((each for each in found if each.incident.chain), found[0] if found else None)


def _may_be_cause(each: Recognised) -> bool:
    return each.mode is None or each.mode.kind is Kind.CAUSE


def _with_its_reason(first: Recognised, found: list[Recognised]) -> Recognised:
    """The first exception; where it is unknown, what ranks said at the same moment may say more."""
    if first.mode is not None:
        return first
    at = first.incident
    for each in found:
        same_log = each.incident.place.log == at.place.log
        if each.mode is None or each.mode.kind is not Kind.CAUSE or each.survived or not same_log:
            continue
        # The process died of the same exception, told once more or by the loader that passed it on.
        if any(a.message and a.message == b.message for a in at.chain for b in each.incident.chain):
            return each
    return first


def _at_config(cause: Recognised | None, project: Project, config: Path) -> ConfigCause:
    rules = cause.mode.rules if cause and cause.mode else ()
    analysis = analyze(project, [config])
    for file, reason in analysis.problems:
        if file == config:
            return ConfigCause(config, (), rules, reason)
    if not analysis.configs:
        return ConfigCause(config, (), rules, f"`{config}` is no training config that Lhotse reads")
    fired = [finding for finding in analysis.findings if finding.code in rules]
    text = "\n".join(_evidence(cause)) if cause else ""
    return ConfigCause(config, tuple(pointed_at(fired, rules, text)), rules)


def _evidence(cause: Recognised) -> Iterator[str]:
    yield cause.incident.text
    for link in cause.incident.chain:
        yield link.message
