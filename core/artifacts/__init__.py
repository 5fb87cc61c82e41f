"""The five artifacts of a migration: report, patched config, patched blends, checklist, index script."""

from __future__ import annotations

from .migrate import Migration, NotAConfig, prepare, write

__all__ = ["Migration", "NotAConfig", "prepare", "write"]
