"""Real public configs and blends (`../shared/corpus`, where it is there): spans, fixes, silence."""

from __future__ import annotations

import dataclasses
import difflib
import re
from pathlib import Path

import pytest
from nemo_resumable.core.analysis import analyze
from nemo_resumable.core.artifacts import prepare
from nemo_resumable.core.findings import Finding
from nemo_resumable.core.fixing import fix
from nemo_resumable.core.project import Project
from nemo_resumable.core.settings import Settings, load_settings

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"
pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not beside this repository")

CONFIGS = sorted((CORPUS / "configs").glob("*.yaml")) if CORPUS.is_dir() else []
BLENDS = sorted((CORPUS / "blends").glob("*.yaml")) if CORPUS.is_dir() else []
OURS = [path for path in CONFIGS if not path.name.startswith(("classic", "invalid", "doc__dataloaders"))]
#: Codes whose finding stands on a key, on a line or on a comment rather than on the key or value it names.
ELSEWHERE = {"NR001", "NR013", "NR014"}


def project() -> Project:
    settings: Settings = dataclasses.replace(load_settings(CORPUS), indexes_root="/shared/idx")
    return Project(settings, CORPUS)


def name(path: Path) -> str:
    return path.stem


def speaks_of_its_span(finding: Finding) -> bool:
    """Whether the span, cut out of the file, is the key or the value that the finding talks about."""
    text = finding.location.source.cut(finding.location.span)
    parts = finding.subject.split(".")
    if text.strip("\"'") in parts or text.lstrip("&*").strip() in parts:
        return True  # a key of the subject, or the section that should hold it
    if finding.origin == "default" or parts[-1] in ("weight", "type") or finding.code in ("NR120", "NR311", "NR313"):
        return bool(text.strip())
    current = finding.current
    if isinstance(current, bool):
        return text.lower() in ("true", "false", "yes", "no", "on", "off", "y", "n") or text.startswith("${")
    if current is None:
        return text in ("null", "~", "") or bool(text)
    words = re.findall(r"[\w/.-]+", str(current))
    return all(word in text or word in text.replace("_", "") for word in words[:3]) or "${" in text


@pytest.mark.parametrize("path", [*CONFIGS, *BLENDS], ids=name)
def test_spans_are_what_the_findings_talk_about(path: Path) -> None:
    for finding in analyze(project(), [path]).findings:
        source = finding.location.source
        assert 0 <= finding.location.span.start < finding.location.span.end <= len(source.text), finding
        assert finding.code in ELSEWHERE or speaks_of_its_span(finding), (
            finding.code,
            finding.subject,
            finding.current,
        )
        assert not finding.message.endswith(".")


@pytest.mark.parametrize("path", OURS, ids=name)
def test_fixes_hold_touch_nothing_else_and_are_made_once(path: Path) -> None:
    result = fix(project(), [path], for_artifact=True)
    for file, source in result.texts.items():
        before = file.read_text(encoding="utf-8").lstrip("\ufeff").splitlines()
        after = source.text.splitlines()
        gone = [line[2:] for line in difflib.ndiff(before, after) if line.startswith("- ")]
        comments = [line for line in before if line.lstrip().startswith("#")]
        assert [line for line in after if line.lstrip().startswith("#")] == comments
        fixes = {finding.subject.rsplit(".", 1)[-1] for finding in result.applied}
        fixes |= {"force_map_dataset", "force_iterable_dataset", "resume_ignore_no_checkpoint"}
        assert all(re.match(r"\s*(- )?[\"']?([\w-]+)", line)[2] in fixes for line in gone), gone  # type: ignore[index]
    overlays = {file: ("\ufeff" if source.bom else "") + source.text for file, source in result.texts.items()}
    assert not fix(project().with_overlays(overlays), [path], for_artifact=True).texts
    left = {(finding.code, finding.subject) for finding in result.analysis.findings}
    dropped = {(finding.code, finding.subject) for finding, _ in result.dropped}
    assert not {(finding.code, finding.subject) for finding in result.applied} & left - dropped


@pytest.mark.parametrize("path", OURS[::6], ids=name)
def test_artifacts_are_the_same_twice(path: Path, tmp_path: Path) -> None:
    analysis = analyze(project(), [path])
    if not analysis.configs or any(finding.code in ("NR001", "NR002", "NR013") for finding in analysis.findings):
        pytest.skip("not a config that can be migrated")
    first, second = (prepare(project(), path, out=tmp_path / "out").files for _ in range(2))
    assert first == second
    assert str(CORPUS.parent) not in first["migration-report.md"].decode()


def test_packs_are_declared_where_they_can_be_and_nothing_new_goes_wrong() -> None:
    settings = dataclasses.replace(project().settings, index_pack_root="/shared/packs", pack_threshold=2)
    ours = Project(settings, CORPUS)
    candidates = [path for path in OURS if "NR336" in {finding.code for finding in analyze(ours, [path]).findings}]
    assert candidates
    for path in candidates:
        plain, packed = (prepare(ours, path, packs=packs) for packs in (False, True))
        assert packed.packs is not None
        assert packed.packs.declared or packed.packs.kept
        codes = [{f.code for f in each.after.findings if f.severity.blocks} for each in (plain, packed)]
        assert codes[1] <= codes[0]
        entries = [entry for dataset in packed.migrated.datasets for entry in dataset.all_entries]
        assert sum(entry.own("index_pack") is not None for entry in entries) == len(packed.packs.declared)


def test_silence_on_everything_else() -> None:
    others = sorted((CORPUS / "other_yaml").iterdir()) + [path for path in CONFIGS if path.name.startswith("classic")]
    assert len(others) > 30
    analysis = analyze(project(), others)
    assert analysis.findings == ()
    assert analysis.configs == ()
    assert analysis.problems == ()


def test_curated_manifests_of_another_tool_are_not_blends() -> None:
    others = [path for path in BLENDS if path.name.startswith("curator")]
    assert others
    assert analyze(project(), others).findings == ()


def test_leaves_from_the_documentation_are_right() -> None:
    leaves = [path for path in BLENDS if path.name.startswith("speechdoc")]
    assert leaves
    assert [finding for finding in analyze(project(), leaves).findings if finding.severity.blocks] == []
