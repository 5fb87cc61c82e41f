"""When texts are judged, and when what was found is shown: at once, or when typing pauses that has overtaken a run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from lsprotocol import types

from .client import Client
from .diagnosing import Abilities, diagnostics
from .documents import OpenDocument
from .session import AT_ONCE_SECONDS, SETTINGS_FILES, Session

#: How long typing has to pause before a costly run, once it has overtaken one.
PAUSE_SECONDS = 0.15
_IDLE_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Shown:
    """What the client was last told of a file."""

    version: int | None
    diagnostics: list[types.Diagnostic]
    number: int  #: goes up with each change; the result id of a client that asks
    results: tuple[int, ...]  #: the serials of the results that it comes from


class Tidy(Protocol):
    """Looks for garbage where it is worth it."""

    def __call__(self, *, idle: bool) -> None: ...


def _leave(*, idle: bool) -> None:
    """Leave it to Python's own collector, as long as nobody has taken over from it."""


class Checker:
    """One task that runs while something is due."""

    def __init__(self, session: Session, client: Client) -> None:
        self._session = session
        self._client = client
        self._task: asyncio.Task[None] | None = None
        self._changed_at = 0.0
        self._overtaken = False  #: whether a text was changed while it was being judged
        self._shown: dict[Path, Shown] = {}
        self._pushed: set[Path] = set()
        self._number = 0
        self.waiting: Callable[[], int] = lambda: 0  #: how many messages have come in and are not handled yet
        self.tidy: Tidy = _leave  #: called when what was made may be garbage by now

    def wake(self) -> None:
        """Something has changed: judge what depends on it, soon."""
        loop = asyncio.get_running_loop()
        self._changed_at = loop.time()
        if self._task is None or self._task.done():
            self._task = loop.create_task(self._run())
            self._task.add_done_callback(self._ended)

    def closed(self, document: OpenDocument) -> None:
        """A text was closed: nothing is shown of it any more, unless an open file brings findings into it."""
        if not self._session.analyses.of(document.path):
            self._show(document.path, document.uri)
        self.wake()

    def files_changed(self, paths: list[Path], *, listing: bool = False) -> None:
        """Files have changed on disk; with `listing` some came or went."""
        if any(path.name in SETTINGS_FILES for path in paths):
            self._client.forgive()
        self._session.touched(paths, listing=listing)
        self.wake()

    async def rest(self) -> None:
        """Wait until nothing is being judged and no message waits: work in the background begins after it."""
        while True:
            task = self._task
            if task is not None and not task.done():
                await asyncio.wait([task])
            elif self.waiting():
                await asyncio.sleep(0.01)
            else:
                return

    def _ended(self, task: asyncio.Task[None]) -> None:
        asyncio.get_running_loop().call_later(_IDLE_SECONDS, self._idle)
        if not task.cancelled() and isinstance(error := task.exception(), Exception):
            self._client.bug(error)

    def _idle(self) -> None:
        if self._task is not None and self._task.done() and not self.waiting():
            self.tidy(idle=True)

    async def _run(self) -> None:
        session = self._session
        while True:
            await self._calm()
            due = [document for document in session.documents if session.due(document.path)]
            generation = session.generation
            for document in due:
                await session.attempt(document.path)
            self._overtaken = session.generation != generation
            self._show_all()
            session.analyses.sweep()
            self.tidy(idle=False)
            if not any(session.due(document.path) for document in session.documents):
                return

    async def _calm(self) -> None:
        """Wait until it makes sense to judge: no further message is at hand, and where typing has overtaken a costly run,
        it has come to a pause."""
        loop = asyncio.get_running_loop()
        session = self._session
        started = loop.time()
        while self.waiting() and loop.time() - started < PAUSE_SECONDS:
            await asyncio.sleep(0)
        while self._overtaken and sum(map(session.cost, session.open_paths())) > AT_ONCE_SECONDS:
            left = self._changed_at + PAUSE_SECONDS - loop.time()
            if left <= 0:
                return
            await asyncio.sleep(left)

    # What is shown

    def _show_all(self) -> None:
        """Show what is fresh: every open file, and the files into which they bring findings."""
        session = self._session
        open_paths = session.open_paths()
        related = {
            finding.location.file
            for result in session.analyses.results.values()
            if session.is_wanted(result)
            for finding in result.analysis.findings
        }
        refresh = False
        for path in dict.fromkeys((*open_paths, *related, *self._pushed)):  # what is looked at comes first
            document = session.documents.at(path)
            if document is not None and session.due(document.path):
                continue
            before = self._shown.get(path)
            changed = self._show(path, session.uri_of(path))
            if changed and before is not None and document is not None:
                # Of a text that it has changed itself, the client asks by itself.
                refresh = refresh or before.version == document.version
        if refresh and self._client.pulls:
            self._client.refresh_diagnostics()

    def _show(self, path: Path, uri: str) -> bool:
        """Bring what the client knows of a file up to date; whether that was a change."""
        document = self._session.documents.at(path)
        shown = self._current(path)
        before = self._shown.get(path)
        pushes = document is None or not self._client.pulls
        wanted = bool(shown.diagnostics) if document is None else True
        if pushes and (wanted or path in self._pushed):
            if (
                before is None
                or path not in self._pushed
                or (before.version, before.number)
                != (
                    shown.version,
                    shown.number,
                )
            ):
                self._client.publish(uri, shown.version, shown.diagnostics)
            self._pushed.add(path)
        elif not pushes and path in self._pushed:
            self._client.publish(uri, None, [])
            self._pushed.discard(path)
        if not wanted:
            self._pushed.discard(path)
            self._shown.pop(path, None)
        else:
            self._shown[path] = shown
        return before is None or before.number != shown.number

    def _current(self, path: Path) -> Shown:
        """What is to be shown of a file now."""
        session = self._session
        document = session.documents.at(path)
        before = self._shown.get(path)
        version = document.version if document is not None else None
        results = tuple(result.serial for result in session.analyses.of(path))
        if before is not None and before.results == results:
            return replace(before, version=version)
        findings = session.analyses.findings(path)
        found = diagnostics(findings, session.encoding, session.uri_of, Abilities.of(self._client))
        if before is not None and before.diagnostics == found:
            return replace(before, version=version, results=results)
        self._number += 1
        return Shown(version, found, self._number, results)

    def workspace_report(self, previous: dict[str, str]) -> list[types.WorkspaceDocumentDiagnosticReport]:
        """What is known of all files, open or not; those of which nothing new is known are only named."""
        session = self._session
        paths = {f.location.file for result in session.analyses.results.values() for f in result.analysis.findings}
        told = {path for uri in previous if (path := session.path_of(uri)) is not None}
        reports: list[types.WorkspaceDocumentDiagnosticReport] = []
        for path in sorted(paths | told):
            uri = session.uri_of(path)
            shown = self._shown[path] = self._current(path)
            name = str(shown.number)
            if previous.get(uri) == name:
                reports.append(types.WorkspaceUnchangedDocumentDiagnosticReport(uri, name, version=shown.version))
            else:
                reports.append(
                    types.WorkspaceFullDocumentDiagnosticReport(
                        uri, shown.diagnostics, version=shown.version, result_id=name
                    )
                )
        return reports

    async def report(self, uri: str, previous: str | None) -> types.DocumentDiagnosticReport:
        """What a client is answered that asks for a file."""
        session = self._session
        document = session.documents.get(uri)
        if document is None:
            return types.RelatedFullDocumentDiagnosticReport(items=[])
        path = document.path
        await session.fresh(path)
        shown = self._shown[path] = self._current(path)
        if previous == str(shown.number):
            return types.RelatedUnchangedDocumentDiagnosticReport(result_id=previous)
        return types.RelatedFullDocumentDiagnosticReport(items=shown.diagnostics, result_id=str(shown.number))
