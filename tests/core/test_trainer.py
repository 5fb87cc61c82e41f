"""What trainer and exp_manager make of their options: time, triggers, when checkpoints are written, where they are looked for."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nemo_resumable.core.analysis import analyze
from nemo_resumable.core.findings import Finding, Location, Severity
from nemo_resumable.core.fixing import fix
from nemo_resumable.core.model.config import TrainingConfig
from nemo_resumable.core.model.experiment import checkpoint_place, moving_parts
from nemo_resumable.core.model.launcher.facts import Chain, EnvVar, Launch, Override, Variation, Word
from nemo_resumable.core.model.overrides import as_started
from nemo_resumable.core.model.trainer import (
    EPOCH,
    FIELDS,
    NEVER,
    OFTEN,
    field,
    has_exp_manager,
    has_trainer,
    known_walltime,
    rhythm,
    time_limit_seconds,
    triggers,
    walltime_seconds,
)
from nemo_resumable.core.model.values import Origin, Unknown
from nemo_resumable.core.project import Project
from nemo_resumable.core.settings import OWN_FILE, load_settings
from nemo_resumable.core.text import Source, Span

DATA = """\
data:
  train_ds:
    indexed: true
    use_stateful_dataloader: true
    force_map_dataset: false
    seed: 42
    shard_seed: 42
    shuffle: true
    num_workers: 2
    batch_size: 8
    input_cfg:
      - type: nemo_tarred
        manifest_filepath: /data/manifest__OP_0..3_CL_.jsonl
        tarred_audio_filepaths: /data/audio__OP_0..3_CL_.tar
  validation_ds:
    force_finite: true
    force_map_dataset: true
    shard_seed: 42
    batch_size: 8
    manifest_filepath: /data/dev.jsonl
