"""Half-typed text: the rest is still read, the first problem stays, and it ends."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nemo_resumable.core.syntax.nodes import Document, to_plain
from nemo_resumable.core.syntax.reader import read
from nemo_resumable.core.text import Source

CONFIG = """\
name: a
data:
  train_ds:
    seed: 42
    shuffle: true
    input_cfg:
      - type: nemo
        tags: {lang: en}
      - type: lhotse
        weight: 0.5
trainer:
  max_steps: 10
"""
LINES = CONFIG.splitlines(keepends=True)


def document(text: str) -> Document:
    return read(Source.from_text(Path("x.yaml"), text))


def kept(whole: Document) -> object:
    return None if whole.root is None else to_plain(whole.root)


@pytest.mark.parametrize(
    ("line", "typed", "at"),
    [
        (4, "    seed\n", ": true"),
        (4, "    seed: 'x\n", None),
        (4, "    seed: [1,\n", None),
        (4, "    seed: {a: 1\n", None),
        (4, "\tseed: 42\n", "\t"),
        (4, "   seed: 42\n", None),
        (4, "    seed: 4: 2\n", ": 2"),
        (4, "    @seed: 42\n", "@seed"),
        (4, '    seed: "\n', None),
        (4, "    seed: *\n", None),
        (4, "    - seed\n", None),
        (4, "    }\n", "}"),
    ],
)
def test_one_line_is_lost_and_no_more(line: int, typed: str, at: str | None) -> None:
    whole = document("".join([*LINES[: line - 1], typed, *LINES[line:]]))
    assert not whole.parses
    (problem,) = whole.problems
    assert problem.kind == "syntax"
    if at is not None:
        assert whole.source.text[problem.span.start :].startswith(at)
    found = kept(whole)
    assert isinstance(found, dict)
    assert found["trainer"] == {"max_steps": 10}
    assert found["data"]["train_ds"]["shuffle"] is True
    assert [entry["type"] for entry in found["data"]["train_ds"]["input_cfg"]] == ["nemo", "lhotse"]


def test_several_broken_lines() -> None:
    whole = document("a: 1\nb: [\nc: 2\nd: 'x\ne: 3\nf g\nh: 4\n")
    found = kept(whole)
    assert isinstance(found, dict)
    assert {"a": 1, "c": 2}.items() <= found.items()
    assert len(whole.problems) == 1


def test_offsets_are_those_of_the_text_as_it_is() -> None:
    text = "a: 1\r\nb: é: 2\r\nc: 3\r\n"
    whole = document(text)
    assert whole.source.text == text
    assert kept(whole) == {"a": 1, "c": 3}
    assert whole.root is not None
    assert [text[pair.key.span.start] for pair in whole.root.pairs] == ["a", "c"]  # type: ignore[union-attr]


def test_what_nothing_can_be_read_of() -> None:
    whole = document("[" * 50 + "\n" + "{" * 50 + "\n")
    assert whole.problems[0].kind == "syntax"


def test_without_recovery() -> None:
    whole = read(Source.from_text(Path("x.yaml"), "a: [\nb: 1\n"), recover=False)
    assert whole.root is None
    assert [problem.kind for problem in whole.problems] == ["syntax"]


@settings(derandomize=True, max_examples=300, deadline=None, database=None)
@given(
    st.integers(0, len(CONFIG)),
    st.integers(0, 30),
    st.sampled_from(["", ":", "\t", "[", "{", "'", '"', "- ", "&", "*", "\n", "\x07", "\ud800"]),
)
def test_any_edit(start: int, length: int, typed: str) -> None:
    text = CONFIG[:start] + typed + CONFIG[start + length :]
    alone = read(Source.from_text(Path("x.yaml"), text), recover=False)
    whole = document(text)
    assert whole.parses == alone.parses
    if not alone.parses:
        assert whole.problems[:1] == alone.problems[:1]
    for problem in whole.problems:
        assert 0 <= problem.span.start <= problem.span.end <= len(text)


def test_a_long_file_with_many_faults_ends_soon() -> None:
    text = "".join(
        f"- type: nemo\n  weight: {n}\n  tags: {{lang: en}}\n" if n % 50 else "- type: [\n" for n in range(3000)
    )
    started = time.perf_counter()
    whole = document(text)
    assert time.perf_counter() - started < 5
    assert whole.problems[0].kind == "syntax"
