"""`check --indexes` and `migrate --indexes` on the command line: what is printed where, and a line while it takes long."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from index_writers import sidecar
from nemo_resumable.hooks.output import progress

CONFIG = """\
data:
  train_ds:
    indexed: true
    use_stateful_dataloader: true
    force_map_dataset: false
    force_iterable_dataset: true
    seed: 42
    shard_seed: 42
    shuffle: true
    num_workers: 2
    batch_size: 4
    input_cfg:
      - type: nemo
        manifest_filepath: data/m_{0..2}.jsonl
"""
Run = Callable[..., object]


@pytest.fixture
def data(repository: Path) -> Path:
    (repository / "data").mkdir()
    for number in range(3):
        sidecar_of = repository / f"data/m_{number}.jsonl"
        sidecar_of.write_text('{"duration": 1}\n')
        sidecar(sidecar_of)
    (repository / "conf.yaml").write_text(CONFIG)
    return repository / "data"


def test_flag_and_exit_code(run: Callable[..., object], data: Path) -> None:
    ran = run("check", "--indexes", "conf.yaml")
    assert ran.code == 0
    assert ran.err == "nemo-resumable: index files: 3 sidecars of 1 source read: all as they should be\n"
    with (data / "m_1.jsonl").open("a") as file:
        file.write("{}\n")
    ran = run("check", "--indexes", "--format", "json", "conf.yaml")
    assert ran.code == 1
    assert [f["code"] for f in json.loads(ran.out)["findings"] if f["severity"] == "error"] == ["NR803"]
    assert ran.err == "nemo-resumable: index files: 3 sidecars of 1 source read: 1 stale\n"
    ran = run("check", "conf.yaml")
    assert (ran.code, ran.err) == (0, "")
    assert run("check", "--indexes", "--ignore", "NR8", "conf.yaml").code == 0


def test_the_report_says_what_was_found(run: Callable[..., object], data: Path) -> None:
    (data / "m_2.jsonl.idx").unlink()
    assert run("migrate", "--indexes", "conf.yaml").code == 0
    report = (data.parent / "migrate-resumable/conf/migration-report.md").read_text()
    assert "Index files on the machine of this report: 2 sidecars of 1 source read: 1 missing." in report
    assert run("migrate", "conf.yaml").code == 0
    assert "Index files" not in (data.parent / "migrate-resumable/conf/migration-report.md").read_text()


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_line_on_a_terminal_that_goes_away(
    run: Callable[..., object], data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "_SECONDS", 0)
    monkeypatch.setenv("TERM", "xterm")
    for number in range(200):
        (data / f"m_{number}.jsonl").write_text("{}\n")
    (data.parent / "conf.yaml").write_text(CONFIG.replace("0..2", "0..199"))
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    run("check", "--indexes", "conf.yaml")
    lines = terminal.getvalue().split("\r")
    assert lines[1] == "index files: 64 looked at, data.train_ds.input_cfg.0"
    assert lines[-2].strip() == ""
    assert len(lines[-2]) == len(lines[-3])  # all of it is wiped before the summary
    assert lines[-1].startswith("nemo-resumable: index files: 3 sidecars")


def test_no_line_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert progress.progress() is None
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("TERM", "dumb")
    assert progress.progress() is None
