"""For each rule on launchers a launcher in Python that fires it, at the very place, and its right twin that is silent."""

from __future__ import annotations

from pathlib import Path

import pytest
from nemo_resumable.core.analysis import analyze
from nemo_resumable.core.project import Project
from nemo_resumable.core.settings import Settings

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
    indexes_root: {root}
    input_cfg:
      - type: nemo_tarred
        manifest_filepath: /data/en/manifest__OP_0..127_CL_.jsonl
        tarred_audio_filepaths: {tars}
trainer:
  num_nodes: 1
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
SCRIPT = """\
import os
import random
import subprocess
import time

{before}
for chunk in range(10):
    {inside}
    subprocess.run(
        [
            "torchrun",
            "--nproc-per-node={ranks}",
            "/opt/Speech/examples/speechlm2/salm_train.py",
            "--config-name=config",
            {override},
        ],
        env={env},
        check=True,
    )
"""
ENV = '{**os.environ, "PYTHONPATH": "/opt/Speech"}'
RIGHT = {"before": "", "inside": "pass", "ranks": "8", "override": '"trainer.max_steps=9"', "env": ENV}


def loud(
    folder: Path, root: str = "/shared/idx", tars: str = "/data/en/audio__OP_0..127_CL_.tar", **parts: str
) -> dict[str, str]:
    """The codes of a launcher's findings that are no notes, with what they point at."""
    (folder / "config.yaml").write_text(CONFIG.format(root=root, tars=tars), encoding="utf-8")
    script = folder / "submit.py"
    script.write_text(SCRIPT.format(**{**RIGHT, **parts}), encoding="utf-8")
    project = Project(Settings(folder), folder, launchers=(script,))
    findings = analyze(project, [folder / "config.yaml"]).findings
    return {
        finding.code: finding.location.source.cut(finding.location.span)
        for finding in findings
        if finding.severity.value != "note" and finding.location.file == script
    }


COMMAND = '"torchrun"'
COPY = 'subprocess.run(["rsync", "-a", "/shared/idx/", "{}"], check=True)'
CASES = [
    (
        "NR501",
        {"override": 'f"data.train_ds.seed={random.randint(0, 99)}"'},
        'f"data.train_ds.seed={random.randint(0, 99)}"',
    ),
    ("NR501", {"override": 'f"data.train_ds.shard_seed={chunk}"'}, 'f"data.train_ds.shard_seed={chunk}"'),
    (
        "NR501",
        {"before": 'os.environ["PL_GLOBAL_SEED"] = str(time.time_ns())'},
        'os.environ["PL_GLOBAL_SEED"] = str(time.time_ns())',
    ),
    ("NR502", {"before": "SEED = 7", "override": 'f"data.train_ds.seed={SEED}"'}, 'f"data.train_ds.seed={SEED}"'),
    ("NR503", {"override": '"data.train_ds.shard_seed=randomized"'}, '"data.train_ds.shard_seed=randomized"'),
    (
        "NR503",
        {"override": 'f"exp_manager.explicit_log_dir=/runs/{chunk}"'},
        'f"exp_manager.explicit_log_dir=/runs/{chunk}"',
    ),
    (
        "NR504",
        {"override": 'f"data.train_ds.num_workers={max(1, 4 - chunk)}"'},
        'f"data.train_ds.num_workers={max(1, 4 - chunk)}"',
    ),
    ("NR505", {"ranks": "4"}, '"--nproc-per-node=4"'),
    ("NR506", {"root": "/tmp/idx"}, COMMAND),
    (
        "NR507",
        {"root": "/tmp/idx", "inside": COPY.format("/tmp/indexes/")},
        '"rsync", "-a", "/shared/idx/", "/tmp/indexes/"',
    ),
    (
        "NR508",
        {"before": 'os.environ["LHOTSE_USE_WORKER_PARTITION"] = "1"'},
        'os.environ["LHOTSE_USE_WORKER_PARTITION"] = "1"',
    ),
    ("NR509", {"env": "None"}, COMMAND),
    (
        "NR513",
        {"override": 'f"data.train_ds.batch_size={4 if chunk < 3 else 8}"'},
        'f"data.train_ds.batch_size={4 if chunk < 3 else 8}"',
    ),
    (
        "NR601",
        {"tars": "ais://b/audio__OP_0..127_CL_.tar", "before": 'os.environ["USE_AIS_GET_BATCH"] = "true"'},
        COMMAND,
    ),
    ("NR604", {"before": 'os.environ["USE_AIS_GET_BATCH"] = "true"'}, 'os.environ["USE_AIS_GET_BATCH"] = "true"'),
]


@pytest.mark.parametrize(
    ("code", "parts", "place"), CASES, ids=[f"{case[0]}-{number}" for number, case in enumerate(CASES)]
)
def test_the_rule_fires_at_the_very_place(code: str, parts: dict[str, str], place: str, tmp_path: Path) -> None:
    assert loud(tmp_path, **parts) == {code: place}


TWINS: list[dict[str, str]] = [
    {},
    {"override": '"data.train_ds.seed=42"'},
    {"before": "random.seed(time.time())\nport = random.randint(20000, 30000)"},
    {"before": 'os.environ["MASTER_PORT"] = str(random.randint(20000, 30000))'},
    {"override": 'f"exp_manager.wandb_logger_kwargs.name=chunk-{chunk}"'},
    {"override": '"data.train_ds.num_workers=4"', "inside": "print(chunk, time.time())"},
    {"root": "/tmp/idx", "inside": COPY.format("/tmp/idx/")},
    {
        "tars": "ais://b/a_{0..3}.tar",
        "before": 'os.environ.update(AIS_ENDPOINT="http://s:1", USE_AIS_GET_BATCH="true")',
    },
]


@pytest.mark.parametrize("parts", TWINS, ids=range(len(TWINS)))
def test_the_twin_is_silent(parts: dict[str, str], tmp_path: Path) -> None:
    assert loud(tmp_path, **parts) == {}
