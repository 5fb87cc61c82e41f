"""`nemo-resumable rules`: every rule, one line each."""

from __future__ import annotations

import argparse
import json
import sys

from nemo_resumable.core.rules.registry import all_rules

from .cli import OK
from .output.terminal import emit, width


def run(arguments: argparse.Namespace) -> int:
    """Print the rules as a table, as JSON, or as the index that stands beside their pages."""
    if arguments.format == "markdown":
        from nemo_resumable.core.rules.index import rule_index

        emit(rule_index(), "utf-8")
        return OK
    rules = sorted(all_rules(), key=lambda rule: rule.code)
    if arguments.format == "json":
        rows = [
            {
                "code": rule.code,
                "name": rule.name,
                "severity": rule.severity.value,
                "fix": rule.fix.value if rule.fix else None,
                "summary": rule.summary,
            }
            for rule in rules
        ]
        emit(json.dumps(rows, indent=1, ensure_ascii=False) + "\n", "utf-8")
        return OK
    names = max(len(rule.name) for rule in rules)
    lines = [
        f"{rule.code}  {rule.severity.value:<7}  {rule.fix.value if rule.fix else '-':<6}  {rule.name:<{names}}  {rule.summary}"
        for rule in rules
    ]
    # Whole lines for whoever searches in them; one row each for whoever looks.
    columns = width() if sys.stdout is not None and sys.stdout.isatty() else 0
    emit("".join(_cut(line, columns) + "\n" for line in lines))
    return OK


def _cut(line: str, columns: int) -> str:
    return line if not columns or len(line) <= columns else line[: columns - 1] + "…"
