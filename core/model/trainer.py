"""The trainer and the experiment manager around the datasets: their fields with defaults, and what a run makes of them.

Read in Lightning 2.4 (`Trainer`, `ModelCheckpoint`, `Timer`) and in nemo_toolkit 3.0.0 and NeMo Speech main
(`nemo/utils/exp_manager.py`, `nemo/utils/callbacks/nemo_model_checkpoint.py`).
"""

from __future__ import annotations

import re
from dataclasses import replace

from ..findings import Location
from ..records import dataclass
from .config import TrainingConfig
from .dataset import Dataset
from .sources import ITERABLE, MAP
from .values import Setting, Unknown, as_type

MANAGER, TRAINER = "exp_manager", "trainer"
CALLBACK = f"{MANAGER}.checkpoint_callback_params"


@dataclass(frozen=True, slots=True)
class Field:
    """One option. `kind` is its type in exp_manager's schema, "any" where nothing converts it (`Trainer` takes it raw)."""

    kind: str
    default: object = None


_ANY = Field("any")

#: By dotted path. `exp_manager` merges its section onto a schema; `trainer` becomes the arguments of Lightning's Trainer.
FIELDS: dict[str, Field] = {
    f"{MANAGER}.explicit_log_dir": Field("str"),
    f"{MANAGER}.exp_dir": Field("str"),
    f"{MANAGER}.name": Field("str"),
    f"{MANAGER}.version": Field("str"),
    f"{MANAGER}.use_datetime_version": Field("bool", True),
    f"{MANAGER}.resume_if_exists": Field("bool", False),
    f"{MANAGER}.resume_past_end": Field("bool", False),
    f"{MANAGER}.resume_ignore_no_checkpoint": Field("bool", False),
    f"{MANAGER}.resume_from_checkpoint": Field("str"),
    f"{MANAGER}.create_tensorboard_logger": Field("bool", True),
    f"{MANAGER}.create_wandb_logger": Field("bool", False),
    f"{MANAGER}.create_mlflow_logger": Field("bool", False),
    f"{MANAGER}.create_checkpoint_callback": Field("bool", True),
    f"{MANAGER}.max_time_per_run": Field("str"),
    f"{CALLBACK}.dirpath": Field("str"),
    f"{CALLBACK}.filename": Field("str"),
    f"{CALLBACK}.monitor": Field("str", "val_loss"),
    f"{CALLBACK}.mode": Field("str", "min"),
    f"{CALLBACK}.save_last": Field("bool", True),
    f"{CALLBACK}.save_top_k": Field("int", 3),
    f"{CALLBACK}.save_weights_only": Field("bool", False),
    f"{CALLBACK}.every_n_epochs": Field("int", 1),
    f"{CALLBACK}.every_n_train_steps": Field("int"),
    f"{CALLBACK}.train_time_interval": _ANY,
    f"{CALLBACK}.save_on_train_epoch_end": Field("bool", False),
    f"{TRAINER}.devices": Field("any", "auto"),
    f"{TRAINER}.num_nodes": Field("any", 1),
    f"{TRAINER}.max_steps": Field("any", -1),
    f"{TRAINER}.max_time": _ANY,
    f"{TRAINER}.limit_train_batches": _ANY,
    f"{TRAINER}.limit_val_batches": _ANY,
    f"{TRAINER}.val_check_interval": Field("any", 1.0),
    f"{TRAINER}.check_val_every_n_epoch": Field("any", 1),
    f"{TRAINER}.use_distributed_sampler": Field("any", True),
    f"{TRAINER}.logger": Field("any", True),
    f"{TRAINER}.enable_checkpointing": Field("any", True),
}


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Arguments of Lightning's Trainer that a section is known by, and those of Hugging Face's, which configs also keep there.
_LIGHTNING = _names(
    "accelerator accumulate_grad_batches devices gradient_clip_val limit_train_batches limit_val_batches max_epochs "
    "max_steps num_nodes precision strategy use_distributed_sampler val_check_interval"
)
_HUGGING_FACE = _names(
    "dataloader_num_workers eval_steps eval_strategy gradient_accumulation_steps learning_rate num_train_epochs output_dir "
    "per_device_train_batch_size save_steps save_strategy save_total_limit"
)

