"""What the report and the checklist both say of a config: seeds, workers, world size, trainer settings."""

from __future__ import annotations

from dataclasses import dataclass

from ..model.config import TrainingConfig
from ..model.dataset import Dataset, TrainingDataset
from ..model.sources import MAP
from ..model.values import Setting, Unknown, show


def value(setting: Setting) -> str:
    """A setting as a report names it, with where it comes from when that is not the file."""
    if isinstance(setting.value, Unknown):
        return f"`{setting.value.text}` (not known: {setting.value.reason})"
    if not setting.stated:
        return f"`{show(setting.value)}` (default)"
    return f"`{show(setting.value)}`" + (" (base config)" if setting.origin.value == "base config" else "")


def style(dataset: Dataset) -> str:
    """Which dataset style a training dataset ends up in, as a phrase."""
    if dataset["force_map_dataset"].is_(True):
        return "map style (forced)"
    if dataset["force_iterable_dataset"].is_(True):
        return "iterable style (forced)"
    styles = {source.style for source in dataset.sources}
    if not styles or "" in styles:
        return "a style that follows from sources which are not known yet"
    return "map style (by its sources)" if styles == {MAP} else "iterable style (by its sources)"


def devices(config: TrainingConfig) -> tuple[Setting, Setting]:
    """`trainer.devices` and `trainer.num_nodes`."""
    return config.setting(("trainer", "devices"), "auto"), config.setting(("trainer", "num_nodes"), 1)


def world_size(config: TrainingConfig) -> int | None:
    """devices × nodes where both are plain numbers."""
    ranks, nodes = devices(config)
    if type(ranks.value) is int and type(nodes.value) is int and ranks.value > 0 and nodes.value > 0:
        return ranks.value * nodes.value
    if isinstance(ranks.value, list) and type(nodes.value) is int:
        return len(ranks.value) * nodes.value
    return None


def world_phrase(config: TrainingConfig, dataset: TrainingDataset) -> str:
    """World size × workers, as far as the config commits them."""
    size = world_size(config)
    workers = dataset["num_workers"]
    ranks, nodes = devices(config)
    if size is None:
        return (
            f"world size is not committed: `trainer.devices` is {value(ranks)} and `trainer.num_nodes` {value(nodes)}; "
            f"`num_workers` is {value(workers)}"
        )
    if workers.value == 0 and type(workers.value) is int:
        where = "" if workers.stated else ", by default: state it"
        return f"{size} ranks, each drawing its data itself (`num_workers` is 0{where}), the same in every chunk"
    if type(workers.value) is int:
        shards = size * max(workers.value, 1)
        return (
            f"{size} ranks × {max(workers.value, 1)} worker process(es) = {shards} partitions, the same in every chunk"
        )
    return f"{size} ranks; `num_workers` is {value(workers)}"


@dataclass(frozen=True, slots=True)
class TrainerRow:
    """One setting of the trainer or exp_manager that a resumable chain depends on."""

    key: str
    value: str
    wanted: str
    state: str  #: ok · change · check


def trainer_rows(config: TrainingConfig) -> list[TrainerRow]:
    """The settings by which chunks find and continue each other."""
    rows: list[TrainerRow] = []

    def row(path: str, default: object, wanted: str, good: object, *, otherwise: str = "change") -> None:
        setting = config.setting(tuple(path.split(".")), default)
        fine = setting.is_(good) if not callable(good) else bool(setting.known and good(setting.value))
        state = "ok" if fine else otherwise if setting.known else "check"
        rows.append(TrainerRow(path, value(setting), wanted, state))

    row("exp_manager.resume_if_exists", False, "`true`: each chunk continues the last one", True)
    row("exp_manager.resume_ignore_no_checkpoint", False, "`true`: the first chunk has nothing to continue", True)
    callback = "exp_manager.checkpoint_callback_params"
    row(f"{callback}.save_last", True, "`true`: a resume reads only `*-last`", True)
    row(f"{callback}.save_weights_only", False, "`false`: weights alone hold no dataloader state", False)
    rows.append(_triggers(config))
    row(
        "exp_manager.max_time_per_run",
        None,
        "`DD:HH:MM:SS`, at least 10 minutes below the job's walltime",
        lambda v: isinstance(v, str) and len(v.split(":")) == 4,
        otherwise="check",
    )
    row("trainer.use_distributed_sampler", True, "`false`: Lightning would replace Lhotse's sampler", False)
    row(
        "trainer.max_steps",
        -1,
        "a number of steps: the data has no end",
        lambda v: type(v) is int and v > 0,
        otherwise="check",
    )
    row(
        "trainer.limit_train_batches",
        None,
        "a number of batches: it is what makes an epoch on endless data",
        lambda v: type(v) is int and v > 0,
        otherwise="check",
    )
    row(
        "trainer.devices",
        "auto",
        "a number: the topology is part of the saved state",
        lambda v: type(v) is int and v > 0,
        otherwise="check",
    )
    row(
        "trainer.num_nodes",
        1,
        "a number: the topology is part of the saved state",
        lambda v: type(v) is int and v > 0,
        otherwise="check",
    )
    return rows


def _triggers(config: TrainingConfig) -> TrainerRow:
    callback = ("exp_manager", "checkpoint_callback_params")
    steps = config.setting((*callback, "every_n_train_steps"))
    epochs = config.setting((*callback, "every_n_epochs"), 1)
    interval = config.setting((*callback, "train_time_interval"))
    on = [
        setting.key for setting in (steps, epochs, interval) if setting.known and setting.value not in (None, 0, False)
    ]
    limit = config.setting(("trainer", "limit_train_batches"))
    shown = ", ".join(f"`{setting.key}` {value(setting)}" for setting in (steps, epochs, interval) if setting.key in on)
    wanted = "exactly one trigger, often enough that little is lost (`every_n_epochs` is 1 unless it says `null`)"
    if len(on) > 1:
        return TrainerRow("checkpoint trigger", shown, wanted, "change")
    short = on == ["every_n_epochs"] and type(limit.value) is int
    return TrainerRow(
        "checkpoint trigger", shown or "none", wanted, "ok" if on and (short or on != ["every_n_epochs"]) else "check"
    )
