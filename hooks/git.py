"""What git knows that no file says: which files a commit takes away, and which files belong to the repository."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from nemo_resumable.core.git import ask, names


def removed(root: Path, environment: Mapping[str, str] = os.environ) -> list[Path]:
    """The files that a commit deletes or renames away; none where git cannot say.

    pre-commit hands over the files that are there after a commit. It names the two ends itself where it looks at commits
    that are made already (`--from-ref` and `--to-ref`, before a push).
    """
    ends = [environment.get(f"PRE_COMMIT_{end}_REF", "") for end in ("FROM", "TO")]
    what = [f"{ends[0]}...{ends[1]}"] if all(ends) else ["--cached"]
    return [
        root / name
        for name in names(
            ask(root, "diff", *what, "--name-only", "--no-renames", "--diff-filter=D", "--no-ext-diff", "-z", "--")
        )
    ]


def tracked(root: Path) -> list[str] | None:
    """The names of the files in git's index; None where git cannot say."""
    return names(ask(root, "ls-files", "-z")) or None
