"""The five artifacts: right for the config at hand, runnable, and nothing lost."""

from __future__ import annotations

import dataclasses
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from nemo_resumable.core.analysis import analyze
from nemo_resumable.core.artifacts import Migration, NotAConfig, prepare, write
from nemo_resumable.core.project import Project
from nemo_resumable.core.settings import load_settings

CONFIG = """\
data:
  train_ds:
    seed: 42
    shard_seed: randomized  # drawn anew
    shuffle: true
    num_workers: 2
    batch_size: 8
    input_cfg: blends/train.yaml
  validation_ds:
    batch_size: 4
    seed: 42
    shard_seed: 42
    datasets:
      dev:
        cuts_path: /data/dev.jsonl
"""
TRAIN = """\
# the mixture
- type: group
  weight: 0.7
  input_cfg: parts/read.yaml  # relative to this file
- type: nemo_tarred
  weight: 0.3
  indexed: false
  manifest_filepath: /data/b/manifest__OP_0..3_CL_.jsonl
  tarred_audio_filepaths: /data/b/audio__OP_0..3_CL_.tar
"""
READ = """\
- type: nemo_tarred
  manifest_filepath: /data/a/manifest__OP_0..3_CL_.jsonl
  tarred_audio_filepaths: /data/a/audio__OP_0..3_CL_.tar
- type: nemo_tarred
  manifest_filepath: /data/c/manifest__OP_0..3_CL_.jsonl
  tarred_audio_filepaths: /data/c/audio__OP_0..3_CL_.tar
  extra_fields:
    - {type: text_iter, name: q, path: /data/q.txt}
"""


def make(folder: Path, files: dict[str, str]) -> None:
    (folder / ".git").mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def migrated(
    folder: Path, config: str = "conf/model.yaml", root: str | None = "/shared/idx", **options: bool
) -> Migration:
    settings = dataclasses.replace(load_settings(folder), indexes_root=root)
    migration = prepare(Project(settings, folder), folder / config, **options)  # type: ignore[arg-type]
    write(migration)
    return migration


@pytest.fixture
def nested(tmp_path: Path) -> Path:
    make(tmp_path, {"conf/model.yaml": CONFIG, "blends/train.yaml": TRAIN, "blends/parts/read.yaml": READ})
    return tmp_path


def test_patched_copies_lead_to_each_other_and_to_what_was_not_copied(nested: Path) -> None:
    migration = migrated(nested)
    assert migration.patched_blends == {nested / "blends" / "train.yaml": "train-resumable.yaml"}
    config = yaml.safe_load((migration.folder / "model-resumable.yaml").read_text())
    path = config["data"]["train_ds"]["input_cfg"]
    assert path == "migrate-resumable/model/train-resumable.yaml"
    blend = yaml.safe_load((nested / path).read_text())
    assert (migration.folder / blend[0]["input_cfg"]).resolve() == nested / "blends" / "parts" / "read.yaml"
    assert "indexed" not in blend[1]
    again = analyze(migration.project, [migration.folder / "model-resumable.yaml"])
    assert {finding.code for finding in again.findings if finding.severity.blocks} == {"NR301"}


def test_blocked_sources_stay_unless_the_user_leaves_them_out(nested: Path) -> None:
    kept = migrated(nested)
    assert set(kept.patched_blends.values()) == {"train-resumable.yaml"}
    assert "| kept |" in kept.files["migration-report.md"].decode()
    left_out = migrated(nested, exclude_blocked=True)
    text = left_out.files["read-resumable.yaml"].decode()
    assert "# NR301: extra_fields cannot be indexed\n# - type: nemo_tarred\n" in text
    assert len(yaml.safe_load(text)) == 1
    assert "| commented out |" in left_out.files["migration-report.md"].decode()
    assert left_out.after.configs[0].readiness == "unverified"
    blend = yaml.safe_load(left_out.files["train-resumable.yaml"])
    assert blend[0]["input_cfg"] == "read-resumable.yaml"
    migrated(nested)
    assert not (left_out.folder / "read-resumable.yaml").exists()


def test_originals_are_not_touched_and_comments_are_kept(nested: Path) -> None:
    migration = migrated(nested)
    assert (nested / "conf" / "model.yaml").read_text() == CONFIG
    assert (nested / "blends" / "train.yaml").read_text() == TRAIN
    patched = migration.files["model-resumable.yaml"].decode()
    assert '    # NR110: was "randomized"\n    shard_seed: 42  # drawn anew\n' in patched
    plain = migrated(nested, annotate=False).files["model-resumable.yaml"].decode()
    assert "# NR" not in plain
    assert yaml.safe_load(plain) == yaml.safe_load(patched)


