"""Texts that are opened, changed and closed, and files that change on disk."""

from __future__ import annotations

from pathlib import Path

from lsprotocol import types

from .. import uris
from ..server import Server


def register(server: Server) -> None:
    """Give the server its handlers."""

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(ls: Server, params: types.DidOpenTextDocumentParams) -> None:
        document = ls.session.open(params.text_document)
        ls.checker.wake()
        if document.real is not None:
            ls.scanner.look_for_readers(document.path)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(ls: Server, params: types.DidChangeTextDocumentParams) -> None:
        ls.session.change(params.text_document.uri, params.text_document.version, params.content_changes)
        ls.checker.wake()

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(ls: Server, params: types.DidCloseTextDocumentParams) -> None:
        document = ls.session.close(params.text_document.uri)
        if document is not None:
            ls.checker.closed(document)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(ls: Server, params: types.DidSaveTextDocumentParams) -> None:
        if (path := ls.session.path_of(params.text_document.uri)) is not None:
            ls.checker.files_changed([path])

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def files_changed(ls: Server, params: types.DidChangeWatchedFilesParams) -> None:
        names = [name for change in params.changes if (name := uris.file_path(change.uri)) is not None]
        paths = [Path(name) for name in names]
        listing = any(change.type is not types.FileChangeType.Changed for change in params.changes)
        ls.checker.files_changed(paths, listing=listing)
        ls.scanner.again(paths)
