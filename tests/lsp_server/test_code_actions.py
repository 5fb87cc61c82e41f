"""What can be done with a finding, and that every edit gives the text that `check --fix` would have written."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .conftest import BLEND, CONFIG, MODERN, codes

Serve = Callable[..., Any]
WHOLE = {"start": {"line": 0, "character": 0}, "end": {"line": 10_000, "character": 0}}


def _check(folder: Path, *arguments: str) -> None:
    subprocess.run(
        [sys.executable, "-m", "nemo_resumable.hooks.cli", "check", *arguments],
        cwd=folder,
        capture_output=True,
        timeout=60,
    )


def _titled(actions: list[dict[str, Any]], *words: str) -> dict[str, Any]:
    found = [action for action in actions if all(word in action["title"] for word in words)]
    assert len(found) == 1, [action["title"] for action in actions]
    return found[0]


def _done(client: Any, uri: str, text: str, action: dict[str, Any]) -> str:
    result: str = client.applied(client.edit_of(action), {uri: text})[uri]
    return result


def test_a_quick_fix(client: Any, project: Path) -> None:
    text = CONFIG.replace("shuffle:", "shufle:")
    uri = client.open(project / "conf.yaml", text)
    shown = [found for found in client.diagnostics(uri) if found["code"] == "NR005"]
    action = _titled(client.actions(uri, shown[0]["range"], diagnostics=shown), "Rename to `shuffle`")
    assert action["kind"] == "quickfix"
    assert action["isPreferred"] is True
    assert action["diagnostics"] == shown
    edit = client.edit_of(action)
    change = edit["documentChanges"][0]
    assert change["textDocument"] == {"uri": uri, "version": 1}
    assert _done(client, uri, text, action) == CONFIG


def test_fixes_that_belong_together_are_one_action(client: Any, project: Path) -> None:
    uri = client.open(project / "conf.yaml")
    shown = {found["code"]: found for found in client.diagnostics(uri)}
    action = _titled(client.actions(uri, shown["NR101"]["range"], only=["quickfix"]), "belong together")
    text = _done(client, uri, CONFIG, action)
    assert "indexed: true" in text
    assert "use_stateful_dataloader: true" in text
    client.change(uri, 2, text)
    assert not {"NR101", "NR102"} & set(codes(client.diagnostics(uri)))


def test_all_edits_together_are_what_check_fix_writes(client: Any, project: Path) -> None:
    text = CONFIG.replace("seed: 42", "seed: 42  # 😀 十二").replace("num_workers", "num_wokers")
    for name in ("conf.yaml", "copy.yaml"):
        (project / name).write_text(text, encoding="utf-8")
    uri = client.open(project / "conf.yaml")
    action = _titled(client.actions(uri, WHOLE, only=["source.fixAll"]), "Fix all")
    assert action["kind"] == "source.fixAll.nemo-resumable"
    _check(project, "--fix", "copy.yaml")
    expected = (project / "copy.yaml").read_text(encoding="utf-8")
    assert expected != text
    assert _done(client, uri, text, action) == expected


def test_one_quick_fix_after_the_other_comes_to_the_same(client: Any, project: Path) -> None:
    _check(project, "--fix", "conf.yaml")
    expected = (project / "conf.yaml").read_text(encoding="utf-8")
    (project / "conf.yaml").write_text(CONFIG, encoding="utf-8")
    uri, text, version = client.open(project / "conf.yaml"), CONFIG, 1
    for _ in range(10):
        shown = client.diagnostics(uri)
        preferred = [
            action
            for found in shown
            for action in client.actions(uri, found["range"], only=["quickfix"])
            if action.get("isPreferred")
        ]
        if not preferred:
            break
        text, version = _done(client, uri, text, preferred[0]), version + 1
        client.change(uri, version, text)
    assert sorted(text.splitlines()) == sorted(expected.splitlines())


def test_line_ends_and_byte_order_marks_stay(client: Any, project: Path) -> None:
    """The client's text begins with the mark; the edits are right beside it, and new lines end as the others do."""
    text = "\ufeff" + CONFIG.replace("\n", "\r\n")
    (project / "conf.yaml").write_bytes(text.encode())
    (project / "copy.yaml").write_bytes(text.encode())
    uri = client.open(project / "conf.yaml")
    client.diagnostics(uri)
    action = _titled(client.actions(uri, WHOLE, only=["source"]), "Fix all")
    _check(project, "--fix", "copy.yaml")
    assert _done(client, uri, text, action).encode() == (project / "copy.yaml").read_bytes()


