"""A blend that no config of the run reaches: its entries are judged as part of a migrated training dataset."""

from __future__ import annotations

import json
from dataclasses import replace

from .findings import Finding
from .model.config import read_config
from .model.sources import SOURCE_TYPES
from .project import Project
from .rules.engine import check_config
from .syntax.nodes import Document, Mapping, Scalar, Sequence, deref
from .syntax.reader import read
from .text import Source

_ASSUMED = """\
data:
  train_ds:
    indexed: true
    use_stateful_dataloader: true
    force_map_dataset: false
    force_iterable_dataset: true
    indexes_root: ${oc.env:INDEXES_ROOT}
    index_pack_root: ${oc.env:INDEX_PACK_ROOT}
    seed: 42
    shard_seed: 42
    shuffle: true
    num_workers: 1
    batch_size: 1
    audio_locator_tag: "<audio>"
    input_cfg: """


def check_lone_blend(document: Document, project: Project) -> list[Finding]:
    """The findings in the file itself; none where it is no list of entries with registered types."""
    if not is_blend(document):
        return []
    path = document.source.path
    assumed = read(Source.from_text(path.parent / "a migrated config", _ASSUMED + json.dumps(str(path)) + "\n"))
    config = read_config(assumed, project.context(path))
    if config is None:
        return []
    return [replace(finding, config=None) for finding in check_config(config) if finding.location.file == path]


def is_blend(document: Document) -> bool:
    """Whether a document is a list of entries, one of them at least of a registered type."""
    root = document.root
    if not isinstance(root, Sequence):
        return False
    for item in root.items:
        node = deref(item)
        if isinstance(node, Mapping) and (pair := node.get("type")) is not None:
            value = deref(pair.value)
            if isinstance(value, Scalar) and value.value in SOURCE_TYPES:
                return True
    return False
