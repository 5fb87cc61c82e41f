"""NR401, NR402 and NR411: whether a chunk looks for the checkpoint of the one before, and whether it finds it."""

from __future__ import annotations

from collections.abc import Iterator

from ..findings import Edit, FixKind, Location, Severity
from ..model.config import TrainingConfig
from ..model.experiment import checkpoint_place, moving_parts
from ..model.trainer import MANAGER, TRAINER, field, has_exp_manager, has_trainer
from .drafts import Draft, about, attempt, set_key
from .registry import rule


@rule("NR401", "resume-off", Severity.ERROR, fix=FixKind.SAFE)
def resume_off(config: TrainingConfig) -> Iterator[Draft]:
    """No chunk continues the one before it."""
    path = f"{MANAGER}.resume_if_exists"
    setting = field(config, path)
    if has_exp_manager(config):
        if setting.lacks(True):
            yield about(
                setting,
                f"`resume_if_exists` is {setting.phrase}: each chunk starts training anew{_in_a_folder_of_its_own(config)}",
                recommended=True,
                rationale="With it exp_manager looks for the `*-last` checkpoint of the chunk before.",
                fix=attempt("Set `resume_if_exists` to true", lambda: _resume_edits(config)),
            )
    elif has_exp_manager(config) is False and has_trainer(config):
        yield Draft(
            "there is no `exp_manager` section: NeMo's experiment manager stays off, so nothing looks for the checkpoint of "
            "the chunk before and each chunk starts training anew",
            _key_of(config, TRAINER),
            path,
            recommended=True,
            rationale="Add the section with `resume_if_exists`, `resume_ignore_no_checkpoint` and an `explicit_log_dir`; "
            "`trainer.logger` and `trainer.enable_checkpointing` become `false` with it.",
            origin="default",
        )


def _in_a_folder_of_its_own(config: TrainingConfig) -> str:
    stated = any(not setting.known or setting.value for setting in checkpoint_place(config)[:1])
    version = field(config, f"{MANAGER}.version")
    return ", in a folder named by its date" if not stated and version.is_(None) and _dated(config) else ""


def _dated(config: TrainingConfig) -> bool:
    return field(config, f"{MANAGER}.use_datetime_version").is_(True)


def _resume_edits(config: TrainingConfig) -> tuple[Edit, ...]:
    """Resuming without a checkpoint has to be allowed with it, or the first chunk would stop."""
    edits = config.set((MANAGER, "resume_if_exists"), True)
    if field(config, f"{MANAGER}.resume_ignore_no_checkpoint").lacks(True):
        edits += config.set((MANAGER, "resume_ignore_no_checkpoint"), True)
    return edits


def _key_of(config: TrainingConfig, name: str) -> Location:
    """Where a section is opened."""
    setting = config.setting((name,))
    return setting.key_location or setting.location


@rule("NR402", "first-chunk-fails", Severity.ERROR, fix=FixKind.SAFE)
def first_chunk_fails(config: TrainingConfig) -> Iterator[Draft]:
    """The first chunk, which has no checkpoint yet, stops."""
    path = f"{MANAGER}.resume_ignore_no_checkpoint"
    setting = field(config, path)
    if has_exp_manager(config) and field(config, f"{MANAGER}.resume_if_exists").is_(True) and setting.lacks(True):
        yield about(
            setting,
            f"`resume_ignore_no_checkpoint` is {setting.phrase}: the first chunk finds no checkpoint and stops with a "
            "NotFoundError",
            recommended=True,
            fix=set_key(config, path, True),
        )


@rule("NR411", "moving-experiment-dir", Severity.ERROR)
def moving_experiment_dir(config: TrainingConfig) -> Iterator[Draft]:
    """Each chunk has an experiment folder of its own, in which it finds no checkpoint."""
    if not has_exp_manager(config):
        return
    loud = field(config, f"{MANAGER}.resume_ignore_no_checkpoint").is_(False)
    ends = "stops with a NotFoundError" if loud else "starts training anew without an error"
    for setting in checkpoint_place(config):
        parts = moving_parts(config, setting)
        if not parts:
            continue
        sure = [part for part in parts if part.sure]
        shown = ", ".join(f"`{part.text}`" for part in sure or parts)
        what = " and ".join(dict.fromkeys(part.what for part in sure))
        yield about(
            setting,
            f"`{setting.key}` carries {what} ({shown}): the next chunk looks for its checkpoint in another folder and {ends}"
            if sure
            else f"`{setting.key}` carries {shown}: if that is another in each chunk, the next one looks for its checkpoint in "
            f"another folder and {ends}",
            rationale="All chunks of a chain have to share one folder; name it by the experiment.",
            severity=None if sure else Severity.WARNING,
        )
