"""Which training configs a change concerns: those that read a blend or a base config, and those that a launcher starts."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from pathlib import Path

from .model.config import TrainingConfig, read_config
from .project import Project
from .repository import Repository, is_script
from .syntax.nodes import Document
from .syntax.store import Unreadable

ProjectAt = Callable[[Path], Project]

#: A blend whose path is put together at run time may be any: its file name need not stand in the config.
_BUILT_PATH = re.compile(rb"input_cfg[\"']?\s*:[^\n#]*\$\{")
_MAY_BE_CONFIG = (b"train_ds", b"defaults")


def configs_reading(files: Collection[Path], repository: Repository, project_at: ProjectAt) -> dict[Path, Path]:
    """The configs of the repository, beside the files themselves, that read one of them or look for one that is gone;
    each with the file.

    Only files in which the name of one stands, or the name of a file that names it, are parsed. A path is looked for
    where the config's reader looks: a missing blend counts for the config that tries its path, whatever is found then.
    """
    targets = [file for file in files if not is_script(file)]
    if not targets:
        return {}
    found: dict[Path, Path] = {}
    for path in _naming(set(targets), repository):
        project = project_at(path)
        if not project.excludes(path):
            asked = asked_for(path, project)
            cause = next((target for target in targets if target in asked), None)
            if cause is not None:
                found[path] = cause
    return found


def asked_for(path: Path, project: Project) -> frozenset[Path]:
    """Every file that judging a config asks for, found or not; none where the file is no config."""
    asked: set[Path] = set()

    def load(wanted: Path) -> Document | Unreadable:
        asked.add(Path(os.path.normpath(wanted)))
        return project.store.load(wanted)

    document = project.store.load(path)
    if not isinstance(document, Document):
        return frozenset()
    config = read_config(document, replace(project.context(path), load=load, launchers=()))
    if config is None:
        return frozenset()
    _ = config.datasets  # which reads the blends
    return frozenset(asked)


def configs_started(files: Collection[Path], repository: Repository, project_at: ProjectAt) -> dict[Path, Path]:
    """The configs that launchers among the files start, by the settings or by what their commands name; each with the
    launcher."""
    scripts = {file for file in files if is_script(file)}
    found: dict[Path, Path] = {}
    for path, data in repository.yaml() if scripts else ():
        if not any(word in data for word in _MAY_BE_CONFIG):
            continue
        project = project_at(path)
        if project.excludes(path) or scripts.isdisjoint(
            given.path for given in project.launchers_of(path, alone=False)
        ):
            continue
        config = _config(path, project)
        for launcher, _ in config.launchers if config is not None else ():
            if launcher.source.path in scripts:
                found.setdefault(path, launcher.source.path)
    return found


def concerned(files: Iterable[Path], repository: Repository, project_at: ProjectAt) -> dict[Path, Path]:
    """The configs to be judged where these files changed or went, beside the files themselves: those that read one, and
    those that a launcher among them starts; each with the file that it is judged for."""
    given = [Path(os.path.normpath(file)) for file in files]
    found = configs_started(given, repository, project_at) | configs_reading(given, repository, project_at)
    return {config: cause for config, cause in found.items() if config not in given}


def is_config(file: Path, project: Project) -> bool:
    """Whether a file is a training config."""
    return not is_script(file) and _config(file, project) is not None


def _config(path: Path, project: Project) -> TrainingConfig | None:
    document = project.store.load(path)
    return read_config(document, project.context(path)) if isinstance(document, Document) else None


def _naming(targets: set[Path], repository: Repository) -> list[Path]:
    """The files that may be configs and may reach a target, through any number of files in between."""
    texts = {path: data for path, data in repository.yaml() if path not in targets}
    naming: dict[Path, bytes] = {path: data for path, data in texts.items() if _BUILT_PATH.search(data)}
    new = {_word(path) for path in (*targets, *naming)}
    seen: set[bytes] = set()
    while new:
        seen |= new
        named = {path: data for path, data in texts.items() if path not in naming and any(word in data for word in new)}
        naming |= named
        new = {_word(path) for path in named} - seen
    return sorted(path for path, data in naming.items() if any(word in data for word in _MAY_BE_CONFIG))


def _word(path: Path) -> bytes:
    """What of a path has to stand in a file that names it: a base config goes without its suffix."""
    stem = path.name.removesuffix(".yaml").removesuffix(".yml")
    # YAML may write other characters in several ways; the longest plain piece is written in one.
    return max(re.findall(rb"[\x21\x23-\x26\x28-\x5b\x5d-\x7e]+", stem.encode()), key=len, default=b"")


__all__ = ["ProjectAt", "asked_for", "concerned", "configs_reading", "configs_started", "is_config"]
