"""How long whole runs of the command take, beside yamllint on the same files: `python tests/benchmarks/run.py`.

Prints a Markdown table, then JSON. Every figure is a median over several processes; the commands take turns, so that a
busy moment of the machine meets all of them. Compare ratios: milliseconds only say something about this machine, and
nothing while it does other work. In the development environment every process, `python -c pass` too, first loads the
finder of the editable install, some 15 ms that a user does not pay. Peak memory cannot show less than what this program
itself holds, about 17 MiB.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from generate import blend, foreign, training_config

FOREIGN_FILES = 2000
CONFIGS = 300


@dataclass(frozen=True)
class Case:
    """One command. Exit codes in `codes` are the right ones: a benchmark of a crash would be a fast one."""

    name: str
    command: tuple[str, ...]
    codes: tuple[int, ...] = (0,)
    peer: str = ""  #: the case whose time this one is divided by
    runs: int | None = None  #: fewer than asked for, where one run takes long enough to be steady


@dataclass(frozen=True)
class Budget:
    """What is promised about a case: milliseconds, and how many times the peer's time."""

    milliseconds: float
    ratio: float | None = None


#: Milliseconds hold for a machine with two cores and nothing else to do.
BUDGETS = {
    "check, config of 200 lines": Budget(150, 1.0),
    "check, blend of 10,000 lines": Budget(600, 0.25),
    f"check, {CONFIGS} configs": Budget(1500),
    f"check, {FOREIGN_FILES:,} foreign files": Budget(2000),
    f"the hook, one of {CONFIGS} configs": Budget(300),
    f"the hook, {CONFIGS} configs": Budget(2000),
    "the hook, nothing of ours": Budget(100),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and with --enforce return 1 where a budget is broken."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=7, help="processes a case (default: 7)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the JSON there instead of printing it")
    parser.add_argument("--enforce", action="store_true", help="exit 1 where a ratio to a peer is over its budget")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        cases = _cases(folder)
        results = _measure(cases, given.runs, folder)
    print(_table(results))
    text = json.dumps({"machine": _machine(), "runs": given.runs, "results": results}, indent=2)
    if given.json:
        given.json.write_text(text + "\n", encoding="utf-8")
    else:
        print(f"\n```json\n{text}\n```")
    broken = [result["case"] for result in results if result["ratio_kept"] is False]
    return 1 if given.enforce and broken else 0


def _cases(folder: Path) -> list[Case]:
    """Write the files, and name what is run on them."""
    (folder / "small.yaml").write_text(blend(60), encoding="utf-8")
    (folder / "large.yaml").write_text(blend(10_000), encoding="utf-8")
    (folder / "config.yaml").write_text(training_config(200, "small.yaml"), encoding="utf-8")
    (folder / "of_large.yaml").write_text(training_config(80, "large.yaml"), encoding="utf-8")
    many = folder / "configs"
    many.mkdir()
    for number in range(CONFIGS):
        text = training_config(200, "small.yaml", seed=number)
        (many / f"config-{number:03}.yaml").write_text(text, encoding="utf-8")
    foreign(folder / "foreign", FOREIGN_FILES)
    names = sorted(path.relative_to(folder).as_posix() for path in many.iterdir())
    for command in ("init", "-q"), ("add", "."):
        subprocess.run(["git", *command], cwd=folder, check=True)
    ours, lint = _program("nemo-resumable"), _program("yamllint")
    found = (1,)
    return [
        Case("python -c pass", (sys.executable, "-c", "pass")),
        # The part of every run that no file can be blamed for.
        Case("import the analyzer", (sys.executable, "-c", "import nemo_resumable.core.analysis")),
        Case("yamllint, config of 200 lines", (lint, "config.yaml"), (0, 1)),
        Case("check, config of 200 lines", (ours, "check", "config.yaml"), found, "yamllint, config of 200 lines"),
        Case("yamllint, blend of 10,000 lines", (lint, "large.yaml"), (0, 1)),
        # A blend is judged through a config that reads it.
        Case(
            "check, blend of 10,000 lines", (ours, "check", "of_large.yaml"), found, "yamllint, blend of 10,000 lines"
        ),
        Case(f"yamllint, {CONFIGS} configs", (lint, "configs"), (0, 1), runs=1),
        Case(f"check, {CONFIGS} configs", (ours, "check", "configs"), found, f"yamllint, {CONFIGS} configs"),
        Case(f"yamllint, {FOREIGN_FILES:,} foreign files", (lint, "foreign"), (0, 1), runs=1),
        Case(
            f"check, {FOREIGN_FILES:,} foreign files",
            (ours, "check", "foreign"),
            peer=f"yamllint, {FOREIGN_FILES:,} foreign files",
        ),
        # As pre-commit calls it, without pre-commit's own time.
        Case(f"the hook, one of {CONFIGS} configs", (ours, "check", "--staged", names[0]), found),
        Case(f"the hook, {CONFIGS} configs", (ours, "check", "--staged", *names), found),
        Case("the hook, nothing of ours", (ours, "check", "--staged")),
    ]


def _program(name: str) -> str:
    """The program that is installed beside this Python."""
    found = shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)
    if found is None:
        raise SystemExit(f"`{name}` is not installed; run this with the Python of the development environment")
    return found


