"""What each rule costs, with what it is the first to ask of the model: `python tests/benchmarks/rule_costs.py`.

Prints a Markdown table: milliseconds of the processor for a config of 200 lines and for one with a blend of 10,000 lines,
and the share of all rules. The order of the catalogue decides who pays for a value that several rules need.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from generate import blend, training_config
from nemo_resumable.core.analysis import analyze
from nemo_resumable.core.project import Project
from nemo_resumable.core.rules import engine
from nemo_resumable.core.rules.drafts import Draft
from nemo_resumable.core.rules.registry import Rule
from nemo_resumable.core.settings import load_settings

RUNS = 15
SHOWN = 30


def main() -> int:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        (folder / ".git").mkdir()
        (folder / "small.yaml").write_text(blend(60), encoding="utf-8")
        (folder / "large.yaml").write_text(blend(10_000), encoding="utf-8")
        (folder / "config.yaml").write_text(training_config(200, "small.yaml"), encoding="utf-8")
        (folder / "of_large.yaml").write_text(training_config(80, "large.yaml"), encoding="utf-8")
        columns = [_costs(folder, config, runs) for config, runs in (("config.yaml", RUNS), ("of_large.yaml", 5))]
    small, large = columns
    total = sum(large.values())
    print("| rule | config of 200 lines | blend of 10,000 lines | share |\n|---|--:|--:|--:|")
    for rule in sorted(large, key=lambda each: -large[each])[:SHOWN]:
        print(f"| {rule} | {small[rule]:.2f} ms | {large[rule]:.1f} ms | {large[rule] / total:.0%} |")
    print(f"| all {len(large)} | {sum(small.values()):.2f} ms | {total:.1f} ms | |")
    return 0


def _costs(folder: Path, config: str, runs: int) -> dict[str, float]:
    """Median milliseconds of each rule over so many analyses; the first, which fills caches, does not count."""
    seen: dict[str, list[float]] = defaultdict(list)
    spent: dict[str, float] = defaultdict(float)

    def run_all(subject: str, items: Iterable[Any]) -> Iterator[tuple[Rule, Draft]]:
        chosen = list(items)
        for each in engine._by_subject().get(subject, ()):
            before = time.thread_time()
            drafts = [draft for item in chosen for draft in each.check(item)]
            spent[f"{each.code} {each.name}"] += time.thread_time() - before
            yield from ((each, draft) for draft in drafts)

    kept = engine._run, engine._run_all
    engine._run, engine._run_all = lambda subject, item: run_all(subject, [item]), run_all
    try:
        settings = load_settings(folder)
        for turn in range(runs + 1):
            spent.clear()
            analyze(Project(settings, folder), [folder / config])
            if turn:
                for rule, seconds in spent.items():
                    seen[rule].append(seconds * 1000)
    finally:
        engine._run, engine._run_all = kept
    return {rule: statistics.median(times) for rule, times in seen.items()}


if __name__ == "__main__":
    raise SystemExit(main())
