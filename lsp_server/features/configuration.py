"""The client's settings: with `initialize`, on request and when they change; what is wrong is told and ignored."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lsprotocol import types
from nemo_resumable.core.settings_toml import TABLE

from ..options import read_options
from ..server import Server


def register(server: Server) -> None:
    """Give the server its handlers."""

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def changed(ls: Server, params: types.DidChangeConfigurationParams) -> None:
        ls.client.forgive()
        given = params.settings
        if isinstance(given, Mapping) and isinstance(given.get(TABLE), Mapping):
            take(ls, _everywhere(ls, given[TABLE]))
        elif ls.client.can("workspace.configuration"):
            await ask(ls)
        else:
            take(ls, _everywhere(ls, given))


async def ask(server: Server) -> None:
    """Ask the client for its settings, for each folder apart."""
    folders = server.session.projects.folders
    items = [types.ConfigurationItem(scope_uri=uri, section=TABLE) for uri in folders]
    items.append(types.ConfigurationItem(section=TABLE))
    try:
        answers = await server.workspace_configuration_async(types.ConfigurationParams(items))
    except Exception as error:
        server.client.trace(f"the client gives no settings: {error}")
        return
    take(server, dict(zip([*folders.values(), None], answers)))


def take(server: Server, given: Mapping[Path | None, Any]) -> None:
    """Put settings in place, those of `initialize` beneath them, and judge anew where that changes anything."""
    projects = server.session.projects
    known = dict(projects.options)
    for folder, table in given.items():
        own = {key: value for key, value in _table(table).items() if value is not None}
        options, told = read_options({**_table(server.initial_options), **own}, folder or projects.home())
        for sentence in told:
            server.client.complain(sentence)
        projects.options[folder] = options
    if projects.options != known:
        server.session.reconfigured()
        server.checker.wake()


def _everywhere(server: Server, given: object) -> dict[Path | None, Any]:
    """Settings that a client gives for all folders."""
    return dict.fromkeys((*server.session.projects.folders.values(), None), given)


def _table(given: object) -> dict[str, Any]:
    """The settings in what a client sent: some wrap them in `settings` or in our own name, some send nothing."""
    while isinstance(given, Mapping):
        inner = next((given[name] for name in (TABLE, "settings") if isinstance(given.get(name), Mapping)), None)
        if inner is None:
            return {str(key).removeprefix(f"{TABLE}."): value for key, value in given.items()}
        given = inner
    return {} if given is None else {"": given}
