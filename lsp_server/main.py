"""`nemo-resumable-lsp`, and what `nemo-resumable lsp` hands over to: arguments, transport, and the process around them."""

from __future__ import annotations

import argparse
import asyncio
import ipaddress
import logging
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .server import Server
    from .transport import Channel

USAGE_ERROR = 2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of the server."""
    parser.add_argument("--stdio", action="store_true", help="speak over standard input and output (the default)")
    parser.add_argument("--tcp", metavar="HOST:PORT", help="wait for one client on an address of this machine")
    # VS Code adds `--clientProcessId=…`; the end of the stream tells us the same.
    parser.add_argument("--clientProcessId", help=argparse.SUPPRESS)


def main(argv: Sequence[str] | None = None) -> int:
    """Serve one client; returns 0 after an orderly end, 1 for a stream that broke off, 2 for wrong arguments."""
    parser = argparse.ArgumentParser(prog="nemo-resumable-lsp", description="The language server of nemo-resumable.")
    add_arguments(parser)
    return run(parser.parse_args(argv))


def run(arguments: argparse.Namespace) -> int:
    """Carry out what the arguments say."""
    if arguments.tcp:
        try:
            host, port = _address(arguments.tcp)
        except ValueError as error:
            print(f"nemo-resumable: --tcp: {error}", file=sys.stderr)
            return USAGE_ERROR
        return _serve_tcp(host, port)
    from .transport import Stdio

    return _serve(Stdio())


def _address(text: str) -> tuple[str, int]:
    """Host and port. Raises ValueError: a config is nobody else's business, so other machines get no answer."""
    host, colon, port = text.rpartition(":")
    host = host.strip("[]") or "127.0.0.1"
    if not colon and not text.isdigit():
        raise ValueError(f"`{text}` is no HOST:PORT")
    if not port.isdigit() or int(port) > 65535:
        raise ValueError(f"`{port}` is no port")
    if host == "localhost":
        host = "127.0.0.1"
    try:
        loopback = ipaddress.ip_address(host).is_loopback
    except ValueError:
        loopback = False
    if not loopback:
        raise ValueError(f"`{host}` is not on this machine; use 127.0.0.1")
    return host, int(port)


def _serve_tcp(host: str, port: int) -> int:
    from .transport import Socket, listen

    try:
        listener = listen(host, port)
    except OSError as error:
        print(f"nemo-resumable: --tcp: {host}:{port}: {error.strerror or error}", file=sys.stderr)
        return USAGE_ERROR
    with listener:
        print(f"nemo-resumable: waiting on {host}:{listener.getsockname()[1]}", file=sys.stderr, flush=True)
        connection, _ = listener.accept()
    return _serve(Socket(connection))


def _serve(channel: Channel) -> int:
    """Serve until the client says `exit` or the stream ends."""
    from . import housekeeping
    from .server import create_server
    from .transport import Inbox, handle_messages

    # Whatever goes wrong is told to the client; pygls would write it to the error output a second time.
    logging.getLogger("pygls").setLevel(logging.CRITICAL)
    # A message that comes in while something large is judged waits no longer than this for its turn (else 5 ms, each
    # time that something is waited for).
    sys.setswitchinterval(0.0005)
    server = create_server()

    async def serve() -> None:
        inbox = Inbox(channel)
        loop = server.client.loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: _tell(server, context))
        server.checker.tidy = housekeeping.tidy
        housekeeping.begin()
        server.protocol.set_writer(channel)
        server.checker.waiting = lambda: inbox.waiting
        await handle_messages(inbox, server.protocol, server.client.bug)

    try:
        asyncio.run(serve())
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 1
    except (BrokenPipeError, KeyboardInterrupt):
        return 1
    finally:
        server.stop()
    return 1


def _tell(server: Server, context: dict[str, Any]) -> None:
    """Tell the client of what went wrong where nobody was left to be told."""
    error = context.get("exception")
    if error is None:
        error = RuntimeError(context.get("message"))
    if isinstance(error, Exception) and not isinstance(error, BrokenPipeError):  # to be cancelled at the end is right
        server.client.bug(error)


if __name__ == "__main__":
    raise SystemExit(main())
