"""The commands beside `check`: explain, rules, settings, init and migrate; and what holds for all of them."""

from __future__ import annotations

import gc
import json
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from nemo_resumable.core.rules.registry import all_rules
from nemo_resumable.core.settings import as_table, load_settings
from nemo_resumable.hooks import version as version_module

Run = Callable[..., Any]


@pytest.mark.parametrize("word", ["NR110", "nr110", "unfixed-shard-seed"])
def test_explain(run: Run, word: str) -> None:
    ran = run("explain", word)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("# NR110 unfixed-shard-seed\n")


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("unfixed-shardseed", "did you mean `unfixed-shard-seed`?"),
        ("nr1100", "did you mean `NR1"),
        ("NR11O", "did you mean `NR110`?"),
        ("zzz", "`nemo-resumable rules` lists them all"),
    ],
)
def test_explain_what_is_no_rule(run: Run, word: str, hint: str) -> None:
    ran = run("explain", word)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"nemo-resumable: `{word}` is no rule; ")
    assert hint in ran.err


def test_every_rule_can_be_explained(run: Run) -> None:
    for rule in all_rules():
        assert run("explain", rule.name).out.startswith(f"# {rule.code} {rule.name}\n")


def test_rules(run: Run) -> None:
    ran = run("rules")
    lines = ran.out.splitlines()
    assert ran.code == 0
    assert [line.split()[0] for line in lines] == sorted(rule.code for rule in all_rules())
    assert next(line for line in lines if line.startswith("NR110")).split()[1:4] == [
        "error",
        "safe",
        "unfixed-shard-seed",
    ]
    rows = json.loads(run("rules", "--format", "json").out)
    assert [row["code"] for row in rows] == [line.split()[0] for line in lines]
    assert set(rows[0]) == {"code", "name", "severity", "fix", "summary"}


def test_settings_are_printed_as_toml_that_says_the_same(run: Run, repository: Path) -> None:
    text = (
        "seed = 7\nselect = ['NR1']\nlaunch-dir = 'wörk'\nrequire-suppression-reason = true\n"
        "severity = { NR110 = 'note' }\nper-file-ignores = { 'a \"b\"/*' = ['NR1'] }\n"
        "runtime = { workers = 4, packages = { lhotse = '2.0.0a7' } }\n"
    )
    file = repository / ".nemo-resumable.toml"
    file.write_text(text, encoding="utf-8")
    (repository / "conf").mkdir()
    before = as_table(load_settings(repository))
    ran = run("settings", "conf")
    assert ran.code == 0
    assert ran.out.startswith(f"# {file}\n")
    assert "\nseed = 7  # line 1\n" in ran.out
    assert "\n# walltime-margin = 10\n" in ran.out.partition("# by default:")[2]
    file.write_text(ran.out, encoding="utf-8")
    assert as_table(load_settings(repository)) == before


def test_settings_without_a_file(run: Run) -> None:
    ran = run("settings")
    assert ran.code == 0
    assert all(line.startswith("# ") for line in ran.out.splitlines())


def test_settings_of_a_path_that_leads_nowhere_or_is_wrong(run: Run, repository: Path) -> None:
    assert "there is no `absent`" in run("settings", "absent").err
    (repository / ".nemo-resumable.toml").write_text("ignore = ['NR999']\n", encoding="utf-8")
    ran = run("settings")
    assert ran.code == 2
    assert ".nemo-resumable.toml:1: `NR999` is no rule" in ran.err


def test_migrate(run: Run, config: Path, repository: Path) -> None:
    before = config.read_bytes()
    ran = run("migrate", "conf.yaml", "--indexes-root", "/shared/idx")
    assert (ran.code, ran.err) == (0, "")
    assert len(ran.out.splitlines()) < 10
    folder = repository / "migrate-resumable" / "conf"
    names = {path.name for path in folder.iterdir()}
    assert {"migration-report.md", "conf-resumable.yaml", "pre-flight-checklist.md", "build-indexes-cmd.sh"} <= names
    assert f"Wrote migrate-resumable/conf/ ({len(names)} files).\n" in ran.out
    assert "shard_seed: 42" in (folder / "conf-resumable.yaml").read_text(encoding="utf-8")
    assert config.read_bytes() == before
    assert {path.name for path in repository.iterdir()} == {".git", "conf.yaml", "migrate-resumable"}


def test_migrate_to_a_folder(run: Run, config: Path, repository: Path) -> None:
    ran = run("migrate", "conf.yaml", "--out", "there/below", "--no-annotate")
    assert ran.code == 0
    patched = (repository / "there" / "below" / "conf-resumable.yaml").read_text(encoding="utf-8")
    assert "was" not in patched
    assert not (repository / "migrate-resumable").exists()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["absent.yaml"], "there is no `absent.yaml`; check the path"),
        (["."], "`.` is a folder; name one training YAML"),
        (["other.yaml"], "has no training dataset that Lhotse reads"),
        (["broken.yaml"], "broken.yaml:"),
        (["binary.yaml"], "is a binary file; name a YAML file"),
        (["conf.yaml", "--out", "other.yaml"], "--out: `other.yaml` is no folder"),
        (["conf.yaml", "--launch-dir", "absent"], "--launch-dir: there is no folder `absent`"),
    ],
)
def test_migrate_of_what_cannot_be(
    run: Run, config: Path, repository: Path, arguments: list[str], sentence: str
) -> None:
    (repository / "other.yaml").write_text("a: 1\n", encoding="utf-8")
    (repository / "broken.yaml").write_text(config.read_text(encoding="utf-8") + "  x: [\n", encoding="utf-8")
    (repository / "binary.yaml").write_bytes(b"\x00\x01")
    ran = run("migrate", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert sentence in ran.err
    assert ran.err.count("\n") == 1
    assert not (repository / "migrate-resumable").exists()


def test_version(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("--version").out == f"nemo-resumable {version('nemo-resumable')}\n"
    monkeypatch.setattr(version_module.sys, "path", ["/nowhere"])
    assert run("--version").out == "nemo-resumable unknown\n"


@pytest.mark.parametrize(
    "command", [[], ["check"], ["migrate"], ["diagnose"], ["explain"], ["rules"], ["settings"], ["init"]]
)
def test_help(run: Run, command: list[str]) -> None:
    ran = run(*command, "--help")
    assert (ran.code, ran.err) == (0, "")
    assert max(map(len, ran.out.splitlines())) <= 80


def test_without_a_command(run: Run) -> None:
    ran = run()
    assert ran.code == 0
    assert ran.out.startswith("usage: nemo-resumable")


def test_wrong_command(run: Run) -> None:
    ran = run("chek")
    assert (ran.code, ran.out) == (2, "")
    assert "did you mean `check`?" in ran.err


def test_internal_error_is_one_sentence(run: Run, config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("sur-\nprise")

    monkeypatch.setattr("nemo_resumable.hooks.check.analyze", fail)
    ran = run("check")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("nemo-resumable: internal error (RuntimeError: sur- prise); please report it")
    assert ran.err.count("\n") == 1
    with pytest.raises(AssertionError, match="Traceback"):  # `run` refuses a traceback, which -v asks for
        run("check", "-v")


def test_collector_is_as_it_was(run: Run, config: Path) -> None:
    assert gc.isenabled()
    run("check")
    run("chek")
    assert gc.isenabled()
