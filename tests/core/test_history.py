"""Configs beside their committed versions, in real git repositories of every shape."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from git_repositories import commit_all, git
from nemo_resumable.core.analysis import analyze
from nemo_resumable.core.findings import Finding
from nemo_resumable.core.history import History
from nemo_resumable.core.project import Project
from nemo_resumable.core.settings import load_settings

CONFIG = """\
data:
  train_ds:
    indexed: true
    use_stateful_dataloader: true
    force_map_dataset: false
    concurrent_bucketing: false
    seed: 42
    shard_seed: 42
    shuffle: true
    num_workers: 4
    batch_size: 16
    input_cfg: blend.yaml
trainer:
  devices: 8
  num_nodes: 1
exp_manager:
  name: salm
  exp_dir: /shared/runs
"""
BLEND = """\
- type: nemo_tarred
  manifest_filepath: /data/en/manifest__OP_0..127_CL_.jsonl
  tarred_audio_filepaths: /data/en/audio__OP_0..127_CL_.tar
  weight: 2
- type: nemo_tarred
  manifest_filepath: /data/de/manifest__OP_0..127_CL_.jsonl
  tarred_audio_filepaths: /data/de/audio__OP_0..127_CL_.tar
  weight: 1
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with a resumable config and its blend, both committed."""
    folder = tmp_path / "repository"
    folder.mkdir()
    (folder / "conf.yaml").write_text(CONFIG, encoding="utf-8")
    (folder / "blend.yaml").write_text(BLEND, encoding="utf-8")
    commit_all(folder)
    return folder


def found(config: Path, revision: str = "HEAD", *, cwd: Path | None = None) -> list[tuple[str, str]]:
    """Code and subject of the findings on changes."""
    return [(finding.code, finding.subject) for finding in findings(config, revision, cwd=cwd)]


def findings(config: Path, revision: str = "HEAD", *, cwd: Path | None = None) -> list[Finding]:
    project = Project(load_settings(config.parent), cwd or config.parent, history=History(revision))
    return [finding for finding in analyze(project, [config]).findings if finding.code.startswith("NR9")]


def edit(path: Path, *changes: tuple[str, str]) -> None:
    text = path.read_text(encoding="utf-8")
    for before, now in changes:
        assert before in text
        text = text.replace(before, now)
    path.write_text(text, encoding="utf-8")


WORKERS = ("num_workers: 4", "num_workers: 8")
CHANGED = [("NR901", "data.train_ds.num_workers")]


def test_nothing_has_changed(repository: Path) -> None:
    assert found(repository / "conf.yaml") == []


def test_a_comment_is_no_change(repository: Path) -> None:
    edit(
        repository / "conf.yaml",
        ("seed: 42\n    shard", "seed: 42  # as ever\n    shard"),
        ("num_workers: 4", "num_workers:   4"),
    )
    assert found(repository / "conf.yaml") == []


def test_the_committed_value_is_shown_at_its_place(repository: Path) -> None:
    edit(repository / "conf.yaml", WORKERS)
    [finding] = findings(repository / "conf.yaml")
    [related] = finding.related
    assert related.location.source.cut(related.location.span) == "4"
    assert finding.location.source.cut(finding.location.span) == "8"
    assert (finding.current, finding.recommended) == (8, 4)


def test_a_blend_alone_has_changed(repository: Path) -> None:
    edit(repository / "blend.yaml", ("weight: 2", "weight: 3"))
    assert found(repository / "conf.yaml") == [("NR904", "0.weight")]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ([("devices: 8", "devices: 4")], ["NR901"]),
        ([("devices: 8", "devices: 4"), ("num_nodes: 1", "num_nodes: 2")], []),
        ([("num_nodes: 1", "num_nodes: 1\n  strategy:\n    tensor_parallel_size: 2")], ["NR901"]),
        ([("num_nodes: 1", "num_nodes: 1\n  strategy:\n    tensor_parallel_size: 1")], []),  # as by default
        ([("    seed: 42", "    seed: 1")], ["NR902"]),
        ([("shard_seed: 42", "shard_seed: 1")], ["NR902"]),
        ([("shuffle: true", "shuffle: false")], ["NR903"]),
        ([("batch_size: 16", "batch_size: 16\n    use_bucketing: true")], ["NR903"]),
        ([("batch_size: 16", "batch_size: 32")], []),
        ([("input_cfg: blend.yaml", "input_cfg: blend.yaml\n    indexes_root: /scratch/idx")], ["NR905"]),
        ([("shard_seed: 42", "shard_seed: 1"), ("name: salm", "name: other")], []),
        ([("shard_seed: 42", "shard_seed: 1"), ("exp_dir: /shared/runs", "exp_dir: /else")], []),
        ([("use_stateful_dataloader: true", "use_stateful_dataloader: false"), WORKERS], []),
    ],
)
def test_changes_of_a_config(repository: Path, changes: list[tuple[str, str]], expected: list[str]) -> None:
    edit(repository / "conf.yaml", *changes)
    assert [code for code, _ in found(repository / "conf.yaml")] == expected


THIRD = """\
- type: nemo_tarred
  manifest_filepath: /data/fr/manifest__OP_0..127_CL_.jsonl
  tarred_audio_filepaths: /data/fr/audio__OP_0..127_CL_.tar
  weight: 1
