"""Commands, their progress and what stops them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from nemo_resumable.core.rules.page import page_text

from .conftest import CONFIG, codes


def _run(client: Any, command: str, *arguments: Any, **more: Any) -> Any:
    return client.request("workspace/executeCommand", {"command": command, "arguments": list(arguments), **more})


def test_write_artifacts(client: Any, project: Path) -> None:
    """Of the text in the editor, though it was never saved; the report is opened."""
    uri = client.open(project / "conf.yaml", CONFIG.replace("max_steps: 1000", "max_steps: 2000"))
    action = next(
        a
        for a in client.actions(uri, client.span(CONFIG, "train_ds"), only=["source"])
        if a["title"].startswith("Write the migration artifacts")
    )
    done = _run(client, action["command"]["command"], *action["command"]["arguments"])
    folder = project / "migrate-resumable" / "conf"
    assert done["folder"] == folder.as_uri()
    assert {Path(each).name for each in done["files"]} == {path.name for path in folder.iterdir()}
    assert "max_steps: 2000" in (folder / "conf-resumable.yaml").read_text(encoding="utf-8")
    shown = client.wait(lambda: client.requested("window/showDocument"), "the report")
    assert shown[0]["uri"] == done["report"] == (folder / "migration-report.md").as_uri()
    kinds = [each["value"]["kind"] for each in client.said("$/progress")]
    assert kinds[0] == "begin"
    assert kinds[-1] == "end"


def test_progress_under_the_clients_own_token(client: Any, project: Path) -> None:
    client.open(project / "conf.yaml")
    _run(client, "nemo-resumable.writeArtifacts", (project / "conf.yaml").as_uri(), workDoneToken="mine")
    assert {each["token"] for each in client.said("$/progress")} == {"mine"}
    assert client.requested("window/workDoneProgress/create") == []


def test_what_is_no_config_cannot_be_migrated(client: Any, project: Path) -> None:
    (project / "notes.yaml").write_text("a: 1\n")
    with pytest.raises(Exception, match=r"-32803: `notes.yaml` has no training dataset"):
        _run(client, "nemo-resumable.writeArtifacts", (project / "notes.yaml").as_uri())
    with pytest.raises(Exception, match="-32602"):
        _run(client, "nemo-resumable.writeArtifacts")
    assert not (project / "migrate-resumable").exists()


def test_stopped_before_anything_is_written(client: Any, project: Path) -> None:
    uri = (project / "conf.yaml").as_uri()
    client.open(project / "conf.yaml")
    client.pushed(uri)
    request = client.start("workspace/executeCommand", {"command": "nemo-resumable.writeArtifacts", "arguments": [uri]})
    client.notify("$/cancelRequest", {"id": request})
    with pytest.raises(Exception, match="-32800"):
        client.finish(request)
    assert not (project / "migrate-resumable").exists()
    assert client.shut_down() == 0


def test_effective_config(client: Any, project: Path) -> None:
    uri = client.open(project / "conf.yaml")
    shown = _run(client, "nemo-resumable.showEffectiveConfig", uri)
    lines = shown["text"].splitlines()
    assert shown["language"] == "yaml"
    assert "shard_seed: randomized  # file, conf.yaml:15" in lines
    assert any(line.startswith("indexed: ") and line.endswith("# default") for line in lines)
    assert any(line.startswith("input_cfg: ") for line in lines)
    with pytest.raises(Exception, match=r"there are `data.train_ds`"):
        _run(client, "nemo-resumable.showEffectiveConfig", uri, {"dataset": "data.other"})


def test_what_was_inspected(client: Any, project: Path) -> None:
    (project / ".nemo-resumable.toml").write_text("seed = 7\n")
    uri = client.open(project / "conf.yaml")
    text = _run(client, "nemo-resumable.showInspected", uri)["text"]
    assert "Readiness: **not-launch-ready**" in text
    assert "- `blend.yaml`: blend" in text
    assert "from `.nemo-resumable.toml`" in text
    assert "- `seed` = `7`" in text


def test_a_command_on_a_blend_means_the_config_that_reads_it(client: Any, project: Path) -> None:
    client.open(project / "conf.yaml")
    uri = client.open(project / "blend.yaml")
    assert "conf.yaml" in _run(client, "nemo-resumable.showInspected", uri)["title"]
    (project / "second.yaml").write_text(CONFIG)
    client.open(project / "second.yaml")
    with pytest.raises(Exception, match=r"`conf.yaml`, `second.yaml`; name one of them"):
        _run(client, "nemo-resumable.showInspected", uri)


def test_explain(client: Any) -> None:
    for word in ("NR110", "nr110", "unfixed-shard-seed"):
        shown = _run(client, "nemo-resumable.explainRule", word)
        assert shown["text"].startswith(page_text("NR110"))
        assert "\n- shard-seed-changed: " in shown["text"]
    mode = _run(client, "nemo-resumable.explainRule", "shard-seed-changed")
    assert mode["text"].startswith("# shard-seed-changed\n")
    assert mode["uri"].endswith("/failures/pages/shard-seed-changed.md")
    with pytest.raises(Exception, match="`NR999` is no rule and no failure mode"):
        _run(client, "nemo-resumable.explainRule", "NR999")


def test_restart(client: Any, project: Path) -> None:
    """What nobody told the server of is seen: here a settings file."""
    uri = client.open(project / "conf.yaml")
    assert "NR110" in codes(client.pushed(uri))
    (project / ".nemo-resumable.toml").write_text('ignore = ["NR110"]\n')
    _run(client, "nemo-resumable.restart")
    client.until(uri, lambda shown: "NR110" not in codes(shown) and "NR101" in codes(shown))


def test_a_command_that_is_none(client: Any) -> None:
    with pytest.raises(Exception, match=r"-32602: there is no command `nemo-resumable\.dance`"):
        _run(client, "nemo-resumable.dance")
