"""Two versions of a config, value by effective value: which settings differ, and which sources came, went or moved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace

from ..lazily import cached_property
from ..records import dataclass
from .blend import Entry
from .config import TrainingConfig
from .dataset import Dataset
from .restoring import RANKS, Meaning, in_topology, of_option, of_ranks, ranks_of, same, topology
from .trainer import CALLBACK, MANAGER, field
from .values import Setting

#: What says under which name and in which folder an experiment keeps its checkpoints.
_EXPERIMENT = (
    *(f"{MANAGER}.{key}" for key in ("explicit_log_dir", "exp_dir", "name", "version")),
    f"{CALLBACK}.dirpath",
)
_NOT_COMPARED = ("input_cfg", "datasets")  #: the sources are compared one by one


@dataclass(frozen=True, slots=True)
class Difference:
    """A setting with two values. `dataset` is None for one that stands beside the datasets."""

    path: tuple[str, ...]
    before: Setting
    now: Setting
    meaning: Meaning
    dataset: Dataset | None = None


@dataclass(frozen=True, slots=True)
class Moved:
    """A source that names its data by other strings than before."""

    key: str
    before: Entry
    now: Entry


@dataclass(frozen=True, slots=True)
class SourceChanges:
    """What became of a dataset's sources."""

    added: tuple[Entry, ...] = ()
    removed: tuple[Entry, ...] = ()
    retyped: tuple[tuple[Entry, Entry], ...] = ()  #: before and now
    moved: tuple[Moved, ...] = ()
    reordered: tuple[Entry, Entry] | None = None  #: the first place at which another stands, before and now
    regrouped: tuple[Entry, Entry] | None = None  #: the first groups that gather otherwise
    reweighted: tuple[tuple[Entry, Entry], ...] = ()


@dataclass(frozen=True, eq=False)
class Change:
    """A config and what it was. `then` says when: "in the last commit"."""

    before: TrainingConfig
    now: TrainingConfig
    then: str

    @cached_property
    def datasets(self) -> tuple[tuple[Dataset, Dataset], ...]:
        """The training datasets that are in both, before and now."""
        earlier = {dataset.subject: dataset for dataset in self.before.training}
        return tuple((earlier[dataset.subject], dataset) for dataset in self.now.training if dataset.subject in earlier)

    @cached_property
    def lone(self) -> tuple[tuple[str, int], ...]:
        """The training datasets that are on one side only, with the side: 0 before, 1 now."""
        sides = [[dataset.subject for dataset in side.training] for side in (self.before, self.now)]
        return tuple((subject, side) for side in (0, 1) for subject in sides[side] if subject not in sides[1 - side])

    @cached_property
    def resumable(self) -> bool:
        """Whether some training dataset saves its position on both sides."""
        return any(
            before["use_stateful_dataloader"].is_(True) and now["use_stateful_dataloader"].is_(True)
            for before, now in self.datasets
        )

    @cached_property
    def continues(self) -> bool:
        """Whether the next chunk restores what was saved under the version before."""
        return self.resumable and self.same_experiment

    @cached_property
    def matters(self) -> bool:
        """Whether something differs that restoring stumbles over."""
        harmless = SourceChanges()
        return (
            bool(self.lone)
            or any(each.meaning.code for each in self.differences)
            or any(replace(found, reweighted=()) != harmless for _, found in self.sources)
        )

    @cached_property
    def same_experiment(self) -> bool:
        """Whether both keep their checkpoints under one name in one folder."""
        return all(same(field(self.before, key).value, field(self.now, key).value) for key in _EXPERIMENT)

    @cached_property
    def differences(self) -> tuple[Difference, ...]:
        """The settings of training datasets, and those that decide how many ranks read data, whose values differ."""
        return (*self._of_ranks(), *(each for pair in self.datasets for each in _of_options(*pair)))

    def _of_ranks(self) -> Iterator[Difference]:
        pairs = [
            (path, in_topology(self.before, path), in_topology(self.now, path))
            for path in topology(self.before, self.now)
        ]
        differ = [(path, before, now) for path, before, now in pairs if not same(before.value, now.value)]
        counted = (ranks_of(self.before), ranks_of(self.now))
        if None not in counted and _product(counted[0]) == _product(counted[1]):
            differ = [each for each in differ if each[0] not in RANKS]  # the same ranks on other nodes
        for path, before, now in differ:
            yield Difference(path, before, now, of_ranks())

    @cached_property
    def sources(self) -> tuple[tuple[Dataset, SourceChanges], ...]:
        """What became of the sources of each training dataset, those of which nothing did left out."""
        found = ((now, source_changes(before, now)) for before, now in self.datasets)
        return tuple((dataset, changes) for dataset, changes in found if changes != SourceChanges())


