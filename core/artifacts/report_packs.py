"""The report's section on index packs: what `--packs` declared, and what stays on loose sidecars for which reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..model.blend import Entry
from ..model.packs import names
from .markdown import row

if TYPE_CHECKING:
    from .migrate import Migration

ROOTLESS = (
    "No folder for index packs is known, so none is declared: give it with `--index-pack-root` or as `index-pack-root` in the "
    "settings, and migrate again."
)


def packs_section(migration: Migration) -> list[str]:
    """The section; nothing where packs were not asked for."""
    plan = migration.packs
    if plan is None:
        return []
    lines = ["## Index packs", ""]
    if plan.rootless:
        lines += [ROOTLESS, ""]
    if plan.declared:
        lines += [
            "Declared in the patched copy, one for each outer dataset, and converted by `build-indexes-cmd.sh` after the sidecars.",
            "The verdict above counts them as built: while a declared pack is missing, start-up raises a FileNotFoundError.",
            "",
            "| outer dataset | place | shards | pack | |",
            "|---|---|---|---|---|",
            *(
                row(
                    _named(pack.entry),
                    pack.place,
                    f"{pack.shards:,}",
                    f"`{pack.name}`",
                    "new" if pack.new else "declared before",
                )
                for pack in plan.declared
            ),
            "",
        ]
    if plan.kept:
        lines += [
            "Kept on loose sidecars:",
            "",
            "| outer dataset | place | shards | why |",
            "|---|---|---|---|",
            *(row(_named(kept.entry), kept.place, f"{kept.shards:,}", _cell(kept.reason)) for kept in plan.kept),
            "",
        ]
    if plan.small:
        number = "1 outer dataset has" if plan.small == 1 else f"{plan.small} outer datasets have"
        lines += [
            f"{number} fewer than {plan.threshold:,} shards and {'stays' if plan.small == 1 else 'stay'} on sidecars "
            "(`pack-threshold`).",
            "",
        ]
    if not (plan.declared or plan.kept or plan.small):
        lines += ["No outer dataset could be looked at for a pack.", ""]
    return lines


def _named(entry: Entry) -> str:
    """An outer dataset by its own name, else by its place in its file."""
    found = next(iter(names(entry)), "")
    return _cell(found) if found else f"`{entry.subject}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
