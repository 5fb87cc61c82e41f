"""A client that speaks to `nemo-resumable lsp` over its standard input and output, as an editor does."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

#: What a client of today says it can do. The records of real editors come from pytest-lsp.
MODERN: dict[str, Any] = {
    "general": {"positionEncodings": ["utf-16"]},
    "textDocument": {
        "synchronization": {"didSave": True},
        "publishDiagnostics": {
            "relatedInformation": True,
            "versionSupport": True,
            "codeDescriptionSupport": True,
            "dataSupport": True,
            "tagSupport": {"valueSet": [1, 2]},
        },
        "codeAction": {
            "codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["", "quickfix", "source", "refactor"]}},
            "isPreferredSupport": True,
            "dataSupport": True,
            "resolveSupport": {"properties": ["edit"]},
        },
    },
    "workspace": {
        "configuration": True,
        "workspaceFolders": True,
        "didChangeConfiguration": {"dynamicRegistration": True},
        "didChangeWatchedFiles": {"dynamicRegistration": True},
        "workspaceEdit": {"documentChanges": True, "changeAnnotationSupport": {"groupsOnLabel": True}},
        "diagnostics": {"refreshSupport": True},
    },
    "window": {"workDoneProgress": True, "showDocument": {"support": True}},
}
_NEWLINE = re.compile(r"\r\n|\n|\r")
SECONDS = 30.0  #: how long anything may take on a busy machine


class Refused(Exception):
    """The server's answer is an error."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(f"{error['code']}: {error['message']}")
        self.code: int = error["code"]
        self.message: str = error["message"]


