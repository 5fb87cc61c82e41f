"""Completion of keys and values, by the place in the text, which need not parse; the words about each when it is chosen."""

from __future__ import annotations

from typing import Any

from lsprotocol import types

from .. import completing
from ..outline import Spot, spot_at
from ..places import VALUE
from ..server import Server
from ..view import FileView
from .hover import markup

_KINDS = {
    completing.OPTION: types.CompletionItemKind.Property,
    completing.ENTRY_KEY: types.CompletionItemKind.Property,
    completing.FIELD: types.CompletionItemKind.Property,
    completing.SECTION: types.CompletionItemKind.Module,
    completing.TYPE: types.CompletionItemKind.Class,
}
_FORMAT = "text_document.completion.completion_item.documentation_format"
_LATER = "text_document.completion.completion_item.resolve_support.properties"


def register(server: Server) -> None:
    """Give the server its handlers."""

    @server.feature(
        types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=[":", " "], resolve_provider=True)
    )
    async def completion(ls: Server, params: types.CompletionParams) -> types.CompletionList | None:
        view = ls.session.view_now(params.text_document.uri)  # what was known of the text before this key press will do
        if view is None or not ls.session.is_yaml(view.path):
            return None
        spot = spot_at(view.source, view.offset(params.position))
        if spot is None or _unasked(spot, params.context):
            return None
        found = completing.offers(view, spot)
        later = ls.client.capability(_LATER)
        items = [_item(view, spot, offer) for offer in found]
        if not (isinstance(later, (list, tuple)) and "documentation" in later):
            items = [_explained(ls, item) for item in items]
        return types.CompletionList(is_incomplete=False, items=items)

    @server.feature(types.COMPLETION_ITEM_RESOLVE)
    async def resolve(ls: Server, params: types.CompletionItem) -> types.CompletionItem:
        return _explained(ls, params)


def _unasked(spot: Spot, context: types.CompletionContext | None) -> bool:
    """Whether a list would be in the way: after a blank that only indents, or a colon of a text."""
    if context is None or context.trigger_kind != types.CompletionTriggerKind.TriggerCharacter:
        return False
    return spot.role != VALUE and (context.trigger_character == ":" or spot.opens)


def _item(view: FileView, spot: Spot, offer: completing.Offer) -> types.CompletionItem:
    text = offer.label
    if spot.role == VALUE:
        text = f" {text}" if spot.glued else text
    elif not spot.has_colon:
        text = f"{text}:" if offer.what == completing.SECTION else f"{text}: "
    return types.CompletionItem(
        offer.label,
        kind=_KINDS.get(offer.what, types.CompletionItemKind.Value),
        detail=offer.detail or None,
        sort_text=f"{offer.rank}{offer.label}",
        filter_text=text if spot.glued and spot.role == VALUE else None,
        text_edit=types.TextEdit(view.range(spot.word), text),
        data={"what": offer.what, "name": offer.name, "kind": offer.kind} if offer.name else None,
    )


def _explained(server: Server, item: types.CompletionItem) -> types.CompletionItem:
    """The item with the words about it."""
    data: Any = item.data
    if isinstance(data, dict):
        text = completing.words(str(data.get("what")), str(data.get("name")), str(data.get("kind")))
        if text:
            item.documentation = markup(server, text, _FORMAT)
    return item
