"""Findings for machines: JSON schema 1, and JSON lines. Lines and columns count from 1, in code points, ends exclusive."""

from __future__ import annotations

import json
import math
from collections import Counter
from typing import Any

from nemo_resumable.core.findings import Finding, Location, Severity

from .render import Report, fixable

SCHEMA = 1


def as_json(report: Report) -> str:
    """The whole report as one document."""
    from importlib.metadata import version

    found = report.analysis.findings
    counts = Counter(finding.severity for finding in report.open)
    document = {
        "schema": SCHEMA,
        "tool": "nemo-resumable",
        "version": version("nemo-resumable"),
        "configs": [
            {
                "file": report.name(config.file),
                "readiness": config.readiness,
                "unverified": list(config.unverified),
                "blends": [report.name(path) for path in config.blends],
                "launchers": [report.name(path) for path in config.launchers],
            }
            for config in report.analysis.configs
        ],
        "findings": [_finding(finding, report) for finding in found],
        "summary": {
            **{level.value: counts[level] for level in Severity},
            "fixable": sum(map(fixable, report.open)),
            "files": len({finding.location.file for finding in report.open}),
        },
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def as_jsonl(report: Report) -> str:
    """One finding a line."""
    return "".join(json.dumps(_finding(f, report), ensure_ascii=False) + "\n" for f in report.analysis.findings)


def _finding(finding: Finding, report: Report) -> dict[str, Any]:
    fix = finding.fix
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity.value,
        "message": finding.message,
        **_place(finding.location, report),
        "subject": finding.subject,
        "current": _plain(finding.current),
        "recommended": _plain(finding.recommended),
        "rationale": finding.rationale,
        "origin": finding.origin,
        "config": report.name(finding.config) if finding.config else None,
        "related": [{**_place(r.location, report), "message": r.message} for r in finding.related],
        "fix": {"safety": fix.kind.value, "group": fix.group, "title": fix.title, "withheld": fix.withheld or None}
        if fix
        else None,
        "suppressed": finding.suppressed is not None,
        "url": finding.url,
    }


def _plain(value: object) -> object:
    """A value as JSON has it: infinities and nan as text."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value


def _place(location: Location, report: Report) -> dict[str, Any]:
    lines = location.source.lines
    start, end = lines.position(location.span.start), lines.position(location.span.end)
    return {
        "file": report.name(location.file),
        "start": {"line": start.line, "column": start.column},
        "end": {"line": end.line, "column": end.column},
    }
