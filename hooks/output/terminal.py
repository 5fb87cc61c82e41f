"""The terminal: whether it takes colours, how wide it is, and writing to it whatever becomes of the reader."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable

STYLES = {
    "fatal": "1;35",
    "error": "1;31",
    "warning": "1;33",
    "note": "1;36",
    "bold": "1",
    "frame": "1;34",
    "help": "1;32",
    "added": "32",
    "removed": "31",
}


#: What has to leave the terminal before anything is written to it: a line of progress.
_passing: list[Callable[[], None]] = []


def before_output(clear: Callable[[], None]) -> None:
    """Call something once before the next output."""
    _passing.append(clear)


def use_color(choice: str, *, to_file: bool = False) -> bool:
    """Whether to colour: --color first, then NO_COLOR, FORCE_COLOR, PRE_COMMIT_COLOR, then whether it is a terminal."""
    if choice != "auto":
        return choice == "always"
    if to_file or os.environ.get("NO_COLOR"):
        return False
    if (wish := os.environ.get("FORCE_COLOR")) is not None and wish != "0":
        return True
    if (wish := os.environ.get("PRE_COMMIT_COLOR")) in ("always", "never"):
        return wish == "always"
    return sys.stdout is not None and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def paint(text: str, style: str, color: bool) -> str:
    """The text in a style, or as it is."""
    return f"\x1b[{STYLES[style]}m{text}\x1b[0m" if color and text else text


def width() -> int:
    """The columns to write in: what COLUMNS or the terminal says, at least 40; 80 where neither says anything."""
    said = os.environ.get("COLUMNS", "")
    if said.isdecimal() and int(said):
        return max(40, int(said))
    try:
        return max(40, os.get_terminal_size(sys.__stdout__.fileno() if sys.__stdout__ else 1).columns)
    except (OSError, ValueError):
        return 80


_CONTROL = re.compile(r"[^\t\n\x20-\x7e\xa0-\U0010ffff]|[\u2028-\u202e\u2066-\u2069]")
_OWN = re.compile("(\x1b\\[(?:0|" + "|".join(STYLES.values()) + ")m)")


def tamed(text: str) -> str:
    """The text without what steers a terminal, save our own colours: file names, values and source lines may hold anything."""
    if _CONTROL.search(text) is None:
        return text
    from .cells import visible

    parts = _OWN.split(text)
    parts[::2] = [_CONTROL.sub(lambda found: visible(found[0]), part) for part in parts[::2]]
    return "".join(parts)


def complain(sentence: str) -> None:
    """Say something on the standard error, which belongs to people in every format."""
    if sys.stderr is not None:
        from .cells import visible

        print(f"nemo-resumable: {visible(sentence)}", file=sys.stderr)


def emit(text: str, encoding: str = "") -> None:
    """Write to the standard output at once, in its own encoding or in one that the format asks for.

    A reader that has gone away (`| head`) is no error.
    """
    while _passing:
        _passing.pop()()
    out = sys.stdout
    if out is None or not text:
        return
    if not encoding or out.isatty():
        text = tamed(text)
    try:
        if hasattr(out, "buffer"):
            # Bytes, so that neither newlines nor characters the terminal's encoding lacks are a matter of the platform.
            out.flush()
            out.buffer.write(text.encode(encoding or out.encoding or "utf-8", "backslashreplace"))
        else:
            out.write(text)
        out.flush()
    except BrokenPipeError:
        settle_output()
    except OSError:
        settle_output()
        raise


def settle_output() -> None:
    """Flush the standard output; what cannot be written goes nowhere, or Python would complain about it at exit."""
    while _passing:
        _passing.pop()()
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
