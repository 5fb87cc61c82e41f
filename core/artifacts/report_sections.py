"""The walkthrough of the report: training data, evaluation data, trainer, and the verification recipe."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

from ..model.config import TrainingConfig
from ..model.dataset import Dataset, TrainingDataset
from ..model.obstacles import obstacle
from .facts import style, trainer_rows, value, world_phrase, world_size
from .markdown import row

if TYPE_CHECKING:
    from .index_script import Inputs
    from .migrate import Migration

_TRAINING_KEYS = (
    "indexed",
    "use_stateful_dataloader",
    "force_map_dataset",
    "force_iterable_dataset",
    "indexes_root",
    "seed",
    "shard_seed",
    "num_workers",
    "shuffle",
    "use_bucketing",
    "concurrent_bucketing",
)
_EVALUATION_KEYS = (
    "indexed",
    "force_finite",
    "force_map_dataset",
    "force_iterable_dataset",
    "indexes_root",
    "seed",
    "shard_seed",
)


def datasets_section(migration: Migration) -> list[str]:
    """Training and evaluation datasets, before and after."""
    before, after = migration.config, migration.migrated
    lines = ["## Training data", ""]
    for old, new in zip(before.training, after.training):
        lines += [f"### `{new.subject}`", "", *_table(old, new, _TRAINING_KEYS), "", *_statement(after, new), ""]
    if after.evaluation:
        lines += ["## Validation and test data", ""]
        if after.is_speechlm2:
            lines += [
                "speechlm2's DataModule sets `force_finite` and `force_map_dataset` for these itself; the table shows the file.",
                "",
            ]
    for was, now in zip(before.evaluation, after.evaluation):
        lines += [f"### `{now.subject}`", "", *_table(was, now, _EVALUATION_KEYS), ""]
    return lines


def _table(old: Dataset, new: Dataset, keys: tuple[str, ...]) -> list[str]:
    rows = ["| option | was | is |", "|---|---|---|"]
    for key in keys:
        was, now = (value(dataset[key]).replace("|", "\\|") for dataset in (old, new))
        rows.append(row(f"`{key}`", was, "unchanged" if was == now else now))
    return rows


def _statement(config: TrainingConfig, dataset: TrainingDataset) -> list[str]:
    """The dataset-mode statement that has to hold before launch."""
    sources = dataset.sources
    can = [
        source for source in sources if source.indexable and source["indexed"].is_(True) and obstacle(source) is None
    ]
    number = f"{len(can)} of {len(sources)} sources read can be indexed" if sources else "no source is known yet"
    return [
        f"Dataset mode: training runs in {style(dataset)}; {number}; `seed` {value(dataset['seed'])}, `shard_seed` "
        f"{value(dataset['shard_seed'])}; {world_phrase(config, dataset)}.",
    ]


def trainer_section(migration: Migration) -> list[str]:
    """Trainer and experiment manager."""
    lines = [
        "## Trainer and experiment manager",
        "",
        "What a chain of chunks depends on, as it is after the patches.",
        "",
        "| setting | value | needed | verdict |",
        "|---|---|---|---|",
    ]
    for each in trainer_rows(migration.migrated):
        lines.append(row(f"`{each.key}`", each.value, each.wanted, each.verdict))
    return [*lines, ""]


def verification_section(migration: Migration, inputs: Inputs) -> list[str]:
    """How to prove that a resume is exact, with NeMo's own tool, and then on the cluster."""
    config = migration.migrated
    path_now = (
        migration.folder / migration.patched_config
        if migration.patched_config is not None
        else migration.config.document.source.path
    )
    ranks = world_size(config)
    dataset = config.training[0]
    section = dataset.path[-1] if dataset.shared is None else dataset.shared.path[-1]
    lines = [
        "## Verification",
        "",
        "1. "
        + (
            "Build the index files: `NEMO=<checkout> ./build-indexes-cmd.sh` in this folder"
            if inputs.buildable
            else "Set the data paths that are still open and migrate again: there is no source to build an index for yet"
        )
        + (" (left out: " + "; ".join(inputs.left_out) + ")." if inputs.left_out else "."),
        "2. Tick off `pre-flight-checklist.md`.",
        "3. Prove the resume bit for bit with NeMo's own validator, run where training is started:",
        "",
    ]
    target = os.path.relpath(path_now, migration.project.launch_dir).replace(os.sep, "/")
    if config.place != ("data",):
        path = ".".join(config.place) + "." if config.place else ""
        lines += [
            f"   The validator reads `data.{section}` only, so wrap the section first:",
            "",
            "   ```bash",
            "   python - <<'EOF'",
            "   from omegaconf import OmegaConf",
            f"   config = OmegaConf.load({target!r})",
            f"   section = OmegaConf.to_container(config.{path}{section}, resolve=True)",
            f'   OmegaConf.save(OmegaConf.create({{"data": {{"{section}": section}}}}), "wrapped.yaml")',
            "   EOF",
            "   ```",
            "",
        ]
        target = "wrapped.yaml"
    number = str(ranks) if ranks is not None else "<ranks>"
    run = f"torchrun --nproc-per-node={number}"
    validator = '"$NEMO/scripts/dataloading/validate_dataloader.py"'
    common = f"--config {shlex.quote(target)} --section {section} --output-dir validate --steps 200 --checkpoint-at 100"
    nodes = config.setting(("trainer", "num_nodes"), 1)
    if ranks is not None and nodes.lacks(1):
        lines += [
            f"   {ranks} ranks on one machine stand for the whole job's partition; fewer GPUs are enough, the check needs none.",
            "",
        ]
    lines += [
        "   ```bash",
        f"   {run} {validator} --phase baseline {common}",
        f"   {run} {validator} --phase resumed {common} --state-dir validate",
        f"   python {validator} --phase groundtruth {common}",
        '   python "$NEMO/scripts/dataloading/_validate_dataloader/consolidate.py" --output-dir validate --checkpoint-at 100',
        "   ```",
        "",
        "   The last command answers five questions: no duplicates, nothing skipped, a true partition, an exact resume,",
        "   the same order twice.",
        "4. Smoke ladder: one node and one chunk; one node and a resume; then the full topology.",
    ]
    return lines
