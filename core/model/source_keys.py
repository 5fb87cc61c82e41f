"""The keys of `input_cfg` entries, a line each, for hover and completion; options of the dataset are in `schema`."""

from __future__ import annotations

#: Keys that every entry may carry, besides the options that entries inherit from their dataset.
COMMON_KEYS = frozenset({"type", "weight", "tags", "input_cfg", "corpus", "name"})

#: Misspelt keys that change the data without a word: what is written → what the reader looks for.
DATA_CHANGING_TYPOS = {"tarred_audio_filepath": "tarred_audio_filepaths", "manifest_filepaths": "manifest_filepath"}

KEY_DOCS: dict[str, str] = {
    # every entry
    "type": "The reader of the entry, by its registered name, or `group`",
    "weight": "How often the entry is drawn beside its siblings; all siblings have one or none has",
    "tags": "Fields that are set on every item of the entry and of what is below it",
    "input_cfg": "A list of entries, or the path of a YAML file that is such a list",
    "corpus": "A name for people; no reader looks at it",
    "name": "A name for people; no reader looks at it",
    # NeMo manifests
    "manifest_filepath": "Manifests, a path with ranges such as `_OP_0..127_CL_`, or a list",
    "tarred_audio_filepaths": "The tars with the audio, one for each manifest; with them the source is tarred",
    "extra_fields": "Fields filled in by position while streaming; an indexed reader refuses them",
    "text_field": "The field of a row, or the column, that holds the text",
    "lang_field": "The field of a row, or the column, that holds the language",
    "skip_missing_manifest_entries": "Pass over rows whose audio is not in the tar; the dataset's value wins",
    "tarred_random_access": "The old name of `skip_missing_manifest_entries`",
    "fault_tolerant_audio_loading": "Pass over audio that cannot be decoded; the dataset's value wins",
    "input_sampling_rate": "The sampling rate of the stored audio, where the rows do not say it",
    "sample_rate": "The sampling rate that the audio is brought to",
    # Lhotse
    "cuts_path": "A cuts manifest; only uncompressed `.jsonl` can be indexed",
    "shar_path": "A Shar folder, a list of folders (with weights), or a mapping of fields to shards with `cuts` in it",
    "cut_map_fns": "Functions applied to cuts while streaming; indexed Shar refuses them",
    # text
    "paths": "The files to read, a path with ranges or a list",
    "language": "The language of the text",
    "source_paths": "The files with the source side, in the order of the target side",
    "target_paths": "The files with the target side",
    "source_language": "The language of the source side",
    "target_language": "The language of the target side",
    "questions_path": "A file of questions, of which one is put before each pair",
    "questions_language": "The language of the questions",
    "validate_chunk_tokenization": "Whether each row's chunks are checked to give the tokens of the whole",
    # conversations
    "audio_locator_tag": "The text that marks where audio stands in a prompt",
    "token_equivalent_duration": "Seconds of audio that count as one token",
    "audio_placeholders": "The marks in ShareGPT turns that stand for audio",
    "audio_root": "The folder that relative audio paths of the rows begin in",
    "audio_path_prefix_map": "Beginnings of audio paths and what replaces them",
    "tar_lookup_mode": "`paired`: a tar for each manifest; `collection`: any row may lie in any tar, found by a route",
    "tar_routing_filepath": "The `.sgroute` file that says in which tar each row's audio lies",
    "tar_routing_index": "The old name of `tar_routing_filepath`",
    "excluded_manifest_lines": "Rows that are left out, by line number from 1",
    "excluded_manifest_lines_sha256": "The digest of those line numbers, checked at start-up",
    "approved_exclusion_audit_sha256": "The digest of the audit that approved the exclusions",
    "data_dir": "The folder of the WebDataset tars, or its `.wds-catalog.json`",
    "wds_sample_index_version": "1 for pairs of members, 2 for samples with any number of members",
    # wrappers
    "preference_sampling": "Draw one of a cut's instructions: `weights`, `seed`, `fallback_text_field`",
    "system_prompt": "A system turn before each conversation, as a tag",
    "context": "A user turn before the audio, as a tag",
    "input_roles": "Speakers whose turns are input",
    "output_roles": "Speakers whose turns are output",
    "strip_timestamp_tokens": "Whether tokens such as `<|3|>` are taken out of the text",
    "move_agent_text_back_by": "Seconds by which the agent's text is moved ahead of its speech",
    "filter_samples_starting_with_agent": "Whether dialogues that the agent begins are left out",
    "agent_roles": "Speakers that count as the agent",
    "user_roles": "Speakers that count as the user",
    "target_agent_name": "What former users are called",
    "target_user_name": "What former agents are called",
    "add_extra_end_silence": "Whether silence of a random length follows; it is not the same after a resume",
    "extra_end_silence_range": "The shortest and the longest silence, in seconds",
    "add_extra_silence_mean": "The mean length of the silence, in seconds",
    "max_cer": "The highest character error rate of a cut that is kept",
    "min_context_speaker_similarity": "The lowest speaker similarity of a cut that is kept",
    "target_speaker": "Only cuts of this speaker",
    "agent_silence_duration": "Seconds of silence at the end in which the agent would speak; below 0 it is cut from the audio",
    # parquet and simulation
    "audio_field": "The column that holds the audio",
    "duration_field": "The column that holds the duration",
    "sampling_rate": "The sampling rate where a row has none",
    "simulator_type": "How speakers are mixed",
    "is_tarred": "Whether the mixtures are drawn in the workers",
    "min_delay": "The shortest delay between speakers, in seconds",
    "min_duration": "The shortest mixture, in seconds",
    "max_duration": "The longest mixture, in seconds",
    "num_speakers": "How many speakers a mixture has",
    "global_rank": "The rank for which mixtures are drawn",
    "world_size": "The number of ranks",
}
