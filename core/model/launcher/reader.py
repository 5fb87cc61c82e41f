"""Reads a launcher: shell scripts by their parse tree, Python scripts by `ast`; nothing is ever run."""

from __future__ import annotations

import ast
import contextlib
import os
import warnings
from pathlib import Path

from ...findings import Location
from ...syntax.store import Unreadable, read_source
from ...text import Source, Span
from .facts import Launcher, Unread
from .jobs import header
from .recording import Recorder
from .texts import Script

#: Characters of a launcher that are read; a longer file is no launcher.
MAX_TEXT = 2**20
_MAX_FILES = 20


def read_launcher(source: Source) -> Launcher:
    """Everything that a launcher says. Never raises: what cannot be read is among the gaps."""
    kind = _kind(source)
    if len(source.text) > MAX_TEXT:
        start = Location(source, Span(0, min(len(source.text), 1)))
        size = len(source.text) // 1024
        return Launcher(source, kind, gaps=(Unread(start, f"a launcher of {size} KiB is not read"),))
    recorder = Recorder()
    script = Script.of(source)
    try:
        if script.text.strip():
            recorder = _walk(script, kind, source.path, recorder)
    except RecursionError:
        recorder.gap(Location(source, Span(0, 1)), "the launcher is nested too deeply to be followed to its end")
    return Launcher(
        source,
        kind,
        recorder.finished(),
        tuple(recorder.submissions),
        tuple(recorder.index_builds),
        tuple(recorder.gaps.values()),
    )


def _walk(script: Script, kind: str, path: Path, recorder: Recorder) -> Recorder:
    """Walk a launcher by its kind."""
    if kind == "python":
        _python(script, recorder, path)
        return recorder
    from .shell.chunks import walk_chunks

    return walk_chunks(script, recorder, _Files(path), path.name)


def _python(script: Script, recorder: Recorder, path: Path) -> None:
    """Walk a launcher in Python; one that does not parse is a gap."""
    from .python.expressions import Endless
    from .python.running import Exit, Interpreter

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of somebody else's script, and not ours to tell
            tree = ast.parse(script.text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None) or 1
        start = sum(len(each) + 1 for each in script.text.split("\n")[: line - 1])
        recorder.gap(script.at(start, start + 1), "the launcher is no Python that can be parsed")
        return
    try:
        with contextlib.suppress(Exit, RecursionError):
            Interpreter(script, recorder, _Files(path), path.name).module(tree)
    except Endless:
        recorder.gap(script.at(0, 1), "the script computes more than is followed here")


def _kind(source: Source) -> str:
    first = source.text.split("\n", 1)[0]
    if source.path.suffix == ".py" or (first.startswith("#!") and "python" in first):
        return "python"
    return "sbatch" if header(Script.of(source)) is not None else "bash"


class _Files:
    """Other scripts that a launcher names, looked for beside it and from its folder on; each is read once."""

    def __init__(self, launcher: Path) -> None:
        self._launcher = launcher
        self._read: dict[Path, Script | None] = {}

    def __call__(self, name: str) -> Script | None:
        path = Path(os.path.normpath(self._launcher.parent / name))
        if path == self._launcher or len(self._read) >= _MAX_FILES or "\0" in name:
            return None
        if path not in self._read:
            found = read_source(path)
            usable = not isinstance(found, Unreadable) and len(found.text) <= MAX_TEXT
            self._read[path] = Script.of(found) if usable and isinstance(found, Source) else None
        return self._read[path]
