"""What the tests of the command line share: a project of their own, a run of the command, and findings made by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from nemo_resumable.core.findings import Finding, Location, Severity
from nemo_resumable.core.text import Source, Span
from nemo_resumable.hooks.cli import main

TERMINAL = ("NO_COLOR", "FORCE_COLOR", "PRE_COMMIT_COLOR", "TERM")


@dataclass(frozen=True)
class Outcome:
    """What a run of the command left behind."""

    code: int
    out: str
    err: str


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The top folder of a repository in which the command is run, on 80 columns and without colours."""
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "80")
    for name in TERMINAL:
        monkeypatch.delenv(name, raising=False)
    return folder


@pytest.fixture
def run(project: Path, capfd: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    """Runs the command in the project; a traceback is never what it says."""

    def run_command(*arguments: str) -> Outcome:
        capfd.readouterr()
        code = main(arguments)
        out, err = capfd.readouterr()
        assert "Traceback" not in err
        return Outcome(code, out, err)

    return run_command


@pytest.fixture
def finding() -> Callable[..., Finding]:
    """Makes a finding on the first place where a piece of text stands."""

    def make(text: str, piece: str, *, path: str = "/project/conf/salm.yaml", **given: object) -> Finding:
        source = Source.from_text(Path(path), text)
        start = source.text.index(piece)
        fields: dict[str, object] = {
            "code": "NR110",
            "name": "unfixed-shard-seed",
            "severity": Severity.ERROR,
            "message": "`shard_seed` is not fixed",
            "location": Location(source, Span(start, start + len(piece))),
        }
        return Finding(**{**fields, **given})  # type: ignore[arg-type]

    return make
