"""Arithmetic and tests of a shell as far as they are known: a number or truth value, a variation, or nothing."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from ....findings import Location
from ..facts import Variation
from ..texts import Script, Text, fixed, known, unknown, varying
from .tree import at, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

Look = Callable[[str, Location], Text]
Value = int | Variation | None

_NUMBER = re.compile(r"0[xX][0-9a-fA-F]+|\d+#\w+|\d+")
_BINARY: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "<": lambda a, b: int(a < b),
    ">": lambda a, b: int(a > b),
    "<=": lambda a, b: int(a <= b),
    ">=": lambda a, b: int(a >= b),
    "==": lambda a, b: int(a == b),
    "=": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
    "-eq": lambda a, b: int(a == b),
    "-ne": lambda a, b: int(a != b),
    "-lt": lambda a, b: int(a < b),
    "-le": lambda a, b: int(a <= b),
    "-gt": lambda a, b: int(a > b),
    "-ge": lambda a, b: int(a >= b),
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
}
_COMPARED = ("-eq", "-ne", "-lt", "-le", "-gt", "-ge")


def as_text(value: Value, where: Location, written: str) -> Text:
    """The text that an arithmetic expansion leaves."""
    if isinstance(value, int):
        return fixed(str(value), where)
    if isinstance(value, Variation):
        return unknown("", where, varies=value)
    return unknown(f"`{written}` cannot be computed here", where)


def arithmetic(script: Script, node: Node, look: Look) -> Value:
    """The value of an arithmetic expression."""
    kind = node.type
    if kind in ("number", "word", "variable_name", "simple_expansion", "expansion", "subscript", "string_content"):
        text = text_of(script, node)
        if _NUMBER.fullmatch(text):
            return _integer(text)
        name = re.sub(r"^\$\{?|\}$", "", text)
        if re.fullmatch(r"\w+", name):
            return _number(look(name, at(script, node)))
        return None
    inner = [child for child in node.children if child.is_named]
    if kind in ("binary_expression",) and len(inner) == 2:
        left = node.child_by_field_name("left") or inner[0]
        right = node.child_by_field_name("right") or inner[1]
        sign = node.child_by_field_name("operator")
        return _combined(
            text_of(script, sign) if sign is not None else "",
            arithmetic(script, left, look),
            arithmetic(script, right, look),
        )
    if kind == "ternary_expression" and len(inner) == 3:
        condition = arithmetic(script, inner[0], look)
        if isinstance(condition, int):
            return arithmetic(script, inner[1 if condition else 2], look)
        return condition
    if kind == "unary_expression" and inner:
        value = arithmetic(script, inner[-1], look)
        text = text_of(script, node)
        if isinstance(value, int):
            return -value if text.startswith("-") else int(not value) if text.startswith("!") else value
        return value
    if kind in (
        "postfix_expression",
        "parenthesized_expression",
        "arithmetic_expansion",
        "compound_statement",
        "string",
    ):
        return arithmetic(script, inner[-1], look) if inner else None
    return None


def _combined(sign: str, left: Value, right: Value) -> Value:
    for value in (left, right):
        if isinstance(value, Variation):
            return value
    if left is None or right is None:
        if sign == "&&" and 0 in (left, right):
            return 0
        return None
    assert isinstance(left, int)
    assert isinstance(right, int)
    if sign in ("/", "%"):
        return None if right == 0 else (left // right if sign == "/" else left % right)
    if sign == "**":
        return left**right if 0 <= right < 64 else None
    if sign in ("<<", ">>"):
        return None if not 0 <= right < 64 else (left << right if sign == "<<" else left >> right)
    if sign in ("&&", "||"):
        return int(bool(left) and bool(right)) if sign == "&&" else int(bool(left) or bool(right))
    compute = _BINARY.get(sign)
    return compute(left, right) if compute is not None else None


def _number(text: Text) -> Value:
    if (varies := varying(text)) is not None:
        return varies
    value = known(text)
    if value is None:
        return None
    value = value.strip()
    return _integer(value) if _NUMBER.fullmatch(value) else (0 if not value else None)


def _integer(text: str) -> int | None:
    try:
        if "#" in text:
            base, digits = text.split("#", 1)
            return int(digits, int(base))
        if len(text) > 1 and text[0] == "0" and text[1] not in "xX":
            return int(text, 8)
        return int(text, 0) if len(text) < 20 else None
    except ValueError:
        return None


def certain(look: Look) -> Look:
    """Variables for a condition: a default that the caller may replace decides nothing."""

    def looked(name: str, where: Location) -> Text:
        text = look(name, where)
        if any(piece.defaulted for piece in text):
            return unknown(f"`${name}` has a default that may be replaced", where, name=name)
        return text

    return looked


def condition(script: Script, node: Node, expand: Callable[[Node], Text], look: Look) -> bool | Variation | None:
    """Whether a test holds: `[ … ]`, `[[ … ]]` and what is in them."""
    kind = node.type
    inner = [child for child in node.children if child.is_named]
    if kind in ("test_command", "parenthesized_expression"):
        return condition(script, inner[0], expand, look) if len(inner) == 1 else None
    if kind == "negated_command" or (kind == "unary_expression" and text_of(script, node).startswith("!")):
        value = condition(script, inner[-1], expand, look) if inner else None
        return not value if isinstance(value, bool) else value
    if kind == "unary_expression" and len(inner) == 2:
        sign, value = text_of(script, inner[0]), expand(inner[1])
        if sign in ("-n", "-z"):
            return _emptiness(sign, value)
        return varying(value)
    if kind == "binary_expression":
        sign_node = node.child_by_field_name("operator")
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if sign_node is None or left is None or right is None:
            return None
        sign = text_of(script, sign_node)
        if sign in ("&&", "||", "-a", "-o"):
            return _joined(
                sign in ("&&", "-a"), condition(script, left, expand, look), condition(script, right, expand, look)
            )
        one, other = expand(left), expand(right)
        if any(piece.defaulted for piece in (*one, *other)):
            return None
        if sign in _COMPARED:
            found = _combined(sign, _number(one), _number(other))
            return bool(found) if isinstance(found, int) else found
        if (varies := varying(one) or varying(other)) is not None:
            return varies
        first, second = known(one), known(other)
        if first is None or second is None or sign not in ("==", "=", "!="):
            return None
        return fnmatch.fnmatchcase(first, second) == (sign != "!=")
    return _emptiness("-n", expand(node)) if kind in ("word", "string", "simple_expansion", "expansion") else None


def _emptiness(sign: str, value: Text) -> bool | Variation | None:
    text = known(value)
    if any(piece.defaulted for piece in value):
        return None
    if text is not None:
        return bool(text) == (sign == "-n")
    if len(value) > 1 and any(piece.text for piece in value):
        return sign == "-n"  # a part of it is known and not empty
    return None


def _joined(both: bool, left: bool | Variation | None, right: bool | Variation | None) -> bool | Variation | None:
    for value in (left, right):
        if value is (not both):
            return not both
    if left is both and right is both:
        return both
    return next((value for value in (left, right) if isinstance(value, Variation)), None)
