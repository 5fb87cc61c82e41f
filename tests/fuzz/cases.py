"""One case by its seed and number: a project by chance, changed by chance, and what has to hold for it."""

from __future__ import annotations

import random
import shutil
import struct
import tempfile
import time
import traceback
from collections.abc import Iterable
from pathlib import Path

from . import properties
from .bounds import Hang, bounded_memory
from .material import Seed, chosen
from .mutations import LAUNCHER, YAML, mutated, raw
from .server import edit_stream

#: How many of a hundred cases try what. Judging a project is what most can go wrong in, and what takes longest.
KINDS = {"read": 30, "project": 32, "launcher": 20, "index": 12, "server": 6}


def run(seed: int, number: int, folder: Path, *, shared: bool) -> str | None:
    """Try one case in a folder of its own; None where everything holds, else what failed, with its traceback."""
    chance = random.Random(f"{seed}:{number}")
    kind = chance.choices(list(KINDS), list(KINDS.values()))[0]
    name = ""
    try:
        with bounded_memory():
            if kind == "index":
                _index(chance, folder)
                return None
            suffixes = (".sh", ".sbatch", ".py") if kind == "launcher" else (".yaml", ".yml")
            project = chosen(chance, shared, *suffixes)
            name = project.name
            _CASES[kind](chance, folder, project)
    except (Exception, Hang) as error:
        where = "".join(traceback.format_exception(error)[-12:])
        return f"case {number} of seed {seed} ({kind}, {name}): {type(error).__name__}: {error}\n{where}"
    return None


def chunk(given: tuple[int, int, int, bool]) -> tuple[int, list[str], float]:
    """A range of cases of a seed: its end, what failed, and seconds of the processor."""
    seed, first, last, shared = given
    began = time.process_time()
    with tempfile.TemporaryDirectory(prefix="fuzz-") as top:
        failures = [run(seed, number, Path(top) / "p", shared=shared) for number in range(first, last)]
    return last, [each for each in failures if each], time.process_time() - began


def _write(folder: Path, files: Iterable[tuple[str, bytes]]) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    (folder / ".git").mkdir(parents=True)
    for name, data in files:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def _changed(chance: random.Random, project: Seed) -> dict[str, bytes]:
    """The files of a project, of which the config is changed, and at times what it reads."""
    files = dict(project.files)
    for name, data in files.items():
        if name != project.config and chance.random() < 0.6:
            continue
        if name.endswith((".yaml", ".yml")):
            files[name] = mutated(chance, data, YAML)
        elif name.endswith((".sh", ".sbatch", ".py")):
            files[name] = mutated(chance, data, LAUNCHER)
        elif name.endswith((".idx", ".idxpack")):
            files[name] = raw(chance, data)
    return files


def _read(chance: random.Random, folder: Path, project: Seed) -> None:
    name = chance.choice(project.named(".yaml", ".yml"))
    data = mutated(chance, project.files[name], YAML)
    if chance.random() < 0.1:
        data = raw(chance, data)
    properties.reading(data)


def _project(chance: random.Random, folder: Path, project: Seed) -> None:
    files = _changed(chance, project)
    _write(folder, files.items())
    indexes = bool(project.named(".idx", ".idxpack"))
    analysis = properties.judging(folder, project.config, indexes=indexes)
    if analysis is None:
        return
    if not indexes and chance.random() < 0.3:
        properties.on_the_command_line(folder, project.config, analysis)
    if chance.random() < 0.08:
        properties.migrating(folder, project.config)
    if chance.random() < 0.5:
        properties.fixing(
            folder, project.config, for_artifact=chance.random() < 0.3, exclude_blocked=chance.random() < 0.2
        )


def _launcher(chance: random.Random, folder: Path, project: Seed) -> None:
    name = chance.choice(project.named(".sh", ".sbatch", ".py"))
    properties.launching(mutated(chance, project.files[name], LAUNCHER), Path(name).name)


def _server(chance: random.Random, folder: Path, project: Seed) -> None:
    _write(folder, project.files.items())
    edit_stream(chance, folder, project.config, project.named(".yaml", ".yml", ".sh"))


def _index(chance: random.Random, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    if chance.random() < 0.5:
        words = sorted(chance.randrange(2**40) for _ in range(chance.randrange(40)))
        data = b"".join(struct.pack("<Q", word) for word in words)
        properties.indexes(folder / "a.idx", raw(chance, data))
        return
    project = chosen(chance, False, ".idxpack")
    data = project.files[chance.choice(project.named(".idxpack"))]
    properties.indexes(
        folder / "a.idxpack", raw(chance, data) if chance.random() < 0.9 else raw(chance, raw(chance, data))
    )


_CASES = {"read": _read, "project": _project, "launcher": _launcher, "server": _server}
