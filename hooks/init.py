"""`nemo-resumable init`: a commented settings file to begin with, and the hook for pre-commit."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from nemo_resumable.core.settings import OWN_FILE, load_settings, repository_root
from nemo_resumable.core.text import Source
from nemo_resumable.core.writing import write_atomically

from .cli import OK
from .options import UsageError
from .output.diff import unified
from .output.render import shown
from .output.terminal import emit
from .precommit import FILE, HOOK, with_hook

TEMPLATE = """\
# Settings of nemo-resumable; every key is optional, and paths begin at this file's folder.

# Where training is started: relative data and blend paths begin there. Default: the current folder.
# launch-dir = "."

# The mirror in which `.idx` sidecars are built, seen by every node.
# indexes-root = "/shared/indexes"

# The folder of index packs, and the number of shards from which on `migrate --packs` makes one.
# index-pack-root = "/shared/packs"
# pack-threshold = 1000

# The number to which `seed` and `shard_seed` are pinned.
# seed = 42

# The NeMo and Lhotse in use: checkouts, folders of installed packages or environments, of which the files are read; or
# what is assumed: nemo-3.0.0, speech-main, speech-main-gzip. Default: what `.venv` here holds, else speech-main.
# nemo = "../Speech"
# lhotse = "../lhotse"
# profile = "speech-main"

# Rules to leave out (codes, prefixes or names), and severities to change.
# ignore = ["NR120"]
# severity = { NR113 = "error" }
# per-file-ignores = { "conf/debug/*" = ["NR2"] }

# Whether a comment that suppresses a finding has to say why, and the file of the findings that are known already.
# require-suppression-reason = true
# baseline = "nemo-resumable-baseline.json"

# Files and folders that are not looked at.
# exclude = ["third_party"]

# What stands behind `${data_blend_dir}` and the like. Tables come last.
# [variables]
# data_blend_dir = "conf/blends"
"""


def run(arguments: argparse.Namespace) -> int:
    """Write the settings file and the hook's lines, once they were shown and agreed to."""
    cwd = Path.cwd()
    files, remarks = _plan(cwd)
    emit("".join(f"{line}\n" for line in [*_shown(files, cwd), *remarks]))
    if not files:
        return OK
    if not arguments.yes:
        if sys.stdin is None or not sys.stdin.isatty():
            raise UsageError("nothing was written, since nobody can be asked here; --yes writes it without asking")
        if not _agreed():
            emit("Nothing was written.\n")
            return OK
    for path, data in files.items():
        write_atomically(path, data, root=repository_root(cwd))
    emit(f"Wrote {' and '.join(shown(path, cwd) for path in files)}.\n")
    return OK


def _plan(cwd: Path) -> tuple[dict[Path, bytes], list[str]]:
    """The files to write, and what is said of those that are not written."""
    files: dict[Path, bytes] = {}
    remarks = []
    there = load_settings(cwd).file
    if there is None:
        files[cwd / OWN_FILE] = TEMPLATE.encode()
    else:
        remarks.append(f"There are settings already, in {shown(there, cwd)}.")
    root = repository_root(cwd)
    if not (root / ".git").exists():
        return files, remarks
    path = root / FILE
    data = with_hook(path)
    if data:
        files[path] = data
    elif data is None:
        remarks += [f"{shown(path, cwd)} is not of the form that can be added to; its list `repos` takes:", "", HOOK]
    else:
        remarks.append(f"The hook is already in {shown(path, cwd)}.")
    return files, remarks


def _shown(files: dict[Path, bytes], cwd: Path) -> list[str]:
    """What would be written: a new file in full, and of a file that is there the lines that come to it."""
    lines = []
    for path, data in files.items():
        old = path.read_bytes() if path.exists() else b""
        if old:
            before, after = Source.from_bytes(path, old), Source.from_bytes(path, data)
            lines += [f"{shown(path, cwd)} would become:", "", unified(before, after, shown(path, cwd))]
        else:
            lines += [
                f"{shown(path, cwd)} would be:",
                "",
                *(f"    {line}".rstrip() for line in data.decode().splitlines()),
                "",
            ]
    return lines


def _agreed() -> bool:
    try:
        return input("Write this? [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        return False
