"""Code actions: fixes one by one, by rule and all together, suppression, migration; their edits are made when chosen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from lsprotocol import types
from nemo_resumable.core.findings import Finding
from nemo_resumable.core.text import Span
from pygls.exceptions import JsonRpcContentModified, JsonRpcException, JsonRpcInvalidParams

from .. import mending
from ..edits import Editor
from ..server import Server
from ..view import FileView
from .names import REQUEST_FAILED, WRITE_ARTIFACTS

QUICK_FIX = types.CodeActionKind.QuickFix
FIX_ALL = "source.fixAll.nemo-resumable"
MIGRATE = "refactor.rewrite.nemo-resumable"
ARTIFACTS = "source.nemo-resumable"


def register(server: Server) -> None:
    """Give the server its handlers."""

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions(code_action_kinds=[QUICK_FIX, FIX_ALL, MIGRATE, ARTIFACTS], resolve_provider=True),
    )
    async def code_actions(ls: Server, params: types.CodeActionParams) -> list[types.CodeAction]:
        view = await ls.session.view(params.text_document.uri)
        if view is None or not ls.client.can("text_document.code_action.code_action_literal_support"):
            return []
        found = [action for action in _actions(view, params) if _asked_for(action.kind, params.context.only)]
        if not ls.client.resolves_edits:
            found = [action for action in found if action.data is None or await _completed(ls, view, action)]
        return found

    @server.feature(types.CODE_ACTION_RESOLVE)
    async def resolve(ls: Server, params: types.CodeAction) -> types.CodeAction:
        data: Any = params.data
        if not isinstance(data, dict) or not isinstance(data.get("uri"), str):
            raise JsonRpcInvalidParams("this action is none of ours")
        view = await ls.session.view(data["uri"])
        if view is None or view.document.version != data.get("version"):
            raise JsonRpcContentModified("the text has changed since the action was offered")
        try:
            return await _with_edit(ls, view, params)
        except mending.NotMended as error:
            raise JsonRpcException(str(error), REQUEST_FAILED) from None


async def _completed(server: Server, view: FileView, action: types.CodeAction) -> bool:
    """Whether the edit could be made, for a client that cannot ask for it later."""
    try:
        await _with_edit(server, view, action)
    except mending.NotMended:
        return False
    return True


async def _with_edit(server: Server, view: FileView, action: types.CodeAction) -> types.CodeAction:
    """The action with its edit, which is verified beside the messages that come in. Raises NotMended."""
    data: Any = action.data
    mended = await server.session.aside(lambda: _mended(view, data))
    editor = Editor(server.client, server.session.documents, view.encoding, view.uri_of)
    notes = _notes(mended) if data["make"] == "migrate" else None
    action.edit = editor.edit(mended.texts, notes)
    return action


def _mended(view: FileView, data: dict[str, Any]) -> mending.Mended:
    make = data.get("make")
    if make == "one":
        return mending.one(view, tuple(data["finding"]))
    if make == "rule":
        return mending.all_of_rule(view, data["code"])
    if make == "suppression":
        return mending.suppressed(view, tuple(data["finding"]))
    if make == "migrate":
        return mending.migrate(view, Path(data["config"]))
    return mending.all_safe(view)


def _notes(mended: mending.Mended) -> dict[Path, types.ChangeAnnotation]:
    """A word for each file, shown where the client lets the user look at the changes first."""
    codes: dict[Path, dict[str, None]] = {}
    for finding in mended.findings:
        for edit in finding.fix.edits if finding.fix else ():
            codes.setdefault(edit.file, {})[f"{finding.code} {finding.name}"] = None
    return {
        path: types.ChangeAnnotation(f"Migrate {path.name}", False, ", ".join(sorted(codes.get(path, ()))))
        for path in mended.texts
    }


def _asked_for(kind: types.CodeActionKind | str | None, only: Sequence[types.CodeActionKind | str] | None) -> bool:
    """Whether a kind is one of those asked for, or below one; nothing asked for is everything."""
    name = _text(kind)
    return not only or any(
        not _text(asked) or name == _text(asked) or name.startswith(f"{_text(asked)}.") for asked in only
    )


def _text(kind: types.CodeActionKind | str | None) -> str:
    return kind.value if isinstance(kind, types.CodeActionKind) else kind or ""


def _actions(view: FileView, params: types.CodeActionParams) -> Iterator[types.CodeAction]:
    """Everything that can be done at a range of a file."""
    if not view.syntax.parses:
        return  # a fix of half-typed text would have to guess the other half
    asked = view.span(params.range)
    here = [f for f in view.findings if f.suppressed is None and _meet(f.location.span, asked)]
    units = mending.units(view)
    mine = [unit for unit in units if any(finding in here for finding in unit)]
    for unit in mine:
        yield _quick_fix(view, unit, here, params.context.diagnostics)
    yield from _of_rules(view, units, mine)
    for finding in here if view.syntax.root is not None else ():
        yield types.CodeAction(
            f"Suppress {finding.code} on this line",
            QUICK_FIX,
            _shown(view, [finding], params.context.diagnostics) or None,
            data=_data(view, make="suppression", finding=list(mending.identity(finding))),
        )
    if any(mending.is_safe(unit) and mending.within(unit, view.path) for unit in units):
        yield types.CodeAction(
            "Fix all that is safe to fix in this file (nemo-resumable)", FIX_ALL, data=_data(view, make="all")
        )
    yield from _of_configs(view)


def _meet(one: Span, other: Span) -> bool:
    return one.start <= other.end and other.start <= one.end


def _quick_fix(
    view: FileView, unit: tuple[Finding, ...], here: list[Finding], given: Sequence[types.Diagnostic]
) -> types.CodeAction:
    """The fix of one finding, with those that it is only right together with."""
    first = next(finding for finding in unit if finding in here)
    assert first.fix is not None
    more = len(unit) - 1
    title = first.fix.title + (f", with {more} more that belong together" if more else "")
    return types.CodeAction(
        title,
        QUICK_FIX,
        _shown(view, unit, given) or None,
        is_preferred=mending.is_safe(unit),
        data=_data(view, make="one", finding=list(mending.identity(first))),
    )


def _of_rules(
    view: FileView, units: list[tuple[Finding, ...]], mine: list[tuple[Finding, ...]]
) -> Iterator[types.CodeAction]:
    """For each rule that has found something here and elsewhere in the file: all of it at once."""
    for code in dict.fromkeys(f.code for unit in mine for f in unit if f.location.file == view.path):
        having = [unit for unit in units if any(f.code == code and f.location.file == view.path for f in unit)]
        if len(having) > 1:
            name = next(f.name for f in having[0] if f.code == code)
            yield types.CodeAction(
                f"Fix all {len(having)} of {code} {name} in this file",
                QUICK_FIX,
                data=_data(view, make="rule", code=code),
            )


def _of_configs(view: FileView) -> Iterator[types.CodeAction]:
    """What can be done with a whole config: this file, or the configs that read it."""
    own = view.own_config
    models = [own] if own is not None else view.configs
    for model in models:
        config = model.document.source.path
        result = next(result for result in view.results if result.root == config)
        name = "this config" if own is not None else f"`{config.name}`"
        if any(mending.offered(f) and mending.is_safe([f]) for f in result.analysis.findings):
            yield types.CodeAction(
                f"Migrate {name}: all safe fixes, in its blends too",
                MIGRATE,
                data=_data(view, make="migrate", config=str(config)),
            )
        title = f"Write the migration artifacts of {name}"
        yield types.CodeAction(
            title, ARTIFACTS, command=types.Command(title, WRITE_ARTIFACTS, arguments=[view.uri_of(config)])
        )


def _data(view: FileView, **more: object) -> dict[str, object]:
    return {"uri": view.uri, "version": view.document.version, **more}


def _shown(view: FileView, findings: Sequence[Finding], given: Sequence[types.Diagnostic]) -> list[types.Diagnostic]:
    """Those of the client's diagnostics that show these findings."""
    places = {(f.code, view.position(f.location.span.start).line) for f in findings if f.location.file == view.path}
    return [diagnostic for diagnostic in given if (diagnostic.code, diagnostic.range.start.line) in places]
