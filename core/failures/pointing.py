"""Which of the findings in a config is the one that a log speaks of."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..findings import Finding

#: Words of a message that may stand in a config: paths, keys, quoted values.
_WORDS = re.compile(r"[\w./:{}~-]{4,}")
_AROUND = 12  #: lines of an entry that are looked at below a finding


def pointed_at(findings: Sequence[Finding], rules: Sequence[str], message: str) -> list[Finding]:
    """The findings, the likeliest first: what the message names, then the order of the mode's rules, then severity."""
    words = {word.strip(".:") for word in _WORDS.findall(message)}
    words = {word for word in words if "/" in word or "_" in word or "." in word}
    return sorted(
        findings,
        key=lambda finding: (
            -_named(finding, words),
            rules.index(finding.code),
            finding.severity.rank,
            _place(finding),
        ),
    )


def _named(finding: Finding, words: set[str]) -> int:
    """How many of the words stand at a finding."""
    lines = finding.location.source.lines
    first = lines.position(finding.location.span.start).line
    near = "\n".join(lines.line_text(number) for number in range(first, min(first + _AROUND, len(lines) + 1)))
    said = f"{finding.subject} {near}"
    return sum(_occurs(word, said) for word in words)


def _occurs(word: str, text: str) -> bool:
    """Whether a word stands in a text; of a path also its folder, since shards are written as patterns."""
    if word in text:
        return True
    folder, _, name = word.rpartition("/")
    return bool(name) and len(folder) > 3 and f"{folder}/" in text


def _place(finding: Finding) -> tuple[str, int]:
    return str(finding.location.file), finding.location.span.start
