"""A look at the whole workspace in the background: which configs there are, and what each of them reads."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types
from nemo_resumable.core.discovery import concerned
from nemo_resumable.core.project import Project

from .analyses import Result, judge
from .housekeeping import release
from .progress import Progress
from .store import Memo

if TYPE_CHECKING:
    from .server import Server

#: Files are judged so long before messages and the user's own file have their turn.
_SLICE_SECONDS = 0.03
#: A workspace with fewer files is looked at without a word.
_FEW = 50


class Scanner:
    """Judges the files of the workspace one after the other, whenever nothing else is to be done."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="scan")
        self._task: asyncio.Task[None] | None = None
        self._wanted: dict[Path, None] = {}
        self._lookup: asyncio.Task[None] | None = None
        self._complete = False  #: whether all files were looked at once
        self._queue: dict[Path, None] = {}
        self._memo: Memo = {}

    def start(self) -> None:
        """Look at every file of the workspace anew."""
        self.stop()
        self._complete = False
        self._task = asyncio.get_running_loop().create_task(self._everything())
        self._task.add_done_callback(self._ended)

    def again(self, paths: Iterable[Path]) -> None:
        """Look at some files again, which have changed on disk."""
        session = self._server.session
        if not session.projects.options_at(session.projects.home() / "any")["scan-workspace"]:
            return
        self._queue.update(dict.fromkeys(path for path in paths if session.is_yaml(path) and not self._left_out(path)))
        if self._queue and (self._task is None or self._task.done()):
            self._task = asyncio.get_running_loop().create_task(self._queued(None))
            self._task.add_done_callback(self._ended)

    def _left_out(self, path: Path) -> bool:
        """Whether a look at everything would not come to a file: our own artifacts, other people's packages."""
        project = self._server.session.projects.at(path)
        return path.exists() and not project.discover([path], force_exclude=True).files

    def look_for_readers(self, path: Path) -> None:
        """Find out now which configs read a file or are started by it: it is open, and waits to be judged with them."""
        if self._complete and self._server.session.projects.folder_of(path) is not None:
            return  # it is known
        self._wanted[path] = None
        if self._lookup is None or self._lookup.done():
            self._lookup = asyncio.get_running_loop().create_task(self._readers())
            self._lookup.add_done_callback(self._ended)

    async def _readers(self) -> None:
        session = self._server.session
        while self._wanted:
            path = next(iter(self._wanted))
            repository = session.projects.at(path).repository_of(path)
            together = [each for each in self._wanted if session.projects.at(each).repository_of(each) is repository]
            texts = session.documents.texts()
            memo: Memo = {}

            def project_at(file: Path, texts: Mapping[Path, str] = texts, memo: Memo = memo) -> Project:
                return session.projects.noting(file, texts, memo)

            found = await asyncio.get_running_loop().run_in_executor(
                self._pool, concerned, together, repository, project_at
            )
            for config, cause in found.items():
                known = session.analyses.readers.get(config, frozenset())
                session.analyses.note_reader(config, known | {config, cause})
            for each in together:
                self._wanted.pop(each, None)
            self._server.checker.wake()

    def stop(self) -> None:
        """Stop looking; what was seen stays known."""
        if self._task is not None:
            self._task.cancel()
        self._queue.clear()
        self._memo.clear()

    def close(self) -> None:
        """Stop for good."""
        self.stop()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _ended(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and isinstance(error := task.exception(), Exception):
            self._server.report_server_error(error, type(error))

    async def _everything(self) -> None:
        session = self._server.session
        loop = asyncio.get_running_loop()
        folders = list(session.projects.folders.values())
        for folder in folders:
            if session.projects.options_at(folder / "any")["scan-workspace"]:
                project = session.projects.at(folder / "any")
                found = await loop.run_in_executor(self._pool, project.discover, [folder])
                self._queue.update(dict.fromkeys(found.files))
        if len(self._queue) < _FEW:
            await self._queued(None)
        else:
            async with Progress(self._server, "Looking for training configs") as progress:
                await self._queued(progress)
                if progress.cancelled:
                    return
        self._complete = all(session.projects.options_at(folder / "any")["scan-workspace"] for folder in folders)

    async def _queued(self, progress: Progress | None) -> None:
        """Judge what is in the queue."""
        server = self._server
        loop = asyncio.get_running_loop()
        done, told, configs = 0, -1, 0
        while self._queue:
            await server.checker.rest()
            batch = list(self._queue)[:50]
            generation = server.session.generation
            results = await loop.run_in_executor(self._pool, self._slice, batch)
            for path, result in zip(batch, results):
                self._queue.pop(path, None)
                done += 1
                if result is None or server.session.documents.at(path) is not None:
                    continue
                if server.session.generation != generation and result.reads & server.session.open_paths():
                    self._queue[path] = None  # it has read a text that has changed meanwhile
                    continue
                configs += result.is_config
                server.session.keep_aside(result)
            self._memo.clear()
            server.checker.tidy(idle=False)
            percentage = 100 * done // max(done + len(self._queue), 1)
            if progress is not None and percentage != told:
                if progress.cancelled:
                    self._queue.clear()
                    return
                progress.report(f"{done:,} of {done + len(self._queue):,} files, {configs:,} configs", percentage)
                told = percentage
        server.checker.wake()
        server.client.trace(f"looked at {done} files, {configs} of them training configs")

    def _slice(self, batch: list[Path]) -> list[Result | None]:
        """Results of the first files of a batch, as many as fit into the time; None for one that fails."""
        session = self._server.session
        texts = session.documents.texts()
        started = time.perf_counter()
        results: list[Result | None] = []
        for path in batch:
            try:
                result = judge(session.projects.noting(path, texts, self._memo), path)
                results.append(replace(result, analysis=replace(result.analysis, models=())))
                for model in result.analysis.models:
                    release(model)
            except Exception as error:
                server = self._server
                server.client.log_later(f"internal error while looking at {path}: {error!r}", types.MessageType.Error)
                results.append(None)
            if time.perf_counter() - started > _SLICE_SECONDS:
                break
        return results