"""
TRAINER = (
    "trainer:\n  devices: 8\n  max_steps: 1000\n  use_distributed_sampler: false\n  logger: false\n"
    "  enable_checkpointing: false\n"
)
MANAGER = (
    "exp_manager:\n  explicit_log_dir: logs\n  resume_if_exists: true\n  resume_ignore_no_checkpoint: true\n"
    '  max_time_per_run: "00:03:50:00"\n'
)


def project(folder: Path, text: str, own: str = "", **others: str) -> tuple[Project, Path]:
    (folder / OWN_FILE).write_text(own)
    for name, content in {"config": text, **others}.items():
        (folder / f"{name}.yaml").write_text(content)
    return Project(load_settings(folder), folder), folder / "config.yaml"


def config_of(folder: Path, text: str, own: str = "", **others: str) -> TrainingConfig:
    made, path = project(folder, text, own, **others)
    (config,) = analyze(made, [path]).models
    return config


def found(folder: Path, text: str, own: str = "", **others: str) -> dict[str, list[Finding]]:
    """The findings of NR4, by code."""
    made, path = project(folder, text, own, **others)
    by_code: dict[str, list[Finding]] = {}
    for finding in analyze(made, [path]).findings:
        if finding.code.startswith("NR4"):
            by_code.setdefault(finding.code, []).append(finding)
    return by_code


def callback(**values: str) -> str:
    return "  checkpoint_callback_params:\n" + "".join(f"    {key}: {value}\n" for key, value in values.items())


# -- time


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("00:03:50:00", 13800),
        ("1:00:00:00", 86400),
        ("100:00:00:01", 8640001),
        (" 00:00:30:00 ", 1800),
        ("00:99:99:99", 99 * 3660 + 99),
        ("04:00:00", None),
        ("00:3:50:00", None),
        ("00:00:03:50:00", None),
        ("-1:00:00:00", None),
        ("2160000", None),
        ("", None),
        ("4h", None),
    ],
)
def test_a_time_limit_is_digits_and_three_times_two(text: str, seconds: int | None) -> None:
    assert time_limit_seconds(text) == seconds


@given(st.integers(0, 400), st.integers(0, 23), st.integers(0, 59), st.integers(0, 59))
@settings(derandomize=True)
def test_slurm_and_the_timer_agree_on_the_same_time(days: int, hours: int, minutes: int, seconds: int) -> None:
    limit = time_limit_seconds(f"{days:02}:{hours:02}:{minutes:02}:{seconds:02}")
    assert limit == walltime_seconds(f"{days}-{hours:02}:{minutes:02}:{seconds:02}")
    assert limit == walltime_seconds(f"{days * 24 + hours}:{minutes:02}:{seconds:02}")


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("240", 14400),
        ("240:30", 14430),
        ("4:00:00", 14400),
        ("1-0", 86400),
        ("1-12", 129600),
        ("1-12:30", 131400),
        ("UNLIMITED", None),
        ("four hours", None),
        ("1-2:3:4:5", None),
    ],
)
def test_a_walltime_is_read_as_slurm_reads_it(text: str, seconds: int | None) -> None:
    assert walltime_seconds(text) == seconds


def test_the_walltime_comes_from_the_runtime_context(tmp_path: Path) -> None:
    assert known_walltime(config_of(tmp_path, DATA + TRAINER + MANAGER)) is None
    known = known_walltime(config_of(tmp_path, DATA + TRAINER + MANAGER, '[runtime]\nwalltime = "4:00:00"\n'))
    assert known is not None
    assert known.seconds == 14400


@pytest.mark.parametrize(
    ("limit", "margin", "recommended"),
    [("00:03:50:00", 10, None), ("00:03:50:01", 10, "00:03:50:00"), ("00:03:50:00", 30, "00:03:30:00")],
)
def test_the_limit_keeps_the_margin_of_the_settings(
    tmp_path: Path, limit: str, margin: int, recommended: str | None
) -> None:
    own = f'walltime-margin = {margin}\n[runtime]\nwalltime = "4:00:00"\n'
    findings = found(tmp_path, DATA + TRAINER + MANAGER.replace("00:03:50:00", limit), own).get("NR408", [])
    assert [finding.recommended for finding in findings] == ([recommended] if recommended else [])


def test_a_walltime_shorter_than_the_margin_has_no_limit_to_recommend(tmp_path: Path) -> None:
    (finding,) = found(tmp_path, DATA + TRAINER + MANAGER, "[runtime]\nwalltime = '5'\n")["NR408"]
    assert finding.recommended is None


def test_lightning_s_own_limit_is_told_apart(tmp_path: Path) -> None:
    text = DATA + TRAINER + "  max_time: 00:04:00:00\n" + MANAGER.replace('  max_time_per_run: "00:03:50:00"\n', "")
    (finding,) = found(tmp_path, text)["NR408"]
    assert "counts over all chunks together" in finding.message


# -- triggers


@pytest.mark.parametrize(
    ("values", "on"),
    [
        ({}, ["every_n_epochs"]),
        ({"every_n_train_steps": "100"}, ["every_n_train_steps", "every_n_epochs"]),
        ({"every_n_train_steps": "100", "every_n_epochs": "null"}, ["every_n_train_steps"]),
        ({"every_n_train_steps": "100", "every_n_epochs": "0"}, ["every_n_train_steps"]),
        ({"every_n_train_steps": '"100"', "every_n_epochs": "null"}, ["every_n_train_steps"]),
        ({"every_n_train_steps": "0"}, ["every_n_epochs"]),
        ({"every_n_epochs": "null"}, ["every_n_epochs"]),  # with all three null ModelCheckpoint falls back on the epoch
        ({"every_n_epochs": "0"}, []),
        (
            {"train_time_interval": "{_target_: datetime.timedelta, minutes: 30}"},
            ["every_n_epochs", "train_time_interval"],
        ),
        ({"train_time_interval": "00:00:30:00", "every_n_epochs": "null"}, ["train_time_interval"]),
        ({"every_n_train_steps": "-1", "every_n_epochs": "null"}, []),
    ],
)
def test_triggers_that_are_on(tmp_path: Path, values: dict[str, str], on: list[str]) -> None:
    found_triggers = triggers(config_of(tmp_path, DATA + TRAINER + MANAGER + (callback(**values) if values else "")))
    assert [setting.key for setting in found_triggers.on] == on


@pytest.mark.parametrize(
    ("values", "fixed"),
    [
        ({"every_n_train_steps": "100"}, True),
        ({"train_time_interval": "{_target_: datetime.timedelta, minutes: 30}"}, True),
        ({"every_n_train_steps": "100", "train_time_interval": "{_target_: datetime.timedelta}"}, False),
    ],
)
def test_the_epochs_are_switched_off_where_one_other_trigger_is_on(
    tmp_path: Path, values: dict[str, str], fixed: bool
) -> None:
    made, path = project(tmp_path, DATA + TRAINER + MANAGER + callback(**values))
    result = fix(made, [path])
    left = [finding for finding in result.analysis.findings if finding.code == "NR404"]
    assert bool(result.texts) == fixed
    assert bool(left) != fixed
    if fixed:
        assert "    every_n_epochs: null\n" in result.texts[path].text


def test_an_unknown_trigger_is_not_guessed(tmp_path: Path) -> None:
    text = DATA + TRAINER + MANAGER + callback(every_n_train_steps="100", every_n_epochs="${oc.env:EPOCHS}")
    config = config_of(tmp_path, text)
    assert isinstance(field(config, "exp_manager.checkpoint_callback_params.every_n_epochs").value, Unknown)
    assert not found(tmp_path, text)


# -- when checkpoints are written


@pytest.mark.parametrize(
    ("trainer", "manager", "when"),
    [
        ("", {}, EPOCH),
        ("  limit_train_batches: 1000\n", {}, OFTEN),
        ("  limit_train_batches: 1.0\n", {}, EPOCH),
        ("  val_check_interval: 500\n", {}, OFTEN),
        ("  val_check_interval: ${trainer.limit_train_batches}\n  limit_train_batches: 1000\n", {}, OFTEN),
        ("  val_check_interval: 0.25\n", {}, OFTEN),
        ("  val_check_interval: 500\n  check_val_every_n_epoch: null\n", {}, OFTEN),
        ("  val_check_interval: 500\n  check_val_every_n_epoch: 5\n", {}, EPOCH),
        ("  val_check_interval: 500\n  limit_val_batches: 0\n", {}, NEVER),
        ("  limit_val_batches: 0.0\n  limit_train_batches: 1000\n", {}, NEVER),
        ("  limit_val_batches: 0\n  limit_train_batches: 1000\n", {"save_on_train_epoch_end": "true"}, OFTEN),
        ("  val_check_interval: 500\n", {"save_on_train_epoch_end": "true"}, EPOCH),
        ("", {"every_n_train_steps": "100", "every_n_epochs": "null"}, OFTEN),
        ("", {"every_n_epochs": "0"}, EPOCH),  # `*-last` follows the validations all the same
        ("  val_check_interval: ???\n", {}, None),
        ("  limit_train_batches: ${oc.env:LIMIT}\n", {}, None),
    ],
)
def test_rhythm_of_the_last_checkpoint(tmp_path: Path, trainer: str, manager: dict[str, str], when: str | None) -> None:
    text = DATA + TRAINER + trainer + MANAGER + (callback(**manager) if manager else "")
    assert rhythm(config_of(tmp_path, text)) == when


def test_without_a_validation_set_nothing_is_written(tmp_path: Path) -> None:
    text = DATA[: DATA.index("  validation_ds")] + TRAINER + "  limit_train_batches: 10\n" + MANAGER
    assert rhythm(config_of(tmp_path, text)) == NEVER


# -- sections


@pytest.mark.parametrize(
    ("rest", "trainer", "manager"),
    [
        ("", False, False),
        (TRAINER, True, False),
        (TRAINER + MANAGER, True, True),
        (TRAINER + "exp_manager:\n", True, False),
        (TRAINER + "exp_manager: {}\n", True, True),
        (MANAGER, False, True),
        ("trainer:\n  output_dir: out\n  num_train_epochs: 3\n  max_steps: 10\n", False, False),
        (TRAINER + "strategy:\n  _target_: x\nresume:\n  _target_: y\n", None, False),
        ("trainer:\n  something: else\n", None, False),
    ],
)
def test_sections_that_nemo_and_lightning_read(
    tmp_path: Path, rest: str, trainer: bool | None, manager: bool | None
) -> None:
    config = config_of(tmp_path, DATA + rest)
    assert (has_trainer(config), has_exp_manager(config)) == (trainer, manager)


@pytest.mark.parametrize(
    "rest",
    [
        "",
        "trainer:\n  output_dir: out\n  num_train_epochs: 3\n",
        "trainer:\n  devices: -1\n  max_epochs: 3\nstrategy:\n  _target_: x\nresume:\n  _target_: y\n",
        MANAGER,
        TRAINER + "  limit_train_batches: 1000\n" + MANAGER,
    ],
)
def test_silence_where_nothing_is_wrong_or_another_trainer_reads(tmp_path: Path, rest: str) -> None:
    assert not found(tmp_path, DATA + rest)


def test_a_base_config_that_was_not_found_may_bring_everything(tmp_path: Path) -> None:
    assert not found(tmp_path, "defaults:\n  - base\n  - _self_\n" + DATA + "trainer:\n  max_steps: 10\n")


def test_a_base_config_that_was_found_counts_and_is_mended_in_the_file_at_hand(tmp_path: Path) -> None:
    child = "defaults:\n  - base\n  - _self_\n" + DATA
    base = (
        TRAINER.replace("use_distributed_sampler: false", "use_distributed_sampler: true") + "exp_manager:\n  name: x\n"
    )
    made, path = project(tmp_path, child, base=base)
    result = fix(made, [path])
    assert set(result.texts) == {path}
    assert result.texts[path].text == child + (
        "trainer:\n  use_distributed_sampler: false\n"
        "exp_manager:\n  resume_if_exists: true\n  resume_ignore_no_checkpoint: true\n"
    )


def test_a_section_behind_an_interpolation_is_read_and_not_edited(tmp_path: Path) -> None:
    text = DATA + TRAINER + "exp_manager: ${common}\ncommon:\n  resume_if_exists: false\n"
    made, path = project(tmp_path, text)
    (finding,) = (each for each in analyze(made, [path]).findings if each.code == "NR401")
    assert finding.fix is not None
    assert not finding.fix.edits
    assert "edited safely" in finding.fix.withheld
    assert finding.location.source.cut(finding.location.span) == "${common}"


def test_a_file_that_holds_one_section_only_is_not_given_another(tmp_path: Path) -> None:
    text = "# @package data\n" + "\n".join(line[2:] for line in DATA.splitlines()[1:]) + "\n"
    config = config_of(tmp_path, text)
    with pytest.raises(Exception, match="only holds the section `data`"):
        config.set(("trainer", "logger"), False)


@pytest.mark.parametrize("path", sorted(FIELDS))
def test_an_absent_option_has_its_default_and_points_at_the_nearest_section(tmp_path: Path, path: str) -> None:
    section, name = path.rsplit(".", 1)
    config = config_of(tmp_path, DATA + "trainer:\n  max_epochs: 1\nexp_manager:\n  files_to_copy: null\n")
    setting = field(config, path)
    assert setting.value == FIELDS[path].default
    assert (setting.subject, setting.key) == (path, name)
    assert setting.location.source.cut(setting.location.span) == section.split(".")[0]


# -- the folder


@pytest.mark.parametrize(
    ("options", "place"),
    [
        ("  name: asr\n", ["exp_dir", "name", "version"]),
        ("  name: asr\n  explicit_log_dir: logs\n", ["explicit_log_dir"]),
        ("  explicit_log_dir: ''\n", ["exp_dir", "name", "version"]),
        ("  explicit_log_dir: ${oc.env:LOGS}\n  name: asr\n", ["explicit_log_dir"]),
        ("  explicit_log_dir: logs\n  checkpoint_callback_params:\n    dirpath: ckpt\n", ["dirpath"]),
    ],
)
def test_settings_that_decide_where_a_checkpoint_is_looked_for(tmp_path: Path, options: str, place: list[str]) -> None:
    assert [
        setting.key for setting in checkpoint_place(config_of(tmp_path, DATA + "exp_manager:\n" + options))
    ] == place


@pytest.mark.parametrize(
    ("name", "what", "sure"),
    [
        ("a_${oc.env:SLURM_JOB_ID}", ["the job id"], [True]),
        ("${oc.env:SLURM_JOB_ID,local}", ["the job id"], [True]),
        ("${oc.env:RUN,${oc.env:SLURM_ARRAY_TASK_ID}}", ["the chunk's array index"], [True]),
        ("${now:%Y-%m-%d}", ["the date"], [True]),
        ("${now:%Y-%m-%d}_${now:%H-%M-%S}", ["the date", "the time"], [True, True]),
        ("${now:%Y-%m}", [], []),
        ("${hydra:job.id}", ["the job id"], [True]),
        ("${other}", ["the node's name"], [True]),
        ("${.version}", ["the restart count"], [True]),
        ("${oc.env:MY_CHUNK}", ["`CHUNK`"], [False]),
        ("${oc.env:EXPERIMENT}", [], []),
        ("${oc.env:SLURM_ARRAY_JOB_ID}", [], []),
        ("${oc.env:UPDATED}", [], []),
        ("${name_of_${other}}", [], []),
        ("${loop}", [], []),
        ("${oc.env:", [], []),
        ("plain", [], []),
    ],
)
def test_parts_of_a_name_that_move(tmp_path: Path, name: str, what: list[str], sure: list[bool]) -> None:
    text = DATA + f'exp_manager:\n  name: "{name}"\n  version: "${{oc.env:SLURM_RESTART_COUNT}}"\n'
    config = config_of(tmp_path, text + "other: run-${oc.env:HOSTNAME}\nloop: ${loop2}\nloop2: ${loop}\n")
    parts = moving_parts(config, field(config, "exp_manager.name"))
    assert [part.what for part in parts] == what
    assert [part.sure for part in parts] == sure


def launched(
    folder: Path, override: str, variation: str | None, *, chain: str = "", run_id: str | None = None
) -> TrainingConfig:
    """A config as a launcher starts it that overrides the experiment's folder and exports RUN_ID."""
    pytest.importorskip("nemo_resumable.core.model.launcher.hydra", reason="overrides cannot be read yet")
    source = Source.from_text(folder / "train.sh", override)
    at = Location(source, Span(0, len(override)))
    key, _, value = override.partition("=")
    varies = Variation(variation, "$X") if variation else None
    word = Word(None if varies else value, at, varies=varies)
    made = Word(run_id, at, varies=Variation("time", "$(date)") if run_id is None else None)
    launch = Launch(
        at,
        ("srun",),
        Word("salm_train.py", at),
        overrides=(Override(key, "", word, at),),
        env={"RUN_ID": EnvVar("RUN_ID", made, at)},
        chain=Chain(chained=True, by=chain),
    )
    return as_started(config_of(folder, DATA + TRAINER + MANAGER), launch, launch.overrides)


