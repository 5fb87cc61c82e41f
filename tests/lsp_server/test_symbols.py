"""The outline of a config and of a blend."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .conftest import BLEND, CONFIG
from .reading import ENCODINGS, WIDE, speaking

Serve = Callable[..., Any]
TREE = {"hierarchicalDocumentSymbolSupport": True}

INLINE = CONFIG.replace(
    "    input_cfg: blend.yaml\n",
    """\
    input_cfg:
      - type: group
        name: all of it
        input_cfg:
          - type: nemo
            manifest_filepath: /data/de/m__OP_0..3_CL_.json
      - {type: lhotse_shar, shar_path: [s3://b/x/, y]}
""",
)
INLINE += "  validation_ds:\n    datasets:\n      dev:\n        input_cfg: blend.yaml\n"


def _symbols(client: Any, uri: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.request("textDocument/documentSymbol", {"textDocument": {"uri": uri}})
    return found


def _tree(symbols: list[dict[str, Any]]) -> list[Any]:
    return [(each["name"], each.get("detail"), _tree(each.get("children") or [])) for each in symbols]


def _checked(client: Any, text: str, symbols: list[dict[str, Any]], outer: tuple[int, int]) -> None:
    """Ranges lie within one another, as the protocol wants it."""
    for each in symbols:
        start, end = (client.offset(text, each["range"][side]) for side in ("start", "end"))
        chosen = [client.offset(text, each["selectionRange"][side]) for side in ("start", "end")]
        assert outer[0] <= start <= chosen[0] <= chosen[1] <= end <= outer[1]
        _checked(client, text, each.get("children") or [], (start, end))


@pytest.fixture
def client(serve: Serve, project: Path) -> Any:
    started = serve(speaking("utf-16", documentSymbol=TREE))
    started.initialize(project)
    return started


def test_a_config(client: Any, project: Path) -> None:
    uri = client.open(project / "conf.yaml", INLINE)
    found = _symbols(client, uri)
    assert _tree(found) == [
        (
            "data.train_ds",
            "training, 2 sources",
            [
                ("all of it", "group", [("m__OP_0..3_CL_.json", "nemo", [])]),
                ("x", "lhotse_shar", []),
            ],
        ),
        ("data.validation_ds.datasets.dev", "validation, 2 sources", []),
        ("trainer", None, []),
    ]
    _checked(client, INLINE, found, (0, len(INLINE)))
    assert client.cut(INLINE, found[0]["selectionRange"]) == "train_ds"
    assert client.cut(INLINE, found[0]["range"]).startswith("train_ds:\n    sample_rate")
    assert client.cut(INLINE, found[0]["range"]).endswith("batch_duration: 120")
    entry = found[0]["children"][1]
    assert client.cut(INLINE, entry["range"]) == "{type: lhotse_shar, shar_path: [s3://b/x/, y]}"
    assert client.cut(INLINE, entry["selectionRange"]) == "lhotse_shar"


def test_a_blend_with_and_without_a_config(client: Any, project: Path) -> None:
    expected = [("manifest__OP_0..15_CL_.json", "nemo_tarred", [])] * 2
    uri = client.open(project / "blend.yaml")
    assert _tree(_symbols(client, uri)) == expected
    client.open(project / "conf.yaml")
    assert _tree(_symbols(client, uri)) == expected
    _checked(client, BLEND, _symbols(client, uri), (0, len(BLEND)))


def test_other_files_have_none_of_ours(client: Any, project: Path) -> None:
    assert _symbols(client, client.open(project / "compose.yaml", "trainer:\n  image: x\nservices: {}\n")) == []


def test_half_typed_text(client: Any, project: Path) -> None:
    text = INLINE.replace("        name: all of it\n", "        nam\n")
    found = _symbols(client, client.open(project / "conf.yaml", text))
    assert found[0]["name"] == "data.train_ds"
    _checked(client, text, found, (0, len(text)))


def test_a_client_that_knows_no_tree(serve: Serve, project: Path) -> None:
    flat = serve()
    flat.initialize(project)
    found = _symbols(flat, flat.open(project / "conf.yaml", INLINE))
    assert [(each["name"], each.get("containerName")) for each in found][:3] == [
        ("data.train_ds", None),
        ("all of it", "data.train_ds"),
        ("m__OP_0..3_CL_.json", "all of it"),
    ]
    assert flat.cut(INLINE, found[1]["location"]["range"]).startswith("type: group")


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_wide_characters(serve: Serve, project: Path, encoding: str) -> None:
    client = serve(speaking(encoding, documentSymbol=TREE))
    client.initialize(project)
    text = f'- {{corpus: "{WIDE}", type: nemo, manifest_filepath: "{WIDE}.json"}}\n'
    [found] = _symbols(client, client.open(project / "blend.yaml", text))
    assert found["name"] == WIDE
    assert client.cut(text, found["selectionRange"]) == "nemo"
    assert client.cut(text, found["range"]) == text[2:-1]
