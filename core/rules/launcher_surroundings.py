"""NR503, NR508-NR510, NR512: overrides that undo the config, variables, the Python in use, and what could not be read."""

from __future__ import annotations

from collections.abc import Iterator

from ..findings import Related, Severity
from ..model.config import TrainingConfig
from .drafts import Draft
from .launcher_fixes import drop_override, remove_statement
from .registry import rule
from .starts import Launched, Started, Undone

_PARTITION = "LHOTSE_USE_WORKER_PARTITION"


@rule("NR503", "unsafe-override", Severity.ERROR)
def unsafe_override(undone: Undone) -> Iterator[Draft]:
    """An override undoes what the config states."""
    override, draft = undone.override, undone.draft
    related = draft.related
    if draft.location != override.location:
        related = (Related(draft.location, "the config says it here"), *related)
    yield Draft(
        f"the override of `{override.key}` undoes the config ({undone.code} {undone.name}): {draft.message}",
        override.location,
        override.key,
        draft.current,
        draft.recommended,
        draft.rationale or "Drop the override, or state the value in the config and keep it in every chunk.",
        "launcher override",
        related,
        drop_override(override),
    )


@rule("NR508", "exported-partition-signal", Severity.ERROR)
def exported_partition_signal(started: Started) -> Iterator[Draft]:
    """`LHOTSE_USE_WORKER_PARTITION` is set by hand."""
    variable = started.launch.env.get(_PARTITION)
    if variable is not None and variable.reaches:
        yield Draft(
            f"`{_PARTITION}` is what Lhotse's worker start-up sets for itself: exported by hand it slices map-style data "
            "twice, and ranks skip items",
            variable.location,
            f"environment.{_PARTITION}",
            current=variable.value.text,
            rationale="Remove the line.",
            origin="launcher",
            fix=remove_statement(variable.location, f"Remove `{_PARTITION}`"),
        )


@rule("NR509", "unpinned-python-path", Severity.WARNING)
def unpinned_python_path(started: Started) -> Iterator[Draft]:
    """Nothing selects the NeMo and Lhotse in use."""
    launch = started.launch
    path = launch.env.get("PYTHONPATH")
    stated = started.config.context.stated
    pinned = launch.container is not None or launch.python is not None or (path is not None and path.reaches)
    if not pinned and stated.container is None and "PYTHONPATH" not in stated.env:
        yield Draft(
            "no PYTHONPATH, virtual environment or container selects the NeMo and Lhotse in use: a chunk takes whatever the "
            "shell finds, and another version does not read the saved state",
            launch.location,
            "launcher.python",
            rationale="Activate an environment, name a container, or export PYTHONPATH in the launcher itself.",
            origin="launcher",
        )


@rule("NR510", "no-launcher", Severity.NOTE)
def no_launcher(config: TrainingConfig) -> Iterator[Draft]:
    """No launcher is given or found for a config."""
    if config.launch is None and not config.launchers and config.training:
        yield Draft(
            "no launcher was given or found that starts this config: one seed in every chunk, a topology that does not change, "
            "the walltime and the environment are to be checked by hand",
            config.training[0].location,
            "launcher",
            rationale="Name it with --launcher, or in the settings' `launchers` table.",
        )


@rule("NR512", "unparsed-launcher", Severity.NOTE)
def unparsed_launcher(launched: Launched) -> Iterator[Draft]:
    """Parts of a launcher cannot be read statically."""
    for gap in launched.launcher.gaps:
        yield Draft(gap.sentence, gap.location, "launcher", origin="launcher")
