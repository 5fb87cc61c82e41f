"""NR407-NR409 and NR412-NR414: when a chunk ends, on how many ranks it runs, and what Lightning does of its own."""

from __future__ import annotations

from collections.abc import Iterator

from ..findings import FixKind, Related, Severity
from ..model.config import TrainingConfig
from ..model.trainer import (
    MANAGER,
    TRAINER,
    Walltime,
    field,
    has_exp_manager,
    has_trainer,
    is_count,
    is_endless,
    is_iterable,
    known_walltime,
    time_limit_seconds,
)
from ..model.values import Origin, Setting, Unknown, show
from .drafts import Draft, about, set_key
from .registry import rule


@rule("NR407", "invalid-time-limit", Severity.ERROR)
def invalid_time_limit(config: TrainingConfig) -> Iterator[Draft]:
    """The time limit is not in the form that the timer takes."""
    setting = _time_limit(config)
    if setting is None or setting.value is None:
        return
    if isinstance(setting.value, str):
        if time_limit_seconds(setting.value) is None:
            yield about(setting, f"`max_time_per_run` is `{show(setting.value)}`, {_REFUSED}", rationale=_FORM)
    elif setting.location.source.cut(setting.location.span) == str(setting.value) or not _reads(setting):
        yield about(setting, f"`max_time_per_run` arrives as `{show(setting.value)}`, {_REFUSED}", rationale=_FORM)


_REFUSED = "not `DD:HH:MM:SS`: the timer raises a MisconfigurationException at start-up"
_FORM = 'Days, hours, minutes and seconds, two digits each for the last three, in quotes: "00:03:50:00".'


def _reads(setting: Setting) -> bool:
    """Whether an unquoted value, which YAML reads as a number, is right once it is quoted: NR011 does that."""
    return time_limit_seconds(setting.location.source.cut(setting.location.span)) is not None


def _time_limit(config: TrainingConfig) -> Setting | None:
    """`max_time_per_run` where exp_manager reads it and it is known."""
    setting = field(config, f"{MANAGER}.max_time_per_run")
    return setting if has_exp_manager(config) and setting.known else None


@rule("NR408", "time-limit-past-walltime", Severity.ERROR)
def time_limit_past_walltime(config: TrainingConfig) -> Iterator[Draft]:
    """A chunk does not end itself before the scheduler ends it."""
    setting = _time_limit(config)
    if setting is None:
        return
    walltime, margin = known_walltime(config), config.context.walltime_margin
    if setting.value is None:
        yield about(
            setting,
            "`max_time_per_run` is not set: "
            + (
                "`trainer.max_time` counts over all chunks together, so the chunk after it is used up ends at once"
                if field(config, f"{TRAINER}.max_time").value is not None
                else "the scheduler kills each chunk at its walltime, and what came after the last checkpoint is trained again"
            ),
            recommended=_longest(walltime, margin) if walltime else None,
            rationale=f"With it a chunk saves `*-last` and ends by itself; keep it {margin} minutes below the walltime.",
            severity=Severity.WARNING,
        )
        return
    limit = time_limit_seconds(setting.value) if isinstance(setting.value, str) else None
    if limit is not None and walltime is not None and limit > walltime.seconds - margin * 60:
        past = limit >= walltime.seconds
        message = (
            f"`max_time_per_run` is `{setting.value}`, "
            + ("not below" if past else f"less than {margin} minutes below")
            + f" the walltime of `{walltime.said}` that {walltime.where} states: the job "
            + ("is" if past else "may be")
            + " killed before its last checkpoint is written"
        )
        longest = _longest(walltime, margin)
        if walltime.location is None or setting.origin is Origin.LAUNCHER:
            yield about(setting, message, recommended=longest)
        else:
            yield Draft(
                message,
                walltime.location,
                setting.subject,
                setting.value,
                longest,
                origin="launcher",
                related=(Related(setting.location, "the config's time limit"),),
            )


def _longest(walltime: Walltime, margin: int) -> str | None:
    """The longest time limit that fits, as `DD:HH:MM:SS`."""
    seconds = walltime.seconds - margin * 60
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours // 24:02}:{hours % 24:02}:{minutes:02}:{seconds:02}" if hours >= 0 else None


@rule("NR409", "topology-from-environment", Severity.WARNING)
def topology_from_environment(config: TrainingConfig) -> Iterator[Draft]:
    """The number of ranks follows from where the job lands."""
    if not has_trainer(config):
        return
    for name, what in (("devices", "GPUs of a node"), ("num_nodes", "nodes")):
        setting = field(config, f"{TRAINER}.{name}")
        value = setting.value
        if isinstance(value, Unknown) and value.kind == "environment":
            cause = f"is `{value.text}`: the number of {what} comes from the environment"
        elif value in ("auto", -1, "-1"):
            cause = f"is {setting.phrase}: as many as the job finds"
        else:
            continue
        yield about(
            setting,
            f"`{name}` {cause}, and a chunk with another number than the one before cannot restore the dataloader",
            rationale="The world size is part of the saved state; state the number, the same in every chunk.",
        )


