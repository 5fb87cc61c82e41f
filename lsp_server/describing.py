"""What a hover says of a key or value of a file: effective values with their origin, shards, and what interpolations give."""

from __future__ import annotations

from collections.abc import Iterator

from nemo_resumable.core.model.composition import named_bases
from nemo_resumable.core.model.config import TrainingConfig
from nemo_resumable.core.model.dataset import Dataset
from nemo_resumable.core.model.option_docs import OPTION_DOCS
from nemo_resumable.core.model.schema import OPTIONS
from nemo_resumable.core.model.sources import COMMON_KEYS, KEY_DOCS, SOURCE_TYPES
from nemo_resumable.core.model.storage import storage_of
from nemo_resumable.core.model.trainer import FIELDS, field
from nemo_resumable.core.model.trainer_docs import SECTION_DOCS
from nemo_resumable.core.model.values import Origin, Setting, Unknown, show
from nemo_resumable.core.syntax.nodes import Mapping, Scalar, Sequence, deref

from .describing_texts import link, link_target, shards_text
from .explaining import (
    choices,
    code,
    counted,
    field_text,
    joined,
    key_text,
    option_head,
    option_needs,
    sentence,
    type_text,
)
from .locating import overrides
from .places import KEY, Holder, Place
from .resolving import PATH_KEYS, shard_count
from .sections import DATASET, ENTRY, SETUP, Section, Use, package_of, reads_as_blend, section_of, uses
from .view import FileView


def place_text(view: FileView, place: Place) -> str:
    """What there is to say of a key or a value; empty where it is none of ours."""
    blend = reads_as_blend(view)
    package = () if blend else package_of(view)
    if place.holder is None:
        return ""
    if place.path[:1] == ("defaults",) and not blend:
        return _base_text(view, place)
    section = section_of((*package, *place.holder.path), blend=blend)
    read = uses(view, place.holder.mapping)
    if section.what == SETUP:
        return _field_text(view, section, place)
    if section.what == DATASET and (section.certain or read):
        return _data_text(view, place) or _option_text(view, section, place, read)
    if section.what == ENTRY:
        return _entry_text(view, place, read)
    if place.path[-2:-1] == ("shar_path",) and place.role != KEY:
        return shards_text(view, place)
    return _opened_text(view, (*package, *place.path), place) if place.role == KEY else ""


def _data_text(view: FileView, place: Place) -> str:
    """What a value names: data files with their shards, or a blend file."""
    if place.role == KEY:
        return ""
    if place.key == "input_cfg":
        return _blend_text(view, place)
    return shards_text(view, place) if place.key in PATH_KEYS else ""


def _blend_text(view: FileView, place: Place) -> str:
    for config in view.configs:
        for site in config.blend_sites:
            if site.location.file == view.path and site.location.span == place.node.span:
                blend = next(each for each in config.blends if each.path == site.target)
                root = blend.document.root if blend.document is not None else None
                size = counted(len(root.items), "source") if isinstance(root, Sequence) else "no list"
                return f"[{site.target.name}]({view.uri_of(site.target)}) · {size}, found {blend.how}"
    return ""


# -- options


def _option_text(view: FileView, section: Section, place: Place, read: list[Use]) -> str:
    key = place.key
    options = view.project.runtime(view.path).options
    option = options.get(key) or OPTIONS.get(key)
    if option is None:
        inner = section_of((*section.path, key), blend=False)
        return _opened_text(view, inner.path, place) if place.role == KEY else ""
    lines = [option_head(key, option), *sentence(OPTION_DOCS, key)]
    if key not in options:
        lines.append(f"Not an option of {view.project.runtime(view.path).nemo.label}, which drops it with a warning.")
    return joined(lines, [*_effective(view, place, read, key), *option_needs(key, section.kind), *choices(key)])


def _entry_text(view: FileView, place: Place, read: list[Use]) -> str:
    key, entry = place.key, next((use.entry for use in read), None)
    assert place.holder is not None
    kind = SOURCE_TYPES.get(str(_written(place.holder.mapping, "type")))
    if key == "type" and kind is not None:
        return type_text(kind, entry.reader if entry is not None and entry.type is kind else "")
    if said := _data_text(view, place):
        return said
    option = OPTIONS.get(key)
    own = key in COMMON_KEYS or (kind is not None and key in kind.reads)
    if option is not None and option.propagated:
        lines = [option_head(key, option), *sentence(OPTION_DOCS, key)]
        needs = option_needs(key, read[0].dataset.kind if read else "")
        return joined(lines, [*_effective(view, place, read, key), *needs, *choices(key)])
    if not own and key not in KEY_DOCS:
        return ""
    share = _share(place.holder, read) if key == "weight" else ""
    return "\n\n".join(text for text in (option_head(key, None), key_text(key), share) if text)


def _share(holder: Holder, read: list[Use]) -> str:
    """How often an entry is drawn, where nothing but the weights of its list decides it."""
    if holder.sequence is None or any(not use.dataset["reweight_temperature"].is_(None) for use in read):
        return ""
    siblings = [deref(item) for item in holder.sequence.items]
    weights = [_written(each, "weight") if isinstance(each, Mapping) else None for each in siblings]
    numbers = [each for each in weights if type(each) in (int, float)]
    own = _written(holder.mapping, "weight")
    if len(numbers) != len(weights) or type(own) not in (int, float) or not sum(numbers) > 0:  # type: ignore[arg-type]
        return ""
    share = 100 * own / sum(numbers)  # type: ignore[operator,arg-type]
    return f"Drawn {share:.3g} % of the time in its list of {len(numbers):,}."


