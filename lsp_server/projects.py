"""Which project a file belongs to: the workspace folders, the nearest settings file, the editor's options on top."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nemo_resumable.core.analysis import known_rule_names
from nemo_resumable.core.project import Project
from nemo_resumable.core.repository import Repositories
from nemo_resumable.core.settings import (
    Settings,
    SettingsError,
    check_rules,
    load_settings,
    merged,
    repository_root,
    runtime_context,
)

from . import uris
from .options import Options
from .store import Memo, NotingStore

if TYPE_CHECKING:
    from nemo_resumable.core.model.indexes import IndexReader


@dataclass(slots=True)
class Projects:
    """Gives each file its project. `complain` is called with a sentence about settings that cannot be used."""

    complain: Callable[[str], None]
    folders: dict[str, Path] = field(default_factory=dict)  #: workspace folders: URI as the client wrote it → path
    options: dict[Path | None, Options] = field(default_factory=dict)  #: None: for files of no workspace folder
    repositories: Repositories = field(default_factory=Repositories)  #: listed once, until a file comes or goes
    _settings: dict[Path, Settings] = field(default_factory=dict)
    _projects: dict[tuple[Path, Path], Project] = field(default_factory=dict)

    def forget(self) -> None:
        """Read all settings again: a settings file, a folder or an option has changed."""
        self.repositories.forget()
        self._settings.clear()
        self._projects.clear()

    def folder_of(self, path: Path) -> Path | None:
        """The innermost workspace folder that holds a path."""
        holding = [folder for folder in self.folders.values() if path.is_relative_to(folder)]
        return max(holding, key=lambda folder: len(folder.parts), default=None)

    def uri_of(self, path: Path) -> str:
        """The URI of a file, which begins as the client writes its folder."""
        for uri, folder in self.folders.items():
            if path != folder and path.is_relative_to(folder):
                own = uris.path_uri(str(folder))
                return uri.rstrip("/") + uris.path_uri(str(path)).removeprefix(own)
        return uris.path_uri(str(path))

    def options_at(self, path: Path) -> Options:
        """The editor's options for a path."""
        found = self.options.get(self.folder_of(path))
        return found if found is not None else self.options.get(None) or Options()

    def home(self) -> Path:
        """The folder in which a text without a file is taken to lie."""
        return next(iter(self.folders.values()), Path.cwd())

    def at(self, path: Path) -> Project:
        """The project of a file, without overlays. Training starts in the workspace folder where nothing else is said."""
        folder = path.parent
        cwd = self.folder_of(path) or repository_root(folder)
        known = self._projects.get((folder, cwd))
        if known is None:
            options = self.options_at(path)
            settings = self._merged(self._load(folder), options.settings)
            reader = _index_reader() if options["indexes"] else None
            known = Project(settings, cwd, repositories=self.repositories, indexes=reader)
            self._projects[folder, cwd] = known
        return known

    def noting(self, path: Path, texts: Mapping[Path, str], memo: Memo) -> Project:
        """The project of a file with these texts in place of files; it notes which paths are asked for."""
        store = NotingStore(texts, memo)
        return replace(self.at(path), overlays=texts, store=store, presence=store.presence)

    def _load(self, folder: Path) -> Settings:
        try:
            settings = load_settings(folder, self._settings)
            check_rules(settings, known_rule_names())
            runtime_context(settings)
        except SettingsError as error:
            self.complain(str(error))
            settings = Settings(repository_root(folder))
        except OSError as error:
            self.complain(f"{error.filename or folder}: {error.strerror or error}")
            settings = Settings(folder)
        return settings

    def _merged(self, settings: Settings, options: Mapping[str, Any]) -> Settings:
        chosen = merged(settings, **options)
        try:
            runtime_context(chosen)
        except SettingsError as error:
            self.complain(str(error))
            chosen = merged(settings, **{name: value for name, value in options.items() if name != "runtime"})
        return chosen


def _index_reader() -> IndexReader:
    from nemo_resumable.core.model.indexes import IndexReader  # loaded only where somebody wants it

    return IndexReader()
