"""Findings for machines: JSON schema 1, and JSON lines. Lines and columns count from 1, in code points, ends exclusive."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable
from typing import Any

from nemo_resumable.core.findings import Location, Severity
from nemo_resumable.core.fingerprints import identified

from ..version import version
from .render import Report, fixable

SCHEMA = 1


def as_json(report: Report) -> str:
    """The whole report as one document, a finding a line: ten thousand of them are still read, compared and diffed."""
    counts = Counter(finding.severity for finding in report.open)
    configs = (
        {
            "file": report.name(config.file),
            "readiness": config.readiness,
            "unverified": list(config.unverified),
            "blends": [report.name(path) for path in config.blends],
            "launchers": [report.name(path) for path in config.launchers],
            "exceptions": [
                {
                    "code": finding.code,
                    "name": finding.name,
                    **_place(finding.location, report),
                    "subject": finding.subject,
                    "reason": finding.suppressed,
                }
                for finding in config.exceptions
            ],
            "left_out": list(config.left_out),
        }
        for config in report.analysis.configs
    )
    summary = {
        **{level.value: counts[level] for level in Severity},
        "fixable": sum(map(fixable, report.open)),
        "files": len({finding.location.file for finding in report.open}),
        "suppressed": sum(finding.suppressed is not None for finding in report.silenced),
        "baselined": sum(finding.baselined for finding in report.silenced),
    }
    return (
        f'{{"schema": {SCHEMA}, "tool": "nemo-resumable", "version": {_dump(version())},\n'
        f' "configs": {_rows(configs)},\n'
        f' "findings": {_rows(_findings(report))},\n'
        f' "summary": {_dump(summary)}}}\n'
    )


def as_jsonl(report: Report) -> str:
    """One finding a line."""
    return "".join(f"{_dump(finding)}\n" for finding in _findings(report))


def rows(report: Report) -> list[dict[str, Any]]:
    """The findings as the objects of schema 1."""
    return list(_findings(report))


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _rows(values: Iterable[object]) -> str:
    rows = ",\n  ".join(map(_dump, values))
    return f"[\n  {rows}]" if rows else "[]"


def _findings(report: Report) -> Iterable[dict[str, Any]]:
    configs = {config.file for config in report.analysis.configs}
    for finding, mark, number in identified(report.analysis.findings, report.in_repository):
        fix = finding.fix
        yield {
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
            # A blend that no config reaches is judged as part of an assumed one, which is nobody's file.
            "config": report.name(finding.config) if finding.config in configs and finding.config else None,
            "related": [{**_place(r.location, report), "message": r.message} for r in finding.related],
            "fix": {
                "safety": fix.kind.value,
                "group": fix.group,
                "title": fix.title,
                # Only where it cannot be applied: without the reason the fix would read as one that can.
                **({"withheld": fix.withheld} if fix.withheld else {}),
            }
            if fix
            else None,
            "suppressed": finding.suppressed is not None,
            "suppression": None
            if finding.suppressed is None
            else {"by": finding.suppressed_by, "reason": finding.suppressed},
            "baselined": finding.baselined,
            "fingerprint": mark if number == 1 else f"{mark}-{number}",
            "url": finding.url,
        }


def _plain(value: object) -> object:
    """A value as JSON has it: infinities and nan as text."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    return value


def _place(location: Location, report: Report) -> dict[str, Any]:
    lines = location.source.lines
    start, end = lines.position(location.span.start), lines.position(location.span.end)
    return {
        "file": report.name(location.file),
        "start": {"line": start.line, "column": start.column},
        "end": {"line": end.line, "column": end.column},
    }
