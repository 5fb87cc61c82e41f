"""A config as its launchers start it: what an override causes becomes NR503, and the rules of launchers are run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from ..findings import Severity
from ..lazily import cached_property
from ..model.config import TrainingConfig
from ..model.overrides import as_started
from ..model.trainer import has_trainer
from ..model.values import Origin
from ..records import dataclass
from .drafts import Draft
from .registry import Rule

if TYPE_CHECKING:
    from ..model.launcher.facts import Launch, Launcher, Override

Drafts = list[tuple[Rule, Draft]]
Run = Callable[[str, Any], Iterator[tuple[Rule, Draft]]]

#: Rules on what the config states: an override that makes one of them fire undoes the config.
_UNDONE = ("NR0", "NR1", "NR2", "NR3", "NR4")
#: NR502 speaks of a fixed seed that differs; what cannot be known is listed as unverified.
_SPOKEN_OF = frozenset({"NR003", "NR004"})


@dataclass(frozen=True, eq=False)
class Started:
    """One training command with the config it starts: once as the files say it, once with the overrides on top."""

    launcher: Launcher
    launch: Launch
    plain: TrainingConfig  #: with the launch, without its overrides
    config: TrainingConfig

    def setting_overrides(self, *paths: str) -> Iterator[Override]:
        """The overrides that decide one of these keys; of a key given twice the last."""
        found = {override.key: override for override in self.launch.overrides if override.key in paths}
        yield from found.values()


@dataclass(frozen=True, eq=False)
class Launched:
    """A launcher with everything in it that starts the config: rules that compare chunks look at it."""

    launcher: Launcher
    config: TrainingConfig
    starts: tuple[Started, ...]

    @cached_property
    def memo(self) -> dict[str, object]:
        """What rules derived from it and need again."""
        return {}


@dataclass(frozen=True, eq=False)
class Undone:
    """What a rule says of a config as started, and the override that makes it say so."""

    override: Override
    code: str
    name: str
    draft: Draft


def start(config: TrainingConfig, launcher: Launcher, launch: Launch) -> Started:
    """The config under one training command."""
    plain = as_started(config, launch, ())
    return Started(launcher, launch, plain, as_started(config, launch, launch.overrides) if launch.overrides else plain)


def drafts_of_start(started: Started, judge: Callable[[TrainingConfig], Drafts], run: Run) -> Drafts:
    """The drafts of the config under a launch: those that only an override causes become NR503."""
    plain = judge(started.plain)
    found: Drafts = list(run("Started", started))
    if started.config is started.plain:
        return plain + found
    known = Counter((rule.code, draft.subject) for rule, draft in plain)
    undone: dict[Override, Undone] = {}
    for rule, draft in judge(started.config):
        overridden = draft.origin == Origin.LAUNCHER.value
        new = known[rule.code, draft.subject] == 0
        known[rule.code, draft.subject] -= 1
        if not (overridden or new) or not rule.code.startswith(_UNDONE):
            found.append((rule, draft))
        elif not overridden and rule.code.startswith("NR4") and not has_trainer(started.plain):
            continue  # an override makes the section that the rules wait for; what it lacks is no fault of the override
        elif (draft.severity or rule.severity) is not Severity.NOTE and rule.code not in _SPOKEN_OF:
            cause = _cause(started, rule, draft, judge)
            if cause is not None and cause.value.varies is not None and rule.code != "NR411":
                continue  # what is another in each chunk is NR501's, NR504's and NR513's to say
            if cause is None:
                found.append((rule, draft))
            else:
                undone.setdefault(cause, Undone(cause, rule.code, rule.name, draft))
    return found + [pair for each in undone.values() for pair in run("Undone", each)]


def _cause(started: Started, rule: Rule, draft: Draft, judge: Callable[[TrainingConfig], Drafts]) -> Override | None:
    """The override that makes a rule fire: the one it stands at, else the one without which it does not."""
    overrides = started.launch.overrides
    for override in overrides:
        if override.location == draft.location:
            return override
    for override in overrides:
        others = [each for each in overrides if each is not override]
        without = judge(as_started(started.plain, started.launch, others))
        if not any(each.code == rule.code and found.subject == draft.subject for each, found in without):
            return override
    return None


def judged_as_started(
    config: TrainingConfig, judge: Callable[[TrainingConfig], Drafts], run: Run
) -> tuple[Drafts, list[TrainingConfig]]:
    """The drafts of a config under each of its launchers, and the configs as started, whose files were read."""
    found: Drafts = []
    configs: list[TrainingConfig] = []
    bare = False
    for launcher, launches in config.launchers:
        starts = tuple(start(config, launcher, launch) for launch in launches)
        for started in starts:
            found += drafts_of_start(started, judge, run)
            configs.append(started.config)
        bare = bare or not starts
        found += run("Launched", Launched(launcher, config, starts))
    if bare and not configs:
        found += judge(config)
        configs.append(config)
    return found, configs