def _product(counted: tuple[int, int] | None) -> int:
    return counted[0] * counted[1] if counted is not None else 0


def _of_options(before: Dataset, now: Dataset) -> Iterator[Difference]:
    keys = dict.fromkeys((*before.keys(), *now.keys()))
    for key in keys:
        if key in _NOT_COMPARED or now.option(key) is None:
            continue
        if not same(before[key].value, now[key].value):
            yield Difference((*now.path, key), before[key], now[key], of_option(key), now)


def source_changes(before: Dataset, now: Dataset) -> SourceChanges:
    """Compare the sources of two datasets. What cannot be known on a side, such as a blend that is not there, is left out."""
    if any(gap.dataset is side for side in (before, now) for gap in side.config.gaps):
        return SourceChanges()
    old, new = before.sources, now.sources
    keys = [list(map(_identity, side)) for side in (old, new)]
    if keys[0] == keys[1]:
        return SourceChanges(
            retyped=_pairs(old, new, lambda one, other: one.type_name != other.type_name),
            regrouped=_regrouped(before.entries, now.entries),
            reweighted=_pairs(before.all_entries, now.all_entries, _weighs_otherwise),
        )
    if Counter(keys[0]) == Counter(keys[1]):
        at = next(index for index, (one, other) in enumerate(zip(*keys)) if one != other)
        return SourceChanges(reordered=(old[at], new[at]))
    return _came_and_went(old, new, *keys)


def _came_and_went(
    old: tuple[Entry, ...], new: tuple[Entry, ...], old_keys: list[object], new_keys: list[object]
) -> SourceChanges:
    """Sources that are on one side only; two at the same place between the same neighbours are one that has moved."""
    kept, known = set(new_keys), set(old_keys)
    moved: list[Moved] = []
    if len(old) == len(new):
        at = [index for index in range(len(old)) if old_keys[index] != new_keys[index]]
        same_places = all(old_keys[index] not in kept and new_keys[index] not in known for index in at)
        if same_places and all(old[index].type_name == new[index].type_name for index in at):
            for index in at:
                moved += [Moved(key, old[index], new[index]) for key in _moved_keys(old[index], new[index])]
            return SourceChanges(moved=tuple(moved), reweighted=_pairs(old, new, _weighs_otherwise))
    return SourceChanges(
        added=tuple(entry for entry, key in zip(new, new_keys) if key not in known),
        removed=tuple(entry for entry, key in zip(old, old_keys) if key not in kept),
    )


def _moved_keys(before: Entry, now: Entry) -> Iterator[str]:
    for key in dict.fromkeys((*before.data_keys, *now.data_keys)):
        if [path.text for path in before.paths if path.key == key] != [
            path.text for path in now.paths if path.key == key
        ]:
            yield key


def _identity(entry: Entry) -> object:
    return tuple((path.key, path.field, path.text) for path in entry.paths)


def _pairs(
    before: tuple[Entry, ...], now: tuple[Entry, ...], differ: Callable[[Entry, Entry], bool]
) -> tuple[tuple[Entry, Entry], ...]:
    return (
        tuple((one, other) for one, other in zip(before, now) if differ(one, other)) if len(before) == len(now) else ()
    )


def _weighs_otherwise(before: Entry, now: Entry) -> bool:
    return not before.flat and not now.flat and not same(before["weight"].value, now["weight"].value)


def _regrouped(before: tuple[Entry, ...], now: tuple[Entry, ...]) -> tuple[Entry, Entry] | None:
    """The first two entries at the same place with another number of entries below them."""
    if len(before) != len(now):
        return (before[0], now[0]) if before and now else None
    for one, other in zip(before, now):
        if len(one.children) != len(other.children):
            return one, other
        if (found := _regrouped(one.children, other.children)) is not None:
            return found
    return None
