"""`diff`: two configs, or two versions of one, and what each difference does to a chain that is restored."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from git_repositories import commit_all

ROOT = Path(__file__).resolve().parents[2]
CONFIG = """\
data:
  train_ds:
    indexed: true
    use_stateful_dataloader: true
    force_map_dataset: false
    seed: 42
    shard_seed: 42
    shuffle: true
    num_workers: 4
    batch_size: 16
    input_cfg:
      - type: nemo_tarred
        manifest_filepath: /data/en/manifest__OP_0..127_CL_.jsonl
        tarred_audio_filepaths: /data/en/audio__OP_0..127_CL_.tar
exp_manager:
  name: salm
"""


@pytest.fixture
def compared(run: Callable[..., object], tmp_path: Path) -> Callable[..., object]:
    """`diff` of the config and one with these changes."""

    def compare(*changes: tuple[str, str], options: tuple[str, ...] = ()) -> object:
        text = CONFIG
        for before, now in changes:
            assert before in text
            text = text.replace(before, now)
        (tmp_path / "a.yaml").write_text(CONFIG, encoding="utf-8")
        (tmp_path / "b.yaml").write_text(text, encoding="utf-8")
        return run("diff", "a.yaml", "b.yaml", *options)

    return compare


def test_nothing_differs(compared: Callable[..., object]) -> None:
    ran = compared()
    assert (ran.code, ran.err) == (0, "")
    assert "No effective value of the training data differs." in ran.out


@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        (("num_workers: 4", "num_workers: 8"), 1, ["data.train_ds.num_workers  4 → 8", "NR901: "]),
        (("    seed: 42", "    seed: 1"), 1, ["data.train_ds.seed  42 → 1", "NR902: "]),
        (("shuffle: true", "use_bucketing: true"), 1, ["true → false (default)", "NR903: "]),
        (("batch_size: 16", "batch_size: 8"), 0, ["batch_size  16 → 8", "the position in the data holds"]),
        (("/data/en/audio", "/data/english/audio"), 1, ["0.tarred_audio_filepaths", "NR905: "]),
        (
            ("train_ds:", "train_ds:\n    text_field: words"),
            0,
            ["What else differs", "text_field  text (default) → words"],
        ),
    ],
)
def test_what_a_difference_means(
    compared: Callable[..., object], change: tuple[str, str], code: int, words: list[str]
) -> None:
    ran = compared(change)
    assert ran.code == code
    for each in words:
        assert each in ran.out or each in " ".join(ran.out.split()), ran.out
    assert all(len(line) <= 80 for line in ran.out.splitlines())


def test_another_experiment_begins_anew(compared: Callable[..., object]) -> None:
    ran = compared(("num_workers: 4", "num_workers: 8"), ("name: salm", "name: other"))
    assert "They are different experiments" in " ".join(ran.out.split())


def test_json(compared: Callable[..., object]) -> None:
    ran = compared(("num_workers: 4", "num_workers: 8"), options=("--format", "json"))
    found = json.loads(ran.out)
    assert (found["schema"], found["restores"], found["resumable"]) == (1, False, True)
    [difference] = found["differences"]
    assert (difference["subject"], difference["before"], difference["now"]) == ("data.train_ds.num_workers", 4, 8)
    assert difference["code"] == "NR901"


def test_versions_of_one_config(run: Callable[..., object], tmp_path: Path) -> None:
    (tmp_path / ".git").rmdir()
    (tmp_path / "a.yaml").write_text(CONFIG, encoding="utf-8")
    commit_all(tmp_path)
    (tmp_path / "a.yaml").write_text(CONFIG.replace("num_workers: 4", "num_workers: 8"), encoding="utf-8")
    assert "4 → 8" in run("diff", "a.yaml").out
    commit_all(tmp_path)
    assert run("diff", "a.yaml").code == 0
    assert "4 → 8" in run("diff", "HEAD~1:a.yaml", "HEAD:a.yaml").out
    assert "4 → 8" in run("diff", "HEAD~1:a.yaml", "a.yaml").out


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["nowhere.yaml", "a.yaml"], "there is no"),
        (["a.yaml", "text.yaml"], "no training config"),
        (["a.yaml", "broken.yaml"], "no YAML"),
        (["HEAD:a.yaml", "a.yaml"], "has no commits"),
        (["a.yaml", "folder"], "is a folder"),
    ],
)
def test_bad_input(run: Callable[..., object], tmp_path: Path, names: list[str], words: str) -> None:
    (tmp_path / "a.yaml").write_text(CONFIG, encoding="utf-8")
    (tmp_path / "text.yaml").write_text("a: 1\n", encoding="utf-8")
    (tmp_path / "broken.yaml").write_text("a: [1\nb: }\n", encoding="utf-8")
    (tmp_path / "folder").mkdir()
    ran = run("diff", *names)
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err
    assert ran.err.count("\n") == 1


def test_readme_shows_a_comparison(run: Callable[..., object], tmp_path: Path) -> None:
    """The README's example is the migrated one, with two values changed since it was committed."""
    (tmp_path / ".git").rmdir()
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    inputs = ("--indexes-root", "/shared/idx", "--exclude-blocked", "--no-annotate", "--out", "out")
    run("migrate", "examples/conf/salm_asr.yaml", *inputs)
    text = (tmp_path / "out/salm_asr-resumable.yaml").read_text(encoding="utf-8")
    (tmp_path / "conf").mkdir()
    config = tmp_path / "conf/salm_asr.yaml"
    config.write_text(text, encoding="utf-8")
    commit_all(tmp_path)
    for before, now in (("num_workers: 4", "num_workers: 8"), ("batch_duration: 360", "batch_duration: 720")):
        assert before in text
        text = text.replace(before, now)
    config.write_text(text, encoding="utf-8")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    [(command, output)] = re.findall(r"```text\n\$ nemo-resumable (diff .*)\n((?:.*\n)*?)```", readme)
    assert run(*command.split()).out == output