"""


@pytest.mark.parametrize(
    ("blend", "expected"),
    [
        (BLEND + THIRD, ["NR904"]),
        (BLEND[: BLEND.index("- type", 5)], ["NR904"]),
        (BLEND[BLEND.index("- type", 5) :] + BLEND[: BLEND.index("- type", 5)], ["NR904"]),
        (BLEND.replace("/data/de/manifest", "/data/german/manifest"), ["NR905"]),
        (BLEND.replace("weight: 1", "weight: 4"), ["NR904"]),
        (
            f"- type: group\n  input_cfg:\n{''.join(f'    {line}' for line in BLEND.splitlines(keepends=True))}",
            ["NR904"],
        ),
    ],
    ids=["added", "removed", "reordered", "another path", "another weight", "grouped"],
)
def test_changes_of_sources(repository: Path, blend: str, expected: list[str]) -> None:
    (repository / "blend.yaml").write_text(blend, encoding="utf-8")
    assert [code for code, _ in found(repository / "conf.yaml")] == expected


def test_a_config_that_was_not_resumable(repository: Path) -> None:
    edit(repository / "conf.yaml", ("use_stateful_dataloader: true", "use_stateful_dataloader: false"))
    commit_all(repository)
    edit(repository / "conf.yaml", ("use_stateful_dataloader: false", "use_stateful_dataloader: true"), WORKERS)
    assert found(repository / "conf.yaml") == []


def test_renamed_config_and_blend(repository: Path) -> None:
    """What is staged under a new name is compared with what it was called."""
    (repository / "sub").mkdir()
    git(repository, "mv", "conf.yaml", "sub/größer.yaml")
    git(repository, "mv", "blend.yaml", "mixture.yaml")
    edit(repository / "sub/größer.yaml", WORKERS, ("blend.yaml", "mixture.yaml"))
    git(repository, "add", "-A")
    assert found(repository / "sub/größer.yaml", cwd=repository) == CHANGED


def test_a_new_config_has_no_past(repository: Path) -> None:
    (repository / "new.yaml").write_text(CONFIG.replace(*WORKERS), encoding="utf-8")
    assert found(repository / "new.yaml") == []
    git(repository, "add", "-A")
    assert found(repository / "new.yaml") == []


def test_another_revision(repository: Path) -> None:
    edit(repository / "conf.yaml", WORKERS)
    commit_all(repository)
    assert found(repository / "conf.yaml") == []
    assert found(repository / "conf.yaml", "HEAD~1") == CHANGED
    [finding] = findings(repository / "conf.yaml", "HEAD~1")
    assert "at `HEAD~1`" in finding.message


def test_a_merge_that_is_not_committed_yet(repository: Path) -> None:
    git(repository, "checkout", "-q", "-b", "other")
    edit(repository / "conf.yaml", WORKERS)
    commit_all(repository)
    git(repository, "checkout", "-q", "main")
    (repository / "readme").write_text("text", encoding="utf-8")
    commit_all(repository)
    git(repository, "merge", "-q", "--no-commit", "--no-ff", "other")
    assert found(repository / "conf.yaml") == CHANGED


def test_a_linked_work_tree(repository: Path, tmp_path: Path) -> None:
    git(repository, "worktree", "add", "-q", str(tmp_path / "linked"), "-b", "linked")
    edit(tmp_path / "linked/conf.yaml", WORKERS)
    assert found(tmp_path / "linked/conf.yaml") == CHANGED
    assert found(repository / "conf.yaml") == []


def test_a_submodule(repository: Path, tmp_path: Path) -> None:
    outer = tmp_path / "outer"
    outer.mkdir()
    (outer / "readme").write_text("text", encoding="utf-8")
    commit_all(outer)
    git(outer, "submodule", "--quiet", "add", str(repository), "configs")
    commit_all(outer)
    edit(outer / "configs/conf.yaml", WORKERS)
    assert found(outer / "configs/conf.yaml") == CHANGED


def test_a_blend_in_a_submodule(repository: Path, tmp_path: Path) -> None:
    """It belongs to another repository, and is read as it lies there."""
    outer = tmp_path / "outer"
    outer.mkdir()
    (outer / "conf.yaml").write_text(CONFIG.replace("blend.yaml", "blends/blend.yaml"), encoding="utf-8")
    commit_all(outer)
    git(outer, "submodule", "--quiet", "add", str(repository), "blends")
    commit_all(outer)
    edit(outer / "conf.yaml", WORKERS)
    assert found(outer / "conf.yaml") == CHANGED


def test_a_shallow_clone(repository: Path, tmp_path: Path) -> None:
    edit(repository / "conf.yaml", ("batch_size: 16", "batch_size: 8"))
    commit_all(repository)
    git(tmp_path, "clone", "-q", "--depth", "1", repository.as_uri(), "shallow")
    assert found(tmp_path / "shallow/conf.yaml") == []
    edit(tmp_path / "shallow/conf.yaml", WORKERS)
    assert found(tmp_path / "shallow/conf.yaml") == CHANGED


def test_an_unborn_branch(repository: Path) -> None:
    git(repository, "checkout", "-q", "--orphan", "unborn")
    edit(repository / "conf.yaml", WORKERS)
    assert found(repository / "conf.yaml") == []


def test_a_detached_head_and_packed_references(repository: Path) -> None:
    git(repository, "pack-refs", "--all")
    git(repository, "checkout", "-q", "--detach")
    edit(repository / "conf.yaml", WORKERS)
    assert found(repository / "conf.yaml") == CHANGED


def test_no_repository_and_no_git(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "conf.yaml").write_text(CONFIG, encoding="utf-8")
    assert found(tmp_path / "conf.yaml") == []
    edit(repository / "conf.yaml", WORKERS)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert found(repository / "conf.yaml") == []


def test_new_commits_are_seen(repository: Path) -> None:
    """As an editor's session does: the same project, before and after a commit."""
    project = Project(load_settings(repository), repository)
    edit(repository / "conf.yaml", WORKERS)

    def codes() -> list[str]:
        return [
            each.code for each in analyze(project, [repository / "conf.yaml"]).findings if each.code.startswith("NR9")
        ]

    assert codes() == ["NR901"]
    commit_all(repository)
    assert codes() == []
    git(repository, "checkout", "-q", "HEAD~1")
    edit(repository / "conf.yaml", WORKERS)
    assert codes() == ["NR901"]


