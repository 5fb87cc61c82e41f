"""The names of the commands, as clients know them."""

from __future__ import annotations

WRITE_ARTIFACTS = "nemo-resumable.writeArtifacts"
SHOW_EFFECTIVE = "nemo-resumable.showEffectiveConfig"
SHOW_INSPECTED = "nemo-resumable.showInspected"
RESTART = "nemo-resumable.restart"
EXPLAIN = "nemo-resumable.explainRule"
