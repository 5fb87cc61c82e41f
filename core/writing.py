"""The one way to write a file: whole or not at all, mode kept, links followed only inside the project."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path


class WriteRefused(OSError):
    """The file is not written; the message says why and what to do."""


def write_atomically(path: Path, data: bytes, *, root: Path | None = None, executable: bool = False) -> None:
    """Replace a file's content through a temporary file beside it.

    A symbolic link is written through, and only when its target lies inside `root`. Raises WriteRefused.
    """
    target = path
    if path.is_symlink():
        target = path.resolve()
        if root is None or not target.is_relative_to(root.resolve()):
            raise WriteRefused(f"`{path}` is a link to `{target}`, outside the project; edit that file itself")
    try:
        mode = stat.S_IMODE(target.stat().st_mode)
    except FileNotFoundError:
        mode = 0o666 & ~_umask()
    if executable:
        mode |= (mode & 0o444) >> 2
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{target.name[:40]}.", dir=target.parent)
    except OSError as error:
        raise WriteRefused(f"`{path}` cannot be written: {error.strerror or error}") from None
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(name, mode)
        os.replace(name, target)
    except OSError as error:
        Path(name).unlink(missing_ok=True)
        raise WriteRefused(f"`{path}` cannot be written: {error.strerror or error}") from None
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
