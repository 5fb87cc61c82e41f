"""NR403-NR406 and NR410: when checkpoints are written, which of them stay, and what is in them."""

from __future__ import annotations

from collections.abc import Iterator

from ..findings import Fix, FixKind, Severity
from ..model.config import TrainingConfig
from ..model.trainer import (
    CALLBACK,
    EPOCH,
    MANAGER,
    NEVER,
    TRAINER,
    Triggers,
    field,
    has_exp_manager,
    is_endless,
    rhythm,
    triggers,
)
from ..model.values import Setting, show
from .drafts import Draft, about, set_key
from .registry import rule


def _has_callback(config: TrainingConfig) -> bool:
    """Whether exp_manager creates its checkpoint callback, as far as is known."""
    return bool(has_exp_manager(config)) and field(config, f"{MANAGER}.create_checkpoint_callback").is_(True)


@rule("NR403", "no-mid-epoch-checkpoint", Severity.WARNING)
def no_mid_epoch_checkpoint(config: TrainingConfig) -> Iterator[Draft]:
    """No checkpoint is written before an epoch of unknown length ends."""
    if not _has_callback(config) or len(triggers(config).on) > 1:
        return
    when = rhythm(config)
    setting = triggers(config).steps
    until = (
        "a chunk that is stopped before its time limit"
        if field(config, f"{MANAGER}.max_time_per_run").value is not None
        else "a chunk that is stopped"
    )
    if when == NEVER:
        message = (
            "checkpoints are written after a validation, and there is none: without `every_n_train_steps` or "
            f"`train_time_interval` {until} loses all it has trained"
        )
    elif when == EPOCH and config.training and all(is_endless(dataset) for dataset in config.training):
        message = (
            "checkpoints are written at the end of an epoch, which data without end never reaches: without "
            f"`every_n_train_steps` {until} loses all it has trained"
        )
    elif when == EPOCH:
        message = (
            "checkpoints are written at the end of an epoch only, however long that is: without `every_n_train_steps` "
            f"{until} trains again what came after the last one"
        )
    else:
        return
    yield about(
        setting,
        message,
        rationale="`every_n_train_steps` (with `every_n_epochs: null`), a number of batches in `trainer.val_check_interval`, "
        "or `trainer.limit_train_batches` make checkpoints regular.",
    )


@rule("NR404", "conflicting-checkpoint-triggers", Severity.ERROR, fix=FixKind.SAFE)
def conflicting_checkpoint_triggers(config: TrainingConfig) -> Iterator[Draft]:
    """The checkpoint callback is asked to save by more than one measure, or by one that it cannot read."""
    if not _has_callback(config):
        return
    found = triggers(config)
    if len(found.on) > 1:
        ordered = sorted(found.on, key=lambda setting: setting is found.epochs)
        listed = " and ".join(_shown(setting) for setting in ordered)
        implied = found.epochs in found.on and not found.epochs.stated
        yield about(
            found.epochs if found.epochs in found.on else found.on[-1],
            f"{listed} are on together{', the last by default' if implied else ''}: the checkpoint callback takes one trigger "
            "and raises a MisconfigurationException at start-up",
            recommended=None,
            rationale="exp_manager's schema fills in `every_n_epochs: 1` where nothing is said; `null` or 0 switches it off.",
            fix=_without_epochs(config, found),
        )
    for setting in found.negative:
        yield about(
            setting,
            f"`{setting.key}` is `{show(setting.value)}`: the checkpoint callback takes no negative number and raises a "
            "MisconfigurationException at start-up",
        )
    interval = found.interval
    if interval.known and interval.value is not None and not _may_be_timedelta(interval.value):
        yield about(
            interval,
            f"`train_time_interval` is {_kind(interval.value)}, no timedelta: the run starts and stops at the end of its first "
            "batch with an AttributeError",
            rationale="YAML has no timedelta; save by `every_n_train_steps` instead.",
        )


def _without_epochs(config: TrainingConfig, found: Triggers) -> Fix | None:
    """The fix where one other trigger is on; of two others only the user can choose."""
    others = [setting for setting in found.on if setting is not found.epochs]
    return set_key(config, f"{CALLBACK}.every_n_epochs", None) if len(others) == 1 else None


def _shown(setting: Setting) -> str:
    plain = not isinstance(setting.value, (dict, list))
    return f"`{setting.key}: {show(setting.value)}`" if plain else f"`{setting.key}`"


