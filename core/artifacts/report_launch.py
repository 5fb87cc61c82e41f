"""The report's sections on what starts the config and on the storage its data lies on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..model.storage import storage_of
from .markdown import row

if TYPE_CHECKING:
    from ..model.launcher.facts import Fact, Launch, Override, Word
    from .migrate import Migration

#: Overrides that are shown with their value; the others are only counted.
_TELLING = (
    "seed",
    "shard_seed",
    "num_workers",
    "num_nodes",
    "devices",
    "indexes_root",
    "max_time_per_run",
    "explicit_log_dir",
)
_VARIABLES = ("AIS_", "USE_AIS_", "LHOTSE_", "PL_GLOBAL_SEED", "PYTHONPATH")


def launcher_section(migration: Migration) -> list[str]:
    """What was read of the launchers; without one, what to check by hand."""
    lines = ["## Launcher", ""]
    launchers = migration.migrated.launchers
    if not launchers:
        lines += [
            "No launcher was read. By hand: it passes no `seed` and no `shard_seed`, or in every chunk the same; it starts every",
            "chunk with the same nodes, ranks and workers; its walltime is at least 10 minutes above `max_time_per_run`; it starts",
            "the patched config; `LHOTSE_USE_WORKER_PARTITION` is not exported (the loader sets it itself).",
        ]
    for launcher, launches in launchers:
        lines += [f"### `{migration.shown(launcher.source.path)}`", ""]
        if not launches:
            lines += ["No command in it starts training; what it hands to job files is judged.", ""]
        for launch in launches:
            lines += _launch(launch)
        if launcher.gaps:
            place = launcher.source.lines.position
            told = [f"- line {place(gap.location.span.start).line}: {gap.sentence}" for gap in launcher.gaps]
            lines += ["Not read:", "", *told, ""]
        lines.append(
            "It has to start the patched config: change what it names, or put the patched config in the original's place."
        )
    return [*lines, ""]


def _launch(launch: Launch) -> list[str]:
    rows = [
        ("starts", _word(launch.program)),
        ("config", " ".join(filter(None, (_word(launch.config_path or launch.config_dir), _word(launch.config_name))))),
        ("nodes × ranks", f"{_fact(launch.nodes)} × {_fact(launch.ranks_per_node)}"),
        ("walltime", f"`{launch.walltime.written}`" if launch.walltime else "not stated"),
        ("chunks", launch.chain.by or ("one of several" if launch.chain.chained else "a single run")),
        ("Python", _word(launch.container) or _word(launch.python) or "by `PYTHONPATH`, or whatever the shell finds"),
        (
            "environment",
            ", ".join(sorted(f"`{name}`" for name in launch.env if name.startswith(_VARIABLES))) or "nothing of note",
        ),
    ]
    told = [override for override in launch.overrides if override.key.rsplit(".", 1)[-1] in _TELLING]
    if launch.overrides:
        rest = len(launch.overrides) - len(told)
        shown = [*map(_override, told), *([f"{rest} more"] if rest else [])]
        rows.append(("overrides", ", ".join(shown)))
    if launch.staging:
        rows.append(("staging", ", ".join(f"to {_word(each.target)}" for each in launch.staging)))
    return ["| | |", "|---|---|", *(row(name, text) for name, text in rows if text), ""]


def _override(override: Override) -> str:
    return f"`{override.prefix}{override.key}` {_word(override.value)}".rstrip()


def _word(word: Word | None) -> str:
    """A value as a cell says it. Values of the environment are never printed: only what the launcher's text says."""
    if word is None:
        return ""
    if word.varies is not None:
        return f"(another in each chunk: {word.varies.by})"
    if word.text is None:
        return f"(not known: {word.reason})".replace("|", "\\|")
    return "`" + word.text.replace("`", "'").replace("|", "\\|").replace("\n", " ") + "`" if word.text else ""


def _fact(fact: Fact) -> str:
    if fact.varies is not None:
        return f"another number in each chunk ({fact.varies.by})"
    return "(not stated)" if fact.value is None else str(fact.value)


def storage_section(migration: Migration) -> list[str]:
    """The workflow that the data's storage asks for."""
    storage = storage_of(migration.migrated.datasets)
    lines = ["## Storage", "", f"Workflow: {storage.workflow}."]
    if storage.remote:
        lines += [
            "",
            f"{storage.remote} path pattern(s) are remote ({storage.named}), {storage.local} local. Every rank needs the `aistore` "
            "SDK, `AIS_ENDPOINT` and `USE_AIS_GET_BATCH=true`; without the last, a tar reader is opened for every shard. "
            "Sidecars belong on a file system: `indexes_root` has to be set.",
        ]
    elif storage.local:
        lines += [
            "",
            "All stated paths are local: no AIStore variable is needed, and `USE_AIS_GET_BATCH` should stay unset.",
        ]
    if migration.project.indexes is not None:
        from ..model.indexes import summary

        lines += ["", f"Index files on the machine of this report: {summary([migration.migrated])}."]
    return [*lines, ""]
