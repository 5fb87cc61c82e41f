"""The names of the commands as clients know them, and the error codes that pygls has no class for."""

from __future__ import annotations

WRITE_ARTIFACTS = "nemo-resumable.writeArtifacts"
SHOW_EFFECTIVE = "nemo-resumable.showEffectiveConfig"
SHOW_INSPECTED = "nemo-resumable.showInspected"
RESTART = "nemo-resumable.restart"
EXPLAIN = "nemo-resumable.explainRule"
STATUS = "nemo-resumable.status"
DIAGNOSE = "nemo-resumable.diagnoseLogs"
APPLY_MIGRATION = "nemo-resumable.applyMigration"

REQUEST_FAILED = -32803  #: LSPErrorCodes.RequestFailed: the request is right, and cannot be carried out
