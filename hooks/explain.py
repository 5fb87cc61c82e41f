"""`nemo-resumable explain`: the page of a rule."""

from __future__ import annotations

import argparse

from nemo_resumable.core.rules.page import page_text
from nemo_resumable.core.rules.registry import all_rules, find_rule

from .cli import OK
from .options import UsageError, unknown_rule
from .output.terminal import emit


def run(arguments: argparse.Namespace) -> int:
    """Print the page as Markdown."""
    found = find_rule(arguments.rule)
    if found is None:
        words = [word for rule in all_rules() for word in (rule.code, rule.name)]
        raise UsageError(unknown_rule(arguments.rule, words))
    try:
        text = page_text(found.code)
    except KeyError:
        fix = found.fix.value if found.fix else "none"
        text = f"# {found.code} {found.name}\n\n{found.summary}.\n\nSeverity: {found.severity.value} · Fix: {fix}\n"
    emit(text)
    return OK
