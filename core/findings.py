"""What the analyzer says: findings with their place, and fixes as text edits."""

from __future__ import annotations

from dataclasses import field
from enum import Enum
from pathlib import Path

from .records import dataclass
from .text import Position, Source, Span

PAGES = "core/rules/pages"


class Severity(Enum):
    """How bad a finding is, worst first; fatal and error block a commit and a launch."""

    FATAL = "fatal"
    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"

    @property
    def rank(self) -> int:
        """0 for fatal up to 3 for note."""
        return list(Severity).index(self)

    @property
    def blocks(self) -> bool:
        """Whether a finding of this severity blocks a commit and a launch."""
        return self in (Severity.FATAL, Severity.ERROR)


class FixKind(Enum):
    """Whether a fix may be applied without asking."""

    SAFE = "safe"
    CHOICE = "choice"


@dataclass(frozen=True, slots=True)
class Location:
    """A span in one version of a file."""

    source: Source
    span: Span

    @property
    def file(self) -> Path:
        return self.source.path

    @property
    def positions(self) -> tuple[Position, Position]:
        """Where it begins and ends, the end exclusive."""
        return self.source.lines.position(self.span.start), self.source.lines.position(self.span.end)


@dataclass(frozen=True, slots=True)
class Related:
    """Another place that explains a finding."""

    location: Location
    message: str


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace a span of one file version. `note` says what was there, for annotated artifacts (`was "randomized"`)."""

    file: Path
    span: Span
    text: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Fix:
    """Edits that belong together. Fixes that share a `group` are applied all or not at all."""

    title: str  #: imperative phrase for the editor: "Set `shard_seed` to 42"
    edits: tuple[Edit, ...]
    kind: FixKind = FixKind.SAFE
    group: str | None = None
    withheld: str = ""  #: why the fix is not applied in place; the migrated artifact may still carry it
    artifact: bool = True  #: whether the migrated artifact carries it although it is withheld


@dataclass(frozen=True, slots=True)
class Finding:
    """One verdict. `message` is one sentence that says what happens at run time."""

    code: str
    name: str
    severity: Severity
    message: str
    location: Location
    subject: str = ""  #: dotted path of the setting: data.train_ds.shard_seed
    current: object = None
    recommended: object = None
    rationale: str = ""
    origin: str = "file"  #: file · default · base config · entry · launcher override · settings
    config: Path | None = None  #: the training config for which this holds
    related: tuple[Related, ...] = ()
    fix: Fix | None = None
    suppressed: str | None = field(default=None)  #: the reason given by a suppression, "" for one without reason
    suppressed_by: str = (
        "comment"  #: comment · settings (per-file-ignores); beside the point where nothing suppresses it
    )
    suppressed_at: Span | None = None  #: of the comment that suppresses it, in the finding's file
    baselined: bool = False  #: known to the baseline: it neither blocks nor is told one by one

    @property
    def url(self) -> str:
        """Where the rule's page stands in this project, from its top folder."""
        return f"{PAGES}/{self.code}-{self.name}.md"
