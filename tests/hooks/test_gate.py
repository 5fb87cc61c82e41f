"""Files that stand for configs, and `check --staged` without pre-commit: what is judged, what is said, what is left alone."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

CLEAN = """\
data:
  train_ds:
    indexed: true
    use_stateful_dataloader: true
    shard_seed: 42
    seed: 42
    shuffle: true
    num_workers: 2
    batch_size: 4
    input_cfg: {blend}
"""
BAD = CLEAN.replace("shard_seed: 42", 'shard_seed: "randomized"')
BLEND = "- type: lhotse_shar\n  shar_path: data/shar\n"
UNINDEXED = BLEND + "  indexed: false\n"


def write(**files: str) -> None:
    """Write files into the current folder; `conf__salm` is `conf/salm.yaml`."""
    for name, text in files.items():
        path = Path(name.replace("__", "/") + ".yaml")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


@pytest.fixture
def git(repository: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """A real repository in place of the empty one; runs a git command in it."""
    (repository / ".git").rmdir()
    for name, value in {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}.items():
        monkeypatch.setenv(name, value)
    for name in ("GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE", "PRE_COMMIT_FROM_REF", "PRE_COMMIT_TO_REF"):
        monkeypatch.delenv(name, raising=False)

    def call(*arguments: str) -> str:
        command = ["git", "-c", "user.name=A", "-c", "user.email=a@example.com", *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    call("init", "-q")
    return call


def judged(run: Run, *arguments: str) -> list[str]:
    """The configs that a check judges."""
    return [config["file"] for config in json.loads(run("check", "--format", "json", *arguments).out)["configs"]]


def test_blend_stands_for_the_configs_that_read_it(run: Run) -> None:
    write(a=CLEAN.format(blend="blend.yaml"), b=CLEAN.format(blend="other.yaml"), blend=BLEND, other=BLEND)
    assert judged(run, "blend.yaml") == ["a.yaml"]
    assert judged(run, "blend.yaml", "other.yaml") == ["a.yaml", "b.yaml"]
    assert judged(run, "a.yaml", "blend.yaml") == ["a.yaml"]
    Path("blends").mkdir()
    Path("blend.yaml").rename("blends/blend.yaml")
    assert judged(run, "blends") == []  # a folder stands for what lies in it


def test_blend_of_no_config_is_judged_on_its_own(run: Run) -> None:
    write(blend="- type: nemo\n  manifest_filepath: m.json\n  extra_fields: [{type: text_iter}]\n")
    ran = run("check", "--format", "concise", "blend.yaml")
    assert ran.code == 1
    assert "fatal[NR301]" in ran.out


def test_config_by_hand_is_judged_alone_and_staged_with_what_is_based_on_it(run: Run) -> None:
    write(base=CLEAN.format(blend="blend.yaml"), derived="defaults: [base, _self_]\nname: x\n", blend=BLEND)
    assert judged(run, "base.yaml") == ["base.yaml"]
    assert judged(run, "--staged", "base.yaml") == ["base.yaml", "derived.yaml"]


def test_config_under_settings_of_its_own(run: Run) -> None:
    write(one__a=CLEAN.format(blend="train.yaml"), two__b=CLEAN.format(blend="train.yaml"), runs__train=BLEND)
    Path("one/.nemo-resumable.toml").write_text('launch-dir = "../runs"\n', encoding="utf-8")
    assert judged(run, "runs/train.yaml") == ["one/a.yaml"]
    Path("one/.nemo-resumable.toml").write_text('launch-dir = "../runs"\nexclude = ["a.yaml"]\n', encoding="utf-8")
    assert judged(run, "runs/train.yaml") == []


def test_fix_keeps_to_what_was_named_and_what_that_reads(run: Run) -> None:
    write(a=BAD.format(blend="blend.yaml"), blend=BLEND)
    ran = run("check", "--fix", "blend.yaml")
    assert (ran.code, Path("a.yaml").read_text()) == (1, BAD.format(blend="blend.yaml"))
    assert run("check", "--diff", "blend.yaml").out == ""
    assert run("check", "--fix", "a.yaml").code == 1
    assert Path("a.yaml").read_text() == CLEAN.format(blend="blend.yaml")


def test_nothing_handed_over_and_nothing_gone(run: Run, git: Callable[..., str]) -> None:
    write(a=BAD.format(blend="blend.yaml"), blend=BLEND)
    git("add", ".")
    ran = run("check", "--staged")
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    script = (
        "import sys; from nemo_resumable.hooks.cli import main; main(['check', '--staged']); "
        "print([name for name in sys.modules if name.startswith('nemo_resumable.core.')])"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert (
        ended.stdout == "['nemo_resumable.core.records', 'nemo_resumable.core.git']\n"
    )  # it is run at every commit, whatever that is about


def test_outside_a_repository(run: Run, repository: Path) -> None:
    (repository / ".git").rmdir()
    write(a=BAD.format(blend="blend.yaml"), blend=BLEND)
    assert run("check", "--staged").code == 0
    ran = run("check", "--staged", "blend.yaml")
    assert ran.code == 1
    assert "blend.yaml is read by a.yaml." in ran.out


def test_first_commit(run: Run, git: Callable[..., str]) -> None:
    write(a=CLEAN.format(blend="blend.yaml"), blend=BLEND)
    git("add", ".")
    assert run("check", "--staged", "a.yaml", "blend.yaml").code == 0


@pytest.mark.parametrize("by_reference", [False, True])
def test_blend_that_is_taken_away(
    run: Run, git: Callable[..., str], monkeypatch: pytest.MonkeyPatch, by_reference: bool
) -> None:
    write(a=CLEAN.format(blend="blend.yaml"), blend=BLEND)
    git("add", ".")
    git("commit", "-qm", "one")
    git("rm", "-q", "blend.yaml")
    if by_reference:
        git("commit", "-qm", "two")
        monkeypatch.setenv("PRE_COMMIT_FROM_REF", "HEAD~1")
        monkeypatch.setenv("PRE_COMMIT_TO_REF", "HEAD")
    ran = run("check", "--staged")
    assert ran.code == 1
    assert "a.yaml:10:16: error[NR007] `blend.yaml` is taken away by this commit" in ran.out
    assert "blend.yaml is taken away, and is named by a.yaml." in ran.out
    report = json.loads(run("check", "--staged", "--format", "json").out)
    assert [(f["code"], f["severity"]) for f in report["findings"] if f["code"] == "NR007"] == [("NR007", "error")]
    # By hand the same blend may lie elsewhere, and a project that says how much the rule weighs is believed.
    assert run("check", "a.yaml").code == 0
    Path(".nemo-resumable.toml").write_text('[severity]\nNR007 = "note"\n', encoding="utf-8")
    assert run("check", "--staged").code == 0


def test_untracked_configs_are_nobody_elses(run: Run, git: Callable[..., str]) -> None:
    write(a=CLEAN.format(blend="blend.yaml"), blend=BLEND)
    git("add", ".")
    write(mine=BAD.format(blend="blend.yaml"))
    assert run("check", "--staged", "blend.yaml").code == 0
    assert run("check", "blend.yaml").code == 1


def test_many_names_are_counted(run: Run) -> None:
    names = {f"config_{number}": BAD.format(blend="blend.yaml") for number in range(6)}
    write(**names, blend=BLEND)
    ran = run("check", "--staged", "blend.yaml")
    assert "blend.yaml is read by config_0.yaml, config_1.yaml, config_2.yaml and 3 more." in ran.out
    assert "6 findings in config_0.yaml, config_1.yaml, config_2.yaml and 3 more to be mended first" in ran.out
    assert "--fix config_0.yaml config_1.yaml config_2.yaml …" in ran.out


def test_formats_and_levels_are_the_users(run: Run) -> None:
    write(a=BAD.format(blend="blend.yaml"), blend=BLEND)
    assert run("check", "--staged", "--format", "full", "a.yaml").out == run("check", "--format", "full", "a.yaml").out
    assert run("check", "--staged", "--fail-on", "fatal", "a.yaml").code == 0
    ran = run("check", "--staged", "--fail-on", "note", "a.yaml")
    assert "note[NR107]" in ran.out
    assert "2 findings in a.yaml to be mended first.\n" in ran.out


def test_files_that_begin_with_a_dash(run: Run) -> None:
    Path("--fix.yaml").write_text(BAD.format(blend="blend.yaml"), encoding="utf-8")
    ran = run("check", "--staged", "--force-exclude", "--fix.yaml")
    assert ran.code == 1
    assert "--fix.yaml:5:17: error[NR110]" in ran.out
    assert run("check", "--staged", "--fixx").code == 2


def test_migrate_passes_over_what_is_no_config(run: Run, git: Callable[..., str]) -> None:
    write(a=BAD.format(blend="blend.yaml"), b=BAD.format(blend="blend.yaml"), other="x: 1\n", blend=UNINDEXED)
    Path("train.sh").write_text("echo\n", encoding="utf-8")
    git("add", ".")
    assert (run("migrate", "--staged", "other.yaml", "train.sh").out, Path("migrate-resumable").exists()) == ("", False)
    ran = run("migrate", "--staged", "other.yaml", "blend.yaml")
    assert {path.name for path in Path("migrate-resumable").iterdir()} == {"a", "b"}
    assert "Wrote migrate-resumable/a/" in ran.out
    assert "Wrote migrate-resumable/b/" in ran.out


def test_migrate_takes_several_configs(run: Run) -> None:
    write(a=BAD.format(blend="blend.yaml"), b=BAD.format(blend="blend.yaml"), other="x: 1\n", blend=BLEND)
    ran = run("migrate", "a.yaml", "other.yaml", "b.yaml")
    assert ran.code == 2
    assert "`" in ran.err
    assert "other.yaml" in ran.err
    assert {path.name for path in Path("migrate-resumable").iterdir()} == {"a", "b"}
    assert run("migrate", "a.yaml", "b.yaml", "--out", "x").code == 2
