"""JUnit XML: a suite for each file that was judged, a test case for each finding."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from html import escape
from pathlib import Path

from nemo_resumable.core.findings import Finding

from .cells import visible
from .render import Report


def junit(report: Report) -> str:
    """What blocks is a failure, what is suppressed or in the baseline is skipped, all else passes with its text.

    So failures agree with the exit code. A file without findings is one case that passes.
    """
    by_file: dict[Path, list[Finding]] = {config.file: [] for config in report.analysis.configs}
    for finding in (*report.told, *report.silenced):
        by_file.setdefault(finding.location.file, []).append(finding)
    suites = [_suite(file, found, report) for file, found in sorted(by_file.items())]
    tests, failures, skipped = (
        (sum(numbers) for numbers in zip(*(counts for counts, _ in suites))) if suites else (0, 0, 0)
    )
    head = f'<testsuites name="nemo-resumable" {_numbers(tests, failures, skipped)}>'
    return "\n".join(['<?xml version="1.0" encoding="utf-8"?>', head, *(text for _, text in suites), "</testsuites>\n"])


def _suite(file: Path, found: list[Finding], report: Report) -> tuple[tuple[int, int, int], str]:
    """The numbers of cases, failures and skipped ones, and the element."""
    name = report.name(file)
    met: Counter[str] = Counter()
    cases = [line for finding in found for line in _case(finding, name, met, report)]
    failures = sum(map(report.blocks, found))
    skipped = sum(map(report.is_silenced, found))
    if not found:
        cases = [f"    <testcase classname={_quoted(name)} name={_quoted('nemo-resumable check')}/>"]
    numbers = (max(1, len(found)), failures, skipped)
    return numbers, "\n".join([f"  <testsuite name={_quoted(name)} {_numbers(*numbers)}>", *cases, "  </testsuite>"])


def _case(finding: Finding, file: str, met: Counter[str], report: Report) -> Iterator[str]:
    """A case is named by rule and subject, so that it has a history although lines move."""
    name = f"{finding.code} {finding.name}" + (f" {finding.subject}" if finding.subject else "")
    met[name] += 1
    if met[name] > 1:
        name += f" ({met[name]})"
    start, _ = finding.location.positions
    kind = f"{finding.severity.value}[{finding.code}]"
    text = f"{file}:{start.line}:{start.column}: {kind} {finding.message}"
    if finding.rationale:
        text += f"\n{finding.rationale}"
    yield f"    <testcase classname={_quoted(file)} name={_quoted(name)}>"
    if report.is_silenced(finding):
        reason = finding.suppressed or ("suppressed" if finding.suppressed is not None else "in the baseline")
        yield f"      <skipped message={_quoted(reason)}/>"
    elif report.blocks(finding):
        yield f"      <failure type={_quoted(kind)} message={_quoted(finding.message)}>{_text(text)}</failure>"
    else:
        yield f"      <system-out>{_text(text)}</system-out>"
    yield "    </testcase>"


def _numbers(tests: int, failures: int, skipped: int) -> str:
    return f'tests="{tests}" failures="{failures}" errors="0" skipped="{skipped}"'


def _quoted(text: str) -> str:
    return f'"{escape(visible(text))}"'


def _text(text: str) -> str:
    """Characters that XML 1.0 cannot hold, such as most control characters, are shown as escapes."""
    return "\n".join(escape(visible(line), quote=False) for line in text.split("\n"))
