"""Failure modes of the config and the blend as NeMo reads them."""

from __future__ import annotations

from .modes import Kind, mode, printed, raised

_OMEGACONF = "InterpolationResolutionError"
_OTHERS = (".idx", "'s3://", "'ais://", "'pipe:")
#: Where sources and blends are opened.
_READING = (
    "data/lhotse/cutset.py",
    "data/lhotse/nemo_adapters.py",
    "data/lhotse/text_adapters.py",
    "data/lhotse/indexed_adapters.py",
    "lhotse/indexing.py",
    "lhotse/lazy.py",
    "lhotse/serialization.py",
)

MODES = (
    mode(
        "mixed-tarred-sources",
        "NR106 NR312 NR503",
        raised("ValueError", "Mixing tarred and non-tarred datasets is not supported"),
    ),
    mode(
        "conflicting-dataset-modes",
        "NR104 NR203 NR503",
        raised("AssertionError", "Conflicting options: force_map_dataset=True and force_iterable_dataset=True"),
    ),
    mode("unknown-source-type", "NR310", raised("AssertionError", "Unknown item type in dataset config list")),
    mode(
        "incomplete-source",
        "NR311",
        raised("ConfigAttributeError", "Missing key", at="lhotse/cutset.py"),
        raised("IncompleteConfigError", "You must specify either: manifest_filepath, cuts_path, or shar_path"),
    ),
    mode("empty-group", "NR315", raised("AssertionError", "Empty group in dataset config list")),
    mode("partial-weights", "NR313", raised("AssertionError", "Missing dataset weight. When weighting datasets")),
    mode("invalid-weight", "NR314", raised("ValueError", "All weights must be positive (> 0), got")),
    mode(
        "temperature-depth",
        "NR320",
        raised("ValueError", "reweight_temperature list length", "does not match the input_cfg nesting depth"),
    ),
    mode(
        "open-streams-on-finite-data",
        "NR207 NR112 NR114",
        raised("AssertionError", "max_open_streams and metadata_only/force_finite options are not compatible"),
    ),
    mode(
        "no-batch-size",
        "NR121",
        raised("ValueError", "Batch size is not configured. Please set one of the following"),
        raised("AssertionError", "Cannot use bucket_batch_size option if bucket_duration_bins are not provided"),
    ),
    mode(
        "too-few-cuts-for-buckets",
        "NR122",
        raised("AssertionError", "The number of buckets", "must be smaller than or equal to the number of cuts"),
    ),
    mode(
        "incomplete-multi-config",
        "NR117",
        raised("AssertionError", "In a multi-config setting (multi_config=True), the top-level namespace"),
    ),
    mode(
        "mixed-multi-config",
        "NR116 NR105",
        raised("AssertionError", "When using multiple input_cfg sources ensure they are all tarred or non-tarred"),
    ),
    mode(
        "unknown-sampler-fusion",
        "NR115",
        raised("RuntimeError", "Unsupported sampler fusion strategy"),
    ),
    mode(
        "incomplete-share-gpt",
        "NR321",
        raised("ValueError", "tar_lookup_mode"),
        raised("ValueError", "tar_routing_filepath and tar_routing_index disagree"),
    ),
    mode(
        "incomplete-webdataset",
        "NR322",
        raised("ValueError", "wds_sample_index_version"),
        raised("FileNotFoundError", "No wids-meta.json and no .tar files found under"),
    ),
    mode(
        "blend-cycle",
        "NR008",
        raised("RecursionError", at=("lhotse/cutset.py:parse_group", "lhotse/cutset.py:parse_and_combine_datasets")),
    ),
    mode(
        "blend-not-a-list",
        "NR009",
        raised("TypeError", "'str' object does not support item assignment", at="lhotse/cutset.py"),
    ),
    mode(
        "missing-blend",
        "NR007",
        raised("FileNotFoundError", "No such file or directory: ", ".yaml'", at=_READING),
        raised("FileNotFoundError", "No such file or directory: ", ".yml'", at=_READING),
    ),
    mode(
        "missing-manifest",
        "NR317 NR312",
        raised("FileNotFoundError", "No such file or directory: ", ".json", unless=_OTHERS, at=_READING),
        raised("FileNotFoundError", "No such file or directory: ", ".tar'", unless=_OTHERS, at=_READING),
        raised("ValueError", "Not a valid manifest (does the path exist?)"),
    ),
    mode(
        "interpolation-in-blend",
        "NR010",
        raised(_OMEGACONF, "(str) is not an int"),
        raised("KeyValidationError", "is not an int"),
    ),
    mode(
        "unresolved-interpolation",
        "NR003 NR010",
        raised("InterpolationKeyError", "Interpolation key", "not found"),
        raised(_OMEGACONF, "Environment variable", "not found"),
    ),
    mode(
        "unknown-resolver",
        "NR003",
        raised("UnsupportedInterpolationType", "Unsupported interpolation type"),
    ),
    mode("missing-mandatory-value", "NR004", raised("MissingMandatoryValue", "Missing mandatory value")),
    mode(
        "wrong-option-type",
        "NR006 NR109 NR110",
        raised("ValidationError", "is incompatible with type hint"),
        raised("ValidationError", "could not be converted to"),
        raised("ValidationError", "is not a valid bool"),
    ),
    mode(
        "seed-in-words",
        "NR109 NR503",
        raised("ValueError", "invalid literal for int() with base 10: 'trng'"),
        raised("ValueError", "invalid literal for int() with base 10: 'randomized'"),
    ),
    mode("duplicate-key", "NR002", raised("ConstructorError", "found duplicate key")),
    mode("several-documents", "NR013", raised("ComposerError", "expected a single document in the stream")),
    mode(
        "oversized-config",
        "NR012",
        raised("ConstructorError", "YAML node expansion exceeds the configured limit"),
    ),
    mode("invalid-yaml", "NR001", raised("ParserError ScannerError"), raised("GrammarParseError")),
    mode(
        "ignored-option",
        "NR005 NR119 NR702",
        printed("The following configuration keys are ignored by Lhotse dataloader"),
        kind=Kind.SUSPICION,
    ),
)
