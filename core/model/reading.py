"""A file in its role: the text of a config, of one of its base configs, or of a blend it reads."""

from __future__ import annotations

from collections.abc import Iterator

from ..findings import Location
from ..records import dataclass
from ..syntax.nodes import Alias, Document, Mapping, Node, Scalar, Sequence
from ..text import Span
from .config import TrainingConfig

CONFIG, BASE, BLEND = "config", "base config", "blend"


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """One document that NeMo loads for a config. `config` is None where the file stands alone or does not parse."""

    document: Document
    role: str
    config: TrainingConfig | None

    def at(self, span: Span) -> Location:
        """A place in the file."""
        return Location(self.document.source, span)

    def scalars(self) -> Iterator[tuple[tuple[str, ...], Scalar]]:
        """Every scalar value as written, with its path; aliases are not followed."""
        stack: list[tuple[tuple[str, ...], Node]] = [((), self.document.root)] if self.document.root is not None else []
        while stack:
            path, node = stack.pop()
            if isinstance(node, Scalar):
                yield path, node
            elif isinstance(node, Sequence):
                stack += [((*path, str(index)), item) for index, item in reversed(list(enumerate(node.items)))]
            elif isinstance(node, Mapping):
                for pair in reversed(node.pairs):
                    if not isinstance(pair.value, Alias) and isinstance(pair.key, Scalar):
                        stack.append(((*path, str(pair.key.value)), pair.value))


def readings(config: TrainingConfig) -> Iterator[Reading]:
    """The config itself, the base configs and the blends it reads."""
    yield Reading(config.document, CONFIG, config)
    for base in config.composition.bases:
        yield Reading(base, BASE, config)
    for blend in config.blends:
        if blend.document is not None:
            yield Reading(blend.document, BLEND, config)