def test_equal_stems_get_folders_of_their_own(tmp_path: Path) -> None:
    make(
        tmp_path,
        {"a/train.yaml": CONFIG, "b/train.yaml": CONFIG, "blends/train.yaml": TRAIN, "blends/parts/read.yaml": READ},
    )
    folders = [migrated(tmp_path, name).folder.name for name in ("a/train.yaml", "b/train.yaml", "a/train.yaml")]
    assert folders == ["train", "b-train", "train"]


@pytest.mark.parametrize("root", ["/shared/idx", None, '/odd "name"/$x`y`', "/i'd {x}/$(touch PWN)"])
def test_script_is_clean_and_runs_the_builder_on_documents_it_can_follow(nested: Path, root: str | None) -> None:
    migration = migrated(nested, root=root, exclude_blocked=True)
    script = migration.folder / "build-indexes-cmd.sh"
    assert os.access(script, os.X_OK)
    checker = shutil.which("shellcheck") or str(Path(sys.executable).with_name("shellcheck"))
    subprocess.run([checker, str(script)], check=True)
    nemo = nested / "NeMo"
    builder = nemo / "scripts" / "dataloading" / "build_indexes.py"
    builder.parent.mkdir(parents=True)
    builder.write_text("import json, sys\nprint(json.dumps(sys.argv[1:]))\n")
    environment = {**os.environ, "NEMO": str(nemo), "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run([str(script)], env=environment, capture_output=True, text=True, check=True, cwd="/")
    arguments = [yaml.safe_load(line) for line in done.stdout.splitlines()]
    assert len(arguments) == 1
    words = arguments[0]
    assert ("--indexes-root" in words) is (root is not None)
    assert root is None or words[words.index("--indexes-root") + 1] == root
    documents = [yaml.safe_load(Path(word).read_text()) for word in words if word.endswith(".yaml")]
    assert len(documents) == 2
    assert all(isinstance(document, list) for document in documents)


def test_script_says_when_there_is_nothing_to_build(tmp_path: Path) -> None:
    make(tmp_path, {"conf/model.yaml": "data:\n  train_ds:\n    batch_size: 1\n    input_cfg: ???\n"})
    script = migrated(tmp_path).folder / "build-indexes-cmd.sh"
    done = subprocess.run([str(script)], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "No source of this config can be indexed yet" in done.stderr


def test_a_section_of_an_asr_model_is_extracted_and_wrapped(tmp_path: Path) -> None:
    config = (
        "model:\n  train_ds:\n    use_lhotse: true\n    manifest_filepath: /d/manifest__OP_0..7_CL_.json\n"
        "    tarred_audio_filepaths: /d/audio__OP_0..7_CL_.tar\n    batch_size: 4\n"
    )
    make(tmp_path, {"conf/model.yaml": config})
    migration = migrated(tmp_path)
    document = yaml.safe_load(migration.files["model-train_ds-input-cfg.yaml"])
    assert document == [
        {
            "type": "nemo_tarred",
            "manifest_filepath": "/d/manifest__OP_0..7_CL_.json",
            "tarred_audio_filepaths": "/d/audio__OP_0..7_CL_.tar",
        }
    ]
    assert "wrapped.yaml" in migration.files["migration-report.md"].decode()


def test_own_wrapper_and_container_notes(tmp_path: Path) -> None:
    make(
        tmp_path,
        {"conf/model.yaml": CONFIG.replace("blends/train.yaml", "t.yaml"), "t.yaml": READ[: READ.index("- type", 5)]},
    )
    make(
        tmp_path, {"scripts/build_all_indexes.sh": "", ".nemo-resumable.toml": '[runtime]\ncontainer = "nemo:25.09"\n'}
    )
    script = migrated(tmp_path).files["build-indexes-cmd.sh"].decode()
    assert '"$HERE/../../scripts/build_all_indexes.sh"' in script
    assert "# container: nemo:25.09" in script


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("trainer:\n  devices: 1\n", "has no training dataset that Lhotse reads"),
        ("data:\n  train_ds:\n    seed: 1\n    seed: 2\n", "conf/model.yaml:4:5: the key `seed` stands twice"),
        ("data: [\n", "conf/model.yaml:1:"),
        ("", "has no training dataset"),
        ("- 1\n", "has no training dataset"),
    ],
)
def test_what_cannot_be_migrated_is_said_in_a_sentence_and_nothing_is_written(
    tmp_path: Path, text: str, sentence: str
) -> None:
    make(tmp_path, {"conf/model.yaml": text})
    with pytest.raises(NotAConfig) as raised:
        migrated(tmp_path)
    assert sentence in str(raised.value)
    assert not (tmp_path / "migrate-resumable").exists()


