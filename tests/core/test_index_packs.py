"""Index packs on this disk: which are no packs, which fit the config that declares them, and hostile ones."""

from __future__ import annotations

import hashlib
import random
import struct
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from index_writers import Collection, jsonl_index, pack, tar, tar_index
from nemo_resumable.core.analysis import Analysis, analyze
from nemo_resumable.core.findings import Finding
from nemo_resumable.core.model.index_packs import collection_key, read_pack, segments
from nemo_resumable.core.model.indexes import IndexReader, summary
from nemo_resumable.core.project import Project
from nemo_resumable.core.settings import load_settings

ROWS = b'{"audio_filepath": "0.wav"}\n' * 3
SPEC = {"manifest": "data/manifest__OP_0..1_CL_.jsonl", "tar": "data/audio__OP_0..1_CL_.tar"}
ENTRY = {
    "type": "nemo_tarred",
    "manifest_filepath": SPEC["manifest"],
    "tarred_audio_filepaths": SPEC["tar"],
    "index_pack": "packs/en.idxpack",
}
Judge = Callable[..., Analysis]


@pytest.fixture
def judge(tmp_path: Path) -> Judge:
    """Write a pack and judge an entry that declares it, among two shards of rows and tars."""
    (tmp_path / ".git").mkdir()
    for name in ("data", "packs"):
        (tmp_path / name).mkdir()
    for number in range(2):
        (tmp_path / f"data/manifest_{number}.jsonl").write_bytes(ROWS)
        (tmp_path / f"data/audio_{number}.tar").write_bytes(TAR)

    def call(content: bytes, entry: dict[str, Any] | None = None, settings: str = "") -> Analysis:
        (tmp_path / "packs/en.idxpack").write_bytes(content)
        (tmp_path / ".nemo-resumable.toml").write_text(settings)
        section = {"indexed": True, "batch_size": 1, "input_cfg": [ENTRY if entry is None else entry]}
        config = tmp_path / "conf.yaml"
        config.write_text(yaml.safe_dump({"data": {"train_ds": section}}))
        return analyze(Project(load_settings(tmp_path), tmp_path, indexes=IndexReader()), [config])

    return call


TAR = tar({"0.wav": 600, "1.wav": 5, "2.wav": 5})
MANIFESTS = {f"data/manifest_{number}.jsonl": jsonl_index(ROWS) for number in range(2)}
TARS = {f"data/audio_{number}.tar": tar_index(TAR) for number in range(2)}
MANIFEST = Collection("manifest", "jsonl", SPEC["manifest"], MANIFESTS)
AUDIO = Collection("tar", "nemo_tar", SPEC["tar"], TARS)
ROUTE = Collection(
    "native_tar_route",
    "nemo_manifest_row_to_tar_ordinal_v1",
    {**SPEC, "normalization": "nemo-audio-member-v1"},
    arrays=[[0, 1, 2], [2, 1, 0]],
)
PATHS = Collection("tar", "nemo_tar", SPEC["tar"], paths={"data/audio_0.tar": len(TAR), "data/audio_1.tar": None})


def found(analysis: Analysis) -> list[Finding]:
    return [finding for finding in analysis.findings if finding.code.startswith("NR8")]


def said(analysis: Analysis) -> tuple[str, str]:
    """The text at the one finding, and its message."""
    (finding,) = found(analysis)
    return finding.location.source.cut(finding.location.span), finding.message


@pytest.mark.parametrize("collections", [(MANIFEST, AUDIO), (AUDIO, MANIFEST, ROUTE)], ids=["version 2", "version 3"])
def test_a_pack_that_fits(judge: Judge, collections: tuple[Collection, ...]) -> None:
    analysis = judge(pack(*collections))
    assert found(analysis) == []
    assert summary(analysis.models) == "1 pack of 1 source read: all as they should be"


def test_the_key_is_over_the_text_of_the_path_as_it_stands() -> None:
    """One value worked out by hand: it would change for all packs there are if ours did."""
    text = '{"kind":"jsonl","role":"manifest","source_spec":["/data/ä_{0..1}.jsonl"]}'
    assert collection_key("manifest", "jsonl", ["/data/ä_{0..1}.jsonl"]) == hashlib.sha256(text.encode()).digest()


def test_the_catalog_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.idxpack"
    path.write_bytes(pack(MANIFEST, PATHS, ROUTE))
    read = read_pack(str(path))
    assert (read.problem, read.version, len(read.collections)) == ("", 3, 3)
    assert [(s.path, s.size, s.records) for s in segments(read, MANIFEST.key)] == [
        ("data/manifest_0.jsonl", len(ROWS), 3),
        ("data/manifest_1.jsonl", len(ROWS), 3),
    ]
    assert [(s.path, s.size) for s in segments(read, PATHS.key)] == [
        ("data/audio_0.tar", len(TAR)),
        ("data/audio_1.tar", None),
    ]
    assert list(segments(read, ROUTE.key)) == []
    assert [read.collections[each.key].records for each in (MANIFEST, PATHS, ROUTE)] == [6, 0, 6]


