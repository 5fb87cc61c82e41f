"""`migrate --packs` on the command line: what it says, and with which exit code."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from .conftest import Ran

Run = Callable[..., Ran]

CONFIG = """\
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
        weight: 0.5
        manifest_filepath: /data/en/manifest__OP_0..1999_CL_.jsonl
        tarred_audio_filepaths: /data/en/audio__OP_0..1999_CL_.tar
      - type: lhotse_shar
        weight: 0.4
        shar_path: {cuts: "/data/de/cuts.{0000..1999}.jsonl", recording: "/data/de/recording.{0000..1999}.tar"}
      - type: nemo_tarred
        weight: 0.1
        manifest_filepath: /data/fr/manifest__OP_0..9_CL_.jsonl
        tarred_audio_filepaths: /data/fr/audio__OP_0..9_CL_.tar
"""


def packs_line(out: str) -> str:
    return next(line for line in out.splitlines() if line.startswith("Packs:"))


def test_packs_are_counted_in_a_line(run: Run, repository: Path) -> None:
    (repository / "config.yaml").write_text(CONFIG)
    ran = run("migrate", "config.yaml", "--packs", "--index-pack-root", "/shared/packs")
    assert ran.code == 0
    assert packs_line(ran.out) == "Packs:    1 declared; 1 kept on sidecars, 1 too small for one"
    assert len(ran.out.splitlines()) < 10
    copy = (repository / "migrate-resumable" / "config" / "config-resumable.yaml").read_text()
    assert copy.count("index_pack:") == copy.count("index_pack_root: /shared/packs") == 1


def test_without_a_root_a_sentence_says_what_to_give(run: Run, repository: Path) -> None:
    (repository / "config.yaml").write_text(CONFIG)
    ran = run("migrate", "config.yaml", "--packs")
    assert "--index-pack-root" in packs_line(ran.out)
    assert not (repository / "migrate-resumable" / "config" / "config-resumable.yaml").exists()


def test_settings_give_root_and_threshold(run: Run, repository: Path) -> None:
    (repository / "config.yaml").write_text(CONFIG)
    (repository / ".nemo-resumable.toml").write_text('index-pack-root = "/shared/packs"\npack-threshold = 5\n')
    assert packs_line(run("migrate", "config.yaml", "--packs").out).startswith("Packs:    2 declared; 1 kept")
    assert "Packs:" not in run("migrate", "config.yaml").out
