"""NR701-NR706: whether the NeMo and Lhotse in use can do what a config asks of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ..findings import Location, Related, Severity
from ..model import obstacles
from ..model.config import TrainingConfig
from ..model.dataset import Dataset, TrainingDataset
from ..model.pack_header import pack_version
from ..model.packs import declared_pack, opens_packs, pack_file
from ..model.profiles import INDEXING, RESUMING, Runtime
from ..model.values import Setting
from .drafts import Draft, about
from .registry import rule

#: What comes of each option that NeMo does not know and drops.
_EFFECTS = {
    "indexed": "every source streams",
    "use_stateful_dataloader": "checkpoints carry no dataloader state",
    "index_pack": "the pack is not opened",
}
_DROPPED = "sidecars are not looked for there"


@rule("NR701", "lhotse-without-indexes", Severity.ERROR)
def lhotse_without_indexes(dataset: TrainingDataset) -> Iterator[Draft]:
    """The Lhotse in use cannot read by index."""
    runtime = _runtime(dataset)
    if not runtime.indexed_core:
        effect = (
            "a source that asks for `indexed` fails at start-up"
            if "indexed" in runtime.options
            else "every source streams, and no chunk continues where the last one stopped"
        )
        yield about(
            dataset["indexed"],
            f"{runtime.lhotse.label} has no indexes (no `lhotse/indexing.py`): {effect}",
            recommended="lhotse 2.0.0a1 or later",
            rationale="Indexes came with lhotse 2.0.0a1; pre-releases are installed with `pip install --pre lhotse` or a pin.",
            at_key=True,
        )


@rule("NR702", "nemo-without-option", Severity.ERROR)
def nemo_without_option(dataset: Dataset) -> Iterator[Draft]:
    """The NeMo in use does not have an option that the config needs."""
    runtime = _runtime(dataset)
    lacking = [key for key in (*RESUMING, *INDEXING) if key not in runtime.options]
    told = False
    for key in lacking:
        setting = dataset[key]
        if not setting.stated or setting.value in (None, False):
            continue
        told = told or key in RESUMING
        yield _about_nemo(
            dataset,
            setting,
            f"{runtime.nemo.label} has no option `{key}`: the key is dropped with a warning, and {_EFFECTS.get(key, _DROPPED)}",
        )
    needed = [f"`{key}`" for key in RESUMING if key in lacking]
    if needed and not told and dataset.is_training:
        yield _about_nemo(
            dataset,
            None,
            f"{runtime.nemo.label} has no option {' and no '.join(needed)}: whatever is set, this dataset does not continue "
            "where the last chunk stopped",
        )
    stateful = dataset["use_stateful_dataloader"]
    if "use_stateful_dataloader" in runtime.options and not runtime.per_rank_state and stateful.is_(True):
        if dataset.is_training and not _one_rank(dataset.config):
            yield _about_nemo(
                dataset,
                stateful,
                f"{runtime.nemo.label} saves the loader state of rank 0 only: with more ranks, a resume gives every rank the "
                "position of the first",
            )


def _about_nemo(dataset: Dataset, setting: Setting | None, message: str) -> Draft:
    runtime = _runtime(dataset)
    related = (Related(runtime.schema, "the options it has"),) if runtime.schema is not None else ()
    rationale = "The options for indexed, resumable data are in NeMo Speech main, in no release up to 3.0.0."
    if setting is not None:
        return about(setting, message, rationale=rationale, related=related, at_key=True)
    return Draft(message, dataset.location, dataset.subject, rationale=rationale, related=related)


def _one_rank(config: TrainingConfig) -> bool:
    devices, nodes = config.setting(("trainer", "devices"), "auto"), config.setting(("trainer", "num_nodes"), 1)
    return devices.is_(1) and nodes.is_(1)


@rule("NR703", "torchdata-missing", Severity.ERROR)
def torchdata_missing(dataset: TrainingDataset) -> Iterator[Draft]:
    """The environment looked at has no stateful dataloader."""
    runtime = _runtime(dataset)
    place = runtime.environment
    if place is not None and not place.torchdata and "use_stateful_dataloader" in runtime.options:
        yield about(
            dataset["use_stateful_dataloader"],
            f"`torchdata.stateful_dataloader` is not in `{_shown(dataset.config, place.folder)}`: `use_stateful_dataloader: "
            "true` raises an ImportError at start-up",
            rationale="Install `torchdata` where training runs.",
            at_key=True,
        )


@rule("NR704", "gzip-index-missing", Severity.ERROR)
def gzip_index_missing(config: TrainingConfig) -> Iterator[Draft]:
    """Sources are gzip and `indexed_gzip` is not installed."""
    runtime = config.context.runtime
    place = runtime.environment
    if place is None or place.indexed_gzip or not runtime.gzip_indexes:
        return
    found = [
        (source, path)
        for dataset in config.datasets
        for source in dataset.sources
        if source.judged_indexed
        for path in obstacles.compressed_manifests(source)
        if obstacles.gzip_indexed(source, path)
    ]
    if found:
        source, path = found[0]
        more = f", like {len(found) - 1} more," if len(found) > 1 else ""
        yield Draft(
            f"`{path.name or path.text}`{more} needs `indexed_gzip`, which is not in `{_shown(config, place.folder)}`: start-up "
            "fails when a gzip source is opened",
            path.location,
            f"{source.subject}.{path.key}",
            path.text,
            rationale="Install `indexed_gzip` where training runs, or decompress the JSONL once.",
        )


@rule("NR705", "pack-version-too-new", Severity.ERROR)
def pack_version_too_new(config: TrainingConfig) -> Iterator[Draft]:
    """An index pack is of a version that the Lhotse in use cannot read."""
    runtime = config.context.runtime
    if not runtime.index_packs or not runtime.indexed_core:
        return  # NR702 and NR701 speak of that
    seen: set[Location] = set()
    for dataset in config.datasets:
        for source in dataset.sources:
            setting, file = declared_pack(source), pack_file(source)
            if setting is None or file is None or setting.location in seen or not opens_packs(source):
                continue
            seen.add(setting.location)
            if not runtime.pack_versions:
                yield about(
                    setting,
                    f"{runtime.lhotse.label} reads no index packs: opening `{file.text}` fails at start-up",
                    rationale="Index packs came with lhotse 2.0.0a3.",
                )
                continue
            there = file.path is not None and config.context.presence(file.path) is True
            version = pack_version(file.path) if there and file.path is not None else None
            if version is not None and version > max(runtime.pack_versions):
                known = " and ".join(map(str, runtime.pack_versions))
                yield about(
                    setting,
                    f"`{file.text}` is an index pack of version {version}, and {runtime.lhotse.label} reads {known}: opening it "
                    "raises a ValueError at start-up",
                    rationale="Convert the pack again with the Lhotse that training runs with.",
                )


@rule("NR706", "runtime-not-inspected", Severity.NOTE)
def runtime_not_inspected(config: TrainingConfig) -> Iterator[Draft]:
    """No NeMo or Lhotse code was looked at, so a profile is assumed."""
    runtime = config.context.runtime
    if not config.training:
        return
    location, subject = _train_ds(config.training[0])
    for problem in runtime.problems:
        yield Draft(
            f"{problem}; what it would say is taken from the profile `{runtime.profile}`",
            location,
            subject,
            rationale="Check the paths given for NeMo and Lhotse.",
            severity=Severity.WARNING,
        )
    open_ = [(name, package) for name, package in runtime.packages if not package.read and not package.stated]
    if open_ and not runtime.chosen:
        names = " or ".join(name for name, _ in open_)
        labels = " + ".join(package.label for _, package in open_)
        yield Draft(
            f"no {names} code was found: {labels} is assumed (profile `{runtime.profile}`)",
            location,
            subject,
            rationale="Name it with --nemo and --lhotse or in the settings, or say with --profile what is in use.",
        )


def _train_ds(dataset: TrainingDataset) -> tuple[Location, str]:
    """The key that opens the training data, of a `multi_config` the one above all its datasets."""
    section = dataset.shared
    if section is None or section.key_location is None:
        return dataset.location, dataset.subject
    return section.key_location, ".".join(section.path)


def _runtime(dataset: Dataset) -> Runtime:
    return dataset.config.context.runtime


def _shown(config: TrainingConfig, folder: Path) -> str:
    """A folder as a message names it: from the repository's top where it lies below it."""
    root = config.context.root
    return folder.relative_to(root).as_posix() if folder.is_relative_to(root) else str(folder)
