"""Code lenses: the verdict on a config and on its training datasets, and what can be done about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from lsprotocol import types
from nemo_resumable.core.findings import Finding, Severity
from nemo_resumable.core.syntax.nodes import Mapping
from nemo_resumable.core.text import Span
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams

from .. import mending
from ..analyses import Result
from ..edits import Editor
from ..explaining import counted
from ..resolving import shard_count
from ..sections import dataset_files, reads_as_blend
from ..server import Server
from ..view import FileView
from .names import APPLY_MIGRATION, REQUEST_FAILED, SHOW_EFFECTIVE, SHOW_INSPECTED, WRITE_ARTIFACTS


def register(server: Server) -> None:
    """Give the server its handlers."""

    @server.feature(types.TEXT_DOCUMENT_CODE_LENS, types.CodeLensOptions(resolve_provider=False))
    async def lenses(ls: Server, params: types.CodeLensParams) -> list[types.CodeLens]:
        view = await ls.session.view(params.text_document.uri)
        return list(lenses_of(view, edits=ls.client.can("workspace.apply_edit"))) if view is not None else []

    @server.command(APPLY_MIGRATION)
    async def migrate(ls: Server, params: types.ExecuteCommandParams) -> dict[str, int]:
        """Apply all safe fixes of a config, in its blends too. Arguments: its URI. The number of findings mended."""
        return {"mended": await _migrate(ls, (params.arguments or [None])[0])}

    shown: dict[object, object] = {}

    def refresh(results: Iterable[Result]) -> None:
        """Have the client ask again where a verdict has changed that it may show."""
        changed = False
        for result in results:
            now = [(each.readiness, summary(result.analysis.findings)) for each in result.analysis.configs]
            changed = changed or shown.get(result.root, now) != now
            shown[result.root] = now
        if changed and server.client.can("workspace.code_lens.refresh_support"):
            server.workspace_code_lens_refresh(None)

    server.session.after.append(refresh)


async def _migrate(server: Server, uri: object) -> int:
    """Have the client apply the migration of a config. Raises JsonRpcException."""
    if not isinstance(uri, str):
        raise JsonRpcInvalidParams("the first argument has to be the URI of a config")
    view = await server.session.view(uri)
    if view is None or view.own_config is None:
        raise JsonRpcException("the file is not open, or is no training config", REQUEST_FAILED)
    path = view.path
    try:
        mended = await server.session.aside(lambda: mending.migrate(view, path))
    except mending.NotMended as error:
        raise JsonRpcException(str(error), REQUEST_FAILED) from None
    editor = Editor(server.client, server.session.documents, view.encoding, view.uri_of)
    edit = editor.edit(mended.texts)
    answer = await server.workspace_apply_edit_async(types.ApplyWorkspaceEditParams(edit, label=f"Migrate {path.name}"))
    if not answer.applied:
        raise JsonRpcException(answer.failure_reason or "the editor did not apply the changes", REQUEST_FAILED)
    return len(mended.findings)


def lenses_of(view: FileView, *, edits: bool) -> Iterator[types.CodeLens]:
    """The lenses of a file. Without `edits` the client applies none, and is not offered what would need it."""
    root = view.syntax.root
    if root is None:
        return
    config = view.own_config
    if config is None:
        if reads_as_blend(view):
            yield from _of_blend(view)
        return
    top = _first(root.pairs[0].key.span) if isinstance(root, Mapping) and root.pairs else Span(0, 0)
    result = next(result for result in view.results if result.model is config)
    found = [finding for finding in result.analysis.findings if finding.suppressed is None]
    uri = view.uri_of(view.path)
    readiness = result.analysis.configs[0].readiness
    yield _lens(view, top, f"{readiness} · {summary(found)}", SHOW_INSPECTED, uri)
    safe = sum(mending.offered(each) and mending.is_safe([each]) for each in found)
    if safe and edits and view.syntax.parses:
        yield _lens(view, top, f"Migrate ({counted(safe, 'safe fix').replace('fixs', 'fixes')})", APPLY_MIGRATION, uri)
    yield _lens(view, top, "Write artifacts and open the report", WRITE_ARTIFACTS, uri)
    for dataset in config.training:
        if dataset.location.file != view.path:
            continue
        mapping = dataset.section.owned(view.syntax)
        files = dataset_files(dataset)
        mine = [
            each for each in found if _within(each, view, dataset.location.span, mapping) or each.location.file in files
        ]
        size = f"{counted(len(dataset.sources), 'source')}, {counted(shard_count(dataset), 'shard')}"
        title = f"{size} · {summary(mine)}"
        yield _lens(view, dataset.location.span, title, SHOW_EFFECTIVE, uri, {"dataset": dataset.subject})


def _of_blend(view: FileView) -> Iterator[types.CodeLens]:
    """Of a blend: the configs that read it, each with its verdict."""
    for result in view.results:
        for config in result.analysis.configs if view.path in result.blends else ():
            title = f"Read by {result.root.name}: {config.readiness}"
            yield _lens(view, Span(0, 0), title, SHOW_INSPECTED, view.uri_of(result.root))


def _within(finding: Finding, view: FileView, key: Span, mapping: Mapping | None) -> bool:
    """Whether a finding stands in a section of the file, its key included."""
    end = max(key.end, mapping.outer.end if mapping is not None else key.end)
    return finding.location.file == view.path and key.start <= finding.location.span.start <= end


def summary(findings: Iterable[Finding]) -> str:
    """How many findings there are of each severity: `2 errors, 1 note`."""
    found = Counter(finding.severity for finding in findings if finding.suppressed is None)
    levels = [level for level in Severity if found[level]]
    said = [
        f"{found[level]:,} fatal" if level is Severity.FATAL else counted(found[level], level.value) for level in levels
    ]
    return ", ".join(said) or "no findings"


def _first(span: Span) -> Span:
    return Span(span.start, span.start)


def _lens(view: FileView, span: Span, title: str, command: str, *arguments: object) -> types.CodeLens:
    return types.CodeLens(view.range(span), types.Command(title, command, arguments=list(arguments)))
