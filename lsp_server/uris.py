"""URIs and paths: whatever a client writes (`file:///c%3A/x`, `untitled:Untitled-1`), and the path it stands for."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

_DRIVE = re.compile(r"/[A-Za-z]:")
_WINDOWS = os.name == "nt"


def scheme(uri: str) -> str:
    """The scheme in lower case; empty where there is none."""
    head, colon, _ = uri.partition(":")
    return head.lower() if colon and re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]*", head) else ""


def file_path(uri: str, *, windows: bool = _WINDOWS) -> str | None:
    """The path that a `file:` URI names, normalized; None for other schemes.

    On Windows a drive letter is written large, as `Path.resolve` does it, and a host makes a UNC path.
    """
    if scheme(uri) != "file":
        return None
    parts = urlsplit(uri)
    # A `#` or `?` that a client forgot to encode belongs to the path: files have neither query nor fragment.
    rest = uri.split(":", 1)[1]
    host = parts.netloc if rest.startswith("//") else ""
    path = unquote(rest[2 + len(parts.netloc) :] if rest.startswith("//") else rest)
    if not windows:
        import posixpath

        # `normpath` keeps two leading slashes; a path of a file has one.
        return posixpath.normpath("/" + path.lstrip("/"))
    import ntpath

    if host and host.lower() != "localhost":
        return ntpath.normpath(f"\\\\{unquote(host)}{path}")
    if _DRIVE.match(path):
        path = path[1].upper() + path[2:]
    return ntpath.normpath(path)


def path_uri(path: str, *, windows: bool = _WINDOWS) -> str:
    """The `file:` URI of an absolute path, written as VS Code writes it (drive letter small, colon encoded)."""
    if not windows:
        return "file://" + quote(path, safe="/~")
    path = path.replace("\\", "/")
    if path.startswith("//"):
        host, _, rest = path[2:].partition("/")
        return f"file://{host}/{quote(rest, safe='/~')}"
    if len(path) > 1 and path[1] == ":":
        path = path[0].lower() + path[1:]
    return "file:///" + quote(path, safe="/~")


def stand_in(uri: str, folder: Path) -> Path:
    """A path for a text that is no file, in the folder from which its relative paths begin; there is no such file.

    A path inside the URI (`git:/home/me/conf.yaml?…`) keeps its folder and the end of its name.
    """
    body = unquote(uri.partition(":")[2]).partition("?")[0]
    digest = hashlib.sha1(uri.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    name = re.sub(r"[^\w.-]+", "_", body.rstrip("/").rpartition("/")[2]) or "text"
    if not name.endswith((".yaml", ".yml")):
        name += ".yaml"
    inside = Path(os.path.normpath("/" + body.lstrip("/"))).parent if "/" in body else None
    if inside is not None and inside.is_absolute() and inside.is_dir():
        folder = inside
    return folder / f".{scheme(uri) or 'text'}-{digest}-{name}"


def key(path: Path) -> str:
    """What two spellings of one path have in common: the case where the file system does not tell it apart."""
    return os.path.normcase(str(path))
