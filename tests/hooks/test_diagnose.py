"""`diagnose` as it is called: what it prints, its exit codes, the config's line, pipes, progress, and a large log."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import referencing
from nemo_resumable.core.failures.page import find_page
from nemo_resumable.hooks.output import json_format, progress

Run = Callable[..., Any]

FOLDER = Path(json_format.__file__).parent
CHECK, SCHEMA = (
    json.loads((FOLDER / f"{name}.schema.json").read_text(encoding="utf-8")) for name in ("check", "diagnose")
)
LOG = find_page("shard-seed-changed").examples[0].text
UNKNOWN = "Traceback (most recent call last):\n  File \"/work/model.py\", line 3, in forward\nKeyError: 'audio'\n"
TIMEOUT = find_page("collective-timeout").examples[0].text


@pytest.fixture
def log(repository: Path) -> Path:
    path = repository / "slurm-1.out"
    path.write_text(f"{LOG}{TIMEOUT}", encoding="utf-8")
    return path


def validated(text: str) -> dict[str, Any]:
    """The document; it holds to its schema, which leaves nothing unnamed."""
    document: dict[str, Any] = json.loads(text)
    jsonschema.Draft7Validator.check_schema(SCHEMA)
    resources = [
        ("check.schema.json", referencing.Resource.from_contents(CHECK)),
        ("", referencing.Resource.from_contents(SCHEMA)),
    ]
    closed = json.loads(
        json.dumps(SCHEMA).replace('"type": "object",', '"type": "object", "additionalProperties": false,')
    )
    jsonschema.Draft7Validator(closed, registry=referencing.Registry().with_resources(resources)).validate(document)
    return document


def test_a_cause_that_is_known(run: Run, log: Path) -> None:
    ran = run("diagnose", log.name)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("shard-seed-changed: The chunk was started with another `shard_seed`")
    for words in ("slurm-1.out:3 (2026-05-04 08:00:12)", "AssertionError", "= fix: ", "NR501 rotating-seed"):
        assert words in ran.out
    assert "Also in the logs: collective-timeout at slurm-1.out:" in ran.out


def test_a_cause_that_is_not_known(run: Run, repository: Path) -> None:
    (repository / "run.log").write_text(UNKNOWN + TIMEOUT, encoding="utf-8")
    ran = run("diagnose", "run.log")
    assert (ran.code, ran.err) == (1, "")
    assert ran.out.startswith("Unknown cause. The first exception:\n")
    assert "KeyError: 'audio'" in ran.out
    (repository / "run.log").write_text(TIMEOUT, encoding="utf-8")
    ran = run("diagnose", "run.log")
    assert ran.code == 1
    assert ran.out.startswith("Unknown cause: only what came of it was found, collective-timeout")
    (repository / "run.log").write_text("all is well\n", encoding="utf-8")
    ran = run("diagnose", "run.log")
    assert ran.code == 1
    assert ran.out.startswith("Unknown cause: no exception")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "name the logs of the run"),
        (["absent.log"], "there is no file `absent.log`"),
        (["."], "`.` is a folder"),
        ([""], "a path is empty"),
        (["slurm-1.out", "--config", "absent.yaml"], "there is no file `absent.yaml`"),
        (["slurm-1.out", "--config", "."], "`.` is a folder"),
        (["slurm-1.out", "--launcher", "run.sh"], "go with --config"),
        (["slurm-1.out", "--format", "markdown"], "goes with --list"),
        (["--list", "slurm-1.out"], "--list reads no logs"),
        (["slurm-1.out", "model.ckpt"], "`model.ckpt` is a ZIP archive or a checkpoint"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_input(run: Run, log: Path, arguments: list[str], words: str) -> None:
    (log.parent / "model.ckpt").write_bytes(b"PK\x03\x04" + b"\0" * 100)
    ran = run("diagnose", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err


def test_the_line_of_the_config_and_its_fix(run: Run, log: Path, config: Path) -> None:
    ran = run("diagnose", log.name, "--config", "conf.yaml")
    assert ran.code == 0
    assert "In conf.yaml:\n\nerror[NR110] unfixed-shard-seed: " in ran.out
    assert "--> conf.yaml:5:17" in ran.out
    assert "= help: fix available: Set `shard_seed` to 42" in ran.out


def test_a_config_that_does_not_explain_it(run: Run, log: Path, config: Path) -> None:
    config.write_text(config.read_text(encoding="utf-8").replace('"randomized"', "42"), encoding="utf-8")
    ran = run("diagnose", log.name, "--config", "conf.yaml")
    assert ran.code == 0
    assert "conf.yaml: none of the rules fires (NR501, NR110, NR503)" in ran.out


def test_the_launcher_may_be_the_cause(run: Run, log: Path, config: Path) -> None:
    config.write_text(config.read_text(encoding="utf-8").replace('"randomized"', "42"), encoding="utf-8")
    (log.parent / "run.sbatch").write_text(
        "#!/bin/bash\n#SBATCH --array=0-9%1\n"
        "python examples/speechlm2/salm_train.py --config-path=. --config-name=conf data.train_ds.shard_seed=$RANDOM\n",
        encoding="utf-8",
    )
    ran = run("diagnose", log.name, "--config", "conf.yaml", "--launcher", "run.sbatch")
    assert ran.code == 0
    assert "[NR501] rotating-seed" in ran.out
    assert "--> run.sbatch:3:" in ran.out


def test_what_is_no_training_config(run: Run, log: Path) -> None:
    (log.parent / "other.yaml").write_text("a: 1\n", encoding="utf-8")
    ran = run("diagnose", log.name, "--config", "other.yaml")
    assert ran.code == 0
    assert ran.out.startswith("shard-seed-changed: ")
    assert "`other.yaml` is no training config" in ran.err


def test_json(run: Run, log: Path, config: Path) -> None:
    ran = run("diagnose", log.name, "--config", "conf.yaml", "--format", "json")
    assert (ran.code, ran.err) == (0, "")
    document = validated(ran.out)
    assert (document["schema"], document["tool"], document["first"]) == (1, "nemo-resumable", None)
    cause = document["cause"]
    assert (cause["mode"], cause["kind"], cause["line"]) == ("shard-seed-changed", "cause", 3)
    assert cause["exceptions"][0]["frames"][-1]["function"] == "load_state_dict"
    assert [each["mode"] for each in document["others"]] == ["collective-timeout"]
    assert document["restored"] is None
    (finding,) = document["config"]["findings"]
    assert (finding["code"], finding["start"]) == ("NR110", {"line": 5, "column": 17})


def test_json_of_what_is_not_known(run: Run, log: Path) -> None:
    """Of several logs, one of them a pipe, without a config."""
    log.write_text("".join(f"3: {line}\n" for line in UNKNOWN.splitlines()), encoding="utf-8")
    ran = run("diagnose", log.name, "-", "--format", "json", stdin=b"Restored all states from the checkpoint at x\n")
    assert ran.code == 1
    document = validated(ran.out)
    assert (document["cause"], document["config"], len(document["logs"])) == (None, None, 2)
    assert (document["first"]["mode"], document["first"]["rank"]) == (None, 3)
    assert document["restored"]["file"] == "the standard input"


def test_the_modes_are_listed(run: Run) -> None:
    text, rows = run("diagnose", "--list").out, json.loads(run("diagnose", "--list", "--format", "json").out)
    assert [line.split()[0] for line in text.splitlines()] == [row["mode"] for row in rows]
    assert {"mode", "kind", "rules", "summary"} == set(rows[0])


def test_explain_shows_modes_and_a_rule_names_its_own(run: Run) -> None:
    assert run("explain", "shard-seed-changed").out.startswith("# shard-seed-changed\n")
    assert "- shard-seed-changed: " in run("explain", "NR501").out
    ran = run("explain", "shard-seed-chnged")
    assert ran.code == 2
    assert "shard-seed-changed" in ran.err


def test_progress_is_told_on_a_terminal(
    run: Run, log: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It goes away before the result is printed, and a pipe sees none of it."""
    ticks = itertools.count()
    monkeypatch.setattr(progress.time, "monotonic", lambda: float(next(ticks)))
    assert run("diagnose", log.name).err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    ran = run("diagnose", log.name)
    assert "MB of slurm-1.out" in ran.err
    assert ran.err.endswith(" \r")


