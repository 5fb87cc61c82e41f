"""Storms, cancellations, closing in the middle, bugs, and workspaces with thousands of files."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from nemo_resumable.lsp_server import analyses
from nemo_resumable.lsp_server.server import create_server
from nemo_resumable.lsp_server.session import Session

from .conftest import BLEND, CONFIG, codes

Serve = Callable[..., Any]


def _large_blend(sources: int) -> str:
    return "".join(
        f"- type: nemo_tarred\n  manifest_filepath: /data/{n}/manifest__OP_0..15_CL_.json\n"
        f"  tarred_audio_filepaths: /data/{n}/audio__OP_0..15_CL_.tar\n  weight: 1\n"
        for n in range(sources)
    )


def test_a_storm_of_edits(client: Any, project: Path) -> None:
    """A thousand changes that nobody waits for: the last one is what counts, and few of the others are judged."""
    uri = client.open(project / "conf.yaml")
    client.pushed(uri)
    line = CONFIG.split("\n").index("    seed: 42")
    started = time.monotonic()
    before = "42"
    for version in range(2, 1002):
        client.change(uri, version, ((line, 10), (line, 10 + len(before)), str(version)))
        before = str(version)
    client.wait(
        lambda: any(
            each["uri"] == uri and each["version"] == 1001 for each in client.said("textDocument/publishDiagnostics")
        ),
        "the diagnostics of the last version",
    )
    assert time.monotonic() - started < 20
    versions = [each["version"] for each in client.said("textDocument/publishDiagnostics") if each["uri"] == uri]
    assert versions == sorted(versions)
    text = client.request(
        "workspace/executeCommand", {"command": "nemo-resumable.showEffectiveConfig", "arguments": [uri]}
    )["text"]
    assert "seed: 1001  # file" in text


def test_typing_overtakes_a_run(client: Any, project: Path) -> None:
    """Diagnostics of versions that are past are not shown while newer ones are at hand."""
    (project / "blend.yaml").write_text(_large_blend(1500))
    uri = client.open(project / "blend.yaml")
    client.open(project / "conf.yaml")
    client.pushed(uri)
    for version in range(2, 12):
        client.change(uri, version, ((0, 0), (0, 0), f"# {version}\n"))
        time.sleep(0.02)
    client.until(uri, lambda shown: True)
    client.wait(
        lambda: (
            client.said("textDocument/publishDiagnostics")[-1].get("version") == 11
            or any(e["uri"] == uri and e.get("version") == 11 for e in client.said("textDocument/publishDiagnostics"))
        ),
        "the last version",
    )
    versions = [
        e["version"] for e in client.said("textDocument/publishDiagnostics") if e["uri"] == uri and "version" in e
    ]
    assert versions == sorted(versions)


def test_requests_are_answered_while_a_large_file_is_judged(client: Any, project: Path) -> None:
    (project / "blend.yaml").write_text(_large_blend(1500))
    client.open(project / "conf.yaml")
    started = time.monotonic()
    client.request("workspace/executeCommand", {"command": "nemo-resumable.explainRule", "arguments": ["NR110"]})
    assert time.monotonic() - started < 1.0


def test_cancelled(client: Any, project: Path) -> None:
    (project / "blend.yaml").write_text(_large_blend(1500))
    uri = client.open(project / "conf.yaml")
    whole = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}
    params = {"textDocument": {"uri": uri}, "range": whole, "context": {"diagnostics": []}}
    request = client.start("textDocument/codeAction", params)
    client.notify("$/cancelRequest", {"id": request})
    with pytest.raises(Exception, match="-32800"):
        client.finish(request)
    assert client.actions(uri, whole)


def test_closed_while_it_is_judged(client: Any, project: Path) -> None:
    (project / "blend.yaml").write_text(_large_blend(1500))
    uri = client.open(project / "conf.yaml")
    client.change(uri, 2, CONFIG + "\n")
    client.shut(uri)
    time.sleep(0.3)
    other = client.open(project / "other.yaml", CONFIG.replace("blend.yaml", "no.yaml"))
    assert codes(client.pushed(other))
    shown = [each for each in client.said("textDocument/publishDiagnostics") if each["uri"] == uri]
    assert not shown or shown[-1]["diagnostics"] == []


def test_changes_of_what_is_not_open_are_passed_over(client: Any, project: Path) -> None:
    client.change("file:///never/opened.yaml", 2, "data: {}\n")
    client.shut("file:///never/opened.yaml")
    assert codes(client.diagnostics(client.open(project / "conf.yaml")))


def test_thousands_of_files_in_the_workspace(serve: Serve, project: Path) -> None:
    """The session begins at once, the open file is judged at once, and the rest is looked at in the background."""
    for number in range(2000):
        folder = project / f"{number // 100:02}"
        folder.mkdir(exist_ok=True)
        text = CONFIG if number % 50 == 0 else f"services:\n  web_{number}:\n    image: x\n"
        (folder / f"{number}.yaml").write_text(text)
    client = serve()
    started = time.monotonic()
    client.initialize(project)
    uri = client.open(project / "conf.yaml")
    assert codes(client.pushed(uri))
    assert time.monotonic() - started < 10  # one second on a machine that does nothing else
    slowest = 0.0
    for version in range(2, 12):
        before = time.monotonic()
        client.change(uri, version, CONFIG + "#" * version + "\n")
        client.pushed(uri)
        slowest = max(slowest, time.monotonic() - before)
        time.sleep(0.05)
    assert slowest < 3
    client.wait(
        lambda: any(each["value"]["kind"] == "end" for each in client.said("$/progress")),
        "the end of the look around",
        60,
    )
    reports = [each["value"] for each in client.said("$/progress")]
    assert reports[0]["kind"] == "begin"
    assert any("configs" in each.get("message", "") for each in reports)


def test_a_bug_is_one_entry_in_the_log(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """And no pop-up: what is wrong with us is not the user's next task."""
    server = create_server()
    sent: list[tuple[str, Any]] = []
    monkeypatch.setattr(server.protocol, "notify", lambda method, params=None: sent.append((method, params)))
    try:
        raise ValueError("this is a bug")
    except ValueError as error:
        server.report_server_error(error, ValueError)
    [(method, params)] = sent
    assert method == types.WINDOW_LOG_MESSAGE
    assert params.type is types.MessageType.Error
    assert "this is a bug" in params.message
    assert "test_robustness.py" in params.message
    server.stop()


