"""Failure modes of restoring a checkpoint's data position, and of saving one."""

from __future__ import annotations

from .modes import Kind, mode, printed, raised

_STATEFUL = "torchdata/stateful_dataloader/stateful_dataloader.py"
_SAMPLER = "lhotse/dataset/sampling/base.py:load_state_dict"

MODES = (
    mode(
        "shard-seed-changed",
        "NR501 NR110 NR503",
        raised("AssertionError", bare=True, inner=_SAMPLER, source="self.seed =="),
    ),
    mode(
        "sampler-world-size-changed",
        "NR504 NR505 NR409",
        raised("AssertionError", "Cannot restore sampler with a different world_size"),
    ),
    mode(
        "sampler-rank-changed",
        "NR504 NR505",
        raised("RuntimeError", "CutSampler.load_state_dict: state was saved on rank="),
    ),
    mode(
        "worker-count-changed",
        "NR113 NR504 NR503",
        raised("AssertionError", bare=True, inner=f"{_STATEFUL}:_restore_main_state", source="_NUM_WORKERS"),
        raised("AssertionError", "State doesn't contain key", "expected for", "process dataloader"),
    ),
    mode(
        "rank-count-changed",
        "NR504 NR409 NR505",
        raised("RuntimeError", "PerRankStatefulDataLoader: state has dp_world_size=", "but the current run has"),
        raised("RuntimeError", "PerRankStatefulDataLoader: state tagged (dp_rank="),
        raised("RuntimeError", "PerRankStatefulDataLoader: malformed per-rank entry"),
    ),
    mode(
        "foreign-loader-state",
        "NR504 NR409 NR509",
        raised("RuntimeError", "PerRankStatefulDataLoader.load_state_dict: state must use the per-rank wire format"),
    ),
    mode(
        "partition-changed",
        "NR504 NR113 NR409",
        raised("ValueError", "PartitionedIndexedIterator topology mismatch on resume"),
        raised("ValueError", "LazyIteratorChain global-shuffle partition mismatch on resume"),
        raised("ValueError", "LazyPackedManifestIterator partition mismatch on resume"),
        raised("ValueError", "LazyShuffledRange state mismatch: expected n="),
    ),
    mode(
        "bucket-count-changed",
        "NR513 NR503",
        raised("RuntimeError", "DynamicBucketer checkpoint is inconsistent: saved", "buckets, expected"),
    ),
    mode(
        "unrestorable-buckets",
        "NR309 NR308 NR101 NR118 NR114",
        raised("RuntimeError", "DynamicBucketer checkpoint requires graph-restorable sources"),
        raised("RuntimeError", "DynamicBucketer checkpoint captured a graph-local restore token, but"),
    ),
    mode(
        "unsaveable-pipeline",
        "NR309 NR308 NR118",
        raised("NotImplementedError", "does not support checkpointing"),
        raised("NotImplementedError", "does not support checkpoint restoration"),
        raised("NotImplementedError", "is not checkpointable and does not implement"),
        raised("NotImplementedError", "LazyCutMixer checkpointing is only supported when"),
    ),
    mode(
        "sources-changed",
        "NR513",
        raised("TypeError", "Type mismatch during state restoration: expected"),
        raised("ValueError", "Number of children mismatch during state restoration: expected"),
    ),
    mode(
        "sampler-count-changed",
        "NR513",
        raised("AssertionError", "RoundRobinSampler.load_state_dict(): Inconsistent number of samplers"),
    ),
    mode(
        "shuffling-turned-on",
        "NR513 NR123",
        raised("ValueError", "LazyIndexedManifestIterator with shuffle=True requires 'range' in state_dict"),
    ),
    mode(
        "loader-count-changed",
        "NR102 NR204",
        raised("RuntimeError", "The CombinedLoader has", "stateful loaders, but found", "states in the checkpoint"),
    ),
    mode(
        "weights-only-checkpoint",
        "NR410",
        raised("KeyError", "Trying to restore optimizer state but checkpoint contains only the model"),
    ),
    # What it looks like is judged from the whole log: a restore, no exception, and no more steps.
    mode("hang-after-restore", "NR111 NR116"),
    mode(
        "shuffle-overridden",
        "NR123 NR513",
        printed("Overriding the shuffle value in CutSampler based on state_dict"),
        kind=Kind.SUSPICION,
    ),
)
