"""Tests of a shell: whether `[ … ]`, `[[ … ]]` and `(( … ))` hold, as far as that is known."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from ....records import dataclass
from ..facts import Variation
from ..texts import Script, Text, known, varying
from .arithmetic import Number, combined, number_of
from .tree import text_of

if TYPE_CHECKING:
    from tree_sitter import Node


@dataclass(frozen=True, slots=True)
class Doubt:
    """Whether something holds is not known: because it is the caller's to decide, or only a run shows it."""

    caller: bool = False
    succeeds: bool = False  #: a command that is there to succeed, and no test


#: True, False, why it is another in each chunk, or why it is not known.
Truth = bool | Variation | Doubt
DOUBT = Doubt()
SUCCEEDS = Doubt(succeeds=True)
_COMPARED = {"-eq": "==", "-ne": "!=", "-lt": "<", "-le": "<=", "-gt": ">", "-ge": ">="}
_FILES = frozenset(
    [
        "-e",
        "-f",
        "-d",
        "-r",
        "-w",
        "-x",
        "-s",
        "-L",
        "-h",
        "-b",
        "-c",
        "-p",
        "-S",
        "-g",
        "-u",
        "-k",
        "-O",
        "-G",
        "-N",
        "-t",
        "-v",
        "-R",
    ]
)
_MAX_PATTERN = 200


def opposite(truth: Truth) -> Truth:
    """What `!` makes of it."""
    if isinstance(truth, Doubt):
        return Doubt(truth.caller)
    return not truth if isinstance(truth, bool) else truth


def both(left: Truth, right: Truth) -> Truth:
    """`left && right`."""
    if left is False or right is False:
        return False
    if left is True:
        return right
    return left if right is True or isinstance(left, Variation) or not isinstance(right, Variation) else right


def either(left: Truth, right: Truth) -> Truth:
    """`left || right`."""
    if isinstance(left, Doubt) and left.succeeds:
        return left
    return opposite(both(opposite(left), opposite(right)))


def truth_of(number: Number) -> Truth:
    """Whether a number is not 0."""
    if number.value is not None:
        return bool(number.value)
    return number.varies if number.varies is not None else Doubt(number.caller)


def condition(script: Script, node: Node, expand: Callable[[Node], Text], compute: Callable[[Node], Number]) -> Truth:
    """Whether a test in the tree holds. `compute` evaluates what stands in double parentheses."""
    kind = node.type
    inner = [child for child in node.children if child.is_named]
    if kind in ("test_command", "parenthesized_expression"):
        if text_of(script, node).startswith("(("):
            return truth_of(compute(node))
        return condition(script, inner[0], expand, compute) if len(inner) == 1 else DOUBT
    if kind == "unary_expression" and inner:
        if node.children[0].type == "!" or text_of(script, inner[0]) == "!":
            return opposite(condition(script, inner[-1], expand, compute))
        return unary(text_of(script, inner[0]), expand(inner[-1])) if len(inner) == 2 else DOUBT
    if kind == "binary_expression":
        return _binary(script, node, expand, compute)
    return emptiness("-n", expand(node))


def _binary(script: Script, node: Node, expand: Callable[[Node], Text], compute: Callable[[Node], Number]) -> Truth:
    sign_node = node.child_by_field_name("operator")
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if sign_node is None or left is None or right is None:
        return DOUBT
    sign = text_of(script, sign_node)
    if sign in ("&&", "||", "-a", "-o"):
        join = both if sign in ("&&", "-a") else either
        return join(condition(script, left, expand, compute), condition(script, right, expand, compute))
    if right.type == "binary_expression":
        # `[ a = b -a c ]`: the tree puts what follows below the right side.
        deeper = right.child_by_field_name("operator")
        first, rest = right.child_by_field_name("left"), right.child_by_field_name("right")
        if deeper is not None and first is not None and rest is not None and text_of(script, deeper) in ("-a", "-o"):
            join = both if text_of(script, deeper) == "-a" else either
            return join(
                compared(sign, expand(left), expand(first), glob=False), condition(script, rest, expand, compute)
            )
    glob = right.type not in ("string", "raw_string")
    return compared(sign, expand(left), expand(right), glob=glob)


def unary(sign: str, value: Text) -> Truth:
    """`-n x`, `-z x`, `-f x`."""
    if sign in ("-n", "-z"):
        return emptiness(sign, value)
    return varying(value) or DOUBT


def compared(sign: str, left: Text, right: Text, *, glob: bool = True) -> Truth:
    """`left sign right` of a test."""
    if sign in _COMPARED:
        return truth_of(combined(_COMPARED[sign], number_of(left), number_of(right)))
    if (varies := varying(left) or varying(right)) is not None:
        return varies
    one, other = known(left), known(right)
    if one is None or other is None:
        return Doubt(any(piece.caller for piece in (*left, *right)))
    if sign in ("=", "==", "!="):
        equal = matches(one, other) if glob else one == other
        return equal == (sign != "!=")
    if sign == "=~":
        return _found(other, one)
    if sign in ("<", ">"):
        return one < other if sign == "<" else one > other
    return DOUBT


def matches(text: str, pattern: str) -> bool:
    """Whether a text matches a pattern of the shell."""
    if len(pattern) > _MAX_PATTERN or pattern.count("*") > 8:
        return False
    return fnmatch.fnmatchcase(text, pattern)


def _found(pattern: str, text: str) -> Truth:
    """`=~` for patterns in which nothing can run away."""
    if not re.fullmatch(r"\^?(?:[\w ./:-]|\[[^\]\[]*\][+*?]?)*\$?", pattern) or len(pattern) > _MAX_PATTERN:
        return DOUBT
    try:
        return re.search(pattern, text[:_MAX_PATTERN]) is not None
    except re.error:
        return DOUBT


def emptiness(sign: str, value: Text) -> Truth:
    """Whether a text is empty (`-z`) or not (`-n`)."""
    text = known(value)
    if text is not None:
        return bool(text) == (sign == "-n")
    if any(piece.text for piece in value if piece.maybe is None):
        return sign == "-n"  # a part of it is known and not empty
    if any(piece.caller for piece in value):
        return Doubt(caller=True)
    maybe = next((piece.maybe for piece in value if piece.maybe is not None), None)
    if maybe is not None and maybe.varies is not None:
        return maybe.varies
    # Whatever a value that varies is, it is there: only a loop's earlier turn may have left nothing.
    varies = varying(value)
    if varies is not None and varies.kind not in ("loop", "restart", "array"):
        return sign == "-n"
    return varies or DOUBT


def test_words(words: list[Text]) -> Truth:
    """The words of `test` as a command."""
    if words and known(words[0]) == "!":
        return opposite(test_words(words[1:]))
    if len(words) == 1:
        return emptiness("-n", words[0])
    if len(words) == 2:
        sign = known(words[0])
        return unary(sign, words[1]) if sign is not None else DOUBT
    if len(words) == 3:
        sign = known(words[1])
        return compared(sign, words[0], words[2], glob=False) if sign is not None else DOUBT
    return DOUBT
