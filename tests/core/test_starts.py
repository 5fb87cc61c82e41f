"""Configs as launchers start them: overrides on top of files, what they cause, and fixes in the launcher's own text."""

from __future__ import annotations

from pathlib import Path

import pytest
from nemo_resumable.core.analysis import Analysis, analyze
from nemo_resumable.core.findings import Finding, FixKind
from nemo_resumable.core.project import Project
from nemo_resumable.core.settings import Settings
from nemo_resumable.core.syntax.applying import apply_edits

CONFIG = """\
data:
  train_ds:
    seed: 42
    shard_seed: 42
    num_workers: 4
    indexed: true
    use_stateful_dataloader: true
    force_map_dataset: false
    shuffle: true
    batch_size: 4
    indexes_root: /shared/idx
    input_cfg:
      - type: nemo_tarred
        manifest_filepath: /data/en/manifest__OP_0..127_CL_.jsonl
        tarred_audio_filepaths: /data/en/audio__OP_0..127_CL_.tar
  validation_ds:
    force_map_dataset: true
    force_finite: true
    seed: 42
    shard_seed: 42
    batch_size: 1
    indexed: true
    cuts_path: /data/dev.jsonl
trainer:
  num_nodes: 2
  devices: 8
  use_distributed_sampler: false
  logger: false
  enable_checkpointing: false
  max_steps: 1000
  limit_train_batches: 500
exp_manager:
  explicit_log_dir: /shared/runs
  resume_if_exists: true
  resume_ignore_no_checkpoint: true
  max_time_per_run: 00:03:40:00
"""
HEAD = "#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --ntasks-per-node=8\n#SBATCH --time=4:00:00\nexport PYTHONPATH=/opt/Speech\n"


def launched(folder: Path, script: str, config: str = CONFIG, name: str = "train.sh") -> Analysis:
    (folder / "config.yaml").write_text(config, encoding="utf-8")
    (folder / name).write_text(script, encoding="utf-8", newline="")
    project = Project(Settings(folder), folder, launchers=(folder / name,))
    return analyze(project, [folder / "config.yaml"])


def command(*overrides: str) -> str:
    lines = ["srun python -u examples/speechlm2/salm_train.py", "--config-name=config", *overrides]
    return HEAD + " \\\n    ".join(lines) + "\n"


def loud(analysis: Analysis) -> set[str]:
    return {finding.code for finding in analysis.findings if finding.severity.value != "note"}


def test_a_clean_pair_is_quiet_and_only_the_runtime_is_open(tmp_path: Path) -> None:
    analysis = launched(tmp_path, command())
    assert loud(analysis) == set()
    (result,) = analysis.configs
    assert result.readiness == "unverified"
    assert result.launchers == (tmp_path / "train.sh",)
    assert not any("launcher" in part for part in result.unverified)


def test_an_override_that_mends_the_config_counts(tmp_path: Path) -> None:
    broken = CONFIG.replace("    indexed: true\n    use_stateful", "    indexed: false\n    use_stateful")
    assert "NR101" in loud(launched(tmp_path, command(), broken))
    assert "NR101" not in loud(launched(tmp_path, command("data.train_ds.indexed=true"), broken))


@pytest.mark.parametrize(
    ("override", "because"),
    [
        ("data.train_ds.shard_seed=randomized", "NR110"),
        ("++data.train_ds.force_map_dataset=true", "NR103"),
        ("~data.train_ds.indexed", "NR101"),
        ("data.train_ds.indexed=null", "NR101"),
        ("+data.train_ds.bucket_duration_bins=[4,8]", "NR111"),
        ("+data.train_ds.use_statefull_dataloader=true", "NR005"),
        ("data.train_ds.num_workers=four", "NR006"),
        ("'data.train_ds.input_cfg=[{type: txt, paths: /d/a.txt, language: en}]'", "NR308"),
        ("data.validation_ds.force_finite=false", ""),
        ("exp_manager.checkpoint_callback_params.save_last=false", "NR405"),
        ("trainer.devices=-1", "NR409"),
        ("exp_manager.max_time_per_run=00:03:55:00", "NR408"),
    ],
)
def test_what_an_override_causes_is_told_at_the_override(tmp_path: Path, override: str, because: str) -> None:
    script = command(override, "data.train_ds.batch_size=4")
    found = [f for f in launched(tmp_path, script).findings if f.code == "NR503"]
    if not because:
        assert not found, "speechlm2's DataModule forces it"
        return
    assert because in found[0].message
    span = found[0].location.span
    assert script[span.start : span.end] == override
    assert found[0].location.file == tmp_path / "train.sh"


