"""A training config: which of its sections Lhotse reads, as datasets with their blends, and the trainer around them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from ..findings import Edit, Location
from ..lazily import cached_property
from ..records import dataclass
from ..syntax.editing import CannotEdit, set_nested, set_value
from ..syntax.nodes import Document, Mapping, Sequence, deref
from ..syntax.store import Unreadable
from ..text import Span
from .blend_reader import BlendReader, Gap, Site
from .composition import Composition, Layer, Section, compose, header_package
from .context import BlendFile, Context
from .dataset import TEST, TRAINING, VALIDATION, Dataset, EvaluationDataset, TrainingDataset, written
from .resolution import Resolution
from .values import Origin, Setting, Unknown, as_boolean

if TYPE_CHECKING:
    from .launcher.facts import Launch, Launcher

#: Where dataset sections live. Under `data` Lhotse always reads them; elsewhere `use_lhotse` (or a key that only
#: Lhotse knows) decides. `model.data` is the layout of the multimodal collection.
PLACES: tuple[tuple[str, ...], ...] = (("data",), ("model",), ("model", "data"), ())
KINDS = {"train_ds": TRAINING, "validation_ds": VALIDATION, "test_ds": TEST}
_LHOTSE_ONLY = ("input_cfg", "shar_path", "cuts_path")
_NO_SUB_CONFIG = frozenset({"sampler_weights"})


@dataclass(frozen=True, eq=False)
class TrainingConfig:
    """A training YAML with everything it reads."""

    document: Document
    composition: Composition
    context: Context
    place: tuple[str, ...]  #: the section that holds the datasets: ("data",) or ("model",)
    package: tuple[str, ...]  #: the package into which the file's own content goes
    launch: Launch | None = None  #: the training command whose overrides lie on top, where one is judged

    @cached_property
    def memo(self) -> dict[object, object]:
        """What rules derived from the whole config and need again."""
        return {}

    @cached_property
    def launchers(self) -> tuple[tuple[Launcher, tuple[Launch, ...]], ...]:
        """The launchers that start the config, each with the commands that do; assigned ones may have none."""
        read = self.context.read_launcher
        if read is None or not self.context.launchers:
            return ()
        from .launcher.matching import Surroundings, starting  # most configs are judged without a launcher

        context, found = self.context, []
        for given in self.context.launchers:
            launcher = read(given.path)
            if isinstance(launcher, Unreadable):
                continue
            path = self.document.source.path
            around = Surroundings(
                path, context.launch_dir, context.root, context.presence, given.trainers, given.rivals
            )
            launches = starting(launcher, around, assigned=given.assigned)
            if launches is not None:
                found.append((launcher, launches))
        return tuple(found)

    @cached_property
    def resolution(self) -> Resolution:
        """Interpolations inside the config."""
        return Resolution(self.composition.root, self.context.variables)

    @cached_property
    def outside_resolution(self) -> Resolution:
        """Interpolations inside external blends, where the config's keys do not exist."""
        return Resolution(None, self.context.variables)

    @property
    def is_speechlm2(self) -> bool:
        """Whether speechlm2's DataModule reads the datasets (it forces finite, map-style evaluation)."""
        return self.place == ("data",)

    @cached_property
    def _reader(self) -> BlendReader:
        return BlendReader()

    @cached_property
    def datasets(self) -> tuple[Dataset, ...]:
        """All datasets Lhotse reads, training first."""
        parent = self.composition.root.at(self.place)
        assert parent is not None
        datasets = [dataset for name, kind in KINDS.items() for dataset in self._read(parent, name, kind)]
        for dataset in datasets:
            self._reader.attach(dataset)
        return tuple(datasets)

    @cached_property
    def training(self) -> tuple[TrainingDataset, ...]:
        return tuple(dataset for dataset in self.datasets if isinstance(dataset, TrainingDataset))

    @cached_property
    def evaluation(self) -> tuple[EvaluationDataset, ...]:
        return tuple(dataset for dataset in self.datasets if isinstance(dataset, EvaluationDataset))

    @property
    def blends(self) -> tuple[BlendFile, ...]:
        """The external blend files that were read."""
        return tuple(self._reader.files.values()) if self.datasets else ()

    @property
    def blend_sites(self) -> tuple[Site, ...]:
        """The places that name those files."""
        return tuple(self._reader.sites) if self.datasets else ()

    @cached_property
    def gaps(self) -> tuple[Gap, ...]:
        """The parts of the blends that could not be read."""
        return tuple(self._reader.gaps) if self.datasets else ()

    def setting(self, path: tuple[str, ...], default: object = None) -> Setting:
        """The effective value of any other key of the config, such as ("trainer", "devices")."""
        known = self._settings.get(path)
        if known is None:
            known = self._settings[path] = self._setting(path)
        if default is None or known.stated or not known.known:
            return known
        return replace(known, value=default)

    @cached_property
    def _settings(self) -> dict[tuple[str, ...], Setting]:
        return {}

    def _setting(self, path: tuple[str, ...]) -> Setting:
        """What some file says of a key, else None by default, or Unknown where a missing base may say it."""
        subject = ".".join(path)
        section: Section = self.composition.root
        location = Location(self.document.source, _start(self.document))
        for index, key in enumerate(path):
            found = section.get(key)
            child = self._below(section, key) if index + 1 < len(path) else None
            if child is None and found is not None:  # the value itself, or what it is looked up in: `trainer: ${other}`
                whole = index + 1 == len(path)
                value = self.resolution.value(found.node, path, 1) if whole else self.resolution.lookup(path)
                if not (isinstance(value, Unknown) and value.kind == "missing" and not value.text):
                    return Setting(path[-1], value, found.origin, subject, found)
                location = found.key_location
            if child is None:
                break
            section, location = child, child.key_location or location
        base = self.composition.hidden(path)
        default = None
        if base is not None:
            default = Unknown(f"the base config `{base.name}` may set it and was not found", "base", "?")
        return Setting(path[-1], default, Origin.DEFAULT, subject, location)

    def _below(self, section: Section, key: str) -> Section | None:
        """A child section; rules ask for dozens of values of one, and merging its layers takes time."""
        name = (section, key, "below")
        if name not in self.memo:
            self.memo[name] = section.section(key)
        return self.memo[name]  # type: ignore[return-value]

    def set(self, path: tuple[str, ...], value: object) -> tuple[Edit, ...]:
        """Edits that give any key of the config a value, in the file at hand; raises CannotEdit."""
        note = f"was {written(self.setting(path))}"
        return self.set_in(self.composition.root.at(path[:-1]), path, value, note)

    def set_in(self, section: Section | None, path: tuple[str, ...], value: object, note: str) -> tuple[Edit, ...]:
        """The same for a key of a section that is known, None for one that is still to be opened; raises CannotEdit."""
        name = ("set_in", path, type(value), str(value), note)
        known = self.memo.get(name)  # what all children inherit is set once, and wanted by each of them
        if known is None:
            mapping = section.owned(self.document) if section is not None else None
            if mapping is not None:
                known = set_value(self.document, mapping, path[-1], value, note=note)
            else:
                known = set_nested(self.document, self._within_file(path), value, note=note)
            self.memo[name] = known
        return known  # type: ignore[return-value]

    def _within_file(self, path: tuple[str, ...]) -> tuple[str, ...]:
        """A path of the composed config as a path inside the file at hand; raises CannotEdit where it lies beside it."""
        inside = len(self.package)
        if path[:inside] != self.package:
            raise CannotEdit(f"the file only holds the section `{'.'.join(self.package)}`")
        return path[inside:]

    def _read(self, parent: Section, name: str, kind: str) -> Iterator[Dataset]:
        section = parent.section(name)
        if section is None or not _lhotse_reads(section, self.place, self.resolution):
            return
        inner = section.section("dataset")
        if inner is not None and not _has_data(section) and _has_data(inner):
            section = inner  # magpietts: the Lhotse options stand one level below
        if kind == TRAINING:
            yield from self._training(section)
        else:
            yield from self._evaluation(section, kind)

    def _training(self, section: Section) -> Iterator[Dataset]:
        dataset = TrainingDataset(self, TRAINING, (section,))
        if not dataset["multi_config"].is_(True):
            yield dataset
            return
        for key in section.names():
            child = section.section(key)
            if child is not None and key not in _NO_SUB_CONFIG:
                yield TrainingDataset(self, TRAINING, (child,), shared=section)

    def _evaluation(self, section: Section, kind: str) -> Iterator[Dataset]:
        found = section.get("datasets")
        named = section.section("datasets")
        if named is not None:
            for key in named.names():
                child = named.section(key)
                if child is not None:
                    yield EvaluationDataset(self, kind, (child, section))
        elif found is not None and isinstance(found.node, Sequence):
            for index, item in enumerate(found.node.items):
                node = deref(item)
                if isinstance(node, Mapping):
                    opened = node.pairs[0].key.span if node.pairs else node.span
                    child = Section(
                        (*section.path, "datasets", str(index)),
                        (Layer(found.document, node, found.origin),),
                        Location(found.document.source, opened),
                    )
                    yield EvaluationDataset(self, kind, (child, section), listed=True)
        else:
            yield EvaluationDataset(self, kind, (section,))


