"""`--indexes`: what is said of sidecars on this disk, for data and index files that are made here or lie in the oracle."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from index_writers import index, sidecar, tar
from nemo_resumable.core.analysis import Analysis, analyze
from nemo_resumable.core.artifacts import prepare
from nemo_resumable.core.findings import Finding
from nemo_resumable.core.fixing import fix
from nemo_resumable.core.model import index_judging, sidecar_files
from nemo_resumable.core.model.indexes import IndexReader, summary, unverified
from nemo_resumable.core.project import Project
from nemo_resumable.core.settings import load_settings

ORACLE = Path(__file__).parents[3] / "shared" / "oracle"
SECTION = {
    "seed": 42,
    "shard_seed": 42,
    "shuffle": True,
    "num_workers": 2,
    "batch_size": 8,
    "indexed": True,
    "use_stateful_dataloader": True,
    "force_map_dataset": False,
    "force_iterable_dataset": True,
}
TARRED = {
    "type": "nemo_tarred",
    "manifest_filepath": "data/manifest__OP_0..3_CL_.jsonl",
    "tarred_audio_filepaths": "data/audio__OP_0..3_CL_.tar",
}
ROW = '{"audio_filepath": "0.wav", "duration": 1.0}\n'


@dataclass(frozen=True)
class Place:
    """A project in a folder of its own, with its config."""

    folder: Path

    def judge(
        self, *entries: dict[str, Any], look: bool = True, files: dict[str, str] | None = None, **options: Any
    ) -> Analysis:
        """Judge a config with these entries; `files` are settings and launchers beside it."""
        section = {**SECTION, **options, "input_cfg": [{"weight": 1.0, **entry} for entry in entries]}
        (self.folder / "conf.yaml").write_text(yaml.safe_dump({"data": {"train_ds": section}}, sort_keys=False))
        return analyze(self.project(look=look), [self.folder / "conf.yaml"])

    def project(self, *, look: bool = True, reader: IndexReader | None = None) -> Project:
        given = reader or IndexReader() if look else None
        return Project(load_settings(self.folder), self.folder, indexes=given)

    def write(self, name: str, data: bytes | str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path


@pytest.fixture
def place(tmp_path: Path) -> Place:
    (tmp_path / ".git").mkdir()
    return Place(tmp_path)


@pytest.fixture
def shards(place: Place) -> Place:
    """Four manifests of three rows with their tars of three members, all with sidecars."""
    for number in range(4):
        place.write(f"data/manifest_{number}.jsonl", ROW * 3)
        place.write(f"data/audio_{number}.tar", tar({"0.wav": 700, "1.wav": 10, "2.wav": 1300}))
    for path in sorted((place.folder / "data").iterdir()):
        sidecar(path)
    return place


def found(analysis: Analysis) -> list[tuple[str, str]]:
    """Code and severity of what is said of index files."""
    return sorted((f.code, f.severity.value) for f in analysis.findings if f.code.startswith("NR8"))


def only(analysis: Analysis) -> Finding:
    (finding,) = (f for f in analysis.findings if f.code.startswith("NR8"))
    return finding


def text_at(finding: Finding) -> str:
    return finding.location.source.cut(finding.location.span)


def age(path: Path, seconds: int) -> None:
    """Make a file older by so many seconds."""
    status = path.stat()
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns - seconds * 10**9))


# -- the oracle's data


@pytest.mark.skipif(not ORACLE.is_dir(), reason="the oracle's data is not beside this repository")
class TestOracle:
    @pytest.mark.parametrize("case", sorted((ORACLE / "cases").glob("*.yaml")), ids=lambda path: path.stem)
    def test_what_the_real_builder_wrote_is_fine(self, case: Path) -> None:
        analysis = analyze(Project(load_settings(ORACLE), ORACLE, indexes=IndexReader()), [case])
        assert found(analysis) == []
        assert unverified(analysis.models[0]) == []

    @pytest.fixture
    def toy(self, place: Place) -> Place:
        shutil.copytree(ORACLE / "toy", place.folder / "toy")
        for path in (place.folder, *place.folder.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
        return place

    @pytest.mark.parametrize(
        ("case", "file"),
        [
            ({"type": "nemo", "manifest_filepath": "toy/plain.jsonl"}, "toy/plain.jsonl"),
            ({"type": "lhotse", "cuts_path": "toy/cuts.jsonl"}, "toy/cuts.jsonl"),
            ({"type": "txt_jsonl", "paths": "toy/text.jsonl", "language": "en"}, "toy/text.jsonl"),
            ({"type": "lhotse_shar", "shar_path": "toy/shar_plain"}, "toy/shar_plain/recording.000002.tar"),
            (
                {
                    "type": "nemo_tarred",
                    "manifest_filepath": "toy/manifest__OP_0..3_CL_.jsonl",
                    "tarred_audio_filepaths": "toy/audio__OP_0..3_CL_.tar",
                },
                "toy/audio_2.tar",
            ),
        ],
        ids=["nemo", "cuts", "txt_jsonl", "shar", "nemo_tarred"],
    )
    def test_truncated_grown_touched_and_without_sidecar(self, toy: Place, case: dict[str, str], file: str) -> None:
        source, beside = toy.folder / file, toy.folder / f"{file}.idx"
        data, words = source.read_bytes(), beside.read_bytes()
        assert found(toy.judge(case)) == []
        for changed in (data[:-512], data + b"x" * 512):
            source.write_bytes(changed)
            beside.write_bytes(words)  # not older: its end alone gives it away
            assert found(toy.judge(case)) == [("NR803", "error")]
        source.write_bytes(data)
        age(beside, 3600)
        assert found(toy.judge(case)) == [("NR803", "error")]
        for wrong in (words[:-3], b"", words[::-1], words[8:16] + words[:8] + words[16:]):
            beside.write_bytes(wrong)
            assert found(toy.judge(case)) == [("NR802", "error")]
        beside.unlink()
        assert found(toy.judge(case)) == [("NR801", "warning")]


# -- looking or not


def test_nothing_is_looked_at_unless_it_is_asked_for(shards: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in (shards.folder / "data").glob("*.idx"):
        path.unlink()

    def never(*_: object) -> None:
        raise AssertionError("a data file was looked at")

    monkeypatch.setattr(sidecar_files, "look", never)
    analysis = shards.judge(TARRED, look=False)
    assert found(analysis) == []
    assert summary(analysis.models) == ""


def test_all_there_and_fit(shards: Place) -> None:
    analysis = shards.judge(TARRED)
    assert found(analysis) == []
    assert summary(analysis.models) == "8 sidecars of 1 source read: all as they should be"
    assert "index files" not in "".join(analysis.configs[0].unverified)


def test_each_file_is_looked_at_once_though_launchers_and_fixes_judge_again(
    shards: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    real = sidecar_files.look
    monkeypatch.setattr(sidecar_files, "look", lambda path: seen.append(str(path)) or real(path))
    shards.judge(TARRED, look=False, shard_seed="randomized")
    fixed = fix(shards.project(), [shards.folder / "conf.yaml"])
    assert fixed.applied
    files = [name for name in seen if name.endswith((".idx", ".tar", ".jsonl"))]
    assert len(files) == len(set(files)) == 16


# -- missing


def test_one_finding_for_many_shards_at_the_very_path(shards: Place) -> None:
    for number in (1, 2, 3):
        (shards.folder / f"data/manifest_{number}.jsonl.idx").unlink()
    finding = only(shards.judge(TARRED))
    assert (finding.code, finding.severity.value) == ("NR801", "warning")
    assert text_at(finding) == "data/manifest__OP_0..3_CL_.jsonl"
    assert finding.message.startswith("3 of 4 sidecars are missing, first `data/manifest_1.jsonl.idx`: ")
    assert "`data/manifest_2.jsonl.idx`, `data/manifest_3.jsonl.idx`" in finding.rationale
    assert finding.subject == "data.train_ds.input_cfg.0.manifest_filepath"


def test_a_long_list_of_paths_is_one_source(place: Place) -> None:
    names = [f"data/m_{number}.jsonl" for number in range(40)]
    for name in names:
        place.write(name, ROW)
    sidecar(place.folder / names[0])
    finding = only(place.judge({"type": "nemo", "manifest_filepath": names}))
    assert finding.message.startswith("39 of 40 sidecars are missing, first `data/m_1.jsonl.idx`")
    assert text_at(finding) == "data/m_1.jsonl"
    assert "and 36 more" in finding.rationale


@pytest.mark.parametrize("absolute", [False, True])
def test_below_a_root_the_path_is_mirrored(shards: Place, absolute: bool) -> None:
    """Identity is the path string: the same file by an absolute path has another sidecar."""
    start = f"{shards.folder}/" if absolute else ""
    entry = {key: value.replace("data/", f"{start}data/") for key, value in TARRED.items()}
    (shards.folder / "idx").mkdir()
    assert found(shards.judge(entry, indexes_root="idx")) == [("NR801", "error"), ("NR801", "warning")]
    for path in (shards.folder / "data").glob("*[rl]"):
        name = f"{path}".lstrip("/") if absolute else f"data/{path.name}"
        sidecar(path, shards.folder / "idx" / f"{name}.idx")
    assert found(shards.judge(entry, indexes_root="idx")) == []
    assert found(shards.judge(entry, indexes_root=f"{shards.folder}/idx/")) == []


def test_the_root_of_an_entry_wins(shards: Place) -> None:
    (shards.folder / "idx").mkdir()
    assert found(shards.judge({**TARRED, "indexes_root": None}, indexes_root="idx")) == []


def test_nemo_tars_need_the_folder_and_webdataset_needs_the_file(place: Place) -> None:
    place.write("wds/0.tar", tar({"0.json": 5, "0.wav": 700}))
    entry = {"type": "share_gpt_webdataset", "data_dir": "wds", "audio_placeholders": "<sound>"}
    assert found(place.judge(entry)) == [("NR801", "error")]
    sidecar(place.folder / "wds/0.tar", every=2)
    assert found(place.judge(entry)) == []


def test_a_get_batch_run_opens_no_tar(shards: Place) -> None:
    for path in (shards.folder / "data").glob("*.tar.idx"):
        path.unlink()
    (shards.folder / ".nemo-resumable.toml").write_text('[runtime.env]\nUSE_AIS_GET_BATCH = "True"\n')
    assert found(shards.judge(TARRED)) == []


def test_the_route_of_a_collection(place: Place) -> None:
    place.write("data/m.jsonl", ROW)
    place.write("data/a.tar", tar({"0.wav": 1}))
    for name in ("m.jsonl", "a.tar"):
        sidecar(place.folder / "data" / name, place.folder / "idx/data" / f"{name}.idx")
    entry = {
        "type": "share_gpt",
        "manifest_filepath": "data/m.jsonl",
        "tarred_audio_filepaths": "data/a.tar",
        "audio_placeholders": "<sound>",
        "tar_lookup_mode": "collection",
        "tar_routing_filepath": "en.sgroute",
    }
    finding = only(place.judge(entry, indexes_root="idx"))
    assert (finding.code, finding.severity.value, text_at(finding)) == ("NR801", "error", "en.sgroute")
    place.write("idx/en.sgroute", b"SGROUTE2")
    assert found(place.judge(entry, indexes_root="idx")) == []
    (place.folder / "idx/data/a.tar.idx").unlink()
    assert found(place.judge(entry, indexes_root="idx")) == [("NR801", "error")]


def test_text_conversations_are_of_files_or_of_folders_of_tars(place: Place) -> None:
    place.write("text/a.jsonl", ROW)
    place.write("text/deep/er/b.tar", tar({"0.json": 1}))
    entry = {"type": "nemotron_text_converation", "paths": ["text/a.jsonl", "text/deep"]}
    assert only(place.judge(entry)).message.startswith("2 of 2 sidecars are missing")
    for name in ("a.jsonl", "deep/er/b.tar"):
        sidecar(place.folder / "text" / name)
    assert found(place.judge(entry)) == []


# -- corrupt and stale


def test_what_a_tar_does_not_allow(place: Place) -> None:
    data = tar({"0.wav": 700})
    place.write("data/manifest_0.jsonl", ROW)
    place.write("data/audio_0.tar", data)
    sidecar(place.folder / "data/manifest_0.jsonl")
    place.write("data/audio_0.tar.idx", index([0, len(data), len(data)]))
    finding = only(place.judge({**TARRED, **{k: v.replace("__OP_0..3_CL_", "_0") for k, v in TARRED.items()}}))
    assert finding.code == "NR802"
    assert f"start at byte {len(data):,}, where the tar ends" in finding.message


def test_only_a_shar_tar_may_leave_out_its_padding(place: Place) -> None:
    data = tar({"0.wav": 700, "0.json": 10})
    place.write("shar/cuts.000000.jsonl", ROW)
    recording = place.write("shar/recording.000000.tar", data)
    for path in ("shar/cuts.000000.jsonl", "shar/recording.000000.tar"):
        sidecar(place.folder / path, every=2)
    words = (place.folder / "shar/recording.000000.tar.idx").read_bytes()
    entry = {"type": "lhotse_shar", "shar_path": "shar"}
    for rest, expected in ((b"\0" * 10240, []), (b"\0" * 10239 + b"x", [("NR803", "error")])):
        recording.write_bytes(data + rest)
        place.write("shar/recording.000000.tar.idx", words)
        assert found(place.judge(entry)) == expected


def test_a_source_may_be_empty_and_a_sidecar_without_records_may_not_be_of_rows(place: Place) -> None:
    entry = {"type": "nemo", "manifest_filepath": "data/en.jsonl"}
    place.write("data/en.jsonl", "")
    place.write("data/en.jsonl.idx", index([0]))
    assert found(place.judge(entry)) == []
    place.write("data/en.jsonl", ROW)
    place.write("data/en.jsonl.idx", index([len(ROW)]))
    assert found(place.judge(entry)) == [("NR802", "error")]


def test_long_sidecars_are_read_in_parts(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sidecar_files, "_CHUNK", 64)
    source = place.write("data/en.jsonl", "{   \n" * 100)
    words = [5 * number for number in range(101)]
    entry = {"type": "nemo", "manifest_filepath": "data/en.jsonl"}
    for position in range(2, 101):
        low = words[position] - 6
        place.write("data/en.jsonl.idx", index([*words[:position], low, *words[position + 1 :]]))
        finding = only(place.judge(entry))
        assert finding.code == "NR802"
        assert f"entry {position} is {low:,} after {words[position - 1]:,}" in finding.message
    sidecar(source)
    assert found(place.judge(entry)) == []


def test_of_an_endless_sidecar_a_part_and_the_end_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sidecar_files, "_READ_LIMIT", 1 << 12)
    path = tmp_path / "a.idx"
    with path.open("wb") as file:
        file.truncate(1 << 40)
        file.seek(-16, os.SEEK_END)
        file.write(index([5, 9]))
    known = sidecar_files.read_sidecar(
        str(path), sidecar_files.look(str(path)), jsonl=True, strict=False, source_size=None
    )
    assert (known.problem, known.records, known.last, known.end) == ("", 2**37 - 1, 5, 9)
    small = sidecar_files.read_sidecar(
        str(path), sidecar_files.look(str(path)), jsonl=True, strict=False, source_size=100
    )
    assert "records in a source of 100 bytes" in small.problem


@pytest.mark.parametrize("what", ["folder", "pipe", "link to itself", "unreadable"])
def test_what_stands_in_place_of_a_file(place: Place, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing waits, nothing fails: a sidecar that is none is corrupt, one that may not be read is not judged."""
    beside = Path(f"{place.write('data/en.jsonl', ROW)}.idx")
    if what == "folder":
        beside.mkdir()
    elif what == "pipe":
        os.mkfifo(beside)
    elif what == "link to itself":
        beside.symlink_to(beside)
    else:
        beside.write_bytes(index([0, len(ROW)]))

        def refuse(path: str, *_: object) -> int:
            raise PermissionError(path)

        monkeypatch.setattr(os, "open", refuse)
    analysis = place.judge({"type": "nemo", "manifest_filepath": "data/en.jsonl"})
    expected = [("NR802", "error")] if what in ("folder", "pipe") else []
    assert found(analysis) == expected
    hidden = "the index files of 1 source which may not be read here"
    assert (hidden in analysis.configs[0].unverified) is (not expected)


