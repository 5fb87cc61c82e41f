"""`nemo-resumable migrate`: writes the artifacts of each config and says in a few lines what came out."""

from __future__ import annotations

import argparse
from pathlib import Path

from nemo_resumable.core.artifacts import Migration, NotAConfig, prepare, write
from nemo_resumable.core.artifacts.migrate import counts
from nemo_resumable.core.discovery import is_config
from nemo_resumable.core.project import OUTPUT_FOLDER, Project
from nemo_resumable.core.repository import Repositories
from nemo_resumable.core.settings import repository_root

from .cli import FAILED, FOUND, OK
from .git import tracked
from .options import Projects, UsageError
from .output.render import plural, shown
from .output.terminal import complain, emit


def run(arguments: argparse.Namespace) -> int:
    """Carry out the command."""
    projects = Projects(arguments, repositories=Repositories(tracked if arguments.staged else None))
    cwd = projects.cwd
    out = cwd / arguments.out if arguments.out else None
    if out is not None and out.exists() and not out.is_dir():
        raise UsageError(f"--out: `{arguments.out}` is no folder")
    if out is not None and len(arguments.configs) > 1:
        raise UsageError("--out takes the artifacts of one config; leave it out to migrate several")
    names = [Path(name) for name in arguments.configs]
    chosen = _concerned(names, projects) if arguments.staged else [_named(name, projects) for name in names]
    code = OK
    for project, file in chosen:
        try:
            code = max(code, _migrated(project, file, out, arguments, cwd))
        except NotAConfig as error:
            if len(chosen) == 1:
                raise UsageError(str(error)) from None
            complain(str(error))
            code = FAILED
    return code


def _named(config: Path, projects: Projects) -> tuple[Project, Path]:
    """The config that a path names. Raises UsageError."""
    if (projects.cwd / config).is_dir():
        raise UsageError(f"`{config}` is a folder; name one training YAML")
    project = projects.at((projects.cwd / config).parent)
    discovery = project.discover([config])
    for _, sentence in discovery.problems:
        raise UsageError(sentence)
    return project, discovery.files[0]


def _concerned(names: list[Path], projects: Projects) -> list[tuple[Project, Path]]:
    """The configs among the files of a commit, and those that read them or are started by them. Raises UsageError."""
    groups, problems = projects.groups(names, force_exclude=True)
    for _, sentence in problems:
        raise UsageError(sentence)
    return [(group.project, file) for group in groups for file in group.files if is_config(file, group.project)]


def _migrated(project: Project, file: Path, out: Path | None, arguments: argparse.Namespace, cwd: Path) -> int:
    """Migrate one config and say what came out. Raises NotAConfig."""
    migration = prepare(
        project,
        file,
        out=out,
        exclude_blocked=arguments.exclude_blocked,
        annotate=not arguments.no_annotate,
        packs=arguments.packs,
    )
    write(migration)
    emit("".join(f"{line}\n" for line in _lines(migration, file, cwd, named=out is not None)))
    left = any(f.severity.blocks and f.suppressed is None for f in migration.after.findings)
    return FOUND if left else OK


def _lines(migration: Migration, config: Path, cwd: Path, *, named: bool) -> list[str]:
    folder = shown(migration.folder, cwd)
    expected = repository_root(cwd) / OUTPUT_FOLDER / config.stem
    result = migration.after.configs[0]
    lines = []
    if not named and migration.folder != expected:
        lines.append(f"{shown(expected, cwd)}/ holds another config's migration, so this one is beside it.")
    lines += [
        f"Wrote {folder}/ ({plural(len(migration.files), 'file')}).",
        f"Found:    {counts(migration.before)}",
        f"Patched:  {len(migration.fixes.applied)}; left: {counts(migration.after)}",
        *_packs(migration),
        f"{config.name}: {result.readiness}",
        f"Report:   {folder}/migration-report.md",
    ]
    if result.readiness.startswith("not"):
        lines.append("Next:     read *Findings* in the report: what is open has to change by hand")
    elif not migration.buildable:
        lines.append("Next:     set the data paths that are still open and migrate again")
    else:
        lines.append(f"Next:     NEMO=<checkout> {folder}/build-indexes-cmd.sh, then the checklist")
    return lines


def _packs(migration: Migration) -> list[str]:
    """What `--packs` did, in a line."""
    plan = migration.packs
    if plan is None:
        return []
    if plan.rootless:
        return ["Packs:    none declared, since no folder for them is known: give it with --index-pack-root"]
    return [
        f"Packs:    {len(plan.declared)} declared; {len(plan.kept)} kept on sidecars, {plan.small} too small for one"
    ]
