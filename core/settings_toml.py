"""Reads the table of a settings file: the type of each key, near matches, and the line that an error speaks of."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

TABLE = "nemo-resumable"
SCOPES = ("lhotse", "opted-in")
SEVERITIES = ("fatal", "error", "warning", "note")

#: Names of the pairs of NeMo and Lhotse that can be assumed; `model.profiles` says what each can do.
PROFILES = ("nemo-3.0.0", "speech-main", "speech-main-gzip")


class SettingsError(ValueError):
    """The settings cannot be used; the message names the file, the key and what is expected."""


def read(file: Path) -> str:
    """The text of a settings file. Raises SettingsError."""
    try:
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise SettingsError(f"{file}: the settings are not UTF-8 (byte {error.start})") from None
    except OSError as error:
        raise SettingsError(f"{file}: the settings cannot be read: {error.strerror or error}") from None


def load(file: Path, text: str) -> dict[str, Any]:
    """The document of a TOML file. Raises SettingsError."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        table: dict[str, Any] = tomllib.loads(text)
        return table
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{file}: the file is no TOML: {error}") from None


def read_table(file: Path, table: dict[str, Any]) -> dict[str, Any]:
    """The values of our table by their field names; paths begin at the file's folder. Raises SettingsError."""
    values: dict[str, Any] = {}
    for key, value in table.items():
        name = key.replace("-", "_")
        reader = _READERS.get(name)
        if reader is None or "_" in key:
            hint = near_match(key, [known.replace("_", "-") for known in _READERS])
            raise located(file, (key,), f"`{key}` is no setting{hint}")
        try:
            values[name] = reader(value)
        except _Wrong as wrong:
            path = (key, *wrong.path)
            shown = ".".join(path)
            raise located(file, path, f"`{shown}` has to be {wrong.expected}") from None
        if name in _PATHS:
            values[name] = file.parent / Path(values[name]).expanduser()
    return values


def near_match(word: str, known: Iterable[str]) -> str:
    """`; did you mean …?` for a word that is almost a known one, else nothing."""
    import difflib  # only ever needed on the way to an error

    word = word.lower()
    by_lower = {each.lower(): each for each in known}
    near = [each for each in by_lower if each.startswith(word)] if len(word) > 2 else []
    if len(near) != 1:
        near = difflib.get_close_matches(word, by_lower, max(1, len(by_lower)))
        # Codes are often equally near; a slip is likelier at the end (NR11O) than at the beginning.
        near.sort(key=lambda each: (-difflib.SequenceMatcher(None, each, word).ratio(), -_shared(each, word), each))
    return f"; did you mean `{by_lower[near[0]]}`?" if near else ""


def _shared(one: str, other: str) -> int:
    """How many characters two words have in common at their beginning."""
    return next((count for count, pair in enumerate(zip(one, other)) if pair[0] != pair[1]), min(len(one), len(other)))


class _Wrong(Exception):
    """A value of the wrong type: the keys below the setting that lead to it, and what was expected."""

    def __init__(self, expected: str, *path: str) -> None:
        self.expected, self.path = expected, path


