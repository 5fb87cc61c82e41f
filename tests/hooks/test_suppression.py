"""Suppressions end to end: where a comment holds, what it needs to hold, and what becomes of what is suppressed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
IGNORE = "# nemo-resumable: ignore"


def rows(run: Run, *arguments: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(run("check", "--format", "json", *arguments).out)["findings"]
    return found


def of(run: Run, code: str) -> list[tuple[int, bool]]:
    """Line and whether suppressed, of the findings of a rule."""
    return [(row["start"]["line"], row["suppressed"]) for row in rows(run, "conf.yaml") if row["code"] == code]


def edited(config: Path, old: str, new: str) -> None:
    text = config.read_text(encoding="utf-8")
    assert old in text
    config.write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# a new order in every chunk", f"{IGNORE}[NR110] tried out"),
        ("# a new order in every chunk", f"# a new order {IGNORE}[nr110] tried out"),
        ("# a new order in every chunk", f"{IGNORE}[NR107, unfixed-shard-seed]"),
        ("    shard_seed:", f"    {IGNORE}[NR110]\n    # and another comment\n    shard_seed:"),
        ("  train_ds:\n", f"  train_ds:  {IGNORE}[NR110]\n"),
        ("data:\n", f"data:  {IGNORE}[NR110] all of it\n"),
        ("data:\n", f"{IGNORE}[NR110]\ndata:\n"),
        ("data:\n", f"{IGNORE}-file[NR110] generated\ndata:\n"),
        ("        shar_path: data/shar\n", f"        shar_path: data/shar\n{IGNORE}-file[unfixed-shard-seed]\n"),
    ],
    ids=["line", "after prose", "several", "line above", "parent", "top", "above the top", "file", "file at the end"],
)
def test_a_comment_holds(run: Run, config: Path, old: str, new: str) -> None:
    assert of(run, "NR110") == [(5, False)]
    edited(config, old, new)
    assert [suppressed for _, suppressed in of(run, "NR110")] == [True]
    assert run("check", "conf.yaml").code == 0


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    seed: 42\n", f"    seed: 42  {IGNORE}[NR110]\n"),
        ("    indexed: true\n", f"    {IGNORE}[NR110]\n    indexed: true\n"),
        ("    batch_size: 4\n", f"    batch_size: 4\n    note: 'a text {IGNORE}[NR110]'\n"),
        ("data:\n", f"note: |\n  {IGNORE}-file[NR110]\ndata:\n"),
        ("# a new order", "# nemo-resumable: ignored[NR110]"),
        ("# a new order", "# ignore[NR110]"),
        ("# a new order", "#nemo-resumable-ignore[NR110]"),
    ],
    ids=["other line", "above another", "quoted", "block text", "other word", "not ours", "run together"],
)
def test_a_comment_elsewhere_does_not(run: Run, config: Path, old: str, new: str) -> None:
    edited(config, old, new)
    assert [suppressed for _, suppressed in of(run, "NR110")] == [False]
    assert run("check", "conf.yaml").code == 1


@pytest.mark.parametrize(
    ("comment", "sentence"),
    [
        (IGNORE, "the comment names no rule, so it suppresses nothing: write `# nemo-resumable: ignore[NR110] reason`"),
        (f"{IGNORE}[]", "the comment names no rule"),
        (f"{IGNORE} NR110", "the comment names no rule"),
        ("# nemo-resumable ignore[NR110]", "the comment names no rule"),
        ("# nemo-resumable: noqa", "the comment names no rule"),
        ("# nemo-resumable: disable=NR110", "the comment names no rule"),
        (f"{IGNORE}[NR11O]", "`NR11O` is no rule; did you mean `NR110`?: the comment suppresses nothing"),
        (f"{IGNORE}[unfixed-shard]", "`unfixed-shard` is only part of a code"),
        (f"{IGNORE}[NR1]", "`NR1` is only part of a code, so the comment suppresses nothing: it has to name each rule"),
        (f"{IGNORE}[NR109] x", "the suppression of `NR109` suppresses nothing"),
    ],
)
def test_a_comment_that_cannot_hold_is_told_how(run: Run, config: Path, comment: str, sentence: str) -> None:
    edited(config, "# a new order in every chunk", comment)
    assert of(run, "NR110") == [(5, False)]
    (told,) = [row for row in rows(run, "conf.yaml") if row["code"] == "NR014"]
    assert told["message"].startswith(sentence)
    assert told["severity"] == "warning"
    assert (told["fix"] is not None) == ("[NR109]" in comment), "only what is surely needless is removed"


def test_prose_that_names_us_is_no_suppression(run: Run, config: Path) -> None:
    edited(
        config, "# a new order in every chunk", "# nemo-resumable: see the wiki; nemo-resumable ignores nothing here"
    )
    assert of(run, "NR014") == []


def test_a_reason_can_be_required(run: Run, config: Path) -> None:
    Path(".nemo-resumable.toml").write_text("require-suppression-reason = true\n", encoding="utf-8")
    edited(config, "# a new order in every chunk", f"{IGNORE}[NR110]")
    assert of(run, "NR110") == [(5, False)]
    (told,) = [row for row in rows(run, "conf.yaml") if row["code"] == "NR014"]
    assert (
        told["message"] == "the suppression of `NR110` does not hold: the settings ask for a reason behind the bracket"
    )
    assert told["fix"] is None
    edited(config, "[NR110]", "[NR110] tried out")
    assert of(run, "NR110") == [(5, True)]
    assert of(run, "NR014") == []


def test_a_reason_is_required_in_a_file_that_does_not_parse(run: Run, repository: Path) -> None:
    text = f"data:\n  train_ds:\n    input_cfg: a.yaml\n    seed: [  {IGNORE}-file[NR001]\n"
    Path("conf.yaml").write_text(text, encoding="utf-8")
    assert [suppressed for _, suppressed in of(run, "NR001")] == [True]
    Path(".nemo-resumable.toml").write_text("require-suppression-reason = true\n", encoding="utf-8")
    assert [suppressed for _, suppressed in of(run, "NR001")] == [False]


def test_fixes_leave_what_is_suppressed_alone(run: Run, config: Path) -> None:
    edited(config, "# a new order in every chunk", f"{IGNORE}[NR110] tried out")
    before = config.read_bytes()
    assert run("check", "--fix", "conf.yaml").code == 0
    assert config.read_bytes() == before


def test_what_is_suppressed_is_an_exception_of_the_verdict(run: Run, config: Path) -> None:
    edited(config, "# a new order in every chunk", f"{IGNORE}[NR110] tried out")
    document = json.loads(run("check", "--format", "json", "conf.yaml").out)
    (verdict,) = document["configs"]
    assert verdict["readiness"] == "launch-ready-with-exceptions"
    (exception,) = verdict["exceptions"]
    assert (exception["code"], exception["start"]["line"], exception["reason"]) == ("NR110", 5, "tried out")
    text = run("check", "conf.yaml").out
    assert "1 finding suppressed by comments.\nconf.yaml: launch-ready-with-exceptions\n" in text
    assert "    exception: NR110 unfixed-shard-seed at conf.yaml:5, tried out\n" in text
    assert document["summary"]["suppressed"] == 1


def test_the_migration_report_lists_exceptions(run: Run, config: Path) -> None:
    edited(config, "# a new order in every chunk", f"{IGNORE}[NR110] tried out")
    run("migrate", "conf.yaml", "--out", "out")
    report = Path("out/migration-report.md").read_text(encoding="utf-8")
    assert "Readiness: **launch-ready-with-exceptions**" in report
    assert "- Exception: NR110 unfixed-shard-seed at `data.train_ds.shard_seed` (conf.yaml:5), " in report
    assert "suppressed by a comment: tried out." in report
    (row,) = [line for line in report.splitlines() if line.startswith("| error | NR110")]
    assert row.endswith("| suppressed: tried out |")


def test_per_file_ignores_are_exceptions_too(run: Run, config: Path) -> None:
    settings = Path(".nemo-resumable.toml")
    settings.write_text("[per-file-ignores]\n'con?.yaml' = ['NR11']\n", encoding="utf-8")
    document = json.loads(run("check", "--format", "json", "conf.yaml").out)
    (row,) = [row for row in document["findings"] if row["code"] == "NR110"]
    assert row["suppression"] == {"by": "settings", "reason": "per-file-ignores of `con?.yaml`"}
    assert document["configs"][0]["readiness"] == "launch-ready-with-exceptions"
    ran = run("check", "conf.yaml")
    assert ran.code == 0
    assert "1 finding suppressed by settings." in ran.out
    settings.write_text("[per-file-ignores]\n'other.yaml' = ['NR11']\n", encoding="utf-8")
    assert run("check", "conf.yaml").code == 1


def test_a_rule_that_is_left_out_does_not_make_a_config_ready(run: Run, config: Path) -> None:
    Path(".nemo-resumable.toml").write_text("ignore = ['NR110']\n", encoding="utf-8")
    ran = run("check", "conf.yaml")
    assert ran.code == 0
    assert "conf.yaml: not-launch-ready\n    in the way, though left out: NR110\n" in ran.out
    document = json.loads(run("check", "--format", "json", "conf.yaml").out)
    assert document["configs"][0]["left_out"] == ["NR110"]


BLEND = f"""\
- type: nemo_tarred
  manifest_filepath: /data/b/manifest__OP_0..7_CL_.json
  tarred_audio_filepaths: /data/b/audio__OP_0..7_CL_.tar
  extra_fields: [{{name: a, path: b}}]  {IGNORE}[NR301] until the rows are written
