"""What the benchmarks run: the files, a command each, the peer that it is divided by, and what is promised about it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

from generate import blend, foreign, log, training_config
from nemo_resumable.core.failures.page import find_page

FOREIGN_FILES = 2000
CONFIGS = 300
ENTRIES = 100_000
LOG = 200  #: MB
#: Other people's linters that read a training YAML at all. zizmor does not: it takes workflows only.
PEERS = ("check-jsonschema", "cfn-lint")


@dataclass(frozen=True)
class Case:
    """One command. Exit codes in `codes` are the right ones: a benchmark of a crash would be a fast one."""

    name: str
    command: tuple[str, ...]
    codes: tuple[int, ...] = (0,)
    peer: str = ""  #: the case whose time this one is divided by
    runs: int | None = None  #: fewer than asked for, where one run takes long enough to be steady
    short: bool = True  #: part of the short form


@dataclass(frozen=True)
class Budget:
    """What is promised about a case: milliseconds, how many times the peer's time, and memory."""

    milliseconds: float | None = None
    ratio: float | None = None
    mebibytes: float | None = None


#: Milliseconds hold for a machine with two cores and nothing else to do.
BUDGETS = {
    "check, config of 200 lines": Budget(150, 1.0),
    "check, blend of 10,000 lines": Budget(600, 0.25),
    f"check, {CONFIGS} configs": Budget(1500),
    f"check, {FOREIGN_FILES:,} foreign files": Budget(2000),
    f"the hook, one of {CONFIGS} configs": Budget(300),
    f"the hook, {CONFIGS} configs": Budget(2000),
    "the hook, nothing of ours": Budget(100),
    f"check, blend of {ENTRIES:,} entries": Budget(mebibytes=1024),
    f"diagnose, log of {LOG} MB": Budget(20_000, mebibytes=64),
}


def cases(folder: Path, peers: Path | None, *, short: bool) -> list[Case]:
    """Write the files, and name what is run on them. `peers` is the environment with other people's linters."""
    (folder / "small.yaml").write_text(blend(60), encoding="utf-8")
    (folder / "large.yaml").write_text(blend(10_000), encoding="utf-8")
    (folder / "config.yaml").write_text(training_config(200, "small.yaml"), encoding="utf-8")
    (folder / "long.yaml").write_text(training_config(10_000, "small.yaml"), encoding="utf-8")
    (folder / "of_large.yaml").write_text(training_config(80, "large.yaml"), encoding="utf-8")
    (folder / "any.json").write_text(json.dumps({"type": "object"}), encoding="utf-8")
    many = folder / "configs"
    many.mkdir()
    for number in range(CONFIGS):
        text = training_config(200, "small.yaml", seed=number)
        (many / f"config-{number:03}.yaml").write_text(text, encoding="utf-8")
    foreign(folder / "foreign", FOREIGN_FILES)
    names = sorted(path.relative_to(folder).as_posix() for path in many.iterdir())
    for command in ("init", "-q"), ("add", "."):
        subprocess.run(["git", *command], cwd=folder, check=True)
    ours, lint = program("nemo-resumable"), program("yamllint")
    found = (1,)
    every = [
        Case("python -c pass", (sys.executable, "-c", "pass")),
        # The part of every run that no file can be blamed for.
        Case("import the analyzer", (sys.executable, "-c", "import nemo_resumable.core.analysis")),
        Case("yamllint, config of 200 lines", (lint, "config.yaml"), (0, 1)),
        *_of_peers(peers),
        Case("check, config of 200 lines", (ours, "check", "config.yaml"), found, "yamllint, config of 200 lines"),
        Case("check --diff, config of 200 lines", (ours, "check", "--diff", "config.yaml"), found, short=False),
        Case(
            "migrate, config of 200 lines", (ours, "migrate", "config.yaml", "--out", "migrated"), (0, 1), short=False
        ),
        Case("check, config of 10,000 lines", (ours, "check", "long.yaml"), found, short=False),
        Case("yamllint, blend of 10,000 lines", (lint, "large.yaml"), (0, 1)),
        # A blend is judged through a config that reads it.
        Case(
            "check, blend of 10,000 lines", (ours, "check", "of_large.yaml"), found, "yamllint, blend of 10,000 lines"
        ),
        Case(f"yamllint, {CONFIGS} configs", (lint, "configs"), (0, 1), runs=1, short=False),
        Case(
            f"check, {CONFIGS} configs",
            (ours, "check", "configs"),
            found,
            "yamllint, blend of 10,000 lines" if short else f"yamllint, {CONFIGS} configs",
        ),
        Case(f"yamllint, {FOREIGN_FILES:,} foreign files", (lint, "foreign"), (0, 1), runs=1, short=False),
        Case(
            f"check, {FOREIGN_FILES:,} foreign files",
            (ours, "check", "foreign"),
            peer="yamllint, blend of 10,000 lines" if short else f"yamllint, {FOREIGN_FILES:,} foreign files",
        ),
        # As pre-commit calls it, without pre-commit's own time.
        Case(f"the hook, one of {CONFIGS} configs", (ours, "check", "--staged", names[0]), found, short=False),
        Case(f"the hook, {CONFIGS} configs", (ours, "check", "--staged", *names), found, short=False),
        Case("the hook, nothing of ours", (ours, "check", "--staged"), short=False),
    ]
    if short:
        return [case for case in every if case.short]
    log(folder / "run.log", LOG << 20, find_page("shard-seed-changed").examples[0].text)
    buried = Case(f"diagnose, log of {LOG} MB", (ours, "diagnose", "run.log"), runs=3)
    return [*every, _huge(folder, ours), buried]


def _huge(folder: Path, ours: str) -> Case:
    """A blend that is larger than any that is known, beside a smaller one in time: linear, in bounded memory."""
    text, lines = "", 5 * ENTRIES
    while text.count("- type:") < ENTRIES:
        text, lines = blend(lines), lines + ENTRIES
    (folder / "huge.yaml").write_text(text, encoding="utf-8")
    (folder / "of_huge.yaml").write_text(training_config(80, "huge.yaml"), encoding="utf-8")
    command = (ours, "check", "of_huge.yaml")
    return Case(f"check, blend of {ENTRIES:,} entries", command, (1,), "check, blend of 10,000 lines", runs=1)


def _of_peers(environment: Path | None) -> list[Case]:
    if environment is None:
        return []
    schema, cloud = (str(environment / "bin" / name) for name in PEERS)
    return [
        Case("check-jsonschema, config of 200 lines", (schema, "--schemafile", "any.json", "config.yaml"), runs=3),
        Case("cfn-lint, config of 200 lines", (cloud, "config.yaml"), tuple(range(32)), runs=3),
    ]


def install_peers(folder: Path) -> Path:
    """An environment with other people's linters, from the package index. Raises CalledProcessError."""
    venv.create(folder, with_pip=True)
    subprocess.run([folder / "bin/python", "-m", "pip", "install", "-q", *PEERS], check=True)
    return folder


def program(name: str) -> str:
    """The program that is installed beside this Python."""
    found = shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)
    if found is None:
        raise SystemExit(f"`{name}` is not installed; run this with the Python of the development environment")
    return found
