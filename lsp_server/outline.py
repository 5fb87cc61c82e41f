"""Where the cursor is in YAML that need not parse: the keys above by their indentation, and what stands beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from nemo_resumable.core.text import Source, Span

from .places import KEY, VALUE

_DASH = re.compile(r"-(?:[ \t]+|$)")
_NAME = r"""[^\s#:,\[\]{}"'&*!|>%@`?-][^\s#:,\[\]{}"']*|"[^"\\]*"|'[^']*'"""
_PAIR = re.compile(rf"({_NAME})[ \t]*:(?:[ \t]+|$)")
_GLUED = re.compile(rf"({_NAME})[ \t]*:$")
_WORD = re.compile(r"[\w.$/-]*")
_VALUE_END = re.compile(r"[\w.$/-]*[\"']?")
_COMMENT = re.compile(r"(?:^|[ \t])#")
_FLOW_PAIR = re.compile(rf"(?:^|[,{{])\s*({_NAME})\s*:\s*([^,{{}}\[\]]*)")
#: A value of these forms is written below its key, or may be.
_BELOW = re.compile(r"(?:(?:&\S+|!\S*)[ \t]*)*(?:#.*)?$")


@dataclass(frozen=True, slots=True)
class Spot:
    """A key that is being typed, or the value of one."""

    path: tuple[str, ...]  #: of the mapping; each list on the way is one `0`
    role: str
    key: str  #: of a value; of a key what is typed of it
    word: Span  #: what is replaced
    beside: dict[str, str]  #: the other keys of the mapping, and their values as written
    glued: bool = False  #: a value right after its colon, which needs a blank first
    has_colon: bool = False  #: a key whose colon stands already
    opens: bool = False  #: nothing but blanks stands before it in its line


def spot_at(source: Source, offset: int) -> Spot | None:
    """What may be typed at an offset; None in comments, in text of several words, and where the indentation fits nothing."""
    number = source.lines.position(offset).line
    line = source.lines.line_span(number)
    before, after = source.text[line.start : offset], source.text[offset : line.end]
    if _in_comment(before):
        return None
    column = _blanks(before)
    dashes, column = _dashes(before, column)
    rest = before[column:]
    flow = _flow(rest)
    if flow is not None:
        return _flow_spot(source, number, offset, dashes, column, rest, flow, after)
    pair = _PAIR.match(rest) or _GLUED.match(rest)
    found = _above(source, number, dashes, column)
    if found is None:
        return None
    path, beside = found
    beside.update(_below(source, number, column))
    if pair is not None:
        typed = rest[pair.end() :]
        if re.search(r"[^\w.$/\"'-]", typed):
            return None
        end = _VALUE_END.match(after)
        word = Span(offset - len(typed), offset + (end.end() if end else 0))
        return Spot(path, VALUE, _unquoted(pair[1]), word, beside, glued=pair[0].endswith(":"))
    if not re.fullmatch(r"[\w.]*", rest):
        return None
    end = _WORD.match(after)
    stop = end.end() if end else 0
    colon = after[stop:].lstrip(" \t").startswith(":")
    if not colon and after[stop:].strip() and not _in_comment(after[stop:]):
        return None
    return Spot(path, KEY, rest, Span(offset - len(rest), offset + stop), beside, has_colon=colon, opens=not dashes)


def _in_comment(text: str) -> bool:
    return any(
        text[: match.end()].count('"') % 2 == 0 and text[: match.end()].count("'") % 2 == 0
        for match in _COMMENT.finditer(text)
    )


def _blanks(text: str) -> int:
    return len(text) - len(text.lstrip(" "))


def _unquoted(name: str) -> str:
    return name[1:-1] if name[:1] in "\"'" else name


def _dashes(text: str, column: int) -> tuple[list[int], int]:
    """The columns of the dashes at the beginning of a line, and that of what follows."""
    found = []
    while match := _DASH.match(text, column):
        found.append(column)
        column = match.end()
    return found, column


@dataclass(frozen=True, slots=True)
class _Element:
    """A dash, or a key with its value as written."""

    column: int
    name: str | None = None  #: None: a dash
    value: str = ""


def _elements(text: str) -> list[_Element]:
    """The dashes and the key of a line, from left to right."""
    stripped = text.strip()
    if not stripped or stripped[0] == "#":
        return []
    dashes, column = _dashes(text, _blanks(text))
    found = [_Element(each) for each in dashes]
    if pair := _PAIR.match(text, column):
        found.append(_Element(column, _unquoted(pair[1]), text[pair.end() :].strip()))
    return found


def _lines_above(source: Source, number: int) -> Iterator[list[_Element]]:
    for above in range(number - 1, 0, -1):
        text = source.lines.line_text(above)
        if text.startswith(("---", "...")):
            return
        yield _elements(text)


def _above(
    source: Source, number: int, dashes: list[int], column: int
) -> tuple[tuple[str, ...], dict[str, str]] | None:
    """The path of the mapping whose keys begin at a column, and its keys above; None where that column fits nothing."""
    path: list[str] = []
    beside: dict[str, str] = {}
    level, of_list, deeper = column, False, False
    own = [_Element(each) for each in dashes]
    for elements in (own, *_lines_above(source, number)):
        for element in reversed(elements):
            at, name = element.column, element.name
            if name is None:
                if at < level:
                    path.append("0")
                    level, of_list = at, True
            elif at < level or (of_list and at == level):
                if not _BELOW.match(element.value):
                    return None
                path.append(name)
                level, of_list = at, False
            elif at == level and not path:
                beside.setdefault(name, element.value)
            elif not path and not beside:
                deeper = True
            if path and deeper and not beside and not own:
                return None  # the keys of that mapping stand at another column
        if level == 0 and not of_list and path:
            break
    return tuple(reversed(path)), beside


def _below(source: Source, number: int, column: int) -> Iterator[tuple[str, str]]:
    """The keys of the mapping in the lines that follow."""
    for below in range(number + 1, len(source.lines) + 1):
        text = source.lines.line_text(below)
        if text.startswith(("---", "...")):
            return
        elements = _elements(text)
        if not elements:
            continue
        if elements[0].column < column:
            return
        if elements[0].column == column and elements[0].name is not None:
            yield elements[0].name, elements[0].value


# -- flow style, on one line


@dataclass(frozen=True, slots=True)
class _Flow:
    """The innermost `{` that is open at the cursor."""

    start: int  #: after the bracket
    part: int  #: where the pair begins that the cursor is in
    path: tuple[str, ...]  #: from the value that the line's key or dash opens


def _flow(text: str) -> _Flow | None:
    """The open bracket in which a text ends, if it is that of a mapping."""
    stack: list[tuple[str, int, int]] = []  # bracket, where its content begins, where the current part does
    quote = ""
    for index, char in enumerate(text):
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char in "{[" and text[index - 1 : index] != "$":
            stack.append((char, index + 1, index + 1))
        elif char in "}]" and stack:
            stack.pop()
        elif char == "," and stack:
            stack[-1] = (*stack[-1][:2], index + 1)
    if not stack or stack[-1][0] != "{" or quote:
        return None
    path: list[str] = []
    for (bracket, _, part), (_, opened, _) in zip(stack, stack[1:]):
        pair = _PAIR.match(text[part : opened - 1].lstrip() + " ")
        path.append("0" if bracket == "[" else _unquoted(pair[1]) if pair else "")
    return _Flow(stack[-1][1], stack[-1][2], tuple(path))


def _flow_spot(
    source: Source, number: int, offset: int, dashes: list[int], column: int, rest: str, flow: _Flow, after: str
) -> Spot | None:
    found = _above(source, number, dashes, column)
    if found is None:
        return None
    opened = _PAIR.match(rest)
    outer = (*found[0], _unquoted(opened[1])) if opened and opened.end() <= flow.start else found[0]
    closed = re.split(r"[}\]]", after, maxsplit=1)[0]
    others = (
        rest[flow.start - 1 : flow.part] + closed[closed.find(",") :]
        if "," in closed
        else rest[flow.start - 1 : flow.part]
    )
    beside = {_unquoted(match[1]): match[2].strip() for match in _FLOW_PAIR.finditer(others)}
    part = rest[flow.part :].lstrip()
    pair = _PAIR.match(part) or _GLUED.match(part)
    path = (*outer, *flow.path)
    end = _WORD.match(after)
    stop = offset + (end.end() if end else 0)
    if pair is not None:
        typed = part[pair.end() :]
        glued = pair[0].endswith(":")
        return Spot(path, VALUE, _unquoted(pair[1]), Span(offset - len(typed), stop), beside, glued=glued)
    if not re.fullmatch(r"[\w.]*", part):
        return None
    has_colon = after[stop - offset :].lstrip().startswith(":")
    return Spot(path, KEY, part, Span(offset - len(part), stop), beside, has_colon=has_colon)