def _strings(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise _Wrong("a list of strings")
    return tuple(value)


def _rules(value: Any) -> tuple[str, ...]:
    return tuple(rule_word(word) for word in _strings(value))


def rule_word(word: str) -> str:
    """A code, prefix or name as it is written in the catalogue: `nr110` is NR110."""
    word = word.strip()
    return word.upper() if re.fullmatch(r"nr\d*", word, re.I) else word


def _mapping(value: Any, expected: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _Wrong(expected)
    return value


def _table(value: Any) -> dict[str, str]:
    table = _mapping(value, "a table of strings")
    for key, item in table.items():
        if not isinstance(item, str):
            raise _Wrong("a string", key)
    return dict(table)


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise _Wrong("a string")
    return value


def _number(least: int, unit: str = "") -> Callable[[Any], int]:
    def read(value: Any) -> int:
        if type(value) is not int or value < least:
            raise _Wrong(f"a whole number{unit} from {least} on")
        return value

    return read


def _switch(value: Any) -> bool:
    if not isinstance(value, bool):
        raise _Wrong("true or false")
    return value


def _scope(value: Any) -> str:
    if value not in SCOPES:
        raise _Wrong(" or ".join(f'"{scope}"' for scope in SCOPES))
    return str(value)


def _profile(value: Any) -> str:
    if value not in PROFILES:
        hint = near_match(value, PROFILES) if isinstance(value, str) else ""
        raise _Wrong(", ".join(PROFILES[:-1]) + f" or {PROFILES[-1]}{hint}")
    return str(value)


def _severities(value: Any) -> dict[str, str]:
    table = _mapping(value, "a table of rule = level")
    for rule, level in table.items():
        if level not in SEVERITIES:
            hint = near_match(level, SEVERITIES) if isinstance(level, str) else ""
            raise _Wrong(f"fatal, error, warning or note{hint}", rule)
    return {rule_word(rule): level for rule, level in table.items()}


def _ignores(value: Any) -> dict[str, tuple[str, ...]]:
    table = _mapping(value, "a table of pattern = [rules]")
    for pattern, words in table.items():
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            raise _Wrong("a list of rules", pattern)
    return {pattern: _rules(words) for pattern, words in table.items()}


def _runtime(value: Any) -> Mapping[str, Any] | str:
    if not isinstance(value, (str, dict)):
        raise _Wrong("a file name or a table")
    return value


_READERS: dict[str, Callable[[Any], Any]] = {
    "launch_dir": _text,
    "profile": _profile,
    "scope": _scope,
    "select": _rules,
    "ignore": _rules,
    "severity": _severities,
    "per_file_ignores": _ignores,
    "exclude": _strings,
    "seed": _number(0),
    "indexes_root": _text,
    "index_pack_root": _text,
    "variables": _table,
    "launchers": _table,
    "runtime": _runtime,
    "nemo": _text,
    "lhotse": _text,
    "walltime_margin": _number(0, " of minutes"),
    "pack_threshold": _number(1, " of shards"),
    "require_suppression_reason": _switch,
    "baseline": _text,
}
_PATHS = ("launch_dir", "nemo", "lhotse", "baseline")


def located(file: Path | None, path: tuple[str, ...], sentence: str) -> SettingsError:
    """The error with the place of a key in front."""
    line = line_of(file, path) if file is not None and file.is_file() else None  # an editor has settings without a file
    place = f"{file}:{line}" if line else str(file or "settings")
    return SettingsError(f"{place}: {sentence}")


_HEADER = re.compile(r"\s*\[\[?([^\[\]]+)\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"\s*((?:[\w-]+|\"[^\"]*\"|'[^']*')(?:\s*\.\s*(?:[\w-]+|\"[^\"]*\"|'[^']*'))*)\s*=")
_PART = re.compile(r"\"([^\"]*)\"|'([^']*)'|([\w-]+)")


def line_of(file: Path, path: tuple[str, ...]) -> int | None:
    """The line where a key of ours stands; tomllib does not tell, so headers and keys are read once more."""
    top = ("tool", TABLE) if file.name == "pyproject.toml" else ()
    wanted = (*top, *path)
    table: tuple[str, ...] = ()
    best: tuple[int, int] | None = None  # how much of the path a line names, and the line
    for number, line in enumerate(read(file).splitlines(), 1):
        if match := _HEADER.match(line):
            table = here = _parts(match[1])
        elif match := _KEY.match(line):
            here = (*table, *_parts(match[1]))
        else:
            continue
        if here == wanted[: len(here)] and len(here) > len(top) and (best is None or len(here) > best[0]):
            best = (len(here), number)
    return best[1] if best else None


def _parts(text: str) -> tuple[str, ...]:
    return tuple(next(part for part in match if part is not None) for match in _dotted(text))


def _dotted(text: str) -> Iterable[tuple[str | None, ...]]:
    return (match.groups() for match in _PART.finditer(text))
