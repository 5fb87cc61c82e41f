"""Commands: write the artifacts, show what a verdict rests on, explain a rule, begin anew."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from lsprotocol import types
from nemo_resumable.core import failures
from nemo_resumable.core.artifacts import Migration, NotAConfig, prepare, write
from nemo_resumable.core.failures.page import FOLDER as MODES
from nemo_resumable.core.failures.page import failures_of_rule
from nemo_resumable.core.failures.page import page_text as failure_text
from nemo_resumable.core.model.dataset import Dataset
from nemo_resumable.core.rules.page import FOLDER, page_text
from nemo_resumable.core.rules.registry import find_rule
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams

from .. import uris
from ..analyses import Result
from ..progress import Progress
from ..reports import effective, inspected
from ..server import Server
from .names import EXPLAIN, REQUEST_FAILED, RESTART, SHOW_EFFECTIVE, SHOW_INSPECTED, WRITE_ARTIFACTS

Handler = Callable[[Server, types.ExecuteCommandParams], Awaitable[Any]]


def register(server: Server) -> None:
    """Give the server its handlers."""
    handlers: dict[str, Handler] = {
        WRITE_ARTIFACTS: write_artifacts,
        SHOW_EFFECTIVE: show_effective,
        SHOW_INSPECTED: show_inspected,
        RESTART: restart,
        EXPLAIN: explain,
    }
    for name, handler in handlers.items():
        server.command(name)(handler)


async def write_artifacts(ls: Server, params: types.ExecuteCommandParams) -> dict[str, Any]:
    """Write the artifacts of a config. Arguments: its URI, then optionally `{"excludeBlocked": …, "packs": …}`."""
    result = await _config(ls, params)
    choices = _table(params, 1)
    project = ls.session.project(result.root)

    def prepared() -> Migration:
        return prepare(
            project,
            result.root,
            exclude_blocked=choices.get("excludeBlocked") is True,
            packs=choices.get("packs") is True,
        )

    async with Progress(ls, f"Migrating {result.root.name}", params.work_done_token) as progress:
        progress.report("verifying the fixes")
        try:
            migration = await ls.session.aside(prepared)
        except NotAConfig as error:
            raise JsonRpcException(str(error), REQUEST_FAILED) from None
        if progress.cancelled:
            raise JsonRpcException("stopped; nothing was written", REQUEST_FAILED)
        progress.report("writing", 90)
        try:
            write(migration)
        except OSError as error:
            raise JsonRpcException(str(error), REQUEST_FAILED) from None
    report = ls.session.uri_of(migration.folder / "migration-report.md")
    _show(ls, report)
    return {
        "folder": ls.session.uri_of(migration.folder),
        "report": report,
        "files": [ls.session.uri_of(migration.folder / name) for name in sorted(migration.files)],
        "readiness": migration.after.configs[0].readiness,
    }


async def show_effective(ls: Server, params: types.ExecuteCommandParams) -> dict[str, str]:
    """The effective options of a dataset. Arguments: the config's URI, then optionally `{"dataset": "data.train_ds"}`
    or `{"position": …}`; without them the first training dataset."""
    result = await _config(ls, params)
    assert result.model is not None
    dataset = _dataset(ls, result, _table(params, 1))
    name = f"{dataset.subject} of {result.root.name}"
    return {"title": name, "language": "yaml", "text": effective(dataset, _named(ls, result.root))}


async def show_inspected(ls: Server, params: types.ExecuteCommandParams) -> dict[str, str]:
    """What the verdict on a config rests on. Arguments: the URI of the config, or of a blend that one config reads."""
    result = await _config(ls, params)
    text = inspected(ls.session.project(result.root), result, _named(ls, result.root))
    return {"title": f"What was inspected for {result.root.name}", "language": "markdown", "text": text}


async def restart(ls: Server, params: types.ExecuteCommandParams) -> None:
    """Forget everything but the open texts and begin anew."""
    ls.client.forgive()
    ls.session.restart()
    ls.checker.wake()
    ls.scanner.start()


async def explain(ls: Server, params: types.ExecuteCommandParams) -> dict[str, str]:
    """The page of a rule, with the failure modes it prevents, or of a failure mode. Arguments: its code or name."""
    word = (params.arguments or [None])[0]
    rule = find_rule(word) if isinstance(word, str) else None
    mode = failures.find_mode(word) if isinstance(word, str) else None
    if rule is not None:
        page, title = FOLDER / f"{rule.code}-{rule.name}.md", f"{rule.code} {rule.name}"
        text = page_text(rule.code) if page.exists() else f"# {title}\n\n{rule.summary}.\n"
        prevented = failures_of_rule(rule.code)
        text += f"\n{prevented}" if prevented else ""
    elif mode is not None:
        page, title, text = MODES / f"{mode.slug}.md", mode.slug, failure_text(mode.slug)
    else:
        raise JsonRpcInvalidParams(f"`{word}` is no rule and no failure mode")
    return {"title": title, "language": "markdown", "text": text, "uri": uris.path_uri(str(page))}


async def _config(server: Server, params: types.ExecuteCommandParams) -> Result:
    """The judged config of a command's first argument. Raises JsonRpcException."""
    session = server.session
    given = (params.arguments or [None])[0]
    uri = given.get("uri") if isinstance(given, dict) else given
    if not isinstance(uri, str):
        raise JsonRpcInvalidParams("the first argument has to be the URI of a config")
    path = session.path_of(uri)
    if path is None:
        raise JsonRpcInvalidParams(f"`{uri}` is not open and no file")
    await session.fresh(path)
    configs = [result for result in session.analyses.of(path) if result.model is not None]
    own = next((result for result in configs if result.root == path), None)
    if own is None and len(configs) > 1:
        names = ", ".join(f"`{result.root.name}`" for result in configs)
        raise JsonRpcException(f"`{path.name}` is read by {names}; name one of them", REQUEST_FAILED)
    if own is None and not configs:
        sentence = f"`{path.name}` has no training dataset that Lhotse reads (`train_ds` under `data` or `model`)"
        raise JsonRpcException(sentence, REQUEST_FAILED)
    return own or configs[0]