@pytest.mark.parametrize("what", ["folder", "pipe"])
def test_a_source_that_is_no_file_has_nothing_to_be_compared(place: Place, what: str) -> None:
    source = place.folder / "data" / "en.jsonl"
    source.parent.mkdir()
    source.mkdir() if what == "folder" else os.mkfifo(source)
    entry = {"type": "nemo", "manifest_filepath": "data/en.jsonl"}
    assert found(place.judge(entry)) == []
    place.write("data/en.jsonl.idx", index([0, 5]))
    assert found(place.judge(entry)) == []


def test_paths_that_no_file_can_have(place: Place) -> None:
    for name in ("a" * 5000, "data/\0.jsonl", "{0..999999999}.jsonl", "../" * 3000 + "m.jsonl"):
        analysis = place.judge({"type": "nemo", "manifest_filepath": name})
        assert found(analysis) == []
        assert any("index files of 1 source" in part for part in analysis.configs[0].unverified)


# -- WebDataset, version 2


@pytest.fixture
def webdataset(place: Place) -> tuple[Place, dict[str, Any], dict[str, Any]]:
    """A folder with one tar in its catalog and one that is not, an entry for it, and the metadata of the index."""
    shard = place.write("wds/0.tar", tar({"0.json": 5, "0.wav": 700, "1.json": 5}))
    place.write("wds/other.tar", b"not in the catalog")
    place.write("wds/wids-meta.json", json.dumps({"shardlist": [{"url": "0.tar", "nsamples": 2}]}))
    words = index([0, 2048, shard.stat().st_size])
    place.write("wds/0.tar.wds-v2.idx", words)
    made_of = {"path": "wds/0.tar", "size_bytes": shard.stat().st_size, "mtime_ns": shard.stat().st_mtime_ns}
    metadata = {
        "format": "nemo-wds-sample-index",
        "version": 2,
        "source": {**made_of, "object_identity": None},
        "sample_count": 2,
        "offsets_sha256": hashlib.sha256(words).hexdigest(),
    }
    place.write("wds/0.tar.wds-v2.idx.meta.json", json.dumps(metadata))
    entry = {
        "type": "share_gpt_webdataset",
        "data_dir": "wds",
        "audio_placeholders": "<sound>",
        "wds_sample_index_version": 2,
    }
    return place, entry, metadata


