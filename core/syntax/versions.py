"""What only one OmegaConf refuses: 2.3, which NeMo pins, reads with the pure parser; 2.4 with libyaml and other checks."""

from __future__ import annotations

from collections.abc import Iterator

from .building import Build
from .nodes import SyntaxProblem


def version_problems(build: Build) -> Iterator[SyntaxProblem]:
    """Problems that depend on the version of OmegaConf; each message names it."""
    return iter(())
