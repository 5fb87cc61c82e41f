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
#: For each case that goes wrong, the rule that says why.
CAUSE = {
    "both_modes": "NR104",
    "bucketing_concurrent": "NR111",
    "bucketing_default": "NR111",
    "cuts_gz": "NR305",
    "empty_group": "NR315",
    "missing_manifest": "NR311",
    "mux_mixed_auto": "NR106",
    "mux_one_streaming": "NR309",
    "mux_seed_randomized": "NR110",
    "mux_weight_neg": "NR314",
    "mux_weight_partial": "NR313",
    "mux_weight_zero": "NR314",
    "no_data": "NR311",
    "pipe_manifest": "NR306",
    "pipe_tar": "NR306",
    "plain_extra_fields": "NR301",
    "plain_gz": "NR305",
    "reweight_list_bad": "NR320",
    "seed_null": "NR109",
    "shar_gz": "NR305",
    "shard_seed_null": "NR110",
    "stateful_off": "NR102",
    "tarred_extra_fields": "NR301",
    "tarred_gz_manifest": "NR305",
    "tarred_gz_tar": "NR304",
    "tarred_indexed_unset": "NR101",
    "tarred_not_indexed": "NR101",
    "tarred_seed_str": "NR110",
    "tarred_slice": "NR302",
    "top_slice": "NR302",
    "txt": "NR308",
    "unknown_type": "NR310",
    "w2_bucket_default": "NR111",
    "w2_mux_rand": "NR110",
    "w2_stream_int": "NR101",
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


def agrees(name: str) -> bool:
    """Whether the cause is named where the run goes wrong, and nothing but policy is held against one that goes well."""
    codes = blocking(name)
    return CAUSE.get(name) in codes if goes_wrong(TRUTH[name]) else codes <= set(POLICY)


@pytest.mark.parametrize("name", sorted(TRUTH))
def test_verdict_agrees_with_the_run(name: str) -> None:
    assert agrees(name), (blocking(name), TRUTH[name])
    assert (name in CAUSE) is goes_wrong(TRUTH[name])


def test_agreement_in_one_figure(capsys: pytest.CaptureFixture[str]) -> None:
    agree = sum(agrees(name) for name in TRUTH)
    with capsys.disabled():
        print(f"\noracle: {agree} of {len(TRUTH)} verdicts agree with the run, policy findings aside")
    assert agree == len(TRUTH)