def test_a_pair_of_index_and_metadata(webdataset: tuple[Place, dict[str, Any], dict[str, Any]]) -> None:
    place, entry, metadata = webdataset
    name = "wds/0.tar.wds-v2.idx.meta.json"
    assert found(place.judge(entry)) == []
    wrong = [
        ({**metadata, "sample_count": 3}, "NR802"),
        ({**metadata, "offsets_sha256": "0" * 64}, "NR802"),
        ({"source": 1}, "NR802"),
        ({**metadata, "source": {**metadata["source"], "mtime_ns": 1}}, "NR803"),
        ({**metadata, "source": {**metadata["source"], "path": "/elsewhere/0.tar"}}, "NR803"),
    ]
    for content, code in wrong:
        place.write(name, json.dumps(content))
        assert found(place.judge(entry)) == [(code, "error")]
    for content in (b"", b"{", b"[" * 60000, b"\xff", b"x" * (1 << 20)):
        place.write(name, content)
        assert found(place.judge(entry)) == [("NR802", "error")]
    (place.folder / name).unlink()
    finding = only(place.judge(entry))
    assert (finding.code, finding.severity.value) == ("NR801", "error")
    assert f"`{name}`" in finding.message


def test_a_catalog_that_cannot_be_read_is_said(webdataset: tuple[Place, dict[str, Any], dict[str, Any]]) -> None:
    place, entry, _ = webdataset
    for content in ("{", "[]", '{"shardlist": 5}', '{"shardlist": [{"url": 3}]}', "[" * 100000):
        place.write("wds/wids-meta.json", content)
        analysis = place.judge(entry)
        assert found(analysis) == []
        assert "the index files of 1 source whose shard catalog is not read" in analysis.configs[0].unverified


