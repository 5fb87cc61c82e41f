"""The verdicts of whole projects: what selection may change and what it may not, and files of odd kinds."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

import pytest
from nemo_resumable.core.analysis import Analysis, analyze
from nemo_resumable.core.artifacts import prepare, write
from nemo_resumable.core.fixing import fix
from nemo_resumable.core.project import Project
from nemo_resumable.core.settings import load_settings

CONFIG = """\
data:
  train_ds:
    seed: 42
    shard_seed: trng
    shuffle: true
    num_workers: 2
    batch_size: 8
    input_cfg:
      - type: nemo_tarred
        manifest_filepath: /data/manifest__OP_0..3_CL_.jsonl
        tarred_audio_filepaths: /data/audio__OP_0..3_CL_.tar
"""


def project(folder: Path, text: str = CONFIG, **settings: object) -> tuple[Project, Path]:
    path = folder / "config.yaml"
    path.write_text(text)
    return Project(dataclasses.replace(load_settings(folder), **settings), folder), path  # type: ignore[arg-type]


def judged(folder: Path, text: str = CONFIG, **settings: object) -> Analysis:
    made, path = project(folder, text, **settings)
    return analyze(made, [path])


@pytest.mark.parametrize(
    "settings", [{"select": ("NR110",)}, {"ignore": ("NR101",)}, {"ignore": ("NR1",)}, {"select": ("NR001",)}]
)
def test_readiness_does_not_follow_the_selection(tmp_path: Path, settings: dict[str, object]) -> None:
    assert judged(tmp_path, **settings).configs[0].readiness == "not-launch-ready"


@pytest.mark.parametrize("settings", [{"select": ("NR110",)}, {"ignore": ("NR101",)}])
def test_part_of_a_fix_group_is_never_applied_alone(tmp_path: Path, settings: dict[str, object]) -> None:
    made, path = project(tmp_path, **settings)
    assert not fix(made, [path]).texts
    finding = next(finding for finding in analyze(made, [path]).findings if finding.code == "NR110")
    assert finding.fix is not None
    assert "NR10" in finding.fix.withheld


def test_a_suppressed_member_holds_its_group_back(tmp_path: Path) -> None:
    text = CONFIG.replace("  train_ds:\n", "  train_ds:  # nemo-resumable: ignore[NR101] until the indexes are built\n")
    made, path = project(tmp_path, text)
    assert not fix(made, [path]).texts
    assert "launch-ready" in analyze(made, [path]).configs[0].readiness


def test_a_pipe_named_like_a_config_does_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    made, _ = project(tmp_path)
    analysis = analyze(made, [tmp_path / "pipe.yaml"])
    assert "ordinary file" in analysis.problems[0][1]


def test_a_config_nested_too_deeply_is_refused_aloud(tmp_path: Path) -> None:
    found = judged(tmp_path, CONFIG + "deep: " + "[" * 400 + "]" * 400 + "\n").findings
    assert [finding.code for finding in found if finding.code == "NR001"] == ["NR001"]


def test_only_what_an_earlier_run_wrote_is_removed_from_a_folder(tmp_path: Path) -> None:
    made, path = project(tmp_path)
    out = tmp_path / "out"
    out.mkdir()
    (out / "precious-resumable.yaml").write_text("mine: true\n")
    write(prepare(made, path, out=out))
    write(prepare(made, path, out=out))
    assert (out / "precious-resumable.yaml").read_text() == "mine: true\n"
    made, path = project(tmp_path, CONFIG.replace("/data/manifest", "${oc.env:X}/manifest"))
    write(prepare(made, path, out=out))
    assert (out / "config-resumable.yaml").exists()


def test_a_lone_blend_names_no_config(tmp_path: Path) -> None:
    path = tmp_path / "blend.yaml"
    path.write_text("- type: txt\n  paths: /d/a.txt\n  language: en\n")
    findings = analyze(Project(load_settings(tmp_path), tmp_path), [path]).findings
    assert {finding.code for finding in findings} == {"NR308"}
    assert {finding.config for finding in findings} == {None}


@pytest.mark.parametrize("shuffle", ["\tshuffle: true\n", "    shuffle: true\n   x: [\n"])
def test_a_data_section_that_does_not_parse_is_ours_all_the_same(tmp_path: Path, shuffle: str) -> None:
    found = judged(tmp_path, f"data:  # ours\n  # here\n\n  train_ds:\n{shuffle}").findings
    assert "NR001" in {finding.code for finding in found}


def test_a_file_that_is_refused_is_not_edited(tmp_path: Path) -> None:
    made, path = project(tmp_path, CONFIG + "---\nother: 1\n")
    assert "NR013" in {finding.code for finding in analyze(made, [path]).findings}
    assert not fix(made, [path]).texts


@pytest.mark.parametrize("empty", ["{}", "{ }"])
def test_fixes_go_into_empty_braces(tmp_path: Path, empty: str) -> None:
    made, path = project(tmp_path, f"data:\n  train_ds: {empty}\n")
    result = fix(made, [path])
    assert not result.dropped
    assert result.texts[path].text == (
        "data:\n  train_ds: {indexed: true, use_stateful_dataloader: true, shard_seed: 42" + empty[1:] + "\n"
    )


@pytest.mark.parametrize(
    ("defaults", "silent"),
    [("- nothere", True), ("- data: nothere", True), ("- optim: adam", False), ("- optional data: nothere", False)],
)
def test_what_a_missing_base_config_may_set_is_not_judged(tmp_path: Path, defaults: str, silent: bool) -> None:
    text = f"defaults:\n  {defaults}\n  - _self_\n" + CONFIG.replace("    shard_seed: trng\n", "")
    found = judged(tmp_path, text)
    codes = {finding.code for finding in found.findings}
    assert ("NR110" not in codes) is silent
    assert ("NR003" in codes) is silent
    if silent:
        finding = next(finding for finding in found.findings if finding.code == "NR003")
        assert finding.location.source.lines.position(finding.location.span.start).line == 2
        assert found.configs[0].readiness == "unverified"
