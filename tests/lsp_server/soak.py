"""A working session in fast motion: `python -m tests.lsp_server.soak` plays 30 minutes' worth against the server.

Every edit waits for its diagnostics. What it took is counted in the server's own seconds of the processor, so that other
programs do not matter. The session is flat where its last tenth takes about what the second took, and no more memory than half-way.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .conftest import BLEND, CONFIG, MODERN, Client

PER_MINUTE = 200  #: edits of somebody who types without a pause
MINUTES = 30
_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


@dataclass
class Session:
    """What was measured: seconds of the processor of each stretch of edits, and megabytes after it."""

    seconds: list[float] = field(default_factory=list)
    megabytes: list[float] = field(default_factory=list)

    def ratios(self) -> tuple[float, float]:
        """Seconds of the last tenth to those of the second; megabytes to those half-way, when what is remembered is full."""
        return _ratio(self.seconds, 1), _ratio(self.megabytes, 5)


def _ratio(values: Sequence[float], early: int) -> float:
    tenth = max(1, len(values) // 10)
    return statistics.median(values[-tenth:]) / max(
        statistics.median(values[early * tenth : (early + 1) * tenth]), 1e-9
    )


def _spent(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def _held(process: int) -> float:
    (line,) = [line for line in Path(f"/proc/{process}/status").read_text().splitlines() if line.startswith("VmRSS")]
    return int(line.split()[1]) / 1024


class Typist:
    """Edits two files as people do: values typed letter by letter, lines that come and go, half-written YAML, looks and saves."""

    def __init__(self, client: Client, folder: Path) -> None:
        self.client, self.chance = client, random.Random(8)
        self.texts = {folder / "conf.yaml": CONFIG, folder / "blend.yaml": BLEND}
        self.versions = dict.fromkeys(self.texts, 1)
        self.uris = {path: client.open(path) for path in self.texts}
        for uri in self.uris.values():
            client.until(uri, lambda shown: True)

    def edit(self) -> None:
        """One edit, with what comes along, until its diagnostics are there."""
        path = self.chance.choice([*self.texts, folder_of(self.texts)])
        text = self.texts[path]
        lines = text.split("\n")
        number = self.chance.randrange(len(lines) - 1)
        kind = self.chance.randrange(6)
        line = lines[number]
        if kind == 0:
            new = [line, "    # a remark"]
        elif kind == 1 and len(lines) > 12:
            new = []
        elif kind == 2:
            new = [line + self.chance.choice("0123456789: -é😀[")]
        elif kind == 3 and line:
            new = [line[:-1]]
        else:
            original = (CONFIG if path.name == "conf.yaml" else BLEND).split("\n")
            self._replace(path, 0, len(lines), original)
            return
        self._replace(path, number, number + 1, new)

    def _replace(self, path: Path, start: int, end: int, new: list[str]) -> None:
        lines = self.texts[path].split("\n")
        last = end == len(lines)
        stop = (end - 1, len(lines[-1].encode("utf-16-le")) // 2) if last else (end, 0)
        inserted = "\n".join(new) if last else "".join(f"{line}\n" for line in new)
        self.versions[path] += 1
        uri = self.uris[path]
        self.client.change(uri, self.versions[path], ((start, 0), stop, inserted))
        self.texts[path] = "\n".join([*lines[:start], *new, *lines[end:]])
        if self.chance.random() < 0.1:
            self._look(uri)
        self.client.pushed(uri)
        if len(self.client.heard) > 500:  # the client's own record is not what is measured
            del self.client.heard[:-50]
            self.client.mark()

    def _look(self, uri: str) -> None:
        place = {"textDocument": {"uri": uri}, "position": {"line": self.chance.randrange(8), "character": 6}}
        what = self.chance.randrange(4)
        if what == 0:
            self.client.request("textDocument/hover", place)
        elif what == 1:
            self.client.request("textDocument/completion", place)
        elif what == 2:
            whole = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}
            self.client.actions(uri, whole)
        else:
            self.client.notify("textDocument/didSave", {"textDocument": {"uri": uri}})


def folder_of(texts: dict[Path, str]) -> Path:
    """The config, which is edited more often than its blend."""
    return next(iter(texts))


def play(client: Client, folder: Path, edits: int) -> Session:
    """Play so many edits against a server; what they took, in forty stretches."""
    typist, session = Typist(client, folder), Session()
    size = max(1, edits // 40)
    for _ in range(edits // size):
        before = _spent(client.process.pid)
        for _ in range(size):
            typist.edit()
        session.seconds.append(_spent(client.process.pid) - before)
        session.megabytes.append(_held(client.process.pid))
    return session


def main() -> int:
    """Play a session; 1 where it was not flat."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=MINUTES, help="how long a session (default: %(default)s)")
    edits = int(parser.parse_args().minutes * PER_MINUTE)
    with tempfile.TemporaryDirectory() as top:
        folder = Path(top).resolve()
        (folder / ".git").mkdir()
        (folder / "conf.yaml").write_text(CONFIG, encoding="utf-8")
        (folder / "blend.yaml").write_text(BLEND, encoding="utf-8")
        capabilities: dict[str, Any] = MODERN
        client = Client(capabilities, folder)
        client.initialize(folder)
        session = play(client, folder, edits)
        client.close()
    seconds, megabytes = session.ratios()
    print("MiB after each fortieth:", " ".join(f"{held:.0f}" for held in session.megabytes))
    each = sum(session.seconds) / edits * 1000
    print(
        f"{edits:,} edits, {each:.1f} ms of the processor each; last tenth to an earlier one: time {seconds:.2f}, memory ",
        end="",
    )
    print(f"{megabytes:.2f} ({session.megabytes[-1]:.0f} MiB)")
    return seconds > 1.5 or megabytes > 1.1


if __name__ == "__main__":
    sys.exit(main())
