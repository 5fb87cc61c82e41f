"""Links and definitions: blend files, base configs, keys behind interpolations, anchors, the configs that launchers start."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lsprotocol import types
from nemo_resumable.core.findings import Location
from nemo_resumable.core.model.composition import named_bases
from nemo_resumable.core.syntax.interpolation import Reference
from nemo_resumable.core.syntax.nodes import Alias
from nemo_resumable.core.text import Span

from .. import convert
from ..locating import key_location, launches_in, target
from ..places import KEY, Place, anchor_of, interpolation_at, place_at
from ..sections import package_of, reads_as_blend
from ..server import Server
from ..view import FileView


def register(server: Server) -> None:
    """Give the server its handlers."""

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_LINK, types.DocumentLinkOptions(resolve_provider=False))
    async def links(ls: Server, params: types.DocumentLinkParams) -> list[types.DocumentLink]:
        view = await ls.session.view(params.text_document.uri)
        if view is None:
            return []
        tooltips = ls.client.can("text_document.document_link.tooltip_support")
        return [
            types.DocumentLink(view.range(span), view.uri_of(path), said if tooltips else None)
            for span, path, said in files_named(view)
        ]

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    async def definition(
        ls: Server, params: types.DefinitionParams
    ) -> types.Location | list[types.LocationLink] | None:
        view = await ls.session.view(params.text_document.uri)
        found = definition_at(view, view.offset(params.position)) if view is not None else None
        if view is None or found is None:
            return None
        span, place = found
        if not ls.client.can("text_document.definition.link_support"):
            return view.location(place)
        there = convert.text_range(place.source, place.span, view.encoding)
        return [types.LocationLink(view.uri_of(place.file), there, there, view.range(span))]


def files_named(view: FileView) -> Iterator[tuple[Span, Path, str]]:
    """The places of a file that name another one that is there, the file, and a word about it."""
    seen: set[Span] = set()
    for span, path, said in _files_named(view):
        if span not in seen:
            seen.add(span)
            yield span, path, said


def _files_named(view: FileView) -> Iterator[tuple[Span, Path, str]]:
    for config in view.configs:
        found = {blend.path: blend.how for blend in config.blends}
        for site in config.blend_sites:
            if site.location.file == view.path:
                yield site.location.span, site.target, f"The blend, found {found.get(site.target, '')}".rstrip()
        bases = {base.source.path for base in config.composition.bases}
        documents = {config.document.source.path, *bases}
        if view.path in documents and view.syntax.root is not None:
            for location, path in named_bases(view.syntax, config.document.source.path.parent):
                if path in bases:
                    yield location.span, path, "The base config"
    for config, launch in launches_in(view):
        if launch.config_name is not None and launch.config_name.location.file == view.path:
            yield launch.config_name.location.span, config.document.source.path, "The config that this command starts"


def definition_at(view: FileView, offset: int) -> tuple[Span, Location] | None:
    """What the word at an offset leads to, and the word."""
    for span, path, _ in files_named(view):
        if span.start <= offset <= span.end:
            return span, _top(view, path)
    place = place_at(view.syntax, offset)
    if place is None:
        return _of_override(view, offset)
    if place.role == KEY:
        return None
    node = place.node
    if isinstance(node, Alias):
        return node.span, Location(view.source, anchor_of(view.source, node))
    return _of_interpolation(view, place, offset)


def _top(view: FileView, path: Path) -> Location:
    """The beginning of a file."""
    document = view.project.store.load(path)
    source = getattr(document, "source", view.source)
    return Location(source, Span(0, 0))


def _of_interpolation(view: FileView, place: Place, offset: int) -> tuple[Span, Location] | None:
    piece = interpolation_at(view.source, place.node, offset)
    if piece is None or not isinstance(piece.piece, Reference) or reads_as_blend(view):
        return None
    own = (*package_of(view), *place.path)
    names = target(piece.piece, own)
    for config in view.configs if names else ():
        if (found := key_location(config, names or ())) is not None:
            return piece.span, found
    return None


def _of_override(view: FileView, offset: int) -> tuple[Span, Location] | None:
    """The key of the config that an override on a command line sets."""
    for config, launch in launches_in(view):
        for override in launch.overrides:
            at = override.location
            if at.file == view.path and at.span.start <= offset < at.span.end:
                found = key_location(config, tuple(override.key.split(".")))
                if found is not None:
                    return at.span, found
    return None
