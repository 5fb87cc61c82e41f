"""NR901-NR905: what a change since the last commit does to a running chain of chunks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from ..findings import Edit, Fix, FixKind, Related, Severity
from ..model.blend import Entry
from ..model.config import TrainingConfig
from ..model.overrides import as_started
from ..model.restoring import INDEX, SAMPLER, SEED, SOURCES, TOPOLOGY
from ..model.values import Origin, Setting, Unknown, show
from .drafts import Draft, about, attempt, plain
from .registry import rule

if TYPE_CHECKING:
    from ..model.changes import Change, Difference
    from ..model.launcher.facts import Launch

_GO_ON = "Restore the committed value, or begin a new experiment (another `exp_manager.name` or folder)."


def change_of(config: TrainingConfig) -> Iterator[Change]:
    """The config beside its committed version, where there is one that differs and whose chain goes on."""
    context = config.context
    if context.earlier is None or not any(dataset["use_stateful_dataloader"].is_(True) for dataset in config.training):
        return
    before = context.earlier(config)
    if before is None:
        return
    if config.launch is not None:
        before = _as_started(before, config, config.launch)
    from ..model.changes import Change  # few configs have changed since

    change = Change(before, config, context.then)
    if change.continues:
        yield change


def _as_started(before: TrainingConfig, now: TrainingConfig, launch: Launch) -> TrainingConfig:
    """The committed config under the command that starts it now, as that stood then; where it did not, as it stands now."""
    path = launch.location.file
    starts = [launches for launcher, launches in now.launchers if launcher.source.path == path]
    earlier = [launches for launcher, launches in before.launchers if launcher.source.path == path]
    places = [each.location for each in starts[0]] if starts else []
    at = places.index(launch.location) if launch.location in places else 0
    then = earlier[0][at] if earlier and at < len(earlier[0]) else launch
    return as_started(before, then, then.overrides)


@rule(TOPOLOGY, "changed-topology", Severity.WARNING)
def changed_topology(change: Change) -> Iterator[Draft]:
    """Workers, nodes, devices or parallel sizes have changed since the last commit."""
    return _settings(change, TOPOLOGY)


@rule(SEED, "changed-seed", Severity.WARNING)
def changed_seed(change: Change) -> Iterator[Draft]:
    """A seed has changed since the last commit."""
    return _settings(change, SEED)


@rule(SAMPLER, "changed-sampler", Severity.WARNING)
def changed_sampler(change: Change) -> Iterator[Draft]:
    """Buckets, shuffling or the kind of sampler have changed since the last commit."""
    return _settings(change, SAMPLER)


@rule(SOURCES, "changed-sources", Severity.WARNING)
def changed_sources(change: Change) -> Iterator[Draft]:
    """Sources were added, removed, reordered or re-typed since the last commit."""
    yield from _settings(change, SOURCES)
    graph = "what is saved belongs to another graph of iterators, and restoring it raises a TypeError or a ValueError"
    for dataset, found in change.sources:
        blend = dataset["input_cfg"].location
        if found.added or found.removed:
            sides = ((found.added, "added"), (found.removed, "taken away"))
            counts = [f"{_number(len(entries))} {what}" for entries, what in sides if entries]
            at = found.added[0].location if found.added else blend
            related = tuple(Related(entry.location, f"it stood here {change.then}") for entry in found.removed[:1])
            message = f"`{dataset.subject}` has other sources than {change.then} ({', '.join(counts)}): {graph}"
            yield Draft(message, at, f"{dataset.subject}.input_cfg", rationale=_GO_ON, origin="entry", related=related)
        for before, now in found.retyped:
            message = f"`type` was `{show(before.type_name)}` {change.then} and is `{show(now.type_name)}`: {graph}"
            yield _of_entries(change, before, now, message)
        if found.reordered is not None:
            message = (
                f"the sources of `{dataset.subject}` stand in another order than {change.then}: each goes on at the place of "
                "another, or restoring raises"
            )
            yield _of_entries(change, *found.reordered, message)
        if found.regrouped is not None:
            message = f"the entries of `{dataset.subject}` are grouped otherwise than {change.then}: {graph}"
            yield _of_entries(change, *found.regrouped, message)
        for before, now in found.reweighted:
            old, new = before["weight"], now["weight"]
            yield about(
                new,
                f"`weight` was `{show(old.value)}` {change.then} and is `{show(new.value)}`: restoring works, and sources are "
                "drawn with the new weights from the next chunk on",
                recommended=plain(old.value),
                severity=Severity.NOTE,
                related=_then(change, old),
            )


@rule(INDEX, "changed-index-identity", Severity.WARNING)
def changed_index_identity(change: Change) -> Iterator[Draft]:
    """Paths, index roots or pack declarations have changed since the last commit."""
    yield from _settings(change, INDEX)
    for _, found in change.sources:
        for moved in found.moved:
            before, now = moved.before[moved.key], moved.now[moved.key]
            fix = None
            if isinstance(before.value, str) and isinstance(now.value, str):
                fix = _restore(partial(moved.now.set, moved.key, before.value))
            yield about(
                now,
                f"`{moved.key}` was `{show(before.value)}` {change.then}: sidecars and packs have to be rebuilt under the new "
                "name, and what is saved fits only if the data is the same, item by item",
                recommended=plain(before.value),
                rationale="Build the indexes before the next chunk, or restore the committed value.",
                related=_then(change, before),
                fix=fix,
            )


def _settings(change: Change, code: str) -> Iterator[Draft]:
    """One draft for each setting that the rule speaks of."""
    for each in change.differences:
        if each.meaning.code == code and each.before.known and each.now.known:
            yield about(
                each.now,
                f"`{each.path[-1]}` was {each.before.phrase} {change.then} and is {each.now.phrase}: {each.meaning.effect}",
                recommended=plain(each.before.value),
                rationale=_GO_ON,
                related=_then(change, each.before),
                fix=_restore(partial(_restored, change, each)) if each.now.origin is not Origin.LAUNCHER else None,
            )


def _restore(edits: Callable[[], tuple[Edit, ...]]) -> Fix:
    return attempt("Restore the committed value", edits, kind=FixKind.CHOICE, artifact=False)


def _restored(change: Change, difference: Difference) -> tuple[Edit, ...]:
    before, key = difference.before, difference.path[-1]
    if difference.dataset is None:
        return change.now.set(difference.path, before.value)
    if not before.stated and difference.now.stated:
        return difference.dataset.remove(key)
    return difference.dataset.set(key, before.value)


def _of_entries(change: Change, before: Entry, now: Entry, message: str) -> Draft:
    related = (Related(before.location, f"what stood here {change.then}"),)
    return Draft(message, now.location, now.subject, rationale=_GO_ON, origin="entry", related=related)


def _then(change: Change, setting: Setting) -> tuple[Related, ...]:
    value = setting.value.text if isinstance(setting.value, Unknown) else show(setting.value)
    return (Related(setting.location, f"`{value}` {change.then}"),) if setting.stated else ()


def _number(count: int) -> str:
    return f"{count} source{'s' if count != 1 else ''}"
