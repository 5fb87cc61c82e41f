"""The features, one module each: it has `register(server)`, which gives the server handlers that only translate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from . import (
    code_actions,
    code_lens,
    commands,
    completion,
    configuration,
    diagnostics,
    hover,
    inlay_hints,
    lifecycle,
    navigation,
    run_logs,
    status,
    symbols,
    synchronization,
)

if TYPE_CHECKING:
    from ..server import Server


class Feature(Protocol):
    """What a module of a feature has."""

    def register(self, server: Server) -> None:
        """Give the server the feature's handlers."""


FEATURES: tuple[Feature, ...] = (
    lifecycle,
    configuration,
    synchronization,
    diagnostics,
    code_actions,
    commands,
    status,
    hover,
    completion,
    navigation,
    symbols,
    code_lens,
    inlay_hints,
    run_logs,
)
