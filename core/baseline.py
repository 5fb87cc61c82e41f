"""The baseline: a file of the findings that a project knows, so that only new ones are told and block."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from .findings import Finding
from .fingerprints import fingerprint
from .records import dataclass

SCHEMA = 1


class BaselineError(ValueError):
    """The file cannot be used as a baseline; the message says why and what to do."""


@dataclass(frozen=True, slots=True, order=True)
class Entry:
    """Findings that are alike. Files are relative to the baseline's folder, with `/`."""

    file: str
    code: str
    subject: str
    fingerprint: str
    count: int = 1
    config: str = ""  #: the config for which they hold, where that is another file

    @property
    def judged_with(self) -> str:
        """The file whose judging finds them."""
        return self.config or self.file


@dataclass(frozen=True, slots=True)
class Baseline:
    """A baseline as it was read; without a file yet it has no entries."""

    path: Path
    entries: tuple[Entry, ...] = ()

    def name(self, file: Path) -> str:
        """How the baseline calls a file."""
        return os.path.relpath(file, self.path.parent).replace(os.sep, "/")

    def place(self, name: str) -> Path:
        """The file that an entry names."""
        return Path(os.path.normpath(self.path.parent / name))


def load_baseline(path: Path) -> Baseline:
    """Read a baseline. Raises BaselineError."""
    try:
        document = json.loads(path.read_text(encoding="utf-8-sig"))
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise BaselineError(f"{path}: the baseline is no JSON ({error}); write it anew with --write-baseline") from None
    except OSError as error:
        raise BaselineError(f"{path}: the baseline cannot be read: {error.strerror or error}") from None
    if not isinstance(document, dict) or not isinstance(document.get("findings"), list) or "schema" not in document:
        raise BaselineError(f"{path}: this is no baseline; --write-baseline makes one")
    if document["schema"] != SCHEMA:
        raise BaselineError(
            f"{path}: the baseline has schema {document['schema']}, and {SCHEMA} is read; write it anew"
        )
    return Baseline(path, tuple(_entry(path, row) for row in document["findings"]))


def _entry(path: Path, row: Any) -> Entry:
    try:
        entry = Entry(**row)
    except TypeError:
        raise BaselineError(f"{path}: an entry is not of the form that is written: {json.dumps(row)[:80]}") from None
    texts = (entry.file, entry.code, entry.subject, entry.fingerprint, entry.config)
    if not all(isinstance(text, str) for text in texts) or type(entry.count) is not int:
        raise BaselineError(f"{path}: an entry is not of the form that is written: {json.dumps(row)[:80]}")
    return entry


def with_known(findings: Sequence[Finding], baseline: Baseline) -> list[Finding]:
    """The findings, with those marked that the baseline knows. Suppressed ones use up no entry.

    Of more that are alike than the baseline counts, the last ones are new: nothing in the text tells which they are.
    """
    left = Counter({entry.fingerprint: 0 for entry in baseline.entries})
    for entry in baseline.entries:
        left[entry.fingerprint] += entry.count
    marked = []
    for finding in findings:
        mark = fingerprint(finding, baseline.name(finding.location.file))
        if finding.suppressed is None and left[mark] > 0:
            left[mark] -= 1
            finding = replace(finding, baselined=True)
        marked.append(finding)
    return marked


def stale(findings: Iterable[Finding], baseline: Baseline, looked_at: Callable[[Entry], bool]) -> list[Entry]:
    """The entries, of those that were looked at, of which fewer are found than they count, with the number missing."""
    found = Counter(entry.fingerprint for entry in _entries(findings, baseline) for _ in range(entry.count))
    missing = []
    for entry in baseline.entries:
        present = min(found[entry.fingerprint], entry.count)
        found[entry.fingerprint] -= present
        if present < entry.count and looked_at(entry):
            missing.append(replace(entry, count=entry.count - present))
    return missing


def renewed(findings: Iterable[Finding], baseline: Baseline, looked_at: Callable[[Entry], bool]) -> Baseline:
    """The baseline of what is found now. Entries of what was not looked at stay as they are."""
    now = {entry.fingerprint: entry for entry in _entries(findings, baseline)}
    kept = [entry for entry in baseline.entries if entry.fingerprint not in now and not looked_at(entry)]
    return Baseline(baseline.path, tuple(sorted([*now.values(), *kept])))


def to_bytes(baseline: Baseline) -> bytes:
    """The file's content: an entry a line, in order, so that two branches merge and the same findings are the same bytes."""
    rows = ",\n".join(f"  {json.dumps(_row(entry), ensure_ascii=False)}" for entry in baseline.entries)
    findings = f"[\n{rows}\n ]" if rows else "[]"
    return f'{{"schema": {SCHEMA}, "tool": "nemo-resumable",\n "findings": {findings}}}\n'.encode(
        "utf-8", "backslashreplace"
    )


def _row(entry: Entry) -> dict[str, object]:
    row: dict[str, object] = {
        "file": entry.file,
        "code": entry.code,
        "subject": entry.subject,
        "fingerprint": entry.fingerprint,
    }
    if entry.count != 1:
        row["count"] = entry.count
    if entry.config:
        row["config"] = entry.config
    return row


def _entries(findings: Iterable[Finding], baseline: Baseline) -> list[Entry]:
    """The findings as entries, those that are alike as one. Suppressed ones need none."""
    entries: dict[str, Entry] = {}
    for finding in findings:
        if finding.suppressed is not None:
            continue
        file = baseline.name(finding.location.file)
        mark = fingerprint(finding, file)
        if mark in entries:
            entries[mark] = replace(entries[mark], count=entries[mark].count + 1)
            continue
        config = baseline.name(finding.config) if finding.config else ""
        entries[mark] = Entry(file, finding.code, finding.subject, mark, 1, config if config != file else "")
    return list(entries.values())
