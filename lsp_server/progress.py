"""Long work as the client sees it: a bar with words, where it shows one, and a way to stop it."""

from __future__ import annotations

import asyncio
import uuid
from types import TracebackType
from typing import TYPE_CHECKING

from lsprotocol import types

if TYPE_CHECKING:
    from .server import Server


class Progress:
    """Used with `async with`. Where the client shows no progress, only `cancelled` has a meaning: it stays False."""

    def __init__(self, server: Server, title: str, token: types.ProgressToken | None = None) -> None:
        self._server = server
        self._title = title
        self._token = token

    async def __aenter__(self) -> Progress:
        progress = self._server.work_done_progress
        if self._token is None and self._server.client.can("window.work_done_progress"):
            token = f"nemo-resumable-{uuid.uuid4()}"
            try:
                # A client that never answers must not hold up the work that it would be told of.
                await asyncio.wait_for(progress.create_async(token), 2)
                self._token = token
            except Exception as error:
                self._server.client.trace(f"no progress is shown: {error}")
        if self._token is not None:
            progress.begin(self._token, types.WorkDoneProgressBegin(title=self._title, cancellable=True))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._token is not None:
            message = "stopped" if self.cancelled or kind is not None else None
            self._server.work_done_progress.end(self._token, types.WorkDoneProgressEnd(message=message))
            self._server.work_done_progress.tokens.pop(self._token, None)

    @property
    def cancelled(self) -> bool:
        """Whether the user has stopped it."""
        future = self._server.work_done_progress.tokens.get(self._token) if self._token is not None else None
        return future is not None and future.cancelled()

    def report(self, message: str, percentage: int | None = None) -> None:
        """Say how far it is."""
        if self._token is not None:
            value = types.WorkDoneProgressReport(message=message, percentage=percentage)
            self._server.work_done_progress.report(self._token, value)
