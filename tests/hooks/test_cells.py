"""Widths, wrapping and the piece of a source line that is shown: what is underlined is the span, whatever stands before it."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from nemo_resumable.hooks.output.cells import cells, excerpt, visible, widths, wrap

LETTERS = st.text(st.sampled_from("ab: \t語テ한é🎉👍🏽\u200d\u0301\ufe0f❤\x1b\u202e"), max_size=60)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("", 0),
        ("seed", 4),
        ("é", 1),
        ("e\u0301", 1),
        ("語", 2),
        ("ﾃﾞ", 2),
        ("한", 2),
        ("🎉", 2),
        ("👍🏽", 2),
        ("👩\u200d💻", 2),
        ("❤\ufe0f", 2),
        ("a\ufe0f", 1),
        ("a\u200bb", 2),
    ],
)
def test_cells_of_a_text(text: str, size: int) -> None:
    assert cells(text) == size


def test_control_and_direction_characters_are_shown_as_escapes() -> None:
    assert visible("a\x1b[31mb") == "a\\x1b[31mb"
    assert visible("a\u202eb") == "a\\u202eb"
    assert visible("plain 語") == "plain 語"


@settings(deadline=None, derandomize=True, database=None)  # a busy machine is no failure
@given(st.lists(st.text("abc語é", min_size=1, max_size=12)), st.integers(10, 60))
def test_wrapping_keeps_every_word_and_the_width(words: list[str], columns: int) -> None:
    lines = wrap(" ".join(words), columns, "> ", "  ")
    assert " ".join(" ".join(lines).removeprefix(">").split()) == " ".join(words)
    for line in lines:
        assert cells(line) <= columns or " " not in line[2:], "only a word that is too long by itself stands out"


@pytest.mark.parametrize(
    ("line", "piece", "shown", "begin", "size"),
    [
        ("shard_seed: random", "random", "shard_seed: random", 12, 6),
        ("\tseed: 1", "1", "    seed: 1", 10, 1),
        ("a\tb: 1", "1", "a   b: 1", 7, 1),
        ("name: 語語 # 語", "語語", "name: 語語 # 語", 6, 4),
        ("語: 🎉x", "x", "語: 🎉x", 6, 1),
        ("k: \x1b[0m v", "v", "k: \\x1b[0m v", 11, 1),
    ],
)
def test_excerpt_of_a_line_that_fits(line: str, piece: str, shown: str, begin: int, size: int) -> None:
    start = line.index(piece)
    assert excerpt(line, start, start + len(piece), 76) == (shown, begin, size)


def test_an_empty_span_is_one_mark_wide() -> None:
    assert excerpt("seed:", 5, 5, 76) == ("seed:", 5, 1)
    assert excerpt("", 0, 0, 76) == ("", 0, 1)


def test_a_long_line_is_cut_around_the_span() -> None:
    line = "before " * 30 + "HERE" + " after" * 30
    start = line.index("HERE")
    shown, begin, size = excerpt(line, start, start + 4, 60)
    assert shown[begin : begin + size] == "HERE"
    assert shown.startswith("…")
    assert shown.endswith("…")
    assert len(shown) <= 60


def test_of_a_span_wider_than_the_room_the_beginning_is_seen() -> None:
    line = "manifest_filepath: [" + ", ".join(f"/data/part{number:04}.json" for number in range(100)) + "]"
    shown, begin, size = excerpt(line, 19, len(line), 60)
    assert shown[begin : begin + 12] == "[/data/part0"
    assert begin + size <= 60
    assert shown.endswith("…")


@settings(deadline=None, derandomize=True, database=None)  # a busy machine is no failure
@given(LETTERS, LETTERS, LETTERS, st.integers(20, 100))
@example("x" * 60, "", "y" * 60, 20)
@example("\x1b\ufe0f\ufe0f::::テテ", ":::::\x1b\x1b\u202e\u202e", "", 35)  # nor has the ellipsis
@example("::", "::::", "\x1b\x1b\u202e\ufe0f", 20)  # an escape has no emoji form
def test_the_mark_lies_in_the_width_and_under_the_span(before: str, span: str, after: str, columns: int) -> None:
    line = before + span + after
    shown, begin, size = excerpt(line, len(before), len(before) + len(span), columns)
    assert cells(shown) <= columns
    assert begin >= 0
    assert size >= 1
    assert begin + size <= columns + 1, "one cell beyond is the place after the last character"
    assert "\x1b" not in shown


@settings(deadline=None, derandomize=True, database=None)  # a busy machine is no failure
@given(
    *[st.text(st.sampled_from("ab: 語テ한é🎉"), min_size=size, max_size=60) for size in (0, 2, 0)], st.integers(20, 100)
)
def test_what_is_marked_is_the_span(before: str, span: str, after: str, columns: int) -> None:
    line = before + span + after
    shown, begin, size = excerpt(line, len(before), len(before) + len(span), columns)
    marked, place = "", 0
    for char, wide in zip(shown, widths(shown)):
        if begin <= place < begin + size:
            marked += char
        place += wide
    assert marked
    assert span.startswith(marked.removesuffix("…").rstrip())