def test_an_override_is_not_blamed_for_what_its_section_lacks(tmp_path: Path) -> None:
    bare = CONFIG[: CONFIG.index("trainer:")]
    assert "NR503" not in loud(launched(tmp_path, command("trainer.num_nodes=2", "trainer.devices=8"), bare))
    assert "NR503" in loud(launched(tmp_path, command("trainer.num_nodes=2", "trainer.devices=-1"), bare))


def test_the_cause_is_found_among_several(tmp_path: Path) -> None:
    """A rule that fires at a default is told at the override that woke it."""
    script = command("data.train_ds.batch_size=4", "+data.train_ds.use_bucketing=true", "trainer.max_steps=5")
    (finding,) = [f for f in launched(tmp_path, script).findings if f.code == "NR503"]
    assert finding.location.source.cut(finding.location.span) == "+data.train_ds.use_bucketing=true"
    assert any(related.location.file == tmp_path / "config.yaml" for related in finding.related)


def test_what_cannot_be_known_is_silent_and_named(tmp_path: Path) -> None:
    analysis = launched(tmp_path, command("data.train_ds.indexed=$WANTED", "data.train_ds.seed=$SOME_SEED"))
    assert loud(analysis) == set()
    assert "the override of `data.train_ds.indexed` in `train.sh`" in analysis.configs[0].unverified


def test_an_override_of_a_list_element_changes_nothing_here(tmp_path: Path) -> None:
    assert loud(launched(tmp_path, command("data.train_ds.input_cfg.0.weight=2"))) == set()


def test_exported_variables_reach_the_config(tmp_path: Path) -> None:
    config = CONFIG.replace("    indexed: true\n    use_stateful", "    indexed: ${oc.env:WANTED}\n    use_stateful")
    script = command().replace("srun", "export WANTED=false\nsrun")
    assert "NR101" in loud(launched(tmp_path, script, config))
    assert "NR101" not in loud(launched(tmp_path, script.replace("false", "true"), config))


def test_a_mandatory_value_is_the_launchers_to_set(tmp_path: Path) -> None:
    config = CONFIG.replace("batch_size: 4", "batch_size: ???")
    severities = {f.code: f.severity.value for f in launched(tmp_path, command(), config).findings}
    assert severities.get("NR004") == "error"
    assert "NR004" not in loud(launched(tmp_path, command("data.train_ds.batch_size=8"), config))


def test_a_suppression_in_the_launcher_holds(tmp_path: Path) -> None:
    script = command().replace("srun", "# nemo-resumable: ignore-file[NR503] tried on purpose\nsrun")
    script = script.replace("--config-name=config", "--config-name=config \\\n    data.train_ds.shard_seed=trng")
    (finding,) = [f for f in launched(tmp_path, script).findings if f.code == "NR503"]
    assert finding.suppressed == "tried on purpose"


def test_only_commands_that_name_the_config_count_among_several(tmp_path: Path) -> None:
    other = "python examples/speechlm2/salm_train.py --config-name=other data.train_ds.shard_seed=randomized\n"
    assert loud(launched(tmp_path, command() + other)) == set()


# -- fixes


def mended(analysis: Analysis, finding: Finding) -> str:
    assert finding.fix is not None
    assert finding.fix.kind is FixKind.CHOICE
    return apply_edits(finding.location.source, finding.fix.edits).text


OVERRIDES = [
    ["data.train_ds.shard_seed=randomized"],
    ["data.train_ds.shard_seed=randomized", "data.train_ds.batch_size=4"],
    ["data.train_ds.batch_size=4", "data.train_ds.shard_seed=randomized"],
    ["data.train_ds.batch_size=4", '"data.train_ds.shard_seed=randomized"', "trainer.max_steps=5"],
]


@pytest.mark.parametrize("overrides", OVERRIDES, ids=lambda each: str(len(each)))
@pytest.mark.parametrize("glue", [" \\\n    ", " "])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_dropping_an_override_leaves_the_other_words(tmp_path: Path, overrides: list[str], glue: str, end: str) -> None:
    words = ["srun python -u examples/speechlm2/salm_train.py", "--config-name=config", *overrides]
    script = (HEAD + glue.join(words) + "\necho done\n").replace("\n", end)
    analysis = launched(tmp_path, script)
    (finding,) = [f for f in analysis.findings if f.code == "NR503"]
    text = mended(analysis, finding)
    rest = [word for word in words if "randomized" not in word]
    assert text == (HEAD + glue.join(rest) + "\necho done\n").replace("\n", end)
    assert "NR503" not in loud(launched(tmp_path, text))


