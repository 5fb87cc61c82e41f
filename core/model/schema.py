"""The one table of dataset options: type, default, where each is inherited, and since which profile NeMo knows it."""

from __future__ import annotations

import json
from typing import Any

from ..records import dataclass

INFINITY = float("inf")


@dataclass(frozen=True, slots=True)
class Option:
    """A field of NeMo's `LhotseDataLoadingConfig`, the schema every dataset section is merged into.

    `type` is as in the dataclass: `int`, `float?` (nullable), `int|str`, `list[int]?`, `tuple[str]`, `any`.
    """

    name: str
    type: str
    default: object
    propagated: bool = False  #: handed down to nested `input_cfg` entries (cutset.py, `read_dataset_config`)
    shared: bool = False  #: the top level of a `multi_config` dataset overwrites it in every sub-config
    speech_main: bool = False  #: not in nemo_toolkit 3.0.0, only in Speech main


def _options(rows: str, **flags: Any) -> list[Option]:
    """Read rows of `name type default`."""
    options = []
    for row in rows.strip().splitlines():
        name, type_, default = row.split(maxsplit=2)
        known = json.loads(default) if default[0] == "[" else _LITERALS.get(default, default)
        options.append(Option(name, type_, known, **flags))
    return options


_LITERALS: dict[str, object] = {"None": None, "True": True, "False": False, "inf": INFINITY}
_LITERALS |= {str(number): number for number in (-1, 0, 2, 30, 32, 10000, 16000)}
_LITERALS |= {str(number): number for number in (0.1, 0.5, 1.0, -25.0)}

_PLAIN = """
manifest_filepath any None
tarred_audio_filepaths any None
cuts_path str? None
shar_path any None
input_cfg any None
batch_size int? None
batch_duration float? None
quadratic_duration float? None
use_bucketing bool False
bucket_batch_size list[int]? None
num_buckets int 30
num_cuts_for_bins_estimate int 10000
bucket_duration_bins any None
bucket_buffer_size int 10000
concurrent_bucketing bool True
bucketing_2d_strict_mode bool True
shuffle_buffer_size int? 10000
drop_last bool False
cuda_expandable_segments bool True
pretokenize bool True
prompt_format str? None
use_multimodal_sampling bool False
batch_tokens int? None
quadratic_factor float? None
cut_text_into_windows_tokens int? None
min_duration float? -1
max_duration float? inf
min_tps int -1
max_tps any inf
min_tokens int? None
max_tokens int? None
measure_total_length bool True
min_tpt int -1
max_tpt any inf
max_cer float? inf
min_context_speaker_similarity float? -1
keep str pass
sample_rate int 16000
channel_selector int|str? None
noise_path any None
noise_snr tuple[float,float] [10.0,20.0]
noise_mix_prob float 0.5
perturb_speed bool False
concatenate_samples bool False
concatenate_gap_seconds float 0.1
concatenate_duration_factor float 1.0
concatenate_merge_supervisions bool True
db_norm float? -25.0
truncate_duration float? None
truncate_offset_type str random
cut_into_windows_duration float? None
cut_into_windows_hop float? None
keep_excessive_supervisions bool True
rir_enabled bool False
rir_path str? None
rir_prob float 0.5
pad_min_duration float? None
pad_direction str right
lowpass_enabled bool False
lowpass_frequencies_interval tuple[float,float] [3500.0,8000.0]
lowpass_prob float 0.5
compression_enabled bool False
compression_prob float 0.5
compression_level_interval tuple[float,float] [0.8,0.99]
compression_codecs tuple[str] ["opus"]
compression_codec_weights list[float]? None
compression_enable_for_custom_fields bool False
clipping_enabled bool False
clipping_gain_db tuple[float,float] [0.0,24.0]
clipping_normalize bool True
clipping_oversampling int? 2
clipping_prob_hard float 0.5
clipping_prob float 0.5
"""

_SHARED = """
seed int|str 0
num_workers int 0
pin_memory bool False
sampler_fusion str round_robin
sampler_weights dict[str,float]? None
multi_config bool False
"""

_PROPAGATED = """
text_field str text
lang_field str lang
max_open_streams int? None
audio_locator_tag str? None
token_equivalent_duration float? None
skip_missing_manifest_entries bool False
tarred_random_access bool False
force_map_dataset bool False
force_iterable_dataset bool False
slice_length int? None
reweight_temperature any None
"""

_PROPAGATED_SHARED = """
shuffle bool False
shard_seed int|str trng
metadata_only bool False
force_finite bool False
"""

_MAIN_ONLY = """
packing_buffer_size int? None
use_packed_sequence_sampling bool False
excluded_manifest_lines any None
excluded_manifest_lines_sha256 str? None
approved_exclusion_audit_sha256 str? None
audio_token_estimator any None
excluded_speaker_ids any None
speaker_filter_fields list[str]? None
"""

