"""`nemo-resumable migrate`: writes the five artifacts of one config and says in a few lines what came out."""

from __future__ import annotations

import argparse
from pathlib import Path

from nemo_resumable.core.artifacts import NotAConfig, prepare, write
from nemo_resumable.core.artifacts.migrate import counts
from nemo_resumable.core.settings import repository_root

from .cli import FOUND, OK
from .options import UsageError, project_from


def run(arguments: argparse.Namespace) -> int:
    """Carry out the command."""
    config = Path(arguments.config)
    absolute = Path.cwd() / config
    project = project_from(arguments, absolute.parent if absolute.parent.is_dir() else None)
    discovery = project.discover([config]) if not absolute.is_dir() else None
    if discovery is None:
        raise UsageError(f"`{config}` is a folder; name one training YAML")
    for _, sentence in discovery.problems:
        raise UsageError(sentence)
    out = Path.cwd() / arguments.out if arguments.out else None
    try:
        migration = prepare(
            project,
            discovery.files[0],
            out=out,
            exclude_blocked=arguments.exclude_blocked,
            annotate=not arguments.no_annotate,
        )
    except NotAConfig as error:
        raise UsageError(str(error)) from None
    write(migration)
    root = repository_root(project.cwd)
    folder = _shown(migration.folder, project.cwd)
    result = migration.after.configs[0]
    expected = root / "migrate-resumable" / config.stem
    if out is None and migration.folder != expected:
        print(f"{_shown(expected, project.cwd)}/ holds another config's migration, so this one is beside it.")
    print(f"Wrote {folder}/ ({len(migration.files)} files).")
    print(f"Found:    {counts(migration.before)}")
    print(f"Patched:  {len(migration.fixes.applied)}; left: {counts(migration.after)}")
    print(f"{config.name}: {result.readiness}")
    print(f"Report:   {folder}/migration-report.md")
    print(f"Next:     {_next(migration.patched_config, folder, result.readiness)}")
    left = any(f.severity.blocks and f.suppressed is None for f in migration.after.findings)
    return FOUND if left else OK


def _shown(path: Path, cwd: Path) -> str:
    return path.relative_to(cwd).as_posix() if path.is_relative_to(cwd) else str(path)


def _next(patched: str | None, folder: str, readiness: str) -> str:
    if readiness.startswith("not"):
        return "read *Findings* in the report: what is open has to change by hand"
    return f"NEMO=<checkout> {folder}/build-indexes-cmd.sh, then the checklist"
