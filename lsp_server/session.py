"""One client's session: open texts, settings, and results that are as fresh as the texts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from lsprotocol import types
from nemo_resumable.core.project import YAML_SUFFIXES, Project
from nemo_resumable.core.repository import is_script
from nemo_resumable.core.settings import OWN_FILE
from nemo_resumable.core.syntax.nodes import Document
from nemo_resumable.core.text import Source

from . import uris
from .analyses import Analyses, Result, failed, judge
from .documents import Documents, OpenDocument
from .projects import Projects
from .store import Memo, forget
from .view import FileView

_T = TypeVar("_T")

#: A run that takes no longer than this is made at once, on the thread that reads messages.
AT_ONCE_SECONDS = 0.02
INDEX_SUFFIXES = (".idx", ".idxpack")
SETTINGS_FILES = (OWN_FILE, "pyproject.toml")
UNKNOWN_SECONDS = 1.0


class Session:
    """Everything that is known between two messages; only the event loop's thread touches it."""

    def __init__(self, complain: Callable[[str], None], bug: Callable[[Exception], None]) -> None:
        self._bug = bug
        self._cold = True  #: whether what lies in the repositories has to be listed with the next run
        self.documents = Documents()
        self.projects = Projects(complain)
        self.analyses = Analyses()
        self.encoding = "utf-16"
        self.generation = 0  #: goes up with every change of a text or of the settings
        self.after: list[Callable[[Iterable[Result]], None]] = []  #: told of fresh results
        self._memo: Memo = {}
        self._lock = asyncio.Lock()
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="analysis")
        self._helper = ThreadPoolExecutor(1, thread_name_prefix="fixes")

    # Texts

    def open(self, item: types.TextDocumentItem) -> OpenDocument:
        """A text is open now, and stands in place of its file."""
        name = uris.file_path(item.uri)
        path = Path(name) if name is not None else uris.stand_in(item.uri, self.projects.home())
        document = OpenDocument.opened(item, path, is_file=name is not None)
        self.documents.open(document)
        self._touch(document.paths)
        return document

    def change(
        self, uri: str, version: int, changes: Iterable[types.TextDocumentContentChangeEvent]
    ) -> OpenDocument | None:
        """The next version of an open text; None where it is not open."""
        document = self.documents.get(uri)
        if document is None:
            return None
        document = document.changed(version, changes, self.encoding)
        self.documents.open(document)
        self._touch(document.paths)
        return document

    def close(self, uri: str) -> OpenDocument | None:
        """A text is closed: what counts is its file again."""
        document = self.documents.close(uri)
        if document is not None:
            self._touch(document.paths)
            self._drop_unwanted()
        return document

    def touched(self, paths: Iterable[Path], *, listing: bool) -> None:
        """Files have changed on disk, with `listing` came or went; those that are open stay what the editor says."""
        paths = list(paths)
        changed = [path for path in paths if self.documents.at(path) is None]
        if any(path.name in SETTINGS_FILES or path.suffix in INDEX_SUFFIXES for path in paths):
            self.reconfigured()  # what was seen of index files is remembered with the settings
        if any(is_script(path) for path in paths):  # it may start any config by now, or none
            self.analyses.stale.update(self.analyses.results)
            listing = True
        if listing:
            self.projects.repositories.forget()
            self._cold = True
        gone = set(changed)
        forget(self._memo, lambda path: path in gone)
        self._touch(changed)

    def restart(self) -> None:
        """Forget everything but the open texts: settings, results, and what was parsed."""
        self._memo.clear()
        self.analyses = Analyses()
        self.reconfigured()

    def reconfigured(self) -> None:
        """Settings, options or folders have changed: every result is stale."""
        self.projects.forget()
        self._cold = True
        self.analyses.stale.update(self.analyses.results)
        self.generation += 1

    # Results

    def roots(self, path: Path) -> list[Path]:
        """What has to be judged so that a file is: the configs that read it, and itself where none reads it as a blend."""
        if not self.is_yaml(path):
            return sorted(self.analyses.configs_reading(path))
        others = sorted(self.analyses.configs_reading(path) - {path})
        return others if self.projects.at(path).excludes(path) else [*others, path]

    def is_yaml(self, path: Path) -> bool:
        """Whether a file is read as YAML: by its name, or by what the editor says of it."""
        document = self.documents.at(path)
        return path.name.endswith(YAML_SUFFIXES) or (document is not None and document.language == "yaml")

    def due(self, path: Path) -> list[Path]:
        """The roots of a file that have to be judged now."""
        known = self.analyses
        due = [root for root in self.roots(path) if root not in known.results or root in known.stale]
        if path in due and len(due) == 1 and known.is_blend(path):
            return []  # it is judged with the config that reads it
        return due

    def cost(self, path: Path) -> float:
        """Seconds that judging what is due for a file will take, going by the last time; of a first time nothing is known."""
        known = {} if self._cold else self.analyses.results
        return sum(known[root].seconds if root in known else UNKNOWN_SECONDS for root in self.due(path))

    async def fresh(self, path: Path) -> None:
        """Judge what is due for a file. Cheap runs are made at once, others beside the messages that come in."""
        for document in self.documents:  # those that were never judged may be what reads it
            if document.path != path and document.path not in self.analyses.results:
                await self.attempt(document.path)
        while self.due(path):
            await self.attempt(path)

    async def attempt(self, path: Path) -> None:
        """Judge what is due for a file; where a text changes meanwhile, it is still due afterwards."""
        async with self._lock:
            if self.cost(path) <= AT_ONCE_SECONDS:
                self.judge_now(path)
            else:
                await self._judge_aside(path)

    def judge_now(self, path: Path) -> None:
        """Judge what is due for a file, here and now."""
        while due := self.due(path)[:1]:
            project, root, commented = self.project(due[0]), due[0], self._commented(due[0])
            try:
                result = judge(project, root, commented)
            except Exception as error:
                self._bug(error)
                result = failed(root)
            self._keep([result])

    async def _judge_aside(self, path: Path) -> None:
        due = self.due(path)
        if not due:
            return
        generation = self.generation
        loop = asyncio.get_running_loop()
        for project, root in [(self.project(root), root) for root in due]:
            try:
                result = await loop.run_in_executor(self._worker, judge, project, root, self._commented(root))
            except Exception as error:
                self._bug(error)
                result = failed(root)
            self._cold = False
            if self.generation != generation:
                return  # it speaks of a text that is no more; what is still due is found anew
            self._keep([result])
            if root != path and path in result.blends:
                return

    def _commented(self, root: Path) -> frozenset[Path]:
        before = self.analyses.results.get(root)
        return before.commented if before is not None else frozenset()

    def project(self, path: Path) -> Project:
        """The project of a file with the open texts in place of files."""
        return self.projects.noting(path, self.documents.texts(), self._memo)

    def _keep(self, results: list[Result]) -> None:
        for result in results:
            self.analyses.keep(result)
        for told in self.after:
            told(results)

    def _touch(self, paths: Iterable[Path]) -> None:
        self.generation += 1
        for path in paths:
            self.analyses.stale.update(self.analyses.touching(path))

    def _drop_unwanted(self) -> None:
        """Forget results that no open text needs, and what was parsed for them."""
        for root, result in list(self.analyses.results.items()):
            if not self.is_wanted(result):
                self.analyses.drop(root)
        needed = {path for result in self.analyses.results.values() for path in result.reads}
        forget(self._memo, lambda path: path not in needed)

    async def aside(self, work: Callable[[], _T]) -> _T:
        """Do something long beside the messages that come in, one such thing at a time."""
        return await asyncio.get_running_loop().run_in_executor(self._helper, work)

    # What is known beside

    def open_paths(self) -> set[Path]:
        """The paths of all open texts."""
        return {document.path for document in self.documents}

    def dependencies(self) -> set[Path]:
        """Every path that what is shown depends on, and that is a file's."""
        open_paths = self.open_paths()
        read = {path for result in self.analyses.results.values() if result.reads & open_paths for path in result.reads}
        return read - open_paths

    def keep_aside(self, result: Result) -> None:
        """Take in what a look at the workspace has found of a file that is not open."""
        if result.root in self.analyses.results and not self._judged_unopened(result.root):
            return  # an open file needs it, and keeps it fresh
        if self._judged_unopened(result.root):
            self.analyses.keep(result)
        elif result.is_config:
            self.analyses.note_reader(result.root, result.reads)
        else:
            self.analyses.forget_reader(result.root)

    def is_wanted(self, result: Result) -> bool:
        """Whether an open text depends on a result, or the user wants files judged that are not open."""
        return not result.reads.isdisjoint(self.open_paths()) or self._judged_unopened(result.root)

    def _judged_unopened(self, root: Path) -> bool:
        """Whether a file is judged although it is not open."""
        return self.projects.options_at(root)["workspace-diagnostics"]

    # Views

    async def view(self, uri: str) -> FileView | None:
        """An open file with fresh results; None where it is not open, or is neither YAML nor read for a config."""
        document = self.documents.get(uri)
        if document is None:
            return None
        await self.fresh(document.path)
        return self.view_now(uri)

    def view_now(self, uri: str) -> FileView | None:
        """The same with the results at hand, which may be those of an earlier version."""
        document = self.documents.get(uri)
        if document is None:
            return None
        path = document.path
        project = self.project(path)
        results = self.analyses.of(path)
        if self.is_yaml(path):
            syntax = project.store.load(path)
        elif results:
            syntax = Document(Source.from_text(path, document.text), None)  # a launcher: text without YAML in it
        else:
            return None
        if not isinstance(syntax, Document):
            return None
        return FileView(
            document,
            path,
            project,
            syntax,
            tuple(results),
            self.analyses.findings(path),
            self.encoding,
            self.projects.options_at(path),
            self.uri_of,
        )

    def path_of(self, uri: str) -> Path | None:
        """The path behind a URI; None where it is not open and no file."""
        document = self.documents.get(uri)
        name = uris.file_path(uri)
        return document.path if document is not None else Path(name) if name is not None else None

    def uri_of(self, path: Path) -> str:
        """The URI of a path, in the client's own spelling where it has told us one."""
        document = self.documents.at(path)
        return document.uri if document is not None else self.projects.uri_of(path)

    def stop(self) -> None:
        """End the workers; what they are at is not waited for."""
        for pool in (self._worker, self._helper):
            pool.shutdown(wait=False, cancel_futures=True)
