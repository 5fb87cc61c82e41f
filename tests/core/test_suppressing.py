"""Comments that suppress a finding are written where they hold, and change nothing that the file says."""

from __future__ import annotations

from pathlib import Path

import pytest
from nemo_resumable.core.analysis import analyze
from nemo_resumable.core.findings import Finding
from nemo_resumable.core.project import Project
from nemo_resumable.core.settings import load_settings
from nemo_resumable.core.suppressing import suppress
from nemo_resumable.core.syntax.applying import apply_edits
from nemo_resumable.core.syntax.nodes import Document

CONFIG = """\
data:
  train_ds:
    indexed: true
    use_stateful_dataloader: true
    shard_seed: randomized{0}
    seed: 42
    shuffle: true
    num_workers: 2
    batch_size: 4
    input_cfg:
      - type: lhotse_shar
        shar_path: data/shar
"""


def judged(path: Path, code: str = "NR110") -> tuple[Document, Finding]:
    project = Project(load_settings(path.parent), path.parent)
    document = project.store.load(path)
    assert isinstance(document, Document)
    (finding,) = [each for each in analyze(project, [path]).findings if each.code == code]
    return document, finding


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "  # nemo-resumable: ignore[NR110]"),
        ("  # why", "  # why  # nemo-resumable: ignore[NR110]"),
        ("  # nemo-resumable: ignore[NR109] why", "  # nemo-resumable: ignore[NR109, NR110] why"),
        ("  # nemo-resumable: ignore", "  # nemo-resumable: ignore  # nemo-resumable: ignore[NR110]"),
        ("  # nemo-resumable: ignore see [1]", "  # nemo-resumable: ignore see [1]  # nemo-resumable: ignore[NR110]"),
    ],
)
def test_at_the_end_of_the_line(tmp_path: Path, before: str, after: str) -> None:
    path = tmp_path / "conf.yaml"
    path.write_text(CONFIG.format(before), encoding="utf-8")
    document, finding = judged(path)
    edit = suppress(document, finding)
    assert edit is not None
    changed = apply_edits(document.source, [edit])
    assert changed.text == CONFIG.format(after)
    path.write_bytes(changed.to_bytes())
    assert judged(path)[1].suppressed is not None


def test_above_where_the_line_has_no_room(tmp_path: Path) -> None:
    """A second comment behind one for the file would be read as its reason."""
    path = tmp_path / "conf.yaml"
    path.write_text(CONFIG.format("  # nemo-resumable: ignore-file[NR109]"), encoding="utf-8")
    document, finding = judged(path)
    edit = suppress(document, finding)
    assert edit is not None
    assert edit.text == "    # nemo-resumable: ignore[NR110]\n"
    path.write_bytes(apply_edits(document.source, [edit]).to_bytes())
    assert judged(path)[1].suppressed is not None