def test_buried_in_a_large_log(tmp_path: Path) -> None:
    """20 MB of what trainings print, told by the command itself, through a file and through a pipe."""
    chunk = "".join(
        f"Epoch 3:  41%|####      | {step}/100000 [12:31<18:00,  1.83s/it, v_num=0]\n"
        f"[NeMo I 2026-05-04 08:00:{step % 60:02} nemo_logging:393] Step {step}: train_step_timing in s=1.83\n"
        f"[NeMo W 2026-05-04 08:00:{step % 60:02} nemo_logging:405] word error rate {step}, failed hypotheses: 0\n"
        for step in range(4000)
    )
    path = tmp_path / "slurm-2.out"
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        for _ in range(20 * 2**20 // len(chunk)):
            stream.write(chunk)
        before = 3 * 4000 * (20 * 2**20 // len(chunk))
        stream.write(LOG + chunk[:10_000])
    for name in (path.name, "-"):
        command = [sys.executable, "-m", "nemo_resumable.hooks.cli", "diagnose", name, "--format", "json"]
        with path.open("rb") as stdin:
            ended = subprocess.run(command, cwd=tmp_path, stdin=stdin, capture_output=True, check=False)
        assert (ended.returncode, ended.stderr) == (0, b"")
        cause = json.loads(ended.stdout)["cause"]
        assert (cause["mode"], cause["line"]) == ("shard-seed-changed", before + 3)
