"""`nemo-resumable diagnose`: the cause of a failed run, from its logs and, where it is given, its config."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from nemo_resumable.core.failures import Diagnosis, LogError, all_modes, diagnose
from nemo_resumable.core.failures.logs import Log
from nemo_resumable.core.failures.page import failure_index, find_page, rules_of
from nemo_resumable.core.project import Project

from .cli import FOUND, OK
from .options import Projects, UsageError
from .output.progress import reading
from .output.render import shown
from .output.terminal import complain, emit, use_color, width


def run(arguments: argparse.Namespace) -> int:
    """Carry out the command: 0 where a cause was found, 1 where not, 2 for bad input."""
    if arguments.list:
        if arguments.logs or arguments.config:
            raise UsageError("--list reads no logs; leave them out")
        return _listed(arguments.format)
    if arguments.format == "markdown":
        raise UsageError("--format markdown goes with --list")
    if not arguments.logs:
        raise UsageError("name the logs of the run; `-` reads a pipe, --list shows what is recognised")
    if not arguments.config and (arguments.launcher or arguments.blend or arguments.runtime):
        raise UsageError("--launcher, --blend and --runtime go with --config")
    project, config = _config(arguments)
    try:
        found = diagnose(_logs(arguments.logs), project, config, progress=reading())
    except LogError as error:
        raise UsageError(str(error)) from None
    _print(found, arguments)
    return OK if found.cause is not None else FOUND


def _logs(names: list[str]) -> list[Path | Log]:
    logs: dict[str, Path | Log] = {}
    for name in names:
        if not name:
            raise UsageError("a path is empty")
        if name == "-":
            if sys.stdin is None:
                raise UsageError("there is no standard input")
            logs[name] = Log("the standard input", stream=sys.stdin.buffer)
        else:
            logs[name] = Log(name, Path(name))
    return list(logs.values())


def _config(arguments: argparse.Namespace) -> tuple[Project | None, Path | None]:
    """The config of the run and the project it is in. Raises UsageError."""
    if not arguments.config:
        return None, None
    projects = Projects(arguments)
    path = projects.cwd / arguments.config
    if path.is_dir():
        raise UsageError(f"--config: `{arguments.config}` is a folder; name one training YAML")
    if not path.is_file():
        raise UsageError(f"--config: there is no file `{arguments.config}`; check the path")
    project = projects.at(path.parent)
    return project, project.discover([path]).files[0]


def _print(found: Diagnosis, arguments: argparse.Namespace) -> None:
    cwd = Path.cwd()
    if arguments.format == "json":
        from .output.diagnosis_json import as_json

        emit(as_json(found, cwd), "utf-8")
        return
    from .output.diagnosis import as_text

    emit(as_text(found, cwd, use_color(arguments.color)))
    if found.at_config is not None and found.at_config.problem:
        reason = found.at_config.problem.replace(
            f"`{found.at_config.config}`", f"`{shown(found.at_config.config, cwd)}`"
        )
        complain(reason)


def _listed(form: str) -> int:
    if form == "markdown":
        emit(failure_index(), "utf-8")
        return OK
    modes = sorted(all_modes(), key=lambda each: each.slug)
    if form == "json":
        rows = [
            {
                "mode": mode.slug,
                "kind": mode.kind.value,
                "rules": [code for code, _ in rules_of(mode)],
                "summary": find_page(mode.slug).summary,
            }
            for mode in modes
        ]
        emit(json.dumps(rows, indent=1, ensure_ascii=False) + "\n", "utf-8")
        return OK
    names = max(len(mode.slug) for mode in modes)
    columns = width() if sys.stdout is not None and sys.stdout.isatty() else 0
    lines = [f"{mode.slug:<{names}}  {find_page(mode.slug).summary}" for mode in modes]
    emit("".join((line if not columns or len(line) <= columns else line[: columns - 1] + "…") + "\n" for line in lines))
    return OK