def read_config(document: Document, context: Context) -> TrainingConfig | None:
    """The training config in a document, or None where no `train_ds` is read by Lhotse."""
    composition = compose(document, context.load)
    if composition is None:
        return None
    package = header_package(document)
    if package:
        root = composition.root
        layers = tuple(
            Layer(layer.document, layer.mapping, layer.origin, layer.prefix or package)
            if layer.origin is Origin.FILE
            else layer
            for layer in root.layers
        )
        composition = Composition(Section((), layers), composition.bases, composition.missing)
    resolution = Resolution(composition.root, context.variables)
    for place in PLACES:
        parent = composition.root.at(place)
        section = parent.section("train_ds") if parent is not None else None
        if section is not None and _lhotse_reads(section, place, resolution):
            return TrainingConfig(document, composition, context, place, package)
    return None


def _lhotse_reads(section: Section, place: tuple[str, ...], resolution: Resolution) -> bool:
    if place == ("data",):
        return True
    found = section.get("use_lhotse")
    if found is None:
        return any(_stated(section, key) for key in _LHOTSE_ONLY)
    value = as_boolean(resolution.value(found.node, (*section.path, "use_lhotse")))
    return value is True


def _stated(section: Section, key: str) -> bool:
    found = section.get(key)
    return found is not None and getattr(found.node, "value", found) is not None


def _has_data(section: Section) -> bool:
    return any(section.get(key) is not None for key in (*_LHOTSE_ONLY, "manifest_filepath", "datasets"))


def _start(document: Document) -> Span:
    root = document.root
    if isinstance(root, Mapping) and root.pairs:
        return root.pairs[0].key.span
    return Span(0, 0)
