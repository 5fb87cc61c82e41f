"""Runs the command line inside the test's process, in a small repository of its own."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from nemo_resumable.hooks.cli import main

CONFIG = """\
data:
  train_ds:
    indexed: true
    use_stateful_dataloader: true
    shard_seed: "randomized"  # a new order in every chunk
    seed: 42
    shuffle: true
    num_workers: 2
    batch_size: 4
    input_cfg:
      - type: lhotse_shar
        shar_path: data/shar
"""


@dataclass(frozen=True, slots=True)
class Ran:
    """What a command came to."""

    code: int
    out: str
    err: str


class Stdin:
    """A standard input that holds these bytes."""

    def __init__(self, data: bytes) -> None:
        self.buffer = io.BytesIO(data)

    def isatty(self) -> bool:
        return False


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty repository, which is the current folder; nothing of the environment decides on colours or width."""
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR", "PRE_COMMIT_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


@pytest.fixture
def run(repository: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ran]:
    """Run `nemo-resumable` with these arguments."""

    def call(*arguments: str, stdin: bytes = b"") -> Ran:
        capsys.readouterr()
        monkeypatch.setattr(sys, "stdin", Stdin(stdin))
        code = main(arguments)
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return Ran(code, captured.out, captured.err)

    return call


@pytest.fixture
def config(repository: Path) -> Path:
    """`conf.yaml`, a training config with one error that --fix mends, NR110, and one note, NR107."""
    path = repository / "conf.yaml"
    path.write_text(CONFIG, encoding="utf-8")
    return path
