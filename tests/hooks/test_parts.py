"""Files that share nothing are mended apart; a blend that two settings files reach is judged, shown and changed once."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from nemo_resumable.core.analysis import analyze
from nemo_resumable.core.project import Project
from nemo_resumable.core.settings import Settings
from nemo_resumable.hooks import changes
from nemo_resumable.hooks.parts import parts

READY = """\
data:
  train_ds:
    input_cfg: {blend}
    seed: 42
    shard_seed: 42
    shuffle: true
    num_workers: 4
    batch_size: 4
    indexed: true
    use_stateful_dataloader: true
    indexes_root: /shared/idx
"""
STREAMS = "- type: lhotse_shar\n  shar_path: /data/shar\n  indexed: false\n"


def write(folder: Path, files: dict[str, str]) -> list[Path]:
    """Files below a folder, in the order given."""
    paths = [folder / name for name in files]
    for path, text in zip(paths, files.values()):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return paths


def test_configs_that_read_one_blend_are_one_part(repository: Path) -> None:
    inner = "- type: group\n  input_cfg: deep.yaml\n"
    files = write(
        repository,
        {
            "a.yaml": READY.format(blend="shared.yaml"),
            "alone.yaml": READY.format(blend="own.yaml"),
            "b.yaml": READY.format(blend="outer.yaml"),
            "c.yaml": READY.format(blend="deep.yaml"),
            "shared.yaml": STREAMS,
            "outer.yaml": inner,
            "deep.yaml": STREAMS,
            "d.yaml": READY.format(blend="shared.yaml"),
            "other.yaml": "services: {}\n",
            "lone.yaml": STREAMS,
            "latin.yaml": "",
        },
    )
    write(repository, {"own.yaml": STREAMS})
    (repository / "latin.yaml").write_bytes(b"data: \xff")
    analysis = analyze(Project(Settings(repository, profile="speech-main"), repository), files)
    found = {tuple(path.name for path in paths): part for paths, part in parts(analysis, files)}
    assert list(found) == [
        ("a.yaml", "shared.yaml", "d.yaml"),
        ("alone.yaml",),
        ("b.yaml", "c.yaml", "outer.yaml", "deep.yaml"),
        ("other.yaml",),
        ("lone.yaml",),
        ("latin.yaml",),
    ]
    assert [config.file.name for config in found["a.yaml", "shared.yaml", "d.yaml"].configs] == ["a.yaml", "d.yaml"]
    assert {each.location.file.name for each in found[("alone.yaml",)].findings} == {"own.yaml", "alone.yaml"}
    assert [path.name for path, _ in found[("latin.yaml",)].problems] == ["latin.yaml"]
    for kind in ("findings", "configs", "problems", "models"):
        assert sum(len(getattr(part, kind)) for part in found.values()) == len(getattr(analysis, kind))


def test_what_is_said_in_a_launcher_belongs_to_the_config(repository: Path) -> None:
    """A launcher of two configs does not make one part of them, and no finding is lost."""
    files = write(
        repository, {"a.yaml": READY.format(blend="a_blend.yaml"), "b.yaml": READY.format(blend="b_blend.yaml")}
    )
    write(repository, {"a_blend.yaml": STREAMS, "b_blend.yaml": STREAMS})
    command = "python salm_train.py --config-name={} data.train_ds.shard_seed=randomized\n"
    write(repository, {"train.sh": command.format("a") + command.format("b")})
    project = Project(Settings(repository, profile="speech-main"), repository, launchers=(repository / "train.sh",))
    analysis = analyze(project, files)
    found = {tuple(path.name for path in paths): part for paths, part in parts(analysis, files)}
    assert set(found) == {("a.yaml",), ("b.yaml",)}
    for part in found.values():
        assert "NR503" in {finding.code for finding in part.findings}
    assert sum(len(part.findings) for part in found.values()) == len(analysis.findings)


def test_a_hundred_configs_of_one_blend_are_one_part(repository: Path) -> None:
    files = write(repository, {f"{number}.yaml": READY.format(blend="shared.yaml") for number in range(100)})
    files += write(repository, {"shared.yaml": STREAMS})
    found = parts(analyze(Project(Settings(repository, profile="speech-main"), repository), files), files)
    assert [paths for paths, _ in found] == [tuple(files)]


def test_only_parts_with_something_to_mend_are_mended(
    run: Callable[..., Any], repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(repository, {f"{number}.yaml": READY.format(blend=f"blends/{number}.yaml") for number in range(5)})
    write(repository, {f"blends/{number}.yaml": STREAMS.replace("  indexed: false\n", "") for number in range(4)})
    write(repository, {"blends/4.yaml": STREAMS})
    mended: list[list[str]] = []
    fix = changes.fix

    def spy(project: Project, files: Any, **given: Any) -> Any:
        mended.append([file.name for file in files])
        return fix(project, files, **given)

    monkeypatch.setattr(changes, "fix", spy)
    assert run("check", "--fix").code == 1
    assert mended == [["4.yaml", "4.yaml"]]
    assert "indexed" not in (repository / "blends" / "4.yaml").read_text(encoding="utf-8")


@pytest.fixture
def two_settings(repository: Path) -> Path:
    """Two configs under settings of their own that read one blend."""
    write(
        repository,
        {
            "a/conf.yaml": READY.format(blend="shared.yaml"),
            "b/conf.yaml": READY.format(blend="shared.yaml"),
            "b/.nemo-resumable.toml": "severity = { NR309 = 'fatal' }\n",
            "shared.yaml": STREAMS,
        },
    )
    return repository


def test_blend_under_two_settings_is_reported_once_and_at_its_worst(
    run: Callable[..., Any], two_settings: Path
) -> None:
    report = json.loads(run("check", "--format", "json").out)
    assert [config["file"] for config in report["configs"]] == ["a/conf.yaml", "b/conf.yaml"]
    assert [(each["file"], each["severity"]) for each in report["findings"] if each["code"] == "NR309"] == [
        ("shared.yaml", "fatal")
    ]


def test_blend_under_two_settings_is_changed_once(run: Callable[..., Any], two_settings: Path) -> None:
    shown = run("check", "--diff")
    assert (shown.code, shown.err) == (1, "1 file would change.\n")
    assert shown.out.count("-  indexed: false\n") == 1
    mended = run("check", "--fix")
    assert (mended.code, mended.err) == (1, "Fixed 1 finding in 1 file.\n")
    assert run("check", "--fix").code == 0
