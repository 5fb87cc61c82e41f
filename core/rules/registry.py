"""The rule decorator and the record of a rule; the catalogue lists the rules, the engine runs them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from ..findings import FixKind, Severity
from ..records import dataclass
from .drafts import Draft

Check = Callable[[Any], Iterator[Draft]]
_C = TypeVar("_C", bound=Check)


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of the catalogue. `looks_at` names what the check takes: the type of its parameter."""

    code: str
    name: str
    severity: Severity
    fix: FixKind | None
    looks_at: str
    summary: str
    check: Check


def rule(code: str, name: str, severity: Severity, *, fix: FixKind | None = None) -> Callable[[_C], _C]:
    """Make a generator of drafts a rule; its parameter's annotation says what it looks at."""

    def register(check: _C) -> _C:
        looks_at = next(iter(check.__annotations__.values()))
        summary = (check.__doc__ or "").strip().splitlines()[0].rstrip(".")
        check.rule = Rule(code, name, severity, fix, str(looks_at), summary, check)  # type: ignore[attr-defined]
        return check

    return register


def all_rules() -> tuple[Rule, ...]:
    """Every rule, by code."""
    from .catalogue import RULES

    return RULES


def find_rule(code_or_name: str) -> Rule | None:
    """The rule with this code or name."""
    wanted = code_or_name.strip()
    return next((r for r in all_rules() if wanted.upper() == r.code or wanted.lower() == r.name), None)
