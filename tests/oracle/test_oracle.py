"""Verdicts beside what the real loader did with the same configs (`../shared/oracle`, where it is there)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from nemo_resumable.core.analysis import analyze
from nemo_resumable.core.project import Project
from nemo_resumable.core.settings import load_settings

ORACLE = Path(__file__).parents[3] / "shared" / "oracle"
pytestmark = pytest.mark.skipif(not ORACLE.is_dir(), reason="the oracle's configs are not beside this repository")

#: Findings that ask for more than a run that happens to go well in the oracle's short look, with the reason.
POLICY = {
    "NR103": "map style resumes exactly, but its cost grows with the data: the migration asks for iterable style",
    "NR105": "the same, where map style is the sources' default",
    "NR109": "a string seed is not part of the sampler's state, but salm_train cannot start on it",
    "NR110": "one source drawn a few times by two ranks shows no duplicates; a shuffled chain of 4,000 items does",
    "NR112": "the deadlock of finite training needs ranks that run at the same time",
    "NR316": "the rest of the data is never read, which no resume shows",
}

TRUTH = json.loads((ORACLE / "truth.json").read_text()) if ORACLE.is_dir() else {}


def goes_wrong(truth: dict[str, object]) -> bool:
    """Whether the run raises, hangs, saves no state, diverges or gives two ranks the same items."""
    overlap = truth.get("rank_overlap")
    shared = truth.get("style") == "iterable" and isinstance(overlap, int) and overlap >= 3
    return truth["outcome"] != "runs" or truth.get("resume") in ("diverges", "no state") or shared


def blocking(name: str) -> set[str]:
    project = Project(load_settings(ORACLE), ORACLE)
    analysis = analyze(project, [ORACLE / "cases" / f"{name}.yaml"])
    assert len(analysis.configs) == 1
    return {finding.code for finding in analysis.findings if finding.severity.blocks}


@pytest.mark.parametrize("name", sorted(TRUTH))
def test_verdict_agrees_with_the_run(name: str) -> None:
    codes = blocking(name)
    if goes_wrong(TRUTH[name]):
        assert codes - set(POLICY) or codes & {"NR109", "NR110"}, TRUTH[name]
    else:
        assert codes <= set(POLICY), TRUTH[name]


def test_agreement_in_one_figure(capsys: pytest.CaptureFixture[str]) -> None:
    agree = sum(
        bool(blocking(name) - set(POLICY)) == goes_wrong(truth)
        or (goes_wrong(truth) and bool(blocking(name) & {"NR109", "NR110"}))
        for name, truth in TRUTH.items()
    )
    with capsys.disabled():
        print(f"\noracle: {agree} of {len(TRUTH)} verdicts agree with the run, policy findings aside")
    assert agree == len(TRUTH)
