"""The index of all rules as Markdown, made from the pages; it stands beside them and a test keeps it so."""

from __future__ import annotations

from .page import FOLDER, all_pages

INDEX = FOLDER / "README.md"

#: What the hundreds of the codes speak of.
AREAS = {
    "NR0": "Reading the files",
    "NR1": "The training dataset",
    "NR2": "Validation and test datasets",
    "NR3": "The data blend and its sources",
    "NR4": "Trainer and experiment manager",
    "NR5": "The launcher",
    "NR6": "Storage",
    "NR7": "The NeMo and Lhotse in use",
    "NR8": "Index files on this disk",
    "NR9": "What a change does to a running chain",
}

_HEAD = """\
# Rules

Every rule has a page: what it looks for, what goes wrong at run time, an example, and what the fix does. `nemo-resumable
explain CODE` prints it. **fatal** and **error** block a commit. A *safe* fix is applied by `check --fix`; a *choice* is
offered in the editor or by a flag of its own.

This list is made by `nemo-resumable rules --format markdown`.
"""


def rule_index() -> str:
    """The index's text."""
    lines = [_HEAD]
    area = ""
    for page in all_pages():
        if page.code[:3] != area:
            area = page.code[:3]
            lines.append(f"\n## {area} · {AREAS[area]}\n\n| rule | severity | fix | |\n|---|---|---|---|\n")
        name = f"[{page.code} {page.name}]({page.code}-{page.name}.md)"
        summary = page.summary.replace("|", "\\|")
        lines.append(f"| {name} | {page.severity} | {page.fix.split(' (')[0]} | {summary} |\n")
    return "".join(lines)
