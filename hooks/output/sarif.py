"""SARIF 2.1.0, the exchange format of static analysis: findings with their rules, places, fixes and suppressions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from nemo_resumable.core.findings import Edit, Finding, FixKind, Location
from nemo_resumable.core.fingerprints import identified
from nemo_resumable.core.rules.page import Page, find_page
from nemo_resumable.core.text import Source, Span

from ..version import version
from .levels import LEVELS
from .render import Report

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
ROOT = "%SRCROOT%"  #: the repository's top, from which all addresses below it count
FINGERPRINT = "nemoResumable/v1"
_MOST_SNIPPET = 400  #: characters of a place that are quoted

_Json = dict[str, Any]


def sarif(report: Report) -> str:
    """A log of one run, with every finding that is told and every one that is suppressed or in the baseline."""
    found = sorted((*report.told, *report.silenced), key=_order)
    codes = {code: number for number, code in enumerate(sorted({finding.code for finding in found}))}
    partners = _partners(found)
    run = {
        "tool": {"driver": _driver(found, codes)},
        "invocations": [_invocation(report)],
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {ROOT: {"uri": f"{_address(report.root.as_posix())}/"}},
        "results": [
            _result(finding, f"{mark}:{number}", codes[finding.code], partners, report)
            for finding, mark, number in identified(found, report.in_repository)
        ],
        "properties": {
            "configs": [
                {"file": report.in_repository(config.file), "readiness": config.readiness}
                for config in report.analysis.configs
            ]
        },
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, ensure_ascii=False, indent=1) + "\n"


def _order(finding: Finding) -> tuple[str, Span, str, str]:
    return str(finding.location.file), finding.location.span, finding.code, finding.message


def _driver(found: list[Finding], codes: dict[str, int]) -> _Json:
    """The tool with those of its rules that have results, each with its page as help."""
    names = {finding.code: finding for finding in found}
    return {"name": "nemo-resumable", "version": version(), "rules": [_rule(names[code]) for code in codes]}


def _rule(finding: Finding) -> _Json:
    # The level of the rule, not of this finding, which the settings may have changed.
    from nemo_resumable.core.rules.registry import find_rule

    known = find_rule(finding.code)
    level = LEVELS[known.severity if known else finding.severity]
    described: _Json = {
        "id": finding.code,
        "name": finding.name,
        "defaultConfiguration": {"level": level.sarif},
        "properties": {
            "problem.severity": level.problem,
            "precision": "very-high",
            "tags": ["nemo", "lhotse", "resume"],
        },
    }
    try:
        page = find_page(finding.code)
    except KeyError:  # a rule's page is missing only while the rule is written
        return described
    looked_for = page.sections.get("What it looks for", "")
    described["shortDescription"] = {"text": _plain(page.summary)}
    described["fullDescription"] = {"text": _plain(looked_for) or _plain(page.summary)}
    described["help"] = {"text": _help(page, plain=True), "markdown": _help(page, plain=False)}
    return described


def _help(page: Page, *, plain: bool) -> str:
    """The page from its first heading on; as plain text without examples, which are Markdown's affair."""
    parts = []
    for heading, body in page.sections.items():
        if plain and heading in ("Example", "After the fix"):
            continue
        parts.append(f"{heading}\n{_plain(body)}" if plain else f"## {heading}\n\n{body}")
    return "\n\n".join(part for part in parts if part.strip())


def _plain(markdown: str) -> str:
    return re.sub(r"\*\*|`", "", markdown).strip()


def _invocation(report: Report) -> _Json:
    problems = [
        {
            "level": "error",
            "message": {"text": sentence},
            "locations": [{"physicalLocation": {"artifactLocation": _artifact(path, report)}}],
        }
        for path, sentence in report.analysis.problems
    ]
    invocation: _Json = {"executionSuccessful": not report.failed}
    if problems:
        invocation["toolExecutionNotifications"] = problems
    return invocation


