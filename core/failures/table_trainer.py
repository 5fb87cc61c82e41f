"""Failure modes of the trainer, of exp_manager and of the scheduler."""

from __future__ import annotations

from .modes import Kind, mode, printed, raised

MODES = (
    mode(
        "conflicting-checkpoint-triggers",
        "NR404",
        raised("MisconfigurationException", "every_n_train_steps=", "should be mutually exclusive"),
    ),
    mode(
        "refused-checkpoint-callback",
        "NR406 NR404",
        raised("MisconfigurationException", "Invalid value for save_top_k="),
        raised("MisconfigurationException", "Invalid value for every_n_"),
        raised("MisconfigurationException", "is not a valid configuration. No quantity for top_k to track"),
    ),
    mode(
        "interval-in-words",
        "NR404",
        raised("AttributeError", "'str' object has no attribute 'total_seconds'"),
    ),
    mode(
        "invalid-time-limit",
        "NR407 NR011",
        raised("MisconfigurationException", "Timer(duration=", "is not a valid duration"),
    ),
    mode(
        "no-first-checkpoint",
        "NR402 NR405 NR411",
        raised("NotFoundError", "There were no checkpoints found in checkpoint_dir"),
    ),
    mode(
        "several-last-checkpoints",
        "NR406",
        raised("ValueError", "Multiple checkpoints", "that matches *last.ckpt"),
    ),
    mode(
        "unfinished-checkpoint",
        "NR408 NR406",
        raised("ValueError", "checkpoint is unfinished and cannot be used to resume the training"),
    ),
    mode(
        "already-completed",
        "NR406",
        raised("ValueError", "indicating that the last training run has already completed"),
        raised("ValueError", "Multiple checkpoints", "that matches *end.ckpt"),
    ),
    mode(
        "competing-callbacks",
        "NR414",
        raised("LoggerMisconfigurationError", "passed to exp_manager contained a logger"),
        raised("CheckpointMisconfigurationError", "passed to exp_manager contained a ModelCheckpoint"),
    ),
    mode(
        "replaced-sampler",
        "NR412",
        raised("TypeError", "configured a sampler in your DataLoader which does not provide", "__len__"),
    ),
    mode(
        "fractional-limit",
        "NR413",
        raised("MisconfigurationException", "When using an", "IterableDataset", "must be"),
    ),
    mode(
        "slurm-layout-disagrees",
        "NR505 NR504",
        raised("ValueError", "in Lightning, but the number of", "configured in SLURM"),
        raised("RuntimeError", "You set `--ntasks=", "but this variable is not supported"),
    ),
    mode(
        "killed-at-walltime",
        "NR408 NR403 NR407",
        printed("CANCELLED AT", "DUE TO TIME LIMIT"),
    ),
    mode(
        "preempted-or-lost-node",
        "NR403",
        printed("CANCELLED AT", "DUE TO PREEMPTION"),
        printed("CANCELLED AT", "DUE TO NODE FAILURE"),
    ),
    mode(
        "collective-timeout",
        "",
        printed("Watchdog caught collective operation timeout"),
        raised("DistBackendError", "NCCL"),
        raised("RuntimeError", "Watchdog caught collective operation timeout"),
        raised("RuntimeError EPException", "deep_ep", "unspecified launch failure"),
        printed("DeepEP timeout check failed"),
        raised("RuntimeError", "Timed out waiting", "for", "operation to complete"),
        kind=Kind.CONSEQUENCE,
    ),
    mode(
        "lost-peer",
        "",
        raised("RuntimeError", "Connection closed by peer"),
        raised("RuntimeError", "Connection reset by peer"),
        raised("ConnectionResetError BrokenPipeError"),
        raised("DistNetworkError DistStoreError"),
        kind=Kind.CONSEQUENCE,
    ),
    mode(
        "stopped-from-outside",
        "",
        raised(
            "ChildFailedError SignalException SIGTERMException KeyboardInterrupt SystemExit RendezvousConnectionError"
        ),
        printed("error: *** STEP", "CANCELLED AT", unless="DUE TO"),
        printed("error: *** JOB", "CANCELLED AT", unless="DUE TO"),
        kind=Kind.CONSEQUENCE,
    ),
    mode(
        "batch-without-data",
        "",
        raised("TypeError", "'NoneType' object is not subscriptable", at=":training_step"),
        raised("TypeError", "'NoneType' object is not subscriptable", at=":validation_step"),
        kind=Kind.CONSEQUENCE,
    ),
    mode(
        "bucketing-thread-at-exit",
        "NR111",
        raised("AttributeError", "'NoneType' object has no attribute 'is_alive'", at="dynamic_bucketing.py"),
        kind=Kind.CONSEQUENCE,
    ),
)
