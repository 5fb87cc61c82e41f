"""Failure modes as data: what each looks like in a log, and which rules would have prevented it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

from .records import Incident, Raised


class Kind(Enum):
    """What finding a mode means."""

    CAUSE = "cause"
    CONSEQUENCE = "consequence"  #: something else came before it, here or on another rank
    SUSPICION = "suspicion"  #: nothing stops, but the run does not do what its config says


@dataclass(frozen=True, slots=True)
class Signature:
    """How a mode shows. Texts are looked for in their order, as they stand; upper case counts."""

    type: str = ""  #: names of exceptions without their modules, separated by spaces; "" for a line without one
    says: tuple[str, ...] = ()  #: pieces of the message, or of the line
    unless: tuple[str, ...] = ()  #: pieces that make it something else
    bare: bool = False  #: there is no message
    at: tuple[str, ...] = ()  #: places such as `lhotse/lazy.py:__iter__`, one of which is among the frames
    inner: tuple[str, ...] = ()  #: the same, for the innermost frame
    source: str = ""  #: a piece of the innermost frame's source line, where the log has it

    def fits(self, raised: Raised, incident: Incident) -> bool:
        """Whether an exception of a chain is of this mode."""
        if raised.name not in self.type.split():
            return False
        if self.bare and raised.message:
            return False
        if not _in_order(self.says, raised.message) or any(piece in raised.message for piece in self.unless):
            return False
        if self.at and not any(frame.within(place) for frame in incident.frames for place in self.at):
            return False
        if not (self.inner or self.source):
            return True
        if not raised.frames:
            return False
        last = raised.frames[-1]
        if self.inner and not any(last.within(place) for place in self.inner):
            return False
        return not self.source or not last.source or self.source in last.source

    @property
    def of_lines(self) -> bool:
        """Whether a line alone can be of the mode."""
        return bool(self.says) and not (self.at or self.inner)

    def fits_line(self, text: str) -> bool:
        """Whether a line outside of tracebacks is of this mode: one that is printed so, or a logged exception."""
        if not self.of_lines or any(piece in text for piece in self.unless):
            return False
        if not self.type:
            return _in_order(self.says, text)
        return any(_in_order((f"{name}: ", *self.says), text) for name in self.type.split())


def raised(
    type: str,
    *says: str,
    unless: str | tuple[str, ...] = (),
    bare: bool = False,
    at: str | tuple[str, ...] = (),
    inner: str | tuple[str, ...] = (),
    source: str = "",
) -> Signature:
    """The signature of an exception."""
    return Signature(type, says, _tuple(unless), bare, _tuple(at), _tuple(inner), source)


def printed(*says: str, unless: str | tuple[str, ...] = ()) -> Signature:
    """The signature of a line."""
    return Signature("", says, _tuple(unless))


@dataclass(frozen=True, slots=True)
class Mode:
    """One failure mode. Its page, `pages/<slug>.md`, says what happened and what helps."""

    slug: str
    rules: tuple[str, ...]  #: codes of the rules that would have prevented it, the likeliest first
    signatures: tuple[Signature, ...]
    kind: Kind = Kind.CAUSE

    def fits(self, incident: Incident) -> bool:
        """Whether an incident is of this mode."""
        if not incident.chain:
            return any(signature.fits_line(incident.text) for signature in self.signatures)
        return any(self._fits(link, incident) for link in incident.chain)

    def _fits(self, link: Raised, incident: Incident) -> bool:
        return any(signature.fits(link, incident) for signature in self.signatures if signature.type)


def mode(slug: str, rules: str, *signatures: Signature, kind: Kind = Kind.CAUSE) -> Mode:
    """A line of the table; `rules` are codes separated by spaces."""
    return Mode(slug, tuple(rules.split()), signatures, kind)


def modes_fitting(incident: Incident) -> tuple[Mode, ...]:
    """The modes of an incident: those of the root of a chain before those of what came of it."""
    if not incident.chain:
        return tuple(each for each in all_modes() if each.fits(incident))
    found = [each for link in incident.chain for each in all_modes() if each._fits(link, incident)]
    return tuple(dict.fromkeys(found))


def is_telling(text: str) -> bool:
    """Whether a line outside of tracebacks is of some mode."""
    return any(signature.fits_line(text) for each in all_modes() for signature in each.signatures)


@lru_cache(maxsize=1)
def telling_pieces() -> dict[bytes, tuple[bytes, ...]]:
    """By the name of an exception, texts one of which is in every line that logs one of some mode.

    Under "" are those of lines that name no exception.
    """
    pieces: dict[bytes, dict[bytes, None]] = {b"": {}}
    for signature in (signature for each in all_modes() for signature in each.signatures if signature.of_lines):
        for name in signature.type.split() or [""]:
            pieces.setdefault(name.encode(), {})[max(signature.says, key=len).encode()] = None
    return {name: tuple(found) for name, found in pieces.items()}


def find_mode(slug: str) -> Mode | None:
    """The mode of a name."""
    wanted = slug.strip().lower()
    return next((each for each in all_modes() if each.slug == wanted), None)


def modes_of(rule: str) -> tuple[Mode, ...]:
    """The modes that a rule prevents, by its code."""
    return tuple(each for each in all_modes() if rule in each.rules)


@lru_cache(maxsize=1)
def all_modes() -> tuple[Mode, ...]:
    """The whole table. Where two fit, the earlier is meant."""
    from . import table_config, table_restore, table_sources, table_surroundings, table_trainer

    tables = (table_restore, table_sources, table_config, table_trainer, table_surroundings)
    return tuple(each for table in tables for each in table.MODES)


def _in_order(pieces: tuple[str, ...], text: str) -> bool:
    position = 0
    for piece in pieces:
        found = text.find(piece, position)
        if found < 0:
            return False
        position = found + len(piece)
    return True


def _tuple(value: str | tuple[str, ...]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else value
