"""Which files pre-commit hands to our hooks: YAML and what may be a launcher, by its own rules of names and types."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from identify import identify
from nemo_resumable.core.repository import SHELL_SUFFIXES, YAML_SUFFIXES

ROOT = Path(__file__).resolve().parents[2]
HOOKS = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))

TAKEN = (
    "conf/salm.yaml",
    "conf/salm.yml",
    "salm.yaml",
    ".hidden.yaml",
    "a b/ünï.yaml",
    "-dash.yaml",
    "train.sh",
    "train.bash",
    "slurm/train.sbatch",
    "slurm/train.slurm",
    "submit_chunks.py",
    "conf\\salm.yaml",  # as some tools on Windows write it
)
LEFT = (
    "README.md",
    "salm.yaml.j2",
    "salm.yaml.bak",
    "yaml",
    "Makefile",
    "LICENSE",
    "train.ps1",
    "train.zsh",
    "notes.txt",
    "pyproject.toml",
    "train.pyc",
    "train.pyi",
    "train.ipynb",
    "data.json",
    "manifest.jsonl",
    "audio.tar",
    "train.sh.txt",
)


def handed_over(hook: dict[str, object], path: Path, name: str) -> bool:
    """Whether pre-commit hands a file over: the pattern is searched for in its name, and each type is one of its tags."""
    tags = identify.tags_from_path(str(path))
    types = set(hook.get("types", ["file"]))  # type: ignore[call-overload]
    any_of = set(hook.get("types_or", []))  # type: ignore[call-overload]
    matches = re.search(str(hook.get("files", "")), name) is not None
    return matches and types <= tags and (not any_of or bool(any_of & tags))


@pytest.mark.parametrize("hook", HOOKS, ids=[hook["id"] for hook in HOOKS])
def test_yaml_and_launchers_arrive_and_nothing_else(hook: dict[str, object], tmp_path: Path) -> None:
    for name in (*TAKEN, *LEFT):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("text\n", encoding="utf-8")
        assert handed_over(hook, path, name) is (name in TAKEN), name
        path.chmod(0o755)
        path.write_text("#!/bin/bash\n", encoding="utf-8")
        assert handed_over(hook, path, name) is (name in TAKEN), f"{name}, executable"


def test_what_is_no_text_stays_away(tmp_path: Path) -> None:
    binary, link, target = tmp_path / "a.yaml", tmp_path / "link.yaml", tmp_path / "target"
    binary.write_bytes(b"\x00\x01\x02" * 50)
    target.write_text("a: 1\n", encoding="utf-8")
    link.symlink_to(target)
    assert [path.name for path in (binary, link) if handed_over(HOOKS[0], path, path.name)] == ["a.yaml"]


def test_patterns_are_the_suffixes_that_count() -> None:
    for hook in HOOKS:
        for suffix in (*YAML_SUFFIXES, *SHELL_SUFFIXES, ".py"):
            assert re.search(hook["files"], f"name{suffix}")
        assert hook["types"] == ["text"]


def test_stages() -> None:
    """Only the artifacts wait to be asked for, and only the check runs where no file is handed over."""
    assert {hook["id"]: hook.get("stages") for hook in HOOKS} == {
        "nemo-resumable": None,
        "nemo-resumable-fix": None,
        "nemo-resumable-artifacts": ["manual"],
    }
    assert [hook["id"] for hook in HOOKS if hook.get("always_run")] == ["nemo-resumable"]
    assert all(hook["require_serial"] for hook in HOOKS)