def test_fix_all_of_a_rule(client: Any, project: Path) -> None:
    text = CONFIG.replace("shuffle:", "shufle:").replace("num_workers", "num_wokers")
    uri = client.open(project / "conf.yaml", text)
    shown = [found for found in client.diagnostics(uri) if found["code"] == "NR005"]
    action = _titled(client.actions(uri, shown[0]["range"]), "Fix all 2 of NR005")
    assert _done(client, uri, text, action) == CONFIG


def test_suppress_on_this_line(client: Any, project: Path) -> None:
    uri = client.open(project / "conf.yaml")
    found = next(found for found in client.diagnostics(uri) if found["code"] == "NR110")
    action = _titled(client.actions(uri, found["range"], diagnostics=[found]), "Suppress NR110")
    text = _done(client, uri, CONFIG, action)
    line = '    shard_seed: "randomized"'
    assert text == CONFIG.replace(line, f"{line}  # nemo-resumable: ignore[NR110]")
    assert action.get("isPreferred") is not True
    client.change(uri, 2, text)
    assert "NR110" not in codes(client.diagnostics(uri))


def test_suppress_where_a_reason_is_asked_for(client: Any, project: Path) -> None:
    """The comment has a place for it, so that it holds."""
    (project / ".nemo-resumable.toml").write_text("require-suppression-reason = true\n", encoding="utf-8")
    uri = client.open(project / "conf.yaml")
    found = next(found for found in client.diagnostics(uri) if found["code"] == "NR110")
    text = _done(client, uri, CONFIG, _titled(client.actions(uri, found["range"]), "Suppress NR110"))
    assert '"randomized"  # nemo-resumable: ignore[NR110] TODO: say why\n' in text
    client.change(uri, 2, text)
    assert not {"NR110", "NR014"} & set(codes(client.diagnostics(uri)))


def test_suppress_beside_another(client: Any, project: Path) -> None:
    text = CONFIG.replace("  train_ds:", "  train_ds:  # nemo-resumable: ignore[NR101] for now")
    uri = client.open(project / "conf.yaml", text)
    found = next(found for found in client.diagnostics(uri) if found["code"] == "NR102")
    done = _done(client, uri, text, _titled(client.actions(uri, found["range"]), "Suppress NR102"))
    assert done == text.replace("[NR101]", "[NR101, NR102]")


def test_a_source_that_cannot_be_indexed_may_be_excluded(client: Any, project: Path) -> None:
    """It stays in the file as a comment, with the reason; that is a choice, so it is never preferred."""
    blend = BLEND + "- type: nemo\n  manifest_filepath: 'pipe:zcat /data/fr.jsonl.gz'\n  weight: 1\n"
    (project / "blend.yaml").write_text(blend, encoding="utf-8")
    client.open(project / "conf.yaml")
    uri = client.open(project / "blend.yaml")
    found = next(found for found in client.diagnostics(uri) if found["code"] == "NR306")
    action = next(a for a in client.actions(uri, found["range"], only=["quickfix"]) if "Suppress" not in a["title"])
    assert action["isPreferred"] is False
    done = _done(client, uri, blend, action)
    assert done.startswith(BLEND)
    assert all(line.lstrip().startswith("#") for line in done[len(BLEND) :].splitlines())
    assert "pipe:zcat" in done


