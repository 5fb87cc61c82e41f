"""NR504, NR505, NR513: what has to be the same in every chunk, and has to agree between launcher and config."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..findings import Location, Related, Severity
from ..model.restoring import PARALLEL, ranks_of
from .drafts import Draft
from .launcher_fixes import drop_override
from .registry import rule
from .starts import Launched, Started

if TYPE_CHECKING:
    from ..model.launcher.facts import Fact, Override

_TRAINER = ("trainer.num_nodes", "trainer.devices")
#: Options of a dataset that decide what the sampler's state fits: another value in a later chunk raises or diverges.
_DATA = (
    "input_cfg",
    "manifest_filepath",
    "tarred_audio_filepaths",
    "shar_path",
    "cuts_path",
    "indexes_root",
    "index_pack_root",
    "index_pack",
    "use_bucketing",
    "num_buckets",
    "bucket_duration_bins",
    "bucket_batch_size",
    "batch_size",
    "batch_duration",
    "batch_tokens",
    "shuffle",
    "sampler_fusion",
    "reweight_temperature",
    "min_duration",
    "max_duration",
)


@rule("NR504", "varying-topology", Severity.ERROR)
def varying_topology(launched: Launched) -> Iterator[Draft]:
    """Workers, nodes, devices or parallel sizes differ between chunks."""
    for started in launched.starts:
        workers = [f"{dataset.subject}.num_workers" for dataset in started.config.training]
        for override in started.launch.overrides:
            part = override.key in (*workers, *_TRAINER) or override.key.rsplit(".", 1)[-1] in PARALLEL
            if part and override.value.varies is not None:
                yield _varying(override, "the saved state is split by rank and worker and does not fit any more")
        for name, fact in (("nodes", started.launch.nodes), ("tasks", started.launch.ranks_per_node)):
            if fact.varies is not None and fact.location is not None:
                yield _fact(name, fact)
    for submission in launched.launcher.submissions:
        for name, fact in (("nodes", submission.nodes), ("tasks", submission.tasks_per_node)):
            if fact.varies is not None and fact.location is not None:
                yield _fact(name, fact)
    yield from _between(launched, (*_TRAINER, "num_workers"), "NR504")


@rule("NR505", "world-size-mismatch", Severity.ERROR)
def world_size_mismatch(started: Started) -> Iterator[Draft]:
    """The launcher starts another number of ranks than the config expects."""
    launch = started.launch
    expected = ranks_of(started.config)
    nodes, ranks = launch.nodes.value, launch.ranks_per_node.value
    if expected is None or nodes is None or ranks is None or launch.nodes.varies or launch.ranks_per_node.varies:
        return
    config_nodes, config_devices = expected
    if nodes * ranks == config_nodes * config_devices and nodes == config_nodes:
        return
    fact = launch.nodes if nodes != config_nodes and ranks == config_devices else launch.ranks_per_node
    where = fact.location or launch.location
    devices, num_nodes = (started.config.setting(tuple(path.split("."))) for path in reversed(_TRAINER))
    yield Draft(
        f"the launcher starts {nodes} × {ranks} ranks, and `num_nodes` × `devices` is {config_nodes} × {config_devices}: "
        "Lightning refuses to start, or ranks wait for others that never come",
        where,
        "launcher.world_size",
        current=nodes * ranks,
        recommended=config_nodes * config_devices,
        rationale="Give the same numbers in the job's header and in `trainer`.",
        origin="launcher",
        related=tuple(
            Related(setting.location, f"`trainer.{setting.key}` is {setting.value}")
            for setting in (num_nodes, devices)
            if setting.stated and setting.location != where
        ),
    )


@rule("NR513", "changing-data", Severity.ERROR)
def changing_data(launched: Launched) -> Iterator[Draft]:
    """Chunks of one experiment read different data or bucket it differently."""
    for started in launched.starts:
        keys = {f"{dataset.subject}.{option}" for dataset in started.config.training for option in _DATA}
        for override in started.launch.overrides:
            if override.key in keys and override.value.varies is not None and not _own_experiment(started):
                yield _varying(
                    override, "the saved state belongs to other data or other buckets, and restoring raises or diverges"
                )
    yield from _between(launched, _DATA, "NR513")


def _between(launched: Launched, options: tuple[str, ...], code: str) -> Iterator[Draft]:
    """Keys that two commands of one launcher set differently, where both write to one experiment."""
    first: dict[str, tuple[Override, str]] = {}
    for started in launched.starts:
        place = experiment(started)
        for override in started.launch.overrides:
            option = override.key if override.key in options else override.key.rsplit(".", 1)[-1]
            inside = override.key in options or any(
                override.key == f"{dataset.subject}.{option}" for dataset in started.config.training
            )
            if option not in options or not inside or override.value.text is None:
                continue
            other = first.setdefault(f"{place} {override.key}", (override, override.value.text))
            if other[1] != override.value.text and place:
                yield Draft(
                    f"`{override.key}` is {override.value.text} in this chunk and {other[1]} in another of the same experiment: "
                    "the saved state does not fit",
                    override.location,
                    override.key,
                    current=override.value.text,
                    recommended=other[1],
                    rationale="Chunks of one experiment have to be started alike.",
                    origin="launcher override",
                    related=(Related(other[0].location, "the other chunk"),),
                )


def experiment(started: Started) -> str:
    """The folder and name under which a command keeps its checkpoints, as one text; "" where they are not known."""
    manager = started.config
    parts = [manager.setting(("exp_manager", key)) for key in ("explicit_log_dir", "exp_dir", "name")]
    if not all(part.known for part in parts):
        return ""
    return "|".join(str(part.value) for part in parts)


def _own_experiment(started: Started) -> bool:
    """Whether each run of the command writes to an experiment of its own, so that its runs are no chunks."""
    return any(
        override.value.varies is not None
        for override in started.setting_overrides(
            "exp_manager.explicit_log_dir", "exp_manager.exp_dir", "exp_manager.name"
        )
    )


def _varying(override: Override, effect: str) -> Draft:
    varies = override.value.varies
    assert varies is not None
    return Draft(
        f"`{override.key}` follows from {varies.by} and differs between chunks: {effect}",
        override.location,
        override.key,
        rationale="Give the same value in every chunk.",
        origin="launcher override",
        related=_related(varies.at, override.location),
        fix=drop_override(override),
    )


def _fact(name: str, fact: Fact) -> Draft:
    assert fact.varies is not None
    assert fact.location is not None
    return Draft(
        f"the number of {name} follows from {fact.varies.by} and differs between chunks: the saved state is split by rank and "
        "does not fit any more",
        fact.location,
        f"launcher.{name}",
        rationale="Start every chunk with the same number.",
        origin="launcher",
        related=_related(fact.varies.at, fact.location),
    )


def _related(at: Location | None, use: Location) -> tuple[Related, ...]:
    return (Related(at, "it is decided here"),) if at is not None and at != use else ()