# -- rows and members


def test_rows_are_held_against_the_members_of_the_tar_with_the_number(shards: Place) -> None:
    """Lists that name the shards in another order are paired as NeMo pairs them."""
    sidecar(shards.write("data/manifest_2.jsonl", ROW * 4))
    tars = ["data/audio_{2,0,3,1}.tar"]
    finding = only(shards.judge({**TARRED, "tarred_audio_filepaths": tars}))
    assert (finding.code, finding.severity.value) == ("NR804", "error")
    assert finding.message.startswith("`data/manifest_2.jsonl` has 4 rows, and `audio_2.tar` 3 members: ")
    sidecar(shards.write("data/manifest_2.jsonl", ROW * 2))
    sidecar(shards.write("data/manifest_3.jsonl", ROW))
    finding = only(shards.judge(TARRED))
    assert (finding.code, finding.severity.value) == ("NR804", "warning")
    assert finding.message.startswith(
        "2 of 4 manifests do not fit their tars, first `data/manifest_2.jsonl`, which has 2"
    )


def test_rows_of_one_manifest_for_many_tars_are_not_compared(shards: Place) -> None:
    place = {**TARRED, "manifest_filepath": "data/manifest_0.jsonl"}
    sidecar(shards.write("data/manifest_0.jsonl", ROW * 12))
    assert found(shards.judge(place)) == []