"""


def test_a_comment_in_a_shared_blend_is_needed_where_one_config_needs_it(run: Run, config: Path) -> None:
    """Evaluation that streams may read extra fields: only the config that trains on the blend needs the comment."""
    Path("blend.yaml").write_text(BLEND, encoding="utf-8")
    text = config.read_text(encoding="utf-8")
    Path("evaluated.yaml").write_text(f"{text}  validation_ds:\n    input_cfg: blend.yaml\n", encoding="utf-8")
    Path("trained.yaml").write_text(
        f"{text[: text.index('    input_cfg:')]}    input_cfg: blend.yaml\n", encoding="utf-8"
    )
    assert not [row for row in rows(run, "evaluated.yaml") if row["code"] == "NR014"], "others may need it"
    for order in (["."], ["evaluated.yaml", "trained.yaml", "blend.yaml"], ["blend.yaml", "trained.yaml"]):
        together = rows(run, *order)
        assert [row["suppressed"] for row in together if row["code"] == "NR301"] == [True]
        assert not [row for row in together if row["code"] == "NR014"]
    Path("trained.yaml").unlink()
    (idle,) = [row for row in rows(run, ".") if row["code"] == "NR014"]
    assert (idle["file"], idle["start"]["line"]) == ("blend.yaml", 4), "now nobody needs it"


def test_needless_comments_are_removed_by_fix(run: Run, config: Path) -> None:
    text = config.read_text(encoding="utf-8")
    edited(config, "    seed: 42\n", f"    {IGNORE}[NR109] old\n    seed: 42  {IGNORE}[NR109]\n")
    assert run("check", "--fix", "--select", "NR014", "conf.yaml").code == 1
    assert config.read_text(encoding="utf-8") == text
