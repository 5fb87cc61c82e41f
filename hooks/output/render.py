"""A report in the format that was asked for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from nemo_resumable.core.analysis import Analysis
from nemo_resumable.core.findings import Finding, FixKind


@dataclass(frozen=True, slots=True)
class Report:
    """An analysis and how it is to be shown. Paths below `cwd` are shown relative to it."""

    analysis: Analysis
    cwd: Path
    verbose: bool = False
    statistics: bool = False

    def name(self, path: Path) -> str:
        """A path as it is shown."""
        return path.relative_to(self.cwd).as_posix() if path.is_relative_to(self.cwd) else str(path)

    @property
    def open(self) -> list[Finding]:
        """The findings that are not suppressed."""
        return [finding for finding in self.analysis.findings if finding.suppressed is None]


def fixable(finding: Finding) -> bool:
    """Whether --fix would apply the finding's fix."""
    fix = finding.fix
    return fix is not None and bool(fix.edits) and not fix.withheld and fix.kind is FixKind.SAFE


def render(report: Report, format: str, *, color: bool) -> str:
    """The text of a report."""
    if format in ("json", "jsonl"):
        from .json_format import as_json, as_jsonl

        return as_json(report) if format == "json" else as_jsonl(report)
    from .text_format import concise, full

    return full(report, color) if format == "full" else concise(report, color)
