"""What a changed value does to a chain of chunks: one table, for the rules on changes and for `nemo-resumable diff`.

Read in lhotse 2.0.0a7 (`dataset/sampling/base.py`, `dynamic_bucketing.py`, `checkpoint.py`, `lazy.py`), in torchdata's
StatefulDataLoader and in NeMo Speech main (`common/data/lhotse/dataloader.py`).
"""

from __future__ import annotations

from ..records import dataclass
from .config import TrainingConfig
from .values import Setting, Unknown

TOPOLOGY, SEED, SAMPLER, SOURCES, INDEX = "NR901", "NR902", "NR903", "NR904", "NR905"


@dataclass(frozen=True, slots=True)
class Meaning:
    """What happens when the next chunk restores. `code` is the rule that speaks of it, "" where it breaks nothing."""

    code: str
    effect: str  #: a clause


_OTHER_SAMPLER = Meaning(SAMPLER, "another sampler is built, and the saved state does not fit it")
_NEXT_BATCHES = Meaning("", "batches are formed anew from the next chunk on; the position in the data holds")
_OTHER_ITEMS = Meaning("", "other items pass the filter from the next chunk on; the position in the data holds")
_OTHER_BATCHES = Meaning("", "batches look different from the next chunk on; the position in the data holds")
_REBUILT = "sidecars are looked for under other names, and have to be built or staged there first"
_RANKS = Meaning(TOPOLOGY, "the state is divided by ranks and workers, and restoring it raises")

#: Options of a training dataset.
OF_DATASETS: dict[str, Meaning] = {
    "num_workers": Meaning(
        TOPOLOGY, "the dataloader's state has a part for each worker, and restoring it ends in a bare AssertionError"
    ),
    "shard_seed": Meaning(
        SEED, "the sampler's state holds its seed, and restoring it with another ends in a bare AssertionError"
    ),
    "seed": Meaning(SEED, "nothing is said, and from the next chunk on everything is drawn in another order"),
    "num_buckets": Meaning(SAMPLER, "the saved state has another number of buckets: a RuntimeError"),
    "bucket_duration_bins": Meaning(
        SAMPLER, "the saved state has other buckets: a RuntimeError where their number differs"
    ),
    "shuffle": Meaning(SAMPLER, "the checkpoint's value wins, with a warning, so the change does nothing"),
    "bucket_buffer_size": Meaning(
        SAMPLER, "the checkpoint's value is taken without a word, so the change does nothing"
    ),
    "quadratic_duration": Meaning(
        SAMPLER, "the checkpoint's value is taken without a word, so the change does nothing"
    ),
    "use_bucketing": _OTHER_SAMPLER,
    "sampler_fusion": _OTHER_SAMPLER,
    "multi_config": _OTHER_SAMPLER,
    "use_multimodal_sampling": _OTHER_SAMPLER,
    "force_map_dataset": Meaning(
        SAMPLER, "map-style and iterable datasets keep different states, and the saved one does not fit"
    ),
    "force_iterable_dataset": Meaning(
        SAMPLER, "map-style and iterable datasets keep different states, and the saved one does not fit"
    ),
    "max_open_streams": Meaning(SOURCES, "sources are mixed by another iterator, and the saved state does not fit it"),
    "indexes_root": Meaning(INDEX, _REBUILT),
    "index_pack": Meaning(INDEX, "the pack has to hold the sources under the paths that the config names"),
    "index_pack_root": Meaning(INDEX, "packs are looked for there, and have to be put there first"),
    "indexed": Meaning("", "the sources are read by other iterators, and the saved state does not fit them"),
    "use_stateful_dataloader": Meaning("", "without it no position is saved, and each chunk begins anew"),
    "concurrent_bucketing": Meaning("", "with it on, a resumed run waits forever after its first batches"),
    "reweight_temperature": Meaning("", "sources are drawn with other weights from the next chunk on"),
    "batch_size": _NEXT_BATCHES,
    "batch_duration": _NEXT_BATCHES,
    "batch_tokens": _NEXT_BATCHES,
    "bucket_batch_size": _NEXT_BATCHES,
    "min_duration": _OTHER_ITEMS,
    "max_duration": _OTHER_ITEMS,
    "min_tps": _OTHER_ITEMS,
    "max_tps": _OTHER_ITEMS,
    "min_tokens": _OTHER_ITEMS,
    "max_tokens": _OTHER_ITEMS,
    "sample_rate": _OTHER_BATCHES,
}

#: The ends of keys that split the ranks otherwise: the ranks that read data are all of them / (tp × cp × pp).
PARALLEL = (
    "tensor_parallel_size",
    "tensor_model_parallel_size",
    "context_parallel_size",
    "pipeline_parallel_size",
    "pipeline_model_parallel_size",
    "data_parallel_size",
    "tp_size",
    "cp_size",
    "pp_size",
    "dp_size",
)
_PARALLEL_SECTIONS = (("trainer", "strategy"), ("trainer",), ("model",))
RANKS = (("trainer", "num_nodes"), ("trainer", "devices"))


def of_option(key: str) -> Meaning:
    """What a change of a dataset's option means; of what the table does not name, that it is not known to matter."""
    return OF_DATASETS.get(key, Meaning("", "nothing that is saved depends on it"))


def of_ranks() -> Meaning:
    """What another number of ranks means."""
    return _RANKS


def topology(*configs: TrainingConfig) -> list[tuple[str, ...]]:
    """The paths of the settings that decide how many ranks read data, as far as any of these configs states them."""
    found = dict.fromkeys(RANKS)
    for config in configs:
        for place in _PARALLEL_SECTIONS:
            section = config.composition.root.at(place)
            found |= {
                (*place, key): None for key in (section.names() if section is not None else ()) if key in PARALLEL
            }
    return list(found)


def in_topology(config: TrainingConfig, path: tuple[str, ...]) -> Setting:
    """One of these settings, with what holds where it is not stated."""
    name = path[-1]
    return config.setting(path, "auto" if name == "devices" or name.startswith(("data_", "dp_")) else 1)


def ranks_of(config: TrainingConfig) -> tuple[int, int] | None:
    """(nodes, devices) where both are plain numbers."""
    nodes, devices = (in_topology(config, path).value for path in RANKS)
    if isinstance(devices, list):
        devices = len(devices)
    if type(nodes) is int and type(devices) is int and nodes > 0 and devices > 0:
        return nodes, devices
    return None


def same(before: object, now: object) -> bool:
    """Whether two values are the same at run time; of values that cannot be known, whether they are written alike."""
    if isinstance(before, Unknown) or isinstance(now, Unknown):
        return isinstance(before, Unknown) and isinstance(now, Unknown) and before.text == now.text
    if isinstance(before, bool) is not isinstance(now, bool):
        return False
    return before == now
