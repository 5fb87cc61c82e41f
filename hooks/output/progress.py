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
    show = _passing_line()
    if show is None:
        return None
    return lambda count, subject: show(f"index files: {count:,} looked at, {subject}")


def reading() -> Callable[[str, int, int | None], None] | None:
    """What is told of a file that is read: its name, the bytes read and those in all; None as above."""
    show = _passing_line()
    if show is None:
        return None

    def tell(name: str, done: int, size: int | None) -> None:
        share = f" of {size / 2**20:,.0f} MB" if size else " MB"
        show(f"{done / 2**20:,.0f}{share} of {name[-50:]}")

    return tell


def _passing_line() -> Callable[[str], None] | None:
    if sys.stderr is None or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        return None
    due = time.monotonic() + _SECONDS
    shown = 0

    def clear() -> None:
        nonlocal shown
        _write(f"\r{' ' * shown}\r")
        shown = 0

    def tell(text: str) -> None:
        nonlocal due, shown
        if time.monotonic() < due:
            return
        text = text[:78]
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
