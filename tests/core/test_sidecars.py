"""Where sidecars lie below an index root, by Lhotse's rule, and how large ranges are compared."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from nemo_resumable.core.analysis import analyze
from nemo_resumable.core.model.presence import nobody_looks, on_disk
from nemo_resumable.core.model.sidecars import collisions, sidecar_path
from nemo_resumable.core.project import Project
from nemo_resumable.core.settings import Settings


@pytest.mark.parametrize(
    ("data", "root", "suffix", "expected"),
    [
        ("/data/a.jsonl", None, ".idx", "/data/a.jsonl.idx"),
        ("s3://b/k.tar", None, ".idx", "s3://b/k.tar.idx"),
        ("/data/a.jsonl", "/idx", ".idx", "/idx/data/a.jsonl.idx"),
        ("s3://b/k.tar", "/idx/", ".idx", "/idx/b/k.tar.idx"),
        ("ais://b/k.tar", "s3://idx", ".idx", "s3://idx/b/k.tar.idx"),
        ("C:\\data\\a.jsonl", "/idx", ".idx", "/idx/data\\a.jsonl.idx"),
        ("../a//b.jsonl", "/idx", ".idx", "/idx/../a//b.jsonl.idx"),
        ("/wds/a.tar", "/idx", ".wds-v2.idx", "/idx/wds/a.tar.wds-v2.idx"),
    ],
)
def test_a_sidecar_keeps_the_path_of_its_data(data: str, root: str | None, suffix: str, expected: str) -> None:
    assert sidecar_path(data, root, suffix) == expected


def found(folder: Path, *paths: str) -> list[tuple[str, str, str]]:
    entries = "".join(f"      - {{type: nemo, manifest_filepath: '{path}'}}\n" for path in paths)
    file = folder / "config.yaml"
    file.write_text(f"data:\n  train_ds:\n    indexed: true\n    indexes_root: /idx\n    input_cfg:\n{entries}")
    (config,) = analyze(Project(Settings(folder), folder), [file]).models
    return [(first.path.text, second.path.text, example) for first, second, example in collisions(config)]


def test_overlapping_ranges_share_sidecars(tmp_path: Path) -> None:
    paths = ("s3://b/m_{0..5}.jsonl", "/b/m_{4..9}.jsonl", "/b/m_{6..9}.jsonl", "ais://c/m_{0..5}.jsonl")
    assert found(tmp_path, *paths) == [(paths[0], paths[1], "/idx/b/m_4.jsonl.idx")]


def test_another_spelling_of_a_range_is_the_same_range(tmp_path: Path) -> None:
    assert len(found(tmp_path, "s3://b/m__OP_0..5_CL_.jsonl", "b/m_{0..5}.jsonl")) == 1
    assert not found(tmp_path, "/b/m__OP_0..5_CL_.jsonl", "/b/m_{0..5}.jsonl")


def test_ranges_of_millions_are_compared_as_written(tmp_path: Path) -> None:
    begun = time.monotonic()
    assert len(found(tmp_path, "s3://b/m_{0..9}{0..9999999}.jsonl", "/b/m_{0..9}{0..9999999}.jsonl")) == 1
    assert not found(tmp_path, "s3://b/m_{0..99999999}.jsonl", "/b/m_{1..99999999}.jsonl")
    assert time.monotonic() - begun < 5


def test_presence_is_a_look_and_no_more(tmp_path: Path) -> None:
    assert on_disk(tmp_path) is True
    assert on_disk(tmp_path / "none" / "of" / "it") is False
    assert on_disk(tmp_path / ("x" * 5000)) is None
    assert on_disk(Path("a\0b")) is None
    assert nobody_looks(tmp_path) is None


def test_a_caller_that_does_not_look_hears_nothing_of_packs(tmp_path: Path) -> None:
    (tmp_path / "packs").mkdir()
    file = tmp_path / "config.yaml"
    entry = "{type: nemo, manifest_filepath: /d/m.jsonl, index_pack: en.idxpack}"
    file.write_text(f"data:\n  train_ds:\n    indexed: true\n    index_pack_root: packs\n    input_cfg: [{entry}]\n")
    looked = analyze(Project(Settings(tmp_path), tmp_path), [file]).findings
    blind = analyze(Project(Settings(tmp_path), tmp_path, presence=nobody_looks), [file]).findings
    assert {finding.code for finding in looked} - {finding.code for finding in blind} == {"NR331"}
