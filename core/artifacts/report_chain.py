"""The report's table of what changed by effective value, with what each change does to a chain that runs already."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..model.changes import Change
from ..model.values import Setting, show
from .markdown import row

if TYPE_CHECKING:
    from .migrate import Migration


def chain_section(migration: Migration) -> list[str]:
    """Original against patched; nothing where no effective value differs, or nothing that is saved could be restored."""
    change = Change(migration.config, migration.migrated, "in the original")
    rows = [
        row(f"`{'.'.join(each.path)}`", _value(each.before), _value(each.now), each.meaning.effect)
        for each in change.differences
    ]
    if not rows or not change.resumable:
        return []  # without a saved position there is no chain to break
    lead = "By effective value. A chain that runs already restores what the original saved: begin a new experiment unless the"
    lead += " position holds in each line."
    head = ["| setting | original | patched | when a chain is restored |", "|---|---|---|---|"]
    return [lead, "", *head, *rows, ""]


def _value(setting: Setting) -> str:
    text = show(setting.value).replace("|", "\\|")
    return f"`{text}`" + ("" if setting.stated else " (default)")
