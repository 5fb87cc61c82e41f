"""`nemo-resumable init`: a commented settings file to begin with."""

from __future__ import annotations

import argparse
from pathlib import Path

from nemo_resumable.core.settings import OWN_FILE, load_settings
from nemo_resumable.core.writing import write_atomically

from .cli import OK
from .output.render import shown
from .output.terminal import emit

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

# Files and folders that are not looked at.
# exclude = ["third_party"]

# What stands behind `${data_blend_dir}` and the like. Tables come last.
# [variables]
# data_blend_dir = "conf/blends"
"""


def run(arguments: argparse.Namespace) -> int:
    """Write the file in the current folder, unless settings already hold there."""
    cwd = Path.cwd()
    there = load_settings(cwd).file
    if there is not None:
        emit(f"There are settings already, in {shown(there, cwd)}; nothing was written.\n")
        return OK
    write_atomically(cwd / OWN_FILE, TEMPLATE.encode())
    emit(f"Wrote {OWN_FILE}.\n")
    return OK
