"""The baseline: what is known neither blocks nor is told, whatever moves; what is new does; what is gone is told."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
KNOWN = ["--baseline", "known.json"]
WRITE = [*KNOWN, "--write-baseline"]


def entries() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(Path("known.json").read_text(encoding="utf-8"))["findings"]
    return found


def new(run: Run, *arguments: str) -> list[str]:
    """The codes that are neither suppressed nor known, notes of the verdict aside."""
    ran = run("check", "--format", "json", *KNOWN, *arguments)
    found = [row for row in json.loads(ran.out)["findings"] if not row["baselined"] and not row["suppressed"]]
    return [row["code"] for row in found if row["code"] not in ("NR510", "NR706")]


def edited(path: Path, old: str, text: str) -> None:
    before = path.read_text(encoding="utf-8")
    assert old in before
    path.write_text(before.replace(old, text), encoding="utf-8")


@pytest.fixture
def blend(repository: Path, config: Path) -> Path:
    """`blend.yaml`, which the config reads, with two sources that cannot be indexed and look the same."""
    path = repository / "blend.yaml"
    entry = (
        "- type: nemo_tarred\n  manifest_filepath: {0}.json\n  tarred_audio_filepaths: {0}.tar\n  extra_fields: [a]\n"
    )
    path.write_text(entry.format("/data/a") + entry.format("/data/b"), encoding="utf-8")
    text = config.read_text(encoding="utf-8")
    config.write_text(text[: text.index("    input_cfg:")] + "    input_cfg: blend.yaml\n", encoding="utf-8")
    return path


def test_written_and_read(run: Run, config: Path) -> None:
    ran = run("check", *WRITE)
    assert (ran.code, ran.err) == (0, "nemo-resumable: wrote known.json with 2 findings\n")
    assert ran.out.startswith("No new findings.\n2 findings in the baseline.\nconf.yaml: not-launch-ready\n")
    assert [(row["file"], row["code"]) for row in entries()] == [("conf.yaml", "NR107"), ("conf.yaml", "NR110")]
    ran = run("check", *KNOWN)
    assert (ran.code, ran.err) == (0, "")
    assert "2 findings in the baseline." in ran.out
    assert "NR110" not in ran.out
    assert run("check").code == 1, "it only holds where it is named"


@pytest.mark.parametrize("form", ["full", "concise", "json", "jsonl", "sarif", "github", "gitlab", "junit"])
def test_what_is_known_does_not_block_in_any_format(run: Run, config: Path, form: str) -> None:
    run("check", *WRITE)
    assert run("check", *KNOWN, "--format", form).code == 0
    edited(config, "num_workers: 2", "num_workers: 2\n    concurrent_bucketing: true\n    use_bucketing: true")
    assert run("check", *KNOWN, "--format", form).code == 1


def test_known_findings_in_sarif(run: Run, config: Path) -> None:
    run("check", *WRITE)
    edited(config, "    seed: 42\n", "")
    log = json.loads(run("check", *KNOWN, "--format", "sarif").out)
    states = {each["ruleId"]: each["baselineState"] for each in log["runs"][0]["results"]}
    assert states["NR110"] == "unchanged"
    assert states["NR109"] == "new"
    (known,) = [each for each in log["runs"][0]["results"] if each["ruleId"] == "NR110"]
    assert known["suppressions"] == [{"kind": "external", "justification": "in the baseline"}]


@pytest.mark.parametrize(
    ("old", "text"),
    [
        ("data:\n", "# moved\n\n\ndata:\n"),
        ("# a new order in every chunk", "# another word"),
        ("    shard_seed:", "    prefetch_factor: 2\n    shard_seed:"),
        ('"randomized"  #', '"randomized"     #'),
    ],
    ids=["moved", "comment", "line above", "spaces"],
)
def test_what_moves_stays_known(run: Run, config: Path, old: str, text: str) -> None:
    run("check", *WRITE)
    edited(config, old, text)
    assert new(run) == []


def test_indentation_and_order_stay_known(run: Run, blend: Path) -> None:
    run("check", *WRITE)
    text = blend.read_text(encoding="utf-8")
    first, second = text[: len(text) // 2], text[len(text) // 2 :]
    blend.write_text("".join(f"  {line}" for line in (second + first).splitlines(keepends=True)), encoding="utf-8")
    assert new(run) == []
    fine = "- type: nemo_tarred\n  manifest_filepath: /data/c.json\n  tarred_audio_filepaths: /data/c.tar\n"
    blend.write_text(fine + text, encoding="utf-8")
    assert "NR301" not in new(run), "an entry before moves the others' positions"


def test_one_more_of_a_kind_is_new(run: Run, blend: Path) -> None:
    run("check", *WRITE)
    (entry,) = [row for row in entries() if row["code"] == "NR301"]
    assert entry["count"] == 2
    assert entry["config"] == "conf.yaml"
    text = blend.read_text(encoding="utf-8")
    blend.write_text(text + text[: len(text) // 2].replace("/data/a", "/data/c"), encoding="utf-8")
    assert new(run).count("NR301") == 1
    assert run("check", *KNOWN).code == 1


def test_another_value_is_new(run: Run, config: Path) -> None:
    run("check", *WRITE)
    edited(config, '"randomized"', '"trng"')
    ran = run("check", *KNOWN)
    assert ran.code == 1
    assert "error[NR110]" in ran.out
    assert ran.err == (
        "nemo-resumable: 1 finding of known.json is not found any more (NR110 in conf.yaml); --write-baseline drops them\n"
    )


def test_what_is_gone_is_dropped_and_the_rest_kept(run: Run, config: Path) -> None:
    other = Path("other.yaml")
    other.write_text(config.read_text(encoding="utf-8"), encoding="utf-8")
    run("check", *WRITE)
    before = entries()
    edited(config, '"randomized"', "42")
    ran = run("check", *WRITE, "conf.yaml")
    assert "wrote known.json with 3 findings (0 new, 1 gone)" in ran.err
    assert entries() == [row for row in before if (row["file"], row["code"]) != ("conf.yaml", "NR110")]
    other.unlink()
    ran = run("check", *KNOWN, "conf.yaml")
    assert "2 findings of known.json are not found any more (NR107 in other.yaml, NR110 in other.yaml)" in ran.err
    run("check", *WRITE, "conf.yaml")
    assert [row["file"] for row in entries()] == ["conf.yaml"]


def test_what_was_not_looked_at_is_not_called_gone(run: Run, config: Path) -> None:
    Path("other.yaml").write_text(config.read_text(encoding="utf-8"), encoding="utf-8")
    run("check", *WRITE)
    assert run("check", *KNOWN, "conf.yaml").err == ""
    assert run("check", *KNOWN, "--select", "NR107").err == ""
    assert run("check", *WRITE, "--ignore", "NR110").err.endswith("with 4 findings (0 new, 0 gone)\n")


def test_the_same_findings_are_the_same_bytes(run: Run, blend: Path) -> None:
    run("check", *WRITE)
    first = Path("known.json").read_bytes()
    run("check", *WRITE)
    assert Path("known.json").read_bytes() == first
    assert first.count(b"\n") == len(entries()) + 3, "an entry a line: branches merge"


def test_from_another_folder(run: Run, config: Path, repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run("check", *WRITE)
    (repository / "sub").mkdir()
    monkeypatch.chdir(repository / "sub")
    assert run("check", "--baseline", "../known.json", "..").code == 0


def test_the_settings_name_one(run: Run, config: Path, repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path(".nemo-resumable.toml").write_text("baseline = 'ci/known.json'\n", encoding="utf-8")
    ran = run("check")
    assert ran.code == 2
    assert ran.err == "nemo-resumable: there is no baseline `ci/known.json`; --write-baseline makes it\n"
    assert run("check", "--write-baseline").code == 0
    assert run("check").code == 0
    (repository / "sub").mkdir()
    monkeypatch.chdir(repository / "sub")
    assert run("check", "../conf.yaml").code == 0


def test_suppressed_findings_use_up_no_entry(run: Run, config: Path) -> None:
    run("check", *WRITE)
    edited(config, "# a new order in every chunk", "# nemo-resumable: ignore[NR110] known")
    ran = run("check", *KNOWN)
    assert ran.code == 0
    assert "1 finding suppressed by comments.\n1 finding in the baseline." in ran.out
    assert "1 finding of known.json is not found any more" in ran.err, "the comment does its work now"


def test_fix_mends_what_is_known_as_well(run: Run, config: Path) -> None:
    run("check", *WRITE)
    assert run("check", *KNOWN, "--fix").code == 1
    assert "shard_seed: 42" in config.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", "the baseline is no JSON"),
        ("[]", "this is no baseline; --write-baseline makes one"),
        ('{"findings": []}', "this is no baseline"),
        ('{"schema": 2, "findings": []}', "the baseline has schema 2, and 1 is read"),
        (
            '{"schema": 1, "findings": [{"code": "NR110"}]}',
            'an entry is not of the form that is written: {"code": "NR110"}',
        ),
        ('{"schema": 1, "findings": ["x"]}', "an entry is not of the form that is written"),
        ('{"schema": 1, "findings": [{"file":1,"code":"","subject":"","fingerprint":""}]}', "not of the form"),
    ],
)
def test_a_file_that_is_no_baseline(run: Run, config: Path, text: str, sentence: str) -> None:
    Path("known.json").write_text(text, encoding="utf-8")
    ran = run("check", *KNOWN)
    assert (ran.code, ran.out) == (2, "")
    assert sentence in ran.err
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--write-baseline"], "--write-baseline needs --baseline FILE, or the setting `baseline`"),
        ([*WRITE, "--diff"], "--write-baseline writes what is found in files"),
        (["--baseline", "absent.json"], "there is no baseline `absent.json`; --write-baseline makes it"),
        (["--baseline", "."], "there is no baseline"),
    ],
)
def test_wrong_usage(run: Run, config: Path, arguments: list[str], sentence: str) -> None:
    ran = run("check", *arguments)
    assert ran.code == 2
    assert sentence in ran.err


@pytest.mark.skipif(os.name == "nt", reason="needs symbolic links")
def test_a_link_is_written_through(run: Run, config: Path, repository: Path) -> None:
    (repository / "real.json").touch()
    (repository / "known.json").symlink_to("real.json")
    assert run("check", *WRITE).code == 0
    assert (repository / "known.json").is_symlink()
    assert entries()


def test_settings_write_no_baseline_out_of_the_repository(run: Run, config: Path, repository: Path) -> None:
    """They may be anybody's; the command line is the user's own word."""
    outside = repository.parent / "elsewhere.json"
    (repository / ".nemo-resumable.toml").write_text('baseline = "../elsewhere.json"\n', encoding="utf-8")
    ran = run("check", "--write-baseline")
    assert ran.code == 2
    assert "outside of the repository; to write there, name it with --baseline" in ran.err
    assert not outside.exists()
    assert run("check", "--write-baseline", "--baseline", str(outside)).code == 0
    assert outside.exists()
