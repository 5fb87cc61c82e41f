"""`migration-report.md`: what was found, what was changed, what is left, and how to prove the result."""

from __future__ import annotations

import difflib
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from ..analysis import NOT_READY
from ..findings import Finding, Severity
from ..model.obstacles import obstacle
from ..model.storage import storage_of
from ..model.values import show
from ..settings import repository_root
from ..syntax.nodes import Document
from . import report_runtime
from .markdown import fenced, joined, mark, row
from .migrate import MARK, counts
from .report_chain import chain_section
from .report_launch import launcher_section, storage_section
from .report_packs import packs_section
from .report_sections import datasets_section, trainer_section, verification_section

if TYPE_CHECKING:
    from .index_script import Inputs
    from .migrate import Migration


def report(migration: Migration, inputs: Inputs, listed: str) -> str:
    """The report's text; `listed` is the line that names the files written with it."""
    root = repository_root(migration.project.cwd)
    name = migration.shown(migration.config.document.source.path)
    lines = [
        mark(name, MARK),
        listed,
        f"# Migration of `{name}` to indexed, resumable dataloading",
        "",
        *_summary(migration),
        *_inputs(migration),
        *_findings(migration),
        *datasets_section(migration),
        *packs_section(migration),
        *trainer_section(migration),
        *launcher_section(migration),
        *storage_section(migration),
        *_audit(migration),
        *_changes(migration, root),
        *verification_section(migration, inputs),
    ]
    return joined(lines)


def _summary(migration: Migration) -> list[str]:
    result = migration.after.configs[0]
    storage = storage_of(migration.migrated.datasets)
    left = [f for f in migration.after.findings if f.severity.blocks and f.suppressed is None]
    fixed = len(migration.fixes.applied)
    lines = [
        "## Summary",
        "",
        f"- Storage workflow: {storage.workflow}.",
        f"- Found in the original: {counts(migration.before)}.",
        f"- Patched: {fixed} finding{'s' if fixed != 1 else ''}. Left in the patched config: {counts(migration.after)}.",
        f"- Readiness: **{result.readiness}**. {_why(left, result.unverified, result.exceptions)}",
    ]
    for finding in result.exceptions:
        place = finding.location.source.lines.position(finding.location.span.start)
        reason = finding.suppressed or "no reason is given"
        lines.append(
            f"- Exception: {finding.code} {finding.name} at `{finding.subject}` ({finding.location.file.name}:{place.line}), "
            f"suppressed by {'a comment' if finding.suppressed_by == 'comment' else 'the settings'}: {reason}."
        )
    conditions = sorted({f.fix.withheld for f in migration.fixes.applied if f.fix is not None and f.fix.withheld})
    for condition in conditions:
        lines.append(
            f"- The patches are right under one condition, which is why they are not made in place: {condition}."
        )
    return [*lines, ""]


_NONE_LEFT = {False: "No fatal and no error is left", True: "No fatal and no error is left save the exceptions below"}


def _why(left: list[Finding], unverified: tuple[str, ...], exceptions: tuple[Finding, ...]) -> str:
    if left:
        kinds = Counter(finding.code for finding in left)
        named = ", ".join(f"{code} ({number})" if number > 1 else code for code, number in sorted(kinds.items()))
        return f"What stands in the way: {named}."
    if unverified:
        return f"{_NONE_LEFT[bool(exceptions)]}, but these parts were not inspected: " + "; ".join(unverified) + "."
    return f"{_NONE_LEFT[bool(exceptions)]}."


def _inputs(migration: Migration) -> list[str]:
    config = migration.config
    lines = ["## Inputs", "", "Inspected:", "", f"- config `{migration.shown(config.document.source.path)}`"]
    lines += [f"- base config `{migration.shown(base.source.path)}`" for base in config.composition.bases]
    for blend in config.blends:
        assert blend.path is not None
        lines.append(f"- blend `{blend.spec}`: `{migration.shown(blend.path)}`, found {_how(blend.how, migration)}")
    lines += [f"- launcher `{migration.shown(launcher.source.path)}`" for launcher, _ in config.launchers]
    lines += report_runtime.inspected(migration)
    taken = report_runtime.assumed(migration)
    lines += ["", "Assumed:", "", *taken] if taken else []
    missing = migration.after.configs[0].unverified
    lines += ["", "Not inspected:", "", *(f"- {part}" for part in missing)] if missing else []
    return [*lines, ""]


def _how(how: str, migration: Migration) -> str:
    root = f"{repository_root(migration.project.cwd)}"
    return how.replace(f"{root}/", "").replace(root, "the repository")


