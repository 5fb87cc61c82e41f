"""Fingerprints of findings: what stays the same when lines move, entries are inserted and messages are reworded."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

from .findings import Finding

_INDEX = re.compile(r"\[\d+\]|(?:^|(?<=\.))\d+(?=\.|$)")


def identified(findings: Iterable[Finding], name: Callable[[Path], str]) -> list[tuple[Finding, str, int]]:
    """Each finding with its fingerprint and, from 1, which of those with the same fingerprint it is.

    `name` gives a file the name under which it is known on every machine.
    """
    met: Counter[str] = Counter()
    result = []
    for finding in findings:
        mark = fingerprint(finding, name(finding.location.file))
        met[mark] += 1
        result.append((finding, mark, met[mark]))
    return result


def fingerprint(finding: Finding, file: str) -> str:
    """16 hexadecimal digits of the rule, the file, the subject without list positions, and the line without its comment.

    Neither the line number nor the message is part of it. Findings that are alike in all of that are told apart by
    their number only.
    """
    parts = (finding.code, file, _INDEX.sub("[]", finding.subject), _content(finding))
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _content(finding: Finding) -> str:
    """The first line of the place, without comment, list marks and spacing: how a list is indented is no part of it."""
    source = finding.location.source
    line = source.lines.line_text(source.lines.position(finding.location.span.start).line)
    return " ".join(_uncommented(line).split()).lstrip("- ")


def _uncommented(line: str) -> str:
    """A line of YAML up to its comment: a `#` at its start or after a blank, outside of quotes."""
    quote = ""
    for place, char in enumerate(line):
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'" and (not place or line[place - 1] in " \t[{,:" + char):
            quote = char
        elif char == "#" and (not place or line[place - 1] in " \t"):
            return line[:place]
    return line
