"""Hover: an option's effective value and origin, what a source type reads, how many shards, what an interpolation gives."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types
from nemo_resumable.core.findings import Finding
from nemo_resumable.core.syntax.nodes import Alias, Mapping, Scalar, Sequence, deref
from nemo_resumable.core.text import Span

from .. import describing, describing_texts, explaining
from ..places import KEY, Place, interpolation_at, place_at
from ..server import Server
from ..view import FileView


def register(server: Server) -> None:
    """Give the server its handlers."""

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(ls: Server, params: types.HoverParams) -> types.Hover | None:
        view = await ls.session.view(params.text_document.uri)
        found = hover_at(view, view.offset(params.position)) if view is not None else None
        if view is None or found is None:
            return None
        text, span = found
        return types.Hover(markup(ls, text, "text_document.hover.content_format"), view.range(span))


def markup(server: Server, text: str, capability: str) -> types.MarkupContent:
    """Markdown, or plain text for a client that says it shows nothing else."""
    formats = server.client.capability(capability)
    if isinstance(formats, (list, tuple)) and formats and types.MarkupKind.Markdown not in formats:
        return types.MarkupContent(types.MarkupKind.PlainText, explaining.plain(text))
    return types.MarkupContent(types.MarkupKind.Markdown, text)


def hover_at(view: FileView, offset: int) -> tuple[str, Span] | None:
    """What is to be said at an offset, and the word that it is said of."""
    place = place_at(view.syntax, offset)
    if place is None:
        return describing_texts.override_text(view, offset)
    source, node = view.source, place.node
    parts: list[str] = []
    span = node.span
    piece = interpolation_at(source, node, offset) if place.role != KEY else None
    if piece is not None:
        parts.append(describing_texts.interpolation_text(view, place, piece))
        span = piece.span
    else:
        parts.append(describing.place_text(view, place))
    if isinstance(node, Alias):
        parts.append(describing_texts.alias_text(view, node))
    about = list(_about(view, place))
    sections = [part for part in parts if part]
    if about:
        is_section = place.role == KEY and place.pair is not None and not _is_scalar(place)
        sections.append(explaining.named_findings(about) if is_section else explaining.findings_text(about))
    return (explaining.RULE.join(sections), span) if sections else None


def _about(view: FileView, place: Place) -> Iterator[Finding]:
    """The findings about a key or a value: of a key also those about its scalar value, and the other way round."""
    spans = [place.node.span]
    if place.pair is not None and (_is_scalar(place) or place.role == KEY):
        spans.append(place.pair.key.span)
    if place.pair is not None and _is_scalar(place):
        spans.append(place.pair.value.outer)
    for finding in view.findings:
        at = finding.location.span
        if finding.suppressed is None and any(at.start < span.end and span.start < at.end for span in spans):
            yield finding


def _is_scalar(place: Place) -> bool:
    assert place.pair is not None
    value = place.pair.value
    return isinstance(value, Scalar) or (isinstance(value, Alias) and not isinstance(deref(value), (Mapping, Sequence)))
