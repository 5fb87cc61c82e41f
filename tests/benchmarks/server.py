"""How fast the language server answers, beside yaml-language-server where npm is there: `python tests/benchmarks/server.py`.

Prints a Markdown table, then JSON. Each change waits for its diagnostics before the next is made, with the pause of a
quick typist between them. Milliseconds only say something about this machine, and nothing while it does other work.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import queue
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from generate import blend, foreign, training_config

TYPING_SECONDS = 0.08  #: between two key presses
EDITS = 10_000  #: after which memory is looked at
WAIT_SECONDS = 60.0

#: Milliseconds on a machine with two cores and nothing else to do.
BUDGETS = {
    "start → initialized": 1000.0,
    "change → diagnostics, config of 200 lines, p95": 15.0,
    "change → diagnostics, blend of 10,000 lines, p95": 250.0,
    "change → diagnostics, config of 10,000 lines, p95": 250.0,
    "code actions, config of 200 lines, p95": 10.0,
    "start → initialized, 2,000 files in the workspace": 1000.0,
}
CAPABILITIES: dict[str, Any] = {
    "textDocument": {
        "synchronization": {"didSave": True},
        "publishDiagnostics": {"relatedInformation": True, "versionSupport": True, "codeDescriptionSupport": True},
        "codeAction": {
            "codeActionLiteralSupport": {"codeActionKind": {"valueSet": [""]}},
            "resolveSupport": {"properties": ["edit"]},
            "dataSupport": True,
        },
    },
    "workspace": {"workspaceFolders": True, "workspaceEdit": {"documentChanges": True}},
}


@dataclass(frozen=True)
class Figure:
    """One figure. `budget` is None where nothing is promised."""

    name: str
    value: float
    unit: str
    budget: float | None = None


class Server:
    """A server process and what it says."""

    def __init__(self, command: Sequence[str], folder: Path) -> None:
        self.started = time.perf_counter()
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=folder
        )
        self._messages: queue.Queue[tuple[float, dict[str, Any]] | None] = queue.Queue()
        self._number = 0
        self._texts: dict[str, int] = {}
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        out = self.process.stdout
        assert out is not None
        while header := out.readline():
            length = 0
            while header.strip():
                name, _, value = header.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
                header = out.readline()
            body = out.read(length)
            self._messages.put((time.perf_counter(), json.loads(body)))
        self._messages.put(None)

    def send(self, message: dict[str, Any]) -> None:
        """Send a message."""
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def wait(self, wanted: Callable[[dict[str, Any]], bool]) -> tuple[float, dict[str, Any]]:
        """The next message that is wanted, and when it came."""
        while True:
            found = self._messages.get(timeout=WAIT_SECONDS)
            if found is None:
                raise RuntimeError("the server has gone")
            when, message = found
            if "method" in message and "id" in message:
                items = (
                    message.get("params", {}).get("items", []) if message["method"].endswith("configuration") else None
                )
                self.send({"id": message["id"], "result": [None] * len(items) if items is not None else None})
            if wanted(message):
                return when, message

    def request(self, method: str, params: Any) -> tuple[float, Any]:
        """Seconds until a request is answered, and the answer."""
        self._number += 1
        identity = self._number
        before = time.perf_counter()
        self.send({"id": identity, "method": method, "params": params})
        when, message = self.wait(lambda each: each.get("id") == identity and "method" not in each)
        return when - before, message.get("result")

    def initialize(self, folder: Path) -> float:
        """Seconds from the start of the process to the answer to `initialize`."""
        self.request(
            "initialize",
            {
                "processId": os.getpid(),
                "rootUri": folder.as_uri(),
                "workspaceFolders": [{"uri": folder.as_uri(), "name": folder.name}],
                "capabilities": CAPABILITIES,
            },
        )
        seconds = time.perf_counter() - self.started
        self.send({"method": "initialized", "params": {}})
        return seconds

    def open(self, path: Path) -> float:
        """Seconds until a file that is opened has diagnostics."""
        item = {"uri": path.as_uri(), "languageId": "yaml", "version": 1, "text": path.read_text(encoding="utf-8")}
        self._texts[path.as_uri()] = 1
        before = time.perf_counter()
        self.send({"method": "textDocument/didOpen", "params": {"textDocument": item}})
        return self._diagnostics(path.as_uri()) - before

    def change(self, path: Path, line: int, text: str) -> float:
        """Seconds until a text that is put at the beginning of a line has diagnostics."""
        before = self.type(path, line, text)
        return self._diagnostics(path.as_uri()) - before

    def type(self, path: Path, line: int, text: str, over: int = 0) -> float:
        """Put a text at the beginning of a line, over so many characters; when that was."""
        uri = path.as_uri()
        self._texts[uri] += 1
        edit = {
            "range": {"start": {"line": line, "character": 0}, "end": {"line": line, "character": over}},
            "text": text,
        }
        identity = {"uri": uri, "version": self._texts[uri]}
        before = time.perf_counter()
        self.send({"method": "textDocument/didChange", "params": {"textDocument": identity, "contentChanges": [edit]}})
        return before

    def _diagnostics(self, uri: str) -> float:
        version = self._texts[uri]

        def mine(message: dict[str, Any]) -> bool:
            params = message.get("params")
            return (
                message.get("method") == "textDocument/publishDiagnostics"
                and params["uri"] == uri
                and params.get("version") in (None, version)
            )

        return self.wait(mine)[0]

    def settle(self, path: Path) -> None:
        """Wait until the last version has diagnostics."""
        self._diagnostics(path.as_uri())

    def memory(self) -> float | None:
        """Resident MiB; None where the system does not tell."""
        try:
            status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        except OSError:
            return None
        return int(status.partition("VmRSS:")[2].split()[0]) / 1024

    def processor(self) -> float | None:
        """Seconds of the processor so far, which other programs hardly change; None where the system does not tell."""
        try:
            fields = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        except OSError:
            return None
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def rest(self) -> None:
        """Wait until it has nothing to do: after its start it looks through the workspace in the background."""
        before, deadline = None, time.perf_counter() + WAIT_SECONDS
        while time.perf_counter() < deadline and (now := self.processor()) != before:
            before = now
            time.sleep(0.5)

    def stop(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.wait()


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and with --enforce return 1 where a budget is broken."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--changes", type=int, default=60, help="changes a case (default: 60)")
    parser.add_argument(
        "--edits", type=int, default=EDITS, help=f"edits before memory is looked at (default: {EDITS:,})"
    )
    parser.add_argument("--no-peer", action="store_true", help="leave yaml-language-server out")
    parser.add_argument("--enforce", action="store_true", help="exit 1 where a budget is broken")
    given = parser.parse_args(arguments)
    ours = (sys.executable, "-m", "nemo_resumable.lsp_server.main", "--stdio")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        _project(folder)
        figures = _measured(ours, folder, given.changes)
        figures += _actions(ours, folder, given.changes)
        figures += _memory(ours, folder, given.edits)
        figures += _crowded(ours, folder / "crowded")
        peer = None if given.no_peer else _peer(folder)
        peers = _measured(peer, folder, min(given.changes, 20)) if peer else []
    print(_table(figures, {figure.name: figure.value for figure in peers}))
    machine = {"system": platform.platform(), "python": platform.python_version(), "processors": os.cpu_count()}
    results = [figure.__dict__ for figure in figures]
    print(f"\n```json\n{json.dumps({'machine': machine, 'results': results}, indent=2)}\n```")
    broken = [figure for figure in figures if figure.budget is not None and figure.value > figure.budget]
    return 1 if given.enforce and broken else 0


def _project(folder: Path) -> None:
    (folder / ".git").mkdir()
    (folder / "conf.yaml").write_text(training_config(200, "blend.yaml"), encoding="utf-8")
    (folder / "blend.yaml").write_text(blend(200), encoding="utf-8")
    (folder / "large.yaml").write_text(training_config(200, "large_blend.yaml"), encoding="utf-8")
    (folder / "large_blend.yaml").write_text(blend(10_000), encoding="utf-8")
    (folder / "long.yaml").write_text(training_config(10_000, "blend.yaml"), encoding="utf-8")


def _measured(command: Sequence[str], folder: Path, changes: int) -> list[Figure]:
    """Start, opening and changes."""
    starts = []
    for _ in range(5):
        server = Server(command, folder)
        starts.append(server.initialize(folder))
        server.stop()
    figures = [_figure("start → initialized", statistics.median(starts))]
    cases = (
        ("config of 200 lines", folder / "conf.yaml", ()),
        ("blend of 10,000 lines", folder / "large_blend.yaml", (folder / "large.yaml",)),
        ("config of 10,000 lines", folder / "long.yaml", ()),
    )
    for what, path, beside in cases:
        server = Server(command, folder)
        server.initialize(folder)
        for other in beside:
            server.open(other)
        figures.append(_figure(f"open → diagnostics, {what}", server.open(path)))
        server.rest()
        lines = path.read_text(encoding="utf-8").count("\n")
        times = []
        before = server.processor()
        for number in range(changes):
            time.sleep(TYPING_SECONDS)
            times.append(server.change(path, lines // 2, f"# {number}\n"))
        after = server.processor()
        figures.append(_figure(f"change → diagnostics, {what}, p50", statistics.median(times)))
        figures.append(_figure(f"change → diagnostics, {what}, p95", _p95(times)))
        if before is not None and after is not None:
            figures.append(_figure(f"processor time a change, {what}", (after - before) / changes))
        server.stop()
    return figures


def _actions(command: Sequence[str], folder: Path, changes: int) -> list[Figure]:
    """Code actions after each change, once its diagnostics are there."""
    server = Server(command, folder)
    server.initialize(folder)
    path = folder / "conf.yaml"
    server.open(path)
    server.rest()
    where = {"start": {"line": 44, "character": 0}, "end": {"line": 60, "character": 0}}
    params = {"textDocument": {"uri": path.as_uri()}, "range": where, "context": {"diagnostics": []}}
    times = []
    for number in range(changes):
        server.change(path, 3, f"# {number}\n")
        seconds, found = server.request("textDocument/codeAction", params)
        assert found, "no code action was offered"
        times.append(seconds)
    server.stop()
    return [_figure("code actions, config of 200 lines, p95", _p95(times))]


def _memory(command: Sequence[str], folder: Path, edits: int) -> list[Figure]:
    """Memory after the first hundredth of the edits and after all of them, each of which is waited for."""
    server = Server(command, folder)
    server.initialize(folder)
    path = folder / "conf.yaml"
    server.open(path)
    seen: list[float] = []
    width = 0
    for number in range(edits):
        text = f"# {number}"
        server.type(path, 1, text, over=width)
        width = len(text)
        server.settle(path)
        if number + 1 in (max(edits // 100, 1), edits) and (memory := server.memory()) is not None:
            seen.append(memory)
    server.stop()
    if len(seen) < 2:
        return []
    first, last = seen
    budget = first * 1.1 + 2 if edits >= EDITS else None  # it takes some dozens until everything is loaded and warm
    return [
        Figure(f"memory after {edits // 100:,} edits", first, "MiB"),
        Figure(f"memory after {edits:,} edits", last, "MiB", budget),
    ]


def _crowded(command: Sequence[str], folder: Path) -> list[Figure]:
    """A workspace with thousands of files."""
    (folder / ".git").mkdir(parents=True)
    foreign(folder, 2000)
    (folder / "conf.yaml").write_text(training_config(200, "blend.yaml"), encoding="utf-8")
    (folder / "blend.yaml").write_text(blend(200), encoding="utf-8")
    server = Server(command, folder)
    figures = [_figure("start → initialized, 2,000 files in the workspace", server.initialize(folder))]
    figures.append(_figure("open → diagnostics, 2,000 files in the workspace", server.open(folder / "conf.yaml")))
    # Not after a rest: this is while the workspace is looked through.
    times = []
    for number in range(20):
        time.sleep(TYPING_SECONDS)
        times.append(server.change(folder / "conf.yaml", 3, f"# {number}\n"))
    figures.append(_figure("change → diagnostics, 2,000 files in the workspace, p95", _p95(times)))
    server.stop()
    return figures


def _peer(folder: Path) -> Sequence[str] | None:
    """The command of yaml-language-server, installed for this run; None where that cannot be."""
    if (npm := shutil.which("npm")) is None or shutil.which("node") is None:
        return None
    place = folder / "peer"
    place.mkdir()
    installed = subprocess.run(
        [npm, "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(place), "yaml-language-server"],
        capture_output=True,
        timeout=600,
    )
    program = place / "node_modules" / ".bin" / "yaml-language-server"
    return (str(program), "--stdio") if installed.returncode == 0 and program.exists() else None


def _figure(name: str, seconds: float) -> Figure:
    return Figure(name, seconds * 1000, "ms", BUDGETS.get(name))


def _p95(times: Sequence[float]) -> float:
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]


def _table(figures: Sequence[Figure], peers: dict[str, float]) -> str:
    lines = ["| | nemo-resumable | budget | yaml-language-server |", "|---|---:|---:|---:|"]
    for figure in figures:
        budget = f"{figure.budget:,.0f} {figure.unit}" if figure.budget is not None else ""
        peer = f"{peers[figure.name]:,.0f} {figure.unit}" if figure.name in peers else ""
        lines.append(f"| {figure.name} | {figure.value:,.1f} {figure.unit} | {budget} | {peer} |")
    return "\n".join(lines)


if __name__ == "__main__":
    raise SystemExit(main())
