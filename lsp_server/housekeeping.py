"""Garbage: models are full of cycles, and the collector would stop a key press in the middle to look for them."""

from __future__ import annotations

import gc

from nemo_resumable.core.model.config import TrainingConfig

#: New objects after which garbage is looked for when nothing else is to be done, and at the latest.
WHEN_IDLE = 100_000
AT_THE_LATEST = 1_500_000


def begin() -> None:
    """Take over from the collector. What is there now stays for good, and is never looked at again."""
    gc.collect()
    gc.freeze()
    gc.disable()


def tidy(*, idle: bool) -> None:
    """Look for garbage where it is worth it."""
    made = gc.get_count()[0]
    if made > (WHEN_IDLE if idle else AT_THE_LATEST):
        gc.collect()


def release(model: TrainingConfig) -> None:
    """Take apart the model of an analysis that nobody uses any more: its cycles go, and its memory with them.

    Of a large blend the collector would have to look through hundreds of thousands of objects for each key press.
    """
    for dataset in model.datasets:
        for entry in dataset.all_entries:
            vars(entry).clear()
        vars(dataset).clear()
    vars(model).clear()
