"""`pre-flight-checklist.md`: what a person does before the first chunk is submitted, filled in for this config."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..model.storage import storage_of
from .facts import trainer_rows, value, world_phrase
from .markdown import joined
from .ticks import Ticks

if TYPE_CHECKING:
    from .index_script import Inputs
    from .migrate import Migration


def checklist(migration: Migration, inputs: Inputs) -> str:
    """The checklist's text."""
    config = migration.migrated
    storage = storage_of(config.datasets)
    ticks = Ticks(migration)
    lines = [
        f"# Before `{migration.config.document.source.path.name}` is launched",
        "",
        "Work from top to bottom; a box that cannot be ticked stops the launch.",
        "",
    ]
    skipped: list[str] = []
    open_ = [f for f in migration.after.findings if f.severity.blocks and f.suppressed is None]
    lines += ["## 1. Nothing is left to mend", ""]
    if open_:
        lines.append(
            f"- [ ] {len(open_)} fatal or error finding(s) are left after the patches: see *Findings* in "
            "`migration-report.md`, and run `nemo-resumable check` on the patched config until none is."
        )
    else:
        lines.append("- [x] No fatal and no error finding is left in the patched config.")
    if migration.patched_config is not None:
        lines.append(
            f"- [ ] The patched config `{migration.patched_config}` has been read and is the one the launcher starts."
        )
        if config.composition.bases:
            names = ", ".join(f"`{base.source.path.name}`" for base in config.composition.bases)
            lines.append(
                f"- [ ] It lies beside its base configs ({names}): Hydra looks for `defaults` in the config's own folder."
            )
    lines += ["", "## 2. Index files", ""]
    _indexes(migration, inputs, lines, skipped)
    lines += ["", "## 3. Storage", ""]
    if storage.remote:
        lines += [
            f"- [ ] The `aistore` SDK is installed in the training environment (sources on {storage.named}).",
            f"{ticks.box('NR601', seen=ticks.environment)} `AIS_ENDPOINT` is exported to every rank.{ticks.told('NR601')}",
            "- [ ] The endpoint answers from a compute node, and one object of each bucket comes through its batch endpoint.",
            f"{ticks.box('NR602', seen=ticks.environment)} `USE_AIS_GET_BATCH=true` is exported: audio is fetched when a batch is "
            f"built, instead of one open tar reader per shard. Only this variable counts, no YAML key.{ticks.told('NR602')}",
            f"{ticks.box('NR603', seen=ticks.environment)} `USE_AIS_INDIVIDUAL_GETS` is unset, or set together with "
            f"`USE_AIS_GET_BATCH` on purpose.{ticks.told('NR603')}",
        ]
    elif storage.local:
        lines.append("- [ ] Every local data path of the blend is mounted under the same name on every node.")
        skipped.append("AIStore: no source is remote.")
    else:
        lines.append("- [ ] Once the data paths are set: remote ones need `AIS_ENDPOINT` and `USE_AIS_GET_BATCH=true`.")
    lines += ["", "## 4. One seed, one topology", ""]
    for dataset in config.training:
        lines += [
            f"{ticks.box('NR501', 'NR502', seen=ticks.launched)} `{dataset.subject}`: `seed` is {value(dataset['seed'])}, "
            f"`shard_seed` is {value(dataset['shard_seed'])}; the launcher passes no seed, and above all none drawn anew for each "
            f"chunk.{ticks.told('NR501', 'NR502')}",
            f"{ticks.box('NR504', 'NR113', seen=ticks.launched)} `{dataset.subject}`: `num_workers` is "
            f"{value(dataset['num_workers'])} in every chunk.",
        ]
    if config.training:
        agree = ticks.box("NR504", "NR505", "NR409", seen=ticks.counted)
        lines.append(f"{agree} Topology: {world_phrase(config, config.training[0])}.{ticks.told('NR504', 'NR505')}")
    lines += [
        f"{ticks.box('NR504', seen=ticks.launched)} Tensor, context and pipeline parallel sizes stay as they are: they change the "
        "data-parallel size.",
        f"{ticks.box('NR408', seen=ticks.timed)} The walltime is at least {config.context.walltime_margin} minutes above "
        f"`max_time_per_run`.{ticks.told('NR408')}",
        f"{ticks.box('NR503', 'NR508', 'NR513', seen=ticks.launched)} No override or variable of the launcher undoes the "
        f"config.{ticks.told('NR503', 'NR508', 'NR513')}",
        f"{ticks.box('NR509', seen=ticks.launched)} Every chunk runs with the same NeMo and Lhotse.{ticks.told('NR509')}",
    ]
    wrong = [row for row in trainer_rows(config) if row.state == "change"]
    for row in wrong:
        lines.append(f"- [ ] `{row.key}` is {row.value}; it has to be {row.wanted}.")
    lines += ["", "## 5. Smoke ladder", ""]
    lines += [
        "- [ ] One node, one chunk: a few hundred steps, a checkpoint is written.",
        "- [ ] One node, resume: the second chunk starts from that checkpoint, and the data goes on where it stopped "
        "(see *Verification* in `migration-report.md`).",
        "- [ ] Full topology: the same two chunks with all nodes.",
    ]
    if skipped:
        lines += ["", "## Left out", "", *(f"- {sentence}" for sentence in skipped)]
    return joined(lines)


def _indexes(migration: Migration, inputs: Inputs, lines: list[str], skipped: list[str]) -> None:
    config, ticks = migration.migrated, Ticks(migration)
    names = sorted({word.replace('"$HERE"/', "") for words in inputs.documents.values() for word in words})
    if names:
        lines.append(
            "- [ ] `NEMO=<checkout> ./build-indexes-cmd.sh` has run without an error (it covers "
            + ", ".join(f"`{name}`" for name in names)
            + ")."
        )
        lines.append(
            "- [ ] It is run again whenever a manifest, a tar or a path string changes: an index of an older file cuts it silently."
        )
        lines.append(
            "- [ ] `nemo-resumable check --indexes` on this config, where the data and the index files are, finds nothing of NR8."
        )
    else:
        lines.append(
            "- [ ] `build-indexes-cmd.sh` has nothing to build yet: set the data paths and run `nemo-resumable migrate` again."
        )
    for sentence in inputs.left_out:
        lines.append(f"- [ ] Left out of the index build, {sentence}.")
    roots = {
        str(root)
        for dataset in config.datasets
        if (root := dataset["indexes_root"].value) is not None and isinstance(root, str)
    }
    staged = ticks.box("NR108", "NR506", "NR507", seen=ticks.launched)
    for root in sorted(roots):
        lines.append(
            f"{staged} `{root}` is the same mirror on every node and in every chunk; if it is node-local, it is copied there "
            f"before training starts, in each chunk.{ticks.told('NR108', 'NR506', 'NR507')}"
        )
    if not roots:
        skipped.append("The mirror of `indexes_root`: none is set, sidecars lie beside the data.")
    packs = [entry for dataset in config.datasets for entry in dataset.all_entries if entry.own("index_pack")]
    if packs:
        lines.append(
            f"- [ ] The {len(packs)} declared `.idxpack` file(s) have been rebuilt and validated after the sidecars."
        )
    else:
        skipped.append("Index packs: none is declared.")
