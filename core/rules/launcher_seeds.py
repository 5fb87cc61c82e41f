"""NR501, NR502: the seeds that a launcher hands to training."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..findings import Related, Severity
from ..model.config import TrainingConfig
from .drafts import Draft
from .launcher_fixes import pin_override
from .registry import rule
from .starts import Launched, Started

if TYPE_CHECKING:
    from ..model.launcher.facts import Word

#: Variables that seed a process; Lightning takes the first for `seed_everything`.
SEED_VARIABLES = ("PL_GLOBAL_SEED", "LHOTSE_PROCESS_SEED")


def seed_paths(config: TrainingConfig) -> tuple[str, ...]:
    """The keys that seed training: each training dataset's two, and a seed of the whole run."""
    own = [f"{dataset.subject}.{key}" for dataset in config.training for key in ("seed", "shard_seed")]
    return (*own, "seed", "trainer.seed")


def becomes_stateful(config: TrainingConfig) -> bool:
    """Whether the run saves its dataloader's state: only then is a seed that rotates a fault."""
    return any(dataset["use_stateful_dataloader"].is_(True) for dataset in config.training)


@rule("NR501", "rotating-seed", Severity.ERROR)
def rotating_seed(launched: Launched) -> Iterator[Draft]:
    """A seed changes from chunk to chunk."""
    for started in launched.starts:
        if becomes_stateful(started.config):
            yield from _overrides(started)
            yield from _variables(started)
    if becomes_stateful(launched.config):
        yield from _submissions(launched)


def _overrides(started: Started) -> Iterator[Draft]:
    for override in started.setting_overrides(*seed_paths(started.config)):
        key = override.key.rsplit(".", 1)[-1]
        if override.value.varies is not None:
            yield Draft(
                f"`{override.key}` is drawn from {override.value.varies.by}, so it is another in every chunk: {_effect(key)}",
                override.location,
                override.key,
                recommended=_config_seed(started, override.key),
                rationale="Pass no seed, or the same integer in every chunk.",
                origin="launcher override",
                related=_drawn(override.value, override.location),
                fix=pin_override(override, _config_seed(started, override.key)),
            )
        elif override.value.defaulted and not _one_start(started):
            yield Draft(
                f"`{override.key}` is {override.value.text} unless whoever starts the launcher passes another: the default "
                "proves nothing",
                override.location,
                override.key,
                current=override.value.text,
                origin="launcher override",
                related=_drawn(override.value, override.location),
                severity=Severity.NOTE,
            )


def _one_start(started: Started) -> bool:
    """Whether all chunks come from one start of the launcher, so that a default is the same for all of them."""
    return "loop" in (started.launch.chain.by or "")


def _variables(started: Started) -> Iterator[Draft]:
    for name in SEED_VARIABLES:
        variable = started.launch.env.get(name)
        if variable is not None and variable.reaches and variable.value.varies is not None:
            yield Draft(
                f"`{name}` is drawn from {variable.value.varies.by}, so it is another in every chunk: {_effect('seed')}",
                variable.location,
                f"environment.{name}",
                rationale="Leave the variable out, or export the same integer in every chunk.",
                origin="launcher",
                related=_drawn(variable.value, variable.location),
            )


def _submissions(launched: Launched) -> Iterator[Draft]:
    """Seeds that leave for a job file which is not here."""
    for submission in launched.launcher.submissions:
        for handed in submission.hands_over:
            if handed.value.varies is not None and "seed" in handed.name.lower():
                yield Draft(
                    f"the job is handed {handed.name} from {handed.value.varies.by}, another in every chunk: where it becomes "
                    f"the data's seed, {_effect('seed')}",
                    handed.location,
                    f"submission.{handed.name}",
                    origin="launcher",
                    related=_drawn(handed.value, handed.location),
                )


@rule("NR502", "seed-mismatch", Severity.WARNING)
def seed_mismatch(started: Started) -> Iterator[Draft]:
    """A fixed seed of the launcher is not the config's."""
    for override in started.setting_overrides(*seed_paths(started.config)):
        own = _stated_seed(started.plain, override.key)
        text = override.value.text
        if own is None or text is None or override.value.varies is not None or not _is_integer(text):
            continue
        if int(text) != own:
            yield Draft(
                f"`{override.key}` is {text} by the launcher and {own} in the config: a run started without this launcher "
                "does not go on with the same data",
                override.location,
                override.key,
                current=int(text),
                recommended=own,
                rationale="State the seed in one place.",
                origin="launcher override",
                related=_drawn(override.value, override.location),
                fix=pin_override(override, own),
            )


def _effect(key: str) -> str:
    if key == "shard_seed":
        return "restoring the sampler stops at an AssertionError without a message"
    return "the resumed run goes on with other random draws, and nothing says so"


def _drawn(value: Word, use: object) -> tuple[Related, ...]:
    """Where the value comes from, when that is another place than its use."""
    at = value.varies.at if value.varies is not None else value.drawn
    return (Related(at, "the value is drawn here"),) if at is not None and at != use else ()


def _is_integer(text: str) -> bool:
    return text.strip().lstrip("+-").isdigit()


def _stated_seed(config: TrainingConfig, path: str) -> int | None:
    setting = config.setting(tuple(path.split(".")))
    value: object = setting.value
    for dataset in config.training:
        if path.startswith(f"{dataset.subject}."):
            value = dataset[path.rsplit(".", 1)[-1]].value
    return value if type(value) is int else None


def _config_seed(started: Started, path: str) -> int:
    own = _stated_seed(started.plain, path)
    return own if own is not None else started.plain.context.seed
