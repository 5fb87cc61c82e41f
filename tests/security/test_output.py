"""Names and values that would steer a terminal or break a format: they are shown as escapes, in every format."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from nemo_resumable.hooks.cli import main

ODD = "\x1b[2J\x1b]0;owned\x07\x9b31m\x08\x7f\u202edlrow\u2028::error::x"
STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
FORMATS = ("full", "concise", "json", "jsonl", "sarif", "github", "gitlab", "junit")
Said = Callable[..., "tuple[str, str]"]


@pytest.fixture
def said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Said:
    """What a command prints in a repository whose names and values all hold odd characters."""
    (tmp_path / ".git").mkdir()
    name = ODD.replace("/", "_")
    folder = tmp_path / f"conf{name}"
    folder.mkdir()
    entry = {"type": ODD, "manifest_filepath": f"/data/{ODD}.json", ODD: ODD}
    train = {"seed": ODD, "shard_seed": ODD, "indexed": ODD, "num_workers": ODD, "input_cfg": [entry], ODD: 1}
    config = {"data": {"train_ds": train}, "trainer": {"devices": ODD, "logger": ODD, "max_steps": ODD}}
    text = yaml.safe_dump(config, allow_unicode=True)
    (folder / f"model{name}.yaml").write_text(text + "# \u202edlrow\n")
    (folder / "broken.yaml").write_text("data:\n  train_ds:\n    seed: [\n    shard_seed: 1 # \x85\u202e\n")
    (tmp_path / f"run{name}.sh").write_text(f"python train.py --config-name={ODD!r} data.train_ds.seed='{ODD}'\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FORCE_COLOR", raising=False)

    def run(*arguments: str) -> tuple[str, str]:
        capfd.readouterr()
        main(arguments)
        captured = capfd.readouterr()
        return captured.out, captured.err

    return run


@pytest.mark.parametrize("form", FORMATS)
def test_no_format_holds_what_steers_a_terminal(said: Said, form: str) -> None:
    out, err = said("check", "-v", "--statistics", "--format", form, ".", f"missing{ODD}.yaml")
    assert out
    assert not STEERING.search(out), STEERING.findall(out)
    assert not STEERING.search(err), STEERING.findall(err)


@pytest.mark.parametrize(
    "arguments", [("settings",), ("explain", ODD), ("check", "--select", ODD), ("migrate", ODD), (ODD,)]
)
def test_no_other_command_does(said: Said, arguments: tuple[str, ...]) -> None:
    try:
        out, err = said(*arguments)
    except SystemExit:
        return
    assert not STEERING.search(out + err)


def test_migrating_does_not_either(said: Said) -> None:
    (config,) = [str(path) for path in Path().rglob("model*.yaml")]
    out, err = said("migrate", config)
    assert "Wrote" in out + err or "nemo-resumable:" in err
    assert not STEERING.search(out + err)


def test_the_formats_of_machines_hold_what_is_meant(said: Said) -> None:
    """Escapes are the format's own: what reads it has the characters themselves, or a form of them where it cannot."""
    found = json.loads(said("check", "--format", "json", ".")[0])["findings"]
    assert any(ODD in str(each["current"]) for each in found), found
    sarif = json.loads(said("check", "--format", "sarif", ".")[0])
    assert sarif["runs"][0]["results"]
    assert isinstance(json.loads(said("check", "--format", "gitlab", ".")[0]), list)
    suites = ElementTree.fromstring(said("check", "--format", "junit", ".")[0])
    assert suites.findall(".//failure")


def test_annotations_of_github_are_ours_alone(said: Said) -> None:
    """Neither a name nor a value begins a line that the runner takes for a command."""
    for line in said("check", "--format", "github", ".")[0].splitlines():
        if line.startswith("::"):
            command = re.match(r"::(error|warning|notice) file=[^:]*::|::(group|endgroup)::", line)
            assert command, line
        assert not line.lstrip().startswith("##[")


@pytest.mark.parametrize("form", FORMATS)
def test_formats_take_injections_for_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], form: str
) -> None:
    (tmp_path / ".git").mkdir()
    word = "a\"]]>&lt;</failure><x a='\n::error file=b::c\n##[error]%0A::set-output name=a::b,c"
    entry = {"type": "nemo", "manifest_filepath": f"pipe:{word}", word: word}
    train = {"shard_seed": word, "seed": word, "input_cfg": [entry], word: word, "indexed": True}
    (tmp_path / "conf ::error::,%0A.yaml").write_text(yaml.safe_dump({"data": {"train_ds": train}}))
    monkeypatch.chdir(tmp_path)
    capfd.readouterr()
    main(["check", "-v", "--format", form, "."])
    out = capfd.readouterr().out
    if form == "junit":
        kinds = {element.tag for element in ElementTree.fromstring(out).iter()}
        assert kinds <= {"testsuites", "testsuite", "testcase", "failure", "skipped", "system-out"}
    elif form == "jsonl":
        assert all(json.loads(line) for line in out.splitlines())
    elif form in ("json", "sarif", "gitlab"):
        assert json.loads(out)
    elif form == "github":
        assert not re.search(r"^\s*(::set-output|::error file=b|##\[)", out, re.M)
