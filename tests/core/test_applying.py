"""Edits made, overlaps refused, and comments that say what was there."""

from __future__ import annotations

from pathlib import Path

import pytest
from nemo_resumable.core.findings import Edit
from nemo_resumable.core.syntax.applying import Claims, OverlappingEdits, annotated, apply_edits, largest
from nemo_resumable.core.text import Source, Span

FILE = Path("a.yaml")


def edit(start: int, end: int, text: str) -> Edit:
    return Edit(FILE, Span(start, end), text)


@pytest.mark.parametrize(
    ("edits", "wanted"),
    [
        ([], "abcdef"),
        ([edit(4, 5, "X"), edit(0, 1, "Y")], "YbcdXf"),
        ([edit(3, 3, "1"), edit(3, 3, "2")], "abc12def"),
        ([edit(3, 3, "2"), edit(3, 3, "1")], "abc21def"),
        ([edit(3, 3, "1"), edit(3, 3, "1")], "abc1def"),
        ([edit(1, 3, "X"), edit(1, 3, "X")], "aXdef"),
        ([edit(1, 3, "X"), edit(3, 5, "Y")], "aXYf"),
        ([edit(1, 3, "X"), edit(1, 1, "<"), edit(3, 3, ">")], "a<X>def"),
        ([edit(6, 6, "!")], "abcdef!"),
    ],
)
def test_edits_are_made_in_order(edits: list[Edit], wanted: str) -> None:
    assert apply_edits(Source(FILE, "abcdef"), edits).text == wanted


@pytest.mark.parametrize(
    "edits",
    [
        [edit(1, 3, "X"), edit(2, 4, "Y")],
        [edit(1, 3, "X"), edit(1, 3, "Y")],
        [edit(0, 6, "X"), edit(2, 2, "Y")],
        [edit(1, 5, "X"), edit(1, 2, "Y")],
    ],
)
def test_overlapping_edits_are_refused(edits: list[Edit]) -> None:
    with pytest.raises(OverlappingEdits):
        apply_edits(Source(FILE, "abcdef"), edits)
    claims = Claims()
    assert claims.free(edits[:1])
    claims.claim(edits[:1])
    assert not claims.free(edits[1:])


def test_claims_let_in_what_touches_and_what_was_made_already() -> None:
    claims = Claims()
    claims.claim([edit(1, 3, "X"), edit(5, 5, "Y")])
    assert claims.free(
        [edit(1, 3, "X"), edit(3, 5, ""), edit(0, 1, ""), edit(5, 5, "Z"), edit(1, 1, ""), edit(5, 9, "")]
    )
    assert not claims.free([edit(4, 6, "")])


def test_the_byte_order_mark_and_the_newlines_stay() -> None:
    source = Source.from_bytes(FILE, b"\xef\xbb\xbfa: 1\r\nb: 2")
    assert apply_edits(source, [edit(3, 4, "9")]).to_bytes() == b"\xef\xbb\xbfa: 9\r\nb: 2"


@pytest.mark.parametrize(
    ("text", "edits", "wanted"),
    [
        ("a:\n  b: 1\n", [edit(8, 9, "9")], "a:\n  # was 1\n  b: 9\n"),
        ("a: 1\nb: 2\n", [edit(4, 4, "\nn: 9")], "a: 1\n# was 1\nn: 9\nb: 2\n"),
        ("a:\n  b: 1", [edit(9, 9, "\n  n: 9")], "a:\n  b: 1\n  # was 1\n  n: 9"),
        ("a: |+\n  x\n\nb: 1\n", [edit(11, 11, "n: 9\n")], "a: |+\n  x\n\n# was 1\nn: 9\nb: 1\n"),
        ("- a: 1\n", [edit(5, 6, "9")], "# was 1\n- a: 9\n"),
        ("a: 1\r\nb: 2\r\n", [edit(9, 10, "9")], "a: 1\r\n# was 1\r\nb: 9\r\n"),
        ("a: 1\nb: 2\nc: 3\n", [edit(5, 10, "")], "a: 1\n# was 1\nc: 3\n"),
        ("a: {\n  b: 1\n}\n", [edit(10, 11, "9")], "a: {\n  # was 1\n  b: 9\n}\n"),
        ("{a: 1, b: 2}\n", [edit(4, 5, "9")], "# was 1\n{a: 9, b: 2}\n"),
        ("a: |\n  one\n  two\n", [edit(13, 16, "2")], "a: |\n  one\n  2\n"),
        ('a: "one\n  two"\n', [edit(10, 13, "2")], 'a: "one\n  2"\n'),
        ("a: 1\nb: |\n  x\n", [edit(3, 4, "9"), edit(12, 13, "y")], "# was 1\na: 9\nb: |\n  y\n"),
    ],
)
def test_a_comment_stands_above_each_change_where_it_changes_nothing_else(
    text: str, edits: list[Edit], wanted: str
) -> None:
    source = Source(FILE, text)
    assert annotated(source, edits, dict.fromkeys(edits, "was 1")).text == wanted
    assert annotated(source, edits, {}).text == apply_edits(source, edits).text


def test_a_comment_stays_on_its_line_whatever_was_there() -> None:
    change = edit(3, 4, "9")
    note = 'was "x\ny\u2028z\x7f"'
    assert annotated(Source(FILE, "a: 1\n"), [change], {change: note}).text == ('# was "x\\ny\\u2028z\\x7f"\na: 9\n')


def test_a_few_faults_among_many_cost_few_trials() -> None:
    trials = 0

    def fault(items: list[int]) -> str:
        nonlocal trials
        trials += 1
        return "odd one" if {7, 300} & set(items) else ""

    kept, failed = largest([], list(range(512)), fault)
    assert kept == [number for number in range(512) if number not in (7, 300)]
    assert failed == [(7, "odd one"), (300, "odd one")]
    assert trials < 45
