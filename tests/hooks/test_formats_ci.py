"""What CI services read: GitHub's annotations, GitLab's code quality report and JUnit XML, within their limits and escaped."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import junitparser
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nemo_resumable.core.analysis import Analysis, ConfigResult
from nemo_resumable.core.findings import Finding, Location, Severity
from nemo_resumable.core.text import Source, Span
from nemo_resumable.hooks.output.levels import LEVELS
from nemo_resumable.hooks.output.render import Report, render

Run = Callable[..., Any]
CWD = Path("/project")
HOSTILE = '100% a,b:c\r\n::error::x\x1b[31m\x00\ufffe]]> <&" \u202e語'


def found(
    message: str = "`a` is wrong",
    *,
    severity: Severity = Severity.ERROR,
    code: str = "NR110",
    file: str = "conf/a.yaml",
    text: str = "data:\n  a: b\n",
    span: tuple[int, int] = (8, 9),
    suppressed: str | None = None,
    baselined: bool = False,
    subject: str = "data.a",
) -> Finding:
    source = Source.from_text(CWD / file, text)
    return Finding(
        code,
        "some-rule",
        severity,
        message,
        Location(source, Span(*span)),
        subject,
        config=source.path,
        suppressed=suppressed,
        baselined=baselined,
    )


def report(*findings: Finding, **given: Any) -> Report:
    configs = tuple(
        ConfigResult(file, "not-launch-ready", (), ())
        for file in dict.fromkeys(each.location.file for each in findings)
    )
    return Report(Analysis(findings, configs, ()), CWD, **given)


COMMAND = re.compile(r"::(?P<kind>error|warning|notice) (?P<properties>[^:]*)::(?P<message>.*)")


def annotations(text: str) -> list[dict[str, str]]:
    """The annotations as the runner of GitHub Actions reads them off a log."""
    read = []
    for line in text.split("\n"):
        if match := COMMAND.fullmatch(line):
            pairs = [pair.split("=", 1) for pair in match["properties"].split(",")]
            row = dict(pairs) | {"kind": match["kind"], "message": match["message"]}
            for old, new in (("%2C", ","), ("%3A", ":"), ("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
                row = {key: value.replace(old, new) for key, value in row.items()}
            read.append(row)
    return read


def test_an_annotation() -> None:
    text = render(report(found()), "github", color=True)
    assert text == (
        "::error file=conf/a.yaml,line=2,col=3,endColumn=4,title=NR110 some-rule::`a` is wrong\n"
        "conf/a.yaml: not-launch-ready\n"
    )


def test_whatever_stands_in_a_message_or_name_is_escaped() -> None:
    text = render(report(found(HOSTILE, file=HOSTILE.replace("/", ""))), "github", color=False)
    (read,) = annotations(text)
    assert read["kind"] == "error"
    assert read["message"].startswith("100% a,b:c\\x0d\n::error::x\\x1b[31m\\x00\\ufffe]]>")
    assert read["file"].startswith("100% a,b:c\\x0d\\x0a::error")
    assert len([line for line in text.split("\n") if line.lstrip().startswith("::")]) == 1


def test_no_line_of_the_log_is_a_command_by_accident() -> None:
    """A file may be called so that a plain line would be read as a command."""
    many = [found(f"`{number}` is wrong", file="::add-mask::x.yaml") for number in range(12)]
    lines = render(report(*many), "github", color=False).splitlines()
    commands = [line for line in lines if line.lstrip().startswith("::") and not COMMAND.fullmatch(line)]
    assert commands == [
        "::group::2 errors more: GitHub shows 10 annotations of a kind for a step",
        "::endgroup::",
    ]
    assert "- ::add-mask::x.yaml:2:3: error[NR110] `11` is wrong" in lines


def test_the_worst_are_shown_and_none_is_lost() -> None:
    notes = [found(f"note {number}", severity=Severity.NOTE) for number in range(11)]
    errors = [found(f"error {number}") for number in range(9)]
    fatal = [found(f"fatal {number}", severity=Severity.FATAL) for number in range(3)]
    text = render(report(*notes, *errors, *fatal), "github", color=False)
    read = annotations(text)
    assert [each["message"] for each in read if each["kind"] == "error"] == [
        *(f"fatal {number}" for number in range(3)),
        *(f"error {number}" for number in range(7)),
    ]
    assert len(read) == 20
    group = text[text.index("::group::") : text.index("::endgroup::")].splitlines()
    assert group[0].startswith("::group::2 errors, 1 notice more")
    assert [line.rpartition("] ")[2] for line in group[1:]] == ["error 7", "error 8", "note 10"]


def test_an_annotation_over_lines_has_no_columns() -> None:
    (read,) = annotations(render(report(found(text="data:\n  a: [b,\n   c]\n", span=(11, 19))), "github", color=False))
    assert (read["line"], read["endLine"]) == ("2", "3")
    assert "col" not in read


def test_every_severity_has_a_word_in_every_format() -> None:
    assert set(LEVELS) == set(Severity)
    assert {level.sarif for level in LEVELS.values()} == {"error", "warning", "note"}
    assert [LEVELS[severity].gitlab for severity in Severity] == ["blocker", "critical", "minor", "info"]
    assert [LEVELS[severity].github for severity in Severity] == ["error", "error", "warning", "notice"]


def test_code_quality() -> None:
    findings = (
        found(),
        found(),
        found(severity=Severity.NOTE, code="NR120"),
        found(suppressed=""),
        found(baselined=True),
    )
    rows = json.loads(render(report(*findings), "gitlab", color=True))
    assert rows[0] == {
        "check_name": "NR110",
        "description": "NR110 some-rule: `a` is wrong",
        "fingerprint": rows[0]["fingerprint"],
        "severity": "critical",
        "location": {"path": "conf/a.yaml", "lines": {"begin": 2, "end": 2}},
    }
    assert [row["severity"] for row in rows] == ["critical", "critical", "info"], "what is silenced is not there"
    assert len({row["fingerprint"] for row in rows}) == 3
    assert render(report(), "gitlab", color=False) == "[]\n"


def test_paths_begin_at_the_repository(
    run: Run, config: Path, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Services know no folder in which the command was run."""
    (repository / "conf").mkdir()
    config.rename(repository / "conf" / "a.yaml")
    monkeypatch.chdir(repository / "conf")
    assert {row["location"]["path"] for row in json.loads(run("check", "--format", "gitlab").out)} == {"conf/a.yaml"}
    assert {row["file"] for row in annotations(run("check", "--format", "github").out)} == {"conf/a.yaml"}