#: Sections beside the trainer from which NeMo 2's `nemo.lightning` builds it, with a resume and checkpoints of its own.
_NEMO_2 = _names("callbacks plugins resume strategy")


def field(config: TrainingConfig, path: str) -> Setting:
    """The effective value of one of `FIELDS`, as the schema converts it."""
    known = FIELDS[path]
    setting = config.setting(tuple(path.split(".")), known.default)
    value = as_type(known.kind, setting.value)
    return setting if value is setting.value else replace(setting, value=value)


def has_exp_manager(config: TrainingConfig) -> bool | None:
    """Whether there is a section for NeMo's exp_manager, which does nothing without one; None when that is not known."""
    setting = config.setting((MANAGER,))
    if not setting.stated:
        return None if isinstance(setting.value, Unknown) else False
    return setting.value is not None


def has_trainer(config: TrainingConfig) -> bool | None:
    """Whether there is a section for Lightning's Trainer, not for another's; None when that is not known."""
    section = config.composition.root.section(TRAINER)
    if section is None:
        return None if isinstance(config.setting((TRAINER,)).value, Unknown) else False
    names = set(section.names())
    if names & _HUGGING_FACE:
        return False
    return True if names & _LIGHTNING and not _NEMO_2 & set(config.composition.root.names()) else None


# -- time

_TIME_LIMIT = re.compile(r"(\d+):(\d\d):(\d\d):(\d\d)")
_CLOCK = re.compile(r"(?:(\d+)-)?(\d+)(?::(\d+))?(?::(\d+))?")


def time_limit_seconds(text: str) -> int | None:
    """Seconds of a `DD:HH:MM:SS` as Lightning's Timer reads it: digits, then three times two; None for what it refuses."""
    match = _TIME_LIMIT.fullmatch(text.strip())
    if match is None:
        return None
    days, hours, minutes, seconds = (int(part) for part in match.groups())
    return ((days * 24 + hours) * 60 + minutes) * 60 + seconds


def walltime_seconds(text: str) -> int | None:
    """Seconds of a walltime as Slurm reads it: `minutes`, `minutes:seconds`, `hours:minutes:seconds`, or after `days-`
    hours, `hours:minutes` or `hours:minutes:seconds`. None for what it refuses and for no limit."""
    match = _CLOCK.fullmatch(text.strip())
    if match is None:
        return None
    parts = [int(part) for part in match.groups()[1:] if part is not None]
    if match[1] is not None:
        hours, minutes, seconds = (*parts, 0, 0)[:3]
        return ((int(match[1]) * 24 + hours) * 60 + minutes) * 60 + seconds
    hours, minutes, seconds = {1: (0, *parts, 0), 2: (0, *parts), 3: tuple(parts)}[len(parts)]
    return (hours * 60 + minutes) * 60 + seconds


@dataclass(frozen=True, slots=True)
class Walltime:
    """How long the scheduler lets one chunk run."""

    seconds: int
    said: str  #: as written
    where: str  #: what says so, a phrase
    location: Location | None = None  #: where a launcher says it


def known_walltime(config: TrainingConfig) -> Walltime | None:
    """The walltime of one chunk, from the launcher, else the runtime context; None where nothing says it."""
    if config.launch is not None and (found := config.launch.walltime) is not None:
        return Walltime(found.seconds, found.written, "the launcher", found.location)
    said = config.context.stated.walltime
    seconds = walltime_seconds(said) if said else None
    return Walltime(seconds, said, "the runtime context") if said and seconds is not None else None


# -- checkpoints


