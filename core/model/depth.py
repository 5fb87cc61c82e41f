"""How deep `input_cfg` nests, and which list of reweighting temperatures arrives where: what cutset.py does at start-up.

`count_input_cfg_levels` counts the deepest branch; each list of entries takes the first temperature and hands the rest
down. A wrapper with its own `input_cfg` begins anew: what arrives is compared with the depth below it.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..records import dataclass
from .blend import Entry
from .dataset import Dataset
from .values import Setting, Unknown


@dataclass(frozen=True, slots=True)
class Depth:
    """Levels of `input_cfg`. Where a file on the way could not be read, `levels` is the least it can be."""

    levels: int
    exact: bool


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A place at which the temperatures that arrive do not fit."""

    setting: Setting  #: where they are written
    wrapper: Entry | None  #: the wrapper that compares them; None for the dataset
    given: int | None  #: how many arrive; None for a single number where a list is taken apart
    depth: Depth


def depth_below(owner: Dataset | Entry) -> Depth:
    """The nesting depth that a dataset, a group or a wrapper counts for its own `input_cfg`."""
    entries = owner.entries if isinstance(owner, Dataset) else owner.children
    if owner.find("input_cfg") is None or (isinstance(owner, Entry) and owner.flat):
        return Depth(0, True)
    if isinstance(owner["input_cfg"].value, str):
        config = owner.config if isinstance(owner, Dataset) else owner.dataset.config
        runtime = config.context.runtime
        if "indexed" not in runtime.options:
            return Depth(1, True)  # NeMo up to 3.0.0 does not look into the file
        if not runtime.index_packs:
            return Depth(1, False)  # in between, nobody looked
    if not entries:
        return Depth(1, owner["input_cfg"].value is None)  # a file that was not read may nest further
    inner = [depth_below(entry) for entry in entries if not entry.flat]
    levels = max((depth.levels for depth in inner), default=0)
    return Depth(1 + levels, all(depth.exact for depth in inner))


def mismatches(dataset: Dataset) -> Iterator[Mismatch]:
    """Every place at which start-up refuses the dataset's `reweight_temperature`."""
    if dataset.find("input_cfg") is not None and dataset["input_cfg"].value is not None:
        yield from _validated(dataset, dataset["reweight_temperature"], dataset["reweight_temperature"].value)


def _validated(owner: Dataset | Entry, setting: Setting, value: object) -> Iterator[Mismatch]:
    """What `read_dataset_config` does: a number is repeated for each level, a list has to be as long as the tree is deep."""
    if value is None or isinstance(value, Unknown):
        yield from _consumed(owner, setting, value)
        return
    depth = depth_below(owner)
    if isinstance(value, (int, float)):
        if not depth.exact:
            return
        value = [value] * depth.levels
    elif not isinstance(value, list):
        return
    elif len(value) < depth.levels or (depth.exact and len(value) > depth.levels):
        yield Mismatch(setting, owner if isinstance(owner, Entry) else None, len(value), depth)
        return
    yield from _consumed(owner, setting, value)


def _consumed(owner: Dataset | Entry, setting: Setting, value: object) -> Iterator[Mismatch]:
    """What `parse_and_combine_datasets` does with each list of entries."""
    if isinstance(value, Unknown):
        return
    rest: list[object] | None = None
    if isinstance(value, list) and value:
        rest = value[1:]
    elif isinstance(value, (int, float)) and value:
        yield Mismatch(setting, owner if isinstance(owner, Entry) else None, None, depth_below(owner))
        return
    for entry in owner.entries if isinstance(owner, Dataset) else owner.children:
        own = entry.own("reweight_temperature")
        at, handed = (own, own.value) if own is not None else (setting, rest)
        if not entry.is_group:
            continue
        if entry.type is not None and entry.type.wrapper and "input_cfg" in entry.type.needs[0]:
            yield from _validated(entry, at, handed)
        elif entry.type is not None and entry.type.group:
            yield from _consumed(entry, at, handed)
