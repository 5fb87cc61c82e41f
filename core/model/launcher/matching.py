"""Which of a launcher's commands start a given config: by the name and the folder on their command line, as Hydra reads them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from ...records import dataclass
from ..presence import Presence
from .facts import Launch, Launcher, Word


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where the paths of a command line may begin, and which training scripts have the config as their default."""

    config: Path
    launch_dir: Path
    root: Path  #: the repository's top
    presence: Presence
    trainers: tuple[Path, ...] = ()
    rivals: bool = False  #: whether other files of the repository have the config's name


def starting(launcher: Launcher, around: Surroundings, *, assigned: bool) -> tuple[Launch, ...] | None:
    """The commands that start the config; None where the launcher has nothing to do with it.

    A launcher that the user assigned to the config starts it whatever name its commands give, unless some of them give
    the config's own: then only those do.
    """
    named = tuple(launch for launch in launcher.launches if names(launch, launcher.source.path.parent, around))
    if named:
        return named
    if not assigned:
        return None
    return launcher.launches


def names(launch: Launch, folder: Path, around: Surroundings) -> bool:
    """Whether a command of a launcher in `folder` names the config.

    Hydra looks for `--config-path` from the folder of the training script. A launcher may stand on another machine than
    the one it is written for, so any place where the path could begin is tried; where nothing stands at any of them, the
    last folder has to be called like the config's. Without a word about the folder, the name has to be the only one.
    """
    config = around.config
    if launch.config_name is None:
        return any(script in around.trainers for script in _programs(launch, folder, around))
    name = _text(launch.config_name)
    if name is None:
        return False
    relative = PurePosixPath(name.removesuffix(".yaml").removesuffix(".yml"))
    if relative.name != config.stem:
        return False
    written = launch.config_path or launch.config_dir
    text = _text(written)
    if text is not None and "$" not in text:
        meant = [_normal(base / text / relative.parent) for base in _bases(launch, folder, around)]
        if config.parent in meant:
            return True
        if any(around.presence(each / config.name) for each in meant):
            return False
    folders = [*_parts(written), *(part for part in relative.parent.parts if part != "..")]
    return folders[-1] == config.parent.name if folders else not around.rivals


def _bases(launch: Launch, folder: Path, around: Surroundings) -> Iterator[Path]:
    """The folders from which a relative path may be meant, the training script's first."""
    for script in _programs(launch, folder, around):
        yield script.parent
    yield from _starts(launch, folder, around)


def _programs(launch: Launch, folder: Path, around: Surroundings) -> Iterator[Path]:
    """The training script, wherever its path may begin; below the repository also where its path ends so."""
    text = _text(launch.program)
    if text is None or "$" in text:
        return
    for base in _starts(launch, folder, around):
        yield _normal(base / text)
    parts = PurePosixPath(text).parts
    for trainer in around.trainers:
        if PurePosixPath(text).is_absolute() and trainer.parts[-2:] == parts[-2:]:
            yield trainer


def _starts(launch: Launch, folder: Path, around: Surroundings) -> Iterator[Path]:
    """The folders in which the command may run."""
    changed = _text(launch.folder)
    starts = (folder, around.launch_dir, around.root)
    if changed is not None and "$" not in changed:
        yield from (_normal(base / changed) for base in starts)
    yield from starts


def _normal(path: Path) -> Path:
    return Path(os.path.normpath(path))


def _parts(word: Word | None) -> list[str]:
    """The folders of a path that say something: not `.`, `..` and what is not known.

    Of a path that begins with a variable (`"$PWD/conf"`) the last folder is still what is written.
    """
    text = _text(word)
    if text is None and word is not None:
        span = word.location.span
        last = word.location.source.text[span.start : span.end].strip("\"'").rpartition("/")[2]
        text = last if re.fullmatch(r"[\w.-]+", last) else None
    if text is None:
        return []
    return [part for part in PurePosixPath(text).parts if part not in ("/", ".", "..") and "$" not in part]


def _text(word: Word | None) -> str | None:
    return word.text if word is not None else None
