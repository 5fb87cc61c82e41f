"""Hints within the text: off unless wanted; shards, what interpolations give, and NeMo's defaults."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .conftest import BLEND, CONFIG, MODERN
from .reading import ENCODINGS, WIDE, speaking

Serve = Callable[..., Any]
WHOLE = {"start": {"line": 0, "character": 0}, "end": {"line": 1000, "character": 0}}


def _hints(client: Any, uri: str, text: str, where: dict[str, Any] = WHOLE) -> list[tuple[str, str]]:
    """The end of the text before each hint, and the hint."""
    found = client.request("textDocument/inlayHint", {"textDocument": {"uri": uri}, "range": where})
    return [(text[: client.offset(text, each["position"])][-12:], each["label"]) for each in found]


@pytest.fixture
def client(serve: Serve, project: Path) -> Any:
    started = serve()
    started.initialize(project, options={"inlay-hints": True})
    return started


def test_they_are_off_by_default(serve: Serve, project: Path) -> None:
    client = serve()
    client.initialize(project)
    assert _hints(client, client.open(project / "conf.yaml"), CONFIG) == []


def test_shards(client: Any, project: Path) -> None:
    uri = client.open(project / "blend.yaml")
    found = _hints(client, uri, BLEND)
    assert [label for _, label in found] == ["16 shards"] * 4
    ends = [before for before, _ in found]
    assert [end.rpartition("_")[2] for end in ends] == [".json", ".tar"] * 2


def test_interpolations_and_defaults(client: Any, project: Path) -> None:
    config = CONFIG.replace("seed: 42", "seed: ${trainer.devices}").replace("shuffle: true", "shuffle: ${nowhere}")
    found = _hints(client, client.open(project / "conf.yaml", config), config)
    assert ("er.devices}", "= 2") in [(before[-11:], label) for before, label in found]
    assert ("train_ds:", "by default indexed: null, use_stateful_dataloader: false, indexes_root: null") in [
        (before[-9:], label) for before, label in found
    ]
    assert len(found) == 2


def test_a_path_below_a_key_of_the_config(client: Any, project: Path) -> None:
    entry = "input_cfg: [{type: nemo, manifest_filepath: '${root}/m_OP_0..7_CL_.json'}]"
    config = "root: /data\n" + CONFIG.replace("input_cfg: blend.yaml", entry)
    found = _hints(client, client.open(project / "conf.yaml", config), config)
    assert [(before[-3:], label) for before, label in found][:2] == [("ot}", "= /data"), ("on'", "8 shards")]


def test_what_is_left_open_is_not_counted(client: Any, project: Path) -> None:
    """The comma of a default is no range."""
    (project / "blend.yaml").write_text("- type: nemo\n  manifest_filepath: ${oc.env:ROOT,/data}/m_{0..3}.json\n")
    text = (project / "blend.yaml").read_text()
    assert [label for _, label in _hints(client, client.open(project / "blend.yaml"), text)] == ["4 shards"]


def test_only_what_is_asked_for(client: Any, project: Path) -> None:
    uri = client.open(project / "blend.yaml")
    lines = {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 90}}
    assert [label for _, label in _hints(client, uri, BLEND, lines)] == ["16 shards"]


def test_other_files_have_none(client: Any, project: Path) -> None:
    text = "paths: /d/{0..3}\nx: ${y}\ny: 1\n"
    assert _hints(client, client.open(project / "other.yaml", text), text) == []


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_wide_characters_before_the_place(serve: Serve, project: Path, encoding: str) -> None:
    client = serve(speaking(encoding))
    client.initialize(project, options={"inlay-hints": True})
    text = f'- {{corpus: "{WIDE}", type: nemo, manifest_filepath: "{WIDE}_{{0..3}}"}}\n'
    [found] = _hints(client, client.open(project / "blend.yaml", text), text)
    assert (found[0][-2:], found[1]) == ('}"', "4 shards")


def test_switching_them_on_while_a_file_is_open(serve: Serve, project: Path) -> None:
    able = copy.deepcopy(MODERN)
    able["workspace"]["inlayHint"] = {"refreshSupport": True}
    client = serve(able)
    client.initialize(project)
    uri = client.open(project / "blend.yaml")
    client.diagnostics(uri)
    client.settings[None] = client.settings[project.as_uri()] = {"inlay-hints": True}
    client.notify("workspace/didChangeConfiguration", {"settings": None})
    client.wait(lambda: client.requested("workspace/inlayHint/refresh"), "the request to ask again")
    assert len(_hints(client, uri, BLEND)) == 4