def _measure(cases: list[Case], runs: int, folder: Path) -> list[dict[str, object]]:
    times: dict[str, list[float]] = {case.name: [] for case in cases}
    peaks: dict[str, float] = {case.name: 0.0 for case in cases}
    for turn in range(runs + 1):
        for case in cases:
            if turn > (case.runs or runs) or (not turn and case.runs):
                continue
            seconds, mebibytes = _once(case, folder)
            if turn:  # the first turn fills the caches of the file system and of byte code
                times[case.name].append(seconds * 1000)
                peaks[case.name] = max(peaks[case.name], mebibytes)
    medians = {name: statistics.median(values) for name, values in times.items()}
    empty = medians["python -c pass"]
    results: list[dict[str, object]] = []
    for case in cases:
        median, budget = medians[case.name], BUDGETS.get(case.name)
        ratio = median / medians[case.peer] if case.peer else None
        results.append(
            {
                "case": case.name,
                "median_ms": round(median, 1),
                "least_ms": round(min(times[case.name]), 1),
                "peak_mib": round(peaks[case.name], 1),
                "times_python": round(median / empty, 2),
                "times_peer": None if ratio is None else round(ratio, 3),
                "budget_ms": budget and budget.milliseconds,
                "budget_ratio": budget and budget.ratio,
                "time_kept": budget and median <= budget.milliseconds,
                "ratio_kept": ratio <= budget.ratio if budget and budget.ratio and ratio is not None else None,
            }
        )
    return results


def _once(case: Case, folder: Path) -> tuple[float, float]:
    """Seconds from start to end of one process, and the most memory it held, in MiB."""
    start = time.perf_counter()
    process = subprocess.Popen(
        case.command,
        cwd=folder,
        env=_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stderr.close()
    if process.returncode not in case.codes:
        raise SystemExit(f"{case.name} ended with {process.returncode}: {said.decode(errors='replace')[-2000:]}")
    return seconds, usage.ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def _environment() -> dict[str, str]:
    """The caller's, but with byte code kept: a user's second run does not compile our modules again."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def _table(results: list[dict[str, object]]) -> str:
    lines = ["| case | median | × python | × yamllint | budget | peak memory |", "|---|--:|--:|--:|---|--:|"]
    for result in results:
        promised = []
        if result["budget_ms"] is not None:
            promised.append(f"≤ {result['budget_ms']:g} ms{'' if result['time_kept'] else ' **over**'}")
        if result["budget_ratio"] is not None:
            promised.append(f"≤ {result['budget_ratio']:g} × yamllint{'' if result['ratio_kept'] else ' **over**'}")
        peer = "" if result["times_peer"] is None else f"{result['times_peer']:.2f}"
        lines.append(
            f"| {result['case']} | {result['median_ms']:.0f} ms | {result['times_python']:.1f} | {peer} "
            f"| {', '.join(promised)} | {result['peak_mib']:.0f} MiB |"
        )
    return "\n".join(lines)


def _machine() -> dict[str, object]:
    return {"python": platform.python_version(), "system": platform.system(), "cores": os.cpu_count()}


if __name__ == "__main__":
    raise SystemExit(main())