def test_dropping_an_item_of_a_list_in_python(tmp_path: Path) -> None:
    script = (
        "import subprocess\nsubprocess.run(\n    [\n"
        '        "/venv/bin/python",\n        "salm_train.py",\n        "--config-name=config",\n'
        '        "data.train_ds.shard_seed=randomized",\n        "trainer.max_steps=5",\n    ]\n)\n'
    )
    analysis = launched(tmp_path, script, name="submit.py")
    (finding,) = [f for f in analysis.findings if f.code == "NR503"]
    text = mended(analysis, finding)
    assert text == script.replace('        "data.train_ds.shard_seed=randomized",\n', "")
    assert "NR503" not in loud(launched(tmp_path, text, name="submit.py"))


@pytest.mark.parametrize(
    "words",
    [
        '"data.train_ds.shard_seed=" + SEED',
        '("data.train_ds.shard_seed="\n     "randomized")',
        '*["data.train_ds." + key for key in ["shard_seed=randomized"]]',
        '*"data.train_ds.shard_seed=randomized trainer.max_steps=5".split()',
    ],
)
def test_an_override_in_parts_is_told_and_left_alone(tmp_path: Path, words: str) -> None:
    head = 'import subprocess\nSEED = "randomized"\nsubprocess.run(["/v/bin/python", "salm_train.py", '
    script = f'{head}"--config-name=config", {words}])\n'
    (finding,) = [f for f in launched(tmp_path, script, name="submit.py").findings if f.code == "NR503"]
    assert finding.fix is not None
    assert not finding.fix.edits
    assert "by hand" in finding.fix.withheld


@pytest.mark.parametrize(
    ("override", "pinned"),
    [
        ("data.train_ds.seed=$RANDOM", "data.train_ds.seed=42"),
        ('"++data.train_ds.seed=$(date +%s)"', '"++data.train_ds.seed=42"'),
        ('data.train_ds.shard_seed="$SLURM_JOB_ID"', "data.train_ds.shard_seed=42"),
    ],
)
def test_pinning_a_seed(tmp_path: Path, override: str, pinned: str) -> None:
    script = command(override, "trainer.max_steps=5")
    analysis = launched(tmp_path, script)
    (finding,) = [f for f in analysis.findings if f.code == "NR501"]
    text = mended(analysis, finding)
    assert text == script.replace(override, pinned)
    assert loud(launched(tmp_path, text)) == set()


def test_removing_the_partition_signal(tmp_path: Path) -> None:
    line = "export LHOTSE_USE_WORKER_PARTITION=1\n"
    analysis = launched(tmp_path, command().replace("srun", f"{line}srun"))
    (finding,) = [f for f in analysis.findings if f.code == "NR508"]
    assert mended(analysis, finding) == command()


def test_fixes_of_launchers_are_never_applied_by_check_fix(tmp_path: Path) -> None:
    from nemo_resumable.core.fixing import fix

    launched(tmp_path, command("data.train_ds.shard_seed=randomized"))
    project = Project(Settings(tmp_path), tmp_path, launchers=(tmp_path / "train.sh",))
    assert not fix(project, [tmp_path / "config.yaml"]).texts


# -- variables and the runtime context


REMOTE = CONFIG.replace("/data/en/audio", "ais://speech/en/audio")


@pytest.mark.parametrize(
    ("exports", "codes"),
    [
        ("", {"NR601", "NR602"}),
        ("export AIS_ENDPOINT=http://store:51080", {"NR602"}),
        ("export AIS_ENDPOINT=store:51080 USE_AIS_GET_BATCH=true", {"NR601"}),
        ("export AIS_ENDPOINT=http://store:51080 USE_AIS_GET_BATCH=1", {"NR602"}),
        ("export AIS_ENDPOINT=http://store:51080 USE_AIS_GET_BATCH=True", set()),
        ("AIS_ENDPOINT=http://store:51080\nexport USE_AIS_GET_BATCH=true", {"NR601"}),
        ('export AIS_ENDPOINT="$SITE_ENDPOINT" USE_AIS_GET_BATCH=true', set()),
    ],
)
def test_what_remote_storage_needs_of_the_environment(tmp_path: Path, exports: str, codes: set[str]) -> None:
    analysis = launched(tmp_path, command().replace("srun", f"{exports}\nsrun"), REMOTE)
    assert loud(analysis) == codes
    for finding in analysis.findings:
        if finding.code == "NR601" and exports.startswith("AIS"):
            assert finding.location.source.cut(finding.location.span) == "AIS_ENDPOINT=http://store:51080"