class Client:
    """One server process and what it has said. Requests of the server are answered as `settings` and the rest say."""

    def __init__(self, capabilities: dict[str, Any], cwd: Path, *arguments: str) -> None:
        self.capabilities = capabilities
        self.settings: dict[str | None, Any] = {}  #: what `workspace/configuration` is answered, by scope
        self.heard: list[dict[str, Any]] = []
        self.asked: list[dict[str, Any]] = []  #: requests of the server
        self.encoding = "utf-16"
        self._answers: dict[int, dict[str, Any]] = {}
        self._number = 0
        self._mark = 0
        self._versions: dict[str, int] = {}
        self._condition = threading.Condition()
        self._open = True
        command = [sys.executable, "-m", "nemo_resumable.hooks.cli", "lsp", *arguments]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=cwd
        )
        self.errors: queue.Queue[bytes] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        threading.Thread(target=self._read_errors, daemon=True).start()

    # Messages

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
            message = json.loads(out.read(length))
            with self._condition:
                if "method" in message and "id" in message:
                    self.asked.append(message)
                    with contextlib.suppress(OSError, ValueError):  # we have closed the session meanwhile
                        self._send({"id": message["id"], "result": self._answer(message)})
                elif "method" in message:
                    self.heard.append(message)
                else:
                    self._answers[message["id"]] = message
                self._condition.notify_all()
        with self._condition:
            self._open = False
            self._condition.notify_all()

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.errors.put(line)

    def _answer(self, message: dict[str, Any]) -> Any:
        if message["method"] == "workspace/configuration":
            items = message["params"]["items"]
            return [self.settings.get(item.get("scopeUri"), self.settings.get(None)) for item in items]
        if message["method"] == "window/showDocument":
            return {"success": True}
        return None

    def _send(self, message: dict[str, Any]) -> None:
        self.send_raw(json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False).encode())

    def send_raw(self, body: bytes) -> None:
        """Send bytes as the body of a message, whatever they are."""
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def notify(self, method: str, params: Any) -> None:
        """Send a notification."""
        self._send({"method": method, "params": params})

    def start(self, method: str, params: Any) -> int:
        """Send a request; its id."""
        self._number += 1
        self._send({"id": self._number, "method": method, "params": params})
        return self._number

    def finish(self, identity: int, seconds: float = SECONDS) -> Any:
        """The result of a request. Raises Refused."""
        self.wait(lambda: identity in self._answers, f"the answer to request {identity}", seconds)
        answer = self._answers.pop(identity)
        if "error" in answer:
            raise Refused(answer["error"])
        return answer["result"]

    def request(self, method: str, params: Any, seconds: float = SECONDS) -> Any:
        """Send a request and wait for its result. Raises Refused."""
        return self.finish(self.start(method, params), seconds)

    def wait(self, condition: Callable[[], Any], what: str, seconds: float = SECONDS) -> Any:
        """Wait until something is the case, looking with every message; what the condition gives."""
        deadline = time.monotonic() + seconds
        with self._condition:
            while not (found := condition()):
                left = deadline - time.monotonic()
                if left <= 0 or not self._open:
                    heard = [(each["method"], str(each.get("params"))[:200]) for each in self.heard[-3:]]
                    raise AssertionError(f"{what} did not come; last heard: {heard}")
                self._condition.wait(min(left, 0.5))
        return found

    def said(self, method: str) -> list[dict[str, Any]]:
        """The parameters of all notifications of a kind."""
        return [message["params"] for message in list(self.heard) if message["method"] == method]

    def requested(self, method: str) -> list[dict[str, Any]]:
        """The parameters of all requests of the server of a kind."""
        return [message.get("params", {}) for message in list(self.asked) if message["method"] == method]

    # The session

    def initialize(self, *folders: Path, options: Any = None, **more: Any) -> dict[str, Any]:
        """Begin the session; the server's capabilities."""
        result = self.request(
            "initialize",
            {
                "processId": os.getpid(),
                "rootUri": folders[0].as_uri() if folders else None,
                "workspaceFolders": [{"uri": folder.as_uri(), "name": folder.name} for folder in folders] or None,
                "capabilities": self.capabilities,
                "initializationOptions": options,
                **more,
            },
        )
        self.encoding = result["capabilities"]["positionEncoding"]
        self.notify("initialized", {})
        capabilities: dict[str, Any] = result["capabilities"]
        return capabilities

    def shut_down(self) -> int:
        """End the session as an editor does; the exit code."""
        self.request("shutdown", None)
        self.notify("exit", None)
        return self.process.wait(SECONDS)

    def close(self) -> None:
        """End the process, whatever it is at."""
        self.process.kill()
        self.process.wait(SECONDS)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    # Texts

    def open(self, where: Path | str, text: str | None = None, *, language: str = "yaml", version: int = 1) -> str:
        """Open a file, or a text in its place; its URI."""
        uri = where if isinstance(where, str) else where.as_uri()
        if text is None:
            assert isinstance(where, Path)
            text = where.read_bytes().decode()
        self._mark = len(self.heard)
        self._versions[uri] = version
        item = {"uri": uri, "languageId": language, "version": version, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": item})
        return uri

    def change(self, uri: str, version: int, *changes: str | tuple[tuple[int, int], tuple[int, int], str]) -> None:
        """Change a text: a whole new one, or ((line, character), (line, character), text) for a part."""
        self._mark = len(self.heard)
        self._versions[uri] = version
        events = [
            {"text": change}
            if isinstance(change, str)
            else {
                "range": {
                    "start": {"line": change[0][0], "character": change[0][1]},
                    "end": {"line": change[1][0], "character": change[1][1]},
                },
                "text": change[2],
            }
            for change in changes
        ]
        self.notify(
            "textDocument/didChange", {"textDocument": {"uri": uri, "version": version}, "contentChanges": events}
        )

    def shut(self, uri: str) -> None:
        """Close a text."""
        self._mark = len(self.heard)
        self._versions.pop(uri, None)
        self.notify("textDocument/didClose", {"textDocument": {"uri": uri}})

    def mark(self) -> None:
        """From now on `pushed` looks at what comes next."""
        self._mark = len(self.heard)

    def pushed(self, uri: str, seconds: float = SECONDS) -> list[dict[str, Any]]:
        """The diagnostics pushed for a file since the last change that was sent; those of an older version do not count."""
        wanted = self._versions.get(uri)

        def found() -> list[dict[str, Any]]:
            return [
                message["params"]
                for message in self.heard[self._mark :]
                if message["method"] == "textDocument/publishDiagnostics"
                and message["params"]["uri"] == uri
                and (wanted is None or message["params"].get("version", wanted) == wanted)
            ]

        diagnostics: list[dict[str, Any]] = self.wait(found, f"diagnostics of {uri}", seconds)[-1]["diagnostics"]
        return diagnostics

    def until(self, uri: str, holds: Callable[[list[dict[str, Any]]], bool]) -> list[dict[str, Any]]:
        """The last diagnostics pushed for a file, once they are as they should be."""

        def found() -> list[list[dict[str, Any]]]:
            every = [each for each in self.said("textDocument/publishDiagnostics") if each["uri"] == uri]
            return [each["diagnostics"] for each in every[-1:] if holds(each["diagnostics"])]

        diagnostics: list[dict[str, Any]] = self.wait(found, f"the awaited diagnostics of {uri}")[-1]
        return diagnostics

    def diagnostics(self, uri: str) -> list[dict[str, Any]]:
        """The diagnostics of an open text, pushed or pulled as the client's record has it."""
        if self.capabilities.get("textDocument", {}).get("diagnostic") is None:
            return self.pushed(uri)
        answer = self.request("textDocument/diagnostic", {"textDocument": {"uri": uri}})
        items: list[dict[str, Any]] = answer["items"]
        return items

    def actions(
        self,
        uri: str,
        where: dict[str, Any],
        only: list[str] | None = None,
        diagnostics: list[dict[str, Any]] | None = None,
    ) -> list[dict[str, Any]]:
        """The code actions at a range."""
        context: dict[str, Any] = {"diagnostics": diagnostics or []}
        if only is not None:
            context["only"] = only
        params = {"textDocument": {"uri": uri}, "range": where, "context": context}
        found: list[dict[str, Any]] = self.request("textDocument/codeAction", params)
        return found

    def edit_of(self, action: dict[str, Any]) -> dict[str, Any]:
        """The edit of an action, asked for where it did not come along."""
        if "edit" not in action:
            action = self.request("codeAction/resolve", action)
        edit: dict[str, Any] = action["edit"]
        return edit

    # Positions, worked out once more and not by the code that is tested

    def place(self, text: str, offset: int) -> dict[str, int]:
        """The position of an offset in a text, in the units of the session."""
        starts = [0, *(match.end() for match in _NEWLINE.finditer(text))]
        line = max(index for index, start in enumerate(starts) if start <= offset)
        return {"line": line, "character": self._units(text[starts[line] : offset])}

    def span(self, text: str, part: str) -> dict[str, Any]:
        """The range of the first occurrence of a part of a text."""
        start = text.index(part)
        return {"start": self.place(text, start), "end": self.place(text, start + len(part))}

    def offset(self, text: str, position: dict[str, int]) -> int:
        """The offset of a position in a text."""
        starts = [0, *(match.end() for match in _NEWLINE.finditer(text))]
        start = starts[position["line"]]
        end = start
        while self._units(text[start:end]) < position["character"]:
            end += 1
        assert self._units(text[start:end]) == position["character"], "a position inside a character"
        return end

    def cut(self, text: str, where: dict[str, Any]) -> str:
        """The part of a text at a range."""
        return text[self.offset(text, where["start"]) : self.offset(text, where["end"])]

    def _units(self, text: str) -> int:
        if self.encoding == "utf-8":
            return len(text.encode())
        return len(text.encode("utf-16-le")) // 2 if self.encoding == "utf-16" else len(text)

    def applied(self, edit: dict[str, Any], texts: dict[str, str]) -> dict[str, str]:
        """The texts by URI after a workspace edit, applied as editors do: from the end to the beginning."""
        changes: dict[str, list[dict[str, Any]]] = dict(edit.get("changes") or {})
        for each in edit.get("documentChanges") or []:
            changes.setdefault(each["textDocument"]["uri"], []).extend(each["edits"])
        results = dict(texts)
        for uri, edits in changes.items():
            text = results[uri]
            spans = sorted(
                (self.offset(text, e["range"]["start"]), self.offset(text, e["range"]["end"]), e["newText"])
                for e in edits
            )
            assert all(one[1] <= other[0] for one, other in zip(spans, spans[1:])), "edits overlap"
            for start, end, new in reversed(spans):
                text = text[:start] + new + text[end:]
            results[uri] = text
        return results


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Client]]:
    """Starts servers; `serve(capabilities)` gives a client that has not said a word yet."""
    clients: list[Client] = []

    def start(capabilities: dict[str, Any] | None = None, *arguments: str, cwd: Path | None = None) -> Client:
        clients.append(Client(MODERN if capabilities is None else capabilities, cwd or tmp_path, *arguments))
        return clients[-1]

    yield start
    for client in clients:
        bugs = [each["message"] for each in client.said("window/logMessage") if "internal error" in each["message"]]
        client.close()
        assert not bugs, bugs[0]


