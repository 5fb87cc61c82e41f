"""The project's settings: `[tool.nemo-resumable]` of the nearest pyproject.toml, or `.nemo-resumable.toml`."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

OWN_FILE = ".nemo-resumable.toml"
TABLE = "nemo-resumable"
SCOPES = ("lhotse", "opted-in")
SEVERITIES = ("fatal", "error", "warning", "note")


class SettingsError(ValueError):
    """The settings cannot be used; the message names the file, the key and the next step."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a project tells the analyzer. Relative paths are relative to `root`."""

    root: Path  #: the folder of the settings file, else the repository's top, else where the search began
    file: Path | None = None
    launch_dir: Path | None = None  #: where training is started; the current folder when None
    profile: str | None = None
    scope: str = "lhotse"  #: lhotse · opted-in (only configs that already ask for indexed or stateful loading)
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    severity: Mapping[str, str] = field(default_factory=dict)
    per_file_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    exclude: tuple[str, ...] = ()
    seed: int = 42
    indexes_root: str | None = None
    index_pack_root: str | None = None
    variables: Mapping[str, str] = field(default_factory=dict)
    launchers: Mapping[str, str] = field(default_factory=dict)
    runtime: Mapping[str, Any] | str | None = None
    nemo: Path | None = None
    lhotse: Path | None = None
    walltime_margin: int = 10  #: minutes
    pack_threshold: int = 1000  #: shards
    require_suppression_reason: bool = False


def load_settings(start: Path) -> Settings:
    """The settings that hold in a folder; defaults where there are none. Raises SettingsError."""
    start = start.resolve()
    for folder in (start, *start.parents):
        own = folder / OWN_FILE
        if own.is_file():
            return _settings(own, _load(own), folder)
        project = folder / "pyproject.toml"
        if project.is_file():
            tools = _load(project).get("tool", {})
            if isinstance(tools, dict) and isinstance(tools.get(TABLE), dict):
                return _settings(project, tools[TABLE], folder)
        if (folder / ".git").exists():
            return Settings(folder)
    return Settings(start)


def repository_root(start: Path) -> Path:
    """The top folder of the repository a folder lies in (`.git` may be a file), else the folder itself."""
    for folder in (start, *start.parents):
        if (folder / ".git").exists():
            return folder
    return start


def _load(file: Path) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        table: dict[str, Any] = tomllib.loads(file.read_text(encoding="utf-8"))
        return table
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{file}: the settings cannot be read: {error}") from None
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{file}: the file is no TOML: {error}") from None


def _strings(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise TypeError("a list of strings")
    return tuple(value)


def _table(value: Any) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(item, str) for item in value.values()):
        raise TypeError("a table of strings")
    return dict(value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("a string")
    return value


def _number(value: Any) -> int:
    if type(value) is not int:
        raise TypeError("a whole number")
    return value


def _switch(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError("true or false")
    return value


def _scope(value: Any) -> str:
    if value not in SCOPES:
        raise TypeError(" or ".join(SCOPES))
    return str(value)


def _severities(value: Any) -> dict[str, str]:
    table = _table(value)
    if any(level not in SEVERITIES for level in table.values()):
        raise TypeError("a table of rule = fatal, error, warning or note")
    return table


def _lists(value: Any) -> dict[str, tuple[str, ...]]:
    if not isinstance(value, dict):
        raise TypeError("a table of pattern = [codes]")
    return {pattern: _strings(codes) for pattern, codes in value.items()}


def _runtime(value: Any) -> Mapping[str, Any] | str:
    if not isinstance(value, (str, dict)):
        raise TypeError("a file name or a table")
    return value


_READERS: dict[str, Callable[[Any], Any]] = {
    "launch_dir": _text,
    "profile": _text,
    "scope": _scope,
    "select": _strings,
    "ignore": _strings,
    "severity": _severities,
    "per_file_ignores": _lists,
    "exclude": _strings,
    "seed": _number,
    "indexes_root": _text,
    "index_pack_root": _text,
    "variables": _table,
    "launchers": _table,
    "runtime": _runtime,
    "nemo": _text,
    "lhotse": _text,
    "walltime_margin": _number,
    "pack_threshold": _number,
    "require_suppression_reason": _switch,
}
_PATHS = ("launch_dir", "nemo", "lhotse")


def _settings(file: Path, table: dict[str, Any], root: Path) -> Settings:
    values: dict[str, Any] = {}
    for key, value in table.items():
        name = key.replace("-", "_")
        reader = _READERS.get(name)
        if reader is None or "_" in key:
            near = difflib.get_close_matches(key, [known.replace("_", "-") for known in _READERS], 1)
            hint = f"; did you mean `{near[0]}`?" if near else ""
            raise SettingsError(f"{file}: `{key}` is no setting{hint}")
        try:
            values[name] = reader(value)
        except TypeError as error:
            raise SettingsError(f"{file}: `{key}` has to be {error}") from None
        if name in _PATHS:
            values[name] = root / values[name]
    return Settings(root, file, **values)


def as_table(settings: Settings) -> dict[str, object]:
    """The settings in force, by their names in TOML."""
    return {item.name.replace("_", "-"): getattr(settings, item.name) for item in fields(settings)}
