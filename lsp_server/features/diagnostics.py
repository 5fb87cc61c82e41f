"""Findings as diagnostics: pushed as soon as they are known, or pulled by clients that ask for them."""

from __future__ import annotations

from lsprotocol import types

from ..server import Server

IDENTIFIER = "nemo-resumable"


def register(server: Server) -> None:
    """Give the server its handlers."""

    @server.feature(types.TEXT_DOCUMENT_DIAGNOSTIC, types.DiagnosticOptions(True, False, identifier=IDENTIFIER))
    async def pulled(ls: Server, params: types.DocumentDiagnosticParams) -> types.DocumentDiagnosticReport:
        return await ls.checker.report(params.text_document.uri, params.previous_result_id)


def register_workspace(server: Server) -> None:
    """The same for the whole workspace, where the user wants files judged that are not open."""
    if not any(options["workspace-diagnostics"] for options in server.session.projects.options.values()):
        return
    if types.WORKSPACE_DIAGNOSTIC in server.protocol.fm.features:
        return

    @server.feature(types.WORKSPACE_DIAGNOSTIC)
    async def pulled(ls: Server, params: types.WorkspaceDiagnosticParams) -> types.WorkspaceDiagnosticReport:
        previous = {result.uri: result.value for result in params.previous_result_ids}
        return types.WorkspaceDiagnosticReport(ls.checker.workspace_report(previous))