@pytest.fixture
def client(serve: Callable[..., Client], project: Path) -> Client:
    """A client of today in a session over the project."""
    started = serve()
    started.initialize(project)
    return started


CONFIG = """\
# A small speech language model.
model:
  prompt_format: qwen
  audio_locator_tag: "<|audio|>"
trainer:
  devices: 2
  num_nodes: 1
  max_steps: 1000
  use_distributed_sampler: false
data:
  train_ds:
    sample_rate: 16000
    input_cfg: blend.yaml
    seed: 42
    shard_seed: "randomized"
    shuffle: true
    num_workers: 2
    batch_duration: 120
"""
BLEND = """\
- type: nemo_tarred
  manifest_filepath: /data/en/manifest__OP_0..15_CL_.json
  tarred_audio_filepaths: /data/en/audio__OP_0..15_CL_.tar
  weight: 2
- type: nemo_tarred
  manifest_filepath: /data/de/manifest__OP_0..15_CL_.json
  tarred_audio_filepaths: /data/de/audio__OP_0..15_CL_.tar
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with a config and the blend that it reads, neither of them migrated."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "conf.yaml").write_text(CONFIG, encoding="utf-8")
    (tmp_path / "blend.yaml").write_text(BLEND, encoding="utf-8")
    return tmp_path


def codes(diagnostics: list[dict[str, Any]]) -> list[str]:
    """The codes of diagnostics, each once, in order."""
    return sorted({diagnostic["code"] for diagnostic in diagnostics if "code" in diagnostic})
