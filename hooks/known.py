"""`check --baseline`: which findings a project knows already, what its baseline lists in vain, and writing it."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from nemo_resumable.core.analysis import Analysis
from nemo_resumable.core.baseline import (
    Baseline,
    BaselineError,
    Entry,
    load_baseline,
    renewed,
    stale,
    to_bytes,
    with_known,
)
from nemo_resumable.core.rules.registry import find_rule
from nemo_resumable.core.selecting import is_selected
from nemo_resumable.core.settings import Settings, repository_root
from nemo_resumable.core.writing import write_atomically

from .options import Group, UsageError
from .output.render import in_verdict, plural, shown
from .output.terminal import complain

_MOST_NAMED = 5  #: entries named one by one; more are counted


def with_baselines(analysis: Analysis, groups: Sequence[Group], arguments: argparse.Namespace, cwd: Path) -> Analysis:
    """The analysis with what the baselines know marked; with --write-baseline they are written instead.

    What a baseline lists and nothing finds any more is told, of the files that were judged.
    """
    by_path: dict[Path, list[Group]] = {}
    for group in groups:
        if (path := group.project.settings.baseline) is not None:
            by_path.setdefault(path, []).append(group)
    if arguments.write_baseline and not by_path:
        raise UsageError("--write-baseline needs --baseline FILE, or the setting `baseline`, which say where")
    for path, members in sorted(by_path.items()):
        if arguments.write_baseline and not arguments.baseline:
            _stay_inside(path, repository_root(members[0].project.settings.root), cwd)
        baseline = _loaded(path, arguments, cwd)
        looked_at = _looked_at(baseline, members)
        told = [finding for finding in analysis.findings if not in_verdict(finding)]
        if arguments.write_baseline:
            mine = told if len(by_path) == 1 else [f for f in told if _belongs(f.config or f.location.file, members)]
            baseline = _written(renewed(mine, baseline, looked_at), baseline, cwd)
        elif idle := stale(told, baseline, looked_at):
            complain(_in_vain(idle, shown(path, cwd), all_of_them=arguments.verbose))
        analysis = replace(analysis, findings=tuple(with_known(analysis.findings, baseline)))
    return analysis


def _stay_inside(path: Path, root: Path, cwd: Path) -> None:
    """A settings file, which may be anybody's, says where to write: inside its repository only. Raises UsageError."""
    if not path.resolve().is_relative_to(root.resolve()):
        raise UsageError(
            f"the setting `baseline` names `{shown(path, cwd)}`, outside of the repository; to write there, name it with --baseline"
        )


def _loaded(path: Path, arguments: argparse.Namespace, cwd: Path) -> Baseline:
    if arguments.write_baseline and not path.exists():
        return Baseline(path)
    if not path.is_file():
        raise UsageError(f"there is no baseline `{shown(path, cwd)}`; --write-baseline makes it")
    try:
        return load_baseline(path)
    except BaselineError as error:
        if arguments.write_baseline and path.stat().st_size == 0:
            return Baseline(path)
        raise UsageError(str(error)) from None


def _looked_at(baseline: Baseline, groups: Sequence[Group]) -> Callable[[Entry], bool]:
    """Whether a run would have found an entry: its file was judged or is gone, and its rule was not left out."""
    judged = {file: group.project.settings for group in groups for file in group.files}
    any_settings: Settings = groups[0].project.settings

    def looked_at(entry: Entry) -> bool:
        place = baseline.place(entry.judged_with)
        if place not in judged and (place.exists() and baseline.place(entry.file).exists()):
            return False
        rule = find_rule(entry.code)
        return rule is None or is_selected(rule.code, rule.name, judged.get(place, any_settings))

    return looked_at


def _belongs(file: Path, groups: Sequence[Group]) -> bool:
    return any(file in group.files for group in groups)


def _written(baseline: Baseline, before: Baseline, cwd: Path) -> Baseline:
    write_atomically(baseline.path.resolve(), to_bytes(baseline))
    old = {entry.fingerprint: entry.count for entry in before.entries}
    now = {entry.fingerprint: entry.count for entry in baseline.entries}
    new = sum(max(0, count - old.get(mark, 0)) for mark, count in now.items())
    gone = sum(max(0, count - now.get(mark, 0)) for mark, count in old.items())
    change = f" ({new} new, {gone} gone)" if before.entries else ""
    complain(f"wrote {shown(baseline.path, cwd)} with {plural(sum(now.values()), 'finding')}{change}")
    return baseline


def _in_vain(idle: list[Entry], name: str, *, all_of_them: bool) -> str:
    named = idle if all_of_them else idle[:_MOST_NAMED]
    places = ", ".join(f"{entry.code} in {entry.file}" for entry in named)
    more = f" and {len(idle) - len(named)} more" if len(idle) > len(named) else ""
    number = sum(entry.count for entry in idle)
    verb = "is" if number == 1 else "are"
    return (
        f"{plural(number, 'finding')} of {name} {verb} not found any more ({places}{more}); --write-baseline drops them"
    )
