"""The client as the server sees it: what it can do, and what is said to it."""

from __future__ import annotations

import asyncio
import threading
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.capabilities import get_capability

if TYPE_CHECKING:
    from .server import Server


class Client:
    """Asks for capabilities when they are needed: before `initialize` there are none."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._told: set[str] = set()
        self._thread = threading.get_ident()
        self.loop: asyncio.AbstractEventLoop | None = None  #: of the thread that writes messages

    def can(self, capability: str) -> bool:
        """Whether the client has a capability, such as `workspace.configuration`."""
        return bool(self.capability(capability))

    def capability(self, name: str) -> object:
        """What the client says of a capability; None where it says nothing."""
        return get_capability(self._server.client_capabilities, name, None)

    @property
    def resolves_edits(self) -> bool:
        """Whether the client asks for an action's edit when it is chosen."""
        names = self.capability("text_document.code_action.resolve_support.properties")
        return isinstance(names, (list, tuple)) and "edit" in names

    @property
    def pulls(self) -> bool:
        """Whether the client asks for diagnostics itself."""
        return self.capability("text_document.diagnostic") is not None

    def log(self, text: str, kind: types.MessageType = types.MessageType.Info) -> None:
        """A line in the client's log."""
        self._server.window_log_message(types.LogMessageParams(kind, text))

    def log_later(self, text: str, kind: types.MessageType = types.MessageType.Info) -> None:
        """The same from another thread."""
        self.later(lambda: self.log(text, kind))

    def later(self, say: Callable[[], None]) -> None:
        """Have something said by the thread that writes messages; for other threads."""
        if self.loop is not None:
            self.loop.call_soon_threadsafe(say)

    def bug(self, error: Exception, trace: str = "") -> None:
        """A bug of ours: one entry in the log with its traceback, never a pop-up."""
        trace = trace or "".join(traceback.format_exception(error))
        self.log(f"internal error: {error}\n{trace}".rstrip(), types.MessageType.Error)

    def trace(self, text: str) -> None:
        """A line for who has switched tracing on."""
        if self._server.protocol.trace != types.TraceValue.Off:
            self._server.protocol.notify(types.LOG_TRACE, types.LogTraceParams(text))

    def complain(self, sentence: str) -> None:
        """Tell the user of something that is wrong with the settings; the same sentence once a session."""
        if self.loop is not None and threading.get_ident() != self._thread:
            self.loop.call_soon_threadsafe(self.complain, sentence)
            return
        if sentence in self._told:
            return
        self._told.add(sentence)
        self._server.window_show_message(types.ShowMessageParams(types.MessageType.Warning, sentence))

    def forgive(self) -> None:
        """Complaints may be made anew: what they were about has changed."""
        self._told.clear()

    def publish(self, uri: str, version: int | None, diagnostics: list[types.Diagnostic]) -> None:
        """Show the diagnostics of a file in place of those before."""
        if not self.can("text_document.publish_diagnostics.version_support"):
            version = None
        self._server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, diagnostics, version))

    def refresh_diagnostics(self) -> None:
        """Have the client ask once more, where it is one that asks."""
        if self.can("workspace.diagnostics.refresh_support"):
            self._server.workspace_diagnostic_refresh(None)
