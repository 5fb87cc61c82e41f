"""Whether a file is on this machine: the only look at files that are not read, and one that a caller may replace."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

#: Takes an absolute path; None where nobody can or will look.
Presence = Callable[[Path], "bool | None"]


def on_disk(path: Path) -> bool | None:
    """Whether something lies there, by `stat` alone; None where the folder may not be entered."""
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError):  # no permission, a name too long, a null byte
        return None
    return True


def nobody_looks(path: Path) -> bool | None:
    """For callers that judge text alone."""
    return None
