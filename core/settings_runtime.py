"""The runtime context: what a user says of the place where training runs, from a table of the settings or a file."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from .records import dataclass
from .settings_toml import SettingsError, load, near_match, read


@dataclass(frozen=True, slots=True)
class RuntimeContext:
    """Facts of the place where training runs. None, or nothing in a table, means that nothing was said."""

    container: str | None = None  #: the image
    mounts: tuple[str, ...] = ()  #: as the container runtime takes them: "/host:/inside"
    env: Mapping[str, str] = field(default_factory=dict)  #: variables that every rank sees
    states_env: bool = False  #: whether `env` is given at all: then a variable that it lacks is known not to be set
    endpoint: str | None = None  #: of the object store, what AIS_ENDPOINT holds
    workers: int | None = None  #: worker processes a rank, what `num_workers` becomes
    nodes: int | None = None
    devices: int | None = None  #: ranks a node
    walltime: str | None = None  #: of one chunk, as Slurm takes it
    packages: Mapping[str, str] = field(default_factory=dict)  #: distribution name (lower case) → version

    @property
    def variables(self) -> Mapping[str, str]:
        """`env` together with the endpoint."""
        return {**self.env, "AIS_ENDPOINT": self.endpoint} if self.endpoint else self.env


def read_runtime(table: Mapping[str, Any], fail: Callable[[str, str], SettingsError]) -> RuntimeContext:
    """The runtime context in a table. Raises what `fail` makes of a key and a sentence."""
    values: dict[str, Any] = {}
    for key, value in table.items():
        reader = _READERS.get(key)
        if reader is None:
            raise fail(key, f"`{key}` is nothing that a runtime context says{near_match(str(key), _READERS)}")
        try:
            values[key] = reader(value)
        except _Wrong as wrong:
            raise fail(key, f"`{key}` has to be {wrong}") from None
    return RuntimeContext(**values, states_env="env" in values)


def load_runtime(file: Path) -> RuntimeContext:
    """The runtime context in a TOML, JSON or YAML file. Raises SettingsError."""
    text = read(file)
    if file.suffix == ".toml":
        table: Any = load(file, text)
    elif file.suffix == ".json":
        try:
            table = json.loads(text)
        except (json.JSONDecodeError, RecursionError) as error:
            raise SettingsError(f"{file}: the file is no JSON: {error}") from None
    elif file.suffix in (".yaml", ".yml"):
        table = _yaml(file, text)
    else:
        raise SettingsError(f"{file}: a runtime context is a .toml, .json or .yaml file")
    if isinstance(table, dict) and set(table) == {"runtime"} and isinstance(table["runtime"], dict):
        table = table["runtime"]
    if table is None:
        table = {}
    if not isinstance(table, dict):
        raise SettingsError(f"{file}: a runtime context is a table of {', '.join(_READERS)}")
    return read_runtime(table, lambda key, sentence: SettingsError(f"{file}: {sentence}"))


def _yaml(file: Path, text: str) -> Any:
    import yaml  # only who gives such a file needs it here

    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        problem = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise SettingsError(f"{file}: the file is no YAML: {problem}") from None


class _Wrong(Exception):
    """A value of the wrong type; the message says what was expected."""


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise _Wrong("a string")
    return value


def _number(least: int, unit: str) -> Callable[[Any], int]:
    def reader(value: Any) -> int:
        if type(value) is not int or value < least:
            raise _Wrong(f"a whole number of {unit} from {least} on")
        return value

    return reader


def _strings(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return tuple(part for part in value.split(",") if part)
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise _Wrong("a list of strings")
    return tuple(value)


def _variables(value: Any) -> dict[str, str]:
    """A table of variables. Numbers and booleans stand for the text a shell would export."""
    if not isinstance(value, dict):
        raise _Wrong("a table of strings")
    table = {}
    for name, item in value.items():
        if isinstance(item, bool):
            item = "true" if item else "false"
        if not isinstance(item, (str, int, float)):
            raise _Wrong(f"a table of strings, and `{name}` is none")
        table[str(name)] = str(item)
    return table


def _packages(value: Any) -> dict[str, str]:
    """`{lhotse = "2.0.0a7"}` or `["lhotse==2.0.0a7"]`."""
    if isinstance(value, list) and all(isinstance(item, str) and item.count("==") == 1 for item in value):
        value = dict(item.split("==") for item in value)
    if not isinstance(value, dict) or not all(isinstance(item, str) for item in value.values()):
        raise _Wrong('a table of versions, or a list such as ["lhotse==2.0.0a7"]')
    return {str(name).strip().lower().replace("_", "-"): version.strip() for name, version in value.items()}


_READERS: dict[str, Callable[[Any], Any]] = {
    "container": _text,
    "mounts": _strings,
    "env": _variables,
    "endpoint": _text,
    "workers": _number(0, "processes"),
    "nodes": _number(1, "nodes"),
    "devices": _number(1, "devices"),
    "walltime": _text,
    "packages": _packages,
}
