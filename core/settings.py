"""The project's settings: `[tool.nemo-resumable]` of the nearest pyproject.toml, or `.nemo-resumable.toml`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, MutableMapping
from dataclasses import field, fields, replace
from pathlib import Path
from typing import Any

from .records import dataclass
from .settings_runtime import RuntimeContext, load_runtime, read_runtime
from .settings_toml import (
    PROFILES,
    SCOPES,
    SEVERITIES,
    TABLE,
    SettingsError,
    load,
    located,
    near_match,
    read,
    read_table,
)

OWN_FILE = ".nemo-resumable.toml"
SCHEMA = Path(__file__).parent / "settings.schema.json"  #: JSON schema of the file, for editors

#: Names that were surely meant to be ours; a settings file that is silently not found costs an afternoon.
_MISNAMED = (
    "nemo-resumable.toml",
    ".nemo_resumable.toml",
    "nemo_resumable.toml",
    ".nemo-resumable",
    ".nemo-resumable.yaml",
    ".nemo-resumable.yml",
    ".nemo-resumable.json",
)


@dataclass(frozen=True, slots=True)
class Settings:
    """What a project tells the analyzer. Paths that the file gives are absolute here: they begin at `root`."""

    root: Path  #: the folder of the settings file, else the repository's top, else where the search began
    file: Path | None = None
    launch_dir: Path | None = None  #: where training is started; the current folder when None
    profile: str | None = None  #: the NeMo and Lhotse that are assumed; None to look for some, else the default
    scope: str = "lhotse"  #: lhotse · opted-in (only configs that already ask for indexed or stateful loading)
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    severity: Mapping[str, str] = field(default_factory=dict)  #: code or name → level
    per_file_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    exclude: tuple[str, ...] = ()
    seed: int = 42
    indexes_root: str | None = None
    index_pack_root: str | None = None
    variables: Mapping[str, str] = field(default_factory=dict)
    launchers: Mapping[str, str] = field(default_factory=dict)  #: config → script
    runtime: Mapping[str, Any] | str | None = None
    nemo: Path | None = None
    lhotse: Path | None = None
    walltime_margin: int = 10  #: minutes
    pack_threshold: int = 1000  #: shards
    require_suppression_reason: bool = False
    baseline: Path | None = None  #: the file of the findings that are known


def load_settings(start: Path, memo: MutableMapping[Path, Settings] | None = None) -> Settings:
    """The settings that hold in a folder (or for a file in it); defaults where there are none. Raises SettingsError.

    The search goes upwards to the repository's top. `memo` remembers what held in the folders passed through, for a
    caller that asks for many folders in a row.
    """
    start = start.resolve()
    if start.is_file():
        start = start.parent
    passed: list[Path] = []
    found: Settings | None = None
    for folder in (start, *start.parents):
        if memo is not None and folder in memo:
            found = memo[folder]
            break
        passed.append(folder)
        found = _settings_in(folder)
        if found is not None:
            break
        if (folder / ".git").exists():
            found = Settings(folder)
            break
    found = found or Settings(start)
    if memo is not None:
        memo.update(dict.fromkeys(passed, found))
    return found


def merged(settings: Settings, **overrides: Any) -> Settings:
    """The settings with others on top, such as a command line's; None means that nothing was said."""
    return replace(settings, **{name: value for name, value in overrides.items() if value is not None})


def runtime_context(settings: Settings) -> RuntimeContext:
    """What the settings say of the place where training runs: their own table, or the file it names. Raises SettingsError."""
    runtime = settings.runtime
    if runtime is None:
        return RuntimeContext()
    if isinstance(runtime, str):
        return load_runtime(settings.root / runtime)
    return read_runtime(runtime, lambda key, sentence: located(settings.file, ("runtime", key), sentence))


def repository_root(start: Path) -> Path:
    """The top folder of the repository a folder lies in (`.git` may be a file), else the folder itself."""
    for folder in (start, *start.parents):
        if (folder / ".git").exists():
            return folder
    return start


def as_table(settings: Settings) -> dict[str, object]:
    """The settings in force, by their names in TOML."""
    return {item.name.replace("_", "-"): getattr(settings, item.name) for item in fields(settings)}


def check_rules(settings: Settings, known: Collection[str]) -> None:
    """Raise SettingsError where the settings select, ignore or grade a rule that is none of the known words."""
    places: list[tuple[tuple[str, ...], Iterable[str]]] = [
        (("select",), settings.select),
        (("ignore",), settings.ignore),
        *((("severity", word), (word,)) for word in settings.severity),
        *((("per-file-ignores", pattern), words) for pattern, words in settings.per_file_ignores.items()),
    ]
    for path, words in places:
        for word in words:
            # A level is given to one rule; a prefix there would be passed over in silence.
            if word not in known or (path[0] == "severity" and word.startswith("NR") and len(word) < 5):
                raise located(settings.file, path, f"`{word}` is no rule{near_match(word, known)}")


def _settings_in(folder: Path) -> Settings | None:
    """The settings that a file of this very folder gives."""
    own = folder / OWN_FILE
    if own.is_file():
        return _checked(Settings(folder, own, **read_table(own, load(own, read(own)))))
    for name in _MISNAMED:
        if (folder / name).is_file():
            form = "" if name.endswith(".toml") else ", which is TOML"
            raise SettingsError(
                f"{folder / name}: the file is not read under this name; rename it to `{OWN_FILE}`{form}"
            )
    project = folder / "pyproject.toml"
    if project.is_file():
        text = read(project)
        # Most projects say nothing of ours; their file is neither parsed nor judged.
        if TABLE in text or "nemo_resumable" in text:
            tools = load(project, text).get("tool", {})
            if isinstance(tools, dict) and isinstance(tools.get(TABLE), dict):
                return _checked(Settings(folder, project, **read_table(project, tools[TABLE])))
            if isinstance(tools, dict) and TABLE in tools:
                raise SettingsError(f"{project}: `tool.{TABLE}` has to be a table")
            if isinstance(tools, dict) and "nemo_resumable" in tools:
                raise SettingsError(f"{project}: `[tool.nemo_resumable]` is not read; call it `[tool.{TABLE}]`")
    return None


def _checked(settings: Settings) -> Settings:
    """The settings, once their table of the runtime is known to be one."""
    if isinstance(settings.runtime, Mapping):
        runtime_context(settings)
    return settings


__all__ = [
    "OWN_FILE",
    "PROFILES",
    "SCHEMA",
    "SCOPES",
    "SEVERITIES",
    "RuntimeContext",
    "Settings",
    "SettingsError",
    "as_table",
    "check_rules",
    "load_settings",
    "merged",
    "near_match",
    "repository_root",
    "runtime_context",
]
