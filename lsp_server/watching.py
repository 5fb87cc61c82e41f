"""Files that nobody tells us of: those a client cannot watch are looked at every few seconds."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .analyses import Result
    from .server import Server

EVERY_SECONDS = 2.0
_MOST = 5000
State = tuple[int, int, int] | None


def state(path: Path) -> State:
    """What changes when a file does; None where there is none."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def states(paths: Iterable[Path]) -> dict[Path, State]:
    """The states of files."""
    return {path: state(path) for path in paths}


class Watcher:
    """Looks at what the results of open files depend on, as far as the client does not watch it."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self.client_watches = False  #: whether the client tells of changes in its folders
        self._known: dict[Path, State] = {}
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to look."""
        if self._task is None:
            self._server.session.after.append(self._note)
            self._task = asyncio.get_running_loop().create_task(self._run())

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(EVERY_SECONDS)
            try:
                await self._look()
            except Exception as error:
                self._server.report_server_error(error, type(error))

    def _note(self, results: Iterable[Result]) -> None:
        """Look at what fresh results depend on at once: it may change before the next round."""
        for path in {path for result in results for path in result.reads} - self._known.keys():
            if len(self._known) < _MOST and not self._told_of(path):
                self._known[path] = state(path)

    async def _look(self) -> None:
        session = self._server.session
        wanted = [path for path in session.dependencies() if not self._told_of(path)][:_MOST]
        now = await asyncio.to_thread(states, wanted)
        changed = [path for path, seen in now.items() if path in self._known and self._known[path] != seen]
        before, self._known = self._known, now
        if changed:
            listing = any(now[path] is None or before[path] is None for path in changed)
            self._server.checker.files_changed(changed, listing=listing)

    def _told_of(self, path: Path) -> bool:
        watched = self.client_watches and self._server.session.projects.folder_of(path) is not None
        return watched and ".git" not in path.parts  # of commits, no client tells
