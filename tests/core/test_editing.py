"""Edits over one version of a document: by table, over generated documents, and over real configs where they are at hand."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nemo_resumable.core.findings import Edit
from nemo_resumable.core.syntax.applying import apply_edits
from nemo_resumable.core.syntax.editing import CannotEdit, serialize, set_nested, set_value
from nemo_resumable.core.syntax.nodes import Document, Mapping, Node, Scalar, Sequence, deref, to_plain
from nemo_resumable.core.syntax.reader import read
from nemo_resumable.core.syntax.removing import (
    comment_out_item,
    quote_scalar,
    remove_pair,
    rename_key,
    unwrap_root_pair,
)
from nemo_resumable.core.text import Source

REATTACHED = "the lines after it would become part of the text above"
CONFIGS = Path(__file__).parents[3] / "shared" / "corpus" / "configs"
BOUNDED = settings(
    derandomize=True, database=None, deadline=None, max_examples=300, suppress_health_check=list(HealthCheck)
)


def document(text: str) -> Document:
    read_text = read(Source(Path("a.yaml"), text), recover=False)
    assert read_text.parses, text
    return read_text


def at(root: Node | None, *path: str | int) -> Any:
    node: Any = root
    for part in path:
        node = deref(node)
        node = node.items[part] if isinstance(part, int) else node.get(part).value
    return deref(node)


def result(text: str, edits: tuple[Edit, ...]) -> str:
    assert all(edit.file == Path("a.yaml") for edit in edits)
    return apply_edits(Source(Path("a.yaml"), text), edits).text


def plain(text: str) -> Any:
    root = document(text).root
    return None if root is None else to_plain(root)


REPLACE = {
    "plain": ("a: 1\nb: 2\n", "a: 9\nb: 2\n"),
    "comment behind": ("a: 1  # why\nb: 2\n", "a: 9  # why\nb: 2\n"),
    "single": ("a: 'x # y'  # why\n", "a: 9  # why\n"),
    "double": ('a: "x"\n', "a: 9\n"),
    "omitted": ("a:\nb: 2\n", "a: 9\nb: 2\n"),
    "omitted with comment": ("a:   # why\nb: 2\n", "a: 9   # why\nb: 2\n"),
    "omitted at the end": ("b: 2\na:", "b: 2\na: 9"),
    "null": ("a: ~\n", "a: 9\n"),
    "next line": ("a:\n  # why\n  old\nb: 2\n", "a:\n  # why\n  9\nb: 2\n"),
    "multi-line plain": ("a: one\n  two\n  three  # why\nb: 2\n", "a: 9  # why\nb: 2\n"),
    "multi-line double": ('a: "one\n\n  two"  # why\nb: 2\n', "a: 9  # why\nb: 2\n"),
    "literal": ("a: |\n  x\n  y\n\nb: 2\n", "a: 9\n\nb: 2\n"),
    "literal with comment": ("a: |-  # why\n  x # not\nb: 2\n", "a: 9  # why\nb: 2\n"),
    "folded, kept": ("a: >+\n  x\n\n\nb: 2\n", "a: 9\n\n\nb: 2\n"),
    "literal, only white": ("a: |\n\nb: 2\n", "a: 9\n\nb: 2\n"),
    "tag": ("a: !!str 1\n", "a: 9\n"),
    "unused anchor": ("a: &x 1  # why\n", "a: 9  # why\n"),
    "flow list": ("a: [1, 2]  # why\n", "a: 9  # why\n"),
    "flow list over lines": ("a: [1,\n  2]\nb: 2\n", "a: 9\nb: 2\n"),
    "block list": ("a:\n  - 1\n  - 2\nb: 2\n", "a: 9\nb: 2\n"),
    "block list, flush": ("a:\n- 1\n- 2\nb: 2\n", "a: 9\nb: 2\n"),
    "block mapping": ("a:\n  x: 1\n  y:\n    z: 2\nb: 2\n", "a: 9\nb: 2\n"),
    "block mapping with comments around": ("a:  # why\n  x: 1\n# next\nb: 2\n", "a: 9  # why\n# next\nb: 2\n"),
    "block mapping with an unused anchor": ("a: &x  # why\n  x: 1\nb: 2\n", "a: 9  # why\nb: 2\n"),
    "alias": ("b: &x 1\na: *x  # why\n", "b: &x 1\na: 9  # why\n"),
    "CRLF": ("a: one\r\n  two\r\nb: 2\r\n", "a: 9\r\nb: 2\r\n"),
    "no final newline": ("b: 2\na: 1", "b: 2\na: 9"),
    "flow": ("{b: 2, a: 1}\n", "{b: 2, a: 9}\n"),
    "flow, omitted": ("{a: , b: 2}\n", "{a: 9 , b: 2}\n"),
    "flow, key alone": ("{a, b: 2}\n", "{a: 9, b: 2}\n"),
    "flow, tight": ('{"a":1,"b":2}\n', '{"a":9,"b":2}\n'),
    "quoted key": ('"a": 1\n', '"a": 9\n'),
    "behind a dash": ("a: 1\nb:\n- a: 2\n", "a: 9\nb:\n- a: 2\n"),
    "key written twice": ("a: 1\na: 2\n", "a: 1\na: 9\n"),
    "documents after it": ("a: 1\n---\na: 2\n", "a: 9\n---\na: 2\n"),
}


@pytest.mark.parametrize(("text", "wanted"), REPLACE.values(), ids=REPLACE)
def test_a_written_value_is_replaced_where_it_stands(text: str, wanted: str) -> None:
    before = document(text)
    edits = set_value(before, at(before.root), "a", 9, note="was it")
    assert result(text, edits) == wanted
    assert plain(wanted) == {**plain(text), "a": 9}
    assert [edit.note for edit in edits].count("was it") == 1


INSERT = {
    "at the end": ("a: 1\n", (), "a: 1\nn: 9\n"),
    "no final newline": ("a: 1", (), "a: 1\nn: 9"),
    "CRLF": ("a: 1\r\nb:\r\n  c: 1\r\n", ("b",), "a: 1\r\nb:\r\n  c: 1\r\n  n: 9\r\n"),
    "CR": ("a: 1\rb: 2\r", (), "a: 1\rb: 2\rn: 9\r"),
    "nested, before what follows": (
        "a:\n  b: 1\n\n# about c\nc: 2\n",
        ("a",),
        "a:\n  b: 1\n  n: 9\n\n# about c\nc: 2\n",
    ),
    "after the last leaf": ("a:\n  b:\n    c: 1  # why\nd: 2\n", ("a",), "a:\n  b:\n    c: 1  # why\n  n: 9\nd: 2\n"),
    "comments behind the last value": ("a: 1\n# x\n# y\n", (), "a: 1\nn: 9\n# x\n# y\n"),
    "after a list": ("a:\n- 1\n- 2\n", (), "a:\n- 1\n- 2\nn: 9\n"),
    "after an empty item": ("a:\n- 1\n-\n", (), "a:\n- 1\n-\nn: 9\n"),
    "after an omitted value": ("a:  # c\n", (), "a:  # c\nn: 9\n"),
    "after an alias": ("a: &x 1\nb: *x\n", (), "a: &x 1\nb: *x\nn: 9\n"),
    "behind a dash": ("- a: 1\n- b: 2\n", (0,), "- a: 1\n  n: 9\n- b: 2\n"),
    "behind a wide dash": ("-   a: 1\n", (0,), "-   a: 1\n    n: 9\n"),
    "after a multi-line string": ('a: "x\n\n  y"\n', (), 'a: "x\n\n  y"\nn: 9\n'),
    "after a literal": ("a: |\n  x\n\nb: 1\n", (), "a: |\n  x\n\nb: 1\nn: 9\n"),
    "literal last": ("a: |\n  x\n\n", (), "a: |\n  x\nn: 9\n\n"),
    "kept blank lines": ("a:\n  b: |+\n    x\n\n\nc: 1\n", ("a",), "a:\n  b: |+\n    x\n\n\n  n: 9\nc: 1\n"),
    "kept blank lines at the end": ("a: |+\n  x\n\n", (), "a: |+\n  x\n\nn: 9\n"),
    "white content": ("a: |\n  x\n     \nb:\n", (), "a: |\n  x\n     \nb:\nn: 9\n"),
    "white content last": ("a: |\n  x\n     \n", (), "a: |\n  x\n     \nn: 9\n"),
    "literal without final newline": ("# about a\na: |\n  x", (), "n: 9\n# about a\na: |\n  x"),
    "kept without final newline": ("- a: >+\n    x", (0,), "- n: 9\n  a: >+\n    x"),
    "stripped without final newline": ("a: |-\n  x", (), "a: |-\n  x\nn: 9"),
    "merge key only": ("d: &d {n: 1}\na:\n  <<: *d\n", ("a",), "d: &d {n: 1}\na:\n  <<: *d\n  n: 9\n"),
    "anchors on mapping and key": ("&m\n&k a: 1\n", (), "&m\n&k a: 1\nn: 9\n"),
    "document end": ("a: 1\n...\n", (), "a: 1\nn: 9\n...\n"),
    "flow": ("a: {b: 1}  # c\n", ("a",), "a: {b: 1, n: 9}  # c\n"),
    "flow, empty": ("a: {}\n", ("a",), "a: {n: 9}\n"),
    "flow, spaces": ("a: { b: 1 }\n", ("a",), "a: { b: 1, n: 9 }\n"),
    "flow, trailing comma": ("a: {b: 1, }\n", ("a",), "a: {b: 1, n: 9, }\n"),
    "flow, omitted": ("a: {b: }\n", ("a",), "a: {b: , n: 9 }\n"),
    "flow, key alone": ("a: {b}\n", ("a",), "a: {b , n: 9}\n"),
    "flow over lines": ("a: {\n  b: 1\n}\n", ("a",), "a: {\n  b: 1,\n  n: 9\n}\n"),
    "flow over lines, comma": ("a: {\n  b: 1,\n}\n", ("a",), "a: {\n  b: 1,\n  n: 9,\n}\n"),
    "flow over lines, comment": ("a: {\n  b: 1  # c\n}\n", ("a",), "a: {\n  b: 1,  # c\n  n: 9\n}\n"),
    "flow over lines, comma, comment": ("a: {\n  b: 1,  # c\n}\n", ("a",), "a: {\n  b: 1,  # c\n  n: 9,\n}\n"),
    "flow over lines, closed behind": ("a: {\n  b: 1}\n", ("a",), "a: {\n  b: 1, n: 9}\n"),
}


@pytest.mark.parametrize(("text", "path", "wanted"), INSERT.values(), ids=INSERT)
def test_an_absent_key_is_inserted_at_the_end_of_its_mapping(
    text: str, path: tuple[str | int, ...], wanted: str
) -> None:
    before = document(text)
    edits = set_value(before, at(before.root, *path), "n", 9)
    assert result(text, edits) == wanted
    expected = plain(text)
    inner = expected
    for part in path:
        inner = inner[part]
    inner["n"] = 9
    assert plain(wanted) == expected


NESTED = {
    "empty file": ("", ("a", "b"), "a:\n  b: 9\n"),
    "only comments": ("# x", ("a",), "# x\na: 9\n"),
    "document start": ("---\n", ("a",), "---\na: 9\n"),
    "there": ("a:\n  b: 1\n", ("a", "b"), "a:\n  b: 9\n"),
    "missing below": ("a:\n  c: 1\n", ("a", "b", "d"), "a:\n  c: 1\n  b:\n    d: 9\n"),
    "missing at the top": ("x:\n    y: 1\n", ("a", "b"), "x:\n    y: 1\na:\n    b: 9\n"),
    "usual step": (
        "x:\n   y: 1\nz:\n   y: 1\nw:\n  y: 2\n",
        ("a", "b"),
        "x:\n   y: 1\nz:\n   y: 1\nw:\n  y: 2\na:\n   b: 9\n",
    ),
    "empty section": ("a:\nc: 1\n", ("a", "b"), "a:\n  b: 9\nc: 1\n"),
    "empty section, comments": ("a:  # x\n  # y\nc: 1\n", ("a", "b"), "a:  # x\n  b: 9\n  # y\nc: 1\n"),
    "null section": ("a: null  # x\nc: 1\n", ("a", "b"), "a:  # x\n  b: 9\nc: 1\n"),
    "tilde, no newline": ("c:\n  a: ~", ("c", "a", "b"), "c:\n  a:\n    b: 9"),
    "null on a line of its own": ("a:\n  null\nc: 1\n", ("a", "b"), "a:\n  b: 9\nc: 1\n"),
    "empty flow section": ("a: {}\n", ("a", "b", "d"), "a: {b: {d: 9}}\n"),
    "null in flow": ("{a: null, c: }\n", ("a", "b"), "{a: {b: 9}, c: }\n"),
    "omitted in flow": ("{c: 1, a: }\n", ("a", "b"), "{c: 1, a: {b: 9} }\n"),
    "key alone in flow": ("{a}\n", ("a", "b"), "{a: {b: 9}}\n"),
    "CRLF": ("c: 1\r\n", ("a", "b"), "c: 1\r\na:\r\n  b: 9\r\n"),
    "key that needs quotes": ("c: 1\n", ("on", "no"), 'c: 1\n"on":\n  "no": 9\n'),
}


@pytest.mark.parametrize(("text", "path", "wanted"), NESTED.values(), ids=NESTED)
def test_missing_sections_are_created_on_the_way(text: str, path: tuple[str, ...], wanted: str) -> None:
    assert result(text, set_nested(document(text), path, 9)) == wanted
    expected = plain(text) or {}
    inner = expected
    for part in path[:-1]:
        inner[part] = inner.get(part) or {}
        inner = inner[part]
    inner[path[-1]] = 9
    assert plain(wanted) == expected


REMOVE = {
    "in the middle": ("a: 1\nr: 2  # about r\nb: 3\n", (), "a: 1\nb: 3\n"),
    "comments above stay": ("# up\nr: 2\n# down\nb: 3\n", (), "# up\n# down\nb: 3\n"),
    "at the end": ("a: 1\nr: 2\n", (), "a: 1\n"),
    "no final newline": ("a: 1\nr: 2", (), "a: 1"),
    "with its block": ("r:\n  x: 1\n  # in it\n  y: 2\nb: 3\n", (), "b: 3\n"),
    "with its list": ("r:\n- 1\n- 2\nb: 3\n", (), "b: 3\n"),
    "with its text": ("a: 1\nr: |\n  x\n\n  y\nb: 3\n", (), "a: 1\nb: 3\n"),
    "omitted value": ("r:\nb: 3\n", (), "b: 3\n"),
    "CRLF": ("a: 1\r\nr: 2\r\nb: 3\r\n", (), "a: 1\r\nb: 3\r\n"),
    "first of an item": ("- r: 1\n  b: 2\n", (0,), "- b: 2\n"),
    "first of an item, comment": ("- r: 1  # about r\n  b: 2\n", (0,), "- b: 2\n"),
    "first of an item, comment below": ("- r: 1\n  # about b\n  b: 2\n", (0,), "- # about b\n  b: 2\n"),
    "only key": ("a:\n  r: 1  # about r\nb: 2\n", ("a",), "a: {}\nb: 2\n"),
    "only key, comment above": ("a:\n  # up\n  r: 1\nb: 2\n", ("a",), "a:\n  # up\n  {}\nb: 2\n"),
    "only key, of the file": ("r:\n  x: 1\n", (), "{}\n"),
    "only key, of an item": ("- r: 1\n- b: 2\n", (0,), "- {}\n- b: 2\n"),
    "flow, first": ("a: {r: 1, b: 2}\n", ("a",), "a: {b: 2}\n"),
    "flow, middle": ("a: {b: 1, r: 2, c: 3}\n", ("a",), "a: {b: 1, c: 3}\n"),
    "flow, last": ("a: {b: 2, r: 1}\n", ("a",), "a: {b: 2}\n"),
    "flow, last with comma": ("a: {b: 2, r: 1,}\n", ("a",), "a: {b: 2, }\n"),
    "flow, only": ("a: {r: 1}\n", ("a",), "a: {}\n"),
    "flow, only with comma": ("a: {r: 1,}\n", ("a",), "a: {}\n"),
    "flow, alone": ("a: {r, b: 2}\n", ("a",), "a: {b: 2}\n"),
    "flow, lines": ("a: {\n  r: 1,  # about r\n  # up\n  b: 2\n}\n", ("a",), "a: {\n  # up\n  b: 2\n}\n"),
    "flow, last line": ("a: {\n  b: 2,  # about b\n  r: 1  # about r\n}\n", ("a",), "a: {\n  b: 2,  # about b\n}\n"),
    "flow, only line": ("a: {\n  r: 1\n}\n", ("a",), "a: {\n}\n"),
}


@pytest.mark.parametrize(("text", "path", "wanted"), REMOVE.values(), ids=REMOVE)
def test_a_key_is_taken_out_with_its_line(text: str, path: tuple[str | int, ...], wanted: str) -> None:
    before = document(text)
    assert result(text, remove_pair(before, at(before.root, *path), "r")) == wanted
    expected = plain(text)
    inner = expected
    for part in path:
        inner = inner[part]
    del inner["r"]
    assert plain(wanted) == expected


def _set(*path: str | int) -> Callable[[Document], object]:
    return lambda doc: set_value(doc, at(doc.root, *path[:-1]), str(path[-1]), 9)


def _nest(*path: str) -> Callable[[Document], object]:
    return lambda doc: set_nested(doc, path, 9)


def _drop(*path: str | int) -> Callable[[Document], object]:
    return lambda doc: remove_pair(doc, at(doc.root, *path[:-1]), str(path[-1]))


def _leave_out(index: int, *path: str | int) -> Callable[[Document], object]:
    return lambda doc: comment_out_item(doc, at(doc.root, *path), index, "why")


def _quote(*path: str) -> Callable[[Document], object]:
    return lambda doc: quote_scalar(doc, at(doc.root, *path))


REFUSED: dict[str, tuple[str, Callable[[Document], object], str]] = {
    "shared value": ("a: &x 1\nb: *x\n", _set("a"), "`&x` is used in other places too"),
    "shared mapping": ("a: &x {c: 1}\nb: *x\n", _set("a", "c"), "`&x` is used in other places too"),
    "shared inside the value": ("a: {c: &x 1}\nb: *x\n", _set("a"), "`&x` is used in other places too"),
    "comments in the value": ("a:\n  # c\n  b: 1\n", _set("a"), "comments inside the value would be lost"),
    "comments in a flow value": ("a: [1,  # c\n  2]\n", _set("a"), "comments inside the value would be lost"),
    "comment behind an anchor": ("a: &x  # c\n  1\n", _set("a"), "a comment stands inside the value"),
    "pair without braces": ("a: [b: 1]\n", _set("a", 0, "n"), "it is a pair in a list, without braces of its own"),
    "question mark": ("? a\n: 1\n", _set("n"), "the keys stand behind question marks"),
    "through a scalar": ("a: 1\n", _nest("a", "b"), "`a` is not a section"),
    "through a list": ("a: [1]\n", _nest("a", "b"), "`a` is not a section"),
    "through an alias": ("x: &x {}\na: *x\n", _nest("a", "b"), "`a` is an alias, shared with other places"),
    "through a merge": ("x: &x {a: {c: 1}}\n<<: *x\n", _nest("a", "b"), "`a` comes from an anchor, shared with other places"),
    "a list file": ("- 1\n", _nest("a"), "the file is not a section"),
    "a null file": ("null\n", _nest("a"), "the document is null"),
    "an ended file": ("---\n...\n", _nest("a"), "the file holds several documents"),
    "removing what is shared": ("a: {r: &x 1}\nb: *x\n", _drop("a", "r"), "`&x` is used in other places too"),
    "removing what is merged": ("x: &x {r: 1}\na: {<<: *x}\n", _drop("a", "r"), "`r` does not stand in this section itself"),
    "text above would grow": ("a: |+\n  x\nr: 1\n\nb: 2\n", _drop("r"), REATTACHED),
    "text above would take comments": ("a: |\n  x\nr: 1\n  # c\n", _drop("r"), REATTACHED),
    "only item": ("a:\n- b\n", _leave_out(0, "a"), "it is the only source of its list"),
    "item in brackets": ("a: [b, c]\n", _leave_out(0, "a"), "it stands in a list in brackets"),
    "item behind a dash": ("- - a\n  - b\n", _leave_out(0, 0), "it does not begin a line of its own"),
    "item that is shared": ("a:\n- &x b\n- c\nd: *x\n", _leave_out(0, "a"), "`&x` is used in other places too"),
    "quoting nothing": ("a:\n", _quote("a"), "only a plain value without a tag can be quoted"),
    "quoting a tag": ("a: !!int 1\n", _quote("a"), "only a plain value without a tag can be quoted"),
    "quoting quotes": ("a: 'x'\n", _quote("a"), "only a plain value without a tag can be quoted"),
    "rename onto another": ("a: 1\nb: 2\n", lambda doc: rename_key(doc, at(doc.root), "a", "b"), "`b` is there too"),
    "unwrap with company": ("k: [1]\nb: 2\n", lambda doc: unwrap_root_pair(doc, "k"), "`k` is not the only key of the file"),
    "unwrap a scalar": ("k: 1\n", lambda doc: unwrap_root_pair(doc, "k"), "`k` holds no plain list"),
    "an object": ("a: 1\n", lambda doc: set_value(doc, at(doc.root), "a", object()), "object has no YAML form"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "attempt", "reason"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_edited_safely_is_refused_with_a_reason(
    text: str, attempt: Callable[[Document], object], reason: str
) -> None:
    with pytest.raises(CannotEdit) as refusal:
        attempt(document(text))
    assert refusal.value.reason == reason


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a: yes  # c\n", 'a: "yes"  # c\n'),
        ("a: 012\n", 'a: "012"\n'),
        ("a: &x 1e3\n", 'a: &x "1e3"\n'),
        ("a: one\n  two\n", 'a: "one two"\n'),
        ("{a: 12:30}\n", '{a: "12:30"}\n'),
    ],
)
def test_a_plain_value_is_quoted(text: str, wanted: str) -> None:
    before = document(text)
    assert result(text, quote_scalar(before, at(before.root, "a"))) == wanted
    assert plain(wanted)["a"] == at(before.root, "a").text


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a: 1  # c\n", "n: 1  # c\n"),
        ("- a: 1\n  b: 2\n", "- n: 1\n  b: 2\n"),
        ("{'a': 1}\n", "{n: 1}\n"),
        ("&k a: 1\n", "&k n: 1\n"),
    ],
)
def test_a_key_is_renamed(text: str, wanted: str) -> None:
    before = document(text)
    root = before.root.items[0] if isinstance(before.root, Sequence) else before.root
    assert isinstance(root, Mapping)
    edits = rename_key(before, root, "a", "n")
    assert result(text, edits) == wanted
    assert edits[0].note == "was a"


UNWRAP = {
    "block": ("k:\n  - a\n  - b: 1\n    c: 2\n", "- a\n- b: 1\n  c: 2\n"),
    "flush": ("k:\n- a\n- b\n", "- a\n- b\n"),
    "comments": (
        "# up\nk:  # here\n  # in\n  - a  # x\n\n  # between\n  - b\n  # down\n",
        "# up\n# here\n# in\n- a  # x\n\n# between\n- b\n# down\n",
    ),
    "text": ("k:\n    - |\n      x\n        y\n    - >2\n      z\n", "- |\n  x\n    y\n- >2\n  z\n"),
    "kept text": ("k:\n  - |+\n    x\n\n    \n", "- |+\n  x\n\n  \n"),
    "document start": ("---\nk:\n  - a\n...\n", "---\n- a\n...\n"),
    "CRLF": ("k:\r\n  - a\r\n  - b", "- a\r\n- b"),
    "flow": ("k: [a,\n  b]  # c\n", "[a,\n  b]  # c\n"),
    "flow, next line": ("k:\n  [a]\n", "[a]\n"),
    "all in flow": ("{k: [a, b]}  # c\n", "[a, b]  # c\n"),
    "all in flow, comma": ("{ k: [a], }\n", "[a]\n"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "wanted"), UNWRAP.values(), ids=UNWRAP)
def test_the_only_key_is_unwrapped(text: str, wanted: str) -> None:
    assert result(text, unwrap_root_pair(document(text), "k")) == wanted
    assert plain(wanted) == plain(text)["k"]


COMMENT_OUT = {
    "first": ("- a: 1\n  b: 2\n- c: 3\n", 0, "# why\n# - a: 1\n#   b: 2\n- c: 3\n"),
    "last": (
        "k:\n  - a\n  - b: |\n      x\n\n      y\nc: 1\n",
        1,
        "k:\n  - a\n  # why\n  # - b: |\n  #     x\n  #\n  #     y\nc: 1\n",
    ),
    "comments in it": ("- a: 1  # x\n  # y\n  b: 2\n# z\n- c\n", 0, "# why\n# - a: 1  # x\n#   # y\n#   b: 2\n# z\n- c\n"),
    "dash alone": ("-\n  a: 1\n-  # c\n  b: 2\n", 1, "-\n  a: 1\n# why\n# -  # c\n#   b: 2\n"),
    "empty item": ("- a\n-\n- b\n", 1, "- a\n# why\n# -\n- b\n"),
    "after text": ("- |+\n  x\n\n- b\n- c\n", 1, "- |+\n  x\n\n# why\n# - b\n- c\n"),
    "no final newline": ("- a\n- b", 1, "- a\n# why\n# - b"),
    "CRLF": ("- a\r\n- b\r\n", 0, "# why\r\n# - a\r\n- b\r\n"),
    "flush": ("k:\n- a\n- b\n", 0, "k:\n# why\n# - a\n- b\n"),
    "an item of a list of lists": ("- [a]\n- - b\n  - c\n", 1, "- [a]\n# why\n# - - b\n#   - c\n"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "index", "wanted"), COMMENT_OUT.values(), ids=COMMENT_OUT)
def test_an_item_is_commented_out(text: str, index: int, wanted: str) -> None:
    before = document(text)
    path = ("k",) if isinstance(before.root, Mapping) else ()
    assert result(text, comment_out_item(before, at(before.root, *path), index, "why")) == wanted
    expected = plain(text)
    del (expected["k"] if path else expected)[index]
    assert plain(wanted) == expected


def test_a_reason_over_several_lines_stays_one_comment() -> None:
    before = document("- a\n- b\n")
    assert result("- a\n- b\n", comment_out_item(before, at(before.root), 0, "why\nso")) == "# why so\n# - a\n- b\n"


# -- serializing

LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**20), 10**20),
    st.floats(),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
    st.text("ab01.:-#'\"{}[],&*!|>%@`~$ =<?eExo_/\\\n\t", max_size=8),
    st.sampled_from(["yes", "No", "on", "null", "~", "1e3", "012", "0o7", "12:30", "<<", "=", "2001-01-01", "...", "---"]),
)  # fmt: skip
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@BOUNDED
@given(VALUES)
def test_a_serialized_value_reads_back_in_block_and_in_flow(value: object) -> None:
    try:
        text = serialize(value)
    except CannotEdit:
        assert "\\ud" in ascii(value)
        return
    assert "\n" not in text
    for around in (f"k: {text}\n", f"- k: {text}  # c\n", f"{{k: {text}, l: 1}}\n", f"[{{k: {text}}}]\n"):
        node = at(document(around).root, 0, "k") if around[0] in "-[" else at(document(around).root, "k")
        assert repr(to_plain(node)) == repr(value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("round_robin", "round_robin"),
        ("/data/_OP_0..9_CL_/x.tar", "/data/_OP_0..9_CL_/x.tar"),
        ("s3://bucket/a b", "s3://bucket/a b"),
        ("${a.b}", '"${a.b}"'),
        ("a: b", '"a: b"'),
        ("no", '"no"'),
        ("1_000", '"1_000"'),
        ("", '""'),
        (1e-05, "1.0e-05"),
        (math.inf, ".inf"),
        ([1, "a", None], "[1, a, null]"),
        ({"a": [True]}, "{a: [true]}"),
    ],
)
def test_strings_are_quoted_only_where_they_have_to_be(value: object, text: str) -> None:
    assert serialize(value) == text


# -- generated documents

WORDS = ["alpha", "beta", "gamma", "delta", "on_off", "path/x.tar"]


@st.composite
def texts(draw: st.DrawFn) -> str:
    """A block document with comments, blank lines, flow values and every scalar style."""
    lines: list[str] = []

    def noise(indent: int) -> None:
        if draw(st.integers(0, 4)) == 0:
            lines.append(draw(st.sampled_from(["", f"{' ' * indent}# note {len(lines)}"])))

    def value(indent: int, depth: int, step: int) -> None:
        kind = draw(st.sampled_from(["plain", "plain", "quoted", "flow", "text", "omitted", "map", "map", "list"]))
        comment = draw(st.sampled_from(["", "", f"  # behind {len(lines)}"]))
        if depth > 2 and kind in ("map", "list"):
            kind = "plain"
        pad = " " * (indent + step)
        if kind == "plain":
            lines[-1] += f" {draw(st.sampled_from(WORDS))}{comment}"
        elif kind == "quoted":
            lines[-1] += draw(st.sampled_from([" 'it''s'", ' "a # b"', f' "one\n\n{pad}two"'])) + comment
        elif kind == "flow":
            flow = draw(st.sampled_from(["[1, 2]", "{a: 1}", "{}", f"{{\n{pad}a: 1,\n{pad}b: [x]\n{pad}}}", "{a: 1,}"]))
            lines[-1] += f" {flow}{comment}"
        elif kind == "text":
            head = draw(st.sampled_from(["|", ">", "|-", "|+", ">+"]))
            body = draw(st.sampled_from([f"{pad}x", f"{pad}x\n\n{pad}# y", f"{pad}x\n", f"{pad}x\n{pad}   "]))
            lines[-1] += f" {head}{comment}\n{body}"
        elif kind == "omitted":
            lines[-1] += comment
        elif kind == "map":
            lines[-1] += comment
            mapping(indent + step, depth + 1, step)
        else:
            lines[-1] += comment
            at_indent = indent + draw(st.sampled_from([0, step]))
            for _ in range(draw(st.integers(1, 3))):
                noise(at_indent)
                if draw(st.booleans()):
                    lines.append(f"{' ' * at_indent}- {draw(st.sampled_from(WORDS))}")
                else:
                    lines.append(f"{' ' * at_indent}- k0:")
                    value(at_indent + 2, depth + 1, step)

    def mapping(indent: int, depth: int, step: int) -> None:
        for number in range(draw(st.integers(1, 3))):
            noise(indent)
            lines.append(f"{' ' * indent}k{number}:")
            value(indent, depth, step)

    mapping(0, 0, draw(st.sampled_from([2, 4])))
    noise(0)
    text = "\n".join(lines) + draw(st.sampled_from(["\n", "\n", "", "\n\n"]))
    return text.replace("\n", draw(st.sampled_from(["\n", "\n", "\r\n"])))


def mappings(node: Node | None, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Mapping]]:
    if isinstance(node, Mapping):
        yield path, node
        for pair in node.pairs:
            if isinstance(pair.key, Scalar) and isinstance(pair.key.value, str):
                yield from mappings(pair.value, (*path, pair.key.value))
    elif isinstance(node, Sequence):
        for index, item in enumerate(node.items):
            yield from mappings(item, (*path, index))


def comments(text: str) -> list[str]:
    return sorted(part.strip() for line in text.splitlines() for part in [line.partition("# ")[2]] if "# note" in line)


def by_ruamel(text: str) -> Any:
    from ruamel.yaml import YAML

    return YAML(typ="safe", pure=True).load(io.StringIO(text.replace("\r\n", "\n")))


def changed(value: Any, path: tuple[str | int, ...], change: Callable[[Any], None]) -> Any:
    inner = value
    for part in path:
        inner = inner[part]
    change(inner)
    return value


def attempted(edit: Callable[[], tuple[Edit, ...]]) -> tuple[tuple[Edit, ...], str]:
    """The edits, or none and the reason."""
    try:
        return edit(), ""
    except CannotEdit as error:
        return (), error.reason


def outside_edits_stay(text: str, new: str, edits: tuple[Edit, ...]) -> None:
    position = rest = 0
    for edit in sorted(edits, key=lambda edit: edit.span):
        kept = text[position : edit.span.start]
        assert new[rest : rest + len(kept)] == kept
        rest += len(kept) + len(edit.text)
        position = edit.span.end
    assert new[rest:] == text[position:]


@BOUNDED
@given(
    texts(), st.integers(0, 50), st.sampled_from(["k0", "k1", "new"]), st.sampled_from([7, "x y", "no", [1, "a"], None])
)
def test_setting_a_value_changes_nothing_else(text: str, choice: int, key: str, value: object) -> None:
    before = document(text)
    found = list(mappings(before.root))
    path, mapping = found[choice % len(found)]
    edits, reason = attempted(lambda: set_value(before, mapping, key, value))
    if not edits:
        assert "comment" in reason
        return
    new = result(text, edits)
    outside_edits_stay(text, new, edits)
    assert plain(new) == changed(plain(text), path, lambda inner: inner.__setitem__(key, value))
    assert comments(new) == comments(text)
    if all(mark not in text for mark in ("{a: 1,}", "   \n")):
        assert by_ruamel(new) == changed(by_ruamel(text), path, lambda inner: inner.__setitem__(key, value))


@BOUNDED
@given(texts(), st.integers(0, 50))
def test_removing_a_key_changes_nothing_else(text: str, choice: int) -> None:
    before = document(text)
    found = [(path, mapping, key) for path, mapping in mappings(before.root) for key in mapping.lookup]
    path, mapping, key = found[choice % len(found)]
    assert isinstance(key, str)
    edits, reason = attempted(lambda: remove_pair(before, mapping, key))
    if not edits:
        assert reason == REATTACHED
        return
    new = result(text, edits)
    outside_edits_stay(text, new, edits)
    assert plain(new) == changed(plain(text), path, lambda inner: inner.__delitem__(key))


@BOUNDED
@given(texts(), st.integers(0, 50))
def test_commenting_out_an_item_changes_nothing_else(text: str, choice: int) -> None:
    before = document(text)
    found = [
        ((*path, key), pair.value)
        for path, mapping in mappings(before.root)
        for key, pair in mapping
        if isinstance(pair.value, Sequence) and not pair.value.flow and len(pair.value.items) > 1
    ]
    if not found:
        return
    path, sequence = found[choice % len(found)]
    index = choice % len(sequence.items)
    new = result(text, comment_out_item(before, sequence, index, "why"))
    assert plain(new) == changed(plain(text), path, lambda inner: inner.__delitem__(index))  # type: ignore[arg-type]


# -- real configs

SAMPLE = sorted(CONFIGS.glob("*.yaml"))[::8] if CONFIGS.is_dir() else []


def scalars(
    node: Node | None, path: tuple[str | int, ...] = ()
) -> Iterator[tuple[tuple[str | int, ...], Mapping, str]]:
    for above, mapping in mappings(node, path):
        for pair in mapping.pairs:
            if isinstance(pair.key, Scalar) and isinstance(pair.key.value, str) and isinstance(pair.value, Scalar):
                yield above, mapping, pair.key.value


@pytest.mark.skipif(not SAMPLE, reason="the collection of real configs is not at hand")
def test_every_value_of_real_configs_can_be_replaced_and_every_mapping_appended_to() -> None:
    done = 0
    for file in SAMPLE:
        source = Source.from_bytes(Path("a.yaml"), file.read_bytes())
        before = read(source, recover=False)
        if not before.parses or len(before.source.text) > 40_000:
            continue
        for number, (path, mapping, key) in enumerate(scalars(before.root)):
            if number % 5 == 0:
                done += _try(before, mapping, path, key)
        for number, (path, mapping) in enumerate(mappings(before.root)):
            if number % 2 == 0:
                done += _try(before, mapping, path, "surely_new")
    assert done > 500


def _try(before: Document, mapping: Mapping, path: tuple[str | int, ...], key: str) -> int:
    edits, reason = attempted(lambda: set_value(before, mapping, key, "it is new"))
    if not edits:
        assert "used in other places" in reason
        return 0
    after = read(apply_edits(before.source, edits), recover=False)
    assert after.parses
    assert before.root is not None
    assert after.root is not None
    expected = changed(to_plain(before.root), path, lambda inner: inner.__setitem__(key, "it is new"))
    assert repr(to_plain(after.root)) == repr(expected)
    return 1
