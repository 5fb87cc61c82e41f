"""`nemo-resumable init`: it shows what it would write, asks, and adds the hook to a file that is there already."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from nemo_resumable.core.settings import OWN_FILE, Settings, load_settings
from nemo_resumable.hooks.init import TEMPLATE
from nemo_resumable.hooks.precommit import FILE, HOOK, with_hook

ROOT = Path(__file__).resolve().parents[2]
Run = Callable[..., Any]


def test_nobody_to_ask(run: Run, repository: Path) -> None:
    ran = run("init")
    assert ran.code == 2
    assert f"{OWN_FILE} would be:" in ran.out
    assert f"{FILE} would be:" in ran.out
    assert "--yes writes it without asking" in ran.err
    assert {path.name for path in repository.iterdir()} == {".git"}


def test_yes(run: Run, repository: Path) -> None:
    ran = run("init", "--yes")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.endswith(f"Wrote {OWN_FILE} and {FILE}.\n")
    assert load_settings(repository) == Settings(repository, repository / OWN_FILE), "all of it is commented out"
    assert yaml.safe_load((repository / FILE).read_text())["repos"] == yaml.safe_load(HOOK)
    (repository / OWN_FILE).write_text("seed = 3\n", encoding="utf-8")
    again = run("init", "-y")
    assert (again.code, again.err) == (0, "")
    assert again.out == f"There are settings already, in {OWN_FILE}.\nThe hook is already in {FILE}.\n"
    assert (repository / OWN_FILE).read_text(encoding="utf-8") == "seed = 3\n"


@pytest.mark.parametrize(("answer", "written"), [("y", True), ("YES", True), ("", False), ("n", False), (None, False)])
def test_asked(run: Run, repository: Path, monkeypatch: pytest.MonkeyPatch, answer: str | None, written: bool) -> None:
    from nemo_resumable.hooks import init

    def reply(_: str) -> str:
        if answer is None:
            raise EOFError
        return answer

    class Terminal:
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr("builtins.input", reply)
    monkeypatch.setattr(init, "sys", type("sys", (), {"stdin": Terminal()}))
    ran = run("init")
    assert ran.code == 0
    assert (repository / OWN_FILE).exists() == (repository / FILE).exists() == written
    assert ("Nothing was written." in ran.out) is not written


def test_settings_further_up_hold(run: Run, repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (repository / "pyproject.toml").write_text("[tool.nemo-resumable]\n", encoding="utf-8")
    (repository / "conf").mkdir()
    monkeypatch.chdir(repository / "conf")
    assert "There are settings already" in run("init", "--yes").out
    assert not list((repository / "conf").iterdir())
    assert (repository / FILE).exists(), "the hook belongs to the repository"


def test_outside_of_a_repository_there_is_no_hook(run: Run, repository: Path) -> None:
    (repository / ".git").rmdir()
    assert run("init", "--yes").out.endswith(f"Wrote {OWN_FILE}.\n")
    assert not (repository / FILE).exists()


def test_what_it_suggests_is_valid(repository: Path) -> None:
    """Each suggestion is a line that becomes a setting when its `# ` is taken away."""
    lines = [
        line[2:] if line.startswith("# ") and ("=" in line or "[" in line[:4]) else "" for line in TEMPLATE.splitlines()
    ]
    (repository / OWN_FILE).write_text("\n".join(lines), encoding="utf-8")
    settings = load_settings(repository)
    assert settings.ignore == ("NR120",)
    assert settings.per_file_ignores == {"conf/debug/*": ("NR2",)}
    assert settings.variables == {"data_blend_dir": "conf/blends"}


def test_the_hook_is_ours() -> None:
    """What runs and for which files is what our own hook for pre-commit says."""
    ours = {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}
    (local,) = yaml.safe_load(HOOK)[0]["hooks"]
    shared = set(local) - {"language", "name"}
    assert {key: local[key] for key in shared} == {key: ours["nemo-resumable"][key] for key in shared}
    assert set(ours["nemo-resumable"]) - set(local) == {"description"}


EXISTING = {
    "two spaces": "repos:\n  - repo: https://example.org/a  # ours\n    rev: v1\n    hooks:\n      - id: a\n",
    "no indent": "# top\nrepos:\n- repo: local\n  hooks:\n  - id: b\n    entry: >-\n      run\n      it\nfail_fast: true\n",
    "no final newline": "repos:\n- repo: meta\n  hooks: [{id: check-hooks-apply}]",
    "windows": "repos:\r\n  - repo: meta\r\n    hooks:\r\n      - id: identity\r\n",
    "comment at the end": "repos:\n  - repo: meta\n    hooks:\n      - id: identity\n  # more to come\n\nci:\n  skip: [identity]\n",
}


@pytest.mark.parametrize("text", EXISTING.values(), ids=EXISTING)
def test_added_to_what_is_there(tmp_path: Path, text: str) -> None:
    path = tmp_path / FILE
    path.write_bytes(text.encode())
    data = with_hook(path)
    assert data is not None
    before, after = yaml.safe_load(text), yaml.safe_load(data)
    assert after == {**before, "repos": [*before["repos"], *yaml.safe_load(HOOK)]}
    lines = data.decode().splitlines()
    assert [line for line in text.splitlines() if line not in lines] == [], "every line stays"
    assert ("\r\n" in text) == (b"\r\n" in data)
    assert data.count(b"\n") == data.count(b"\r\n") or b"\r\n" not in data


@pytest.mark.parametrize(
    "text",
    [
        "repos: []\n",
        "repos:\n",
        "repos: [{repo: meta, hooks: [{id: identity}]}]\n",
        "a: [",
        "- repo: x\n",
        "",
        "x: 1\n",
    ],
)
def test_what_cannot_be_added_to_is_left_alone(run: Run, repository: Path, text: str) -> None:
    path = repository / FILE
    path.write_text(text, encoding="utf-8")
    ran = run("init", "--yes")
    assert ran.code == 0
    assert "its list `repos` takes:" in ran.out
    assert "entry: nemo-resumable check --staged" in ran.out
    assert path.read_text(encoding="utf-8") == text


def test_a_hook_of_ours_is_enough(tmp_path: Path) -> None:
    path = tmp_path / FILE
    path.write_text("repos:\n- repo: ../ours\n  rev: v1\n  hooks: [{id: nemo-resumable-fix}]\n", encoding="utf-8")
    assert with_hook(path) == b""


def test_the_change_is_shown(run: Run, repository: Path) -> None:
    (repository / FILE).write_text(EXISTING["two spaces"], encoding="utf-8")
    ran = run("init")
    assert ran.code == 2
    assert f"--- {FILE}\n" in ran.out
    assert "\n+      - id: nemo-resumable\n" in ran.out
    assert "\n       - id: a\n" in ran.out
