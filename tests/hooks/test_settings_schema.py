"""The settings' JSON schema says what is read: the same keys, defaults and values. Whether a word is a rule it leaves open."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from nemo_resumable.core.settings import SCHEMA, Settings, SettingsError, as_table, load_settings
from nemo_resumable.core.settings_runtime import RuntimeContext

SCHEME: dict[str, Any] = json.loads(SCHEMA.read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft7Validator(SCHEME)
RUNTIME = SCHEME["definitions"]["runtime"]["properties"]

#: Values of every kind that TOML has; each is tried at each key.
VALUES: list[Any] = [
    *("", " ", "x", "conf", "NR110", "nr1", "lhotse", "opted-in", "speech-main", "error"),
    *(0, -1, 1, 42, 1.5, True, False),
    *([], ["NR110"], ["nr2", "unfixed-shard-seed"], [1], [["x"]], ["a", 2], ["lhotse==2.0", "nemo==3"], ["a==b==c"]),
    *({}, {"a": "x"}, {"a": 1}, {"NR110": "error"}, {"NR110": "bad"}, {"a/*": ["NR1"]}, {"a/*": "NR1"}, {"a/*": [1]}),
    *({"workers": 4}, {"workers": "4"}, {"worker": 4}, {"env": {"A": 1, "B": True}}, {"env": {"A": []}}, {"env": "A"}),
    *({"packages": ["a==1"]}, {"packages": ["a"]}, {"packages": {"a": 1}}, {"mounts": "/a:/b"}, {"mounts": ["a", 1]}),
    *({"nodes": 0}, {"devices": 1}, {"walltime": 4}, {"walltime": "4:00:00"}, {"endpoint": " "}, {"container": "a"}),
]


def toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value)


def is_read(folder: Path, key: str, value: Any) -> bool:
    (folder / ".nemo-resumable.toml").write_text(f"{json.dumps(key)} = {toml(value)}\n", encoding="utf-8")
    try:
        load_settings(folder)
    except SettingsError:
        return False
    return True


def test_it_is_a_schema() -> None:
    jsonschema.Draft7Validator.check_schema(SCHEME)
    assert all(each["description"].endswith(".") for each in (*SCHEME["properties"].values(), *RUNTIME.values()))


def test_the_same_keys() -> None:
    ours = {field.name.replace("_", "-") for field in fields(Settings)} - {"root", "file"}
    assert set(SCHEME["properties"]) == ours
    assert set(RUNTIME) == {field.name for field in fields(RuntimeContext)} - {"states_env"}


def test_the_same_defaults() -> None:
    table = as_table(Settings(Path("/x")))
    for key, described in SCHEME["properties"].items():
        default = described.get("default")
        assert (list(default) if isinstance(default, list) else default) == (
            list(value) if isinstance(value := table[key], tuple) else value
        ), key


@pytest.mark.parametrize("key", [*SCHEME["properties"], "zzz", "indexes_root"])
def test_the_same_values(tmp_path: Path, key: str) -> None:
    (tmp_path / ".git").mkdir()
    read = {toml(value) for value in VALUES if is_read(tmp_path, key, value)}
    valid = {toml(value) for value in VALUES if VALIDATOR.is_valid({key: value})}
    assert valid == read
    assert key not in SCHEME["properties"] or (read and len(read) < len(VALUES)), "the values tell nothing"


def test_it_is_printed(run: Callable[..., Any]) -> None:
    ran = run("settings", "--schema")
    assert (ran.code, json.loads(ran.out)) == (0, SCHEME)
