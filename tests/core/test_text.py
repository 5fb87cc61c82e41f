"""Bytes to text and back, line starts as YAML counts them, and columns in the units of editors."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nemo_resumable.core.text import (
    LineIndex,
    Position,
    Source,
    Span,
    UndecodableText,
    column_from_units,
    column_in_units,
)

PATH = Path("x.yaml")
TEXTS = st.text(st.sampled_from("ab \r\n\u2028\u2029\x85\x0b\x0cé日🎉\ufeff"))


@settings(derandomize=True, max_examples=200)
@given(TEXTS, st.booleans())
def test_bytes_come_back(text: str, bom: bool) -> None:
    data = (("\ufeff" if bom else "") + text).encode()
    source = Source.from_bytes(PATH, data)
    assert source.to_bytes() == data
    assert source.bom == data.startswith(b"\xef\xbb\xbf")


@settings(derandomize=True, max_examples=200)
@given(TEXTS)
def test_positions_and_offsets_are_each_others_inverse(text: str) -> None:
    lines = LineIndex(text)
    for offset in range(len(text) + 1):
        position = lines.position(offset)
        content = lines.line_span(position.line)
        assert content.start <= offset
        if offset <= content.end:  # not inside of a \r\n
            assert lines.offset(position) == offset


def test_only_three_things_end_a_line() -> None:
    lines = LineIndex("a\r\nb\nc\rd\u2028e\x85f\x0cg")
    assert [lines.line_text(line) for line in range(1, len(lines) + 1)] == ["a", "b", "c", "d\u2028e\x85f\x0cg"]


def test_places_outside_are_held_inside() -> None:
    lines = LineIndex("ab\ncd")
    assert lines.position(99) == Position(2, 3)
    assert lines.position(-1) == Position(1, 1)
    assert lines.offset(Position(1, 99)) == 2
    assert lines.offset(Position(99, 1)) == 3
    assert lines.offset(Position(0, 0)) == 0


def test_bytes_that_are_no_text() -> None:
    with pytest.raises(UndecodableText) as caught:
        Source.from_bytes(PATH, b"a: \xff\n")
    assert caught.value.offset == 3


@pytest.mark.parametrize(
    ("text", "newline"),
    [("", "\n"), ("a", "\n"), ("a\n", "\n"), ("a\r\nb\r\nc\n", "\r\n"), ("a\rb\r", "\r"), ("a\nb\r\n", "\n")],
)
def test_newline_is_what_most_lines_end_with(text: str, newline: str) -> None:
    assert Source(PATH, text).newline == newline


def test_cut_and_other_text() -> None:
    source = Source.from_text(PATH, "\ufeffa: 1")
    assert source.cut(Span(0, 1)) == "a"
    assert source.with_text("b: 2").to_bytes() == b"\xef\xbb\xbfb: 2"


@pytest.mark.parametrize(
    ("encoding", "columns"), [("utf-8", [0, 1, 3, 7, 8]), ("utf-16", [0, 1, 2, 4, 5]), ("utf-32", [0, 1, 2, 3, 4])]
)
def test_columns(encoding: str, columns: list[int]) -> None:
    line = "aé🎉b"
    assert [column_in_units(line, column, encoding) for column in range(5)] == columns
    assert [column_from_units(line, units, encoding) for units in columns] == [0, 1, 2, 3, 4]


def test_a_unit_inside_a_character_means_its_start() -> None:
    assert column_from_units("🎉b", 1, "utf-16") == 0
    assert column_from_units("é", 1, "utf-8") == 0
    assert column_from_units("ab", 99, "utf-16") == 2
    assert column_from_units("ab", 99, "utf-32") == 2