def _may_be_timedelta(value: object) -> bool:
    """Whether a training script can make a timedelta of it: Hydra instantiates a mapping with `_target_`."""
    return isinstance(value, dict) and "_target_" in value


def _kind(value: object) -> str:
    return "a mapping" if isinstance(value, dict) else "a list" if isinstance(value, list) else f"`{show(value)}`"


@rule("NR405", "no-last-checkpoint", Severity.ERROR, fix=FixKind.SAFE)
def no_last_checkpoint(config: TrainingConfig) -> Iterator[Draft]:
    """The checkpoint that a resume reads is not written."""
    if not has_exp_manager(config):
        return
    creates = field(config, f"{MANAGER}.create_checkpoint_callback")
    if creates.lacks(True):
        beside = not field(config, f"{TRAINER}.enable_checkpointing").is_(False)
        yield about(
            creates,
            f"`create_checkpoint_callback` is {creates.phrase}: exp_manager writes no checkpoint, and the `*-last` that the next "
            "chunk looks for never appears",
            recommended=True,
            fix=None if beside else set_key(config, f"{MANAGER}.create_checkpoint_callback", True),
        )
        return
    last = field(config, f"{CALLBACK}.save_last")
    if creates.known and last.lacks(True):
        refused = last.value is not None and not isinstance(last.value, bool)
        yield about(
            last,
            f"`save_last` is {last.phrase}: "
            + (
                "exp_manager's schema takes true or false and raises a ValidationError at start-up"
                if refused
                else "no `*-last` checkpoint is written, and a resume reads no other"
            ),
            recommended=True,
            fix=set_key(config, f"{CALLBACK}.save_last", True),
        )


@rule("NR406", "pruned-checkpoints", Severity.WARNING)
def pruned_checkpoints(config: TrainingConfig) -> Iterator[Draft]:
    """What is kept is refused, or does not leave a resume the one checkpoint it can read."""
    if not _has_callback(config):
        return
    keep, monitor, mode, filename = (
        field(config, f"{CALLBACK}.{name}") for name in ("save_top_k", "monitor", "mode", "filename")
    )
    if type(keep.value) is int and keep.value < -1:
        yield _refused(keep, "-1 keeps every checkpoint, and nothing is below it")
    if monitor.is_(None):
        yield _refused(monitor, "exp_manager looks for `val` in its name", "TypeError")
    if isinstance(mode.value, str) and mode.value not in ("min", "max"):
        yield _refused(mode, "the callback knows `min` and `max`")
    if isinstance(filename.value, str) and filename.value:
        yield from _badly_named(config, filename, filename.value)


def _refused(setting: Setting, why: str, error: str = "MisconfigurationException") -> Draft:
    message = f"`{setting.key}` is {setting.phrase}: {why}, so start-up ends with a {error}"
    return about(setting, message, severity=Severity.ERROR)


def _badly_named(config: TrainingConfig, setting: Setting, name: str) -> Iterator[Draft]:
    kept = not field(config, f"{CALLBACK}.save_top_k").is_(0)
    if kept and name.endswith("last"):
        yield about(
            setting,
            f"`filename` is `{show(name)}`: the best checkpoints match `*last.ckpt` beside the last one, and a resume that finds "
            "several raises a ValueError",
            severity=Severity.ERROR,
        )
    elif kept and name.endswith("end") and field(config, f"{MANAGER}.resume_past_end").is_(False):
        yield about(
            setting,
            f"`filename` is `{show(name)}`: its checkpoints match `*end.ckpt`, by which a resume takes training for finished and "
            "raises a ValueError",
            severity=Severity.ERROR,
        )
    if "{" not in name:
        yield about(
            setting,
            f"`filename` is `{show(name)}` for every step: each save overwrites the only `*-last` checkpoint, and a chunk that is "
            "killed meanwhile leaves one that no resume accepts",
            rationale="With `{step}` in the name the checkpoint before is removed only after the new one is complete.",
        )


@rule("NR410", "weights-only-checkpoint", Severity.ERROR, fix=FixKind.SAFE)
def weights_only_checkpoint(config: TrainingConfig) -> Iterator[Draft]:
    """Checkpoints hold weights and nothing else."""
    path = f"{CALLBACK}.save_weights_only"
    setting = field(config, path)
    if _has_callback(config) and setting.is_(True):
        yield about(
            setting,
            "`save_weights_only` is `true`: a checkpoint holds no optimizer and no dataloader state, and the next chunk stops with "
            "a KeyError when it restores",
            recommended=False,
            fix=set_key(config, path, False),
        )