@pytest.mark.parametrize(
    ("override", "variation", "chain", "run_id", "what"),
    [
        ("exp_manager.explicit_log_dir=/r/$X", "job", "array", None, ["the job id"]),
        ("exp_manager.explicit_log_dir=/r/$X", "job", "scontrol requeue", None, []),
        ("exp_manager.explicit_log_dir=/r/$X", "time", "scontrol requeue", None, ["the time"]),
        ("exp_manager.explicit_log_dir=/r/asr", None, "array", None, []),
        ("exp_manager.explicit_log_dir=${oc.env:RUN_ID}", None, "array", None, ["the time"]),
        ("exp_manager.explicit_log_dir=${oc.env:RUN_ID}", None, "array", "asr", []),
        ("exp_manager.explicit_log_dir=${oc.env:SLURM_JOB_ID}", None, "array", "asr", ["the job id"]),
    ],
)
def test_what_a_launcher_puts_into_the_folder_s_name(
    tmp_path: Path, override: str, variation: str | None, chain: str, run_id: str | None, what: list[str]
) -> None:
    config = launched(tmp_path, override, variation, chain=chain, run_id=run_id)
    (setting,) = checkpoint_place(config)
    assert setting.origin is Origin.LAUNCHER
    assert [part.what for part in moving_parts(config, setting)] == what