def test_cuts_are_held_against_the_samples_of_each_field(place: Place) -> None:
    for number in range(2):
        place.write(f"shar/cuts.00000{number}.jsonl", ROW * (2 + number))
        place.write(f"shar/recording.00000{number}.tar", tar({"0.wav": 1, "0.json": 1, "1.wav": 1, "1.json": 1}))
    for path in sorted((place.folder / "shar").iterdir()):
        sidecar(path, every=2)
    fields = {"cuts": "shar/cuts.00000{0..1}.jsonl", "recording": "shar/recording.00000{0..1}.tar"}
    for shar_path in ("shar", fields):
        finding = only(place.judge({"type": "lhotse_shar", "shar_path": shar_path}))
        assert (finding.code, finding.severity.value) == ("NR804", "error")
        assert "`shar/cuts.000001.jsonl` has 3 rows, and `recording.000001.tar` 2 members" in finding.message


# -- what is not on this machine


def test_what_is_elsewhere_is_unverified_and_no_finding(place: Place) -> None:
    place.write("data/en.jsonl", ROW)
    sidecar(place.folder / "data/en.jsonl")
    analysis = place.judge(
        {"type": "nemo", "manifest_filepath": "data/en.jsonl"},
        {"type": "nemo", "manifest_filepath": "/nowhere/{a,b}.jsonl"},
        {"type": "nemo", "manifest_filepath": "s3://bucket/m.jsonl"},
        {"type": "nemo", "manifest_filepath": "${oc.env:DATA_OF_NOBODY}/m.jsonl"},
        {"type": "lhotse_shar", "shar_path": "/nowhere"},
    )
    assert found(analysis) == []
    parts = analysis.configs[0].unverified
    assert "the index files of 2 sources whose data or `indexes_root` is not on this machine" in parts
    assert "the index files of 1 source on remote storage" in parts
    assert "the index files of 1 source whose paths or `indexes_root` are not known" in parts
    assert summary(analysis.models).startswith("1 sidecar of 5 sources read: all as they should be; not looked at: ")


