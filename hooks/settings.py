"""`nemo-resumable settings`: the settings in force for a path, as TOML, and the schema of the file."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path

from nemo_resumable.core.analysis import known_rule_names
from nemo_resumable.core.settings import SCHEMA, Settings, as_table, check_rules, load_settings
from nemo_resumable.core.settings_toml import line_of

from .cli import OK
from .options import UsageError
from .output.terminal import emit


def run(arguments: argparse.Namespace) -> int:
    """Print where the settings come from, those that a file gives with their lines, and the default of the others."""
    if arguments.schema:
        emit(SCHEMA.read_text(encoding="utf-8"), "utf-8")
        return OK
    path = Path(arguments.path)
    if not path.exists():
        raise UsageError(f"there is no `{path}`; check the path")
    settings = load_settings(path)
    check_rules(settings, known_rule_names())
    table = as_table(settings)
    del table["file"], table["root"]
    given = {key: line_of(settings.file, (key,)) for key in table} if settings.file else {}
    stated = [key for key in table if given.get(key) or table[key] != as_table(Settings(settings.root))[key]]
    lines = [
        f"# {settings.file}" if settings.file else f"# no settings file from {path.resolve()} up to {settings.root}"
    ]
    lines += [f"{_line(key, table[key])}{f'  # line {given[key]}' if given.get(key) else ''}" for key in stated]
    lines += ["", "# by default:"] if stated else ["# by default:"]
    lines += [f"# {_line(key, value)}" for key, value in table.items() if key not in stated]
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