def test_nothing_is_written(repository: Path) -> None:
    """Neither the index nor anything else of the repository is touched."""
    edit(repository / "conf.yaml", WORKERS)
    git(repository, "status")
    before = {path: path.read_bytes() for path in repository.rglob("*") if path.is_file()}
    assert found(repository / "conf.yaml") == CHANGED
    assert {path: path.read_bytes() for path in repository.rglob("*") if path.is_file()} == before


def test_what_a_launcher_overrides(repository: Path) -> None:
    """The command as it stood in the last commit is compared with the command as it stands."""
    launcher = repository / "train.sh"
    text = "#!/bin/bash\nsrun python salm_train.py --config-path=. --config-name=conf data.train_ds.num_workers={}\n"
    launcher.write_text(text.format(4), encoding="utf-8")
    commit_all(repository)
    assert found(repository / "conf.yaml") == []
    launcher.write_text(text.format(8), encoding="utf-8")
    [finding] = findings(repository / "conf.yaml")
    assert (finding.code, finding.location.file) == ("NR901", launcher)
    assert finding.fix is None


def test_windows_newlines_in_the_work_tree(repository: Path) -> None:
    """As git writes them with `core.autocrlf`: the bytes differ, the values do not."""
    text = (repository / "conf.yaml").read_bytes()
    (repository / "conf.yaml").write_bytes(text.replace(b"\n", b"\r\n"))
    assert found(repository / "conf.yaml") == []


@pytest.mark.parametrize("revision", ["no-such-branch", "--output=x", ""])
def test_a_revision_that_is_none(repository: Path, revision: str) -> None:
    edit(repository / "conf.yaml", WORKERS)
    ended = subprocess.run(
        [sys.executable, "-m", "nemo_resumable.hooks.cli", "check", f"--against={revision}", "conf.yaml"],
        cwd=repository,
        capture_output=True,
        text=True,
    )
    if revision:
        assert ended.returncode == 2
        assert f"`{revision}` is no commit" in ended.stderr
    else:
        assert "NR901" in ended.stdout
