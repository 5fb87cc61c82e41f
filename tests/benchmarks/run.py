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
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from cases import BUDGETS, Case, cases, install_peers

#: The ratios of a good run of the short form; one that is twice as high is a gross regression.
RECORDED = Path(__file__).with_name("recorded.json")
GROSS = 2.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and with --enforce return 1 where a budget is broken."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=7, help="processes a case (default: 7)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the JSON there instead of printing it")
    parser.add_argument("--enforce", action="store_true", help="exit 1 where a ratio to a peer is over its budget")
    parser.add_argument(
        "--peers", action="store_true", help="install other people's linters for this run, and run them"
    )
    parser.add_argument(
        "--short", action="store_true", help="a few cases, and exit 1 where a ratio is twice the recorded one"
    )
    parser.add_argument("--record", action="store_true", help="with --short: keep the ratios of this run")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve() / "files"
        folder.mkdir()
        peers = install_peers(folder.parent / "peers") if given.peers else None
        results = _measure(cases(folder, peers, short=given.short), 5 if given.short else given.runs, folder)
    print(_table(results))
    if given.short:
        return _compared(results, record=given.record)
    text = json.dumps({"machine": _machine(), "runs": given.runs, "results": results}, indent=2)
    if given.json:
        given.json.write_text(text + "\n", encoding="utf-8")
    else:
        print(f"\n```json\n{text}\n```")
    broken = [result["case"] for result in results if result["ratio_kept"] is False]
    return 1 if given.enforce and broken else 0


def _compared(results: list[dict[str, object]], *, record: bool) -> int:
    """Compare the ratios of the least times, which other work of the machine disturbs least, with the recorded ones."""
    ratios = {str(result["case"]): result["least_times_peer"] for result in results if result["least_times_peer"]}
    if record:
        RECORDED.write_text(json.dumps(ratios, indent=2) + "\n", encoding="utf-8")
        return 0
    known = json.loads(RECORDED.read_text(encoding="utf-8"))
    gross = {case: ratio for case, ratio in ratios.items() if case in known and ratio > GROSS * known[case]}
    for case, ratio in gross.items():
        print(
            f"`{case}` takes {ratio:.2f} times its peer, and {known[case]:.2f} is recorded: look for what made it slow"
        )
    return 1 if gross else 0


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
        least = min(times[case.name]) / min(times[case.peer]) if case.peer else None
        results.append(
            {
                "case": case.name,
                "median_ms": round(median, 1),
                "least_ms": round(min(times[case.name]), 1),
                "peak_mib": round(peaks[case.name], 1),
                "times_python": round(median / empty, 2),
                "times_peer": None if ratio is None else round(ratio, 3),
                "least_times_peer": None if least is None else round(least, 3),
                "budget_ms": budget and budget.milliseconds,
                "budget_ratio": budget and budget.ratio,
                "budget_mib": budget and budget.mebibytes,
                "time_kept": median <= budget.milliseconds if budget and budget.milliseconds else None,
                "memory_kept": peaks[case.name] <= budget.mebibytes if budget and budget.mebibytes else None,
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
    lines = ["| case | median | × python | × peer | budget | peak memory |", "|---|--:|--:|--:|---|--:|"]
    for result in results:
        promised = []
        if result["budget_ms"] is not None:
            promised.append(f"≤ {result['budget_ms']:g} ms{'' if result['time_kept'] else ' **over**'}")
        if result["budget_mib"] is not None:
            promised.append(f"≤ {result['budget_mib']:g} MiB{'' if result['memory_kept'] else ' **over**'}")
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
