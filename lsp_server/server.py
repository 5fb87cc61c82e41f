"""Makes the server: pygls' protocol with our own texts, and the features, each of which registers its handlers."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import InvalidStateError
from contextlib import suppress
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams, JsonRpcServerNotInitialized
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, lsp_method

from .analyses import Result
from .checking import Checker
from .client import Client
from .scanning import Scanner
from .session import Session
from .watching import Watcher


class OwnTexts(LanguageServerProtocol):
    """The protocol without pygls' copies of the texts: its edits go wrong after U+2028, and they take time.

    Its own handlers are generators, of which it keeps something for each message that it gets.
    """

    _server: Server

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        """Leave the text to our handler."""
        self.fm.features[types.TEXT_DOCUMENT_DID_OPEN](params)

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> None:
        """Leave the text to our handler."""
        self.fm.features[types.TEXT_DOCUMENT_DID_CHANGE](params)

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        """Leave the text to our handler."""
        self.fm.features[types.TEXT_DOCUMENT_DID_CLOSE](params)

    @lsp_method(types.WORKSPACE_EXECUTE_COMMAND)
    async def lsp_workspace__execute_command(  # type: ignore[override]
        self, params: types.ExecuteCommandParams
    ) -> Any:
        """Run a command as a task, so that it can be cancelled, and with its token, so that it can report progress."""
        handler = self.fm.commands.get(params.command)
        if handler is None:
            raise JsonRpcInvalidParams(f"there is no command `{params.command}`")
        return await handler(params)

    def handle_message(self, message: Any) -> None:
        """Refuse requests that come before `initialize`."""
        method = getattr(message, "method", None)
        if self._workspace is None and method not in (None, types.INITIALIZE, types.EXIT):
            if (identity := getattr(message, "id", None)) is not None:
                self._send_response(identity, error=JsonRpcServerNotInitialized().to_response_error())
            return
        with suppress(InvalidStateError):  # the answer to a request of ours that we no longer wait for
            super().handle_message(message)


class Server(LanguageServer):
    """One server for one client."""

    def __init__(self, version: str) -> None:
        super().__init__("nemo-resumable", version, protocol_cls=OwnTexts)
        self.client = Client(self)
        self.session = Session(self.client.complain, self.client.bug)
        self.checker = Checker(self.session, self.client)
        self.scanner = Scanner(self)
        self.watcher = Watcher(self)
        self.initial_options: object = None  #: what came with `initialize`
        self.session.after.append(self._trace)

    def _trace(self, results: Iterable[Result]) -> None:
        for result in results:
            count = len(result.analysis.findings)
            self.client.trace(f"judged {result.root} in {result.seconds * 1000:.1f} ms: {count} findings")

    def stop(self) -> None:
        """End what runs beside the messages."""
        self.scanner.close()
        self.session.stop()

    def report_server_error(self, error: Exception, source: type[Exception]) -> None:
        """A bug is one line in the client's log with its traceback, never a pop-up; the server lives on."""
        data = getattr(error, "data", None)
        trace = "".join(data["traceback"]) if isinstance(data, dict) and "traceback" in data else ""
        if trace or not isinstance(error, JsonRpcException):
            self.client.bug(error, trace)


def create_server() -> Server:
    """A server with every feature, ready to be started. Nothing of it is shared with another one."""
    from importlib import metadata

    from .features import FEATURES

    try:
        version = metadata.version("nemo-resumable")
    except metadata.PackageNotFoundError:
        version = "unknown"
    server = Server(version)
    for feature in FEATURES:
        feature.register(server)
    return server
