"""Which of a launcher's commands start a given config, by the name and folder on their command line."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from .facts import Launch, Launcher, Word


def starting(launcher: Launcher, config: Path, *, assigned: bool) -> tuple[Launch, ...] | None:
    """The commands that start the config; None where the launcher has nothing to do with it.

    A launcher that the user assigned to the config starts it whatever name its commands give, unless some of them give
    the config's own: then only those do.
    """
    named = tuple(launch for launch in launcher.launches if names(launch, config))
    if named:
        return named
    if not assigned:
        return None
    return launcher.launches


def names(launch: Launch, config: Path) -> bool:
    """Whether a command names the config: its stem by `--config-name`, and no other folder by `--config-path`."""
    name = _text(launch.config_name)
    if name is None:
        return False
    stem = PurePosixPath(name.removesuffix(".yaml").removesuffix(".yml"))
    if stem.name != config.stem:
        return False
    folders = [*_parts(launch.config_path or launch.config_dir), *(part for part in stem.parent.parts if part != "..")]
    return not folders or folders[-1] == config.parent.name


def _parts(word: Word | None) -> list[str]:
    """The folders of a path that say something: not `.`, `..` and what is not known."""
    text = _text(word)
    if text is None:
        return []
    return [part for part in PurePosixPath(text).parts if part not in ("/", ".", "..") and "$" not in part]


def _text(word: Word | None) -> str | None:
    return word.text if word is not None else None
