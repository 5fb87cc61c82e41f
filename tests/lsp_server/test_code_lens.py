"""The verdict above a config and its training datasets, and that what is offered there does what it says."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .conftest import BLEND, CONFIG, MODERN, Refused

Serve = Callable[..., Any]


@pytest.fixture
def client(serve: Serve, project: Path) -> Any:
    able = copy.deepcopy(MODERN)
    able["workspace"].update(applyEdit=True, codeLens={"refreshSupport": True})
    started = serve(able)
    started.initialize(project)
    return started


def _lenses(client: Any, uri: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.request("textDocument/codeLens", {"textDocument": {"uri": uri}})
    return found


def _titles(lenses: list[dict[str, Any]]) -> list[tuple[int, str]]:
    return [(lens["range"]["start"]["line"], lens["command"]["title"]) for lens in lenses]


def _counts(diagnostics: list[dict[str, Any]]) -> dict[int, int]:
    return {level: sum(each["severity"] == level for each in diagnostics) for level in (1, 2, 3)}


def test_the_verdict_on_a_config(client: Any, project: Path) -> None:
    """Its counts are those of the findings, in its blends too."""
    uri = client.open(project / "conf.yaml")
    shown = client.diagnostics(uri)
    blend = client.pushed((project / "blend.yaml").as_uri())
    errors, warnings, notes = _counts([*shown, *blend]).values()
    lenses = _lenses(client, uri)
    assert [line for line, _ in _titles(lenses)] == [1, 1, 1, 10]
    verdict, migrate, report, dataset = (title for _, title in _titles(lenses))
    words = [
        f"{errors} errors",
        f"{warnings} warning{'s' if warnings > 1 else ''}" if warnings else "",
        f"{notes} notes",
    ]
    assert verdict == f"not-launch-ready · {', '.join(filter(None, words))}"
    assert migrate.startswith("Migrate (")
    assert report == "Write artifacts and open the report"
    assert dataset.startswith("2 sources, 32 shards · ")
    assert client.cut(CONFIG, lenses[3]["range"]) == "train_ds"


def test_its_commands_exist(client: Any, project: Path) -> None:
    uri = client.open(project / "conf.yaml")
    for lens in _lenses(client, uri):
        command = lens["command"]
        if command["command"] in ("nemo-resumable.showInspected", "nemo-resumable.showEffectiveConfig"):
            params = {"command": command["command"], "arguments": command["arguments"]}
            answer = client.request("workspace/executeCommand", params)
            assert answer["text"]


def test_migrate(client: Any, project: Path) -> None:
    """One edit over config and blends, after which nothing is left that could be mended safely."""
    uri = client.open(project / "conf.yaml")
    lens = next(each for each in _lenses(client, uri) if each["command"]["title"].startswith("Migrate"))
    client._answer = lambda message: {"applied": True} if message["method"] == "workspace/applyEdit" else None
    command = lens["command"]
    answer = client.request(
        "workspace/executeCommand", {"command": command["command"], "arguments": command["arguments"]}
    )
    [asked] = client.requested("workspace/applyEdit")
    texts = {uri: CONFIG, (project / "blend.yaml").as_uri(): BLEND}
    after = client.applied(asked["edit"], texts)
    assert lens["command"]["title"] == f"Migrate ({answer['mended']} safe fixes)"
    assert "indexed: true" in after[uri]
    client.change(uri, 2, after[uri])
    (project / "blend.yaml").write_text(after[(project / "blend.yaml").as_uri()])
    client.notify(
        "workspace/didChangeWatchedFiles", {"changes": [{"uri": (project / "blend.yaml").as_uri(), "type": 2}]}
    )
    client.diagnostics(uri)
    assert not any("Migrate" in title for _, title in _titles(_lenses(client, uri)))


def test_what_the_editor_refuses_is_told(client: Any, project: Path) -> None:
    uri = client.open(project / "conf.yaml")
    client.diagnostics(uri)
    client._answer = lambda message: {"applied": False, "failureReason": "the file is locked"}
    with pytest.raises(Refused, match="the file is locked"):
        client.request("workspace/executeCommand", {"command": "nemo-resumable.applyMigration", "arguments": [uri]})
    with pytest.raises(Refused):
        client.request("workspace/executeCommand", {"command": "nemo-resumable.applyMigration", "arguments": []})
    other = [(project / "other.yaml").as_uri()]
    with pytest.raises(Refused):
        client.request("workspace/executeCommand", {"command": "nemo-resumable.applyMigration", "arguments": other})


def test_a_client_that_applies_no_edits(serve: Serve, project: Path) -> None:
    client = serve()
    client.initialize(project)
    titles = _titles(_lenses(client, client.open(project / "conf.yaml")))
    assert not any("Migrate" in title for _, title in titles)
    assert len(titles) == 3


def test_a_blend(client: Any, project: Path) -> None:
    client.open(project / "conf.yaml")
    lenses = _lenses(client, client.open(project / "blend.yaml"))
    assert _titles(lenses) == [(0, "Read by conf.yaml: not-launch-ready")]
    assert lenses[0]["command"]["arguments"] == [(project / "conf.yaml").as_uri()]


def test_other_files_have_none(client: Any, project: Path) -> None:
    assert _lenses(client, client.open(project / "compose.yaml", "services: {}\n")) == []


def test_half_typed_text_is_not_migrated(client: Any, project: Path) -> None:
    uri = client.open(project / "conf.yaml", CONFIG.replace("    shuffle: true\n", "    sha\n"))
    titles = [title for _, title in _titles(_lenses(client, uri))]
    assert titles[0].startswith("not-launch-ready · ")
    assert not any("Migrate" in title for title in titles)


def test_the_client_asks_again_when_another_file_changes_the_verdict(client: Any, project: Path) -> None:
    config = client.open(project / "conf.yaml")
    before = _lenses(client, config)
    blend = client.open(project / "blend.yaml")
    client.change(blend, 2, BLEND.replace("type: nemo_tarred", "type: nemo_tared", 1))
    client.wait(lambda: client.requested("workspace/codeLens/refresh"), "the request to ask again")
    assert _titles(_lenses(client, config)) != _titles(before)