def test_a_root_that_is_not_here(shards: Place) -> None:
    analysis = shards.judge(TARRED, TARRED, indexes_root="/nowhere/idx")
    finding = only(analysis)
    assert (finding.code, finding.severity.value, text_at(finding)) == ("NR806", "warning", "/nowhere/idx")
    assert any("2 sources whose data or `indexes_root`" in part for part in analysis.configs[0].unverified)
    assert found(shards.judge(TARRED, indexes_root="s3://bucket/idx")) == []


def test_a_mirror_of_remote_data_is_read_for_itself(place: Place) -> None:
    place.write("idx/bucket/m.jsonl.idx", index([0, 5, 3]))
    entry = {"type": "nemo", "manifest_filepath": "s3://bucket/m.jsonl"}
    assert found(place.judge(entry, indexes_root="idx")) == [("NR802", "error")]
    place.write("idx/bucket/m.jsonl.idx", index([0, 5, 9]))
    assert found(place.judge(entry, indexes_root="idx")) == []


# -- what follows from it


def test_a_fix_is_made_whatever_lies_below_the_new_root(shards: Place) -> None:
    """`indexes_root` is set although the mirror is not built yet: that is said, and no reason to leave the text alone."""
    (shards.folder / "idx").mkdir()
    (shards.folder / ".nemo-resumable.toml").write_text('indexes-root = "idx"\n')
    shards.judge(TARRED)
    migration = prepare(shards.project(), shards.folder / "conf.yaml")
    assert "NR107" in {finding.code for finding in migration.fixes.applied}
    assert found(migration.after) == [("NR801", "error"), ("NR801", "warning")]
    report = migration.files["migration-report.md"].decode()
    assert "Index files on the machine of this report: 0 sidecars of 1 source read: 8 missing." in report


