"""A report in the format that was asked for."""

from __future__ import annotations

import re
from collections import Counter
from functools import cached_property
from importlib import import_module
from pathlib import Path

from nemo_resumable.core.analysis import Analysis
from nemo_resumable.core.findings import Finding, FixKind, Severity
from nemo_resumable.core.records import dataclass
from nemo_resumable.core.settings import repository_root

#: no-launcher, runtime-not-inspected: they hold for every config until the user names one.
_IN_VERDICT = frozenset({"NR510", "NR706"})


#: Formats that a program reads: always UTF-8, and nothing else between.
OF_MACHINES = ("json", "jsonl", "sarif", "gitlab", "junit")


@dataclass(frozen=True)
class Report:
    """An analysis and how it is to be shown. Paths below `cwd` are shown relative to it."""

    analysis: Analysis
    cwd: Path
    verbose: bool = False
    statistics: bool = False
    fail_on: Severity = Severity.ERROR  #: the least severe that blocks
    failed: bool = False  #: whether something could not be judged
    baseline: bool = False  #: whether findings were compared with a baseline

    def name(self, path: Path) -> str:
        """A path as it is shown."""
        return shown(path, self.cwd)

    @cached_property
    def root(self) -> Path:
        """The top of the repository in which the command was run; else the current folder."""
        return repository_root(self.cwd)

    def in_repository(self, path: Path) -> str:
        """A path as services know it, which have a copy of the repository: from its top on, with `/`."""
        return path.relative_to(self.root).as_posix() if path.is_relative_to(self.root) else path.as_posix()

    @cached_property
    def open(self) -> list[Finding]:
        """The findings that are neither suppressed nor in the baseline."""
        return [finding for finding in self.analysis.findings if not self.is_silenced(finding)]

    @cached_property
    def silenced(self) -> list[Finding]:
        """The findings that are suppressed or in the baseline."""
        return [finding for finding in self.analysis.findings if self.is_silenced(finding)]

    def is_silenced(self, finding: Finding) -> bool:
        """Whether a finding is suppressed or in the baseline."""
        return finding.suppressed is not None or finding.baselined

    def blocks(self, finding: Finding) -> bool:
        """Whether a finding makes the command exit with 1."""
        return not self.is_silenced(finding) and not in_verdict(finding) and finding.severity.rank <= self.fail_on.rank

    @cached_property
    def told(self) -> list[Finding]:
        """The open findings that people are shown: without -v, not what the verdict of every config says as well."""
        return self.open if self.verbose else [finding for finding in self.open if not in_verdict(finding)]


def in_verdict(finding: Finding) -> bool:
    """Whether it is a note that something was not looked at, which the line of the verdict names."""
    return finding.code in _IN_VERDICT and finding.severity is Severity.NOTE


def shown(path: Path, cwd: Path) -> str:
    """A path relative to a folder where it lies below it, else as it is."""
    return path.relative_to(cwd).as_posix() if path.is_relative_to(cwd) else str(path)


def fixable(finding: Finding) -> bool:
    """Whether --fix would apply the finding's fix."""
    fix = finding.fix
    return fix is not None and bool(fix.edits) and not fix.withheld and fix.kind is FixKind.SAFE


def excludable(finding: Finding) -> bool:
    """Whether --fix would apply the finding's fix together with --exclude-blocked."""
    fix = finding.fix
    offered = fix is not None and bool(fix.edits) and not fix.withheld and fix.kind is FixKind.CHOICE
    return offered and finding.code.startswith("NR3")


def plural(number: int, noun: str) -> str:
    """`1 error`, `2 errors`, `2 fatal`."""
    return f"{number} {noun}" if number == 1 or noun == "fatal" else f"{number} {noun}s"


def statistics(found: list[Finding]) -> str:
    """How often each rule was found, the most frequent first."""
    counts = Counter((finding.code, finding.name) for finding in found)
    rows = sorted(counts.items(), key=lambda row: (-row[1], row[0]))
    return "".join(f"{number:5}  {code}  {name}\n" for (code, name), number in rows)


#: Where each format beside the two for people is made: imported only where it is asked for.
_WRITERS = {
    "json": ("json_format", "as_json"),
    "jsonl": ("json_format", "as_jsonl"),
    "sarif": ("sarif", "sarif"),
    "github": ("github", "github"),
    "gitlab": ("gitlab", "gitlab"),
    "junit": ("junit", "junit"),
}


_IN_JSON = frozenset({"json_format", "sarif", "gitlab"})
_STEERING = re.compile("[\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def render(report: Report, form: str, *, color: bool) -> str:
    """The text of a report."""
    if form in _WRITERS:
        module, name = _WRITERS[form]
        text = str(getattr(import_module(f".{module}", __package__), name)(report))
        # In JSON, whose own characters stay as they are: what a terminal would take for a command, or turn around.
        return _STEERING.sub(lambda found: f"\\u{ord(found[0]):04x}", text) if module in _IN_JSON else text
    if form == "concise":
        from .concise import concise

        return concise(report, color)
    from .full import full

    return full(report, color)
