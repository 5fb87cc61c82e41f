"""The formats, whole, on findings made by hand: nothing here depends on what the rules say today."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from nemo_resumable.core.analysis import Analysis, ConfigResult
from nemo_resumable.core.findings import Edit, Finding, Fix, FixKind, Location, Related, Severity
from nemo_resumable.core.text import Source, Span
from nemo_resumable.hooks.output.cells import cells
from nemo_resumable.hooks.output.render import Report, render

CWD = Path("/project")
CONFIG = Source.from_text(
    CWD / "conf/salm.yaml",
    "data:\n  train_ds:\n    shard_seed: randomized  # 語\n    input_cfg: blends/train.yaml\n    bins: [1,\n      2]\n",
)
BLEND = Source.from_text(
    CWD / "blends/train.yaml",
    '- type: nemo_tarred\n  note: "日本語" # ключ\n  path: "日本語データ/🎉", extra_fields: [a]\n',
)


def at(source: Source, piece: str) -> Location:
    start = source.text.index(piece)
    return Location(source, Span(start, start + len(piece)))


def finding(
    location: Location,
    *,
    code: str = "NR110",
    name: str = "unfixed-shard-seed",
    severity: Severity = Severity.ERROR,
    message: str = "`shard_seed` is `randomized`: ranks draw different orders",
    rationale: str = "",
    related: tuple[Related, ...] = (),
    fix: Fix | None = None,
    current: object = "randomized",
    recommended: object = 42,
    suppressed: str | None = None,
    config: Path | None = CONFIG.path,
) -> Finding:
    return Finding(
        code,
        name,
        severity,
        message,
        location,
        "data.train_ds.shard_seed",
        current,
        recommended,
        rationale,
        "file",
        config,
        related,
        fix,
        suppressed,
    )


def edit(location: Location) -> tuple[Edit, ...]:
    return (Edit(location.file, location.span, "42"),)


SEED = at(CONFIG, "randomized")
FIELDS = at(BLEND, "extra_fields")
FINDINGS = (
    finding(
        FIELDS,
        code="NR301",
        name="extra-fields",
        severity=Severity.FATAL,
        message="`extra_fields` cannot be indexed: their values are drawn by position",
        fix=Fix("Exclude this source", edit(FIELDS), FixKind.CHOICE),
    ),
    finding(
        SEED,
        rationale="Every rank and every chunk has to draw the same order, which only a fixed integer gives.",
        fix=Fix("Set `shard_seed` to 42", edit(SEED), group="indexed:data.train_ds"),
    ),
    finding(
        at(CONFIG, "train_ds"),
        code="NR106",
        name="mixed-tarred-sources",
        message="tarred and untarred sources are mixed: the dataloader raises a ValueError at start-up",
        related=(Related(at(BLEND, "nemo_tarred"), "this source is tarred"),),
        fix=Fix("Set `force_iterable_dataset` to true", (), withheld="1 source (NR301) would raise once indexed"),
    ),
    finding(at(CONFIG, "[1,\n      2]"), code="NR122", name="bins", severity=Severity.NOTE, message="over two lines"),
    finding(SEED, code="NR109", name="unfixed-seed", severity=Severity.WARNING, suppressed="on purpose"),
)
RESULT = ConfigResult(CONFIG.path, "not-launch-ready", ("the launcher",), (BLEND.path,))
REPORT = Report(Analysis(FINDINGS, (RESULT,), ()), CWD)

FULL = """\
fatal[NR301] extra-fields: `extra_fields` cannot be indexed: their values are
    drawn by position
 --> blends/train.yaml:3:21
  |
3 |   path: "日本語データ/🎉", extra_fields: [a]
  |                            ^^^^^^^^^^^^
  = help: your choice: Exclude this source (--fix --exclude-blocked)

error[NR110] unfixed-shard-seed: `shard_seed` is `randomized`: ranks draw
    different orders
 --> conf/salm.yaml:3:17
  |
3 |     shard_seed: randomized  # 語
  |                 ^^^^^^^^^^
  = help: fix available: Set `shard_seed` to 42
  = note: Every rank and every chunk has to draw the same order, which only a
          fixed integer gives.

error[NR106] mixed-tarred-sources: tarred and untarred sources are mixed: the
    dataloader raises a ValueError at start-up
 --> conf/salm.yaml:2:3
  |
2 |   train_ds:
  |   ^^^^^^^^
 ::: blends/train.yaml:1:9
1 | - type: nemo_tarred
  |         ^^^^^^^^^^^ this source is tarred
  = help: fix withheld: 1 source (NR301) would raise once indexed

note[NR122] bins: over two lines
 --> conf/salm.yaml:5:11
  |
