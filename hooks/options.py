"""What the arguments that commands share mean: settings with them on top, and the projects of the paths named."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nemo_resumable.core.analysis import known_rule_names
from nemo_resumable.core.discovery import concerned, is_config
from nemo_resumable.core.history import HEAD, History
from nemo_resumable.core.project import Project
from nemo_resumable.core.repository import Repositories, is_script
from nemo_resumable.core.settings import (
    PROFILES,
    SEVERITIES,
    Settings,
    check_rules,
    load_settings,
    merged,
    near_match,
    repository_root,
)
from nemo_resumable.core.settings_toml import rule_word

if TYPE_CHECKING:
    from nemo_resumable.core.model.indexes import IndexReader


class UsageError(Exception):
    """The command line cannot be carried out; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Group:
    """Files that the same settings hold for."""

    project: Project
    files: tuple[Path, ...]
    #: Of files that nobody named, the one that they are judged for.
    causes: Mapping[Path, Path] = field(default_factory=dict)


@dataclass(slots=True)
class Projects:
    """Gives each file the project whose settings are nearest to it; the arguments go on top of all of them."""

    arguments: argparse.Namespace
    cwd: Path = field(default_factory=Path.cwd)
    repositories: Repositories = field(default_factory=Repositories)
    _memo: dict[Path, Settings] = field(default_factory=dict)
    _projects: dict[Path | None, Project] = field(default_factory=dict)

    def at(self, folder: Path) -> Project:
        """The project that holds in a folder."""
        settings = load_settings(folder, self._memo)
        if settings.file not in self._projects:
            project = _project(settings, self.arguments, self.cwd)
            self._projects[settings.file] = replace(project, repositories=self.repositories)
        return self._projects[settings.file]

    def groups(
        self, paths: list[Path], *, force_exclude: bool, gone: Sequence[Path] = (), bases: bool = False
    ) -> tuple[list[Group], list[tuple[Path, str]]]:
        """The files behind the paths, by the settings that hold for them, and a sentence for each path without any.

        A file named that is no config stands for the configs that read it or are started by it, where there are any; so
        do those that are `gone`, and with `bases` also configs, for those that are based on them.
        """
        chosen = _Chosen({}, [], {})
        named: dict[Path, None] = {}
        for path in paths:
            try:
                named |= dict.fromkeys(self._add(path, force_exclude, chosen))
            except PermissionError:
                chosen.problems.append((path, f"`{path}` may not be read; check its permissions"))
        self._widen([*named, *gone], chosen, bases=bases)
        groups = [
            Group(project, tuple(files), {file: chosen.causes[file] for file in files if file in chosen.causes})
            for project, files in chosen.files.values()
            if files
        ]
        return groups, chosen.problems

    def _add(self, path: Path, force_exclude: bool, chosen: _Chosen) -> list[Path]:
        """Add what one path stands for; returns the files that are named themselves."""
        absolute = self.cwd / path
        folder = absolute.is_dir()
        outer = self.at(absolute if folder else absolute.parent)
        discovery = outer.discover([path], force_exclude=force_exclude)
        chosen.problems.extend(discovery.problems)
        for file in discovery.files:
            project = self.at(file.parent) if folder else outer
            if project is not outer and not project.discover([file], force_exclude=True).files:
                continue
            chosen.add(file, project)
        return [] if folder else list(discovery.files)

    def _widen(self, files: Sequence[Path], chosen: _Chosen, *, bases: bool) -> None:
        """Add the configs that the files concern; launchers themselves are read with the configs they start."""
        by_root: dict[Path, list[Path]] = {}
        for file in files:
            if bases or not is_config(file, self.at(file.parent)):
                by_root.setdefault(repository_root(file.parent), []).append(file)
        for root, members in by_root.items():
            repository = self.at(root).repository_of(root / "any")
            for config, cause in concerned(members, repository, lambda path: self.at(path.parent)).items():
                if chosen.add(config, self.at(config.parent)):
                    chosen.causes[config] = cause
            for file in filter(is_script, members):
                chosen.remove(file)


@dataclass(frozen=True, slots=True)
class _Chosen:
    """The files to be judged by their projects, the paths without any, and why files are judged that nobody named."""

    files: dict[int, tuple[Project, dict[Path, None]]]
    problems: list[tuple[Path, str]]
    causes: dict[Path, Path]

    def add(self, file: Path, project: Project) -> bool:
        """Add a file unless it is there; returns whether it was added."""
        files = self.files.setdefault(id(project), (project, {}))[1]
        new = file not in files
        files[file] = None
        return new

    def remove(self, file: Path) -> None:
        """Take a file out."""
        for _, files in self.files.values():
            files.pop(file, None)


