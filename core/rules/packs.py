"""NR330-NR337: index packs: declared where they can be read, of sources they can hold, and never guessed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ..findings import FixKind, Related, Severity
from ..model import packs, paths
from ..model.blend import Entry
from ..model.dataset import Dataset
from ..model.obstacles import obstacle
from ..model.values import Setting, show
from .drafts import Draft, about, attempt, set_option
from .registry import rule


def _knows_packs(dataset: Dataset) -> bool:
    """Whether the NeMo in use reads packs at all."""
    return dataset.config.context.runtime.index_packs


@rule("NR330", "pack-without-index", Severity.ERROR)
def pack_without_index(dataset: Dataset) -> Iterator[Draft]:
    """An index pack is declared for a source that is not indexed."""
    for source in packs.packed_sources(dataset):
        yield from _pack_without_index(source)


def _pack_without_index(source: Entry) -> Iterator[Draft]:
    setting, indexed = packs.declared_pack(source), source["indexed"]
    if setting is not None and packs.opens_packs(source) and indexed.lacks(True):
        state = "is not set" if indexed.value is None else f"is `{show(indexed.value)}`"
        yield about(
            setting,
            f"`index_pack` needs `indexed: true`, and `indexed` {state} here: a ValueError at start-up",
            related=(Related(indexed.location, f"`indexed` {state}"),) if indexed.stated else (),
        )


@rule("NR331", "missing-pack", Severity.ERROR)
def missing_pack(dataset: Dataset) -> Iterator[Draft]:
    """A declared index pack is not there."""
    for source in packs.packed_sources(dataset):
        yield from _missing_pack(source)


def _missing_pack(source: Entry) -> Iterator[Draft]:
    setting, file = packs.declared_pack(source), packs.pack_file(source)
    if setting is None or file is None or not packs.opens_packs(source):
        return
    if file.remote:
        yield about(
            setting,
            f"the index pack `{file.text}` is no local path, and packs are opened as files: a FileNotFoundError at start-up",
        )
    elif file.path is not None and file.folder is not None:
        presence = source.dataset.config.context.presence
        if presence(file.path) is not False:
            return
        here = presence(file.folder)
        if here is True:
            yield about(
                setting,
                f"the index pack `{file.text}` does not exist: a declared pack is never replaced by sidecars, and start-up raises "
                "a FileNotFoundError",
            )
        elif here is False:
            yield about(
                setting,
                f"the index pack `{file.text}` could not be looked for, since its folder is not on this machine: where it is "
                "missing, start-up raises a FileNotFoundError",
                severity=Severity.WARNING,
            )


@rule("NR332", "relative-pack-without-root", Severity.ERROR, fix=FixKind.SAFE)
def relative_pack_without_root(dataset: Dataset) -> Iterator[Draft]:
    """A relative index pack has no root to begin in."""
    for source in packs.packed_sources(dataset):
        yield from _relative_pack_without_root(source)


def _relative_pack_without_root(source: Entry) -> Iterator[Draft]:
    setting, file = packs.declared_pack(source), packs.pack_file(source)
    if setting is None or file is None or not file.relative or not packs.opens_packs(source):
        return
    context = source.dataset.config.context
    there = context.presence(context.launch_dir / file.text) is True
    root = context.index_pack_root
    yield Draft(
        f"`index_pack` is the relative `{file.text}` and no `index_pack_root` is set: it is looked for in the folder in which "
        "training is started"
        + (", where it lies now" if there else ", and a FileNotFoundError follows where it is not there"),
        setting.location,
        source.dataset["index_pack_root"].subject,
        recommended=root,
        rationale="" if root else "Set `index_pack_root` to the folder of the packs.",
        origin=setting.origin.value,
        severity=Severity.WARNING if there else None,
        fix=set_option(source.dataset, "index_pack_root", root) if root else None,
    )


@rule("NR333", "unpackable-source", Severity.ERROR, fix=FixKind.SAFE)
def unpackable_source(dataset: Dataset) -> Iterator[Draft]:
    """An index pack is declared over a source that packs do not support."""
    for source in packs.packed_sources(dataset):
        yield from _unpackable_source(source)


def _unpackable_source(source: Entry) -> Iterator[Draft]:
    setting = packs.declared_pack(source)
    wrong = packs.misfit(source) if setting is not None else None
    if setting is None or wrong is None:
        return
    owner = packs.declarer(source)
    own = owner is source or source.flat
    if wrong.harmless and not own:
        return  # the converter passes it over, and the pack serves the sources beside it
    below = owner.sources if isinstance(owner, Dataset) else tuple(owner.leaves())
    held = [leaf for leaf in below if packs.opens_packs(leaf) and packs.misfit(leaf) is None]
    fix = attempt(
        "Remove `index_pack`: the source keeps its sidecars",
        lambda: packs.undeclare(owner),
        withheld="sources below the same declaration that a pack can hold go back to their sidecars too"
        if held
        else "",
    )
    message = f"{wrong.reason}: {wrong.effect}"
    severity = Severity.WARNING if wrong.harmless else None
    if own:
        yield about(setting, message, fix=fix, severity=severity)
    else:
        yield Draft(
            message,
            source.location,
            setting.subject,
            show(setting.value),
            origin=setting.origin.value,
            related=(Related(setting.location, "the pack is declared here"),),
            fix=fix,
            severity=severity,
        )


@rule("NR334", "whole-mixture-pack", Severity.WARNING)
def whole_mixture_pack(dataset: Dataset) -> Iterator[Draft]:
    """One index pack is declared for a whole mixture."""
    setting = dataset["index_pack"]
    if not _knows_packs(dataset) or not setting.stated or not setting.known or setting.value is None:
        return
    over = [entry for entry in dataset.entries if any(packs.declarer(leaf) is dataset for leaf in entry.leaves())]
    if len(over) > 1 and not over[0].flat:
        yield about(
            setting,
            f"one pack is declared for all {len(over)} entries of the mixture: a change to any of them means that the whole pack "
            "is built anew, and a missing collection raises a KeyError at start-up",
            rationale="Declare a pack on each entry that has one, under a common `index_pack_root`.",
        )


@rule("NR335", "invalid-pack-limit", Severity.ERROR, fix=FixKind.SAFE)
def invalid_pack_limit(dataset: Dataset) -> Iterator[Draft]:
    """The number of files a pack may hold open is no positive integer."""
    if not _knows_packs(dataset):
        return
    setting = dataset["index_pack_max_open_files"]
    if setting.known and type(setting.value) is int and setting.value < 1:  # other types are NR006
        yield _pack_limit(dataset, setting)
    for entry in dataset.all_entries:
        own = entry.own("index_pack_max_open_files") if not entry.flat else None
        if own is not None and own.known and not (type(own.value) is int and own.value >= 1):
            yield _pack_limit(entry, own)


def _pack_limit(owner: Dataset | Entry, setting: Setting) -> Draft:
    return about(
        setting,
        f"`index_pack_max_open_files` is `{show(setting.value)}`, and the readers of a pack need one open file at least: a "
        "ValueError at start-up once there is a pack",
        recommended=32,
        fix=attempt("Set `index_pack_max_open_files` to 32", lambda: owner.set("index_pack_max_open_files", 32)),
    )


@rule("NR336", "pack-candidate", Severity.NOTE)
def pack_candidate(dataset: Dataset) -> Iterator[Draft]:
    """A source of many shards has no index pack."""
    if not _knows_packs(dataset):
        return
    threshold = dataset.config.context.pack_threshold
    for outer in packs.outer_datasets(dataset, threshold):
        indexed = dataset.is_training or all(source["indexed"].is_(True) for source in outer.held)
        if not outer.supported or outer.packed or not indexed or outer.shards < threshold:
            continue
        if all(obstacle(source) is None and not packs.beyond_lhotse(source) for source in outer.held):
            yield Draft(
                f"{outer.shards:,} shards are read through loose sidecars, each of which is opened at start-up: one index pack "
                "would hold them all",
                outer.entry.location,
                f"{outer.entry.subject}.index_pack",
                rationale="`nemo-resumable migrate --packs` writes the commands that convert them.",
                origin="entry",
            )


@rule("NR337", "inferred-pack", Severity.WARNING)
def inferred_pack(dataset: Dataset) -> Iterator[Draft]:
    """An index pack that carries an entry's name is not declared."""
    context = dataset.config.context
    if not _knows_packs(dataset):
        return
    for entry in dataset.all_entries:
        known = packs.names(entry)
        leaves = [leaf for leaf in entry.leaves() if packs.opens_packs(leaf)] if known else []
        if not leaves or any(not leaf["index_pack"].known or leaf["index_pack"].value is not None for leaf in leaves):
            continue
        root = entry["index_pack_root"].value or context.index_pack_root
        if not isinstance(root, str) or paths.scheme(root) is not None:
            continue
        for name in known:
            file = f"{name}.idxpack"
            if context.presence(context.launch_dir / Path(root) / file) is True:
                yield Draft(
                    f"`{file}` lies in `{root}` and no `index_pack` declares it: packs are never found by their names, so the "
                    "sidecars are read",
                    entry.location,
                    f"{entry.subject}.index_pack",
                    recommended=file,
                    origin="entry",
                )
                break
