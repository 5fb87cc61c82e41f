"""What the editor is told under `nemo-resumable.*`: the names of the settings file, and a few that only an editor needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nemo_resumable.core.analysis import known_rule_names
from nemo_resumable.core.settings import Settings, SettingsError, check_rules, near_match
from nemo_resumable.core.settings_toml import TABLE, read_table

#: Switches of the editor, with their defaults. The settings file knows none of them.
SWITCHES: Mapping[str, bool] = {
    "scan-workspace": True,  # find in the background which configs reach which blend
    "workspace-diagnostics": False,  # also judge files that are not open
    "indexes": False,  # look at the index files on this machine, as `check --indexes` does
    "inlay-hints": False,
}
#: What editors keep below the same key for themselves.
_OF_THE_CLIENT = frozenset({"trace", "path", "command", "interpreter", "enable", "import-strategy", "args"})


@dataclass(frozen=True, slots=True)
class Options:
    """What an editor says: values on top of the settings file, by their field names, and its switches."""

    settings: Mapping[str, Any] = field(default_factory=dict)
    switches: Mapping[str, bool] = field(default_factory=lambda: dict(SWITCHES))

    def __getitem__(self, switch: str) -> bool:
        return self.switches[switch]


def read_options(given: Mapping[str, Any], folder: Path) -> tuple[Options, list[str]]:
    """The options in what a client sent, and a sentence for each that is ignored. Paths begin at the folder.

    A client may send null for what was not set.
    """
    settings: dict[str, Any] = {}
    switches = dict(SWITCHES)
    told: list[str] = []
    for key, value in given.items():
        if not key:
            told.append(f"`{TABLE}` has to be a table of settings; it is ignored")
            continue
        if value is None or key.partition(".")[0] in _OF_THE_CLIENT:
            continue
        if key in SWITCHES:
            if isinstance(value, bool):
                switches[key] = value
            else:
                told.append(f"`{TABLE}.{key}` has to be true or false; it is ignored")
            continue
        try:
            settings.update(_read(key, value, folder))
        except SettingsError as error:
            sentence = str(error).partition(": ")[2] or str(error)
            if sentence.startswith(f"`{key}` is no setting"):
                sentence = f"`{key}` is no setting{near_match(key, [*_names(), *SWITCHES])}"
            told.append(f"`{TABLE}.{key}`: {sentence}; it is ignored")
    return Options(settings, switches), told


def _read(key: str, value: object, folder: Path) -> dict[str, Any]:
    """One value by its field name. Raises SettingsError."""
    values = read_table(folder / "settings of the editor", {key: value})
    check_rules(Settings(folder, **values), known_rule_names())
    return values


def _names() -> list[str]:
    from nemo_resumable.core.settings import as_table

    return [name for name in as_table(Settings(Path())) if name not in ("root", "file")]
