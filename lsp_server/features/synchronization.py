"""Texts that are opened, changed and closed, files that change on disk, and folders that come and go."""

from __future__ import annotations

from pathlib import Path

from lsprotocol import types

from .. import uris
from ..server import Server


def register(server: Server) -> None:
    """Give the server its handlers."""

    @server.feature(types.INITIALIZE)
    def initialize(ls: Server, params: types.InitializeParams) -> None:
        session = ls.session
        session.encoding = str(getattr(ls.workspace.position_encoding, "value", ls.workspace.position_encoding))
        folders = [folder.uri for folder in params.workspace_folders or ()]
        if not folders and (root := params.root_uri or (params.root_path and uris.path_uri(params.root_path))):
            folders = [root]
        _add(ls, folders)

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def folders_changed(ls: Server, params: types.DidChangeWorkspaceFoldersParams) -> None:
        for folder in params.event.removed:
            ls.session.projects.folders.pop(folder.uri, None)
        _add(ls, [folder.uri for folder in params.event.added])
        ls.session.reconfigured()
        ls.checker.wake()

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(ls: Server, params: types.DidOpenTextDocumentParams) -> None:
        ls.session.open(params.text_document)
        ls.checker.wake()

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
        ls.checker.wake()

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def files_changed(ls: Server, params: types.DidChangeWatchedFilesParams) -> None:
        names = [name for change in params.changes if (name := uris.file_path(change.uri)) is not None]
        ls.checker.files_changed([Path(name) for name in names])


def _add(server: Server, folders: list[str]) -> None:
    """Take in workspace folders; those that are no files have nothing for us."""
    for uri in folders:
        if (name := uris.file_path(uri)) is not None:
            server.session.projects.folders[uri] = Path(name)
