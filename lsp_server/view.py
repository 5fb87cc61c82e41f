"""What a feature is given: one version of one file, with what the analyzer knows of it, in the client's units."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lsprotocol import types
from nemo_resumable.core.findings import Finding, Location
from nemo_resumable.core.model.config import TrainingConfig
from nemo_resumable.core.project import Project
from nemo_resumable.core.syntax.nodes import Document
from nemo_resumable.core.text import Source, Span

from . import convert
from .analyses import Result
from .documents import OpenDocument
from .options import Options


@dataclass(frozen=True, slots=True, eq=False)
class FileView:
    """A snapshot. Offsets are code points of `source.text`, positions are the client's."""

    document: OpenDocument
    path: Path
    project: Project  #: with the open texts in place of files, as they were when this was made
    #: Parsed. `syntax.parses` is False for half-typed text, of which the rest was read; a launcher has no `root`.
    syntax: Document
    results: tuple[Result, ...]  #: of every root that says something of this file, its own first
    findings: tuple[Finding, ...]  #: in this file, by place, suppressed ones among them
    encoding: str
    options: Options
    uri_of: Callable[[Path], str]

    @property
    def uri(self) -> str:
        return self.document.uri

    @property
    def source(self) -> Source:
        return self.syntax.source

    @property
    def configs(self) -> tuple[TrainingConfig, ...]:
        """The training configs that are or read this file, the file itself first."""
        return tuple(result.model for result in self.results if result.model is not None)

    @property
    def own_config(self) -> TrainingConfig | None:
        """The training config that this file is."""
        return next((model for model in self.configs if model.document.source.path == self.path), None)

    def offset(self, position: types.Position) -> int:
        """The code point offset of a position, held inside its line."""
        return convert.offset(self.source, position, self.encoding)

    def span(self, given: types.Range) -> Span:
        """The span of a range."""
        return convert.span(self.source, given, self.encoding)

    def position(self, offset: int) -> types.Position:
        """The position of an offset."""
        return convert.position(self.source, offset, self.encoding)

    def range(self, span: Span) -> types.Range:
        """The range of a span of this file."""
        return convert.text_range(self.source, span, self.encoding)

    def location(self, location: Location) -> types.Location:
        """A place in this file or another, as the protocol writes it."""
        return types.Location(
            self.uri_of(location.file), convert.text_range(location.source, location.span, self.encoding)
        )
