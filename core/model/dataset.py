"""A dataset section of a config: its effective options, its sources, and edits that set an option in the file at hand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field
from typing import TYPE_CHECKING

from ..findings import Edit, Location
from ..lazily import cached_property
from ..records import dataclass
from ..syntax.editing import CannotEdit
from ..syntax.nodes import Sequence
from ..syntax.removing import remove_pair, rename_key
from .composition import Found, Section
from .resolution import Resolution
from .schema import BATCH_OPTIONS, BUCKETING_SWITCHES, MULTIMODAL_BATCH, OPTIONS, Option
from .values import Origin, Setting, Unknown, as_type, show

if TYPE_CHECKING:
    from .blend import Entry
    from .config import TrainingConfig

TRAINING, VALIDATION, TEST = "training", "validation", "test"


@dataclass(frozen=True, eq=False)
class Dataset:
    """One dataloader's section. `sections` are its own and, for a child of `datasets`, the one it inherits from."""

    config: TrainingConfig
    kind: str
    sections: tuple[Section, ...]
    shared: Section | None = None  #: the top level of a `multi_config` dataset, which overwrites the shared options
    listed: bool = False  #: a child of a list of datasets, which cannot be created from a base config
    entries: tuple[Entry, ...] = field(default=(), init=False)
    _settings: dict[str, Setting] = field(default_factory=dict, init=False, repr=False)

    @property
    def section(self) -> Section:
        """The dataset's own section."""
        return self.sections[0]

    @property
    def path(self) -> tuple[str, ...]:
        return self.section.path

    @cached_property
    def subject(self) -> str:
        """The dotted path of the section: data.train_ds."""
        return ".".join(self.path)

    @cached_property
    def location(self) -> Location:
        """The key that opens the section; of a list item, its first key."""
        opened = self.section.key_location
        assert opened is not None
        return opened

    def __getitem__(self, key: str) -> Setting:
        """The effective value of an option, with what decided it."""
        cached = self._settings.get(key)
        if cached is None:
            cached = self._settings[key] = self._setting(key)
        return cached

    @cached_property
    def _stated(self) -> frozenset[str]:
        """The keys that some layer of its sections speaks of: rules mostly ask for options that nobody sets."""
        sections = self.sections if self.shared is None else (*self.sections, self.shared)
        return frozenset().union(*map(self._names_of, sections))

    @property
    def own_keys(self) -> tuple[str, ...]:
        """The keys of its own section, whoever inherits them."""
        return self._names_of(self.section)

    def _names_of(self, section: Section) -> tuple[str, ...]:
        memo = self.config.memo  # what children inherit from is looked at once for all of them
        names = memo.get(section)
        if names is None:
            names = memo[section] = tuple(section.names())
        return names  # type: ignore[return-value]

    def unknown(self, keys: Iterable[str]) -> Iterator[Setting]:
        """The options among these whose value cannot be known: what a file says, or a missing base config may say."""
        all_of_them = bool(self.config.composition.missing)
        if not all_of_them and self._stated.isdisjoint(keys):
            return
        for key in keys:
            if (all_of_them or key in self._stated) and not (setting := self[key]).known:
                yield setting

    def find(self, key: str) -> Found | None:
        """The pair that decides an option, or None where no file says it."""
        if key not in self._stated:
            return None
        for section in self._sections_for(key):
            if (found := section.get(key)) is not None:
                return found
        return None

    def option(self, key: str) -> Option | None:
        """The option of the NeMo in use; where it does not know a key, the one that another NeMo has."""
        return self.config.context.runtime.options.get(key) or OPTIONS.get(key)

    def _sections_for(self, key: str) -> tuple[Section, ...]:
        if self.shared is not None and (option := self.option(key)) is not None and option.shared:
            return (self.shared,)
        return self.sections

    def _setting(self, key: str) -> Setting:
        memo, sections = self.config.memo, self._sections_for(key)
        for section in sections if key in self._stated else ():
            name = (section, key)
            if name not in memo:
                memo[name] = self._said(section, key)
            if (setting := memo[name]) is not None:
                return setting  # type: ignore[return-value]
        unsaid = (sections[-1], key, "default")
        if unsaid not in memo:
            memo[unsaid] = self._default(sections[-1], key)
        return memo[unsaid]  # type: ignore[return-value]

    def _said(self, section: Section, key: str) -> Setting | None:
        """What one section says of an option; the same for all datasets that inherit from it."""
        found = section.get(key)
        if found is None:
            return None
        path = (*section.path, key)
        return Setting(key, read_value(self.config.resolution, found, path), found.origin, ".".join(path), found)

    def _default(self, section: Section, key: str) -> Setting:
        """What holds where nobody says anything; it would be said in this section."""
        option = self.option(key)
        default = option.default if option is not None else None
        missing = self.config.composition.missing
        base = self.config.composition.hidden((*section.path, key)) if missing else None
        if base is not None:
            reason = f"the base config `{base.name}` may set it and was not found"
            default = Unknown(reason, "base", "?")
        subject = ".".join((*section.path, key))
        return Setting(key, default, Origin.DEFAULT, subject, section.key_location or self.location)

    def keys(self) -> list[str]:
        """The keys of the dataset's own section, as written and inherited."""
        return list(dict.fromkeys(key for section in self.sections for key in self._names_of(section)))

    # -- what the dataset is

    @property
    def is_training(self) -> bool:
        return self.kind == TRAINING

    @cached_property
    def sources(self) -> tuple[Entry, ...]:
        """The leaves of the blend: entries that read data."""
        return tuple(leaf for entry in self.entries for leaf in entry.leaves())

    @cached_property
    def all_entries(self) -> tuple[Entry, ...]:
        """Every entry of the blend, groups included, parents first."""
        return tuple(below for entry in self.entries for below in entry.walk())

    @property
    def bucketing(self) -> bool | None:
        """Whether bucketing is on, also by the options that switch it on; None when that is unknown."""
        settings = [self[key] for key in BUCKETING_SWITCHES]
        if any(setting.known and setting.value is not None for setting in settings):
            return True
        use = self["use_bucketing"]
        return bool(use.value) if use.known and all(setting.known for setting in settings) else None

    @property
    def batch_settings(self) -> tuple[Setting, ...]:
        """The options that can say how large a batch is, those that count for the kind of sampling."""
        multimodal = self["use_multimodal_sampling"]
        return tuple(
            self[key]
            for key in BATCH_OPTIONS
            if not (multimodal.known and MULTIMODAL_BATCH.get(key, multimodal.value) != multimodal.value)
        )

    # -- edits

    def target(self, key: str) -> Section:
        """The section in which an option is best set: where it stands, else the one that the children inherit from."""
        sections = self._sections_for(key)
        return next((section for section in sections if section.get(key) is not None), sections[-1])

    def set(self, key: str, value: object, note: str | None = None) -> tuple[Edit, ...]:
        """Edits that give an option a value, in the file at hand; raises CannotEdit."""
        section = self.target(key)
        note = note if note is not None else f"was {written(self[key])}"
        if self.listed and section.owned(self.config.document) is None:
            raise CannotEdit("the list of datasets stands in the base config")
        return self.config.set_in(section, (*section.path, key), value, note)

    def remove(self, key: str) -> tuple[Edit, ...]:
        """Edits that take an option out; raises CannotEdit where it does not stand in the file at hand."""
        mapping = self.target(key).owned(self.config.document)
        if mapping is None or mapping.get(key) is None:
            raise CannotEdit("it stands in the base config")
        return remove_pair(self.config.document, mapping, key, note=f"was {written(self[key])}")

    def rename(self, key: str, new: str) -> tuple[Edit, ...]:
        """Edits that rename a key; raises CannotEdit where it does not stand in the file at hand."""
        mapping = self.section.owned(self.config.document)
        if mapping is None or mapping.get(key) is None:
            raise CannotEdit("it stands in the base config")
        return rename_key(self.config.document, mapping, key, new)


class TrainingDataset(Dataset):
    """A training dataset."""


class EvaluationDataset(Dataset):
    """A validation or test dataset."""


def read_value(resolution: Resolution, found: Found, path: tuple[str, ...]) -> object:
    """The converted value of a pair. The list of an `input_cfg` stays a node: a blend may hold 100,000 entries."""
    if path[-1] == "input_cfg" and isinstance(found.node, Sequence):
        return found.node
    return convert(path[-1], resolution.value(found.node, path))


def convert(key: str, value: object) -> object:
    """A value as the merge into the schema converts it; what the merge refuses stays as it is (NR006 reports it)."""
    option = OPTIONS.get(key)
    return value if option is None else as_type(option.type.rstrip("?"), value)


def written(setting: Setting) -> str:
    """How an annotation names the value a key had."""
    if not setting.stated:
        return f"absent ({show(setting.value)} by default)"
    if isinstance(setting.value, str):
        return f'"{setting.value}"'
    return show(setting.value)
