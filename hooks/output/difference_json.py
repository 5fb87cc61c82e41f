"""Two configs beside each other for programs, schema 1: what differs, and what that does to a chain that is restored."""

from __future__ import annotations

import json

from nemo_resumable.core.model.changes import Change, Difference
from nemo_resumable.core.model.values import Unknown

from ..version import version


def as_json(change: Change, names: tuple[str, str]) -> str:
    """The whole comparison."""
    shown = {
        "schema": 1,
        "tool": "nemo-resumable",
        "version": version(),
        "before": names[0],
        "now": names[1],
        "resumable": change.resumable,
        "same_experiment": change.same_experiment,
        "restores": not change.matters,
        "differences": [_difference(each) for each in change.differences],
        "sources": [
            {
                "subject": f"{dataset.subject}.input_cfg",
                "added": [entry.subject for entry in found.added],
                "removed": [entry.subject for entry in found.removed],
                "retyped": [now.subject for _, now in found.retyped],
                "moved": [f"{moved.now.subject}.{moved.key}" for moved in found.moved],
                "reordered": found.reordered is not None,
                "regrouped": found.regrouped is not None,
                "reweighted": [now.subject for _, now in found.reweighted],
            }
            for dataset, found in change.sources
        ],
        "only_in": [{"subject": subject, "config": names[side]} for subject, side in change.lone],
    }
    return json.dumps(shown, indent=2, ensure_ascii=False) + "\n"


def _difference(each: Difference) -> dict[str, object]:
    return {
        "subject": ".".join(each.path),
        "before": _value(each.before.value),
        "now": _value(each.now.value),
        "code": each.meaning.code or None,
        "effect": each.meaning.effect,
    }


def _value(value: object) -> object:
    if isinstance(value, Unknown):
        return value.text
    return value if value is None or isinstance(value, (bool, int, float, str, list, dict)) else str(value)
