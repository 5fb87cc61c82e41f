"""The readiness of what is open, as a status bar asks for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .conftest import CONFIG


def _status(client: Any, uri: str) -> list[dict[str, Any]]:
    answer = client.request("workspace/executeCommand", {"command": "nemo-resumable.status", "arguments": [uri]})
    configs: list[dict[str, Any]] = answer["configs"]
    return configs


def test_a_config_as_it_is_in_the_editor(client: Any, project: Path) -> None:
    uri = client.open(project / "conf.yaml", CONFIG)
    (before,) = _status(client, uri)
    assert (before["name"], before["uri"], before["readiness"]) == ("conf.yaml", uri, "not-launch-ready")
    shown = [d["severity"] for d in client.pushed(uri)]
    assert before["findings"]["fatal"] + before["findings"]["error"] >= shown.count(1) > 0  # its blend has some as well
    assert before["fixable"] > 0
    client.change(uri, 2, CONFIG.replace('shard_seed: "randomized"', "shard_seed: 42"))
    (after,) = _status(client, uri)
    assert after["findings"]["error"] < before["findings"]["error"]


def test_a_blend_has_the_status_of_the_config_that_reads_it(client: Any, project: Path) -> None:
    client.open(project / "conf.yaml")
    uri = client.open(project / "blend.yaml")
    assert [each["name"] for each in _status(client, uri)] == ["conf.yaml"]


def test_what_is_not_ours_has_none(client: Any, project: Path) -> None:
    (project / "notes.yaml").write_text("a: 1\n")
    assert _status(client, (project / "notes.yaml").as_uri()) == []
    assert _status(client, "untitled:Untitled-1") == []