@rule("NR412", "distributed-sampler", Severity.ERROR, fix=FixKind.SAFE)
def distributed_sampler(config: TrainingConfig) -> Iterator[Draft]:
    """Lightning wants to put a sampler of its own in the place of Lhotse's."""
    path = f"{TRAINER}.use_distributed_sampler"
    setting = field(config, path)
    if not has_trainer(config) or not setting.known or not setting.value:
        return
    if all(is_iterable(dataset) for dataset in config.datasets):
        yield about(
            setting,
            f"`use_distributed_sampler` is {setting.phrase}: Lightning leaves the samplers alone only as long as every dataset "
            "is of iterable style, as all are here",
            recommended=False,
            severity=Severity.WARNING,
        )
        return
    yield about(
        setting,
        f"`use_distributed_sampler` is {setting.phrase}: on more than one rank Lightning tries to wrap the sampler of every "
        "dataset of map style, and raises a TypeError since Lhotse's have no length",
        recommended=False,
        rationale="Lhotse's samplers split the data between ranks themselves.",
        fix=set_key(config, path, False),
    )


@rule("NR413", "endless-epoch", Severity.WARNING)
def endless_epoch(config: TrainingConfig) -> Iterator[Draft]:
    """An epoch over data without end is not bounded."""
    if not has_trainer(config) or not config.training:
        return
    steps, limit, every = (
        field(config, f"{TRAINER}.{name}") for name in ("max_steps", "limit_train_batches", "val_check_interval")
    )
    iterable = all(is_iterable(dataset) for dataset in config.training)
    for setting in (limit, every) if iterable else ():
        counted = setting is every and is_count(limit.value)  # a fraction of a stated number of batches
        if isinstance(setting.value, float) and setting.value != 1.0 and not counted:
            yield about(
                setting,
                f"`{setting.key}` is `{show(setting.value)}`, a fraction of an epoch whose length no IterableDataset knows: "
                "Lightning raises a MisconfigurationException at start-up",
                rationale="State a number of batches.",
                severity=Severity.ERROR,
            )
    unlimited = limit.value is None or limit.is_(1.0)
    if unlimited and steps.value in (None, -1) and all(is_endless(dataset) for dataset in config.training):
        yield about(
            limit,
            "neither `max_steps` nor `limit_train_batches` is set: the data has no end, so no epoch ends, `max_epochs` is never "
            "reached and nothing that waits for the end of an epoch happens",
            rationale="`limit_train_batches` says how many batches make an epoch, `max_steps` when training is done.",
        )


@rule("NR414", "competing-checkpoint-callback", Severity.ERROR, fix=FixKind.SAFE)
def competing_checkpoint_callback(config: TrainingConfig) -> Iterator[Draft]:
    """Lightning's own logger or checkpoints beside those of exp_manager."""
    if not has_exp_manager(config) or not has_trainer(config):
        return
    logger = field(config, f"{TRAINER}.logger")
    if logger.known and _on(logger) and (clash := _logger_clash(config)) is not None:
        yield about(
            logger,
            f"`logger` is {logger.phrase} beside exp_manager, where {clash}: a LoggerMisconfigurationError at start-up",
            recommended=False,
            fix=set_key(config, f"{TRAINER}.logger", False),
        )
    checkpointing = field(config, f"{TRAINER}.enable_checkpointing")
    creates = field(config, f"{MANAGER}.create_checkpoint_callback")
    if checkpointing.known and _on(checkpointing) and creates.is_(True):
        yield about(
            checkpointing,
            f"`enable_checkpointing` is {checkpointing.phrase} beside exp_manager, which creates a checkpoint callback too: a "
            "CheckpointMisconfigurationError at start-up",
            recommended=False,
            fix=set_key(config, f"{TRAINER}.enable_checkpointing", False),
        )


def _on(setting: Setting) -> bool:
    """Whether Lightning switches a feature on; null is its default, which is on."""
    return setting.value is None or bool(setting.value)


def _logger_clash(config: TrainingConfig) -> str | None:
    """What of exp_manager's options does not go with a logger of the trainer."""
    for name in ("create_tensorboard_logger", "create_wandb_logger", "create_mlflow_logger"):
        setting = field(config, f"{MANAGER}.{name}")
        if setting.is_(True):
            return f"`{name}` is {setting.phrase}"
    for name in ("explicit_log_dir", "exp_dir", "name"):
        setting = field(config, f"{MANAGER}.{name}")
        if setting.known and setting.value:
            return f"`{name}` is set"
    return None
