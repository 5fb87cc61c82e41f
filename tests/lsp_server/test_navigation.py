"""Where a user comes to: blend files, base configs, keys behind interpolations, anchors, and what a launcher starts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .conftest import BLEND, CONFIG
from .reading import ENCODINGS, WIDE, at, speaking

Serve = Callable[..., Any]


def _links(client: Any, uri: str, text: str) -> dict[str, str]:
    found = client.request("textDocument/documentLink", {"textDocument": {"uri": uri}})
    return {client.cut(text, each["range"]): each["target"] for each in found}


def _definition(client: Any, uri: str, text: str, part: str, shift: int = 1) -> tuple[str, dict[str, Any]] | None:
    found = client.request("textDocument/definition", at(client, uri, text, part, shift))
    return (found["uri"], found["range"]) if found is not None else None


def test_links_of_a_config(client: Any, project: Path) -> None:
    (project / "base.yaml").write_text("trainer:\n  devices: 8\n")
    (project / "more").mkdir()
    (project / "more" / "big.yaml").write_text("x: 1\n")
    config = "defaults:\n  - base\n  - more: big\n  - nowhere\n  - _self_\n" + CONFIG
    uri = client.open(project / "conf.yaml", config)
    assert _links(client, uri, config) == {
        "blend.yaml": (project / "blend.yaml").as_uri(),
        "base": (project / "base.yaml").as_uri(),
        "big": (project / "more" / "big.yaml").as_uri(),
    }


def test_a_link_says_what_it_leads_to(serve: Serve, project: Path) -> None:
    client = serve(speaking("utf-16", documentLink={"tooltipSupport": True}))
    client.initialize(project)
    uri = client.open(project / "conf.yaml")
    found = client.request("textDocument/documentLink", {"textDocument": {"uri": uri}})
    assert [each["tooltip"] for each in found] == ["The blend, found in the launch directory"]


def test_a_link_from_blend_to_blend(client: Any, project: Path) -> None:
    (project / "sub").mkdir()
    (project / "sub" / "outer.yaml").write_text("- type: group\n  input_cfg: inner.yaml\n")
    (project / "sub" / "inner.yaml").write_text(BLEND)
    client.open(project / "conf.yaml", CONFIG.replace("blend.yaml", "sub/outer.yaml"))
    text = (project / "sub" / "outer.yaml").read_text()
    uri = client.open(project / "sub" / "outer.yaml")
    assert _links(client, uri, text) == {"inner.yaml": (project / "sub" / "inner.yaml").as_uri()}


def test_the_definition_of_a_file(client: Any, project: Path) -> None:
    uri = client.open(project / "conf.yaml")
    found = _definition(client, uri, CONFIG, "blend.yaml")
    assert found is not None
    assert found[0] == (project / "blend.yaml").as_uri()
    assert found[1]["start"] == {"line": 0, "character": 0}


@pytest.mark.parametrize(
    ("written", "leads_to"),
    [
        ("${trainer.devices}", "devices"),
        ("${model}", "model"),
        ("${data.train_ds.shard_seed}", "shard_seed"),
        ("${.shard_seed}", "shard_seed"),
        ("${..train_ds.shuffle}", "shuffle"),
        ('"a ${oc.env:X,${trainer.max_steps}}"', "max_steps"),
    ],
)
def test_the_definition_of_an_interpolation(client: Any, project: Path, written: str, leads_to: str) -> None:
    config = CONFIG.replace("seed: 42", f"seed: {written}")
    uri = client.open(project / "conf.yaml", config)
    found = _definition(client, uri, config, written, written.rindex("${") + 3)
    assert found is not None
    assert found[0] == uri
    assert client.cut(config, found[1]) == leads_to
    assert found[1]["start"]["line"] == config[: config.index(f"{leads_to}:")].count("\n")


def test_into_a_list_and_into_another_file(client: Any, project: Path) -> None:
    base = "paths:\n  - /a\n  - /b\nroot: {here: /x}\n"
    (project / "base.yaml").write_text(base)
    config = f"defaults: [base]\nx: ${{paths.1}}\ny: ${{root.here}}\n{CONFIG}"
    uri = client.open(project / "conf.yaml", config)
    for part, word in (("${paths", "/b"), ("${root", "here")):
        found = _definition(client, uri, config, part, 3)
        assert found is not None
        assert found[0] == (project / "base.yaml").as_uri()
        assert client.cut(base, found[1]) == word


def test_an_alias(client: Any, project: Path) -> None:
    config = CONFIG.replace("audio_locator_tag: ", "audio_locator_tag: &tag ") + "    audio_locator_tag: *tag\n"
    uri = client.open(project / "conf.yaml", config)
    found = _definition(client, uri, config, "*tag")
    assert found is not None
    assert client.cut(config, found[1]) == "&tag"


@pytest.mark.parametrize("part", ["seed", "randomized", "# A small", "${nowhere}"])
def test_what_leads_nowhere(client: Any, project: Path, part: str) -> None:
    config = CONFIG.replace("shuffle: true", "shuffle: ${nowhere}")
    assert _definition(client, client.open(project / "conf.yaml", config), config, part) is None


def test_a_launcher(client: Any, project: Path) -> None:
    """Its command leads to the config, and its overrides to the keys that they set."""
    text = (
        "#!/bin/bash\nsrun python salm_train.py --config-path=. --config-name=conf \\\n"
        "    data.train_ds.shard_seed=7 trainer.devices=4\n"
    )
    (project / "launch.sh").write_text(text)
    config = client.open(project / "conf.yaml")
    client.diagnostics(config)
    uri = client.open(project / "launch.sh", language="shellscript")
    links = _links(client, uri, text)
    assert list(links.values()) == [config]
    assert "conf" in next(iter(links))
    found = _definition(client, uri, text, "train_ds.shard")
    assert found is not None
    assert (found[0], client.cut(CONFIG, found[1])) == (config, "shard_seed")


def test_a_client_that_takes_links_of_places(serve: Serve, project: Path) -> None:
    client = serve(speaking("utf-16", definition={"linkSupport": True}))
    client.initialize(project)
    config = CONFIG.replace("seed: 42", "seed: ${trainer.devices}")
    uri = client.open(project / "conf.yaml", config)
    [found] = client.request("textDocument/definition", at(client, uri, config, "${trainer"))
    assert client.cut(config, found["originSelectionRange"]) == "${trainer.devices}"
    assert client.cut(config, found["targetSelectionRange"]) == "devices"


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_wide_characters_before_the_place(serve: Serve, project: Path, encoding: str) -> None:
    client = serve(speaking(encoding))
    client.initialize(project)
    config = CONFIG.replace("seed: 42", f'seed: "{WIDE} ${{trainer.devices}}"')
    config = config.replace("  devices: 2", f'  "{WIDE}": 1\n  devices: 2')
    uri = client.open(project / "conf.yaml", config)
    found = _definition(client, uri, config, "${trainer")
    assert found is not None
    assert client.cut(config, found[1]) == "devices"
    flow = CONFIG.replace(
        "input_cfg: blend.yaml", f'input_cfg: [{{corpus: "{WIDE}", type: group, input_cfg: blend.yaml}}]'
    )
    client.change(uri, 2, flow)
    assert _links(client, uri, flow) == {"blend.yaml": (project / "blend.yaml").as_uri()}


def test_half_typed_text(client: Any, project: Path) -> None:
    config = CONFIG.replace("    shuffle: true\n", "    sha\n") + "x: ${trainer.devices}\n"
    uri = client.open(project / "conf.yaml", config)
    assert list(_links(client, uri, config)) == ["blend.yaml"]
    found = _definition(client, uri, config, "${trainer")
    assert found is not None
    assert client.cut(config, found[1]) == "devices"
