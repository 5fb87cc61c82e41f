"""What is known of each file that was judged by itself, its root: findings, models, and every path that it depends on."""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from nemo_resumable.core.analysis import Analysis, analyze
from nemo_resumable.core.findings import Finding
from nemo_resumable.core.model.config import TrainingConfig
from nemo_resumable.core.model.reading import BLEND, readings
from nemo_resumable.core.project import Project
from nemo_resumable.core.selecting import once

from .housekeeping import release
from .store import NotingStore

_UNUSED = "NR014"  #: of a suppression comment
_serials = itertools.count()


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """One root, judged: a config with what it reads, or a file that stands alone."""

    root: Path
    analysis: Analysis
    reads: frozenset[Path]  #: every path that was asked for; one that is missing may come into being
    blends: frozenset[Path]  #: files that are judged as this config's blends
    commented: frozenset[Path]  #: those of the blends that hold suppression comments
    is_config: bool
    serial: int  #: no other result has it
    seconds: float  #: of the processor: what other programs take says nothing of the next run

    @property
    def model(self) -> TrainingConfig | None:
        """The training config, where the root is one."""
        return self.analysis.models[0] if self.analysis.models else None


def failed(root: Path) -> Result:
    """What stands for a root that could not be judged for a bug of ours: nothing is said of it until it changes."""
    return Result(root, Analysis((), (), ()), frozenset({root}), frozenset(), frozenset(), False, next(_serials), 0.0)


def judge(project: Project, root: Path, commented: frozenset[Path] = frozenset()) -> Result:
    """Judge one root. The project's store has to be a NotingStore; `commented` are its commented blends of last time."""
    store = project.store
    assert isinstance(store, NotingStore)
    store.asked = set()
    started = time.thread_time()
    analysis = analyze(project, [root, *commented])
    blends = {
        reading.document.source.path: reading.document.source.text
        for model in analysis.models
        for reading in readings(model)
        if reading.role == BLEND
    }
    now = frozenset(path for path, text in blends.items() if path != root and "nemo-resumable:" in text)
    if now != commented:
        analysis = analyze(project, [root, *now])
    commits = project.commits_of(root) if analysis.models else None
    reads = frozenset(
        store.asked
        | {root, *([commits] if commits is not None else [])}
        | {finding.location.file for finding in analysis.findings}
    )
    seconds = time.thread_time() - started
    return Result(root, analysis, reads, frozenset(blends), now, bool(analysis.models), next(_serials), seconds)


@dataclass(slots=True)
class Analyses:
    """The results at hand, which of them are stale, and what reads what."""

    results: dict[Path, Result] = field(default_factory=dict)
    stale: set[Path] = field(default_factory=set)
    #: What a look at the whole workspace found: configs with what they read, most of them not judged at the moment.
    readers: dict[Path, frozenset[Path]] = field(default_factory=dict)
    _discarded: list[Result] = field(default_factory=list)
    _readers_of: dict[Path, set[Path]] = field(default_factory=dict)

    def keep(self, result: Result) -> None:
        """Put a result in place of the one before."""
        self._discard(self.results.pop(result.root, None))
        self.results[result.root] = result
        self.stale.discard(result.root)
        if result.is_config:
            self.note_reader(result.root, result.reads)
        else:
            self.forget_reader(result.root)

    def note_reader(self, config: Path, reads: frozenset[Path]) -> None:
        """Remember what a config reads."""
        before = self.readers.get(config, frozenset())
        if before == reads:
            return
        self.readers[config] = reads
        for path in before - reads:
            self._readers_of[path].discard(config)
        for path in reads - before:
            self._readers_of.setdefault(path, set()).add(config)

    def forget_reader(self, config: Path) -> None:
        """A file is a config no more."""
        for path in self.readers.pop(config, ()):
            self._readers_of[path].discard(config)

    def drop(self, root: Path) -> None:
        """Forget a result; what it read stays known."""
        self.stale.discard(root)
        self._discard(self.results.pop(root, None))

    def _discard(self, result: Result | None) -> None:
        if result is not None:
            self._discarded.append(result)

    def sweep(self) -> None:
        """Take apart what was discarded, save what a request still looks at."""
        while self._discarded:
            result = self._discarded.pop()
            if sys.getrefcount(result) <= 2:  # this name and the argument
                for model in result.analysis.models:
                    release(model)

    def configs_reading(self, path: Path) -> set[Path]:
        """The configs that depend on a path, as far as they were seen, judged or not; a config depends on itself."""
        return set(self._readers_of.get(path, ()))

    def touching(self, path: Path) -> Iterator[Path]:
        """The roots whose results depend on a path."""
        return (root for root, result in list(self.results.items()) if path in result.reads)

    def is_blend(self, path: Path) -> bool:
        """Whether a config reads the file as its blend; then it is not judged alone."""
        return any(path in result.blends for result in self.results.values() if result.root != path)

    def of(self, path: Path) -> list[Result]:
        """The results that say something of a file: its own first. A blend's own is left out where a config reads it."""
        own = self.results.get(path)
        others = [result for root, result in self.results.items() if root != path and path in result.reads]
        if own is not None and (own.is_config or not any(path in result.blends for result in others)):
            return [own, *others]
        return others

    def findings(self, path: Path) -> tuple[Finding, ...]:
        """The findings in a file by place; of those that several configs have, the one that weighs more, once."""
        return once(
            finding for result in self.of(path) for finding in result.analysis.findings if finding.location.file == path
        )