_MAIN_ONLY_PROPAGATED = """
input_sampling_rate int? None
index_pack str? None
"""

_MAIN_ONLY_PROPAGATED_SHARED = """
fault_tolerant_audio_loading bool True
indexed bool? None
indexes_root str? None
index_pack_root str? None
index_pack_max_open_files int 32
"""

OPTIONS: dict[str, Option] = {
    option.name: option
    for option in [
        *_options(_PLAIN),
        *_options(_SHARED, shared=True),
        *_options(_PROPAGATED, propagated=True),
        *_options(_PROPAGATED_SHARED, propagated=True, shared=True),
        *_options(_MAIN_ONLY, speech_main=True),
        *_options(_MAIN_ONLY_PROPAGATED, propagated=True, speech_main=True),
        *_options(_MAIN_ONLY_PROPAGATED_SHARED, propagated=True, shared=True, speech_main=True),
        Option("use_stateful_dataloader", "bool", False, shared=True, speech_main=True),
    ]
}

#: Loader-wide values that win over an entry's own key (newest adapters).
LOADER_WIDE_WINS = frozenset({"skip_missing_manifest_entries", "fault_tolerant_audio_loading"})

#: Options any one of which lets the sampler build batches; without all of them start-up raises ValueError.
BATCH_OPTIONS = ("batch_size", "batch_duration", "batch_tokens", "bucket_batch_size", "use_packed_sequence_sampling")

#: Of these, each counts only with `use_multimodal_sampling` at this value.
MULTIMODAL_BATCH = {"batch_duration": False, "batch_tokens": True}

#: Options of which a single one turns bucketing on, besides `use_bucketing`.
BUCKETING_SWITCHES = ("bucket_duration_bins", "bucket_batch_size")

#: The keys that name data, in the order in which NeMo looks for them.
DATA_KEYS = ("input_cfg", "shar_path", "cuts_path", "manifest_filepath", "paths", "data_dir", "source_paths")

#: `use_ais_get_batch` and its kin were options for one commit only; since then the environment decides.
AIS_OPTIONS = frozenset({"use_ais_get_batch", "ais_batch_prefetch_buffer_size"})

#: Keys of a dataset section that other parts of NeMo read before or beside the Lhotse schema, so no typo and not dropped
#: without effect: the model's or DataModule's own keys, and keys of the classic loader that old configs keep.
READ_ELSEWHERE = frozenset(
    [
        "use_lhotse",
        "datasets",
        "dataset",
        "name",
        "ds_item",
        "validation_ds",
        "test_ds",
        "is_tarred",
        "defer_setup",
        "subset",
        "dataloader_params",
        "lhotse",
        "is_concat",
        "concat_sampling_technique",
        "concat_sampling_probabilities",
        "concat_sampling_temperature",
        "concat_shuffle",
        "concat_sampling_scale",
        "concat_sampling_seed",
        "concat_weights",
        "concat_probs",
        "bucketing_strategy",
        "bucketing_batch_size",
        "bucketing_weights",
        "shuffle_n",
        "tarred_shard_strategy",
        "trim_silence",
        "int_values",
        "labels",
        "parser",
        "normalize_transcripts",
        "return_sample_id",
        "use_start_end_token",
        "cache_audio",
        "augmentor",
        "max_utts",
        "index_by_file_id",
        "return_language_id",
        "lang",
        "global_batch_size",
        "micro_batch_size",
        "max_seq_length",
        "min_seq_length",
        "end_string",
        "context_key",
        "answer_key",
        "context_file",
        "question_file",
        "add_eos",
        "add_bos",
        "add_sep",
        "add_prob",
        "separate_prompt_and_response_with_newline",
        "truncation_field",
        "index_mapping_dir",
        "prompt_template",
        "tokens_to_generate",
        "sample_alpha",
        "input_text_mask_ratio",
        "metric",
        "output_file_path_prefix",
        "write_predictions_to_file",
        "write_embeddings_to_file",
        "log_every_n_steps",
        "num_cuts_for_bins",
        "random_context_prob",
        "random_context_num",
        "random_context_positive_percent",
        "audio_locator",
        "to_same_len",
        "soft_label_thres",
        "session_len_sec",
        "num_spks",
        "collar",
        "ignore_overlap",
        "subsegment_check_last_loss",
        "ds_kwargs",
        "volume_norm",
        "codec_model_samples_per_frame",
        "context_duration_min",
        "context_duration_max",
        "ignore_end_text",
        "channel_selector_field",
        "lhotse_sampler_type",
        "buffer_size",
        "total_hours",
        "total_cuts",
        "force_estimate",
        "prefetch_factor",
        "max_cuts",
        "metrics",
    ]
)
