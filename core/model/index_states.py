"""What an index file is found to be, as words; the rules know them without the readers of index files."""

from __future__ import annotations

FINE, MISSING, CORRUPT, STALE = "fine", "missing", "corrupt", "stale"
ROWS = "rows"  #: it counts other rows than its source has
