"""The one table of source types: what each reads, the keys it reads and needs, and the readers behind it.

Rules, hover and completion all read this table. The keys themselves are described in `source_keys`, what a reader opens
and which index files that takes in `readers`.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..records import dataclass
from .readers import ITERABLE, MAP, READERS, Reader
from .source_keys import COMMON_KEYS, DATA_CHANGING_TYPOS, KEY_DOCS

NEMO_3, SPEECH_MAIN = "nemo_toolkit 3.0.0", "NeMo Speech main"


@dataclass(frozen=True, slots=True)
class SourceType:
    """A registered `type` of an `input_cfg` entry (NeMo's `data_type_parser`)."""

    name: str
    summary: str  #: one line: what it reads
    reads: frozenset[str]  #: keys of its own, besides the ones every entry has
    needs: tuple[tuple[str, ...], ...] = ()  #: of each group at least one key must be there
    readers: tuple[str, ...] = ()  #: names in `READERS`, of which the keys choose one; none for a group
    indexable: bool = True  #: false: the reader ignores `indexed` and streams
    wrapper: bool = False  #: reads an inner source named by its own data keys
    group: bool = False
    since: str = NEMO_3  #: the first release or branch that registers it

    @property
    def speech_main(self) -> bool:
        """Whether it is not registered in nemo_toolkit 3.0.0."""
        return self.since == SPEECH_MAIN

    @property
    def opened_by(self) -> tuple[Reader, ...]:
        """The readers, from the table."""
        return tuple(READERS[name] for name in self.readers)

    @property
    def style(self) -> str:
        """The dataset style without force flags: map, iterable, or both where the keys decide."""
        return " or ".join(dict.fromkeys(reader.style for reader in self.opened_by))

    @property
    def packable(self) -> bool:
        """Whether an index pack can hold its sidecars in some form."""
        return any(reader.pack is not None for reader in self.opened_by)


def _keys(text: str, *more: Iterable[str]) -> frozenset[str]:
    return frozenset(text.split()).union(*more)


_NEMO = _keys(
    "manifest_filepath tarred_audio_filepaths extra_fields text_field lang_field skip_missing_manifest_entries "
    "tarred_random_access fault_tolerant_audio_loading input_sampling_rate sample_rate"
)
_LHOTSE = _keys("shar_path cuts_path text_field lang_field cut_map_fns")
_CONVERSATION = _keys("manifest_filepath tarred_audio_filepaths audio_locator_tag token_equivalent_duration")
_INNER = _keys("audio_locator_tag token_equivalent_duration", _NEMO, _LHOTSE)

_ONE_OF_ALL = (("input_cfg", "cuts_path", "shar_path", "manifest_filepath"),)
_BY_KEYS = ("nemo", "nemo_tarred", "cuts", "shar")


def _wrapper(name: str, summary: str, own: str = "") -> SourceType:
    """A type that converts what another reader reads."""
    return SourceType(name, summary, _keys(own, _INNER), _ONE_OF_ALL, _BY_KEYS, wrapper=True)


_TYPES = (
    SourceType(
        "group",
        "Gathers other entries, from a list or from a YAML file that holds one; each may have its own weight",
        frozenset(),
        (("input_cfg",),),
        group=True,
    ),
    SourceType(
        "txt",
        "Plain text files, one example a line; only streams",
        _keys("paths language"),
        (("paths",), ("language",)),
        ("txt",),
        indexable=False,
    ),
    SourceType(
        "txt_pair",
        "Pairs of plain text files, source and target line by line; only streams",
        _keys("source_paths target_paths source_language target_language questions_path questions_language"),
        (("source_paths",), ("target_paths",)),
        ("txt_pair",),
        indexable=False,
    ),
    SourceType(
        "txt_jsonl",
        "JSONL files with a text in each row",
        _keys("paths language text_field"),
        (("paths",), ("language",)),
        ("txt_jsonl",),
    ),
    SourceType(
        "nemo_sft_jsonl",
        "NeMo's JSONL files for supervised fine-tuning, a conversation in each row",
        _keys("paths language"),
        (("paths",),),
        ("nemo_sft_jsonl",),
    ),
    SourceType(
        "nemotron_text_converation",
        "Nemotron text conversations: JSONL files, tars, or folders of tars (the name is misspelt in NeMo itself)",
        _keys("paths"),
        (("paths",),),
        ("nemotron_text_converation",),
        since=SPEECH_MAIN,
    ),
    SourceType(
        "materialized_sft_messages",
        "JSONL files of conversations that are formatted and packed already",
        _keys("paths validate_chunk_tokenization"),
        (("paths",),),
        ("materialized_sft_messages",),
        since=SPEECH_MAIN,
    ),
    SourceType(
        "multimodal_conversation",
        "JSONL files of conversations with audio turns, the audio in files or in tars paired with the manifests",
        _CONVERSATION,
        (("manifest_filepath",), ("audio_locator_tag",)),
        ("multimodal_conversation",),
    ),
    SourceType(
        "share_gpt",
        "ShareGPT conversations in JSONL, the audio in files, in paired tars, or in a collection of tars",
        _keys(
            "audio_placeholders audio_root audio_path_prefix_map tar_lookup_mode tar_routing_filepath tar_routing_index "
            "excluded_manifest_lines excluded_manifest_lines_sha256 approved_exclusion_audit_sha256",
            _CONVERSATION,
        ),
        (("manifest_filepath",), ("audio_placeholders",)),
        ("share_gpt",),
    ),
    SourceType(
        "share_gpt_webdataset",
        "ShareGPT conversations in WebDataset tars, found through the catalog of their folder",
        _keys("data_dir audio_placeholders wds_sample_index_version audio_locator_tag token_equivalent_duration"),
        (("data_dir",), ("audio_placeholders",)),
        ("share_gpt_webdataset",),
    ),
    SourceType(
        "lhotse",
        "Lhotse cuts: a JSONL manifest, or Shar folders",
        _LHOTSE,
        (("cuts_path", "shar_path"),),
        ("cuts", "shar"),
    ),
    SourceType(
        "lhotse_shar",
        "Lhotse cuts, by the same reader as `lhotse`; the name says Shar, the keys decide",
        _LHOTSE,
        (("shar_path", "cuts_path"),),
        ("shar", "cuts"),
    ),
    SourceType(
        "parquet",
        "Parquet files with the audio in a column; indexed by row group, without sidecars",
        _keys("manifest_filepath audio_field text_field duration_field lang_field sampling_rate"),
        (("manifest_filepath",),),
        ("parquet",),
    ),
    SourceType(
        "nemo",
        "NeMo manifests; with `tarred_audio_filepaths` the same as `nemo_tarred`",
        _NEMO,
        (("manifest_filepath",),),
        ("nemo", "nemo_tarred"),
    ),
    SourceType(
        "nemo_tarred",
        "NeMo manifests with their audio in tars; without `tarred_audio_filepaths` the same as `nemo`",
        _NEMO,
        (("manifest_filepath",),),
        ("nemo_tarred", "nemo"),
    ),
    SourceType(
        "multi_speaker_simulator",
        "Mixtures of several speakers, made while training from a cuts manifest; only streams",
        _keys(
            "manifest_filepath simulator_type sample_rate is_tarred min_delay min_duration max_duration num_speakers "
            "global_rank world_size"
        ),
        (("manifest_filepath",), ("simulator_type",)),
        ("multi_speaker_simulator",),
        indexable=False,
    ),
    _wrapper(
        "lhotse_as_conversation",
        "Speech with a transcript as a conversation of two turns, from any manifest, Shar folder or nested `input_cfg`",
        "preference_sampling system_prompt context",
    ),
    _wrapper("sqa_as_conversation", "Spoken questions and their answers as conversations, from any manifest"),
    _wrapper(
        "s2s_as_conversation",
        "Speech to speech dialogues as conversations, a turn for each supervision",
        "input_roles output_roles strip_timestamp_tokens",
    ),
    _wrapper(
        "s2s_duplex_overlap_as_s2s_duplex",
        "Dialogues whose speakers overlap, brought into the duplex form",
        "move_agent_text_back_by filter_samples_starting_with_agent agent_roles",
    ),
    _wrapper(
        "s2s_duplex_reverse_role",
        "Duplex dialogues with the roles of user and agent exchanged",
        "agent_roles user_roles target_agent_name target_user_name",
    ),
    _wrapper(
        "lhotse_magpietts_data_as_continuation",
        "MagpieTTS cuts as duplex dialogues that continue a context",
        "add_extra_end_silence extra_end_silence_range add_extra_silence_mean sample_rate max_cer "
        "min_context_speaker_similarity target_speaker",
    ),
    SourceType(
        "nemo_tarred_to_duplex",
        "NeMo manifests, with or without tars, as duplex dialogues with a silent agent",
        _keys("agent_silence_duration", _INNER),
        (("manifest_filepath",),),
        ("nemo_tarred", "nemo"),
        wrapper=True,
    ),
)

SOURCE_TYPES: dict[str, SourceType] = {source.name: source for source in _TYPES}

__all__ = [
    "COMMON_KEYS",
    "DATA_CHANGING_TYPOS",
    "ITERABLE",
    "KEY_DOCS",
    "MAP",
    "NEMO_3",
    "READERS",
    "SOURCE_TYPES",
    "SPEECH_MAIN",
    "Reader",
    "SourceType",
]
