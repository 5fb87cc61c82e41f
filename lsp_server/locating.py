"""Where a key of the composed config stands, and which commands of launchers have to do with a config."""

from __future__ import annotations

from collections.abc import Iterator

from nemo_resumable.core.findings import Location
from nemo_resumable.core.model.composition import Section
from nemo_resumable.core.model.config import TrainingConfig
from nemo_resumable.core.model.launcher.facts import Launch, Override
from nemo_resumable.core.syntax.interpolation import Reference
from nemo_resumable.core.syntax.nodes import Document, Mapping, Node, Sequence, deref

from .view import FileView


def key_location(config: TrainingConfig, path: tuple[str, ...]) -> Location | None:
    """The key that decides the value at a path, or the item of a list; None where no file says it."""
    section: Section | None = config.composition.root
    for index, name in enumerate(path):
        assert section is not None
        found = section.get(name)
        below = section.section(name)
        if index + 1 == len(path):
            return found.key_location if found is not None else below.key_location if below is not None else None
        if below is None:
            return _inside(found.document, found.node, path[index + 1 :]) if found is not None else None
        section = below
    return None


def _inside(document: Document, node: Node, path: tuple[str, ...]) -> Location | None:
    """A place within a value: a position of a list, a key of its mapping."""
    place: Location | None = None
    for name in path:
        node = deref(node)
        if (
            isinstance(node, Sequence)
            and name.lstrip("-").isdigit()
            and -len(node.items) <= int(name) < len(node.items)
        ):
            node = node.items[int(name)]
            place = Location(document.source, node.span)
        elif isinstance(node, Mapping) and (pair := node.get(name)) is not None:
            place = Location(document.source, pair.merged_at or pair.key.span)
            node = pair.value
        else:
            return None
    return place


def target(reference: Reference, own: tuple[str, ...]) -> tuple[str, ...] | None:
    """The path that a reference at the path `own` names; None where a part of it is only known at run time."""
    names = tuple(part for part in reference.path if isinstance(part, str))
    if len(names) != len(reference.path) or reference.level > len(own):
        return None
    return (*own[: len(own) - reference.level], *names) if reference.level else names


def overrides(config: TrainingConfig, subject: str) -> Iterator[Override]:
    """What the launchers' commands that start a config set at a path; of each command the last word counts."""
    for _, launches in config.launchers:
        for launch in launches:
            said = [each for each in launch.overrides if each.key == subject]
            yield from said[-1:]


def launches_in(view: FileView) -> Iterator[tuple[TrainingConfig, Launch]]:
    """The commands of a launcher that start configs at hand."""
    for config in view.configs:
        for launcher, launches in config.launchers:
            if launcher.source.path == view.path:
                for launch in launches:
                    yield config, launch
