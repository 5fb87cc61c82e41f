"""The command that names the cause of a failed run from its logs, with the line of an open config behind it."""

from __future__ import annotations

from typing import Any

from lsprotocol import types
from nemo_resumable.core.failures import Diagnosis, LogError, diagnose
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams

from ..progress import Progress
from ..run_logs import as_markdown
from ..server import Server
from .names import DIAGNOSE, REQUEST_FAILED


class _Stopped(Exception):
    """The user does not want to wait any longer."""


def register(server: Server) -> None:
    """Give the server its handlers."""

    @server.command(DIAGNOSE)
    async def diagnose_logs(ls: Server, params: types.ExecuteCommandParams) -> dict[str, Any]:
        """Name the cause of a failed run. Arguments: the URIs of its logs, then optionally the URI of its config."""
        arguments = list(params.arguments or [])
        logs = arguments[0] if arguments else None
        if not isinstance(logs, list) or not logs or not all(isinstance(uri, str) for uri in logs):
            raise JsonRpcInvalidParams("the first argument has to be a list with the URIs of logs")
        paths = [ls.session.path_of(uri) for uri in logs]
        if None in paths:
            raise JsonRpcInvalidParams("a log has to be a file")
        config = ls.session.path_of(arguments[1]) if len(arguments) > 1 and isinstance(arguments[1], str) else None
        project = ls.session.project(config) if config is not None else None
        async with Progress(ls, "Reading the logs", params.work_done_token) as progress:

            def told(name: str, done: int, size: int | None) -> None:
                if progress.cancelled:
                    raise _Stopped
                if size:
                    ls.client.later(lambda: progress.report(name, min(99, 100 * done // size)))

            def work() -> Diagnosis:
                return diagnose([path for path in paths if path is not None], project, config, progress=told)

            try:
                found = await ls.session.aside(work)
            except LogError as error:
                raise JsonRpcException(str(error), REQUEST_FAILED) from None
            except _Stopped:
                raise JsonRpcException("stopped", REQUEST_FAILED) from None
        return {
            "title": "Diagnosis of a run",
            "language": "markdown",
            "text": as_markdown(found, ls.session.uri_of),
            "cause": found.mode.slug if found.mode is not None else None,
        }
