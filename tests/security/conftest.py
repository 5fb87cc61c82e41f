"""Runs the command line in processes of their own, with what they may take held down: a hang or a bomb fails, it does not stall."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

GIGABYTE = 2**30
SECONDS = 60  #: of the processor; what is tried takes a second or two

Command = Callable[..., "subprocess.CompletedProcess[bytes]"]


def _held_down() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (2 * GIGABYTE, 2 * GIGABYTE))


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """An empty repository with something outside of it."""
    top = tmp_path / "repository"
    (top / ".git").mkdir(parents=True)
    return top


@pytest.fixture
def command(repository: Path) -> Command:
    """Run `nemo-resumable` in the repository."""

    def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [sys.executable, "-m", "nemo_resumable.hooks.cli", *arguments],
            cwd=repository,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=300,
            check=False,
            preexec_fn=_held_down,
        )

    return run
