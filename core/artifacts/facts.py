"""What the report and the checklist both say of a config: seeds, workers, world size, trainer settings."""

from __future__ import annotations

from ..model.config import TrainingConfig
from ..model.dataset import Dataset, TrainingDataset
from ..model.experiment import checkpoint_place
from ..model.sources import MAP
from ..model.trainer import CALLBACK, MANAGER, TRAINER, field, has_exp_manager, has_trainer, known_walltime, triggers
from ..model.values import Setting, Unknown, show
from ..records import dataclass
from ..rules.drafts import Draft
from ..rules.registry import Rule, all_rules


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
    return field(config, "trainer.devices"), field(config, "trainer.num_nodes")


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
    codes: tuple[str, ...] = ()  #: of the rules that want it changed or looked at

    @property
    def verdict(self) -> str:
        return f"{self.state} ({', '.join(self.codes)})" if self.codes else self.state


_RANKS = "a number: the topology is part of the saved state"
_WANTED = {
    f"{MANAGER}.resume_if_exists": "`true`: each chunk continues the last one",
    f"{MANAGER}.resume_ignore_no_checkpoint": "`true`: the first chunk has nothing to continue",
    f"{CALLBACK}.save_last": "`true`: a resume reads only `*-last`",
    f"{CALLBACK}.save_weights_only": "`false`: weights alone hold no dataloader state",
    f"{CALLBACK}.every_n_train_steps": "one trigger, often enough (`every_n_epochs` is 1 unless it says `null`)",
    f"{MANAGER}.max_time_per_run": "`DD:HH:MM:SS`, well below the job's walltime",
    f"{TRAINER}.use_distributed_sampler": "`false`: Lightning would replace Lhotse's sampler",
    f"{TRAINER}.max_steps": "a number of steps: the data has no end",
    f"{TRAINER}.limit_train_batches": "a number of batches: it is what makes an epoch on endless data",
    f"{TRAINER}.devices": _RANKS,
    f"{TRAINER}.num_nodes": _RANKS,
}
_TRIGGERS = f"{CALLBACK}.every_n_train_steps"


def trainer_rows(config: TrainingConfig) -> list[TrainerRow]:
    """The settings by which chunks find and continue each other, as the rules judge them."""
    found = [(rule, draft) for rule in all_rules() if rule.code.startswith("NR4") for draft in rule.check(config)]
    place = {
        setting.subject: "the same folder in every chunk" for setting in checkpoint_place(config) if setting.stated
    }
    return [_row(config, path, wanted, found) for path, wanted in {**place, **_WANTED}.items()]


def _row(config: TrainingConfig, path: str, wanted: str, found: list[tuple[Rule, Draft]]) -> TrainerRow:
    spoken_of = [(rule, draft) for rule, draft in found if draft.subject == path]
    setting = field(config, path)
    key, shown, known = path, value(setting), setting.known
    if path == _TRIGGERS:
        spoken_of = [(rule, draft) for rule, draft in found if rule.code in ("NR403", "NR404")]
        trigger = triggers(config)
        key, known = "checkpoint trigger", trigger.known
        shown = ", ".join(f"`{each.key}` {value(each)}" for each in trigger.on) or "none"
    judged = has_exp_manager(config) if path.startswith(f"{MANAGER}.") else has_trainer(config)
    unproven = path == f"{MANAGER}.max_time_per_run" and known_walltime(config) is None
    if any((draft.severity or rule.severity).blocks for rule, draft in spoken_of):
        state = "change"
    else:
        state = "check" if spoken_of or unproven or not known or not judged else "ok"
    return TrainerRow(key, shown, wanted, state, tuple(sorted({rule.code for rule, _ in spoken_of})))
