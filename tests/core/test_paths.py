"""Path patterns: how many files they stand for, and the first and last of them, without making those between."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nemo_resumable.core.model import paths

_PIECES = st.sampled_from(
    ["a", "_OP_0..3_CL_", "{09..11}", "{c..a}", "{x,y{1..2}}", "{9..1..3}", "{-2..1}", "[k]", "{}", "{,z}"]
)


@settings(derandomize=True, max_examples=300)
@given(st.lists(_PIECES, max_size=4).map("".join))
def test_first_last_and_count_agree_with_what_is_made(pattern: str) -> None:
    made = list(paths.expand(pattern))
    assert (paths.first(pattern), paths.last(pattern), paths.count(pattern)) == (made[0], made[-1], len(made))


@pytest.mark.parametrize(
    ("pattern", "last"),
    [
        ("/d/m__OP_0..127_CL_.json", "/d/m_127.json"),
        ("/d/{000..999999999}.tar", "/d/999999999.tar"),
        ("/d/{a,b}_{01..12}.tar", "/d/b_12.tar"),
        ("/d/plain.json", "/d/plain.json"),
    ],
)
def test_the_last_of_a_pattern(pattern: str, last: str) -> None:
    assert paths.last(pattern) == last
