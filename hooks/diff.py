"""`nemo-resumable diff`: two configs, or two versions of one, by effective values, and what each difference does to a chain."""

from __future__ import annotations

import argparse
from dataclasses import replace

from nemo_resumable.core.history import HEAD, CommittedStore, History
from nemo_resumable.core.model.changes import Change
from nemo_resumable.core.model.config import TrainingConfig, read_config
from nemo_resumable.core.model.presence import on_disk
from nemo_resumable.core.settings import repository_root
from nemo_resumable.core.syntax.store import Unreadable

from .cli import FOUND, OK
from .options import Projects, UsageError
from .output.terminal import emit, use_color


def run(arguments: argparse.Namespace) -> int:
    """Carry out the command: 0 where nothing that matters for resuming differs, 1 where something does, 2 for bad input."""
    projects = Projects(arguments)
    after = arguments.after
    names = (arguments.before, after) if after is not None else (f"{HEAD}:{arguments.before}", arguments.before)
    before, now = (_config(name, projects) for name in names)
    change = Change(before, now, f"in `{names[0]}`")
    if arguments.format == "json":
        from .output.difference_json import as_json

        emit(as_json(change, names), "utf-8")
    else:
        from .output.difference import as_text

        emit(as_text(change, names, use_color(arguments.color)))
    return FOUND if change.matters else OK


def _config(name: str, projects: Projects) -> TrainingConfig:
    """The config that a word names: a path, or `REV:PATH` for what it was at a commit. Raises UsageError, UnknownRevision."""
    revision, _, rest = name.partition(":")
    path = projects.cwd / name
    if rest and revision and not path.exists():
        path = projects.cwd / rest
    else:
        revision = ""
    project = projects.at(path.parent if path.parent.is_dir() else projects.cwd)
    if revision:
        top = repository_root(path.parent)
        committed = History(revision).at(top)
        if committed is None:
            raise UsageError(f"`{name}`: `{top}` has no commits that git could tell of")
        if not committed.knows(path):
            raise UsageError(
                f"`{name}`: there was no `{rest}` at `{revision}`; check the path, which begins at this folder"
            )
        project = replace(project, store=CommittedStore(committed), presence=on_disk)
    document = project.store.load(path)
    if isinstance(document, Unreadable):
        raise UsageError(document.reason)
    if not document.parses:
        raise UsageError(f"`{name}` is no YAML: `nemo-resumable check` says where")
    config = read_config(document, replace(project, history=None).context(path, alone=True))
    if config is None:
        raise UsageError(f"`{name}` is no training config with datasets that Lhotse reads")
    return config
