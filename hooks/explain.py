"""`nemo-resumable explain`: the page of a rule, with the failure modes it prevents, or the page of a failure mode."""

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
        emit(_failure_mode(arguments.rule))
        return OK
    try:
        text = page_text(found.code)
    except KeyError:
        fix = found.fix.value if found.fix else "none"
        text = f"# {found.code} {found.name}\n\n{found.summary}.\n\nSeverity: {found.severity.value} · Fix: {fix}\n"
    from nemo_resumable.core.failures.page import failures_of_rule

    failures = failures_of_rule(found.code)
    emit(text + (f"\n{failures}" if failures else ""))
    return OK


def _failure_mode(word: str) -> str:
    """The page of a failure mode. Raises UsageError for a word that is neither."""
    from nemo_resumable.core.failures import all_modes
    from nemo_resumable.core.failures.page import page_text as failure_text

    try:
        return failure_text(word)
    except KeyError:
        rules = [word for rule in all_rules() for word in (rule.code, rule.name)]
        raise UsageError(unknown_rule(word, [*rules, *(mode.slug for mode in all_modes())])) from None
