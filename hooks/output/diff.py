"""A unified diff that `patch` takes, made in a time that grows with the text and not with its square."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Literal

from nemo_resumable.core.text import Source

from .terminal import paint

_STYLES = {"+": "added", "-": "removed", "@": "frame"}
_SURE = 3  #: as many equal lines say that both texts go on alike
_REACH = 300  #: how many changed lines in a row are looked past; beyond that the rest is one comparison

_Kind = Literal["replace", "delete", "insert", "equal"]
_Change = tuple[_Kind, int, int, int, int]


class _Compared(SequenceMatcher[str]):
    """Changes that are known already, for difflib to gather into hunks."""

    def __init__(self, changes: list[_Change]) -> None:
        super().__init__(None, [], [])
        self._changes = changes

    def get_opcodes(self) -> list[_Change]:
        return self._changes


def unified(before: Source, after: Source, name: str, color: bool = False) -> str:
    """The changes of a file. Lines end where `\\n` stands and nowhere else, as `patch` counts them."""
    old, new = _lines(before), _lines(after)
    lines: list[str] = []
    for hunk in _Compared(list(_changes(old, new))).get_grouped_opcodes():
        lines.append(f"@@ -{_range(hunk[0][1], hunk[-1][2])} +{_range(hunk[0][3], hunk[-1][4])} @@\n")
        for kind, start, end, new_start, new_end in hunk:
            if kind == "equal":
                lines += [f" {line}" for line in old[start:end]]
                continue
            lines += [f"-{line}" for line in old[start:end]]
            lines += [f"+{line}" for line in new[new_start:new_end]]
    if not lines:
        return ""
    return "".join(_finished(line, color) for line in [f"--- {name}\n", f"+++ {name}\n", *lines])


def _changes(old: list[str], new: list[str]) -> Iterator[_Change]:
    """What makes one text the other, as difflib's opcodes.

    A fix changes a few lines here and there: so both texts are walked together, and only what lies between two
    places where they agree is compared by difflib, which takes quadratic time on lists that repeat their lines.
    """
    i = j = 0
    while i < len(old) or j < len(new):
        start, new_start = i, j
        while i < len(old) and j < len(new) and old[i] == new[j]:
            i, j = i + 1, j + 1
        if i > start:
            yield "equal", start, i, new_start, j
        start, new_start = i, j
        i, j = _meeting(old, new, i, j)
        block: SequenceMatcher[str] = SequenceMatcher(None, old[start:i], new[new_start:j], autojunk=False)
        for kind, a, b, c, d in block.get_opcodes():
            yield kind, start + a, start + b, new_start + c, new_start + d


def _meeting(old: list[str], new: list[str], i: int, j: int) -> tuple[int, int]:
    """The nearest places from which both texts go on alike; their ends where there are none near."""
    for distance in range(1, _REACH):
        for ahead in range(distance + 1):
            a, b = i + ahead, j + distance - ahead
            if a <= len(old) and b <= len(new) and old[a : a + _SURE] == new[b : b + _SURE]:
                return a, b
    return len(old), len(new)


def _range(start: int, end: int) -> str:
    """Lines of a hunk: where they begin and how many; of none the line before."""
    length = end - start
    return f"{start + 1}" if length == 1 else f"{start + 1 if length else start},{length}"


def _finished(line: str, color: bool) -> str:
    body = line.removesuffix("\n")
    note = "" if line.endswith("\n") else "\n\\ No newline at end of file"
    style = _STYLES.get(line[0], "")
    return (paint(body, style, color) if style else body) + note + "\n"


def _lines(source: Source) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", ("\ufeff" if source.bom else "") + source.text)
