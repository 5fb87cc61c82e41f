"""A project as the analyzer sees it: settings, the folder of the caller, texts in place of files, which files count."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from .history import CommittedStore, History
from .lazily import cached_property
from .model.config import TrainingConfig, read_config
from .model.context import Context, GivenLauncher
from .model.presence import Presence, on_disk
from .model.reading import readings
from .model.runtime import Runtime, runtime_in_use
from .records import dataclass
from .repository import OUTPUT_FOLDER, PASSED_OVER, YAML_SUFFIXES, Repositories, Repository, walk
from .settings import RuntimeContext, Settings, repository_root, runtime_context
from .syntax.nodes import Document
from .syntax.store import DocumentStore, Unreadable

if TYPE_CHECKING:
    from .model.indexes import IndexReader
    from .model.launcher.facts import Launcher

__all__ = ["OUTPUT_FOLDER", "YAML_SUFFIXES", "Discovery", "Project"]


@dataclass(frozen=True, slots=True)
class Discovery:
    """The YAML files behind the paths a user named, and a sentence for each path that leads nowhere."""

    files: tuple[Path, ...]
    problems: tuple[tuple[Path, str], ...]


@dataclass(frozen=True, eq=False)
class Project:
    """The inputs of an analysis. Paths are absolute; `overlays` are texts that stand in place of files."""

    settings: Settings
    cwd: Path
    overlays: Mapping[Path, str] = field(default_factory=dict)
    blends: tuple[Path, ...] = ()
    launchers: tuple[Path, ...] = ()  #: launchers the user named: they start every config at hand
    store: DocumentStore = field(default_factory=DocumentStore)
    repositories: Repositories = field(default_factory=Repositories)  #: what lies beside the files that are judged
    presence: Presence = on_disk  #: how rules ask whether a file is there that is not read
    indexes: IndexReader | None = None  #: looks at index files on this disk, where that is asked for
    history: History | None = field(default_factory=History)  #: what configs are compared with; None for nothing

    def __post_init__(self) -> None:
        if self.overlays and not self.store.overlays:
            object.__setattr__(self, "store", DocumentStore(self.overlays))

    def with_overlays(self, texts: Mapping[Path, str]) -> Project:
        """The same project with these texts in place of files; what was parsed before is remembered."""
        overlays = {**self.overlays, **texts}
        return replace(self, overlays=overlays, store=self.store.with_overlays(texts))

    @property
    def launch_dir(self) -> Path:
        """Where training is started: relative data and blend paths begin there."""
        return self.settings.launch_dir or self.cwd

    @cached_property
    def stated_runtime(self) -> RuntimeContext:
        """What the user says of the place where training runs. Raises SettingsError."""
        return runtime_context(self.settings)

    def launchers_of(self, config: Path, *, alone: bool) -> tuple[GivenLauncher, ...]:
        """The scripts that may start a config: those the user names, assigned to a config judged alone, else those found."""
        found: dict[Path, GivenLauncher] = {}
        relative = os.path.relpath(config, self.settings.root).replace(os.sep, "/")
        for pattern, script in self.settings.launchers.items():
            if fnmatch.fnmatch(relative, pattern):
                path = Path(os.path.normpath(self.settings.root / script))
                found[path] = GivenLauncher(path, assigned=True)
        for path in self.launchers:
            found.setdefault(path, GivenLauncher(path, assigned=alone))
        if not found:
            repository = self.repository_of(config)
            trainers, rivals = repository.trainers_of(config), repository.has_rivals(config)
            found = {
                path: GivenLauncher(path, trainers=trainers, rivals=rivals)
                for path in repository.launchers_naming(config)
            }
        return tuple(found.values())

    def repository_of(self, file: Path) -> Repository:
        """What lies in the repository of a file; in its folder, where there is none."""
        settings = self.settings
        excluded = self.excludes if settings.exclude else None
        return self.repositories.at(self._top(file.parent), (settings.root, settings.exclude), excluded)

    def _top(self, folder: Path) -> Path:
        tops = self.repositories.tops
        if folder not in tops:
            tops[folder] = repository_root(folder)
        return tops[folder]

    def read_launcher(self, path: Path) -> Launcher | Unreadable:
        """What a launcher says, read once as long as its text stays."""
        from .model.launcher.reader import read_launcher  # its parsers are loaded only where a launcher is judged

        return self.store.made(path, read_launcher)

    def context(self, config: Path, *, alone: bool = False) -> Context:
        """What the model is told beside a config; `alone` where it is the only file that is judged."""
        settings = self.settings
        return Context(
            self.store.load,
            self.launch_dir,
            self._top(config.parent),
            seed=settings.seed,
            indexes_root=settings.indexes_root,
            index_pack_root=settings.index_pack_root,
            variables=settings.variables,
            blends=self.blends,
            stated=self.stated_runtime,
            pack_threshold=settings.pack_threshold,
            walltime_margin=settings.walltime_margin,
            presence=self.presence,
            require_suppression_reason=settings.require_suppression_reason,
            launchers=self.launchers_of(config, alone=alone),
            read_launcher=self.read_launcher,
            runtime=self.runtime(config),
            indexes=self.indexes,
            earlier=self.earlier if self.history is not None else None,
            then=self.history.then if self.history is not None else "",
        )

    def commits_of(self, file: Path) -> Path | None:
        """The file that tells of new commits in the repository of a file, where configs are compared with them."""
        return self.history.told_by(self._top(file.parent)) if self.history is not None else None

    def earlier(self, config: TrainingConfig) -> TrainingConfig | None:
        """A config as it was committed; None where it was not, or where nothing that it reads has changed since."""
        history, path = self.history, config.document.source.path
        committed = history.at(self._top(path.parent)) if history is not None else None
        if committed is None:
            return None
        read = [
            *(reading.document.source for reading in readings(config)),
            *(each.source for each, _ in config.launchers),
        ]
        if not any(map(committed.differs, read)) or not committed.knows(path):
            return None
        if path not in committed.memo:
            store = committed.memo.setdefault("store", CommittedStore(committed))
            assert isinstance(store, CommittedStore)
            then = replace(self, overlays={}, store=store, presence=on_disk, indexes=None, history=None)
            document = store.load(path)
            if isinstance(document, Document) and document.parses:
                committed.memo[path] = read_config(document, then.context(path))
            else:
                committed.memo[path] = None
        return committed.memo[path]  # type: ignore[return-value]

    def runtime(self, config: Path) -> Runtime:
        """What the NeMo and Lhotse that a config is started with can do."""
        settings = self.settings
        return runtime_in_use(
            self._top(config.parent),
            profile=settings.profile,
            nemo=settings.nemo,
            lhotse=settings.lhotse,
            packages=self.stated_runtime.packages,
        )

    def discover(self, paths: Sequence[Path], *, force_exclude: bool = False) -> Discovery:
        """Find the YAML files below folders; a file named by the user counts whatever its name is."""
        files: dict[Path, None] = {}
        problems: list[tuple[Path, str]] = []
        for path in paths:
            absolute = Path(os.path.normpath(self.cwd / path))
            if absolute.is_dir():
                found = list(self._walk(absolute))
                if not found:
                    problems.append((path, f"there is no YAML file in the folder `{path}`"))
                files.update(dict.fromkeys(found))
            elif absolute.exists() or absolute in self.overlays:
                if not (force_exclude and (self.excludes(absolute) or self._passed_over(absolute))):
                    files[absolute] = None
            else:
                problems.append((path, f"there is no `{path}`; check the path"))
        return Discovery(tuple(files), tuple(problems))

    def _walk(self, folder: Path) -> list[Path]:
        return [
            path
            for top, names in walk(folder, self.excludes)
            for name in names
            if name.endswith(YAML_SUFFIXES) and not self.excludes(path := Path(top, name))
        ]

    def _passed_over(self, path: Path) -> bool:
        """Whether a walk would not come to a path: our own output, other people's packages."""
        root = self.settings.root
        return path.is_relative_to(root) and not PASSED_OVER.isdisjoint(path.relative_to(root).parts)

    def excludes(self, path: Path) -> bool:
        """Whether the settings leave a path out."""
        if not self.settings.exclude:
            return False
        relative = os.path.relpath(path, self.settings.root).replace(os.sep, "/")
        parts = relative.split("/")
        return any(
            fnmatch.fnmatch(relative, pattern) or any(fnmatch.fnmatch(part, pattern.rstrip("/")) for part in parts)
            for pattern in self.settings.exclude
        )
