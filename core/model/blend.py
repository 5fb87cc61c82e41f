"""The data blend: the tree of `input_cfg` entries across files, with inherited options; its leaves are the sources."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

from ..findings import Edit, Location
from ..lazily import cached_property
from ..records import dataclass
from ..syntax.editing import CannotEdit, set_value
from ..syntax.nodes import Alias, Document, Mapping, Node, Pair, Scalar, ScalarValue, Sequence, deref
from ..syntax.removing import comment_out_item, remove_pair, rename_key
from ..text import Span
from .composition import Found, Section
from .dataset import Dataset, read_value, written
from .paths import is_plain
from .resolution import Resolution
from .schema import LOADER_WIDE_WINS, OPTIONS
from .sources import READERS, SOURCE_TYPES, SourceType
from .values import Origin, Setting


@dataclass(frozen=True, slots=True)
class PathText:
    """One path string of an entry. `text` is as written where an interpolation in it cannot be resolved."""

    text: str
    known: bool
    location: Location
    key: str
    name: str = field(init=False, default="")  #: the last component, or "" where it is not known
    field: str = ""  #: the Shar field it belongs to, in the mapping form of `shar_path`

    def __post_init__(self) -> None:
        name = self.text.rsplit("/", 1)[-1]
        object.__setattr__(self, "name", name if self.known or not ("}" in name or name == "???") else "")


@dataclass(frozen=True, eq=False)
class Entry:
    """One entry of a blend, or a dataset section that names its data itself (`flat`)."""

    dataset: Dataset
    section: Section
    parent: Entry | None = None
    external: bool = False  #: it stands in a blend file, where the config's keys cannot be interpolated
    flat: bool = False
    sequence: Sequence | None = None
    index: int = 0
    children: tuple[Entry, ...] = field(default=(), init=False)
    _settings: dict[str, Setting] = field(default_factory=dict, init=False, repr=False)
    _found: dict[str, Found] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def _lookup(self) -> dict[ScalarValue, Pair]:
        """What the entry's own mapping says; unlike a dataset's section, an entry has no other layer."""
        return self.section.layers[0].mapping.lookup

    @cached_property
    def document(self) -> Document:
        return self.section.document

    @property
    def mapping(self) -> Mapping:
        return self.section.strongest.mapping

    @cached_property
    def subject(self) -> str:
        return ".".join(self.section.path)

    @cached_property
    def location(self) -> Location:
        """Where a finding about something missing stands: the value of `type`, else the first key."""
        if self.flat:
            return self.dataset.location
        found = self.find("type")
        if found is not None:
            return found.location
        pairs = self.mapping.pairs
        span = pairs[0].key.span if pairs else self.mapping.span
        return Location(self.document.source, span)

    # -- options

    def find(self, key: str) -> Found | None:
        """The entry's own pair for a key."""
        if self.flat:
            return self.dataset.find(key)
        pair = self._lookup.get(key)
        if pair is None:
            return None  # what rules ask for is mostly not there
        found = self._found.get(key)
        if found is None:
            layer = self.section.layers[0]
            found = self._found[key] = Found(layer.document, pair, layer.origin)
        return found

    def __getitem__(self, key: str) -> Setting:
        """The effective value: the entry's own, else what it inherits, else the default."""
        cached = self._settings.get(key)
        if cached is None:
            cached = self._settings[key] = self._setting(key)
        return cached

    def _setting(self, key: str) -> Setting:
        if self.flat:
            return self.dataset[key]
        option = OPTIONS.get(key)
        inherited = option is not None and option.propagated
        if inherited and key in LOADER_WIDE_WINS:
            return self.dataset[key]
        found = self.find(key)
        if found is not None:
            value = read_value(self.resolution, found, (*self.section.path, key))
            subject = f"{self.subject}.{key}"
            return Setting(key, value, Origin.ENTRY, subject, found)
        if inherited:
            return (self.parent or self.dataset)[key]
        return Setting(key, None, Origin.DEFAULT, f"{self.subject}.{key}", self.location)

    def own(self, key: str) -> Setting | None:
        """The setting if the entry itself states it."""
        return self[key] if self.find(key) is not None else None

    def has(self, key: str) -> bool:
        """Whether a data key is there and not null; an unknown value counts as there."""
        pair = self._lookup.get(key) if not self.flat else found.pair if (found := self.find(key)) is not None else None
        if pair is None:
            return False
        node = pair.value
        if isinstance(node, Scalar) and isinstance(node.value, str):
            return True  # the most frequent case by far, and no setting is made for it
        return self[key].value is not None

    @property
    def resolution(self) -> Resolution:
        config = self.dataset.config
        return config.outside_resolution if self.external else config.resolution

    # -- edits, in the file that holds the entry

    def set(self, key: str, value: object) -> tuple[Edit, ...]:
        """Edits that give one of the entry's keys a value; raises CannotEdit."""
        if self.flat:
            return self.dataset.set(key, value)
        return set_value(self.document, self.mapping, key, value, note=f"was {written(self[key])}")

    def remove(self, key: str) -> tuple[Edit, ...]:
        """Edits that take one of the entry's own keys out; raises CannotEdit."""
        return remove_pair(self.document, self.mapping, key, note=f"was {key}: {written(self[key])}")

    def rename(self, key: str, new: str) -> tuple[Edit, ...]:
        """Edits that rename one of the entry's own keys; raises CannotEdit."""
        if self.flat:
            return self.dataset.rename(key, new)
        return rename_key(self.document, self.mapping, key, new)

    def exclude(self, reason: str) -> tuple[Edit, ...]:
        """Edits that turn the entry into comment lines; raises CannotEdit."""
        if self.flat or self.sequence is None:
            raise CannotEdit("the dataset section itself names the data")
        return comment_out_item(self.document, self.sequence, self.index, reason)

    # -- what it reads

    @cached_property
    def type_name(self) -> object:
        """The `type` as NeMo sees it: a string, Unknown, or None; a flat section's follows from its data keys."""
        if not self.flat:
            found = self.find("type")
            return read_value(self.resolution, found, (*self.section.path, "type")) if found is not None else None
        if self.has("cuts_path") or self.has("shar_path"):
            return "lhotse"
        return "nemo_tarred" if self.has("tarred_audio_filepaths") else "nemo"

    @cached_property
    def type(self) -> SourceType | None:
        """The registered source type, or None."""
        return SOURCE_TYPES.get(self.type_name) if isinstance(self.type_name, str) else None

    @cached_property
    def is_group(self) -> bool:
        """Whether it only gathers other entries (a group, or a wrapper around a nested `input_cfg`)."""
        return not self.flat and self.find("input_cfg") is not None and self["input_cfg"].value is not None

    @cached_property
    def reader(self) -> str:
        """Which reader opens the data: nemo, nemo_tarred, cuts, shar, or the name of the type."""
        kind = self.type
        if kind is None:
            return "unknown"
        if kind.name == "nemo_tarred_to_duplex" or kind.name in ("nemo", "nemo_tarred"):
            return "nemo_tarred" if self.has("tarred_audio_filepaths") else "nemo"
        if kind.name in ("lhotse", "lhotse_shar") or kind.wrapper:
            if self.has("cuts_path"):
                return "cuts"
            if self.has("shar_path"):
                return "shar"
            if kind.wrapper and self.has("manifest_filepath"):
                return "nemo_tarred" if self.has("tarred_audio_filepaths") else "nemo"
            return "unknown"
        return kind.name

    @cached_property
    def style(self) -> str:
        """The dataset style this source has when neither force flag is set; "" where its type is not known."""
        opened = READERS.get(self.reader)
        return opened.style if opened is not None else ""

    @cached_property
    def data_keys(self) -> tuple[str, ...]:
        """The keys that name files, those present."""
        opened = READERS.get(self.reader)
        keys = opened.data_keys if opened else ("paths", "manifest_filepath", "tarred_audio_filepaths")
        return tuple(key for key in keys if self.has(key))

    @cached_property
    def paths(self) -> tuple[PathText, ...]:
        """Every path string under the entry's data keys, each at its own place."""
        return tuple(path for key in self.data_keys for path in self._paths(key))

    @cached_property
    def special_paths(self) -> tuple[PathText, ...]:
        """Those that are not just files on a file system, which is what most of the rules on paths are about."""
        return tuple(path for path in self.paths if not is_plain(path.text))

    @cached_property
    def unknown_paths(self) -> tuple[Setting, ...]:
        """The keys that name files and whose value as a whole cannot be known."""
        keys = self.data_keys if self.flat else dict.fromkeys(path.key for path in self.paths if not path.known)
        return tuple(setting for key in keys if not (setting := self[key]).known)

    def _paths(self, key: str) -> Iterator[PathText]:
        found = self.find(key)
        if found is None:
            return
        base = (*self.section.path, key)
        stack: list[tuple[Node, Span | None, str]] = [(found.pair.value, found.pair.merged_at, "")]
        while stack:
            node, use, name = stack.pop()
            if isinstance(node, Alias):
                use = use or node.span
            target = deref(node)
            if isinstance(target, Sequence):
                stack += [(item, use, name) for item in reversed(target.items)]
            elif isinstance(target, Mapping):
                stack += [(pair.value, use, name or str(field)) for field, pair in reversed(list(target))]
            elif isinstance(target.value, str):
                value = self.resolution.value(target, base)
                known = isinstance(value, str)
                location = Location(found.document.source, use or target.span)
                yield PathText(value if isinstance(value, str) else target.value, known, location, key, name)

    @cached_property
    def indexable(self) -> bool:
        """Whether its reader can be indexed at all."""
        return self.type is not None and self.type.indexable and self.reader != "unknown"

    @cached_property
    def judged_indexed(self) -> bool:
        """Whether rules see it as indexed: in training always, since that is where the migration goes."""
        if self.dataset.is_training:
            return self.indexable
        return self.indexable and self["indexed"].is_(True)

    def walk(self) -> Iterator[Entry]:
        """This entry and all below it."""
        yield self
        for child in self.children:
            yield from child.walk()

    def leaves(self) -> Iterator[Entry]:
        """The entries at and below this one that read data."""
        if self.is_group:
            for child in self.children:
                yield from child.leaves()
        else:
            yield self


#: A leaf: rules that look at sources take one of these.
Source = Entry
