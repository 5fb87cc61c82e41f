"""Shell arithmetic on text as far as it is known: a number, why it is another in each chunk, or why it is not known."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from ....findings import Location
from ....records import dataclass
from ..facts import Variation
from ..texts import Piece, Text, flat, known, unknown, varying

_TOKEN = re.compile(
    r"\s*(?:(?P<number>0[xX][0-9a-fA-F]+|\d+#\w+|\d+)|(?P<name>[A-Za-z_]\w*)(?P<index>\[[^\]]*\])?"
    r"|(?P<sign><<=|>>=|\*\*|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|[-+*/%<>=!~&|^?:(),])|(?P<hole>\S))"
)
_ASSIGNING = ("=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=")
#: Binary signs by their strength, the weakest first.
_LEVELS = (
    ("||",),
    ("&&",),
    ("|",),
    ("^",),
    ("&",),
    ("==", "!="),
    ("<", ">", "<=", ">="),
    ("<<", ">>"),
    ("+", "-"),
    ("*", "/", "%"),
    ("**",),
)
_MAX_TEXT = 1000
_MAX_DEPTH = 60
_MAX_VALUE = 1 << 64

#: The value of a variable, or of an element of an array; and what an assignment does.
Look = Callable[[str, Location], Text]
Assign = Callable[[str, Text], None]


@dataclass(frozen=True, slots=True)
class Number:
    """A number. With `value` None it is not known; `varies` says why it is another in each chunk."""

    value: int | None = None
    varies: Variation | None = None
    defaulted: bool = False
    caller: bool = False  #: it is for whoever starts the launcher to say

    def text(self, where: Location, written: str) -> Text:
        """The number as text."""
        if self.value is not None:
            return (Piece(str(self.value), where, defaulted=self.defaulted),)
        if self.varies is not None:
            return unknown("", where, varies=self.varies)
        return unknown(f"`{written[:40]}` cannot be computed here", where, caller=self.caller)


UNKNOWN = Number()


def number_of(text: Text) -> Number:
    """The number that a text is; an empty one is 0."""
    if (varies := varying(text)) is not None:
        return Number(varies=varies)
    value = known(text)
    if value is None:
        return Number(caller=any(piece.caller for piece in text))
    value = value.strip()
    defaulted = any(piece.defaulted for piece in text)
    if not value:
        return Number(0, defaulted=defaulted)
    negative = value.startswith("-")
    found = integer(value[1:] if value[:1] in ("-", "+") else value)
    return Number(-found if negative and found is not None else found, defaulted=defaulted)


def integer(text: str) -> int | None:
    """A number as a shell writes it: decimal, octal with a leading 0, 0x…, base#digits."""
    try:
        if "#" in text:
            base, digits = text.split("#", 1)
            return int(digits, int(base)) if 2 <= int(base) <= 36 else None
        if len(text) > 1 and text[0] == "0" and text[1].isdigit():
            return int(text, 8)
        return int(text, 0) if len(text) < 20 else None
    except ValueError:
        return None


def evaluate(text: Text, where: Location, look: Look, assign: Assign) -> Number:
    """The value of an expression; `$` expansions are done before, names are looked up here."""
    if len(flat(text)) > _MAX_TEXT:
        return UNKNOWN
    reader = _Reader(text, where, look, assign)
    try:
        value = reader.whole()
    except _Wrong:
        return Number(varies=varying(text))
    return value


class _Wrong(Exception):
    """The text is no expression that is understood."""


