"""`check` on whole projects: exit codes that hold for every format, what is changed on disk, and what is left alone."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from nemo_resumable.hooks.cli import main

CONFIG = """\
# The config of a team that knows nothing of indexes yet: 語
data:
  train_ds:
    input_cfg: conf/train.yaml
    seed: 42
    shard_seed: "randomized"  # a new order in each chunk
    shuffle: true
    num_workers: 4
    batch_size: 4
"""
READY = (
    CONFIG.replace('"randomized"', "42")
    + "    indexed: true\n    use_stateful_dataloader: true\n    indexes_root: /shared/idx\n"
)
BLEND = """\
- type: lhotse_shar
  shar_path: /data/shar
"""
BLOCKED = """\
- type: lhotse_shar
  shar_path: /data/shar
  weight: 0.5
- type: lhotse
  cuts_path: "pipe:zcat /data/cuts.jsonl.gz"
  weight: 0.5
"""
FORMATS = ("full", "concise", "json", "jsonl", "sarif", "github", "gitlab", "junit")


@dataclass(frozen=True)
class Outcome:
    """What a run of the command left behind."""

    code: int
    out: str
    err: str


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The top folder of a repository in which the command is run, on 80 columns and without colours."""
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("NO_COLOR", "FORCE_COLOR", "PRE_COMMIT_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    return folder


@pytest.fixture
def run(project: Path, capfd: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    """Runs the command in the project; a traceback is never what it says."""

    def run_command(*arguments: str) -> Outcome:
        capfd.readouterr()
        code = main(arguments)
        out, err = capfd.readouterr()
        assert "Traceback" not in err
        return Outcome(code, out, err)

    return run_command


@pytest.fixture
def write(project: Path) -> Callable[..., Path]:
    """Writes a file of the project as it is given."""

    def write_file(text: str | bytes, name: str = "conf/salm.yaml") -> Path:
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    write_file(BLEND, "conf/train.yaml")
    return write_file


def report(run: Callable[..., Any], *arguments: str) -> dict[str, Any]:
    """The report in JSON."""
    outcome: dict[str, Any] = json.loads(run("check", "--format", "json", *arguments).out)
    return outcome


@pytest.mark.parametrize("form", FORMATS)
def test_exit_code_holds_for_every_format(run: Callable[..., Any], write: Callable[..., Path], form: str) -> None:
    write(READY)
    assert run("check", "--format", form).code == 0
    write(CONFIG)
    assert run("check", "--format", form).code == 1
    assert run("check", "--format", form, "--diff", "--output", "out.txt").code == 1
    assert run("check", "--format", form, "absent.yaml").code == 2
    assert run("check", "--format", form, "--fix").code == 1, "something was changed"
    assert run("check", "--format", form, "--fix").code == 0


@pytest.mark.parametrize(
    ("level", "code"),
    [("fatal", 0), ("error", 0), ("warning", 1), ("note", 1)],
)
def test_fail_on(run: Callable[..., Any], write: Callable[..., Path], level: str, code: int) -> None:
    write(READY.replace("    num_workers: 4\n", ""))
    assert run("check", "--fail-on", level).code == code


def test_json_speaks_of_configs_blends_and_places(run: Callable[..., Any], write: Callable[..., Path]) -> None:
    write(CONFIG)
    found = report(run)
    assert [(config["file"], config["readiness"]) for config in found["configs"]] == [
        ("conf/salm.yaml", "not-launch-ready")
    ]
    assert found["configs"][0]["blends"] == ["conf/train.yaml"]
    seed = next(each for each in found["findings"] if each["code"] == "NR110")
    assert (seed["file"], seed["config"]) == ("conf/salm.yaml", "conf/salm.yaml")
    assert (seed["start"], seed["end"]) == ({"line": 6, "column": 17}, {"line": 6, "column": 29})
    assert (seed["current"], seed["recommended"]) == ("randomized", 42)
    assert found["summary"]["error"] == sum(each["severity"] == "error" for each in found["findings"])


def test_fix_changes_the_values_and_nothing_else(run: Callable[..., Any], write: Callable[..., Path]) -> None:
    path = write(b"\xef\xbb\xbf" + CONFIG.replace("\n", "\r\n").encode())
    path.chmod(0o640)
    outcome = run("check", "--fix")
    assert outcome.code == 1
    assert "Fixed 3 findings in 1 file." in outcome.err
    data = path.read_bytes()
    assert data.startswith(b"\xef\xbb\xbf# The config")
    assert data.count(b"\n") == data.count(b"\r\n")
    assert b"    shard_seed: 42  # a new order in each chunk\r\n" in data
    assert path.stat().st_mode & 0o777 == 0o640
    kept = [line for line in CONFIG.splitlines() if "shard_seed" not in line]
    assert [line for line in data.decode("utf-8-sig").splitlines() if line in kept] == kept
    again = run("check", "--fix")
    assert again.code == 0
    assert path.read_bytes() == data


def test_fix_leaves_no_other_file_behind(run: Callable[..., Any], write: Callable[..., Path], project: Path) -> None:
    write(CONFIG)
    before = sorted(project.rglob("*"))
    run("check", "--fix")
    assert sorted(project.rglob("*")) == before


@pytest.mark.skipif(shutil.which("patch") is None, reason="there is no `patch` here")
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("ending", ["", "\n"])
def test_diff_is_what_fix_does(
    run: Callable[..., Any], write: Callable[..., Path], project: Path, newline: str, ending: str
) -> None:
    text = (CONFIG.rstrip("\n") + ending).replace("\n", newline).encode()
    path = write(text)
    outcome = run("check", "--diff")
    assert outcome.code == 1
    assert path.read_bytes() == text, "a diff changes nothing"
    assert "1 file would change." in outcome.err
    subprocess.run(["patch", "--binary", "-p0", "-s"], input=outcome.out.encode(), cwd=project, check=True)
    patched = path.read_bytes()
    path.write_bytes(text)
    run("check", "--fix")
    assert path.read_bytes() == patched


def test_nothing_to_change_is_no_diff(run: Callable[..., Any], write: Callable[..., Path]) -> None:
    write(READY)
    outcome = run("check", "--diff")
    assert (outcome.code, outcome.out) == (0, "")


def test_blocked_sources_are_left_out_only_on_request(run: Callable[..., Any], write: Callable[..., Path]) -> None:
    write(CONFIG)
    blend = write(BLOCKED, "conf/train.yaml")
    assert run("check", "--fix").code == 1
    assert blend.read_text() == BLOCKED
    assert run("check", "--fix", "--exclude-blocked").code == 1
    text = blend.read_text()
    assert text.startswith(BLEND), "what can be indexed stays"
    assert all(line.startswith("#") for line in text.splitlines() if "pipe:zcat" in line)
    assert "pipe:zcat /data/cuts.jsonl.gz" in text, "the entry is kept as a comment"
    assert report(run)["summary"]["fatal"] == 0


def test_standard_input_stands_in_place_of_the_file(
    run: Callable[..., Any], write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = write(READY)
    given = tmp_path / "given"
    given.write_text(CONFIG)
    for arguments in (("-",), ()):
        with given.open() as text:
            monkeypatch.setattr(sys, "stdin", text)
            outcome = run("check", *arguments, "--stdin-filename", "conf/salm.yaml", "--format", "concise")
        assert outcome.code == 1
        assert "conf/salm.yaml:6:17: error[NR110]" in outcome.out
    assert path.read_text() == READY


def test_standard_input_as_a_blend_that_is_not_there_yet(
    run: Callable[..., Any], write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    write(READY)
    given = tmp_path / "given"
    given.write_text(BLOCKED)
    with given.open() as text:
        monkeypatch.setattr(sys, "stdin", text)
        outcome = run("check", "-", "--stdin-filename", "conf/new.yaml", "--format", "concise")
    assert outcome.code == 1
    assert "conf/new.yaml:5:14: fatal[NR306]" in outcome.out


@pytest.mark.parametrize(
    ("arguments", "codes"),
    [
        (("--select", "NR110"), {"NR110"}),
        (("--select", "nr110,indexed-off"), {"NR101", "NR110"}),
        (("--select", "NR101", "--select", "NR110"), {"NR101", "NR110"}),
        (("--select", "NR10", "--ignore", "NR107"), {"NR101", "NR102"}),
        (("--select", "NR1", "--ignore", "NR10,NR12"), {"NR110"}),
    ],
)
def test_selection(
    run: Callable[..., Any], write: Callable[..., Path], arguments: tuple[str, ...], codes: set[str]
) -> None:
    write(CONFIG)
    assert {each["code"] for each in report(run, *arguments)["findings"]} == codes


def test_severity_changes_the_exit_code(run: Callable[..., Any], write: Callable[..., Path]) -> None:
    write(CONFIG)
    assert run("check", "--select", "NR110").code == 1
    assert run("check", "--select", "NR110", "--severity", "NR110=note").code == 0
    assert run("check", "--select", "NR110", "--severity", "unfixed-shard-seed=fatal", "--fail-on", "fatal").code == 1


def test_settings_of_the_file_and_the_command_line_over_them(
    run: Callable[..., Any], write: Callable[..., Path]
) -> None:
    write(CONFIG)
    write("select = ['NR1']\nignore = ['NR12', 'NR107']\nseverity = { NR110 = 'warning' }\n", ".nemo-resumable.toml")
    assert {each["code"]: each["severity"] for each in report(run)["findings"]} == {
        "NR101": "error",
        "NR102": "error",
        "NR110": "warning",
    }
    found = report(run, "--severity", "NR101=note", "--ignore", "NR102")["findings"]
    assert {each["code"]: each["severity"] for each in found} == {"NR101": "note", "NR110": "warning"}


def test_each_file_under_its_nearest_settings(run: Callable[..., Any], write: Callable[..., Path]) -> None:
    write(CONFIG)
    write(CONFIG, "other/salm.yaml")
    write("select = ['NR110']\n", ".nemo-resumable.toml")
    write("select = ['NR101']\n", "other/.nemo-resumable.toml")
    expected = {("conf/salm.yaml", "NR110"), ("other/salm.yaml", "NR101")}
    for paths in ((), (".",), ("conf", "other"), ("conf/salm.yaml", "other/salm.yaml")):
        assert {(each["file"], each["code"]) for each in report(run, *paths)["findings"]} == expected


def test_exclude_holds_in_folders_and_by_name_only_when_forced(
    run: Callable[..., Any], write: Callable[..., Path]
) -> None:
    write(CONFIG)
    write("exclude = ['conf/salm.yaml']\n", ".nemo-resumable.toml")
    assert run("check").code == 0
    assert run("check", "conf").code == 0
    assert run("check", "conf/salm.yaml").code == 1
    assert run("check", "--force-exclude", "conf/salm.yaml").code == 0


def test_blend_is_judged_through_the_config_that_reads_it(run: Callable[..., Any], write: Callable[..., Path]) -> None:
    write(READY)
    write(BLOCKED, "conf/train.yaml")
    found = [each for each in report(run, "conf")["findings"] if each["severity"] == "fatal"]
    assert [(each["file"], each["config"], each["code"]) for each in found] == [
        ("conf/train.yaml", "conf/salm.yaml", "NR306")
    ]


def test_suppressed_findings_are_counted_and_marked(run: Callable[..., Any], write: Callable[..., Path]) -> None:
    write(READY.replace("shard_seed: 42", "shard_seed: trng  # nemo-resumable: ignore[NR110] on purpose\n    #"))
    outcome = run("check")
    assert outcome.code == 0
    assert "1 finding suppressed by comments." in outcome.out
    assert "conf/salm.yaml: launch-ready-with-exceptions" in outcome.out
    found = report(run)
    assert [each["suppressed"] for each in found["findings"] if each["code"] == "NR110"] == [True]
    assert found["summary"]["error"] == 0


def test_other_yaml_is_passed_over(run: Callable[..., Any], write: Callable[..., Path], project: Path) -> None:
    (project / "conf" / "train.yaml").unlink()
    write("services:\n  - train_ds: [unclosed\n", "compose.yaml")
    write(b"\xff\xfe\x00b", "binary.yaml")
    write("a: 1\na: 2\n", "twice.yml")
    outcome = run("check")
    assert outcome.code == 0
    assert "No training config with Lhotse datasets was found" in outcome.out
    assert outcome.err == ""


def test_a_named_file_has_to_be_readable(run: Callable[..., Any], write: Callable[..., Path]) -> None:
    write(b"data:\n  train_ds: \xff\n", "latin.yaml")
    outcome = run("check", "latin.yaml")
    assert outcome.code == 2
    assert outcome.err.count("\n") == 1
    assert "latin.yaml" in outcome.err


def test_one_bad_path_does_not_hide_the_findings_of_others(run: Callable[..., Any], write: Callable[..., Path]) -> None:
    write(CONFIG)
    outcome = run("check", "--format", "json", "conf", "absent")
    assert outcome.code == 2
    assert json.loads(outcome.out)["summary"]["error"] == 3
    assert outcome.err == "nemo-resumable: there is no `absent`; check the path\n"


def test_output_goes_to_a_file_without_colours(
    run: Callable[..., Any], write: Callable[..., Path], project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    write(CONFIG)
    outcome = run("check", "--output", "report.txt")
    assert (outcome.code, outcome.out) == (1, "")
    text = (project / "report.txt").read_text(encoding="utf-8")
    assert "\x1b" not in text
    assert "error[NR110]" in text


def test_statistics_do_not_disturb_what_machines_read(run: Callable[..., Any], write: Callable[..., Path]) -> None:
    write(CONFIG)
    outcome = run("check", "--statistics", "--format", "json")
    json.loads(outcome.out)
    assert "    1  NR110  unfixed-shard-seed\n" in outcome.err
    assert "    1  NR110  unfixed-shard-seed\n" in run("check", "--statistics").out


def test_the_whole_report_fits_80_columns(run: Callable[..., Any], write: Callable[..., Path]) -> None:
    write(CONFIG)
    write(
        BLOCKED + "- type: lhotse_shar\n  shar_path: [" + ", ".join(["/data/very/long"] * 40) + "]\n", "conf/train.yaml"
    )
    outcome = run("check", "--statistics", "-v")
    assert max(map(len, outcome.out.splitlines())) <= 80


def test_a_link_out_of_the_project_is_not_written_through(
    run: Callable[..., Any], write: Callable[..., Path], project: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside.yaml"
    outside.write_text(CONFIG)
    write(BLEND, "conf/train.yaml")
    (project / "conf" / "salm.yaml").symlink_to(outside)
    outcome = run("check", "--fix")
    assert outcome.code == 2
    assert "outside the project" in outcome.err
    assert outside.read_text() == CONFIG


def test_a_link_inside_the_project_stays_a_link(
    run: Callable[..., Any], write: Callable[..., Path], project: Path
) -> None:
    real = write(CONFIG, "shared/real.yaml")
    link = project / "conf" / "salm.yaml"
    link.symlink_to(real)
    run("check", "--fix", "conf/salm.yaml")
    assert link.is_symlink()
    assert "shard_seed: 42" in real.read_text()


def command(project: Path, shell: str) -> subprocess.CompletedProcess[str]:
    """A run in a process of its own, through a shell; `nr` is the command."""
    script = f'set -o pipefail; nr() {{ "{sys.executable}" -W error -m nemo_resumable.hooks.cli "$@"; }}; {shell}'
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(["bash", "-c", script], cwd=project, capture_output=True, text=True, env=environment)


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no `bash` here")
@pytest.mark.parametrize(
    ("shell", "code"),
    [
        ("nr check | true", 1),
        ("nr check | head -1 >/dev/null", 1),
        ("nr rules | true", 0),
        ("nr explain NR110 | true", 0),
        ("nr --help | true", 0),
        ("(sleep 0.3; PYTHONUNBUFFERED=1 nr --help) | true", 0),
        ("(sleep 0.3; PYTHONUNBUFFERED=1 nr --version) | true", 0),
        ("(sleep 0.3; PYTHONUNBUFFERED=1 nr check --format sarif) | true", 1),
        ("nr check >&-", 1),
    ],
)
def test_quiet_when_nobody_reads(write: Callable[..., Path], project: Path, shell: str, code: int) -> None:
    write(CONFIG)
    done = command(project, shell)
    assert (done.returncode, done.stderr) == (code, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_a_full_disk_is_one_sentence(write: Callable[..., Path], project: Path) -> None:
    write(CONFIG)
    done = command(project, "nr check >/dev/full")
    assert done.returncode == 2
    assert done.stderr == "nemo-resumable: No space left on device\n"


def test_output_that_cannot_be_encoded_is_escaped(write: Callable[..., Path], project: Path) -> None:
    write(CONFIG.replace("a new order", "語"))
    done = command(project, "PYTHONIOENCODING=ascii nr check --select NR110")
    assert done.returncode == 1
    assert '6 |     shard_seed: "randomized"  # \\u8a9e in each chunk' in done.stdout
    done = command(project, "PYTHONIOENCODING=ascii nr check --diff")
    assert '-    shard_seed: "randomized"  # 語 in each chunk' in done.stdout, "a diff has the bytes of the file"