def test_servers_share_nothing() -> None:
    one, other = create_server(), create_server()
    assert one.session.documents is not other.session.documents
    one.session.projects.folders["file:///a"] = Path("/a")
    assert other.session.projects.folders == {}
    for server in (one, other):
        server.stop()


def test_models_are_let_go(project: Path) -> None:
    """What an edit leaves behind is taken apart, without the collector's help."""
    import gc

    from nemo_resumable.lsp_server.projects import Projects

    projects = Projects(complain=lambda sentence: None)
    known = analyses.Analyses()
    memo: dict[object, tuple[object, object]] = {}
    conf = project / "conf.yaml"
    gc.collect()
    gc.disable()
    try:
        for number in range(6):
            texts = {conf: CONFIG + "#" * number + "\n", project / "blend.yaml": BLEND}
            known.keep(analyses.judge(projects.noting(conf, texts, memo), conf))
            known.sweep()
            if number == 2:
                before = len([each for each in gc.get_objects() if type(each).__name__ == "Entry"])
        after = len([each for each in gc.get_objects() if type(each).__name__ == "Entry"])
    finally:
        gc.enable()
    assert after == before > 0


def test_a_bug_in_judging_one_file_leaves_the_others_alone(monkeypatch: pytest.MonkeyPatch, project: Path) -> None:
    """It is told, nothing is said of that file until it changes, and the session goes on."""
    bugs: list[Exception] = []
    right = analyses.analyze

    def wrong(project: Any, files: Any) -> Any:
        if files[0].name == "conf.yaml":
            raise ValueError("this is a bug")
        return right(project, files)

    async def session() -> None:
        made = Session(complain=lambda sentence: None, bug=bugs.append)
        uris = []
        for name in ("conf.yaml", "other.yaml"):
            uris.append((project / name).as_uri())
            made.open(types.TextDocumentItem(uris[-1], "yaml", 1, CONFIG))
        monkeypatch.setattr(analyses, "analyze", wrong)
        views = [await made.view(uri) for uri in uris]
        assert [bool(view and view.findings) for view in views] == [False, True]
        assert [str(bug) for bug in bugs] == ["this is a bug"]
        monkeypatch.setattr(analyses, "analyze", right)
        made.change(uris[0], 2, [types.TextDocumentContentChangeWholeDocument(CONFIG)])
        mended = await made.view(uris[0])
        assert mended is not None
        assert mended.findings
        made.stop()

    asyncio.run(session())