def _dataset(server: Server, result: Result, choice: dict[str, Any]) -> Dataset:
    """The dataset that was asked for. Raises JsonRpcInvalidParams."""
    model = result.model
    assert model is not None
    datasets = model.datasets
    if isinstance(name := choice.get("dataset"), str):
        found = next((dataset for dataset in datasets if dataset.subject == name), None)
        if found is None:
            known = ", ".join(f"`{dataset.subject}`" for dataset in datasets)
            raise JsonRpcInvalidParams(f"there is no dataset `{name}`; there are {known}")
        return found
    if isinstance(place := choice.get("position"), dict):
        line = int(place.get("line", 0)) + 1
        lines = model.document.source.lines
        above = [
            dataset
            for dataset in datasets
            if dataset.location.file == result.root and lines.position(dataset.location.span.start).line <= line
        ]
        return max(above, key=lambda dataset: dataset.location.span.start, default=datasets[0])
    return datasets[0]


def _table(params: types.ExecuteCommandParams, index: int) -> dict[str, Any]:
    """An argument that is a table; an empty one where it is left out."""
    arguments = params.arguments or []
    given = arguments[index] if len(arguments) > index else {}
    return given if isinstance(given, dict) else {}


def _named(server: Server, root: Path) -> Callable[[Path], str]:
    """Names paths as they are seen from the workspace folder."""
    folder = server.session.projects.folder_of(root)

    def named(path: Path) -> str:
        if folder is not None and path.is_relative_to(folder):
            return os.path.relpath(path, folder).replace(os.sep, "/")
        return str(path)

    return named


def _show(server: Server, uri: str) -> None:
    """Have the client open a file, where it can."""
    if server.client.can("window.show_document.support"):
        server.window_show_document(types.ShowDocumentParams(uri, take_focus=True))
