"""Messages in and out over stdio or a socket: read ahead in a thread, so that the server knows what is still waiting."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import sys
import threading
from collections import deque
from collections.abc import Callable
from typing import IO, Any, Protocol

from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams, JsonRpcParseError
from pygls.protocol import JsonRPCProtocol

_CHUNK = 1 << 16
_MAX_HEADER = 1 << 14


class Channel(Protocol):
    """Where bytes come from and go to. `read` gives what is there, and nothing at the end."""

    def read(self) -> bytes: ...

    def write(self, data: bytes) -> None: ...

    def close(self) -> None: ...


class Stdio:
    """Standard input and output. What the analyzer might print goes to the error output instead."""

    def __init__(self) -> None:
        self._in = os.dup(sys.stdin.fileno())
        self._out: IO[bytes] = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
        sys.stdout = sys.stderr
        if os.name == "nt":
            import msvcrt

            for handle in (self._in, self._out.fileno()):
                msvcrt.setmode(handle, os.O_BINARY)  # type: ignore[attr-defined,unused-ignore]

    def read(self) -> bytes:
        """What has come in. Not through the buffered file: a thread that waits in one cannot be left at exit."""
        return os.read(self._in, _CHUNK)

    def write(self, data: bytes) -> None:
        """Write a message."""
        self._out.write(data)
        self._out.flush()

    def close(self) -> None:
        """Close the output."""
        self._out.close()


class Socket:
    """One connection."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    def read(self) -> bytes:
        """What has come in; a connection that breaks has ended."""
        try:
            return self._connection.recv(_CHUNK)
        except OSError:
            return b""

    def write(self, data: bytes) -> None:
        """Write a message. Raises BrokenPipeError where nobody listens any more."""
        try:
            self._connection.sendall(data)
        except OSError as error:
            raise BrokenPipeError(str(error)) from None

    def close(self) -> None:
        """End the connection, which wakes the reader too."""
        with contextlib.suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)
        self._connection.close()


class Framing:
    """Cuts a stream of bytes into the bodies of messages."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._length: int | None = None

    def feed(self, data: bytes) -> list[bytes]:
        """The bodies that are whole now. Raises ValueError where no message can begin."""
        self._data += data
        bodies: list[bytes] = []
        while True:
            if self._length is None:
                end = self._data.find(b"\r\n\r\n")
                if end < 0:
                    if len(self._data) > _MAX_HEADER:
                        raise ValueError("the header of a message does not end")
                    return bodies
                self._length = _content_length(bytes(self._data[:end]))
                del self._data[: end + 4]
            if len(self._data) < self._length:
                return bodies
            bodies.append(bytes(self._data[: self._length]))
            del self._data[: self._length]
            self._length = None


def _content_length(header: bytes) -> int:
    for line in header.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length" and value.strip().isdigit():
            return int(value)
    raise ValueError("a message without Content-Length")


class Inbox:
    """The messages that came in and are not handled yet."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._bodies: deque[bytes | None] = deque()
        self._arrived = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        threading.Thread(target=self._read, name="messages", daemon=True).start()

    @property
    def waiting(self) -> int:
        """How many whole messages wait to be handled."""
        return len(self._bodies)

    async def next(self) -> bytes | None:
        """The next body; None at the end."""
        while not self._bodies:
            self._arrived.clear()
            await self._arrived.wait()
        await asyncio.sleep(0)  # what is ready to run has its turn between any two messages
        return self._bodies.popleft()

    def _read(self) -> None:
        framing = Framing()
        try:
            while data := self._channel.read():
                if bodies := framing.feed(data):
                    self._bodies.extend(bodies)
                    self._loop.call_soon_threadsafe(self._arrived.set)
        except (OSError, ValueError):
            pass  # a stream that makes no sense has ended
        self._bodies.append(None)
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits
            self._loop.call_soon_threadsafe(self._arrived.set)


async def handle_messages(inbox: Inbox, protocol: JsonRPCProtocol, bug: Callable[[Exception], None]) -> None:
    """Hand every message to the protocol until the stream ends. A message that makes no sense is answered, not fatal;
    neither is what goes wrong with one, of which `bug` is told."""
    while (body := await inbox.next()) is not None:
        try:
            message = json.loads(body)
        except (ValueError, RecursionError):
            _refuse(protocol, None, JsonRpcParseError())
            continue
        if not isinstance(message, dict) or "jsonrpc" not in message:
            _refuse(protocol, None, JsonRpcParseError("this is no JSON-RPC message"))
            continue
        try:
            structured: Any = protocol.structure_message(message)
        except JsonRpcException:
            if "id" in message and "method" in message:
                _refuse(protocol, message["id"], JsonRpcInvalidParams())
            continue
        try:
            protocol.handle_message(structured)
        except BrokenPipeError:
            raise
        except Exception as error:
            bug(error)


def _refuse(protocol: JsonRPCProtocol, identity: Any, error: JsonRpcException) -> None:
    answer = {
        "jsonrpc": "2.0",
        "id": identity,
        "error": {"code": error.code, "message": error.message or type(error).MESSAGE},
    }
    body = json.dumps(answer).encode()
    if protocol.writer is not None:
        protocol.writer.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)


def listen(host: str, port: int) -> socket.socket:
    """A socket that waits for one client on this machine. Raises OSError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    server = socket.socket(family, socket.SOCK_STREAM)
    if os.name != "nt":
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.bind((host, port))
    server.listen(1)
    return server


__all__ = ["Channel", "Framing", "Inbox", "Socket", "Stdio", "handle_messages", "listen"]
