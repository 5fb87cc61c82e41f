"""The first cases of the fuzzer, always the same: `python -m tests.fuzz --own --cases 2000 --seed 1` in parts."""

from __future__ import annotations

from pathlib import Path

import pytest

from .cases import run

SEED, CASES, PARTS = 1, 2000, 8


@pytest.mark.parametrize("part", range(PARTS))
def test_whatever_the_text(part: int, tmp_path: Path) -> None:
    size = CASES // PARTS
    for number in range(part * size, (part + 1) * size):
        failure = run(SEED, number, tmp_path / "p", shared=False)
        assert failure is None, f"{failure}\nagain: python -m tests.fuzz --own --seed {SEED} --case {number}"
