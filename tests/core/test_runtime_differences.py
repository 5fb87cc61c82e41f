"""Places where two readers of the same YAML differ, and what a rule has to make of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from nemo_resumable.core.analysis import analyze
from nemo_resumable.core.findings import Finding
from nemo_resumable.core.fixing import fix
from nemo_resumable.core.project import Project
from nemo_resumable.core.settings import load_settings

HEAD = """\
data:
  train_ds:
    indexed: true
    use_stateful_dataloader: true
    force_map_dataset: false
    seed: 42
    shard_seed: 42
    shuffle: true
    num_workers: 4
"""
SOURCE = """\
    input_cfg:
      - type: nemo_tarred
        manifest_filepath: /data/en/manifest__OP_0..7_CL_.jsonl
        tarred_audio_filepaths: /data/en/audio__OP_0..7_CL_.tar
"""


def findings(folder: Path, **files: str) -> list[Finding]:
    for name, text in files.items():
        (folder / f"{name}.yaml").write_text(text)
    return list(analyze(Project(load_settings(folder), folder), [folder / "config.yaml"]).findings)


def codes(found: list[Finding]) -> set[str]:
    return {finding.code for finding in found if finding.suppressed is None}


@pytest.mark.parametrize(("weight", "refused"), [("1e-1", True), ("0.1", False), ("1.0e-1", False), ("1", False)])
def test_lhotse_reads_exponents_without_a_dot_as_text_in_blends(tmp_path: Path, weight: str, refused: bool) -> None:
    entry = "- type: {0}\n  weight: {1}\n  manifest_filepath: /d/manifest_{2}.jsonl\n  tarred_audio_filepaths: /d/audio_{2}.tar\n"
    blend = entry.format("nemo_tarred", weight, 1) + entry.format("nemo_tarred", "2", 2)
    config = f"{HEAD}    batch_size: 8\n    input_cfg: blend.yaml\n"
    assert ("NR314" in codes(findings(tmp_path, config=config, blend=blend))) is refused


def test_omegaconf_reads_the_same_exponent_as_a_number_in_configs(tmp_path: Path) -> None:
    lines = "".join(
        f"      - type: nemo_tarred\n        weight: {weight}\n        manifest_filepath: /d/manifest_{number}.jsonl\n"
        f"        tarred_audio_filepaths: /d/audio_{number}.tar\n"
        for number, weight in enumerate(("1e-1", "2"))
    )
    assert "NR314" not in codes(findings(tmp_path, config=f"{HEAD}    batch_size: 8\n    input_cfg:\n{lines}"))


@pytest.mark.parametrize(
    ("options", "fires"),
    [
        ("", True),
        ("    batch_size: 4\n", False),
        ("    batch_duration: 100\n", False),
        ("    batch_tokens: 4000\n", True),
        ("    batch_tokens: 4000\n    use_multimodal_sampling: true\n", False),
        ("    batch_duration: 100\n    use_multimodal_sampling: true\n", True),
        ("    batch_size: ???\n", False),
    ],
)
def test_what_counts_as_a_batch_size(tmp_path: Path, options: str, fires: bool) -> None:
    assert ("NR121" in codes(findings(tmp_path, config=HEAD + options + SOURCE))) is fires


def test_a_mixture_repeats_untarred_evaluation_sources_too(tmp_path: Path) -> None:
    evaluation = (
        "model:\n  train_ds:\n    use_lhotse: true\n    manifest_filepath: /d/a.jsonl\n    batch_size: 4\n"
        "  validation_ds:\n    use_lhotse: true\n    batch_size: 4\n    input_cfg:\n"
        "      - type: nemo\n        manifest_filepath: /d/b.jsonl\n"
    )
    assert "NR202" not in codes(findings(tmp_path, config=evaluation))
    more = evaluation + "      - type: nemo\n        manifest_filepath: /d/c.jsonl\n"
    assert "NR202" in codes(findings(tmp_path, config=more))


def test_removing_an_unused_suppression_keeps_the_used_ones_beside_it(tmp_path: Path) -> None:
    line = "    shard_seed: trng  # nemo-resumable: ignore[NR113, NR110] agreed until the data is converted\n"
    text = (HEAD + "    batch_size: 8\n" + SOURCE).replace("    shard_seed: 42\n", line)
    (tmp_path / "config.yaml").write_text(text)
    project = Project(load_settings(tmp_path), tmp_path)
    result = fix(project, [tmp_path / "config.yaml"])
    fixed = result.texts[tmp_path / "config.yaml"].text
    assert "ignore[NR110] agreed" in fixed
    assert "NR110" not in codes(list(result.analysis.findings))
