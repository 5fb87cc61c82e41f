"""Which steps of the checklist are done already: those that a rule looked at and found nothing to say of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..findings import Finding, Severity

if TYPE_CHECKING:
    from .migrate import Migration


class Ticks:
    """Makes the boxes of a checklist from the findings of the patched config."""

    def __init__(self, migration: Migration) -> None:
        config = migration.migrated
        self._migration = migration
        #: Whether every launcher that was read shows its training command, and all of itself.
        self.launched = bool(config.launchers) and all(
            launches and not launcher.gaps for launcher, launches in config.launchers
        )
        launches = [launch for _, each in config.launchers for launch in each]
        self.timed = self.launched and all(launch.walltime is not None for launch in launches)
        self.counted = self.launched and all(
            launch.nodes.value is not None and launch.ranks_per_node.value is not None for launch in launches
        )
        stated = config.context.stated
        self.environment = self.launched or stated.states_env

    def box(self, *codes: str, seen: bool) -> str:
        """`- [x]` where what the rules speak of was seen and none of them fires, else `- [ ]`."""
        return "- [x]" if seen and not self._open(codes) else "- [ ]"

    def told(self, *codes: str) -> str:
        """Where the rules fire, as an addition to a step; nothing where they do not."""
        places = []
        for finding in self._open(codes):
            line = finding.location.source.lines.position(finding.location.span.start).line
            places.append(f"{finding.code} at `{self._migration.shown(finding.location.file)}:{line}`")
        return f" **{', '.join(dict.fromkeys(places))}**" if places else ""

    def _open(self, codes: tuple[str, ...]) -> list[Finding]:
        findings = self._migration.after.findings
        return [f for f in findings if f.code in codes and f.suppressed is None and f.severity is not Severity.NOTE]
