"""What a hover says of texts within values: path patterns, interpolations, and overrides on a launcher's command line."""

from __future__ import annotations

from nemo_resumable.core.findings import Location
from nemo_resumable.core.model import paths
from nemo_resumable.core.model.option_docs import OPTION_DOCS
from nemo_resumable.core.model.trainer import FIELDS, field
from nemo_resumable.core.model.values import Setting, Unknown, show
from nemo_resumable.core.syntax.interpolation import Reference
from nemo_resumable.core.syntax.nodes import Alias, Scalar, deref
from nemo_resumable.core.text import Span

from .explaining import code, counted, field_text, joined, option_head, option_needs, sentence
from .locating import key_location, launches_in, target
from .places import Interpolated, Place, anchor_of
from .resolving import resolver_of, shards_of
from .view import FileView


def link(view: FileView, location: Location) -> str:
    """A place as a link: `[conf.yaml:12](…)`."""
    line = location.source.lines.position(location.span.start).line
    return f"[{location.file.name}:{line}]({link_target(view, location)})"


def link_target(view: FileView, location: Location) -> str:
    """A place as an address, the line behind it as editors read it."""
    return f"{view.uri_of(location.file)}#L{location.source.lines.position(location.span.start).line}"


# -- paths


def shards_text(view: FileView, place: Place) -> str:
    """How many shards a path stands for, on which storage, and the first and the last of them."""
    node = place.node
    if not isinstance(node, Scalar) or not isinstance(node.value, str) or not node.value:
        return ""
    value = resolver_of(view).text(node.value, place.path)
    text = value if isinstance(value, str) else node.value
    shards, scheme = shards_of(text), paths.scheme(text)
    if scheme == "pipe":
        return "The output of a command, which no index can serve"
    where = f"on {code(f'{scheme}://')}" if scheme not in (None, "file") else "on the local file system"
    if not shards.known and scheme is None and text.startswith("${"):
        where = "on storage that is not known here"
    lines = [f"**{counted(shards.number, 'shard')}** {where}"]
    bullets = [f"first {code(shards.first)}", f"last {code(shards.last)}"] if shards.number > 1 else []
    if shards.number == 1 and shards.first != node.value:
        bullets = [f"read as {code(shards.first)}"]
    return joined(lines, bullets)


# -- interpolations


def interpolation_text(view: FileView, place: Place, piece: Interpolated) -> str:
    """What an interpolation gives, or why that is not known."""
    resolver = resolver_of(view)
    value = resolver.text(piece.text, place.path)
    said = code(piece.text)
    reference = piece.piece if isinstance(piece.piece, Reference) else None
    if isinstance(value, Unknown):
        if resolver.outside and reference is not None:
            return f"{said} has no value here: the keys of a config do not exist in a blend file"
        known = f"Not known here: {value.reason}"
        return known if said in value.reason else f"{said} is not known here: {value.reason}"
    line = f"{said} is {code(show(value)) if not isinstance(value, (list, dict)) else _size(value)}"
    config = next(iter(view.configs), None)
    if config is not None and reference is not None and not resolver.outside:
        names = target(reference, (*resolver.package, *place.path))
        at = key_location(config, names) if names else None
        if at is not None:
            return f"{line}, {link(view, at)}"
    return f"{line}, by the settings"


def _size(value: list[object] | dict[object, object]) -> str:
    return f"a list of {len(value):,}" if isinstance(value, list) else f"a section of {counted(len(value), 'key')}"


def alias_text(view: FileView, alias: Alias) -> str:
    """What an alias stands for."""
    node = deref(alias)
    line = view.source.lines.position(anchor_of(view.source, alias).start).line
    value = code(show(node.value)) if isinstance(node, Scalar) else "the value"
    return f"{code('*' + alias.name)} stands for {value}, anchored in line {line}"


# -- launchers


def override_text(view: FileView, offset: int) -> tuple[str, Span] | None:
    """What an override on a command line does to a config."""
    for config, launch in launches_in(view):
        for override in launch.overrides:
            at = override.location
            if at.file != view.path or not at.span.start <= offset < at.span.end:
                continue
            key = override.key.rpartition(".")[2]
            dataset = next((each for each in config.datasets if f"{each.subject}.{key}" == override.key), None)
            if override.key in FIELDS:
                return field_text(override.key, _without(view, field(config, override.key))), at.span
            if dataset is not None and (option := dataset.option(key)) is not None:
                lines = [option_head(key, option), *sentence(OPTION_DOCS, key)]
                return joined(lines, [*_without(view, dataset[key]), *option_needs(key, dataset.kind)]), at.span
    return None


def _without(view: FileView, setting: Setting) -> list[str]:
    """What a value is in the files that an override lies on top of."""
    value = setting.value
    files = f"not known: {value.reason}" if isinstance(value, Unknown) else code(show(value))
    default = "NeMo's default"
    return [f"Without the override: {files}, {link(view, setting.location) if setting.stated else default}"]
