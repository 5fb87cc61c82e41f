"""Values as YAML text that OmegaConf reads back as the same values, in block and in flow style."""

from __future__ import annotations

import math
import re

from .scalars import STR, plain_tag

_WORD = r"[\w./@+=%~$-]+(?::[\w/.@+=%~$-]+)*"
_PLAIN = re.compile(rf"[\w./$~][\w./@+=%~$-]*(?::[\w/.@+=%~$-]+)*(?: {_WORD})*")
#: Text for OmegaConf, but a number or a date for other readers of YAML 1.1 and 1.2: quoted for their sake.
_MISREAD = re.compile(r"[-+.]?\d[\d_.:xobeETtZz +-]*|\.\.\..*")
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\0"}
#: What YAML does not print, and what it takes for a line end inside quotes.
_HIDDEN = re.compile(r"[\"\\\x00-\x1f\x7f-\xa0\u2028\u2029\ufeff\ufffe\uffff]")

_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\xa0\u2028\u2029\ufeff\ufffe\uffff]")


class CannotEdit(Exception):
    """The change cannot be made without touching something else; the message says what."""

    @property
    def reason(self) -> str:
        return str(self)


def serialize(value: object) -> str:
    """A value as YAML text on one line; strings are quoted only where they have to be. Raises CannotEdit."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return int.__repr__(value)
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, str):
        plain = _PLAIN.fullmatch(value) and plain_tag(value) == STR and not _MISREAD.fullmatch(value)
        return str(value) if plain else quoted(value)
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(serialize(item) for item in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{serialize(key)}: {serialize(item)}" for key, item in value.items()) + "}"
    raise CannotEdit(f"{type(value).__name__} has no YAML form")


def quoted(text: str) -> str:
    """A string in double quotes, on one line."""
    if any("\ud800" <= char <= "\udfff" for char in text):
        raise CannotEdit("half a surrogate pair has no YAML form")
    return '"' + _HIDDEN.sub(_escaped, text) + '"'


def printable(text: str) -> str:
    """Text on one line, with escapes for what would end the line or cannot be printed."""
    return _UNPRINTABLE.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    char = match.group()
    return _ESCAPES.get(char) or (f"\\x{ord(char):02x}" if ord(char) < 256 else f"\\u{ord(char):04x}")


def _float(value: float) -> str:
    if math.isnan(value):
        return ".nan"
    if math.isinf(value):
        return ".inf" if value > 0 else "-.inf"
    mantissa, exponent, power = repr(float(value)).partition("e")
    if exponent and "." not in mantissa:
        mantissa += ".0"  # bare PyYAML takes an exponent for a number only behind a dot
    return mantissa + exponent + power
