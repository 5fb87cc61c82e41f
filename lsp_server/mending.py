"""Fixes as the editor offers them: which findings are mended together, and the verified texts that come out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from nemo_resumable.core.findings import Finding, FixKind
from nemo_resumable.core.fixing import MAX_ROUNDS, fix
from nemo_resumable.core.repository import is_script
from nemo_resumable.core.suppressing import suppress
from nemo_resumable.core.syntax.applying import apply_edits
from nemo_resumable.core.text import Source

from .view import FileView

Identity = tuple[str, str, str, int]


class NotMended(Exception):
    """A fix that is not applied; the message says why."""


@dataclass(frozen=True, slots=True)
class Mended:
    """The texts before and after, and the findings that are gone."""

    texts: Mapping[Path, tuple[Source, Source]]
    findings: tuple[Finding, ...]


def identity(finding: Finding) -> Identity:
    """What tells a finding apart in one version of the files."""
    return finding.code, str(finding.location.file), finding.subject, finding.location.span.start


def offered(finding: Finding) -> bool:
    """Whether a finding can be mended where it stands."""
    fix = finding.fix
    return fix is not None and bool(fix.edits) and not fix.withheld and finding.suppressed is None


def units(view: FileView) -> list[tuple[Finding, ...]]:
    """The findings of a file that can be mended, each with all that are only right together with it, wherever they are."""
    groups: dict[object, list[Finding]] = {}
    for result in view.results:
        for finding in result.analysis.findings:
            if finding.fix is not None and finding.fix.group and finding.suppressed is None:
                groups.setdefault((finding.config, finding.fix.group), []).append(finding)
    made: dict[object, tuple[Finding, ...]] = {}
    for finding in view.findings:
        if not offered(finding):
            continue
        assert finding.fix is not None
        if finding.fix.group is None:
            made.setdefault(identity(finding), (finding,))
            continue
        key = (finding.config, finding.fix.group)
        together = groups.get(key, [finding])
        if all(offered(member) for member in together):
            made.setdefault(key, tuple(together))
    return list(made.values())


def is_safe(unit: Sequence[Finding]) -> bool:
    """Whether fixes may be applied without asking."""
    return all(finding.fix is not None and finding.fix.kind is FixKind.SAFE for finding in unit)


def within(unit: Sequence[Finding], path: Path) -> bool:
    """Whether fixes change one file alone."""
    return all(edit.file == path for finding in unit if finding.fix for edit in finding.fix.edits)


def mend(
    view: FileView,
    only: Callable[[Sequence[Finding]], bool] | None,
    *,
    roots: Sequence[Path] = (),
    rounds: int = MAX_ROUNDS,
) -> Mended:
    """Make the chosen fixes, or without a choice all safe ones, verified as `check --fix` does. Raises NotMended."""
    files = list(roots) or list(dict.fromkeys([*(result.root for result in view.results), view.path]))
    files = [file for file in files if not is_script(file)]
    result = fix(view.project, files, only=only, rounds=rounds)
    if not result.texts:
        reasons = [reason for _, reason in result.dropped]
        raise NotMended(f"the fix is not applied: {reasons[0]}" if reasons else "there is nothing left to fix")
    pairs: dict[Path, tuple[Source, Source]] = {}
    for path, after in result.texts.items():
        before = view.project.store.text_of(path)
        assert isinstance(before, str)
        pairs[path] = (after.with_text(before), after)
    return Mended(pairs, result.applied)


def one(view: FileView, wanted: Identity) -> Mended:
    """Mend one finding with those that belong to it. Raises NotMended."""
    return mend(view, lambda unit: any(identity(finding) == wanted for finding in unit), rounds=1)


def all_of_rule(view: FileView, code: str) -> Mended:
    """Mend what a rule has found in the file. Raises NotMended."""

    def chosen(unit: Sequence[Finding]) -> bool:
        return any(finding.code == code and finding.location.file == view.path for finding in unit)

    return mend(view, chosen)


def all_safe(view: FileView) -> Mended:
    """Make every safe fix that changes this file alone. Raises NotMended."""
    roots = [view.path] if view.own_config is not None else []
    return mend(view, lambda unit: is_safe(unit) and within(unit, view.path), roots=roots)


def migrate(view: FileView, config: Path) -> Mended:
    """Make every safe fix in a config and the blends it reads. Raises NotMended."""
    return mend(view, None, roots=[config])


def suppressed(view: FileView, wanted: Identity) -> Mended:
    """Suppress a finding where it stands. Raises NotMended."""
    finding = next((finding for finding in view.findings if identity(finding) == wanted), None)
    edit = suppress(view.syntax, finding, _reason(view)) if finding is not None else None
    if finding is None or edit is None:
        raise NotMended("a comment cannot be written there without changing what the file says")
    return Mended({view.path: (view.source, apply_edits(view.source, [edit]))}, (finding,))


def _reason(view: FileView) -> str:
    """What a suppression says for its reason: nothing, unless the settings ask for one; then the user has to write it."""
    return "TODO: say why" if view.project.settings.require_suppression_reason else ""