def _project(settings: Settings, arguments: argparse.Namespace, cwd: Path) -> Project:
    known = known_rule_names()
    check_rules(settings, known)
    select = _words(getattr(arguments, "select", None), "--select", known)
    ignore = _words(getattr(arguments, "ignore", None), "--ignore", known)
    if ignore is not None and select is None:
        ignore = (*settings.ignore, *ignore)
    elif select is not None:
        # Who selects on the command line wants to see it, whatever the file leaves out.
        ignore = ignore or ()
    levels = _levels(getattr(arguments, "severity", None) or [], known)
    changed = merged(
        settings,
        select=select,
        ignore=ignore,
        severity={**settings.severity, **levels} if levels else None,
        scope=getattr(arguments, "scope", None),
        indexes_root=arguments.indexes_root,
        index_pack_root=arguments.index_pack_root,
        runtime=str(_file(cwd, arguments.runtime, "--runtime")) if arguments.runtime else None,
        launch_dir=_folder(cwd, arguments.launch_dir, "--launch-dir"),
        baseline=_path(cwd, getattr(arguments, "baseline", None)),
        profile=_profile(arguments.profile),
        nemo=_package(cwd, arguments.nemo, "nemo", "--nemo"),
        lhotse=_package(cwd, arguments.lhotse, "lhotse", "--lhotse"),
    )
    if arguments.profile:  # said on the command line, it holds against paths that the file gives
        changed = replace(
            changed,
            nemo=changed.nemo if arguments.nemo else None,
            lhotse=changed.lhotse if arguments.lhotse else None,
        )
    project = Project(
        changed,
        cwd,
        blends=tuple(_file(cwd, name, "--blend") for name in arguments.blend),
        launchers=tuple(_file(cwd, name, "--launcher") for name in arguments.launcher),
        indexes=_index_reader() if getattr(arguments, "indexes", False) else None,
        history=History(getattr(arguments, "against", None) or HEAD),
    )
    _ = project.stated_runtime  # a wrong file is told before anything is judged
    return project


def _index_reader() -> IndexReader:
    from nemo_resumable.core.model.indexes import IndexReader

    from .output.progress import progress

    return IndexReader(progress())


def _words(texts: list[str] | None, flag: str, known: list[str]) -> tuple[str, ...] | None:
    """Codes, prefixes and names, split at commas; raises UsageError for one that selects nothing."""
    if texts is None:
        return None
    words = tuple(rule_word(word) for text in texts for word in text.split(",") if word.strip())
    if not words:
        raise UsageError(f"{flag} takes codes, prefixes or names of rules")
    for word in words:
        if word not in known:
            raise UsageError(f"{flag}: {unknown_rule(word, known)}")
    return words


def unknown_rule(word: str, known: list[str]) -> str:
    """The sentence about a word that is no rule."""
    return f"`{word}` is no rule{near_match(word, known) or '; `nemo-resumable rules` lists them all'}"


def _levels(texts: list[str], known: list[str]) -> Mapping[str, str]:
    levels: dict[str, Any] = {}
    for text in texts:
        word, _, level = text.partition("=")
        if level not in SEVERITIES:
            near = near_match(level, SEVERITIES) if level else ""
            raise UsageError(f"--severity takes RULE=LEVEL with {', '.join(SEVERITIES)}, not `{text}`{near}")
        rule = rule_word(word)
        if rule not in known or (rule.startswith("NR") and len(rule) < 5):
            raise UsageError(f"--severity: {unknown_rule(rule, [name for name in known if len(name) > 4])}")
        levels[rule] = level
    return levels


def _profile(name: str | None) -> str | None:
    if name is not None and name not in PROFILES:
        near = near_match(name, PROFILES) or f"; there are {', '.join(PROFILES)}"
        raise UsageError(f"--profile: `{name}` is no profile{near}")
    return name


def _package(cwd: Path, name: str | None, package: str, flag: str) -> Path | None:
    """The folder that a user names for NeMo or Lhotse; raises UsageError where it does not hold it."""
    folder = _folder(cwd, name, flag)
    if folder is not None:
        from nemo_resumable.core.model.probe import find

        if find(folder, package) is None:
            raise UsageError(
                f"{flag}: there is no `{package}` package in `{name}`; name a checkout, a folder of installed packages or an "
                "environment"
            )
    return folder


def _folder(cwd: Path, name: str | None, flag: str) -> Path | None:
    if name is None:
        return None
    if not (cwd / name).is_dir():
        raise UsageError(f"{flag}: there is no folder `{name}`; check the path")
    return (cwd / name).resolve()


def _path(cwd: Path, name: str | None) -> Path | None:
    """A path that may lead nowhere yet."""
    return Path(os.path.normpath(cwd / name)) if name else None


def _file(cwd: Path, name: str, flag: str) -> Path:
    if not (cwd / name).is_file():
        raise UsageError(f"{flag}: there is no file `{name}`; check the path")
    return (cwd / name).resolve()
