"""The one way to write a file: whole or not at all, mode kept, links followed only inside the project."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path


class WriteRefused(OSError):
    """The file is not written; the message says why and what to do."""


def write_atomically(path: Path, data: bytes, *, root: Path | None = None, executable: bool = False) -> None:
    """Replace a file's content through a temporary file beside it; folders on the way are made.

    A symbolic link is written through, and only when its target lies inside `root`; so is a linked folder on the way
    from `root` to the file. Raises WriteRefused.
    """
    target = _target(path, root)
    try:
        mode = _mode(target, executable)
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


def _target(path: Path, root: Path | None) -> Path:
    """The file to replace: the path itself, or what it is a link to."""
    try:
        real = path.resolve()
        linked = path.is_symlink()
        # A linked folder above the project, or one the user named outside of it, is the user's own affair.
        inside = root is not None and Path(os.path.abspath(path)).is_relative_to(os.path.abspath(root))
        leads_out = root is None or not real.is_relative_to(root.resolve())
    except (OSError, RuntimeError):  # RuntimeError: links in a circle, before Python 3.13
        raise WriteRefused(f"`{path}` cannot be written: its links lead nowhere") from None
    if (linked or inside) and leads_out:
        raise WriteRefused(f"`{path}` is a link to `{real}`, outside the project; edit that file itself")
    return real if linked else path


def _mode(target: Path, executable: bool) -> int:
    try:
        mode = stat.S_IMODE(target.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        mode = 0o666 & ~_umask()
    return mode | (mode & 0o444) >> 2 if executable else mode


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