def test_progress_is_told(place: Place) -> None:
    for number in range(200):
        place.write(f"data/m_{number}.jsonl", ROW)
    place.judge({"type": "nemo", "manifest_filepath": "data/m_{0..199}.jsonl"}, look=False)
    told: list[tuple[int, str]] = []
    reader = IndexReader(lambda count, subject: told.append((count, subject)))
    analyze(place.project(reader=reader), [place.folder / "conf.yaml"])
    assert [count for count, _ in told] == [64, 128, 192]
    assert {subject for _, subject in told} == {"data.train_ds.input_cfg.0"}


def test_evaluation_counts_where_it_is_indexed(place: Place) -> None:
    place.write("data/en.jsonl", ROW)
    entry = [{"type": "nemo", "manifest_filepath": "data/en.jsonl"}]
    for indexed, expected in ((None, []), (True, [("NR801", "warning")])):
        evaluation = {"batch_size": 1, "input_cfg": entry, "indexed": indexed}
        config = {"data": {"train_ds": {**SECTION, "manifest_filepath": "/nowhere.jsonl"}, "validation_ds": evaluation}}
        (place.folder / "conf.yaml").write_text(yaml.safe_dump(config))
        assert found(analyze(place.project(), [place.folder / "conf.yaml"])) == expected


def test_a_verdict_names_where_the_sidecar_should_be(tmp_path: Path) -> None:
    (tmp_path / "m.jsonl").write_text(ROW)
    verdict = index_judging.judge(str(tmp_path), "idx", "jsonl", True, f"{tmp_path}/m.jsonl")
    assert verdict == index_judging.Verdict("missing", f"idx{tmp_path}/m.jsonl.idx")
