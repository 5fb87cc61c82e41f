"""The arguments that commands share, and the project they describe."""

from __future__ import annotations

import argparse
import difflib
from dataclasses import replace
from pathlib import Path
from typing import Any

from nemo_resumable.core.project import Project
from nemo_resumable.core.settings import SEVERITIES, Settings, load_settings


class UsageError(Exception):
    """The command line cannot be carried out; the message says why and what to do."""


def add_inputs(parser: argparse.ArgumentParser) -> None:
    """Arguments that tell the analyzer what it cannot find by itself."""
    parser.add_argument(
        "--blend", action="append", default=[], metavar="FILE", help="a blend the config reads (repeatable)"
    )
    parser.add_argument("--indexes-root", metavar="DIR", help="the mirror in which `.idx` sidecars are built")
    parser.add_argument("--launch-dir", metavar="DIR", help="where training is started (default: the current folder)")
    parser.add_argument("-v", "--verbose", action="store_true", help="say more, also about internal errors")


def project_from(arguments: argparse.Namespace, start: Path | None = None) -> Project:
    """The project of a command line: settings of the nearest file, with the arguments on top."""
    cwd = Path.cwd()
    settings = load_settings(start or cwd)
    changes: dict[str, Any] = {}
    if arguments.indexes_root:
        changes["indexes_root"] = arguments.indexes_root
    if arguments.launch_dir:
        folder = cwd / arguments.launch_dir
        if not folder.is_dir():
            raise UsageError(f"--launch-dir: there is no folder `{arguments.launch_dir}`")
        changes["launch_dir"] = folder.resolve()
    for name in ("select", "ignore"):
        if words := getattr(arguments, name, None):
            changes[name] = tuple(_rule_words(words, f"--{name}"))
    if levels := getattr(arguments, "severity", None):
        changes["severity"] = {**settings.severity, **dict(_level(text) for text in levels)}
    if scope := getattr(arguments, "scope", None):
        changes["scope"] = scope
    _check_settings(settings)
    blends = tuple(_existing(cwd, name) for name in arguments.blend)
    return Project(replace(settings, **changes), cwd, blends=blends)


def _check_settings(settings: Settings) -> None:
    for name, words in (
        ("select", settings.select),
        ("ignore", settings.ignore),
        ("severity", tuple(settings.severity)),
    ):
        _rule_words(list(words), f"{settings.file}: `{name}`")


def _existing(cwd: Path, name: str) -> Path:
    path = cwd / name
    if not path.is_file():
        raise UsageError(f"--blend: there is no file `{name}`")
    return path.resolve()


def _rule_words(words: list[str], place: str) -> list[str]:
    """Codes, prefixes and names, split at commas; raises UsageError for one that selects nothing."""
    if not words:
        return []
    from nemo_resumable.core.analysis import known_rule_names

    known = known_rule_names()
    chosen = [word.strip() for text in words for word in text.split(",") if word.strip()]
    for word in chosen:
        if word.upper() not in known and word not in known:
            near = difflib.get_close_matches(word, known, 1)
            raise UsageError(f"{place}: `{word}` is no rule" + (f"; did you mean `{near[0]}`?" if near else ""))
    return chosen


def _level(text: str) -> tuple[str, str]:
    rule, _, level = text.partition("=")
    if level not in SEVERITIES:
        raise UsageError(f"--severity takes RULE={'|'.join(SEVERITIES)}, not `{text}`")
    _rule_words([rule], "--severity")
    return (rule.upper() if rule.upper().startswith("NR") and rule[2:].isdigit() else rule), level
