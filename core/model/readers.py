"""The readers behind the source types: which files each opens, the index files they need, and how packs hold them.

One type may have several readers (`nemo` with and without tars), and several types may share one (wrappers read
whatever their keys name). Facts are read in NeMo Speech's adapters and in its `build_indexes.py` and
`convert_indexes_to_idxpack.py`; those of the loader were tried with lhotse 2.0.0a7.
"""

from __future__ import annotations

from ..records import dataclass

MAP, ITERABLE = "map", "iterable"

#: Kinds of index files. `wds` is the format 1 sidecar of a WebDataset tar, `shar` stands for one `.idx` for every cuts
#: manifest and every field tar of a Shar folder.
JSONL, NEMO_TAR, SHAR, WDS, WDS_V2, SGROUTE = "jsonl", "nemo_tar", "shar", "wds", "wds_v2", "sgroute"

#: What each kind adds to the name of the file it belongs to (`sgroute` is a path of its own).
SUFFIXES = {
    JSONL: (".idx",),
    NEMO_TAR: (".idx",),
    SHAR: (".idx",),
    WDS: (".idx",),
    WDS_V2: (".wds-v2.idx", ".wds-v2.idx.meta.json"),
    SGROUTE: (),
}


@dataclass(frozen=True, slots=True)
class Sidecar:
    """Index files that an indexed reader opens for the files of one key."""

    kind: str
    key: str  #: the key whose files they belong to
    built: bool = True  #: whether the loader builds a missing one at start-up, which takes long on big data
    when: str = ""  #: the condition under which they are needed, as a phrase


@dataclass(frozen=True, slots=True)
class Pack:
    """How one `.idxpack` can stand for a reader's sidecars (NeMo's converter, format 2 and 3)."""

    forms: str  #: for a hover: which specifications the converter takes
    lists: bool = False  #: a flat list of paths is taken beside a single path (which may hold ranges)
    nested: bool = False  #: any form is taken
    tars: bool = True  #: paired tars are taken where the reader knows them
    version: int = 2  #: the format: 2 is read since lhotse 2.0.0a3, 3 (routes from rows to tars) since 2.0.0a6


@dataclass(frozen=True, slots=True)
class Reader:
    """One way to open data."""

    name: str
    data_keys: tuple[str, ...]
    sidecars: tuple[Sidecar, ...] = ()
    style: str = ITERABLE  #: dataset style when neither force flag is set
    repeats: bool = True  #: endless unless `force_finite` says otherwise
    slice_raises: bool = False  #: indexed with `slice_length`: ValueError at start-up; other readers ignore it
    pack: Pack | None = None
    unpackable: str = ""  #: where `pack` is None, what a declared pack comes to: ignored · refused


_MANIFEST = Sidecar(JSONL, "manifest_filepath")
_TAR = Sidecar(NEMO_TAR, "tarred_audio_filepaths", when="unless `USE_AIS_GET_BATCH` is true")
_PATHS = Sidecar(JSONL, "paths")
_NEMO = Pack("one path or a flat list of paths", lists=True)
_NEMO_TARRED = Pack("one path or a flat list of paths, the same form for manifests and tars", lists=True, version=3)

_READERS = (
    Reader("nemo", ("manifest_filepath",), (_MANIFEST,), style=MAP, repeats=False, pack=_NEMO),
    Reader(
        "nemo_tarred",
        ("manifest_filepath", "tarred_audio_filepaths"),
        (_MANIFEST, _TAR),
        slice_raises=True,
        pack=_NEMO_TARRED,
    ),
    Reader("cuts", ("cuts_path",), (Sidecar(JSONL, "cuts_path"),), style=MAP, repeats=False, unpackable="refused"),
    Reader("shar", ("shar_path",), (Sidecar(SHAR, "shar_path"),), slice_raises=True, unpackable="refused"),
    Reader("txt", ("paths",), unpackable="ignored"),
    Reader("txt_pair", ("source_paths", "target_paths"), unpackable="ignored"),
    Reader("txt_jsonl", ("paths",), (_PATHS,), unpackable="refused"),
    Reader("nemo_sft_jsonl", ("paths",), (_PATHS,), unpackable="refused"),
    Reader(
        "nemotron_text_converation",
        ("paths",),
        (_PATHS, Sidecar(NEMO_TAR, "paths", when="for tars and folders of tars")),
        pack=Pack("JSONL files alone or tars alone, in any form", lists=True, nested=True),
    ),
    Reader(
        "materialized_sft_messages",
        ("paths",),
        (_PATHS,),
        pack=Pack("JSONL files in any form", lists=True, nested=True, tars=False),
    ),
    Reader(
        "multimodal_conversation",
        ("manifest_filepath", "tarred_audio_filepaths"),
        (_MANIFEST, Sidecar(NEMO_TAR, "tarred_audio_filepaths", when="with tars")),
        slice_raises=True,
        pack=Pack("one path, without tars", tars=False),
    ),
    Reader(
        "share_gpt",
        ("manifest_filepath", "tarred_audio_filepaths"),
        (
            _MANIFEST,
            Sidecar(NEMO_TAR, "tarred_audio_filepaths", when="with tars in pairs"),
            Sidecar(NEMO_TAR, "tarred_audio_filepaths", built=False, when="with `tar_lookup_mode: collection`"),
            Sidecar(SGROUTE, "tar_routing_filepath", built=False, when="with `tar_lookup_mode: collection`"),
        ),
        slice_raises=True,
        pack=Pack("one path without tars; with `tar_lookup_mode: collection` also flat lists", tars=False),
    ),
    Reader(
        "share_gpt_webdataset",
        ("data_dir",),
        (
            Sidecar(WDS, "data_dir", built=False, when="with `wds_sample_index_version: 1`, the default"),
            Sidecar(WDS_V2, "data_dir", built=False, when="with `wds_sample_index_version: 2`"),
        ),
        pack=Pack("folders with `wds_sample_index_version: 2` and a shard catalog", lists=True, nested=True),
    ),
    Reader("parquet", ("manifest_filepath",), unpackable="ignored"),
    Reader(
        "multi_speaker_simulator",
        ("manifest_filepath",),
        style=MAP,
        repeats=False,
        unpackable="ignored",
    ),
)

READERS: dict[str, Reader] = {reader.name: reader for reader in _READERS}
