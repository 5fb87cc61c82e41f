"""Effective values: what a setting is, which of the inputs decided it, and where that stands."""

from __future__ import annotations

from enum import Enum
from typing import Protocol

from ..findings import Location
from ..records import dataclass


class Origin(Enum):
    """Which input decided a value."""

    DEFAULT = "default"
    BASE = "base config"
    FILE = "file"
    ENTRY = "entry"
    LAUNCHER = "launcher override"
    SETTINGS = "settings"


@dataclass(frozen=True, slots=True)
class Unknown:
    """A value that cannot be known statically. Rules stay silent on it, save those that report just that."""

    reason: str  #: one clause: "`${oc.env:SEED}` is read from the environment"
    kind: str  #: missing (`???`) · interpolation · environment · base · launcher
    text: str = ""  #: as written

    def __bool__(self) -> bool:
        return False


class Place(Protocol):
    """Where an option is written."""

    @property
    def location(self) -> Location:
        """The value."""

    @property
    def key_location(self) -> Location:
        """The key."""

    @property
    def anchor(self) -> Location | None:
        """Where an aliased value is defined."""


@dataclass(frozen=True, slots=True)
class Setting:
    """The effective value of one option. Where it stands is worked out when it is asked: most settings are in order."""

    key: str
    value: object
    origin: Origin
    subject: str  #: dotted path: data.train_ds.shard_seed
    place: Place | Location  #: for a default, the key of the section that would hold it

    @property
    def location(self) -> Location:
        """The value, or for a default the key of the section that would hold it."""
        return self.place if isinstance(self.place, Location) else self.place.location

    @property
    def key_location(self) -> Location | None:
        """The key; None where the option is not written anywhere."""
        return None if isinstance(self.place, Location) else self.place.key_location

    @property
    def anchor(self) -> Location | None:
        """Where an aliased value is defined."""
        return None if isinstance(self.place, Location) else self.place.anchor

    @property
    def known(self) -> bool:
        """Whether the value is known statically."""
        return not isinstance(self.value, Unknown)

    @property
    def stated(self) -> bool:
        """Whether some input says it, rather than NeMo's default."""
        return self.origin is not Origin.DEFAULT

    def is_(self, value: object) -> bool:
        """Whether the value is known and just this (True is not 1)."""
        return self.known and type(self.value) is type(value) and self.value == value

    def lacks(self, value: object) -> bool:
        """Whether the value is known and something else."""
        return self.known and not self.is_(value)

    @property
    def phrase(self) -> str:
        """How a message names the value: `` `trng` `` or `` `trng` by default ``."""
        return f"`{show(self.value)}`" + ("" if self.stated else " by default")


def show(value: object) -> str:
    """A value as a YAML user would write it, short."""
    if isinstance(value, Unknown):
        return value.text
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{value}"' if not value or value.strip() != value else value
    text = str(value)
    return text if len(text) <= 60 else text[:57] + "..."


def as_type(kind: str, value: object) -> object:
    """A value as the merge into a schema's field of that type converts it; what the merge refuses comes back as it is."""
    if kind == "bool":
        return as_boolean(value)
    if kind == "int" and type(value) is str:
        try:
            return int(value)
        except ValueError:
            return value
    return value


def as_boolean(value: object) -> object:
    """A value as OmegaConf converts it into a boolean field; what it refuses comes back as it is."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return bool(value)
    if isinstance(value, str):
        lowered = value.lower()
        if lowered in ("yes", "y", "on", "true", "1"):
            return True
        if lowered in ("no", "n", "off", "false", "0"):
            return False
    return value
