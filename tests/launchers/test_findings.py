"""Findings in launchers beside known answers (`../shared/launchers`, where it is there): found, missed, and nothing extra."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from nemo_resumable.core.analysis import analyze
from nemo_resumable.core.findings import Finding
from nemo_resumable.core.project import Project
from nemo_resumable.core.settings import Settings

SCRIPTS = Path(__file__).parents[3] / "shared" / "launchers"
pytestmark = pytest.mark.skipif(not SCRIPTS.is_dir(), reason="the launchers are not beside this repository")

EXPECTED: dict[str, Any] = json.loads((SCRIPTS / "expected.json").read_text()) if SCRIPTS.is_dir() else {}
CASES: dict[str, Any] = EXPECTED.get("scripts", {})

CONFIG = """\
data:
  train_ds:
    seed: 42
    shard_seed: 42
    num_workers: 4
    indexed: true
    use_stateful_dataloader: true
    force_map_dataset: false
    force_iterable_dataset: true
    concurrent_bucketing: false
    shuffle: true
    batch_size: 4
    indexes_root: {indexes_root}
    input_cfg:
      - type: nemo_tarred
        manifest_filepath: /data/en/manifest__OP_0..127_CL_.jsonl
        tarred_audio_filepaths: {tars}
trainer:
  num_nodes: 2
  devices: 8
  use_distributed_sampler: false
  logger: false
  enable_checkpointing: false
  max_steps: 1000
  limit_train_batches: 500
exp_manager:
  exp_dir: /shared/runs
  name: run
  resume_if_exists: true
  resume_ignore_no_checkpoint: true
  max_time_per_run: 00:03:40:00
  checkpoint_callback_params:
    save_last: true
    every_n_epochs: 1
"""


def in_script(name: str, folder: Path) -> list[Finding]:
    """The findings that stand in a script, for the config that it is taken to start."""
    assume = CASES[name].get("assume") or {}
    local = "/data/en/audio__OP_0..127_CL_.tar"
    remote = "ais://speech/en/audio__OP_0..127_CL_.tar"
    config = folder / "config.yaml"
    text = CONFIG.format(
        indexes_root=assume.get("indexes_root", "/shared/idx"), tars=remote if assume.get("data") == "remote" else local
    )
    config.write_text(text, encoding="utf-8")
    script = SCRIPTS / name
    project = Project(Settings(folder), folder, launchers=(script,))
    return [finding for finding in analyze(project, [config]).findings if finding.location.file == script]


#: Findings on the line with which a command begins; how much of that line is marked is a matter of taste.
AT_COMMAND = frozenset({"NR506", "NR509", "NR511", "NR601", "NR602"})


def place(finding: Finding) -> tuple[str, str, int, int, int]:
    """Code, severity, line, column and end column, as the answers give them."""
    lines = finding.location.source.lines
    start, end = lines.position(finding.location.span.start), lines.position(finding.location.span.end)
    last = 0 if finding.code in AT_COMMAND else end.column
    return finding.code, finding.severity.value, start.line, start.column, last


def wanted(name: str, kind: str) -> set[tuple[str, str, int, int, int]]:
    return {
        (f["code"], f["severity"], f["line"], f["column"], 0 if f["code"] in AT_COMMAND else f["end_column"])
        for f in CASES[name][kind]
    }


@pytest.mark.parametrize("name", sorted(CASES))
def test_findings_of_a_script(name: str, tmp_path: Path) -> None:
    found = {place(finding) for finding in in_script(name, tmp_path)}
    loud = {each for each in found if each[1] != "note"}
    assert loud == wanted(name, "findings")
    assert wanted(name, "notes") <= found
    quiet = {(code, line["line"]) for line in CASES[name]["quiet"] for code in line["not"]}
    assert not {each for each in found if (each[0], each[2]) in quiet}


@pytest.mark.parametrize("name", sorted(CASES))
def test_reasons_of_a_script(name: str, tmp_path: Path) -> None:
    """The rule behind an NR503 is named, and the lines that explain a finding are related."""
    by_line = {(f.code, place(f)[2]): f for f in in_script(name, tmp_path)}
    for expected in CASES[name]["findings"]:
        finding = by_line.get((expected["code"], expected["line"]))
        assert finding is not None
        assert expected.get("because", "") in finding.message
        lines = {
            related.location.source.lines.position(related.location.span.start).line
            for related in finding.related
            if related.location.file == finding.location.file
        }
        assert {related["line"] for related in expected.get("related", ())} <= lines


def test_findings_in_one_figure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found, missed, extra = 0, 0, 0
    for name in CASES:
        here = {place(finding) for finding in in_script(name, tmp_path)}
        loud = {each for each in here if each[1] != "note"}
        answers = wanted(name, "findings") | wanted(name, "notes")
        found += len(answers & here)
        missed += len(answers - here)
        extra += len(loud - answers)
    with capsys.disabled():
        print(f"\nlaunchers: {found} findings found, {missed} missed, {extra} extra in {len(CASES)} scripts")
    assert (missed, extra) == (0, 0)
