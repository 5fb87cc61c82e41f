"""Findings as diagnostics: pushed as soon as they are known, or pulled by clients that ask for them."""

from __future__ import annotations

from lsprotocol import types

from ..server import Server


def register(server: Server) -> None:
    """Give the server its handlers."""

    @server.feature(
        types.TEXT_DOCUMENT_DIAGNOSTIC,
        types.DiagnosticOptions(inter_file_dependencies=True, workspace_diagnostics=False, identifier="nemo-resumable"),
    )
    async def pulled(ls: Server, params: types.DocumentDiagnosticParams) -> types.DocumentDiagnosticReport:
        return await ls.checker.report(params.text_document.uri, params.previous_result_id)
