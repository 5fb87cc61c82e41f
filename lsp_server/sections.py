"""What the mapping at a path means to NeMo: a dataset, an entry of a blend, a section of the trainer; and who reads it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nemo_resumable.core.lone_blends import is_blend
from nemo_resumable.core.model.blend import Entry
from nemo_resumable.core.model.composition import header_package
from nemo_resumable.core.model.config import KINDS, PLACES, TrainingConfig
from nemo_resumable.core.model.dataset import Dataset
from nemo_resumable.core.model.trainer import CALLBACK, MANAGER, TRAINER
from nemo_resumable.core.model.values import Setting
from nemo_resumable.core.syntax.nodes import Mapping

from .view import FileView

TOP, HOLDER, DATASET, ENTRY, SETUP, OTHER = "top", "holder", "dataset", "entry", "setup", "other"


@dataclass(frozen=True, slots=True)
class Section:
    """What a mapping holds. `path` is composed: the package of the file stands before its own keys."""

    what: str
    path: tuple[str, ...] = ()
    kind: str = ""  #: of a dataset: training · validation · test
    certain: bool = True  #: false where it depends on other keys whether Lhotse reads the section

    @property
    def dotted(self) -> str:
        return ".".join(self.path)


def section_of(path: tuple[str, ...], *, blend: bool) -> Section:
    """The meaning of a mapping by the keys and list positions that lead to it."""
    if blend:
        inside = path[1:] if path[:1] == ("input_cfg",) else path
        return Section(ENTRY if inside and _is_entry(("input_cfg", *inside)) else OTHER, path)
    if not path:
        return Section(TOP)
    if ".".join(path) in (MANAGER, CALLBACK, TRAINER):
        return Section(SETUP, path)
    for place in sorted(PLACES, key=len, reverse=True):
        if path == place:
            return Section(HOLDER, path, certain=place == ("data",))
        if path[: len(place)] == place and path[len(place)] in KINDS:
            sure = place in (("data",), ("model", "data"))
            return _within(path, path[len(place) + 1 :], KINDS[path[len(place)]], sure)
    return Section(OTHER, path)


def _within(path: tuple[str, ...], rest: tuple[str, ...], kind: str, sure: bool) -> Section:
    """The meaning of what is below `train_ds` and its like."""
    if not rest or (len(rest) == 2 and rest[0] == "datasets") or rest == ("dataset",):
        return Section(DATASET, path, kind, sure)
    if "input_cfg" in rest:
        return Section(ENTRY if _is_entry(rest[rest.index("input_cfg") :]) else OTHER, path, kind)
    if len(rest) == 1 and rest[0] != "datasets":  # a child of `multi_config`, if that is on
        return Section(DATASET, path, kind, certain=False)
    return Section(OTHER, path)


def _is_entry(rest: tuple[str, ...]) -> bool:
    """Whether a path is `input_cfg` and a position, any number of times."""
    return len(rest) % 2 == 0 and all(
        part.isdigit() if index % 2 else part == "input_cfg" for index, part in enumerate(rest)
    )


def package_of(view: FileView) -> tuple[str, ...]:
    """The keys of the composed config that stand above those of a file: its own package, or the one it is read into."""
    for config in view.configs:
        for layer in config.composition.root.layers:
            if layer.document.source.path == view.path:
                return layer.prefix
    return header_package(view.syntax)


def reads_as_blend(view: FileView) -> bool:
    """Whether a file is a blend: a config reads it as one, or it is a list of entries."""
    return any(view.path in result.blends for result in view.results) or is_blend(view.syntax)


@dataclass(frozen=True, slots=True)
class Use:
    """One reading of a mapping: for a dataset, or as an entry of its blend."""

    config: TrainingConfig
    dataset: Dataset
    entry: Entry | None = None

    def setting(self, key: str) -> Setting:
        """The effective value of a key of the mapping."""
        return self.entry[key] if self.entry is not None else self.dataset[key]


_Table = dict[int, list[Use]]


def uses(view: FileView, mapping: Mapping) -> list[Use]:
    """Every reading of a mapping of the file, training datasets of the file's own config first."""
    return [use for config in view.configs for use in _table(config).get(id(mapping), ())]


def _table(config: TrainingConfig) -> _Table:
    """The readings of every mapping of a config and its blends, by identity; the config keeps the mappings alive."""
    known = config.memo.get("uses of mappings")
    if known is None:
        table: _Table = {}
        for mapping, use in _readings(config):
            table.setdefault(id(mapping), []).append(use)
        known = config.memo["uses of mappings"] = table
    return known  # type: ignore[return-value]


def _readings(config: TrainingConfig) -> Iterator[tuple[Mapping, Use]]:
    for dataset in config.datasets:
        sections = dataset.sections if dataset.shared is None else (*dataset.sections, dataset.shared)
        for section in sections:
            for layer in section.layers:
                yield layer.mapping, Use(config, dataset)
        for entry in dataset.all_entries:
            if not entry.flat:
                yield entry.mapping, Use(config, dataset, entry)


def dataset_files(dataset: Dataset) -> set[Path]:
    """The blend files that a dataset reads."""
    return {entry.document.source.path for entry in dataset.all_entries if entry.external}
