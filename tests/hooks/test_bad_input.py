"""Bad input and bad arguments: one sentence each, exit code 2, no traceback, whatever the format."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

FORMATS = ("full", "concise", "json", "jsonl", "sarif", "github", "gitlab", "junit")
BLOCKING = "data:\n  train_ds:\n    shard_seed: randomized\n    input_cfg: blend.yaml\n"

Run = Callable[..., Any]


BAD: dict[str, tuple[bytes, str]] = {
    "binary.yaml": (b"\x89PNG\r\n\x00\x00", "`binary.yaml` is a binary file; name a YAML file"),
    "latin.yaml": (b"data: 1\nname: caf\xe9\n", "`latin.yaml` is not UTF-8 at line 2; save it as UTF-8"),
    "model.nemo": (b"ustar\x00\x00", "`model.nemo` is a binary file; name a YAML file"),
}


def codes(text: str) -> list[str]:
    """The codes of a report in JSON, JSON lines or another format."""
    if text.startswith('{"schema"'):
        return [found["code"] for found in json.loads(text)["findings"]]
    if not text.startswith('{"code"'):
        return re.findall(r"\bNR\d{3}\b", text)
    return [json.loads(line)["code"] for line in text.splitlines()]


@pytest.mark.parametrize("form", FORMATS)
def test_suppressed_findings_do_not_count(run: Run, config: Path, form: str) -> None:
    text = config.read_text().replace("# a new order", "# nemo-resumable: ignore[NR110] a new order")
    config.write_text(text, encoding="utf-8")
    ran = run("check", "--format", form, "conf.yaml")
    assert ran.code == 0
    assert form == "sarif" or "[NR110]" not in ran.out  # the rule itself is described in SARIF


@pytest.mark.skipif(not Path("/dev/null").exists(), reason="needs a device")
def test_output_to_a_device_leaves_it_a_device(run: Run, config: Path) -> None:
    assert run("check", "--output", "/dev/null", "conf.yaml").code == 1
    assert Path("/dev/null").is_char_device()


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("form", FORMATS)
def test_unusable_file_that_was_named(run: Run, repository: Path, name: str, form: str) -> None:
    data, sentence = BAD[name]
    Path(name).write_bytes(data)
    ran = run("check", "--format", form, name)
    assert (ran.code, ran.err) == (2, f"nemo-resumable: {sentence}\n")
    assert ran.out == "" or codes(ran.out) == []


def test_unusable_file_that_was_only_met(run: Run, config: Path) -> None:
    for name, (data, _) in BAD.items():
        Path(name).write_bytes(data)
    ran = run("check", ".")
    assert (ran.code, ran.err) == (1, "")
    assert "`latin.yaml` is not UTF-8" in run("check", "-v", ".").err


@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root reads everything")
def test_file_that_may_not_be_read(run: Run, config: Path) -> None:
    config.chmod(0)
    ran = run("check", "conf.yaml")
    assert (ran.code, ran.err) == (2, "nemo-resumable: `conf.yaml` may not be read; check its permissions\n")


@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root reads everything")
@pytest.mark.parametrize("path", ["locked", "locked/conf.yaml"])
def test_folder_that_may_not_be_entered(run: Run, config: Path, path: str) -> None:
    locked = config.parent / "locked"
    locked.mkdir(mode=0)
    try:
        ran = run("check", path)
    finally:
        locked.chmod(0o755)
    assert (ran.code, ran.err) == (2, f"nemo-resumable: `{path}` may not be read; check its permissions\n")


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("nowhere.yaml", "there is no `nowhere.yaml`; check the path"),
        ("conf.yaml/x", "there is no `conf.yaml/x`; check the path"),
        ("dangling.yaml", "there is no `dangling.yaml`; check the path"),
        ("empty", "there is no YAML file in the folder `empty`"),
        ("", "a path is empty; `.` is the current folder"),
        ("x" * 300, "File name too long: "),
    ],
)
def test_path_that_leads_nowhere(run: Run, config: Path, path: str, sentence: str) -> None:
    Path("empty").mkdir()
    Path("dangling.yaml").symlink_to("nothing")
    ran = run("check", path)
    assert ran.code == 2
    assert ran.err.startswith(f"nemo-resumable: {sentence}")
    assert ran.err.count("\n") == 1
    assert ran.out == ""


def test_yaml_that_does_not_parse(run: Run, repository: Path) -> None:
    Path("conf.yaml").write_text(BLOCKING + "    seed: [\n", encoding="utf-8")
    ran = run("check", "--format", "json", "conf.yaml")
    assert ran.code == 1
    assert "NR001" in codes(ran.out)
    Path("other.yaml").write_text("a: [\n", encoding="utf-8")
    assert run("check", "other.yaml").code == 0, "what is none of ours is passed over, however odd"


@pytest.mark.parametrize(
    "text", ["", "a: 1\n", "- 1\n", "model:\n  train_ds:\n    manifest_filepath: a.json\n", "\ufeff"]
)
def test_file_without_a_dataset_of_ours(run: Run, repository: Path, text: str) -> None:
    Path("conf.yaml").write_text(text, encoding="utf-8")
    ran = run("check", "conf.yaml")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == "No training config with Lhotse datasets was found; nothing to report.\n"
    assert run("check", "--format", "concise", "conf.yaml").out == ""


def test_huge_file(run: Run, repository: Path) -> None:
    with Path("huge.yaml").open("wb") as file:
        file.truncate(65 * 2**20)
    ran = run("check", "huge.yaml")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "nemo-resumable: `huge.yaml` has 65 MiB, and more than 64 is not read; split it\n"


def test_deep_nesting(run: Run, repository: Path) -> None:
    Path("deep.yaml").write_text(BLOCKING + "    seed: " + "[" * 5000 + "]" * 5000 + "\n", encoding="utf-8")
    ran = run("check", "deep.yaml")
    assert ran.code == 1
    assert ran.err == ""


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--select", "NR1101"], "--select: `NR1101` is no rule; did you mean `NR1"),
        (
            ["--ignore", "unfixed-shardseed"],
            "--ignore: `unfixed-shardseed` is no rule; did you mean `unfixed-shard-seed`?",
        ),
        (["--select", "zzz"], "--select: `zzz` is no rule; `nemo-resumable rules` lists them all"),
        (["--select", ","], "--select takes codes, prefixes or names of rules"),
        (["--severity", "NR110=warn"], "not `NR110=warn`; did you mean `warning`?"),
        (["--severity", "NR110"], "--severity takes RULE=LEVEL with fatal, error, warning, note, not `NR110`"),
        (["--severity", "NR1=note"], "--severity: `NR1` is no rule"),
        (["--blend", "nowhere.yaml"], "--blend: there is no file `nowhere.yaml`; check the path"),
        (["--launch-dir", "nowhere"], "--launch-dir: there is no folder `nowhere`; check the path"),
        (["--output", "nowhere/x"], "--output: there is no folder"),
        (["--output", "."], "is a folder; name a file"),
        (["--exclude-blocked"], "--exclude-blocked goes with --fix or --diff"),
        (["--fix", "--diff"], "give one of them"),
        (["--diff", "--format", "json"], "--diff prints a diff; give --output FILE for the findings as json"),
        (["-"], "`-` needs --stdin-filename"),
        (["--stdin-filename", "a.yaml"], "leave the other paths out"),
        (["--format", "toml"], "invalid choice: 'toml'"),
        (["--fail-on", "erorr"], "did you mean `error`?"),
        (["--colour", "always"], "check: unrecognized arguments: --colour; did you mean `--color`?"),
        (["--forma", "json"], "unrecognized arguments: --forma; did you mean `--format`?"),
    ],
)
def test_usage_errors(run: Run, config: Path, arguments: list[str], sentence: str) -> None:
    ran = run("check", *arguments, "conf.yaml")
    assert (ran.code, ran.out) == (2, "")
    assert sentence in ran.err
    assert ran.err.count("\n") == 1


def test_command_line_over_settings(run: Run, config: Path) -> None:
    Path(".nemo-resumable.toml").write_text("ignore = ['NR107']\nprofile = 'speech-main'\n", encoding="utf-8")
    assert set(codes(run("check", "--format", "json", "conf.yaml").out)) == {"NR110", "NR510"}
    ran = run("check", "--format", "json", "--ignore", "NR110,no-launcher", "conf.yaml")
    assert codes(ran.out) == [], "--ignore adds to what the file leaves out"
    ran = run("check", "--format", "json", "--select", "NR107", "conf.yaml")
    assert codes(ran.out) == ["NR107"], "--select is asked for, whatever the file leaves out"


def test_unusable_settings(run: Run, config: Path) -> None:
    Path(".nemo-resumable.toml").write_text("sed = 1\n", encoding="utf-8")
    ran = run("check", "conf.yaml")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.endswith(".nemo-resumable.toml:1: `sed` is no setting; did you mean `seed`?\n")
    Path(".nemo-resumable.toml").write_text("select = ['NR9999']\n", encoding="utf-8")
    assert ":1: `NR9999` is no rule" in run("check", "conf.yaml").err


def test_scope(run: Run, config: Path) -> None:
    Path("new.yaml").write_text(BLOCKING, encoding="utf-8")
    found = json.loads(run("check", "--scope", "opted-in", "--format", "json", ".").out)
    assert [each["file"] for each in found["configs"]] == ["conf.yaml"]


def test_blend_and_indexes_root_are_passed_on(run: Run, config: Path) -> None:
    assert "+    indexes_root: /shared/idx" in run("check", "--diff", "--indexes-root", "/shared/idx", "conf.yaml").out
    Path("conf.yaml").write_text(BLOCKING, encoding="utf-8")
    assert "NR007" in codes(run("check", "--format", "json", "conf.yaml").out)
    Path("elsewhere").mkdir()
    Path("elsewhere/other.yaml").write_text("- type: lhotse_shar\n  shar_path: a\n", encoding="utf-8")
    ran = run("check", "--format", "json", "--blend", "elsewhere/other.yaml", "conf.yaml")
    assert "NR007" not in codes(ran.out)
    assert json.loads(ran.out)["configs"][0]["blends"] == ["elsewhere/other.yaml"]


@pytest.mark.parametrize(
    ("name", "data", "sentence"),
    [
        ("a.yaml", b"a: \xff", "the standard input is not UTF-8 at line 1"),
        ("a.yaml", b"\x00\x00", "the standard input is binary"),
        (".", b"", "`.` is a folder; name a file"),
    ],
)
def test_bad_standard_input(run: Run, repository: Path, name: str, data: bytes, sentence: str) -> None:
    ran = run("check", "--stdin-filename", name, stdin=data)
    assert (ran.code, ran.out) == (2, "")
    assert sentence in ran.err
    assert "use --diff" in run("check", "--fix", "--stdin-filename", "a.yaml").err


@pytest.mark.parametrize(
    ("arguments", "environment", "colored"),
    [
        ([], {}, False),
        ([], {"FORCE_COLOR": "1"}, True),
        ([], {"FORCE_COLOR": "0"}, False),
        ([], {"PRE_COMMIT_COLOR": "always"}, True),
        ([], {"PRE_COMMIT_COLOR": "never"}, False),
        ([], {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (["--color", "always"], {"NO_COLOR": "1"}, True),
        (["--color", "never"], {"FORCE_COLOR": "1"}, False),
    ],
)
@pytest.mark.parametrize("form", FORMATS)
def test_colours(
    run: Run,
    config: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    environment: dict[str, str],
    colored: bool,
    form: str,
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    ran = run("check", "--format", form, *arguments, "conf.yaml")
    assert ("\x1b[" in ran.out) is (colored and form in ("full", "concise"))