def _written(mapping: Mapping, key: str) -> object:
    pair = mapping.get(key)
    value = deref(pair.value) if pair is not None else None
    return value.value if isinstance(value, Scalar) else None


def _effective(view: FileView, place: Place, read: list[Use], key: str) -> list[str]:
    """The effective value with its origin, for each dataset that sees another one; and what launchers put on top."""
    values: dict[str, str] = {}
    started: dict[str, None] = {}
    for use in read:
        setting = use.setting(key)
        subject = use.dataset.subject if use.config is read[0].config else f"{use.dataset.subject} of {_name(use)}"
        values.setdefault(_value_words(view, place, setting), subject)
        started.update(dict.fromkeys(_started(view, use.config, setting.subject)))
    word = "In the files" if started else "Effective"
    shown = [
        f"For {code(subject)}: {said}" if len(values) > 1 else f"{word}: {said}" for said, subject in values.items()
    ]
    return [*shown[:4], *list(started)[:3]]


def _started(view: FileView, config: TrainingConfig, subject: str) -> Iterator[str]:
    """What the launchers that start a config make of a value."""
    for override in overrides(config, subject):
        value, text = override.value, override.value.text
        if override.prefix == "~":
            said = "it is removed"
        elif text is not None:
            said = f"it is {code(text)}"
        else:
            said = f"it is not known: {value.reason}" if value.reason else "it varies"
        yield f"Started by [{override.location.file.name}]({link_target(view, override.location)}) {said}"


def _name(use: Use) -> str:
    return use.config.document.source.path.name


def _value_words(view: FileView, place: Place, setting: Setting) -> str:
    value = setting.value
    if isinstance(value, Unknown):
        return f"not known here: {value.reason}"
    if not setting.stated:
        return f"{code(show(value))}, NeMo's default"
    what = f"a list of {len(value.items):,}" if isinstance(value, Sequence) else code(show(value))
    return f"{what}, {_origin(view, place, setting)}"


def _origin(view: FileView, place: Place, setting: Setting) -> str:
    at = setting.key_location or setting.location
    if place.pair is not None and at.file == view.path and at.span == place.pair.key.span:
        return "set here"
    said = {Origin.BASE: "from the base config", Origin.LAUNCHER: "from the launcher"}.get(setting.origin, "set at")
    if (
        setting.origin in (Origin.FILE, Origin.ENTRY)
        and len(place.path)
        and setting.subject.rpartition(".")[2] == place.key
    ):
        said = f"set for {code(setting.subject.rpartition('.')[0])} at" if at.file != view.path else "set at"
    return f"{said} {link(view, at)}"


# -- sections


def _opened_text(view: FileView, path: tuple[str, ...], place: Place) -> str:
    """What there is to say of the key that opens a section."""
    if ".".join(path) in SECTION_DOCS:
        return f"**{'.'.join(path)}**\n\n{SECTION_DOCS['.'.join(path)]}."
    value = deref(place.pair.value) if place.pair is not None else None
    read = uses(view, value) if isinstance(value, Mapping) else []
    datasets = list(dict.fromkeys(use.dataset for use in read if use.entry is None))
    return "\n\n".join(_dataset_text(view, dataset) for dataset in datasets[:3])


def _dataset_text(view: FileView, dataset: Dataset) -> str:
    sources = dataset.sources
    shards = shard_count(dataset)
    bullets = [f"{counted(len(sources), 'source')}, {counted(shards, 'shard')}"]
    if sources:
        bullets.append(f"Storage: {storage_of([dataset]).workflow}")
    readiness = next(
        (
            each.readiness
            for result in view.results
            if result.model is dataset.config
            for each in result.analysis.configs
        ),
        "",
    )
    if readiness and dataset.is_training:
        bullets.append(f"The config is **{readiness}**")
    return joined([f"**{dataset.subject}** · {dataset.kind} dataset"], bullets)


def _field_text(view: FileView, section: Section, place: Place) -> str:
    path = f"{section.dotted}.{place.key}"
    if path not in FIELDS:
        return _opened_text(view, (*section.path, place.key), place) if place.role == KEY else ""
    bullets: dict[str, None] = {}
    for config in view.configs:
        started = list(_started(view, config, path))
        said = _value_words(view, place, field(config, path))
        bullets.update(dict.fromkeys([f"{'In the files' if started else 'Effective'}: {said}", *started]))
    return field_text(path, list(bullets)[:4])


def _base_text(view: FileView, place: Place) -> str:
    for location, path in named_bases(view.syntax, view.path.parent):
        if location.span.start <= place.node.span.start < location.span.end:
            there = any(base.source.path == path for config in view.configs for base in config.composition.bases)
            words = f"[{path.name}]({view.uri_of(path)})" if there else f"{code(str(path))}, which is not there"
            return f"The base config {words}"
    return ""
