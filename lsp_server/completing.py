"""What may be typed at a place: keys that are not there yet, and values, each with a word; the needed ones first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from nemo_resumable.core.model.option_docs import CHOICES, EVALUATION_NEEDS, RESUMING_NEEDS
from nemo_resumable.core.model.profiles import Runtime
from nemo_resumable.core.model.schema import BATCH_OPTIONS, OPTIONS, Option
from nemo_resumable.core.model.sources import COMMON_KEYS, KEY_DOCS, SOURCE_TYPES, SourceType
from nemo_resumable.core.model.trainer import CALLBACK, FIELDS, MANAGER, TRAINER
from nemo_resumable.core.model.trainer_docs import FIELD_CHOICES, FIELD_NEEDS, SECTION_DOCS
from nemo_resumable.core.model.values import show
from nemo_resumable.core.repository import may_be_ours
from nemo_resumable.core.syntax.nodes import Mapping, Node, Scalar, deref

from .explaining import field_text, key_text, needed_value, option_text, type_text, type_words
from .outline import Spot
from .places import VALUE
from .sections import DATASET, ENTRY, HOLDER, SETUP, TOP, Section, package_of, reads_as_blend, section_of
from .view import FileView

OPTION, ENTRY_KEY, FIELD, TYPE, SECTION, WORD = "option", "key", "field", "type", "section", "word"
#: Older names of options and keys, which are still read.
_OLD = frozenset({"tarred_random_access", "tar_routing_index"})
_DATA_OPTIONS = frozenset({"input_cfg", "shar_path", "cuts_path", "manifest_filepath", "tarred_audio_filepaths"})
_DATASETS = {
    "train_ds": "The training dataset",
    "validation_ds": "The validation dataset, or several below `datasets`",
    "test_ds": "The test dataset, or several below `datasets`",
}
_TOP = {
    "defaults": "The base configs that this one is composed of",
    "model": "The model",
    "data": "The datasets, where speechlm2 reads them",
}


@dataclass(frozen=True, slots=True)
class Offer:
    """Something that may be typed."""

    label: str
    what: str  #: option · key · field · type · section · word
    detail: str  #: behind the label: type and default, or what a value means
    rank: int  #: smaller comes first
    name: str = ""  #: what the words about it are found by
    kind: str = ""  #: of the dataset: training · validation · test


def words(what: str, name: str, kind: str) -> str:
    """The documentation of an offer as Markdown; empty where its detail says it all."""
    if what == OPTION:
        return option_text(name, OPTIONS.get(name), kind)
    if what == ENTRY_KEY:
        return key_text(name)
    if what == FIELD and name in FIELDS:
        return field_text(name)
    if what == TYPE and name in SOURCE_TYPES:
        return type_text(SOURCE_TYPES[name])
    if what == SECTION:
        said = {**SECTION_DOCS, **_DATASETS, **_TOP}.get(name, "")
        return f"{said}." if said else ""
    return ""


def offers(view: FileView, spot: Spot) -> list[Offer]:
    """Everything that may be typed at a spot of a file; nothing where the file is none of ours."""
    blend = spot.path[:1] == ("0",) or reads_as_blend(view)
    if not _is_ours(view, spot, blend=blend):
        return []
    runtime = view.project.runtime(view.path)
    path = spot.path if blend else (*package_of(view), *spot.path)
    section = section_of(path, blend=blend)
    if section.what == DATASET and not section.certain and not _is_read(view, section, spot):
        return _doubtful(section, spot)
    found = _values(view, section, spot, runtime) if spot.role == VALUE else _keys(section, spot, runtime)
    return [offer for offer in found if spot.role == VALUE or offer.label not in spot.beside]


def _is_ours(view: FileView, spot: Spot, *, blend: bool) -> bool:
    """Whether a file has to do with NeMo: by what is known of it, by a word in it, or because it has just begun."""
    text = view.source.text
    if view.configs or reads_as_blend(view) or may_be_ours(text.encode("utf-8", "replace")):
        return True
    if not blend and any(f"{name}:" in text for name in _DATASETS):
        return True
    if blend:
        return not text.replace("type", "").strip("- \n\r:{}[],")  # nothing but the beginning of a list
    root = view.syntax.root
    return isinstance(root, Mapping) and any(root.get(name) for name in (TRAINER, MANAGER, "train_ds"))


def _is_read(view: FileView, section: Section, spot: Spot) -> bool:
    """Whether Lhotse reads a section of which that is not certain."""
    if any(section.path in (dataset.path, dataset.path[:-2]) for model in view.configs for dataset in model.datasets):
        return True
    if section.path[-1] in _DATASETS:
        lhotse = spot.beside.get("use_lhotse", "").lower() in ("true", "yes", "on")
        return lhotse or not {"input_cfg", "shar_path", "cuts_path"}.isdisjoint(spot.beside)
    above = _node(view.syntax.root, spot.path[:-1])
    pair = above.get("multi_config") if isinstance(above, Mapping) else None
    value = deref(pair.value) if pair is not None else None
    return isinstance(value, Scalar) and value.value is True


def _node(node: Node | None, path: tuple[str, ...]) -> Node | None:
    for name in path:
        pair = node.get(name) if isinstance(node, Mapping) else None
        node = deref(pair.value) if pair is not None else None
    return node


def _doubtful(section: Section, spot: Spot) -> list[Offer]:
    """For a dataset of the classic loader: the switch that has Lhotse read it."""
    if section.path[-1] not in _DATASETS or "use_lhotse" in spot.beside:
        return []
    if spot.role == VALUE:
        return list(_booleans("true")) if spot.key == "use_lhotse" else []
    return [Offer("use_lhotse", WORD, "Have Lhotse read this dataset", 0)]


# -- keys


def _keys(section: Section, spot: Spot, runtime: Runtime) -> Iterator[Offer]:
    if section.what == DATASET:
        yield from _dataset_keys(section, runtime)
    elif section.what == ENTRY:
        yield from _entry_keys(section, spot, runtime)
    elif section.what == SETUP:
        yield from _fields(section.dotted)
    elif section.what == HOLDER:
        yield from (Offer(name, SECTION, said, 0, name) for name, said in _DATASETS.items())
    elif section.what == TOP:
        yield from (Offer(name, SECTION, said, 0, name) for name, said in _TOP.items())
        yield from (Offer(name, SECTION, SECTION_DOCS[name], 0, name) for name in (TRAINER, MANAGER))
    elif spot.opens and section.path[-1:] == ("input_cfg",):
        yield Offer("- type", ENTRY_KEY, "A source of the blend", 0, "type")


def _dataset_keys(section: Section, runtime: Runtime) -> Iterator[Offer]:
    needs = RESUMING_NEEDS if section.kind == "training" else EVALUATION_NEEDS
    for name, option in runtime.options.items():
        if name not in _OLD:
            rank = 0 if name in needs else 1 if name in _DATA_OPTIONS or name in BATCH_OPTIONS else 2
            yield _option(option, rank, section.kind)
    if section.kind != "training" and section.path[-1] in _DATASETS:
        yield Offer("datasets", WORD, "Several datasets by name, which inherit what stands beside", 1)


def _option(option: Option, rank: int, kind: str) -> Offer:
    detail = ", ".join(filter(None, (type_words(option), f"default {show(option.default)}")))
    return Offer(option.name, OPTION, detail, rank, option.name, kind)


def _entry_keys(section: Section, spot: Spot, runtime: Runtime) -> Iterator[Offer]:
    kind = SOURCE_TYPES.get(spot.beside.get("type", "").partition(" #")[0].strip("\"' "))
    needed = {key for group in kind.needs if spot.beside.keys().isdisjoint(group) for key in group} if kind else set()
    own = kind.reads if kind is not None else _read_by(runtime)
    for name in sorted({*own, *COMMON_KEYS} - _OLD):
        if kind is not None and name == "input_cfg" and not (kind.group or kind.wrapper):
            continue
        option = runtime.options.get(name)
        if option is not None and option.propagated:
            yield _option(option, 0 if name in needed else 1, section.kind)
        else:
            first = name == "type" or name in needed
            yield Offer(name, ENTRY_KEY, KEY_DOCS[name], 0 if first else 1, name)
    for name, option in runtime.options.items():
        if option.propagated and name not in own and name not in _OLD:
            yield _option(option, 2, section.kind)


def _read_by(runtime: Runtime) -> frozenset[str]:
    """The keys that name data, for an entry whose type is not known yet."""
    kinds = [SOURCE_TYPES[name] for name in runtime.types if name in SOURCE_TYPES]
    return frozenset(key for kind in kinds for group in kind.needs for key in group)


def _fields(section: str) -> Iterator[Offer]:
    for path, field in FIELDS.items():
        above, _, name = path.rpartition(".")
        if above == section:
            yield Offer(name, FIELD, f"default {show(field.default)}", 0 if path in FIELD_NEEDS else 1, path)
    if section == MANAGER:
        yield Offer(CALLBACK.rpartition(".")[2], SECTION, SECTION_DOCS[CALLBACK], 0, CALLBACK)


# -- values


def _values(view: FileView, section: Section, spot: Spot, runtime: Runtime) -> Iterator[Offer]:
    key = spot.key
    if section.what == ENTRY and key == "type":
        named = (SOURCE_TYPES[name] for name in sorted(runtime.types) if name in SOURCE_TYPES)
        yield from (_type(kind) for kind in named)
    elif section.what == SETUP and f"{section.dotted}.{key}" in FIELDS:
        yield from _field_values(f"{section.dotted}.{key}")
    elif section.what in (DATASET, ENTRY):
        option = runtime.options.get(key)
        if option is None or (section.what == ENTRY and not option.propagated):
            yield from _words(CHOICES.get(key, {}), "")
        elif option.type.rstrip("?") == "bool":
            yield from _booleans(needed_value(key, section.kind or "training"))
        elif key in CHOICES:
            yield from _words(CHOICES[key], show(option.default))
        elif key in ("seed", "shard_seed"):
            yield Offer(str(view.project.settings.seed), WORD, "One whole number, the same in every chunk", 0)


def _type(kind: SourceType) -> Offer:
    return Offer(kind.name, TYPE, kind.summary, 0 if kind.indexable else 1, kind.name)


def _field_values(path: str) -> Iterator[Offer]:
    default = FIELDS[path].default
    if path in FIELD_CHOICES:
        yield from _words(FIELD_CHOICES[path], show(default))
    elif isinstance(default, bool):
        needs = FIELD_NEEDS.get(path, "")
        yield from _booleans(next((word for word in ("true", "false") if needs.startswith(f"`{word}`")), ""))
    elif path == f"{CALLBACK}.every_n_epochs":
        yield Offer("null", WORD, "Leave it to another trigger", 0)


def _booleans(needed: str) -> Iterator[Offer]:
    for value in ("true", "false"):
        said = "What a run of several chunks needs" if value == needed else ""
        yield Offer(value, WORD, said, 0 if value == needed else 1)


def _words(values: dict[str, str], default: str) -> Iterator[Offer]:
    for index, (value, said) in enumerate(values.items()):
        yield Offer(value, WORD, f"{said} (default)" if value == default else said, index)
