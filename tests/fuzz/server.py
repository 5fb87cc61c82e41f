"""The server's edit stream, in process: the text stays what the client holds, and findings what a fresh analysis says."""

from __future__ import annotations

import asyncio
import random
import re
from pathlib import Path

from lsprotocol import types
from nemo_resumable.core.analysis import analyze
from nemo_resumable.core.project import Project
from nemo_resumable.lsp_server.session import Session

from .bounds import limited
from .mutations import LAUNCHER, YAML
from .properties import a_project, shown

_NEWLINE = re.compile(r"\r\n|\n|\r")


def _position(text: str, offset: int, encoding: str) -> types.Position:
    """Where an offset is in a client's units, worked out without the code that is tried."""
    ends = [match.end() for match in _NEWLINE.finditer(text, 0) if match.end() <= offset]
    start = ends[-1] if ends else 0
    piece = text[start:offset]
    width = {"utf-8": 1, "utf-16": 2, "utf-32": 4}[encoding]
    return types.Position(
        len(ends), len(piece.encode(f"{encoding}-le" if width > 1 else encoding, "surrogatepass")) // width
    )


def _splits_a_line_end(text: str, offset: int) -> bool:
    return text[offset - 1 : offset + 1] == "\r\n"


def _events(
    chance: random.Random, before: str, after: str, encoding: str
) -> list[types.TextDocumentContentChangeEvent]:
    """Changes that make one text of another: the whole, or the part that differs, at times in two steps."""
    if chance.random() < 0.1:
        return [types.TextDocumentContentChangeWholeDocument(after)]
    most = min(len(before), len(after))
    head = next((index for index in range(most) if before[index] != after[index]), most)
    tail = next((index for index in range(most - head) if before[-1 - index] != after[-1 - index]), most - head)
    while head and (_splits_a_line_end(before, head) or _splits_a_line_end(after, head)):
        head -= 1
    while tail and (_splits_a_line_end(before, len(before) - tail) or _splits_a_line_end(after, len(after) - tail)):
        tail -= 1
    end = len(before) - tail
    new = after[head : len(after) - tail]
    start = _position(before, head, encoding)
    whole = types.Range(start, _position(before, end, encoding))
    if chance.random() < 0.3 and not new.startswith("\n"):
        without = before[:head] + before[end:]
        if not _splits_a_line_end(without, head):
            return [
                types.TextDocumentContentChangePartial(whole, ""),
                types.TextDocumentContentChangePartial(types.Range(start, start), new),
            ]
    return [types.TextDocumentContentChangePartial(whole, new)]


def edit_stream(chance: random.Random, folder: Path, config: str, names: list[str]) -> None:
    """Open the files of a project, change them again and again, close some; judge now and then, and compare."""
    with limited("the edit stream", 8.0):
        asyncio.run(_stream(chance, folder, config, names))


async def _stream(chance: random.Random, folder: Path, config: str, names: list[str]) -> None:
    bugs: list[Exception] = []
    session = Session(complain=lambda sentence: None, bug=bugs.append)
    session.projects.folders[folder.as_uri()] = folder
    session.encoding = chance.choice(("utf-8", "utf-16", "utf-32"))
    texts: dict[str, str] = {}
    versions: dict[str, int] = {}
    try:
        for step in range(chance.randint(3, 7)):
            name = config if step == 0 else chance.choice(names)
            uri = (folder / name).as_uri()
            if name not in texts:
                text = (folder / name).read_bytes().decode("utf-8", "replace")
                texts[name], versions[name] = text, 1
                language = "yaml" if name.endswith((".yaml", ".yml")) else "shellscript"
                session.open(types.TextDocumentItem(uri, language, 1, text))
            elif chance.random() < 0.1:
                session.close(uri)
                del texts[name]
            else:
                mutation = chance.choice(YAML if name.endswith((".yaml", ".yml")) else LAUNCHER)
                after = mutation(chance, texts[name])[: 2**16]
                versions[name] += 1
                session.change(uri, versions[name], _events(chance, texts[name], after, session.encoding))
                texts[name] = after
                document = session.documents.get(uri)
                assert document is not None
                assert document.text == after, f"the server holds another text after {mutation.__name__}"
            if chance.random() < 0.5:
                await _compare(session, folder, config, texts, bugs)
        await _compare(session, folder, config, texts, bugs)
    finally:
        session.stop()


async def _compare(session: Session, folder: Path, config: str, texts: dict[str, str], bugs: list[Exception]) -> None:
    if config not in texts:
        return
    view = await session.view((folder / config).as_uri())
    if bugs:
        raise bugs[0]
    fresh = a_project(folder)
    if fresh is None or view is None:
        return
    overlays = {folder / name: text for name, text in texts.items()}
    fresh = Project(fresh.settings, folder, overlays=overlays)
    findings = analyze(fresh, [folder / config]).findings
    here = [shown(finding) for finding in findings if finding.location.file == folder / config]
    told = [result for result in view.results if result.root == folder / config]
    assert len(told) == 1, "the config was not judged"
    kept = [shown(each) for each in told[0].analysis.findings if each.location.file == folder / config]
    assert sorted(map(str, kept)) == sorted(map(str, here)), "the server says something else than a fresh analysis"
