"""Asks git. Only what reads: no command here writes to the index, the work tree or the object store."""

from __future__ import annotations

import os
from pathlib import Path


def ask(root: Path, *arguments: str) -> bytes | None:
    """What a git command prints, run at a repository's top; None where git is not there or refuses.

    What a repository's own configuration may start (file system monitors, external diffs) is left out.
    """
    import subprocess  # most checks start no process

    try:
        ended = subprocess.run(
            ["git", "-C", str(root), "-c", "core.fsmonitor=false", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=60,
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"},
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return None if ended.returncode else ended.stdout


def names(printed: bytes | None) -> list[str]:
    """The names in what git prints with `-z`."""
    return [os.fsdecode(name) for name in (printed or b"").split(b"\0") if name]


def folder_of(top: Path) -> Path | None:
    """The folder with a work tree's HEAD: `.git`, or what a `.git` file of a linked work tree or submodule names."""
    found = top / ".git"
    try:
        if found.is_dir():
            return found
        text = found.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return None
    return Path(os.path.normpath(top / text[8:].strip())) if text.startswith("gitdir: ") else None