# -- packs that do not fit


def test_a_renamed_path_is_found_and_the_old_spelling_named(judge: Judge) -> None:
    analysis = judge(pack(MANIFEST, AUDIO), {**ENTRY, "manifest_filepath": "data/manifest_{0..1}.jsonl"})
    place, message = said(analysis)
    assert place == "data/manifest_{0..1}.jsonl"
    assert message.startswith("the index pack `packs/en.idxpack` holds no collection for this `manifest_filepath`")
    (finding,) = found(analysis)
    assert finding.rationale.startswith(f"The pack knows it as `{SPEC['manifest']}`")
    assert finding.severity.value == "error"
    assert "index_pack" in finding.related[0].location.source.text[: finding.related[0].location.span.start]


def test_a_list_is_another_specification_than_a_path(judge: Judge) -> None:
    entry = {**ENTRY, "manifest_filepath": [SPEC["manifest"]], "tarred_audio_filepaths": [SPEC["tar"]]}
    assert [finding.code for finding in found(judge(pack(MANIFEST, AUDIO), entry))] == ["NR805", "NR805"]
    lists = [Collection(one.role, one.kind, [one.source_spec], one.sidecars) for one in (MANIFEST, AUDIO)]
    assert found(judge(pack(*lists), entry)) == []


def test_files_of_another_size(judge: Judge, tmp_path: Path) -> None:
    (tmp_path / "data/manifest_1.jsonl").write_bytes(ROWS * 2)
    place, message = said(judge(pack(MANIFEST, AUDIO)))
    assert place == SPEC["manifest"]
    assert "holds a file in another size than on this disk" in message
    (tmp_path / "data/manifest_1.jsonl").write_bytes(ROWS)
    for number in range(2):
        (tmp_path / f"data/audio_{number}.tar").write_bytes(TAR[:-512])
    place, message = said(judge(pack(MANIFEST, AUDIO)))
    assert place == SPEC["tar"]
    assert "holds 2 of 2 files in another size" in message


def test_files_that_are_elsewhere_are_not_verified(judge: Judge, tmp_path: Path) -> None:
    (tmp_path / "data/manifest_1.jsonl").unlink()
    analysis = judge(pack(MANIFEST, AUDIO))
    assert found(analysis) == []
    assert any("not on this machine" in part for part in analysis.configs[0].unverified)


def test_other_numbers_of_shards_need_a_route(judge: Judge) -> None:
    spec = {"manifest": SPEC["manifest"], "tar": SPEC["tar"], "routing": "manifest-shard-id-v1"}
    route = Collection("native_tar_shard_route", "nemo_manifest_row_to_tar_shard_v1", spec, arrays=[[0, 0, 1]])
    one = Collection("manifest", "jsonl", SPEC["manifest"], dict(list(MANIFESTS.items())[:1]))
    place, message = said(judge(pack(one, AUDIO)))
    assert (place, "holds 1 manifest for 2 tars" in message) == (SPEC["tar"], True)
    assert found(judge(pack(one, AUDIO, route))) == []


def test_tars_by_name_alone_are_for_get_batch(judge: Judge) -> None:
    off, on = (f'[runtime.env]\nUSE_AIS_GET_BATCH = "{word}"\n' for word in ("false", "true"))
    place, message = said(judge(pack(MANIFEST, PATHS), settings=off))
    assert (place, "only the names of the tars" in message) == (SPEC["tar"], True)
    assert found(judge(pack(MANIFEST, PATHS), settings=on)) == []
    assert found(judge(pack(MANIFEST, PATHS))) == []  # nobody says what the ranks see


@pytest.mark.parametrize(
    ("entry", "role", "kind", "key"),
    [
        ({"type": "nemo"}, "manifest", "jsonl", "manifest_filepath"),
        ({"type": "multimodal_conversation", "audio_locator_tag": "<a>"}, "manifest", "jsonl", "manifest_filepath"),
        ({"type": "share_gpt", "audio_placeholders": "<a>"}, "manifest", "jsonl", "manifest_filepath"),
        ({"type": "nemotron_text_converation"}, "paths", "jsonl", "paths"),
        ({"type": "materialized_sft_messages"}, "paths", "jsonl", "paths"),
    ],
    ids=lambda value: value["type"] if isinstance(value, dict) else "",
)
def test_each_reader_looks_up_its_own(judge: Judge, entry: dict[str, str], role: str, kind: str, key: str) -> None:
    entry = {**entry, key: "data/manifest_0.jsonl", "index_pack": "packs/en.idxpack"}
    sidecars = {"data/manifest_0.jsonl": jsonl_index(ROWS)}
    assert found(judge(pack(Collection(role, kind, "data/manifest_0.jsonl", sidecars)), entry)) == []
    assert [
        f.code for f in found(judge(pack(Collection("other", kind, "data/manifest_0.jsonl", sidecars)), entry))
    ] == ["NR805"]


