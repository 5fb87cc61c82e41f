"""The whole of a working day, with what real editors say they can do."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pygls.protocol import default_converter
from pytest_lsp import client_capabilities

from .conftest import BLEND, CONFIG, codes

Serve = Callable[..., Any]


def _record(name: str) -> dict[str, Any]:
    capabilities: types.ClientCapabilities = client_capabilities(name)
    record: dict[str, Any] = default_converter().unstructure(capabilities)
    return record


@pytest.fixture(params=["visual_studio_code", "neovim@0.6.1", "neovim@0.9.1", "neovim@0.11.0", "emacs"])
def editor(request: pytest.FixtureRequest, serve: Serve) -> Any:
    """A client with the record of an editor."""
    return serve(_record(request.param), "--stdio")


def test_a_working_day(editor: Any, project: Path) -> None:
    editor.initialize(project)
    uri = editor.open(project / "conf.yaml")
    shown = editor.diagnostics(uri)
    assert {"NR101", "NR102", "NR110"} <= set(codes(shown))
    found = next(each for each in shown if each["code"] == "NR110")
    assert editor.cut(CONFIG, found["range"]) == '"randomized"'

    # A key is typed in, half of it at first.
    line = CONFIG.split("\n").index("    seed: 42")
    editor.change(uri, 2, ((line, 0), (line, 0), "    inde\n"))
    half = editor.diagnostics(uri)
    assert "NR001" in codes(half) or "NR110" in codes(half)
    editor.change(uri, 3, ((line, 0), (line + 1, 0), "    max_open_streams: 3\n"))
    text = CONFIG.replace("    seed: 42\n", "    max_open_streams: 3\n    seed: 42\n")
    shown = editor.diagnostics(uri)
    assert "NR001" not in codes(shown)

    # Everything that is safe is mended, as the command line would.
    (project / "copy.yaml").write_text(text)
    subprocess.run(
        [sys.executable, "-m", "nemo_resumable.hooks.cli", "check", "--fix", "copy.yaml"],
        cwd=project,
        capture_output=True,
        timeout=60,
    )
    whole = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}
    actions = editor.actions(uri, whole, only=["source.fixAll"], diagnostics=shown)
    assert len(actions) == 1
    fixed = editor.applied(editor.edit_of(actions[0]), {uri: text})[uri]
    assert fixed == (project / "copy.yaml").read_text()
    editor.change(uri, 4, fixed)
    assert not {"NR101", "NR102", "NR110"} & set(codes(editor.diagnostics(uri)))

    # The blend, too, and away.
    blend = editor.open(project / "blend.yaml", BLEND)
    assert "NR313" in codes(editor.diagnostics(blend))
    editor.shut(blend)
    editor.shut(uri)
    assert editor.shut_down() == 0


def test_nothing_is_sent_that_the_editor_does_not_know(editor: Any, project: Path) -> None:
    editor.initialize(project)
    uri = editor.open(project / "conf.yaml")
    shown = editor.diagnostics(uri)
    can = editor.capabilities["textDocument"]
    publishing = can["publishDiagnostics"]
    pulling = can.get("diagnostic") or {}
    for name, field in (
        ("relatedInformation", "relatedInformation"),
        ("codeDescriptionSupport", "codeDescription"),
        ("dataSupport", "data"),
    ):
        if not publishing.get(name) and not pulling.get(name):
            assert all(field not in each for each in shown), field
    if not publishing.get("versionSupport"):
        assert all("version" not in each for each in editor.said("textDocument/publishDiagnostics"))
    window = editor.capabilities.get("window") or {}
    workspace = editor.capabilities.get("workspace") or {}
    asked = {message["method"] for message in editor.asked}
    if not window.get("workDoneProgress"):
        assert "window/workDoneProgress/create" not in asked
    if not workspace.get("configuration"):
        assert "workspace/configuration" not in asked
    if not (workspace.get("didChangeWatchedFiles") or {}).get("dynamicRegistration"):
        registered = [
            each["method"]
            for request in editor.requested("client/registerCapability")
            for each in request["registrations"]
        ]
        assert "workspace/didChangeWatchedFiles" not in registered
