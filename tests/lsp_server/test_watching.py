"""Changes on disk: files, settings, index packs, a checkout under the server's feet."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .conftest import BLEND, CONFIG, MODERN, SECONDS, codes

Serve = Callable[..., Any]
CREATED, CHANGED, DELETED = 1, 2, 3


def _tell(client: Any, *changes: tuple[Path, int]) -> None:
    client.notify(
        "workspace/didChangeWatchedFiles", {"changes": [{"uri": path.as_uri(), "type": kind} for path, kind in changes]}
    )


def test_the_client_is_asked_to_watch(client: Any) -> None:
    asked = client.wait(lambda: client.requested("client/registerCapability"), "a registration")
    registered = {each["method"]: each["registerOptions"] for request in asked for each in request["registrations"]}
    patterns = [each["globPattern"] for each in registered["workspace/didChangeWatchedFiles"]["watchers"]]
    assert "**/.nemo-resumable.toml" in patterns
    assert registered["workspace/didChangeConfiguration"] == {"section": "nemo-resumable"}


def test_a_blend_that_changes_on_disk(client: Any, project: Path) -> None:
    blend = project / "blend.yaml"
    client.open(project / "conf.yaml")
    assert "NR313" in codes(client.pushed(blend.as_uri()))
    blend.write_text(BLEND.replace("  weight: 2\n", ""))
    _tell(client, (blend, CHANGED))
    client.until(blend.as_uri(), lambda shown: "NR313" not in codes(shown))


def test_a_blend_that_comes_into_being(client: Any, project: Path) -> None:
    (project / "blend.yaml").unlink()
    uri = client.open(project / "conf.yaml")
    assert "NR007" in codes(client.pushed(uri))
    (project / "blend.yaml").write_text(BLEND)
    _tell(client, (project / "blend.yaml", CREATED))
    assert "NR007" not in codes(client.until(uri, lambda shown: "NR007" not in codes(shown)))
    (project / "blend.yaml").unlink()
    _tell(client, (project / "blend.yaml", DELETED))
    client.until(uri, lambda shown: "NR007" in codes(shown))


def test_artifacts_that_were_written_are_no_configs_of_the_project(client: Any, project: Path) -> None:
    """Else every finding in a blend would be told twice, and twice more with each migration."""
    blend = client.open(project / "blend.yaml")
    client.until(blend, lambda shown: "NR313" in codes(shown))
    command = {"command": "nemo-resumable.writeArtifacts", "arguments": [(project / "conf.yaml").as_uri()]}
    client.request("workspace/executeCommand", command)
    written = sorted((project / "migrate-resumable/conf").iterdir())
    _tell(client, *((path, CREATED) for path in written))
    other = project / "other.yaml"
    other.write_text(CONFIG)  # what comes into being after it is seen, so the ones before would have been
    _tell(client, (other, CREATED))
    status = {"command": "nemo-resumable.status", "arguments": [blend]}

    def names() -> set[str]:
        return {each["name"] for each in client.request("workspace/executeCommand", status)["configs"]}

    deadline = time.monotonic() + SECONDS
    while "other.yaml" not in names() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert names() == {"conf.yaml", "other.yaml"}


def test_settings_that_change(client: Any, project: Path) -> None:
    uri = client.open(project / "conf.yaml")
    assert "NR110" in codes(client.pushed(uri))
    settings = project / ".nemo-resumable.toml"
    settings.write_text('ignore = ["NR110"]\n')
    _tell(client, (settings, CREATED))
    client.until(uri, lambda shown: "NR110" not in codes(shown))
    settings.unlink()
    _tell(client, (settings, DELETED))
    client.until(uri, lambda shown: "NR110" in codes(shown))


def test_settings_that_are_wrong_are_told_once(client: Any, project: Path) -> None:
    settings = project / ".nemo-resumable.toml"
    settings.write_text("sed = 3\n")
    uri = client.open(project / "conf.yaml")
    assert "NR110" in codes(client.pushed(uri))
    client.change(uri, 2, CONFIG + "\n")
    client.pushed(uri)
    told = client.said("window/showMessage")
    assert [each["type"] for each in told] == [2]
    assert "`sed` is no setting" in told[0]["message"]
    assert ".nemo-resumable.toml:1" in told[0]["message"]


def test_a_client_that_does_not_watch(serve: Serve, project: Path) -> None:
    """The server looks itself, at what the open files depend on."""
    workspace = {key: value for key, value in MODERN["workspace"].items() if key != "didChangeWatchedFiles"}
    client = serve({**MODERN, "workspace": workspace})
    client.initialize(project)
    blend = project / "blend.yaml"
    client.open(project / "conf.yaml")
    assert "NR313" in codes(client.pushed(blend.as_uri()))
    import time

    time.sleep(2.5)  # it has had a first look
    blend.write_text(BLEND.replace("  weight: 2\n", ""))
    client.until(blend.as_uri(), lambda shown: "NR313" not in codes(shown))


def test_a_checkout_under_the_servers_feet(client: Any, project: Path) -> None:
    """Hundreds of files change at once, among them what is open; the open text stays what the editor says."""
    uri = client.open(project / "conf.yaml")
    client.pushed(uri)
    paths = [project / f"conf_{number}.yaml" for number in range(300)]
    for path in paths:
        path.write_text(CONFIG)
    (project / "conf.yaml").write_text("data: {}\n")
    (project / "blend.yaml").write_text(BLEND.replace("  weight: 2\n", ""))
    changed = [(project / name, CHANGED) for name in ("conf.yaml", "blend.yaml")]
    _tell(client, *changed, *((path, CREATED) for path in paths))
    client.until((project / "blend.yaml").as_uri(), lambda shown: "NR313" not in codes(shown))
    client.change(uri, 2, CONFIG + "\n")
    assert "NR110" in codes(client.pushed(uri))


def test_index_files_where_the_user_wants_them_looked_at(serve: Serve, project: Path) -> None:
    """A sidecar that is built meanwhile mends the finding."""
    (project / "data").mkdir()
    (project / "data" / "en.jsonl").write_text('{"audio_filepath": "0.wav", "duration": 1}\n' * 3)
    head, _, _ = CONFIG.partition("    input_cfg:")
    text = head + (
        "    indexed: true\n    use_stateful_dataloader: true\n    force_map_dataset: false\n    shard_seed: 42\n"
        "    input_cfg:\n      - type: nemo\n        manifest_filepath: data/en.jsonl\n"
    )
    quiet = serve()
    quiet.initialize(project)
    assert "NR801" not in codes(quiet.pushed(quiet.open(project / "conf.yaml", text)))
    client = serve()
    client.initialize(project, options={"indexes": True})
    uri = client.open(project / "conf.yaml", text)
    assert "NR801" in codes(client.pushed(uri))
    offsets = [0, 43, 86, 129]
    (project / "data" / "en.jsonl.idx").write_bytes(b"".join(offset.to_bytes(8, "little") for offset in offsets))
    _tell(client, (project / "data" / "en.jsonl.idx", CREATED))
    client.until(uri, lambda shown: "NR801" not in codes(shown))
