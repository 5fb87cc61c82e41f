"""A diagnosis for programs: JSON schema 1, described in diagnose.schema.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from nemo_resumable.core.analysis import Analysis
from nemo_resumable.core.failures import Diagnosis
from nemo_resumable.core.failures.diagnosis import Recognised
from nemo_resumable.core.failures.lines import written
from nemo_resumable.core.failures.page import find_page, rules_of
from nemo_resumable.core.failures.records import Place, Raised

from ..version import version
from .json_format import rows
from .render import Report

SCHEMA = 1


def as_json(found: Diagnosis, cwd: Path) -> str:
    """The whole diagnosis as one document."""
    document = {
        "schema": SCHEMA,
        "tool": "nemo-resumable",
        "version": version(),
        "cause": _recognised(found.cause, found),
        "first": _recognised(found.first, found),
        "others": [_recognised(each, found) for each in found.others],
        "restored": _place(found.restored, found) if found.restored else None,
        "ordered": found.ordered,
        "logs": [
            {
                "file": scan.log.name,
                "lines": scan.lines,
                "ranks": sorted(scan.ranks, key=int),
                "problem": scan.problem or None,
                "left_out": scan.left_out,
            }
            for scan in found.scans
        ],
        "config": _config(found, cwd),
    }
    return json.dumps(document, ensure_ascii=False, indent=1, default=str) + "\n"


def _recognised(each: Recognised | None, found: Diagnosis) -> dict[str, Any] | None:
    if each is None:
        return None
    mode, incident = each.mode, each.incident
    page = find_page(mode.slug) if mode else None
    return {
        "mode": mode.slug if mode else None,
        "kind": mode.kind.value if mode else None,
        "summary": page.summary if page else None,
        "trigger": page.sections["Trigger"] if page else None,
        "fix": page.sections["Fix"] if page else None,
        "rules": [{"code": code, "name": name} for code, name in rules_of(mode)] if mode else [],
        "url": f"core/failures/pages/{mode.slug}.md" if mode else None,
        **_place(incident.place, found),
        "survived": each.survived,
        "repeated": incident.repeated,
        "text": incident.text or None,
        "exceptions": [_raised(link) for link in incident.chain],
    }


def _place(place: Place, found: Diagnosis) -> dict[str, Any]:
    return {
        "file": found.scans[place.log].log.name,
        "line": place.line,
        "rank": int(place.rank) if place.rank else None,
        "time": written(place.time) if place.time else None,
    }


def _raised(link: Raised) -> dict[str, Any]:
    return {
        "type": link.type,
        "message": link.message,
        "frames": [
            {"file": f.file, "line": f.line, "function": f.function, "source": f.source or None} for f in link.frames
        ],
    }


def _config(found: Diagnosis, cwd: Path) -> dict[str, Any] | None:
    given = found.at_config
    if given is None:
        return None
    report = Report(Analysis(given.findings, (), ()), cwd)
    return {
        "file": report.name(given.config),
        "rules": list(given.rules),
        "problem": given.problem or None,
        "findings": rows(report),
    }