@dataclass(frozen=True, slots=True)
class Triggers:
    """What makes Lightning's ModelCheckpoint save."""

    steps: Setting
    epochs: Setting
    interval: Setting

    @property
    def all(self) -> tuple[Setting, ...]:
        return self.steps, self.epochs, self.interval

    @property
    def known(self) -> bool:
        return all(setting.known for setting in self.all)

    @property
    def negative(self) -> tuple[Setting, ...]:
        """Those that ModelCheckpoint refuses."""
        return tuple(setting for setting in self.all if type(setting.value) is int and setting.value < 0)

    @property
    def on(self) -> tuple[Setting, ...]:
        """Those that are on: a number from 1, or any interval; 0 and null are off. More than one raises. With all three
        null the epoch counts."""
        on = tuple(
            setting for setting in (self.steps, self.epochs) if type(setting.value) is int and setting.value >= 1
        )
        if self.interval.known and self.interval.value is not None:
            on += (self.interval,)
        return on or (self.epochs,) * all(setting.known and setting.value is None for setting in self.all)


def triggers(config: TrainingConfig) -> Triggers:
    """The checkpoint triggers of a config."""
    names = ("every_n_train_steps", "every_n_epochs", "train_time_interval")
    return Triggers(*(field(config, f"{CALLBACK}.{name}") for name in names))


OFTEN, EPOCH, NEVER = "often", "at the end of an epoch", "never"


def rhythm(config: TrainingConfig) -> str | None:
    """When `*-last` is saved while training goes on: OFTEN (by steps, by time, by a validation within the epoch, or at the
    end of an epoch of stated length), at the end of an EPOCH of unknown length, or NEVER; None when that is not known.

    exp_manager sets `save_on_train_epoch_end: false`, by which ModelCheckpoint saves after validations, `*-last` after
    every one of them, whatever `every_n_epochs` says.
    """
    found = triggers(config)
    if has_trainer(config) is not True or not found.known:
        return None
    if any(setting is not found.epochs for setting in found.on):
        return OFTEN
    at_end = field(config, f"{CALLBACK}.save_on_train_epoch_end")
    limit, validated, every, epochs = (
        field(config, f"{TRAINER}.{name}")
        for name in ("limit_train_batches", "limit_val_batches", "val_check_interval", "check_val_every_n_epoch")
    )
    by_epoch = OFTEN if is_count(limit.value) else EPOCH if limit.known else None
    if not at_end.known or at_end.value is None:
        return None
    if at_end.value is True:
        return by_epoch
    if not (validated.known and every.known and epochs.known):
        return None
    if (validated.value is not None and not validated.value) or not _may_validate(config):
        return NEVER
    if epochs.value not in (1, None):
        return by_epoch
    if is_count(every.value) or (isinstance(every.value, float) and 0 < every.value < 1):
        return OFTEN
    return by_epoch


def _may_validate(config: TrainingConfig) -> bool:
    """Whether there is a section of validation datasets, or may be one."""
    path = (*config.place, "validation_ds")
    return config.composition.root.at(path) is not None or not config.setting(path).is_(None)


def is_count(value: object) -> bool:
    """Whether a value is a number of things: an integer from 1."""
    return type(value) is int and value >= 1


# -- what Lightning sees of a dataset


def is_iterable(dataset: Dataset) -> bool | None:
    """Whether a dataset comes to Lightning as an IterableDataset; None where its sources do not say."""
    map_style, iterable = dataset["force_map_dataset"], dataset["force_iterable_dataset"]
    if not (map_style.known and iterable.known):
        return None
    if map_style.value or iterable.value:
        return not map_style.value
    if not dataset.is_training and dataset.config.is_speechlm2:
        return False  # speechlm2's DataModule forces map style
    styles = {source.style for source in dataset.sources}
    return {ITERABLE: True, MAP: False}.get(styles.pop()) if len(styles) == 1 else None


def is_endless(dataset: Dataset) -> bool | None:
    """Whether a dataset repeats without end: any mixture does, and any single source of iterable style."""
    finite = dataset["force_finite"]
    if not finite.known or not all(source.style for source in dataset.sources) or not dataset.sources:
        return None
    return not finite.value and (len(dataset.sources) > 1 or dataset.sources[0].style == ITERABLE)
