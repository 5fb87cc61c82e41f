"""What is shown of findings, in which file, and when."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from .conftest import BLEND, CONFIG, MODERN, codes

Serve = Callable[..., Any]


def _of(diagnostics: list[dict[str, Any]], code: str) -> dict[str, Any]:
    return next(diagnostic for diagnostic in diagnostics if diagnostic.get("code") == code)


def test_a_finding_as_it_is_shown(client: Any, project: Path) -> None:
    uri = client.open(project / "conf.yaml")
    found = _of(client.diagnostics(uri), "NR110")
    assert client.cut(CONFIG, found["range"]) == '"randomized"'
    assert found["severity"] == 1
    assert found["source"] == "nemo-resumable"
    assert found["message"].startswith("`shard_seed` ")
    page = Path(unquote(urlsplit(found["codeDescription"]["href"]).path))
    assert page.read_text(encoding="utf-8").startswith("# NR110 ")
    assert found["data"]["subject"] == "data.train_ds.shard_seed"
    assert found["data"]["fix"]["safety"] == "safe"


def test_severities(client: Any, project: Path) -> None:
    """An error is one, a warning is one, a note is information."""
    text = CONFIG + "    unheard_of: 1\n    batch_size: ???\n"
    shown = client.diagnostics(client.open(project / "conf.yaml", text))
    assert _of(shown, "NR101")["severity"] == 1
    assert _of(shown, "NR005")["severity"] == 2
    assert _of(shown, "NR004")["severity"] == 3
    client.change(client.open(project / "blend.yaml"), 2, "a: [\n")
    broken = client.until((project / "blend.yaml").as_uri(), lambda found: "NR001" in codes(found))
    assert _of(broken, "NR001")["severity"] == 1


def test_keys_that_nothing_reads_are_faded(client: Any, project: Path) -> None:
    shown = client.diagnostics(client.open(project / "conf.yaml", CONFIG + "    unheard_of: 1\n"))
    assert _of(shown, "NR005")["tags"] == [1]
    assert "tags" not in _of(shown, "NR110")


def test_related_places(client: Any, project: Path) -> None:
    """A finding names the other place, in another file too."""
    client.open(project / "conf.yaml")
    uri = client.open(project / "blend.yaml")
    found = _of(client.diagnostics(uri), "NR313")
    related = found["relatedInformation"][0]
    assert related["location"]["uri"] == uri
    assert client.cut(BLEND, related["location"]["range"]) == "2"
    assert related["message"]


def test_findings_of_a_blend_stand_in_the_blend(client: Any, project: Path) -> None:
    """They are shown there though only the config is open, and no more when it is closed."""
    uri = client.open(project / "conf.yaml")
    assert "NR313" not in codes(client.pushed(uri))
    assert "NR313" in codes(client.pushed((project / "blend.yaml").as_uri()))
    client.shut(uri)
    assert client.pushed(uri) == []
    assert client.pushed((project / "blend.yaml").as_uri()) == []


def test_a_blend_is_judged_with_the_config_that_reads_it(client: Any, project: Path) -> None:
    """The config was never opened: it is found in the workspace."""
    text = BLEND.replace("weight: 2\n", "weight: 2\n  shuffle: ${data.train_ds.shuffle}\n")
    (project / "blend.yaml").write_text(text)
    uri = client.open(project / "blend.yaml")
    shown = client.until(
        uri, lambda found: any("conf" in str(d.get("data")) or d.get("code") == "NR010" for d in found)
    )
    assert "NR313" in codes(shown)


def test_an_open_text_wins_over_its_file(client: Any, project: Path) -> None:
    """Also where the config on disk reads it."""
    config = client.open(project / "conf.yaml")
    client.pushed(config)
    blend = client.open(project / "blend.yaml", BLEND.replace("  weight: 2\n", ""))
    client.until(blend, lambda shown: "NR313" not in codes(shown))
    client.change(blend, 2, BLEND)
    assert "NR313" in codes(client.pushed(blend))
    client.change(blend, 3, "- type: no_such_type\n  weight: 1\n")
    assert "NR310" in codes(client.pushed(blend))
    client.shut(blend)  # the file on disk counts again
    assert "NR313" in codes(client.pushed(blend))


def test_a_base_config_that_is_open_wins_too(client: Any, project: Path) -> None:
    (project / "base.yaml").write_text("data:\n  train_ds:\n    shard_seed: 1\n")
    text = "defaults: [base, _self_]\n" + CONFIG.replace('    shard_seed: "randomized"\n', "")
    uri = client.open(project / "conf.yaml", text)
    assert "NR110" not in codes(client.pushed(uri))
    client.open(project / "base.yaml", "data:\n  train_ds:\n    shard_seed: trng\n")
    assert "NR110" in codes(client.pushed((project / "base.yaml").as_uri()))


def test_files_that_are_not_ours_are_left_alone(client: Any, project: Path) -> None:
    for name, text in (("compose.yaml", "services:\n  a: [\n"), ("notes.yaml", "a: 1\na: 2\n")):
        assert client.diagnostics(client.open(project / name, text)) == []


def test_each_version_is_answered(client: Any, project: Path) -> None:
    uri = client.open(project / "conf.yaml")
    client.pushed(uri)
    for version in range(2, 6):
        client.change(uri, version, CONFIG + "#" * version + "\n")
        client.pushed(uri)
    versions = [each["version"] for each in client.said("textDocument/publishDiagnostics") if each["uri"] == uri]
    assert versions == [1, 2, 3, 4, 5]


def test_cleared_on_close(client: Any, project: Path) -> None:
    uri = client.open("untitled:Untitled-1", CONFIG)
    assert client.pushed(uri)
    client.shut(uri)
    assert client.pushed(uri) == []


def test_half_typed(client: Any, project: Path) -> None:
    """The syntax error stands at its place, the findings of the rest stay, and nothing is offered to be fixed."""
    text = CONFIG.replace("    seed: 42\n", "    seed: [42\n")
    uri = client.open(project / "conf.yaml", text)
    shown = client.diagnostics(uri)
    assert {"NR001", "NR101", "NR110"} <= set(codes(shown))
    assert _of(shown, "NR001")["range"]["start"]["line"] >= text.split("\n").index("    seed: [42")
    assert client.actions(uri, _of(shown, "NR110")["range"]) == []
    client.change(uri, 2, CONFIG)
    mended = client.diagnostics(uri)
    assert "NR001" not in codes(mended)
    assert client.actions(uri, _of(mended, "NR110")["range"])


def test_at_most_a_thousand(client: Any, project: Path) -> None:
    blend = "".join(f"- type: no_such_type_{number}\n  weight: 1\n" for number in range(1200))
    client.open(project / "conf.yaml")
    shown = client.diagnostics(client.open(project / "blend.yaml", blend))
    assert len(shown) == 1001
    assert "code" not in shown[-1]
    assert shown[-1]["severity"] == 3
    assert "200 more findings" in shown[-1]["message"]


def test_suppressed_findings_are_not_shown(client: Any, project: Path) -> None:
    line = '    shard_seed: "randomized"'
    text = CONFIG.replace(line, f"{line}  # nemo-resumable: ignore[NR110] on purpose")
    assert "NR110" not in codes(client.diagnostics(client.open(project / "conf.yaml", text)))


def test_texts_without_a_file(client: Any, project: Path) -> None:
    """Relative paths begin in the workspace folder."""
    uri = client.open("untitled:Untitled-1", CONFIG)
    assert {"NR101", "NR110"} <= set(codes(client.diagnostics(uri)))
    assert "NR007" not in codes(client.diagnostics(uri))
    other = client.open("git:/somewhere/conf.yaml?%7B%22ref%22%3A%22~%22%7D", CONFIG)
    assert "NR110" in codes(client.diagnostics(other))


def test_names_are_answered_as_the_client_writes_them(client: Any, project: Path) -> None:
    folder = project / "mit Leerzeichen äöü"
    folder.mkdir()
    (folder / "conf 1.yaml").write_text(CONFIG, encoding="utf-8")
    (folder / "blend.yaml").write_text(BLEND, encoding="utf-8")
    uri = (folder / "conf 1.yaml").as_uri().replace("conf", "c%6Fnf").replace("/mit", "/%6dit")
    client.open(uri, CONFIG)
    assert client.diagnostics(uri)
    # Another spelling of the same file is the same text.
    client.change((folder / "conf 1.yaml").as_uri(), 2, "data: {}\n")
    client.until(uri, lambda shown: not shown)


def test_several_folders_each_with_its_settings(serve: Serve, tmp_path: Path) -> None:
    uris = []
    for name, ignored in (("one", "[]"), ("two", '["NR110"]')):
        folder = tmp_path / name
        folder.mkdir()
        (folder / ".git").mkdir()
        (folder / "conf.yaml").write_text(CONFIG)
        (folder / "blend.yaml").write_text(BLEND)
        (folder / ".nemo-resumable.toml").write_text(f"ignore = {ignored}\n")
    client = serve()
    client.initialize(tmp_path / "one")
    # The second file is opened before the server knows its folder.
    for name in ("one", "two"):
        uris.append(client.open(tmp_path / name / "conf.yaml"))
        assert ("NR110" in codes(client.diagnostics(uris[-1]))) == (name == "one")
    added = {"uri": (tmp_path / "two").as_uri(), "name": "two"}
    client.mark()
    client.notify("workspace/didChangeWorkspaceFolders", {"event": {"added": [added], "removed": []}})
    time.sleep(0.5)
    shown = client.request("textDocument/diagnostic", {"textDocument": {"uri": uris[1]}})["items"]
    assert "NR101" in codes(shown)
    assert "NR110" not in codes(shown)


def test_pulled(serve: Serve, project: Path) -> None:
    """A client that asks is not told, save of files that are not open; what has not changed is not sent again."""
    record = {**MODERN, "textDocument": {**MODERN["textDocument"], "diagnostic": {"dynamicRegistration": False}}}
    client = serve(record)
    client.initialize(project)
    uri = client.open(project / "conf.yaml")
    first = client.request("textDocument/diagnostic", {"textDocument": {"uri": uri}})
    assert first["kind"] == "full"
    assert "NR110" in codes(first["items"])
    again = {"textDocument": {"uri": uri}, "previousResultId": first["resultId"]}
    assert client.request("textDocument/diagnostic", again) == {"kind": "unchanged", "resultId": first["resultId"]}
    client.change(uri, 2, CONFIG.replace('"randomized"', "42"))
    second = client.request("textDocument/diagnostic", again)
    assert "NR110" not in codes(second["items"])
    assert "NR313" in codes(client.until((project / "blend.yaml").as_uri(), bool))
    assert all(each["uri"] != uri for each in client.said("textDocument/publishDiagnostics"))
    # What changes in another file changes this one: the client is told to ask again, and not for what it changed itself.
    assert client.requested("workspace/diagnostic/refresh") == []
    (project / "base.yaml").write_text("data:\n  train_ds:\n    shard_seed: 1\n")
    text = "defaults: [base, _self_]\n" + CONFIG.replace('    shard_seed: "randomized"\n', "")
    client.change(uri, 3, text)
    base = client.open(project / "base.yaml")
    params = {"textDocument": {"uri": uri}}
    assert "NR110" not in codes(client.request("textDocument/diagnostic", params)["items"])
    client.change(base, 2, "data:\n  train_ds:\n    seed: 1\n")
    client.wait(lambda: client.requested("workspace/diagnostic/refresh"), "a refresh")
    assert "NR110" in codes(client.request("textDocument/diagnostic", params)["items"])


def test_the_whole_workspace_where_the_user_wants_it(serve: Serve, project: Path) -> None:
    client = serve()
    can = client.initialize(project, options={"workspace-diagnostics": True})
    assert can["diagnosticProvider"]["workspaceDiagnostics"] is True
    config, blend = ((project / name).as_uri() for name in ("conf.yaml", "blend.yaml"))
    assert "NR110" in codes(client.until(config, bool))
    assert "NR313" in codes(client.until(blend, bool))
    answer = client.request("workspace/diagnostic", {"previousResultIds": []})
    reports = {item["uri"]: item for item in answer["items"]}
    assert "NR110" in codes(reports[config]["items"])
    previous = [{"uri": config, "value": reports[config]["resultId"]}]
    again = client.request("workspace/diagnostic", {"previousResultIds": previous})
    assert {item["uri"]: item["kind"] for item in again["items"]}[config] == "unchanged"


def test_a_comment_in_a_blend_is_unused_where_no_config_needs_it(client: Any, project: Path) -> None:
    """One config needs what another does not: the comment stays without a word."""
    comment = "  # nemo-resumable: ignore[NR313] only one is weighted"
    text = BLEND.replace("_tarred\n", f"_tarred{comment}\n")
    (project / "blend.yaml").write_text(text)
    (project / "second.yaml").write_text(CONFIG)
    blend = client.open(project / "blend.yaml")
    shown = client.until(blend, lambda found: "NR014" in codes(found))
    unused = [each for each in shown if each["code"] == "NR014"]
    assert len(unused) == 1  # the first entry has a weight, the second has none
    assert unused[0]["range"]["start"]["line"] == 0
    assert unused[0]["tags"] == [1]
    assert "NR313" not in codes(shown)
    fixes = client.actions(blend, unused[0]["range"], only=["quickfix"])
    action = next(each for each in fixes if each["title"].startswith("Remove"))
    assert client.applied(client.edit_of(action), {blend: text})[blend] == text.replace(comment, "", 1)


def test_what_the_settings_exclude_is_left_alone(client: Any, project: Path) -> None:
    (project / "vendored").mkdir()
    (project / "vendored" / "conf.yaml").write_text(CONFIG)
    (project / ".nemo-resumable.toml").write_text('exclude = ["vendored"]\n')
    assert client.diagnostics(client.open(project / "vendored" / "conf.yaml")) == []
    assert client.diagnostics(client.open(project / "conf.yaml"))