class _Reader:
    """Reads an expression by descent."""

    def __init__(self, text: Text, where: Location, look: Look, assign: Assign) -> None:
        self._where, self._look, self._assign = where, look, assign
        self._holes = [piece for piece in text if piece.text is None]
        self._defaulted = any(piece.defaulted for piece in text)
        self._tokens = [match for match in _TOKEN.finditer(flat(text)) if match[0].strip()]
        self._at = 0
        self._depth = 0
        self._quiet = 0  #: inside a part that is not evaluated

    def whole(self) -> Number:
        if not self._tokens:
            return Number(0)
        value = self._comma()
        if self._at < len(self._tokens):
            raise _Wrong
        return replace(value, defaulted=value.defaulted or self._defaulted)

    def _sign(self) -> str:
        return self._tokens[self._at]["sign"] or "" if self._at < len(self._tokens) else ""

    def _comma(self) -> Number:
        value = self._assignment()
        while self._sign() == ",":
            self._at += 1
            value = self._assignment()
        return value

    def _assignment(self) -> Number:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise _Wrong
        try:
            token = self._tokens[self._at] if self._at < len(self._tokens) else None
            following = self._tokens[self._at + 1]["sign"] if self._at + 1 < len(self._tokens) else None
            if token is not None and token["name"] and following in _ASSIGNING:
                self._at += 2
                value = self._assignment()
                if following != "=":
                    value = combined(following[:-1], self._variable(token), value)
                return self._set(token, value)
            return self._choice()
        finally:
            self._depth -= 1

    def _choice(self) -> Number:
        test = self._binary(0)
        if self._sign() != "?":
            return test
        self._at += 1
        yes = self._assignment()
        if self._sign() != ":":
            raise _Wrong
        self._at += 1
        no = self._assignment()
        if test.value is not None:
            chosen = yes if test.value else no
            return replace(chosen, defaulted=chosen.defaulted or test.defaulted)
        return yes if yes == no else replace(test, value=None)

    def _binary(self, level: int) -> Number:
        if level == len(_LEVELS):
            return self._unary()
        left = self._binary(level + 1)
        while (sign := self._sign()) in _LEVELS[level]:
            self._at += 1
            left = combined(sign, left, self._binary(level + (sign != "**")))
        return left

    def _unary(self) -> Number:
        sign = self._sign()
        if sign in ("-", "+", "!", "~"):
            self._at += 1
            value = self._unary()
            if value.value is None:
                return value
            done = {"-": -value.value, "+": value.value, "!": int(not value.value), "~": ~value.value}[sign]
            return replace(value, value=done)
        if sign in ("++", "--"):
            self._at += 1
            token = self._tokens[self._at] if self._at < len(self._tokens) else None
            value = self._unary()
            changed = combined(sign[0], value, Number(1))
            return self._set(token, changed) if token is not None and token["name"] else changed
        return self._primary()

    def _primary(self) -> Number:
        if self._at >= len(self._tokens):
            raise _Wrong
        token = self._tokens[self._at]
        self._at += 1
        if token["number"]:
            return Number(integer(token["number"]))
        if token["name"]:
            value = self._variable(token)
            if self._sign() in ("++", "--"):
                self._set(token, combined(self._sign()[0], value, Number(1)))
                self._at += 1
            return value
        if token["hole"] and self._holes and not token["hole"].isascii():
            return number_of((self._holes.pop(0),))
        if token["sign"] == "(":
            value = self._comma()
            if self._sign() != ")":
                raise _Wrong
            self._at += 1
            return value
        raise _Wrong

    def _variable(self, token: re.Match[str]) -> Number:
        return number_of(self._look(token["name"] + (token["index"] or ""), self._where))

    def _set(self, token: re.Match[str], value: Number) -> Number:
        if not token["index"]:
            self._assign(token["name"], value.text(self._where, token["name"]))
        return value


def combined(sign: str, left: Number, right: Number) -> Number:
    """Two numbers under a sign, a comparison giving 1 or 0."""
    defaulted = left.defaulted or right.defaulted
    for one in (left, right):
        if sign in ("&&", "||") and one.value is not None and bool(one.value) == (sign == "||"):
            return Number(int(sign == "||"), defaulted=defaulted)
    for one in (left, right):
        if one.varies is not None:
            return Number(varies=one.varies)
    if left.value is None or right.value is None:
        return Number(caller=left.caller or right.caller)
    value = _computed(sign, left.value, right.value)
    return Number(value if value is not None and abs(value) < _MAX_VALUE else None, defaulted=defaulted)


def _computed(sign: str, left: int, right: int) -> int | None:
    if sign in ("/", "%"):
        if right == 0:
            return None
        quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
        return quotient if sign == "/" else left - right * quotient
    if sign in ("**", "<<", ">>") and not 0 <= right < 64:
        return None
    results: dict[str, int] = {
        "+": left + right,
        "-": left - right,
        "*": left * right,
        "<": int(left < right),
        ">": int(left > right),
        "<=": int(left <= right),
        ">=": int(left >= right),
        "==": int(left == right),
        "!=": int(left != right),
        "&": left & right,
        "|": left | right,
        "^": left ^ right,
        "&&": int(bool(left) and bool(right)),
        "||": int(bool(left) or bool(right)),
    }
    if sign in results:
        return results[sign]
    if sign == "**":
        return left**right if abs(left) < 1 << 16 else None
    return left << right if sign == "<<" and abs(left) < 1 << 40 else left >> right if sign == ">>" else None
