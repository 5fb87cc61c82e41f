"""The pages of failure modes: their text as printed, and the logs on them, each with the mode it is told as."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from ..rules.registry import find_rule
from .modes import Mode, all_modes, find_mode, modes_of

FOLDER = Path(__file__).parent / "pages"
INDEX = FOLDER / "README.md"

#: The headings of a page, in their order.
HEADINGS = (
    "Signature",
    "What happened",
    "Trigger",
    "Fix",
    "Rules that would have prevented it",
    "Example log",
    "What looks like it",
    "References",
)
#: What a log on a page is told as that is of no mode.
UNKNOWN = "unknown"

_TITLE = re.compile(r"# (?P<slug>[a-z0-9-]+)")
_FENCE = re.compile(r"```log(?: (?P<told>[a-z0-9-]+))?")


@dataclass(frozen=True, slots=True)
class Example:
    """A log and what it is told as: a mode, or `unknown`."""

    text: str
    told: str


@dataclass(frozen=True, slots=True)
class Page:
    """A page, read."""

    slug: str
    summary: str
    sections: Mapping[str, str]  #: Markdown by heading, in the page's order
    examples: tuple[Example, ...]  #: logs of the mode itself
    near_misses: tuple[Example, ...]  #: logs that only look like it


def page_text(slug: str) -> str:
    """The Markdown of a mode's page; raises KeyError for what is no mode."""
    mode = find_mode(slug)
    if mode is None:
        raise KeyError(slug)
    return (FOLDER / f"{mode.slug}.md").read_text(encoding="utf-8")


@lru_cache(maxsize=256)
def find_page(slug: str) -> Page:
    """A mode's page; raises KeyError for what is no mode."""
    return parse_page(page_text(slug))


def parse_page(text: str) -> Page:
    """Read a page; raises ValueError where it is not of the fixed form."""
    lines = text.split("\n")
    title = _TITLE.fullmatch(lines[0])
    if title is None:
        raise ValueError(f"a page begins with `# slug`, not {lines[0]!r}")
    sections: dict[str, list[str]] = {}
    logs: dict[str, list[Example]] = {}
    current: list[str] = []
    block: list[str] | None = None
    head, heading, told = current, "", ""
    for line in lines[1:]:
        if block is not None:
            if line == "```":
                logs.setdefault(heading, []).append(Example("".join(f"{each}\n" for each in block), told))
                block = None
            else:
                block.append(line)
        elif (fence := _FENCE.fullmatch(line)) is not None:
            block, told = [], fence["told"] or title["slug"]
        elif line.startswith("## "):
            heading = line[3:].strip()
            if heading in sections:
                raise ValueError(f"the heading {heading!r} stands twice")
            current = sections[heading] = []
        current.append(line)
    if block is not None:
        raise ValueError("a fence is never closed")
    return Page(
        title["slug"],
        " ".join(line for line in head if line),
        {name: "\n".join(body[1:]).strip() for name, body in sections.items()},
        tuple(logs.get("Example log", ())),
        tuple(logs.get("What looks like it", ())),
    )


def failures_of_rule(code: str) -> str:
    """A section for a rule's page: the failure modes that the rule prevents; "" for none."""
    modes = modes_of(code)
    if not modes:
        return ""
    lines = [f"- {mode.slug}: {find_page(mode.slug).summary}" for mode in modes]
    return "## Failure modes\n\nWhat `nemo-resumable diagnose` calls it in a log:\n\n" + "\n".join(lines) + "\n"


def rules_of(mode: Mode) -> tuple[tuple[str, str], ...]:
    """Code and name of the rules that prevent a mode."""
    rules = (find_rule(code) for code in mode.rules)
    return tuple((rule.code, rule.name) for rule in rules if rule is not None)


_HEAD = """\
# Failure modes

What `nemo-resumable diagnose` recognises in the log of a run. Each has a page: how it shows, what happened, what triggers
it, the fix, the rules that would have prevented it, an example, and what only looks like it. `nemo-resumable explain
MODE` prints it. A *consequence* is never the cause: something else came before it. A *suspicion* stops nothing.

This list is made by `nemo-resumable diagnose --list --format markdown`.
"""


def failure_index() -> str:
    """The index of all pages as Markdown; it stands beside them and a test keeps it so."""
    lines = [_HEAD, "\n| mode | rules | |\n|---|---|---|\n"]
    for mode in sorted(all_modes(), key=lambda each: each.slug):
        rules = ", ".join(f"[{code}](../../rules/pages/{code}-{name}.md)" for code, name in rules_of(mode))
        kind = "" if mode.kind.value == "cause" else f" ({mode.kind.value})"
        summary = find_page(mode.slug).summary.replace("|", "\\|")
        lines.append(f"| [{mode.slug}]({mode.slug}.md){kind} | {rules or '–'} | {summary} |\n")
    return "".join(lines)
