"""The one table of source types: which keys each reads and needs, and what can be indexed."""

from __future__ import annotations

from dataclasses import dataclass

MAP, ITERABLE = "map", "iterable"


@dataclass(frozen=True, slots=True)
class SourceType:
    """A registered `type` of an `input_cfg` entry (NeMo's `data_type_parser`)."""

    name: str
    reads: frozenset[str]  #: keys of its own, besides the ones every entry has
    needs: tuple[tuple[str, ...], ...] = ()  #: of each group at least one key must be there
    indexable: bool = True  #: false: the reader ignores `indexed` and streams
    wrapper: bool = False  #: reads an inner source named by its own data keys
    group: bool = False
    style: str = ITERABLE  #: dataset style when neither force flag is set (`nemo`, `lhotse`: see `Entry.style`)
    speech_main: bool = False  #: not registered in nemo_toolkit 3.0.0
    slice_raises: bool = False  #: indexed with slice_length raises ValueError
    note: str = ""


#: Keys that every entry may carry (besides the propagated options of the schema).
COMMON_KEYS = frozenset({"type", "weight", "tags", "input_cfg", "corpus", "name"})

_NEMO = frozenset(
    [
        "manifest_filepath",
        "tarred_audio_filepaths",
        "extra_fields",
        "text_field",
        "lang_field",
        "skip_missing_manifest_entries",
        "tarred_random_access",
        "fault_tolerant_audio_loading",
        "input_sampling_rate",
        "sample_rate",
    ]
)
_LHOTSE = frozenset(["shar_path", "cuts_path", "text_field", "lang_field", "cut_map_fns"])
_CONVERSATION = frozenset(
    [
        "manifest_filepath",
        "tarred_audio_filepaths",
        "audio_locator_tag",
        "token_equivalent_duration",
        "audio_placeholders",
        "audio_root",
    ]
)
_INNER = _NEMO | _LHOTSE | {"audio_locator_tag", "token_equivalent_duration"}
_INNER_SOURCE = (("input_cfg", "cuts_path", "shar_path", "manifest_filepath"),)

_TYPES = [
    SourceType("group", frozenset(), (("input_cfg",),), group=True),
    SourceType("txt", frozenset({"paths", "language"}), (("paths",), ("language",)), indexable=False),
    SourceType(
        "txt_pair",
        frozenset(
            [
                "source_paths",
                "target_paths",
                "source_language",
                "target_language",
                "questions_path",
                "questions_language",
            ]
        ),
        (("source_paths",), ("target_paths",)),
        indexable=False,
    ),
    SourceType("txt_jsonl", frozenset({"paths", "language", "text_field"}), (("paths",), ("language",))),
    SourceType("nemo_sft_jsonl", frozenset({"paths", "language"}), (("paths",),)),
    SourceType("nemotron_text_converation", frozenset({"paths"}), (("paths",),), speech_main=True),
    SourceType(
        "materialized_sft_messages",
        frozenset({"paths", "validate_chunk_tokenization"}),
        (("paths",),),
        speech_main=True,
    ),
    SourceType(
        "multimodal_conversation",
        _CONVERSATION,
        (("manifest_filepath",), ("audio_locator_tag",)),
        slice_raises=True,
    ),
    SourceType(
        "share_gpt",
        _CONVERSATION
        | frozenset(
            [
                "audio_path_prefix_map",
                "tar_lookup_mode",
                "tar_routing_filepath",
                "tar_routing_index",
                "excluded_manifest_lines",
                "excluded_manifest_lines_sha256",
                "approved_exclusion_audit_sha256",
            ]
        ),
        (("manifest_filepath",), ("audio_placeholders",)),
        slice_raises=True,
    ),
    SourceType(
        "share_gpt_webdataset",
        frozenset(
            [
                "data_dir",
                "audio_placeholders",
                "wds_sample_index_version",
                "audio_locator_tag",
                "token_equivalent_duration",
            ]
        ),
        (("data_dir",), ("audio_placeholders",)),
    ),
    SourceType("lhotse", _LHOTSE, (("cuts_path", "shar_path"),)),
    SourceType("lhotse_shar", _LHOTSE, (("shar_path", "cuts_path"),)),
    SourceType(
        "parquet",
        frozenset(["manifest_filepath", "audio_field", "text_field", "duration_field", "lang_field", "sampling_rate"]),
        (("manifest_filepath",),),
    ),
    SourceType("nemo", _NEMO, (("manifest_filepath",),)),
    SourceType("nemo_tarred", _NEMO, (("manifest_filepath",),)),
    SourceType(
        "multi_speaker_simulator",
        frozenset(["manifest_filepath", "simulator_type", "sample_rate", "is_tarred"]),
        (("manifest_filepath",),),
        indexable=False,
        style=MAP,
    ),
    SourceType(
        "lhotse_as_conversation",
        _INNER | {"preference_sampling", "system_prompt", "context"},
        _INNER_SOURCE,
        wrapper=True,
    ),
    SourceType("sqa_as_conversation", _INNER, _INNER_SOURCE, wrapper=True),
    SourceType(
        "s2s_as_conversation",
        _INNER | {"input_roles", "output_roles", "strip_timestamp_tokens"},
        _INNER_SOURCE,
        wrapper=True,
    ),
    SourceType(
        "s2s_duplex_overlap_as_s2s_duplex",
        _INNER | {"move_agent_text_back_by", "filter_samples_starting_with_agent", "agent_roles"},
        _INNER_SOURCE,
        wrapper=True,
    ),
    SourceType("s2s_duplex_reverse_role", _INNER, _INNER_SOURCE, wrapper=True),
    SourceType(
        "lhotse_magpietts_data_as_continuation",
        _INNER | {"add_extra_end_silence", "extra_end_silence_range", "add_extra_silence_mean", "sample_rate"},
        _INNER_SOURCE,
        wrapper=True,
    ),
    SourceType(
        "nemo_tarred_to_duplex",
        _INNER | {"agent_silence_duration"},
        (("manifest_filepath",),),
        wrapper=True,
    ),
]

SOURCE_TYPES: dict[str, SourceType] = {source.name: source for source in _TYPES}

#: Misspelt keys that change the data without a word: what is written → what the reader looks for.
DATA_CHANGING_TYPOS = {"tarred_audio_filepath": "tarred_audio_filepaths", "manifest_filepaths": "manifest_filepath"}