def test_blends_between_the_config_and_a_patched_one_are_copied_and_led_on(nested: Path) -> None:
    (nested / "blends" / "train.yaml").write_text("- type: group\n  input_cfg: parts/read.yaml\n")
    migration = migrated(nested, exclude_blocked=True)
    assert set(migration.patched_blends.values()) == {"train-resumable.yaml", "read-resumable.yaml"}
    again = analyze(migration.project, [migration.folder / "model-resumable.yaml"])
    assert not [finding for finding in again.findings if finding.severity.blocks]


def rows(migration: Migration) -> dict[str, str]:
    """The state of each finding in the report, by rule and line text's field."""
    lines = migration.files["migration-report.md"].decode().splitlines()
    cells = [line.strip("| ").split(" | ") for line in lines if line.startswith(("| fatal |", "| error |"))]
    return {f"{cell[1].split()[0]} {cell[2].strip('`')}": cell[-1] for cell in cells}


def test_states_hold_when_an_entry_before_them_is_left_out(tmp_path: Path) -> None:
    blend = "- type: txt\n  paths: /d/a.txt\n" + READ[: READ.index("- type", 5)].replace(
        "  tarred", "  shard_seed: trng\n  tarred"
    )
    make(tmp_path, {"conf/model.yaml": CONFIG, "blends/train.yaml": blend})
    states = rows(migrated(tmp_path, exclude_blocked=True))
    assert states["NR110 1.shard_seed"] in ("patched", "resolved")
    assert states["NR311 0.language"] == "resolved"
    assert "open" not in states.values()
    assert rows(migrated(tmp_path))["NR308 0.type"] == "open"


def test_report_shows_the_trainer_as_the_rules_judge_it_and_commands_are_quoted(tmp_path: Path) -> None:
    name = "it's $x|y.yaml"
    trainer = (
        "exp_manager:\n  explicit_log_dir: logs/${oc.env:SLURM_JOB_ID}\n  resume_if_exists: false\n  max_time_per_run: 4h\n"
        "trainer:\n  devices: -1\n  max_steps: 1000\n"
    )
    text = CONFIG.replace("blends/train.yaml", "blends/one.yaml") + trainer
    make(
        tmp_path,
        {f"conf/{name}": text.replace("randomized", '"a|b"'), "blends/one.yaml": READ[: READ.index("- type", 5)]},
    )
    made = migrated(tmp_path, f"conf/{name}").files
    report = made["migration-report.md"].decode()
    section = report[report.index("## Trainer and experiment manager") :]
    rows = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("| `")]
    verdicts = {cells[0].strip("`"): cells[-1] for cells in rows}
    assert verdicts["exp_manager.resume_if_exists"] == "ok"
    assert verdicts["exp_manager.explicit_log_dir"] == "change (NR411)"
    assert verdicts["exp_manager.max_time_per_run"] == "change (NR407)"
    assert verdicts["checkpoint trigger"] == "check (NR403)"
    assert verdicts["trainer.devices"] == "check (NR409)"
    assert verdicts["trainer.use_distributed_sampler"] == "ok"
    assert "`exp_manager.max_time_per_run` is `4h`; it has to be" in made["pre-flight-checklist.md"].decode()
    assert "--config 'migrate-resumable/it'\"'\"'s $x|y/it'\"'\"'s $x|y-resumable.yaml' --section" in report
    assert "| `shard_seed` | `a\\|b` | `42` |" in report


def test_the_report_says_what_changes_mean_for_a_chain(tmp_path: Path) -> None:
    """Only where the original saves a position: else there is no chain that could break."""
    for stateful, told in ((True, True), (False, False)):
        folder = tmp_path / str(stateful)
        folder.mkdir()
        (folder / ".git").mkdir()
        text = f"""\
data:
  train_ds:
    use_stateful_dataloader: {str(stateful).lower()}
    shard_seed: randomized
    seed: 42
    shuffle: true
    num_workers: 4
    batch_size: 16
    input_cfg:
      - type: nemo_tarred
        manifest_filepath: /data/en/manifest__OP_0..127_CL_.jsonl
        tarred_audio_filepaths: /data/en/audio__OP_0..127_CL_.tar
"""
        (folder / "conf.yaml").write_text(text, encoding="utf-8")
        migration = prepare(Project(load_settings(folder), folder), folder / "conf.yaml")
        report = migration.files["migration-report.md"].decode()
        assert ("| `data.train_ds.shard_seed` | `randomized` | `42` | the sampler's state" in report) is told