def _findings(migration: Migration) -> list[str]:
    found = sorted(
        migration.before.findings, key=lambda f: (f.severity.rank, str(f.location.file), f.location.span, f.code)
    )
    if not found:
        return ["## Findings", "", "None.", ""]
    fixed = {(f.code, f.location.file, f.subject) for f in migration.fixes.applied}
    left = Counter(_looks(finding) for finding in migration.after.findings)
    lines = [
        "## Findings",
        "",
        "| severity | rule | field | place | now | recommended | what happens at run time | state |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for finding in _gathered(found):
        place = finding.location.source.lines.position(finding.location.span.start)
        file = finding.location.file.name
        identity = (finding.code, finding.location.file, finding.subject)
        state = "patched" if identity in fixed else _state(finding, left)
        cells = [
            finding.severity.value,
            f"{finding.code} {finding.name}",
            f"`{finding.subject}`",
            f"{file}:{place.line}",
            _cell(finding.current, null=finding.code < "NR3"),
            _cell(finding.recommended),
            finding.message + (f". {finding.rationale}" if finding.rationale else ""),
            state,
        ]
        lines.append(row(*cells))
    lines += ["", "Each rule has a page: `nemo-resumable explain NR110`, or by its name.", ""]
    return lines


def _looks(finding: Finding) -> tuple[str, Path, str, str]:
    """What a finding is known by when entries before it have gone and its path has moved: its line and its words."""
    lines = finding.location.source.lines
    line = lines.line_text(lines.position(finding.location.span.start).line)
    return finding.code, finding.location.file, line.strip(), finding.message


def _state(finding: Finding, left: Counter[tuple[str, Path, str, str]]) -> str:
    if finding.suppressed is not None:
        return f"suppressed: {finding.suppressed}" if finding.suppressed else "suppressed"
    if not left[_looks(finding)]:
        return "resolved"
    if finding.severity is Severity.WARNING:
        return "for you to judge"
    return "information" if finding.severity is Severity.NOTE else "open"


def _gathered(found: list[Finding]) -> list[Finding]:
    """Notes and warnings of one kind that repeat over many places of a file are shown by their first ten."""
    seen: Counter[tuple[str, Path]] = Counter()
    shown = []
    for finding in found:
        key = (finding.code, finding.location.file)
        seen[key] += 1
        if finding.severity.blocks or seen[key] <= 10:
            shown.append(finding)
    return shown


def _cell(value: object, *, null: bool = False) -> str:
    """A value in a table; `null` says so only where an option is null rather than beside the point."""
    if null and value is None:
        return "`null`"
    return "" if value is None or value == "" else f"`{show(value)}`"


def _audit(migration: Migration) -> list[str]:
    rows = []
    excluded = {
        (f.location.file, f.subject.rsplit(".", 1)[0]) for f in migration.fixes.applied if f.code.startswith("NR3")
    }
    for dataset in migration.config.datasets:
        for source in dataset.sources:
            found = obstacle(source) if dataset.is_training or source["indexed"].is_(True) else None
            if found is None:
                continue
            reasons = [
                f for f in migration.before.findings if f.code == found.code and f.subject.startswith(source.subject)
            ]
            todo = next((f.rationale for f in reasons if f.rationale), "")
            gone = (source.document.source.path, source.subject) in excluded
            place = source.location.source.lines.position(source.location.span.start)
            rows.append(
                row(
                    f"`{source.subject}`",
                    f"{source.location.file.name}:{place.line}",
                    f"{found.code} {reasons[0].name if reasons else ''}",
                    todo,
                    "commented out" if gone else "kept",
                )
            )
    lines = ["## Blend audit", ""]
    total = sum(len(dataset.sources) for dataset in migration.config.datasets)
    if not total:
        return [*lines, "No source could be read, so none was audited.", ""]
    if not rows:
        return [*lines, f"{total} source{'s' if total != 1 else ''} read; none is blocked.", ""]
    lines += [
        f"{total} sources read, {len(rows)} blocked. No data is dropped unless you ask for it with `--exclude-blocked`.",
        "",
        "| entry | place | reason | what to do upstream | in the patched copy |",
        "|---|---|---|---|---|",
        *rows,
        "",
    ]
    return lines


def _changes(migration: Migration, root: Path) -> list[str]:
    lines = ["## Changes", ""]
    names = {migration.config.document.source.path: migration.patched_config, **migration.patched_blends}
    written = False
    for path, name in names.items():
        document = migration.project.store.load(path)
        if name is None or not isinstance(document, Document):
            continue
        written = True
        before = document.source.text.splitlines()
        after = migration.files[name].decode("utf-8-sig").splitlines()
        diff = difflib.unified_diff(before, after, migration.shown(path), name, lineterm="", n=2)
        lines += [f"`{name}`, from `{migration.shown(path)}`:", "", *fenced(list(diff), "diff"), ""]
    if not written:
        lines += ["Nothing was changed, so there is no patched copy.", ""]
    if migration.after.configs[0].readiness == NOT_READY and written:
        lines += ["The patched copy is not launch-ready: see *Findings* for what is open.", ""]
    lines += chain_section(migration)
    for finding, reason in migration.fixes.dropped:
        lines.append(f"- The fix of {finding.code} at `{finding.subject}` was not taken: {reason}.")
    return lines
