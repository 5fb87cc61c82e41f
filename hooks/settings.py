"""`nemo-resumable settings`: the settings in force for a path, as TOML."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path

from nemo_resumable.core.analysis import known_rule_names
from nemo_resumable.core.settings import Settings, as_table, check_rules, load_settings

from .cli import OK
from .options import UsageError
from .output.terminal import emit


def run(arguments: argparse.Namespace) -> int:
    """Print where the settings come from, those that are not the default, and the default of the others."""
    path = Path(arguments.path)
    if not path.exists():
        raise UsageError(f"there is no `{path}`; check the path")
    settings = load_settings(path)
    check_rules(settings, known_rule_names())
    table = as_table(settings)
    default = as_table(Settings(settings.root))
    del table["file"], table["root"]
    lines = [f"# {settings.file}" if settings.file else "# no settings file: these are the defaults"]
    lines += [_line(key, value) for key, value in table.items() if value != default[key]]
    lines += [f"# {_line(key, value)}" for key, value in table.items() if value == default[key]]
    emit("".join(f"{line}\n" for line in lines))
    return OK


def _line(key: str, value: object) -> str:
    return f"{key} = {_toml(value)}" if value is not None else f"{key}: not set"


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        inner = ", ".join(f"{json.dumps(key, ensure_ascii=False)} = {_toml(item)}" for key, item in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, (int, float)):
        return str(value)
    return json.dumps(str(value), ensure_ascii=False)