# -- files that are no packs


def test_what_is_wrong_with_the_header_is_said(judge: Judge) -> None:
    good = pack(MANIFEST, AUDIO)
    for content, words in (
        (b"", "is 0 bytes long, shorter than its header of 256"),
        (good[:255], "is 255 bytes long"),
        (b"IDXPACK1" + good[8:], "does not begin with `IDXPACK2`"),
        (good[:8] + struct.pack("<I", 9) + good[12:], "is of version 9, which no Lhotse writes"),
        (good[:12] + struct.pack("<I", 512) + good[16:], "says that its header has 512 bytes"),
        (good[:-8], "has its payload up to byte"),
        (good + b"\0", "has its payload end at byte"),
        (good[:24] + struct.pack("<Q", 2**63) + good[32:], "has its collections up to byte"),
        (good[:48] + struct.pack("<Q", 300) + good[56:], "has its segments at byte 300"),
    ):
        place, message = said(judge(content))
        assert place == "packs/en.idxpack"
        assert words in message


def test_a_version_that_is_not_released_is_left_alone(judge: Judge) -> None:
    good = pack(MANIFEST, AUDIO)
    analysis = judge(good[:8] + struct.pack("<I", 4) + good[12:])
    assert found(analysis) == []


def test_a_folder_in_place_of_a_pack(judge: Judge, tmp_path: Path) -> None:
    judge(b"")
    (tmp_path / "packs/en.idxpack").unlink()
    (tmp_path / "packs/en.idxpack").mkdir()
    config = tmp_path / "conf.yaml"
    analysis = analyze(Project(load_settings(tmp_path), tmp_path, indexes=IndexReader()), [config])
    assert "is a folder" in said(analysis)[1]


def test_every_cut_is_noticed(tmp_path: Path) -> None:
    good = pack(MANIFEST, PATHS, ROUTE)
    path = tmp_path / "a.idxpack"
    for length in range(len(good)):
        path.write_bytes(good[:length])
        assert read_pack(str(path)).problem


def test_no_bytes_break_the_reader(tmp_path: Path) -> None:
    """Bytes changed at random: a pack or none, never an exception, and what is taken for one can be listed."""
    chance = random.Random(8)
    good = pack(MANIFEST, PATHS, ROUTE)
    path = tmp_path / "a.idxpack"
    taken = refused = 0
    for _ in range(1200):
        data = bytearray(good)
        for _ in range(chance.randrange(1, 4)):
            data[chance.randrange(len(data))] = chance.choice((0, 1, 2, 127, 255, chance.randrange(256)))
        path.write_bytes(data)
        read = read_pack(str(path))
        taken, refused = taken + (not read.problem), refused + bool(read.problem)
        for key in read.collections:
            list(segments(read, key))
    assert taken > 100
    assert refused > 100


def test_huge_tables_of_a_sparse_file_cost_nothing(tmp_path: Path) -> None:
    """A header may promise what only a sparse file can hold; its tables are not gone through."""
    path = tmp_path / "a.idxpack"
    for count in (2**25, 2**33):
        end = 256 + 72 * count
        header = struct.pack("<8sII10Q", b"IDXPACK2", 2, 256, 256, count, end, 0, end, 0, end, 0, end, 0)
        with path.open("wb") as file:
            file.write(header)
            try:
                file.truncate(end)
            except OSError:
                pytest.skip("no such sparse file here")
        begun = time.monotonic()
        read = read_pack(str(path))
        assert read.problem or read.unseen
        assert not read.collections
        assert time.monotonic() - begun < 2


def test_a_pack_that_is_cut_while_it_is_listed_ends_the_list(tmp_path: Path) -> None:
    path = tmp_path / "a.idxpack"
    path.write_bytes(pack(MANIFEST, AUDIO))
    read = read_pack(str(path))
    path.write_bytes(pack(MANIFEST, AUDIO)[:300])
    assert list(segments(read, AUDIO.key)) == []
    path.unlink()
    assert list(segments(read, AUDIO.key)) == []
