"""How a session begins and ends."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Serve = Callable[..., Any]


def test_says_what_it_can_do(serve: Serve, project: Path) -> None:
    client = serve()
    can = client.initialize(project)
    assert can["textDocumentSync"] == {"openClose": True, "change": 2, "save": True}
    assert can["diagnosticProvider"]["interFileDependencies"] is True
    assert can["diagnosticProvider"]["workspaceDiagnostics"] is False
    assert can["codeActionProvider"]["resolveProvider"] is True
    assert "source.fixAll.nemo-resumable" in can["codeActionProvider"]["codeActionKinds"]
    assert "nemo-resumable.writeArtifacts" in can["executeCommandProvider"]["commands"]
    assert can["workspace"]["workspaceFolders"] == {"supported": True, "changeNotifications": True}


def test_ends_in_order(client: Any) -> None:
    assert client.shut_down() == 0
    assert client.errors.empty()


def test_exit_without_shutdown_is_an_error(client: Any) -> None:
    client.notify("exit", None)
    assert client.process.wait(10) == 1


def test_ends_with_its_editor(client: Any) -> None:
    """An editor that dies leaves no server behind."""
    client.process.stdin.close()
    assert client.process.wait(10) == 1


def test_requests_before_initialize_are_refused(serve: Serve) -> None:
    client = serve()
    with pytest.raises(Exception, match="-32002"):
        client.request("textDocument/diagnostic", {"textDocument": {"uri": "file:///a.yaml"}})


def test_stdio_is_accepted_as_editors_write_it(serve: Serve, project: Path) -> None:
    client = serve(None, "--stdio", "--clientProcessId=1")
    assert client.initialize(project)["positionEncoding"] == "utf-16"


def test_what_is_no_message_is_answered_and_survived(client: Any, project: Path) -> None:
    client.send_raw(b"{nonsense")
    client.send_raw(b"[]")
    client.send_raw(json.dumps({"jsonrpc": "2.0", "id": 77, "method": "textDocument/codeAction", "params": 3}).encode())
    client.wait(lambda: 77 in client._answers, "the answer to a request with wrong parameters")
    assert client._answers[77]["error"]["code"] == -32602
    with pytest.raises(Exception, match="-32601"):
        client.request("textDocument/inventedByUs", {})
    client.notify("inventedByUs", {})
    assert client.diagnostics(client.open(project / "conf.yaml"))


def test_kill_and_restart(serve: Serve, project: Path) -> None:
    """A new server gives what the one before gave."""
    seen = []
    for _ in range(2):
        client = serve()
        client.initialize(project)
        seen.append(client.diagnostics(client.open(project / "conf.yaml")))
        client.process.send_signal(signal.SIGTERM if os.name == "nt" else signal.SIGKILL)
        client.process.wait(10)
    assert seen[0] == seen[1] != []


def test_two_windows_on_one_project(serve: Serve, project: Path) -> None:
    first, second = serve(), serve()
    for window in (first, second):
        window.initialize(project)
    uri = first.open(project / "conf.yaml")
    second.open(project / "conf.yaml", "data: {}\n")
    assert first.diagnostics(uri)
    assert second.diagnostics(uri) == []


def test_over_tcp_on_this_machine_only(project: Path) -> None:
    command = [sys.executable, "-m", "nemo_resumable.lsp_server.main", "--tcp"]
    for address in ("0.0.0.0:0", "192.0.2.1:7000", "example.org:7000", "127.0.0.1:x", "nowhere"):
        refused = subprocess.run([*command, address], capture_output=True, text=True, timeout=30)
        assert refused.returncode == 2
        assert "--tcp" in refused.stderr
        assert len(refused.stderr.splitlines()) == 1
    with subprocess.Popen([*command, "127.0.0.1:0"], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        port = int(process.stderr.readline().rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
            params = {"processId": None, "rootUri": project.as_uri(), "capabilities": {}}
            body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).encode()
            # A message in pieces is as good as one in whole.
            data = b"Content-Length: %d\r\n\r\n" % len(body) + body
            for start in range(0, len(data), 40):
                connection.sendall(data[start : start + 40])
                time.sleep(0.002)
            answer = b""
            while b"serverInfo" not in answer:
                answer += connection.recv(1 << 16)
        assert process.wait(10) == 1


def test_the_server_is_its_own_program(project: Path) -> None:
    """`nemo-resumable-lsp` is installed beside `nemo-resumable`."""
    name = Path(sys.executable).parent / ("nemo-resumable-lsp.exe" if os.name == "nt" else "nemo-resumable-lsp")
    if not name.exists():
        pytest.skip("the package is not installed here with its programs")
    shown = subprocess.run([name, "--help"], capture_output=True, text=True, timeout=30)
    assert shown.returncode == 0
    assert "--tcp" in shown.stdout
