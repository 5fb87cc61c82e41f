"""The version of an index pack on this disk, from its first twelve bytes."""

from __future__ import annotations

import stat
from pathlib import Path

_MAGIC = b"IDXPACK2"  #: of every version so far (lhotse/index_pack.py)


def pack_version(path: Path) -> int | None:
    """The version an index pack says it has; None where there is none to read, or no pack."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return None
        with path.open("rb") as file:
            head = file.read(12)
    except (OSError, ValueError):
        return None
    return int.from_bytes(head[8:12], "little") if len(head) == 12 and head.startswith(_MAGIC) else None
