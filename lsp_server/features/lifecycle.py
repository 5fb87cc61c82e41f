"""The session's beginning and end: folders, encoding, what the client is asked to tell us of, and the look around."""

from __future__ import annotations

from pathlib import Path

from lsprotocol import types
from nemo_resumable.core.settings import OWN_FILE
from nemo_resumable.core.settings_toml import TABLE

from .. import uris
from ..server import Server
from . import configuration, diagnostics

#: What the verdict on an open file may depend on: configs and blends, settings, launchers, and what lies beside the data.
WATCHED = (
    "**/*.{yaml,yml}",
    f"**/{OWN_FILE}",
    "**/pyproject.toml",
    "**/*.{sh,bash,slurm,sbatch,sub,py}",
    "**/*.{idx,idxpack}",
)


def register(server: Server) -> None:
    """Give the server its handlers."""

    @server.feature(types.INITIALIZE)
    def initialize(ls: Server, params: types.InitializeParams) -> None:
        ls.session.encoding = str(getattr(ls.workspace.position_encoding, "value", ls.workspace.position_encoding))
        folders = [folder.uri for folder in params.workspace_folders or ()]
        if not folders and (root := params.root_uri or (params.root_path and uris.path_uri(params.root_path))):
            folders = [root]
        _add(ls, folders)
        ls.initial_options = params.initialization_options
        configuration.take(ls, dict.fromkeys((*ls.session.projects.folders.values(), None)))
        diagnostics.register_workspace(ls)

    @server.feature(types.INITIALIZED)
    async def initialized(ls: Server, params: types.InitializedParams) -> None:
        if ls.client.can("workspace.configuration"):
            await configuration.ask(ls)
        await _ask_to_be_told(ls)
        ls.watcher.start()
        ls.scanner.start()

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    async def folders_changed(ls: Server, params: types.DidChangeWorkspaceFoldersParams) -> None:
        projects = ls.session.projects
        for folder in params.event.removed:
            projects.options.pop(projects.folders.pop(folder.uri, None) or Path(), None)
        _add(ls, [folder.uri for folder in params.event.added])
        ls.session.reconfigured()
        if ls.client.can("workspace.configuration"):
            await configuration.ask(ls)
        else:
            configuration.take(ls, dict.fromkeys((*projects.folders.values(), None)))
        ls.checker.wake()
        ls.scanner.start()

    @server.feature(types.SHUTDOWN)
    def shutdown(ls: Server, params: None) -> None:
        ls.scanner.stop()


def _add(server: Server, folders: list[str]) -> None:
    """Take in workspace folders; those that are no files have nothing for us."""
    for uri in folders:
        if (name := uris.file_path(uri)) is not None:
            server.session.projects.folders[uri] = Path(name)


async def _ask_to_be_told(server: Server) -> None:
    """Have the client tell of changed files and settings, as far as it can."""
    client = server.client
    wanted = []
    if client.can("workspace.did_change_configuration.dynamic_registration"):
        options = types.DidChangeConfigurationRegistrationOptions(section=TABLE)
        wanted.append(types.Registration("settings", types.WORKSPACE_DID_CHANGE_CONFIGURATION, options))
    if client.can("workspace.did_change_watched_files.dynamic_registration"):
        watchers = [types.FileSystemWatcher(pattern) for pattern in WATCHED]
        files = types.DidChangeWatchedFilesRegistrationOptions(watchers)
        wanted.append(types.Registration("files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, files))
    if not wanted:
        return
    try:
        await server.client_register_capability_async(types.RegistrationParams(wanted))
    except Exception as error:
        client.trace(f"the client does not register what it says it can: {error}")
        return
    server.watcher.client_watches = any(each.id == "files" for each in wanted)
