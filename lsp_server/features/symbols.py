"""Document symbols: the datasets of a config and the entries of their blends, as a tree; or a blend's entries."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types
from nemo_resumable.core.model.trainer import MANAGER, TRAINER
from nemo_resumable.core.syntax.nodes import Mapping, Node, Scalar, Sequence, deref
from nemo_resumable.core.text import Span

from ..explaining import counted
from ..sections import reads_as_blend
from ..server import Server
from ..view import FileView

_NAMES = ("name", "corpus")
_PATHS = ("manifest_filepath", "paths", "cuts_path", "shar_path", "data_dir", "source_paths", "input_cfg")


def register(server: Server) -> None:
    """Give the server its handlers."""

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    async def symbols(
        ls: Server, params: types.DocumentSymbolParams
    ) -> list[types.DocumentSymbol] | list[types.SymbolInformation]:
        view = await ls.session.view(params.text_document.uri)
        found = list(symbols_of(view)) if view is not None else []
        if view is None or ls.client.can("text_document.document_symbol.hierarchical_document_symbol_support"):
            return found
        return list(_flat(view, found, None))


def symbols_of(view: FileView) -> Iterator[types.DocumentSymbol]:
    """The symbols of a file; none where it is neither a config nor a blend."""
    root = view.syntax.root
    if reads_as_blend(view):
        inner = root.get("input_cfg") if isinstance(root, Mapping) else None
        yield from _entries(view, inner.value if inner is not None else root)
        return
    config = view.own_config
    if config is None or not isinstance(root, Mapping):
        return
    datasets = sorted(config.datasets, key=lambda dataset: dataset.location.span.start)
    for dataset in datasets:
        mapping = dataset.section.owned(view.syntax)
        if mapping is None or dataset.location.file != view.path:
            continue
        sources = len(dataset.sources)
        opened = dataset.location.span
        whole = Span(min(opened.start, mapping.outer.start), max(opened.end, mapping.outer.end))
        pair = mapping.get("input_cfg")
        children = list(_entries(view, pair.value if pair is not None and pair.merged_at is None else None))
        detail = f"{dataset.kind}, {counted(sources, 'source')}"
        yield _symbol(view, dataset.subject, detail, types.SymbolKind.Module, whole, opened, children)
    for name in (TRAINER, MANAGER):
        pair = root.get(name)
        if pair is not None and isinstance(pair.value, Mapping):
            whole = Span(pair.key.outer.start, pair.value.outer.end)
            yield _symbol(view, name, None, types.SymbolKind.Object, whole, pair.key.span, [])


def _entries(view: FileView, node: Node | None) -> Iterator[types.DocumentSymbol]:
    """The entries of a list as written in this file, with those below them."""
    if not isinstance(node, Sequence):
        return
    for item in node.items:
        if not isinstance(item, Mapping):
            continue
        kind = _text(item, "type")
        named = next((text for key in _NAMES if (text := _text(item, key))), "")
        path = next((text for key in _PATHS if (text := _text(item, key))), "")
        short = path.rstrip("/").rpartition("/")[2] or path
        label = named or short or kind or "entry"
        below = item.get("input_cfg")
        children = list(_entries(view, below.value if below is not None else None))
        typed = item.get("type")
        chosen = typed.value.span if typed is not None and typed.merged_at is None else item.span
        if not (item.outer.start <= chosen.start and chosen.end <= item.outer.end):
            chosen = item.span
        symbol = types.SymbolKind.Namespace if children or kind == "group" else types.SymbolKind.File
        yield _symbol(view, label, kind or None, symbol, item.outer, chosen, children)


def _text(mapping: Mapping, key: str) -> str:
    """A key's text, of a list the first."""
    pair = mapping.get(key)
    value = deref(pair.value) if pair is not None else None
    while isinstance(value, Sequence) and value.items:
        value = deref(value.items[0])
    return value.text if isinstance(value, Scalar) and isinstance(value.value, str) else ""


def _symbol(
    view: FileView,
    name: str,
    detail: str | None,
    kind: types.SymbolKind,
    whole: Span,
    chosen: Span,
    children: list[types.DocumentSymbol],
) -> types.DocumentSymbol:
    return types.DocumentSymbol(
        name, kind, view.range(whole), view.range(chosen), detail=detail, children=children or None
    )


def _flat(
    view: FileView, found: list[types.DocumentSymbol], container: str | None
) -> Iterator[types.SymbolInformation]:
    """The same without the tree, for clients that know no tree."""
    for each in found:
        place = types.Location(view.uri, each.range)
        yield types.SymbolInformation(place, each.name, each.kind, container_name=container)
        yield from _flat(view, list(each.children or ()), each.name)