@pytest.mark.parametrize(
    ("runtime", "codes"),
    [
        ({}, {"NR601": "warning", "NR602": "warning"}),
        ({"env": {}}, {"NR601": "error", "NR602": "error"}),
        ({"endpoint": "http://store:51080"}, {"NR602": "warning"}),
        ({"endpoint": "http://store:51080", "env": {"USE_AIS_GET_BATCH": True}}, {}),
        ({"env": {"AIS_ENDPOINT": "http://store:51080", "USE_AIS_GET_BATCH": "no"}}, {"NR602": "error"}),
    ],
)
def test_the_runtime_context_says_what_the_ranks_see(
    tmp_path: Path, runtime: dict[str, object], codes: dict[str, str]
) -> None:
    (tmp_path / "config.yaml").write_text(REMOTE, encoding="utf-8")
    project = Project(Settings(tmp_path, runtime=runtime), tmp_path)
    found = {f.code: f.severity.value for f in analyze(project, [tmp_path / "config.yaml"]).findings if "NR6" in f.code}
    found.pop("NR606", None)
    assert found == codes


@pytest.mark.parametrize(
    ("limit", "walltime", "loud_"),
    [("00:03:40:00", "4:00:00", False), ("00:03:55:00", "4:00:00", True), ("00:03:40:00", "03:45:00", True)],
)
def test_walltime_of_the_runtime_context(tmp_path: Path, limit: str, walltime: str, loud_: bool) -> None:
    (tmp_path / "config.yaml").write_text(CONFIG.replace("00:03:40:00", limit), encoding="utf-8")
    project = Project(Settings(tmp_path, runtime={"walltime": walltime}), tmp_path)
    assert ("NR408" in loud(analyze(project, [tmp_path / "config.yaml"]))) is loud_


# -- the artifacts


def artifacts(folder: Path, script: str, config: str = CONFIG) -> tuple[str, str]:
    from nemo_resumable.core.artifacts import prepare

    (folder / ".git").mkdir(exist_ok=True)
    (folder / "config.yaml").write_text(config, encoding="utf-8")
    (folder / "train.sh").write_text(script, encoding="utf-8")
    project = Project(Settings(folder), folder, launchers=(folder / "train.sh",))
    files = prepare(project, folder / "config.yaml").files
    return files["migration-report.md"].decode(), files["pre-flight-checklist.md"].decode()


def test_the_report_says_what_the_launcher_starts(tmp_path: Path) -> None:
    report, _ = artifacts(tmp_path, command("data.train_ds.seed=42", "data.train_ds.num_workers=$WORKERS"))
    section = report[report.index("## Launcher") : report.index("## Storage")]
    assert "### `train.sh`" in section
    assert "| nodes × ranks | 2 × 8 |" in section
    assert "| walltime | `4:00:00` |" in section
    assert "`data.train_ds.seed` `42`" in section
    assert "`$WORKERS` is not set in this file" in section
    assert "- launcher `train.sh`" in report


def test_the_checklist_ticks_what_was_seen(tmp_path: Path) -> None:
    _, clean = artifacts(tmp_path, command())
    assert "- [x] `data.train_ds`: `seed` is `42`" in clean
    assert "- [x] Topology: 16 ranks" in clean
    assert "- [x] The walltime is at least 10 minutes above" in clean
    _, wrong = artifacts(tmp_path, command("data.train_ds.seed=$RANDOM", "trainer.devices=4"))
    assert "- [ ] `data.train_ds`: `seed` is `42`" in wrong
    assert "**NR501 at `train.sh:8`**" in wrong
    assert "- [ ] Topology" in wrong
    _, partly = artifacts(tmp_path, command().replace("srun", 'eval "$SETUP"\nsrun'))
    assert "- [ ] `data.train_ds`: `seed` is `42`" in partly, "a part of the launcher was not read"
