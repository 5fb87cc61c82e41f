"""`nemo-resumable lsp`: hands over to the language server, which is none of the command line's modules."""

from __future__ import annotations

import argparse
import gc
from importlib import import_module


def run(arguments: argparse.Namespace) -> int:
    """Serve one client until it leaves."""
    gc.enable()  # a server runs for days and does make garbage
    # By name: the two frontends know nothing of each other, and checking a file must not load the protocol.
    return int(import_module("nemo_resumable.lsp_server.main").run(arguments))