5 |     bins: [1,
  |           ^^^

Found 1 fatal, 2 errors, 1 note in 2 files;
    1 fixable with --fix, 1 more with --exclude-blocked.
1 finding suppressed by comments.
conf/salm.yaml: not-launch-ready
"""

CONCISE = """\
blends/train.yaml:3:21: fatal[NR301] `extra_fields` cannot be indexed: their values are drawn by position
conf/salm.yaml:3:17: error[NR110] `shard_seed` is `randomized`: ranks draw different orders [*]
conf/salm.yaml:2:3: error[NR106] tarred and untarred sources are mixed: the dataloader raises a ValueError at start-up
conf/salm.yaml:5:11: note[NR122] over two lines
"""


@pytest.fixture(autouse=True)
def eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def one(found: Finding) -> str:
    return render(Report(Analysis((found,), (), ()), CWD), "full", color=False)


def test_full() -> None:
    assert render(REPORT, "full", color=False) == FULL
    assert max(map(len, FULL.splitlines())) <= 80


def test_concise() -> None:
    assert render(REPORT, "concise", color=False) == CONCISE


def test_colours_add_nothing_but_colours() -> None:
    for form, plain in (("full", FULL), ("concise", CONCISE)):
        colored = render(REPORT, form, color=True)
        assert re.sub(r"\x1b\[[\d;]*m", "", colored) == plain
        assert colored.count("\x1b[0m") == len(re.findall(r"\x1b\[[\d;]+m", colored.replace("\x1b[0m", "")))
    assert "\x1b[1;31merror[NR110]\x1b[0m unfixed-shard-seed:" in render(REPORT, "full", color=True)


def test_json_is_schema_1() -> None:
    document = json.loads(render(REPORT, "json", color=True))
    assert list(document) == ["schema", "tool", "version", "configs", "findings", "summary"]
    assert (document["schema"], document["tool"]) == (1, "nemo-resumable")
    assert document["configs"] == [
        {
            "file": "conf/salm.yaml",
            "readiness": "not-launch-ready",
            "unverified": ["the launcher"],
            "blends": ["blends/train.yaml"],
            "launchers": [],
            "exceptions": [],
            "left_out": [],
        }
    ]
    numbers = {
        "fatal": 1,
        "error": 2,
        "warning": 0,
        "note": 1,
        "fixable": 1,
        "files": 2,
        "suppressed": 1,
        "baselined": 0,
    }
    assert document["summary"] == numbers
    assert document["findings"][4]["suppression"] == {"by": "comment", "reason": "on purpose"}
    mark = document["findings"][1].pop("fingerprint")
    assert re.fullmatch("[0-9a-f]{16}", mark)
    assert [found["suppressed"] for found in document["findings"]] == [False] * 4 + [True]
    assert document["findings"][1] == {
        "code": "NR110",
        "name": "unfixed-shard-seed",
        "severity": "error",
        "message": "`shard_seed` is `randomized`: ranks draw different orders",
        "file": "conf/salm.yaml",
        "start": {"line": 3, "column": 17},
        "end": {"line": 3, "column": 27},
        "subject": "data.train_ds.shard_seed",
        "current": "randomized",
        "recommended": 42,
        "rationale": "Every rank and every chunk has to draw the same order, which only a fixed integer gives.",
        "origin": "file",
        "config": "conf/salm.yaml",
        "related": [],
        "fix": {"safety": "safe", "group": "indexed:data.train_ds", "title": "Set `shard_seed` to 42"},
        "suppressed": False,
        "suppression": None,
        "baselined": False,
        "url": "core/rules/pages/NR110-unfixed-shard-seed.md",
    }


def test_json_of_related_places_and_withheld_fixes() -> None:
    found = json.loads(render(REPORT, "json", color=False))["findings"][2]
    assert found["related"] == [
        {
            "file": "blends/train.yaml",
            "start": {"line": 1, "column": 9},
            "end": {"line": 1, "column": 20},
            "message": "this source is tarred",
        }
    ]
    assert found["fix"]["withheld"] == "1 source (NR301) would raise once indexed"


def test_json_of_a_span_over_lines_and_after_wide_characters() -> None:
    fields, *_, bins, _ = json.loads(render(REPORT, "json", color=False))["findings"]
    assert (fields["start"], fields["end"]) == ({"line": 3, "column": 21}, {"line": 3, "column": 33})
    assert (bins["start"], bins["end"]) == ({"line": 5, "column": 11}, {"line": 6, "column": 9})


def test_jsonl_is_the_findings_of_json() -> None:
    lines = render(REPORT, "jsonl", color=False).splitlines()
    assert [json.loads(line) for line in lines] == json.loads(render(REPORT, "json", color=False))["findings"]


def test_json_of_nothing() -> None:
    empty = Report(Analysis((), (), ()), CWD)
    document = json.loads(render(empty, "json", color=False))
    assert (document["configs"], document["findings"]) == ([], [])
    assert render(empty, "jsonl", color=False) == render(empty, "concise", color=False) == ""


def test_json_of_values_that_json_does_not_have() -> None:
    odd = finding(SEED, current=float("inf"), recommended=(float("nan"), {1: Path("a")}))
    document = json.loads(
        render(Report(Analysis((odd,), (), ()), CWD), "json", color=False), parse_constant=pytest.fail
    )
    assert document["findings"][0]["current"] == "inf"
    assert document["findings"][0]["recommended"] == ["nan", {"1": "a"}]


def test_config_that_is_nobodys_file_is_not_named_in_json() -> None:
    found = json.loads(render(Report(Analysis((finding(SEED),), (), ()), CWD), "json", color=False))["findings"][0]
    assert found["config"] is None


def test_json_of_a_path_that_is_no_text() -> None:
    source = Source.from_text(CWD / "caf\udce9.yaml", "seed: x\n")
    text = render(Report(Analysis((finding(at(source, "x")),), (), ()), CWD), "json", color=False)
    written = text.encode("utf-8", "backslashreplace").decode("utf-8")
    assert json.loads(written)["findings"][0]["file"] == "caf\udce9.yaml"


def test_paths_outside_the_current_folder_stay_whole() -> None:
    source = Source.from_text(Path("/elsewhere/a.yaml"), "seed: x\n")
    assert one(finding(at(source, "x"))).splitlines()[2] == " --> /elsewhere/a.yaml:1:7"


def test_what_stands_in_a_file_does_not_steer_the_terminal() -> None:
    source = Source.from_text(CWD / "a\x1b[2J.yaml", "seed: \x1b[31mred\u202e # x\n")
    text = one(finding(at(source, "red"), message="`seed` is `\x1b[31mred`"))
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "1 | seed: \\x1b[31mred\\u202e # x\n  |               ^^^\n" in text


def test_label_that_does_not_fit_beside_the_mark() -> None:
    source = Source.from_text(CWD / "a.yaml", "paths: " + "x" * 66 + "\n")
    label = "this is the first source that lies on remote storage"
    text = one(finding(SEED, related=(Related(at(source, "x" * 66), label),)))
    assert f"  |        {'^' * 66}\n  |        {label}\n" in text


def test_line_numbers_of_different_width_share_a_gutter() -> None:
    long = Source.from_text(CWD / "b.yaml", "# …\n" * 11 + "seed: x\n")
    text = one(finding(SEED, related=(Related(at(long, "x"), "here"),)))
    assert "  --> conf/salm.yaml:3:17\n   |\n 3 |     shard_seed" in text
    assert "  ::: b.yaml:12:7\n12 | seed: x\n   |       ^ here\n" in text


def test_a_span_at_the_end_of_the_text() -> None:
    source = Source.from_text(CWD / "a.yaml", "data:")
    text = one(finding(Location(source, Span(5, 5))))
    assert "1 | data:\n  |      ^\n" in text


def test_narrow_and_wide_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    source = Source.from_text(CWD / "a.yaml", "# " + "語" * 90 + "\nseed: x  # " + "y" * 300 + "\n")
    places = (finding(at(source, "x")), finding(at(source, "語語")))
    for columns in (40, 80, 200):
        monkeypatch.setenv("COLUMNS", str(columns))
        text = render(Report(Analysis(places, (), ()), CWD), "full", color=False)
        assert max(map(cells, text.splitlines())) <= columns


def test_configs_are_counted_where_there_are_many() -> None:
    results = tuple(ConfigResult(CWD / f"{number}.yaml", "unverified", ("a", "b"), ()) for number in range(11))
    report = Report(Analysis((), results, ()), CWD)
    assert render(report, "full", color=False) == "No findings.\n11 configs: 11 unverified\n"
    verbose = render(Report(Analysis((), results, ()), CWD, verbose=True), "full", color=False)
    assert "10.yaml: unverified\n    not inspected: a; b\n" in verbose


def test_nothing_of_ours() -> None:
    text = render(Report(Analysis((), (), ()), CWD), "full", color=False)
    assert text == "No training config with Lhotse datasets was found; nothing to report.\n"


def test_statistics() -> None:
    table = "    1  NR106  mixed-tarred-sources\n    1  NR110  unfixed-shard-seed\n"
    report = Report(Analysis(FINDINGS[1:3], (), ()), CWD, statistics=True)
    assert f"\n\n{table}\nFound 2 errors" in render(report, "full", color=False)
    assert render(report, "concise", color=False).endswith(table)
