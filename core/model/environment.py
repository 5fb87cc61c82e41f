"""Environment variables of the ranks, as far as a launcher or the runtime context says what they hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..findings import Location
from ..records import dataclass

if TYPE_CHECKING:
    from .config import TrainingConfig

_TRUE = "true"  # NeMo compares in lower case and takes no other word


@dataclass(frozen=True, slots=True)
class Variable:
    """One variable as the ranks see it."""

    name: str
    known: bool  #: whether it is known at all if it is set
    value: str | None = None  #: None where it is not set, or set to what cannot be known
    is_set: bool = False
    location: Location | None = None  #: where a launcher sets it, also where it does not reach the ranks

    @property
    def missing(self) -> bool:
        """Whether it is known not to be set."""
        return self.known and not self.is_set

    @property
    def is_true(self) -> bool:
        """Whether it switches something on: only `true` does, in any case."""
        return self.value is not None and self.value.strip().lower() == _TRUE

    @property
    def is_off(self) -> bool:
        """Whether it is known that it does not switch anything on."""
        return self.missing or (self.value is not None and not self.is_true)


def variable(config: TrainingConfig, name: str) -> Variable:
    """What is known of a variable: the launcher's word first, then the runtime context's.

    Without either it is unknown. A launcher, or a runtime context with an `env` table, that does not set it says that
    it is not set, since both reach the ranks as a whole.
    """
    stated = config.context.stated
    launch = config.launch
    if launch is not None:
        found = launch.env.get(name)
        if found is not None and found.reaches:
            return Variable(name, True, found.value.text, True, found.location)
        if found is not None:
            return Variable(name, True, location=found.location)
    given = stated.variables.get(name)
    if given is not None:
        return Variable(name, True, given, True)
    return Variable(name, launch is not None or stated.states_env)