def _result(finding: Finding, mark: str, rule: int, partners: dict[object, list[Finding]], report: Report) -> _Json:
    place: _Json = {"physicalLocation": _physical(finding.location, report)}
    if finding.subject:
        place["logicalLocations"] = [{"fullyQualifiedName": finding.subject, "kind": "member"}]
    result: _Json = {
        "ruleId": finding.code,
        "ruleIndex": rule,
        "level": LEVELS[finding.severity].sarif,
        "message": {"text": finding.message + (f". {finding.rationale}" if finding.rationale else "")},
        "locations": [place],
        "partialFingerprints": {FINGERPRINT: mark},
        "properties": {"severity": finding.severity.value},
    }
    if finding.related:
        result["relatedLocations"] = [
            {"id": number, "message": {"text": each.message}, "physicalLocation": _physical(each.location, report)}
            for number, each in enumerate(finding.related, 1)
        ]
    if fix := _fix(finding, partners, report):
        result["fixes"] = [fix]
    if suppressions := list(_suppressions(finding)):
        result["suppressions"] = suppressions
    if report.baseline:
        result["baselineState"] = "unchanged" if finding.baselined else "new"
    return result


def _suppressions(finding: Finding) -> Iterator[_Json]:
    if finding.suppressed is not None:
        kind = "inSource" if finding.suppressed_by == "comment" else "external"
        yield {"kind": kind, **({"justification": finding.suppressed} if finding.suppressed else {})}
    if finding.baselined:
        yield {"kind": "external", "justification": "in the baseline"}


def _partners(found: list[Finding]) -> dict[object, list[Finding]]:
    """The findings of each group of fixes: one alone may do harm, so a fix in SARIF makes the changes of all."""
    groups: dict[object, list[Finding]] = {}
    for finding in found:
        if finding.fix is not None and finding.fix.group and finding.fix.edits:
            groups.setdefault((finding.config, finding.fix.group), []).append(finding)
    return groups


def _fix(finding: Finding, partners: dict[object, list[Finding]], report: Report) -> _Json | None:
    """What mends a finding; None where that is withheld, suppressed, or where the changes of a group overlap."""
    fix = finding.fix
    if fix is None or not fix.edits or finding.suppressed is not None:
        return None
    members = partners.get((finding.config, fix.group), [finding]) if fix.group else [finding]
    fixes = [each.fix for each in members if each.fix is not None]
    if any(each.withheld for each in fixes):
        return None
    sources = {place.file: place.source for each in members for place in (each.location, *_places(each))}
    edits = sorted(
        {edit for each in fixes for edit in each.edits}, key=lambda edit: (str(edit.file), edit.span, edit.text)
    )
    for one, other in zip(edits, edits[1:]):
        if one.file == other.file and other.span.start < one.span.end:
            return None
    if any(edit.file not in sources for edit in edits):
        return None  # its text is not at hand, so neither are lines and columns
    files = dict.fromkeys(edit.file for edit in edits)
    titles = "; ".join(dict.fromkeys(each.title for each in fixes))
    lead = "" if fix.kind is FixKind.SAFE else "Your choice: "
    return {
        "description": {"text": lead + titles},
        "artifactChanges": [
            {
                "artifactLocation": _artifact(file, report),
                "replacements": [_replacement(edit, sources[file]) for edit in edits if edit.file == file],
            }
            for file in files
        ],
    }


def _places(finding: Finding) -> list[Location]:
    return [related.location for related in finding.related]


def _replacement(edit: Edit, source: Source) -> _Json:
    replacement: _Json = {"deletedRegion": _region(Location(source, edit.span))}
    if edit.text:
        replacement["insertedContent"] = {"text": edit.text}
    return replacement


def _physical(location: Location, report: Report) -> _Json:
    region = _region(location)
    text = location.source.cut(location.span)
    if text and len(text) <= _MOST_SNIPPET:
        region["snippet"] = {"text": text}
    return {"artifactLocation": _artifact(location.file, report), "region": region}


def _region(location: Location) -> _Json:
    start, end = location.positions
    return {"startLine": start.line, "startColumn": start.column, "endLine": end.line, "endColumn": end.column}


def _artifact(file: Path, report: Report) -> _Json:
    """Where a file is: from the repository's top on, so that the log says the same on every machine."""
    name = report.in_repository(file)
    return {"uri": _escaped(name), "uriBaseId": ROOT} if name != file.as_posix() else {"uri": _address(name)}


def _address(path: str) -> str:
    """An absolute path as an address."""
    return "file://" + ("" if path.startswith("/") else "/") + _escaped(path, "/:")


def _escaped(path: str, safe: str = "/") -> str:
    """A path as part of an address; bytes of a name that is no UTF-8 as they are."""
    try:
        return quote(path, safe, errors="surrogateescape")
    except UnicodeEncodeError:
        return quote(path, safe, errors="surrogatepass")
