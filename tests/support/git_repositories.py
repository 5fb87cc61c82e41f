"""Real git repositories for tests: no configuration of the user's counts, and every commit has the same author and date."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

_ENVIRONMENT = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_AUTHOR_NAME": "A. Author",
    "GIT_AUTHOR_EMAIL": "author@example.org",
    "GIT_COMMITTER_NAME": "A. Author",
    "GIT_COMMITTER_EMAIL": "author@example.org",
    "GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z",
    "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z",
}


def git(folder: Path, *arguments: str) -> str:
    """Run git in a folder; skips the test where there is no git. Raises CalledProcessError."""
    if shutil.which("git") is None:
        pytest.skip("there is no git")
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    command = ["git", "-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always", *arguments]
    ended = subprocess.run(command, cwd=folder, env={**own, **_ENVIRONMENT}, capture_output=True, text=True, check=True)
    return ended.stdout.strip()


def commit_all(folder: Path, message: str = "a commit") -> str:
    """Commit everything in a folder, which becomes a repository if it is none; the commit's id."""
    if not (folder / ".git").exists():
        git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--no-verify", "-m", message)
    return git(folder, "rev-parse", "HEAD")
