"""GitLab's code quality report: a JSON array of what its merge requests show."""

from __future__ import annotations

import json

from nemo_resumable.core.fingerprints import identified

from .levels import LEVELS
from .render import Report


def gitlab(report: Report) -> str:
    """The open findings, one line each. GitLab compares fingerprints, and tells those that are new from known ones."""
    rows = []
    for finding, mark, number in identified(report.told, report.in_repository):
        start, end = finding.location.positions
        row = {
            "check_name": finding.code,
            "description": f"{finding.code} {finding.name}: {finding.message}",
            "fingerprint": mark if number == 1 else f"{mark}-{number}",
            "severity": LEVELS[finding.severity].gitlab,
            "location": {
                "path": report.in_repository(finding.location.file),
                "lines": {"begin": start.line, "end": end.line},
            },
        }
        rows.append(json.dumps(row, ensure_ascii=False))
    return "[\n  " + ",\n  ".join(rows) + "\n]\n" if rows else "[]\n"
