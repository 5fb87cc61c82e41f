"""Committed versions of files: what a config, its blends and its launchers were at a commit, renames followed.

Everything is read out of git's object store. Without git, a repository or a commit there is no history, and nothing is said.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from .git import ask, folder_of
from .syntax.store import DocumentStore, Unreadable
from .text import Source, UndecodableText

_T = TypeVar("_T")
HEAD = "HEAD"


class UnknownRevision(ValueError):
    """The user named a commit that a repository does not have."""


class Committed:
    """One repository at one commit."""

    def __init__(self, top: Path, commit: str) -> None:
        self.top = top
        self.commit = commit
        self.memo: dict[object, object] = {}  #: what callers derive from it and need again
        self._blobs: dict[str, str] | None = None
        self._texts: dict[str, bytes | None] = {}
        self._renamed: tuple[object, dict[str, str]] | None = None

    def differs(self, source: Source) -> bool:
        """Whether a text is not the one that is committed under its name. Files outside the repository never differ."""
        name = self._name(source.path)
        if name is None:
            return False
        blob = self.blobs.get(name)
        if blob is None:
            return self.earlier_name(name) is not None
        import hashlib  # which loads OpenSSL: few checks need it

        data = source.to_bytes()
        digest = hashlib.new("sha1" if len(blob) == 40 else "sha256", b"blob %d\0" % len(data) + data)
        return digest.hexdigest() != blob

    def knows(self, path: Path) -> bool:
        """Whether a file was there, under its name or an earlier one."""
        name = self._name(path)
        return name is not None and (name in self.blobs or self.earlier_name(name) is not None)

    def read(self, path: Path) -> bytes | None:
        """The content of a file, under the name that it had then; None where it was not there."""
        name = self._name(path)
        if name is None:
            return None
        blob = self.blobs.get(name) or self.blobs.get(self.earlier_name(name) or "")
        if blob is None:
            return None
        if blob not in self._texts:
            self._texts[blob] = ask(self.top, "cat-file", "blob", blob)
        return self._texts[blob]

    @property
    def blobs(self) -> dict[str, str]:
        """The id of each file's content, by its name."""
        if self._blobs is None:
            self._blobs = {}
            printed = ask(self.top, "ls-tree", "-r", "-z", "--full-tree", self.commit) or b""
            for line in printed.split(b"\0"):
                facts, _, name = line.partition(b"\t")
                kind = facts.split(b" ")
                if len(kind) == 3 and kind[1] == b"blob":
                    self._blobs[os.fsdecode(name)] = kind[2].decode()
        return self._blobs

    def earlier_name(self, name: str) -> str | None:
        """What a file that is staged under a new name was called."""
        stamp = _index_stamp(self.top)
        if self._renamed is None or self._renamed[0] != stamp:
            diff = (
                "diff",
                "--cached",
                "-M",
                "--diff-filter=R",
                "--name-status",
                "--no-ext-diff",
                "-z",
                self.commit,
                "--",
            )
            parts = [os.fsdecode(part) for part in (ask(self.top, *diff) or b"").split(b"\0")]
            self._renamed = (stamp, {parts[at + 2]: parts[at + 1] for at in range(0, len(parts) - 2, 3)})
        return self._renamed[1].get(name)

    def _name(self, path: Path) -> str | None:
        try:
            return path.relative_to(self.top).as_posix()
        except ValueError:
            return None


class History:
    """The commits that configs are compared with, by repository: one for a run of the command, or for a session."""

    def __init__(self, revision: str = HEAD) -> None:
        self.revision = revision
        self._known: dict[Path, tuple[object, Committed | None]] = {}

    @property
    def then(self) -> str:
        """How a message names the commit."""
        return "in the last commit" if self.revision == HEAD else f"at `{self.revision}`"

    @staticmethod
    def told_by(top: Path) -> Path | None:
        """The file that changes with each commit and each checkout of a repository."""
        folder = folder_of(top)
        return folder / "logs" / "HEAD" if folder is not None else None

    def at(self, top: Path) -> Committed | None:
        """A repository at the revision; None where it has no such history. Raises UnknownRevision for one that was named."""
        stamp = _head_stamp(top) if self.revision == HEAD else HEAD
        known = self._known.get(top)
        if known is not None and known[0] == stamp:
            return known[1]  # an editor asks after every key press
        commit = None
        if stamp is not None and folder_of(top) is not None:
            printed = ask(top, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{self.revision}^{{commit}}")
            commit = printed.decode().strip() if printed else None
            if commit is None and self.revision != HEAD:
                raise UnknownRevision(f"`{self.revision}` is no commit of the repository `{top}`")
        found = Committed(top, commit) if commit else None
        self._known[top] = (stamp, found)
        return found


class CommittedStore(DocumentStore):
    """Documents as they were committed; a file that was not is read as it is, since it cannot have changed by a commit."""

    def __init__(self, committed: Committed) -> None:
        super().__init__()
        self._committed = committed

    def text_of(self, path: Path) -> str | Unreadable:
        """As in every store."""
        data = self._committed.read(path)
        try:
            return Source.from_bytes(path, data).text if data is not None else super().text_of(path)
        except UndecodableText:
            return _unreadable(path)

    def _remembered(self, name: object, path: Path, make: Callable[[Source], _T]) -> _T | Unreadable:
        if not self._committed.knows(path):
            return super()._remembered(name, path, make)
        if name not in self._memo:
            data = self._committed.read(path)
            try:
                value = make(Source.from_bytes(path, data)) if data is not None else _unreadable(path)
            except UndecodableText:
                value = _unreadable(path)
            self._memo[name] = (None, value)
        return self._memo[name][1]  # type: ignore[return-value]


def _unreadable(path: Path) -> Unreadable:
    return Unreadable(path, f"what is committed as `{path}` cannot be read", "other")


def _head_stamp(top: Path) -> object:
    """What tells whether HEAD is still the same commit, without a process; None where there is no repository."""
    folder = folder_of(top)
    if folder is None:
        return None
    head = _text(folder / "HEAD")
    if not head.startswith("ref: "):
        return head
    common = Path(os.path.normpath(folder / (_text(folder / "commondir") or ".")))
    name = head[5:]
    return head, _text(folder / name) or _text(common / name), _stat(common / "packed-refs"), _stat(common / "reftable")


def _index_stamp(top: Path) -> object:
    given = os.environ.get("GIT_INDEX_FILE")  # git hands its hooks another index for a commit of some files
    folder = folder_of(top)
    return _stat(top / given if given else folder / "index") if folder is not None else None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="surrogateescape").strip()
    except OSError:
        return ""


def _stat(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