def test_junit_as_another_tool_reads_it(tmp_path: Path) -> None:
    findings = (
        found(HOSTILE),
        found(severity=Severity.WARNING, code="NR120", subject=HOSTILE),
        found(severity=Severity.WARNING, code="NR120", subject=HOSTILE),
        found(suppressed="as it was", code="NR103"),
        found(baselined=True, code="NR104"),
        found(file="conf/b.yaml"),
    )
    text = render(report(*findings), "junit", color=True)
    (tmp_path / "out.xml").write_text(text, encoding="utf-8")
    read = junitparser.JUnitXml.fromfile(str(tmp_path / "out.xml"))
    assert (read.tests, read.failures, read.errors, read.skipped) == (6, 2, 0, 2)
    first, second = list(read)
    assert (first.name, first.tests, first.failures, first.skipped) == ("conf/a.yaml", 5, 1, 2)
    assert (second.name, second.tests, second.failures) == ("conf/b.yaml", 1, 1)
    cases = list(first)
    assert len({case.name for case in cases}) == 5, "a case is told by its name"
    assert {case.classname for case in cases} == {"conf/a.yaml"}
    (failure,) = next(case for case in cases if case.name.startswith("NR110")).result
    assert failure.type == "error[NR110]"
    assert failure.text.startswith(
        'conf/a.yaml:2:3: error[NR110] 100% a,b:c\\x0d\n::error::x\\x1b[31m\\x00\\ufffe]]> <&"'
    )
    reasons = [case.result[0].message for case in cases if case.result and case.is_skipped]
    assert sorted(reasons) == ["as it was", "in the baseline"]


@pytest.mark.parametrize(("level", "failures"), [("fatal", 0), ("error", 1), ("warning", 2), ("note", 3)])
def test_failures_in_junit_are_what_the_exit_code_says(level: str, failures: int) -> None:
    findings = (found(), found(severity=Severity.WARNING), found(severity=Severity.NOTE))
    root = ElementTree.fromstring(render(report(*findings, fail_on=Severity(level)), "junit", color=False))
    assert int(root.attrib["failures"]) == len(root.findall(".//failure")) == failures


def test_a_config_without_findings_passes_in_junit() -> None:
    clean = Report(Analysis((), (ConfigResult(CWD / "a.yaml", "launch-ready", (), ()),), ()), CWD)
    root = ElementTree.fromstring(render(clean, "junit", color=False))
    (suite,) = root
    (case,) = suite
    assert (suite.attrib["name"], suite.attrib["tests"], list(case)) == ("a.yaml", "1", [])
    nothing = ElementTree.fromstring(render(Report(Analysis((), (), ()), CWD), "junit", color=False))
    assert (nothing.attrib["tests"], len(nothing)) == ("0", 0)


@pytest.mark.parametrize("form", ["json", "jsonl", "sarif", "github", "gitlab", "junit"])
def test_machines_get_no_colours_and_files_the_same_bytes(
    run: Run, config: Path, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = run("check", "--format", form).out
    monkeypatch.setenv("FORCE_COLOR", "1")
    forced = run("check", "--format", form, "--color", "always", "--statistics")
    assert "\x1b" not in forced.out
    assert forced.out == plain or form == "github", "what counts rules does not disturb the format"
    assert run("check", "--format", form, "--output", "out.txt").out == ""
    assert Path("out.txt").read_text(encoding="utf-8") == plain


def test_the_same_input_gives_the_same_bytes(run: Run, config: Path) -> None:
    for form in ("json", "sarif", "github", "gitlab", "junit"):
        assert run("check", "--format", form).out == run("check", "--format", form).out


#: With lone surrogates, which stand for bytes of file names that are no UTF-8.
ANYTHING = st.text(st.characters(exclude_categories=()), max_size=40)
NAMES = st.text(st.characters(exclude_categories=(), exclude_characters="/\0"), min_size=1, max_size=20)


@settings(derandomize=True, deadline=None, max_examples=150)
@given(ANYTHING, NAMES)
def test_any_text_is_carried(message: str, name: str) -> None:
    """Whatever stands in a file or is a file's name: no format breaks, no command of GitHub's comes into being."""
    one = report(found(message, subject=message, file=f"a{name}"))
    for form in ("github", "gitlab", "junit", "sarif", "json"):
        data = render(one, form, color=False).encode("utf-8", "backslashreplace").decode("utf-8")
        if form == "github":
            (read,) = annotations(data)
            assert len([line for line in data.split("\n") if line.lstrip().startswith("::")]) == 1
            assert read["message"].count("\n") == message.count("\n")
        elif form == "junit":
            assert ElementTree.fromstring(data).attrib["failures"] == "1"
        else:
            json.loads(data)
