"""The table of source types is whole: every key is described, every reader known, and what it says agrees with itself."""

from __future__ import annotations

import pytest
from nemo_resumable.core.model.readers import READERS, SUFFIXES
from nemo_resumable.core.model.schema import OPTIONS
from nemo_resumable.core.model.sources import COMMON_KEYS, DATA_CHANGING_TYPOS, KEY_DOCS, SOURCE_TYPES

ALL_KEYS = COMMON_KEYS.union(*(kind.reads for kind in SOURCE_TYPES.values()))


def test_every_key_is_described_and_nothing_else() -> None:
    assert set(KEY_DOCS) == set(ALL_KEYS)
    assert all(text and not text.endswith(".") and len(text) <= 120 for text in KEY_DOCS.values())


@pytest.mark.parametrize("kind", SOURCE_TYPES.values(), ids=lambda kind: kind.name)
def test_a_type_reads_what_it_needs_and_what_its_readers_open(kind: object) -> None:
    from nemo_resumable.core.model.sources import SourceType

    assert isinstance(kind, SourceType)
    assert kind.summary
    assert not kind.summary.endswith(".")
    for group in kind.needs:
        assert any(key in kind.reads or key in COMMON_KEYS for key in group)
    for reader in kind.opened_by:
        assert set(reader.data_keys) <= kind.reads
        assert all(sidecar.kind in SUFFIXES and sidecar.key in kind.reads for sidecar in reader.sidecars)
        assert not kind.indexable or reader.sidecars or reader.name == "parquet"
    assert bool(kind.opened_by) is not kind.group


def test_every_reader_belongs_to_a_type_and_knows_what_a_pack_comes_to() -> None:
    used = {name for kind in SOURCE_TYPES.values() for name in kind.readers}
    assert used == set(READERS)
    for reader in READERS.values():
        assert (reader.pack is None) is (reader.unpackable in ("ignored", "refused"))
        assert reader.sidecars or reader.unpackable == "ignored"


@pytest.mark.parametrize(
    ("name", "style", "packable", "main"),
    [
        ("nemo", "map or iterable", True, False),
        ("nemo_tarred", "iterable or map", True, False),
        ("lhotse", "map or iterable", False, False),
        ("txt", "iterable", False, False),
        ("nemotron_text_converation", "iterable", True, True),
        ("share_gpt_webdataset", "iterable", True, False),
        ("group", "", False, False),
    ],
)
def test_what_a_hover_says_of_a_type(name: str, style: str, packable: bool, main: bool) -> None:
    kind = SOURCE_TYPES[name]
    assert (kind.style, kind.packable, kind.speech_main) == (style, packable, main)


def test_typos_lead_to_keys_that_exist() -> None:
    for wrong, right in DATA_CHANGING_TYPOS.items():
        assert wrong not in ALL_KEYS
        assert wrong not in OPTIONS
        assert right in ALL_KEYS
