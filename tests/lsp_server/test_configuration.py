"""The editor's settings: the same names as in the settings file, from wherever they come; wrong ones are told and ignored."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from .conftest import CONFIG, MODERN, codes

Serve = Callable[..., Any]


def test_with_initialize(serve: Serve, project: Path) -> None:
    client = serve()
    client.initialize(project, options={"ignore": ["NR110"], "seed": 7})
    uri = client.open(project / "conf.yaml")
    assert "NR110" not in codes(client.pushed(uri))


def test_on_request_for_each_folder(serve: Serve, tmp_path: Path) -> None:
    client = serve()
    folders = []
    for name in ("one", "two"):
        folders.append(tmp_path / name)
        (folders[-1] / ".git").mkdir(parents=True)
        (folders[-1] / "conf.yaml").write_text(CONFIG)
    client.settings = {
        folders[0].as_uri(): {"ignore": ["NR110"]},
        folders[1].as_uri(): {"ignore": ["NR101"]},
        None: None,
    }
    client.initialize(*folders)
    client.wait(lambda: client.requested("client/registerCapability"), "the settings to be read")
    one, two = (client.open(folder / "conf.yaml") for folder in folders)
    client.until(one, lambda shown: "NR110" not in codes(shown) and "NR101" in codes(shown))
    client.until(two, lambda shown: "NR101" not in codes(shown) and "NR110" in codes(shown))


def test_when_they_change(client: Any, project: Path) -> None:
    uri = client.open(project / "conf.yaml")
    assert "NR110" in codes(client.pushed(uri))
    # A client that is asked sends nothing along, one that is not sends everything.
    client.settings = {None: {"ignore": ["NR110"]}}
    client.notify("workspace/didChangeConfiguration", {"settings": None})
    client.until(uri, lambda shown: "NR110" not in codes(shown))
    client.notify("workspace/didChangeConfiguration", {"settings": {"nemo-resumable": {"severity": {"NR101": "note"}}}})
    shown = client.until(uri, lambda shown: "NR110" in codes(shown))
    assert next(found["severity"] for found in shown if found["code"] == "NR101") == 3


def test_a_client_that_cannot_be_asked(serve: Serve, project: Path) -> None:
    client = serve({**MODERN, "workspace": {}})
    client.initialize(project, options={"nemo-resumable": {"seed": 7}})
    uri = client.open(project / "conf.yaml")
    client.pushed(uri)
    client.notify("workspace/didChangeConfiguration", {"settings": {"nemo-resumable": {"ignore": ["NR110"]}}})
    client.until(uri, lambda shown: "NR110" not in codes(shown))
    assert client.requested("workspace/configuration") == []
    assert client.requested("client/registerCapability") == []


def test_they_lie_on_top_of_the_settings_file(serve: Serve, project: Path) -> None:
    (project / ".nemo-resumable.toml").write_text('seed = 5\nignore = ["NR101"]\n')
    client = serve()
    client.initialize(project, options={"ignore": []})
    uri = client.open(project / "conf.yaml")
    assert "NR101" in codes(client.pushed(uri))
    text = client.request("workspace/executeCommand", {"command": "nemo-resumable.showInspected", "arguments": [uri]})[
        "text"
    ]
    assert "- `seed` = `5`" in text


def test_wrong_ones_are_told_and_ignored(serve: Serve, project: Path) -> None:
    client = serve()
    wrong = {"sed": 3, "ignore": ["NR110"], "scope": "all", "select": ["NR9999"], "inlay-hints": "yes", "exclude": None}
    client.initialize(project, options=wrong)
    uri = client.open(project / "conf.yaml")
    assert "NR110" not in codes(client.pushed(uri))  # the right one holds
    told = sorted(each["message"] for each in client.said("window/showMessage"))
    assert len(told) == 4
    assert "`nemo-resumable.inlay-hints` has to be true or false; it is ignored" in told[0]
    assert '`nemo-resumable.scope`: `scope` has to be "lhotse" or "opted-in"; it is ignored' in told[1]
    assert "`nemo-resumable.sed`: `sed` is no setting; did you mean `seed`?; it is ignored" in told[2]
    assert "`nemo-resumable.select`: `NR9999` is no rule" in told[3]


def test_launch_dir_of_the_editor_begins_at_its_folder(serve: Serve, project: Path) -> None:
    (project / "elsewhere").mkdir()
    (project / "blend.yaml").rename(project / "elsewhere" / "blend.yaml")
    client = serve()
    client.initialize(project, options={"launch-dir": "elsewhere"})
    uri = client.open(project / "conf.yaml")
    assert "NR007" not in codes(client.pushed(uri))


def test_tracing(client: Any, project: Path) -> None:
    uri = client.open(project / "conf.yaml")
    client.pushed(uri)
    assert client.said("$/logTrace") == []
    client.notify("$/setTrace", {"value": "verbose"})
    client.change(uri, 2, CONFIG + "\n")
    client.pushed(uri)
    traced = client.wait(lambda: client.said("$/logTrace"), "a trace")
    assert "judged" in traced[0]["message"]
