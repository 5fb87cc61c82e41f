"""The fixes that belong together: pinning the shard seed is only right once every training source is indexed.

On the real loader, a streaming tarred source with an integer `shard_seed` gave two ranks the same 9 of 9 items, `txt`
the same 11 of 11; with a random seed, or once indexed, none. So the fixes of one training section form one group.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from ..findings import Edit, Fix
from ..model.dataset import TrainingDataset
from ..model.obstacles import Obstacle, obstacles
from ..model.values import show
from ..records import dataclass
from .drafts import attempt

#: Sources that do not raise once `indexed` is asked for, but go on unpartitioned.
_UNPARTITIONED = ("NR308", "NR319")


@dataclass(frozen=True, slots=True)
class Migration:
    """What stands in the way of making every source of a training section indexed."""

    raising: tuple[Obstacle, ...]  #: sources that would raise at start-up
    streaming: tuple[Obstacle, ...]  #: sources that would go on streaming without a word
    unread: tuple[str, ...]  #: blends that could not be read
    drops: str = ""  #: the NeMo in use, where it does not know `indexed`: it would stream without a word
    refuses: str = ""  #: the Lhotse in use, where it has no indexes and NeMo asks for them: it would raise at start-up

    @property
    def reason(self) -> str:
        """Why the group is withheld in place, or "" when it is not."""
        if self.drops:
            return (
                f"{self.drops} does not know `indexed` and streams: with a fixed `shard_seed` every rank would draw the same "
                "items"
            )
        if self.refuses:
            return f"{self.refuses} has no indexes: every source would raise at start-up once indexed"
        if self.streaming:
            return f"{_listed(self.streaming)} can only stream: with a fixed `shard_seed` every rank would draw the same items"
        if self.raising:
            return f"{_listed(self.raising)} would raise at start-up once indexed; resolve or exclude it first"
        if self.unread:
            names = ", ".join(f"`{spec}`" for spec in dict.fromkeys(self.unread))
            return f"the blend {names} could not be read, so whether its sources can be indexed is not known"
        return ""


def _listed(found: tuple[Obstacle, ...]) -> str:
    counted = Counter(obstacle.code for obstacle in found)
    number = len(found)
    codes = ", ".join(counted)
    return f"1 source ({codes})" if number == 1 else f"{number} sources ({codes})"


def group_of(dataset: TrainingDataset) -> str:
    """The name of a training section's fix group; the sub-configs of a `multi_config` share one."""
    section = dataset.shared or dataset.section
    return f"indexed:{'.'.join(section.path)}"


def migration(dataset: TrainingDataset) -> Migration:
    """What stands in the way for the dataset and those it shares its options with."""
    name = group_of(dataset)
    cached = dataset.config.memo.get(name)
    if isinstance(cached, Migration):
        return cached
    runtime = dataset.config.context.runtime
    siblings = [other for other in dataset.config.training if group_of(other) == name]
    found = [obstacle for sibling in siblings for obstacle in obstacles(sibling)]
    unread = tuple(
        gap.spec
        for gap in dataset.config.gaps
        if gap.kind in ("missing", "remote", "unknown") and gap.dataset in siblings
    )
    state = Migration(
        tuple(obstacle for obstacle in found if obstacle.code not in _UNPARTITIONED),
        tuple(obstacle for obstacle in found if obstacle.code in _UNPARTITIONED),
        unread,
        drops=runtime.nemo.label if "indexed" not in runtime.options else "",
        refuses=runtime.lhotse.label if not runtime.indexed_core else "",
    )
    dataset.config.memo[name] = state
    return state


def in_group(dataset: TrainingDataset, title: str, edits: Callable[[], tuple[Edit, ...]], *, pins: bool = False) -> Fix:
    """A fix of the group. `pins` marks the one that is wrong, also in the artifact, while a source can only stream."""
    state = migration(dataset)
    artifact = not (pins and (state.streaming or state.drops))
    return attempt(title, edits, group=group_of(dataset), withheld=state.reason, artifact=artifact)


def set_in_group(dataset: TrainingDataset, key: str, value: object, *, pins: bool = False) -> Fix:
    """The group's fix that gives one option its value."""
    return in_group(dataset, f"Set `{key}` to {show(value)}", lambda: dataset.set(key, value), pins=pins)