@pytest.mark.parametrize(("ignore", "ends"), [("true", "without an error"), ("false", "NotFoundError")])
def test_a_moving_folder_is_silent_or_loud(tmp_path: Path, ignore: str, ends: str) -> None:
    text = MANAGER.replace("no_checkpoint: true", f"no_checkpoint: {ignore}").replace("logs", "l/${now:%H}")
    (finding,) = found(tmp_path, DATA + text)["NR411"]
    assert ends in finding.message
    assert finding.severity is Severity.ERROR


# -- what goes together


def test_resuming_is_switched_on_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    made, path = project(tmp_path, DATA + TRAINER + "  limit_train_batches: 10\nexp_manager:\n  name: x\n")
    text = fix(made, [path]).texts[path].text
    assert text.endswith("exp_manager:\n  name: x\n  resume_if_exists: true\n  resume_ignore_no_checkpoint: true\n")


def test_the_callback_is_not_switched_on_beside_lightning_s(tmp_path: Path) -> None:
    text = DATA + TRAINER.replace("enable_checkpointing: false", "enable_checkpointing: true") + MANAGER
    findings = found(tmp_path, text + "  create_checkpoint_callback: false\n")
    assert set(findings) == {"NR405"}
    assert findings["NR405"][0].fix is None


@pytest.mark.parametrize(
    ("trainer", "manager", "clash"),
    [
        ("true", "", "`create_tensorboard_logger` is `true` by default"),
        ("null", "", "`create_tensorboard_logger` is `true` by default"),
        ("{_target_: lightning.pytorch.loggers.CSVLogger}", "", "`create_tensorboard_logger`"),
        ("true", "  create_tensorboard_logger: false\n", "`explicit_log_dir` is set"),
        ("false", "", None),
        ("[]", "", None),
        ("${oc.env:LOGGER}", "", None),
    ],
)
def test_a_logger_of_the_trainer_clashes(tmp_path: Path, trainer: str, manager: str, clash: str | None) -> None:
    text = (
        DATA + TRAINER.replace("logger: false", f"logger: {trainer}") + "  limit_train_batches: 5\n" + MANAGER + manager
    )
    findings = found(tmp_path, text)
    assert set(findings) == ({"NR414"} if clash else set())
    if clash:
        assert clash in findings["NR414"][0].message


def test_classic_configs_are_passed_over(tmp_path: Path) -> None:
    text = "model:\n  train_ds:\n    manifest_filepath: /data/a.json\n    batch_size: 4\n"
    assert not found(tmp_path, text + "trainer:\n  devices: -1\nexp_manager:\n  name: x\n")
