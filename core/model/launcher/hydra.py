"""Hydra's override grammar: a word of a command line as key and prefix, and its value as Python would see it.

Facts from Hydra's documentation, "The Override grammar" (basic): quoted strings, lists, dicts, unquoted strings with inner
blanks, `null`, booleans and numbers in any case, a sweep where a comma stands at the top.
"""

from __future__ import annotations

import re

from ...records import dataclass

_KEY = re.compile(r"(\+\+|\+|~)?([A-Za-z_][\w$-]*(?:/[\w.$-]+)*(?:[.@][\w$:-]+)*(?:\[[^\]=]*\])*(?:\.[\w$-]+)*)(=|$)")
_INT = re.compile(r"[+-]?(?:0|[1-9](?:_?\d)*)")
_DIGITS = r"\d(?:_?\d)*"
_POINT = rf"(?:(?:{_DIGITS})?\.{_DIGITS}|{_DIGITS}\.)"
_FLOAT = re.compile(rf"[+-]?(?:{_POINT}(?:e[+-]?{_DIGITS})?|{_DIGITS}e[+-]?{_DIGITS}|inf|nan)", re.I)
#: What an unquoted string is made of, blanks inside it aside.
_UNQUOTED = re.compile(r"[\w/\\+.$%*@?|:\-]", re.ASCII)
_FUNCTION = re.compile(r"[A-Za-z_]\w*\(")
_MAX_DEPTH = 50


@dataclass(frozen=True, slots=True)
class Unparsed:
    """A value outside the grammar, or a sweep, which the runner of a training script refuses."""

    reason: str


@dataclass(frozen=True, slots=True)
class OverrideText:
    """A word of a command line as an override: `value` is the text behind `=`, None for `~key` alone."""

    prefix: str  #: "" · "+" · "++" · "~"
    key: str  #: dotted; a config group (`model/optim@x`) keeps its slashes
    value: str | None
    value_at: int  #: where the value begins in the word


def override_text(word: str) -> OverrideText | None:
    """The override in a word, or None for a flag, a file name and whatever else is none."""
    match = _KEY.match(word)
    if match is None:
        return None
    prefix, key, sign = match[1] or "", match[2], match[3]
    if not sign:
        return OverrideText(prefix, key, None, len(word)) if prefix == "~" else None
    return OverrideText(prefix, key, word[match.end() :], match.end())


def hydra_value(text: str) -> object:
    """The value of an override's text: None, bool, int, float, str, list or dict; Unparsed where it is no single value."""
    if not text.strip():
        return ""
    if _FUNCTION.match(text.strip()):
        return Unparsed("it is a sweep or a cast, which is computed at run time")
    parser = _Parser(text)
    try:
        value = parser.element(0)
        parser.blanks()
    except _Wrong as wrong:
        return Unparsed(str(wrong))
    if parser.at < len(text):
        return Unparsed("it is a sweep" if text[parser.at] == "," else f"`{text[parser.at]}` is not allowed there")
    return value


class _Wrong(Exception):
    """What in a value is outside the grammar."""


class _Parser:
    """Reads one value; `at` is the position in the text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def blanks(self) -> None:
        while self.at < len(self.text) and self.text[self.at] in " \t":
            self.at += 1

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def element(self, depth: int, stop: str = ",") -> object:
        if depth > _MAX_DEPTH:
            raise _Wrong("it is nested too deeply")
        self.blanks()
        first = self.peek()
        if first == "[":
            return self.items(depth)
        if first == "{":
            return self.pairs(depth)
        if first and first in "\"'":
            return self.quoted()
        text = self.plain(stop)
        if not text:
            raise _Wrong("a value is missing")
        return _primitive(text)

    def items(self, depth: int) -> list[object]:
        self.at += 1
        found: list[object] = []
        self.blanks()
        if self.peek() == "]":
            self.at += 1
            return found
        while True:
            found.append(self.element(depth + 1, ",]"))
            self.blanks()
            sign = self.peek()
            self.at += 1
            if sign == "]":
                return found
            if sign != ",":
                raise _Wrong("a list is not closed")

    def pairs(self, depth: int) -> dict[object, object]:
        self.at += 1
        found: dict[object, object] = {}
        self.blanks()
        if self.peek() == "}":
            self.at += 1
            return found
        while True:
            self.blanks()
            key = _primitive(self.plain(":,}"))
            self.blanks()
            if self.peek() != ":":
                raise _Wrong("a key has no value")
            self.at += 1
            found[key] = self.element(depth + 1, ",}")
            self.blanks()
            sign = self.peek()
            self.at += 1
            if sign == "}":
                return found
            if sign != ",":
                raise _Wrong("a mapping is not closed")

    def quoted(self) -> str:
        quote = self.peek()
        self.at += 1
        out: list[str] = []
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == "\\" and self.text[self.at + 1 : self.at + 2] in (quote, "\\"):
                out.append(self.text[self.at + 1])
                self.at += 2
            elif char == quote:
                self.at += 1
                return "".join(out)
            else:
                out.append(char)
                self.at += 1
        raise _Wrong("a quote is not closed")

    def plain(self, stop: str) -> str:
        """An unquoted value up to one of the signs; interpolations and escaped signs belong to it."""
        out: list[str] = []
        braces = 0
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == "\\" and self.at + 1 < len(self.text):
                out.append(self.text[self.at + 1])
                self.at += 2
                continue
            if self.text.startswith("${", self.at):
                braces += 1
                out.append("${")
                self.at += 2
                continue
            if braces:
                braces -= char == "}"
            elif char in stop:
                break
            elif char not in " \t" and not _UNQUOTED.match(char):
                raise _Wrong(f"`{char}` has to be quoted")
            out.append(char)
            self.at += 1
        return "".join(out).strip(" \t")


def _primitive(text: str) -> object:
    lowered = text.lower()
    if lowered == "null":
        return None
    if lowered in ("true", "false"):
        return lowered == "true"
    if _INT.fullmatch(text):
        return int(text.replace("_", ""))
    if _FLOAT.fullmatch(text):
        return float(text.replace("_", ""))
    return text
