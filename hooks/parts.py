"""Files that hang together, each config with what it reads: fixes of one part cannot touch another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from nemo_resumable.core.analysis import Analysis
from nemo_resumable.core.findings import Finding
from nemo_resumable.core.model.reading import readings

_T = TypeVar("_T")
Part = tuple[tuple[Path, ...], Analysis]


def parts(analysis: Analysis, files: Sequence[Path]) -> list[Part]:
    """The judged files in parts that share nothing, with what the analysis says of each, in the order of the files.

    A fix is verified by judging once more all files that it was given; so many configs at once take quadratic time, and
    one by one a blend that two of them read would be changed without a look at the other.
    """
    above: dict[Path, Path] = {}
    for first, *others in _together(analysis):
        for path in others:
            top, other = _top(above, first), _top(above, path)
            if top != other:
                above[other] = top
    members: dict[Path, list[Path]] = {}
    for file in files:
        members.setdefault(_top(above, file), []).append(file)
    launchers = {path for config in analysis.configs for path in config.launchers}
    findings = _sorted_out(above, ((_belongs_to(finding, launchers), finding) for finding in analysis.findings))
    configs = _sorted_out(above, ((config.file, config) for config in analysis.configs))
    problems = _sorted_out(above, ((problem[0], problem) for problem in analysis.problems))
    models = _sorted_out(above, ((model.document.source.path, model) for model in analysis.models))
    return [
        (
            tuple(paths),
            Analysis(
                tuple(findings.get(top, ())),
                tuple(configs.get(top, ())),
                tuple(problems.get(top, ())),
                tuple(models.get(top, ())),
            ),
        )
        for top, paths in members.items()
    ]


def _together(analysis: Analysis) -> Iterator[list[Path]]:
    """Files that one config reads, and files that one fix edits."""
    for model in analysis.models:
        yield [reading.document.source.path for reading in readings(model)]
    launchers = {path for config in analysis.configs for path in config.launchers}
    for finding in analysis.findings:
        if finding.location.file not in launchers:
            yield [finding.location.file, *(edit.file for edit in (finding.fix.edits if finding.fix else ()))]


def _belongs_to(finding: Finding, launchers: set[Path]) -> Path:
    """The file of a finding; in a launcher, which may start many configs and which no fix edits, the config's."""
    file = finding.location.file
    return finding.config if file in launchers and finding.config is not None else file


def _top(above: dict[Path, Path], path: Path) -> Path:
    while path in above:
        if above[path] in above:
            above[path] = above[above[path]]  # a shorter way for the next one
        path = above[path]
    return path


def _sorted_out(above: dict[Path, Path], placed: Iterable[tuple[Path, _T]]) -> dict[Path, list[_T]]:
    sorted_out: dict[Path, list[_T]] = {}
    for path, thing in placed:
        sorted_out.setdefault(_top(above, path), []).append(thing)
    return sorted_out