def test_migrate(client: Any, project: Path) -> None:
    """Config and blends in one edit, each in its version, with a word about each file."""
    blend = BLEND.replace("nemo_tarred", "nemo_tared", 1)
    (project / "blend.yaml").write_text(blend, encoding="utf-8")
    uri = client.open(project / "conf.yaml", version=7)
    client.diagnostics(uri)
    action = _titled(client.actions(uri, WHOLE, only=["refactor"]), "Migrate this config")
    edit = client.edit_of(action)
    versions = {each["textDocument"]["uri"]: each["textDocument"]["version"] for each in edit["documentChanges"]}
    other = (project / "blend.yaml").as_uri()
    assert versions == {uri: 7, other: None}
    notes = {each["annotationId"] for change in edit["documentChanges"] for each in change["edits"]}
    assert notes == set(edit["changeAnnotations"])
    assert any("NR310" in note["description"] for note in edit["changeAnnotations"].values())
    done = client.applied(edit, {uri: CONFIG, other: blend})
    _check(project, "--fix", "conf.yaml")
    assert done[uri] == (project / "conf.yaml").read_text(encoding="utf-8")
    assert done[other] == (project / "blend.yaml").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("only", "kinds"),
    [
        (["quickfix"], {"quickfix"}),
        (["source"], {"source.fixAll.nemo-resumable", "source.nemo-resumable"}),
        (["source.fixAll"], {"source.fixAll.nemo-resumable"}),
        (["source.fixAll.nemo-resumable"], {"source.fixAll.nemo-resumable"}),
        (["source.fixAll.another"], set()),
        (["refactor.rewrite"], {"refactor.rewrite.nemo-resumable"}),
        (["source.organizeImports"], set()),
        (
            [""],
            {"quickfix", "source.fixAll.nemo-resumable", "source.nemo-resumable", "refactor.rewrite.nemo-resumable"},
        ),
    ],
)
def test_only_what_is_asked_for(client: Any, project: Path, only: list[str], kinds: set[str]) -> None:
    uri = client.open(project / "conf.yaml")
    assert {action["kind"] for action in client.actions(uri, WHOLE, only=only)} == kinds


def test_only_at_the_range(client: Any, project: Path) -> None:
    uri = client.open(project / "conf.yaml")
    assert client.actions(uri, client.span(CONFIG, "prompt_format: qwen"), only=["quickfix"]) == []
    assert client.actions(uri, client.span(CONFIG, '"randomized"'), only=["quickfix"])


def test_nothing_to_do(client: Any, project: Path) -> None:
    uri = client.open(project / "other.yaml", "services: {}\n")
    assert client.actions(uri, WHOLE) == []
    assert client.actions("file:///never/opened.yaml", WHOLE) == []


def test_an_action_of_an_older_text(client: Any, project: Path) -> None:
    """Its edit would land in the wrong place."""
    uri = client.open(project / "conf.yaml")
    action = client.actions(uri, client.span(CONFIG, '"randomized"'))[0]
    client.change(uri, 2, "# one line more\n" + CONFIG)
    with pytest.raises(Exception, match="-32801"):
        client.request("codeAction/resolve", action)


def test_a_client_that_resolves_nothing_and_knows_no_versions(serve: Serve, project: Path) -> None:
    """The edits come along, as plain changes."""
    action = {key: value for key, value in MODERN["textDocument"]["codeAction"].items() if key != "resolveSupport"}
    record = {**MODERN, "textDocument": {**MODERN["textDocument"], "codeAction": action}, "workspace": {}}
    client = serve(record)
    client.initialize(project)
    uri = client.open(project / "conf.yaml")
    found = client.actions(uri, client.span(CONFIG, '"randomized"'), only=["quickfix", "source.fixAll"])
    assert found
    assert all("changes" in each["edit"] and "documentChanges" not in each["edit"] for each in found)
    _check(project, "--fix", "conf.yaml")
    fixed = client.applied(_titled(found, "Fix all that is safe")["edit"], {uri: CONFIG})[uri]
    assert fixed == (project / "conf.yaml").read_text(encoding="utf-8")


def test_a_client_without_code_action_literals_gets_none(serve: Serve, project: Path) -> None:
    client = serve({})
    client.initialize(project)
    assert client.actions(client.open(project / "conf.yaml"), WHOLE) == []
