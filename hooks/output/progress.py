"""One line on a terminal that says how far a long look at files has come, and goes away by itself."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable

from .terminal import before_output

_SECONDS = 0.2  #: between two words


def progress() -> Callable[[int, str], None] | None:
    """What is told how many files were looked at, and where; None where the standard error is no terminal."""
    if sys.stderr is None or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        return None
    due = time.monotonic() + _SECONDS
    shown = 0

    def clear() -> None:
        nonlocal shown
        _write(f"\r{' ' * shown}\r")
        shown = 0

    def tell(count: int, subject: str) -> None:
        nonlocal due, shown
        if time.monotonic() < due:
            return
        text = f"index files: {count:,} looked at, {subject}"[:78]
        _write(f"\r{text.ljust(shown)}")
        if not shown:
            before_output(clear)
        shown, due = len(text), time.monotonic() + _SECONDS

    return tell


def _write(text: str) -> None:
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except (OSError, ValueError):  # the terminal has gone away
        pass
