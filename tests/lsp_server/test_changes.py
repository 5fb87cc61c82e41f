"""A resumable config beside its last commit in the editor: the warning, the committed value, and the way back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from git_repositories import commit_all, git

from .conftest import MODERN, codes

CONFIG = """\
data:
  train_ds:
    indexed: true
    use_stateful_dataloader: true
    force_map_dataset: false
    seed: 42
    shard_seed: 42
    shuffle: true
    num_workers: 4
    batch_size: 16
    input_cfg: blend.yaml
"""
BLEND = """\
- type: nemo_tarred
  manifest_filepath: /data/en/manifest__OP_0..127_CL_.jsonl
  tarred_audio_filepaths: /data/en/audio__OP_0..127_CL_.tar
"""
EDITED = CONFIG.replace("num_workers: 4", "num_workers: 8")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / "conf.yaml").write_text(CONFIG, encoding="utf-8")
    (tmp_path / "blend.yaml").write_text(BLEND, encoding="utf-8")
    commit_all(tmp_path)
    return tmp_path


@pytest.fixture
def client(serve: Callable[..., Any], repository: Path) -> Any:
    started = serve(MODERN)
    started.initialize(repository)
    return started


def _changes(diagnostics: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [each for each in diagnostics if str(each.get("code")).startswith("NR9")]


def test_restoring_the_committed_value(client: Any, repository: Path) -> None:
    uri = client.open(repository / "conf.yaml", EDITED)
    [shown] = _changes(client.diagnostics(uri))
    assert shown["code"] == "NR901"
    assert client.cut(EDITED, shown["range"]) == "8"
    [related] = shown["relatedInformation"]
    assert related["message"] == "`4` in the last commit"
    params = {"textDocument": {"uri": uri}, "range": shown["range"], "context": {"diagnostics": [shown]}}
    actions = client.request("textDocument/codeAction", params)
    [action] = [each for each in actions if each["title"] == "Restore the committed value"]
    assert not action.get("isPreferred")
    resolved = client.request("codeAction/resolve", action)
    assert client.applied(resolved["edit"], {uri: EDITED}) == {uri: CONFIG}


def test_a_changed_blend_is_shown_in_the_blend(client: Any, repository: Path) -> None:
    client.open(repository / "conf.yaml")
    text = BLEND.replace("/data/en/audio", "/data/english/audio")
    uri = client.open(repository / "blend.yaml", text)
    client.wait(lambda: "NR905" in codes(client.pushed(uri)), "the finding in the blend")


def test_a_commit_under_the_server_s_feet(client: Any, repository: Path) -> None:
    """No file changes in the work tree, and no client tells of it."""
    uri = client.open(repository / "conf.yaml", EDITED)
    assert _changes(client.diagnostics(uri))
    (repository / "conf.yaml").write_text(EDITED, encoding="utf-8")
    commit_all(repository)
    client.wait(lambda: not _changes(client.pushed(uri)), "that the change is committed")
    git(repository, "checkout", "-q", "HEAD~1")
    client.wait(lambda: _changes(client.pushed(uri)), "that another commit is checked out")
