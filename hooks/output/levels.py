"""What other formats call our severities: the one table of them."""

from __future__ import annotations

from nemo_resumable.core.findings import Severity
from nemo_resumable.core.records import dataclass


@dataclass(frozen=True, slots=True)
class Level:
    """A severity in the words of each format."""

    sarif: str  #: `level` of a SARIF result: error · warning · note
    github: str  #: command of a workflow: error · warning · notice
    gitlab: str  #: severity of GitLab's code quality report: blocker · critical · major · minor · info
    problem: str  #: `problem.severity` of a rule in GitHub's code scanning: error · warning · recommendation


LEVELS = {
    Severity.FATAL: Level("error", "error", "blocker", "error"),
    Severity.ERROR: Level("error", "error", "critical", "error"),
    Severity.WARNING: Level("warning", "warning", "minor", "warning"),
    Severity.NOTE: Level("note", "notice", "info", "recommendation"),
}
