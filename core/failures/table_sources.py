"""Failure modes of sources, their index files and index packs."""

from __future__ import annotations

from .modes import mode, raised

_COMPRESSED = (".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".tar.zst")
_TAR_INDEX = (
    ("contains offset", "beyond file size"),
    ("points to a zero block (end-of-archive marker)",),
    ("does not point to a valid tar header",),
)
_ROWS = (
    "lhotse/indexing.py:__getitem__",
    "lhotse/packed_lazy.py:read_with_location",
    "lhotse/indexed_adapters.py:__getitem__",
)

MODES = (
    mode(
        "random-multiplexer",
        "NR110 NR503",
        raised("ValueError", "LazyIteratorMultiplexer cannot use seed='randomized' under multi-shard"),
    ),
    mode(
        "random-seed-outside-workers",
        "NR110 NR206",
        raised("AssertionError", "Requested seed='randomized' for shuffling shards differently"),
    ),
    mode(
        "random-seed-of-split-shards",
        "NR110",
        raised("AssertionError", "using split_for_dataloading=True are mutually exclusive"),
    ),
    mode("unusable-seed", "NR110 NR206 NR503", raised("ValueError", "Unexpected type or value of seed")),
    mode(
        "compressed-source",
        "NR305 NR304",
        raised("ValueError", "requires uncompressed JSONL or tar data, but got a compressed path"),
        raised("RuntimeError", "Cannot create an index for a compressed"),
    ),
    mode(
        "compressed-tar-index",
        "NR304",
        *(raised("ValueError", end, *says) for end in _COMPRESSED for says in _TAR_INDEX),
    ),
    mode(
        "piped-source",
        "NR306",
        raised("ValueError", "requires seekable data sources, but got a pipe command"),
        raised("FileNotFoundError", "No such file or directory: 'pipe:"),
    ),
    mode(
        "unindexable-name",
        "NR307 NR319 NR317",
        raised("ValueError", "requires a .jsonl or .tar data source, but got"),
    ),
    mode(
        "extra-fields",
        "NR301",
        raised("ValueError RuntimeError", "(indexed=True) does not support 'extra_fields'"),
    ),
    mode(
        "sliced-source",
        "NR302",
        raised("ValueError RuntimeError", "(indexed=True) does not support 'slice_length'"),
        raised("ValueError", "'slice_length' is not supported with indexed=True"),
    ),
    mode("mapped-cuts", "NR303", raised("ValueError", "'cut_map_fns' is not supported with indexed=True")),
    mode(
        "contradictory-index-options",
        "NR323",
        raised("ValueError", "index_path/indexes_root is set but indexed=False"),
    ),
    mode(
        "missing-sidecar",
        "NR801 NR506 NR507 NR108 NR806 NR107",
        raised("FileNotFoundError", "Index file not found"),
        raised("FileNotFoundError", "is missing an index file. Expected it at"),
        raised("FileNotFoundError", "No such file or directory: ", ".idx", unless=("'pipe:", ".idxpack")),
        raised("AssertionError", "Index file not found: "),
    ),
    mode(
        "read-only-index-folder",
        "NR107 NR801",
        raised("OSError", "Read-only file system: ", ".idx"),
        raised("PermissionError", "Permission denied: ", ".idx"),
    ),
    mode(
        "stale-tar-sidecar",
        "NR803 NR338 NR802",
        *(raised("ValueError", *says, unless=_COMPRESSED) for says in _TAR_INDEX),
    ),
    mode(
        "stale-manifest-sidecar",
        "NR803 NR338 NR802",
        raised("JSONDecodeError", at=_ROWS),
    ),
    mode(
        "row-without-member",
        "NR804 NR316",
        raised("IndexError", "Index out of bounds", at="nemo_adapters.py"),
        raised("IndexError", "index", "out of range for IndexedTar"),
        raised("IndexError", "local index", "out of range for packed shard"),
    ),
    mode(
        "odd-tar-members",
        "NR311",
        raised("RuntimeError", "Expected an even number of tar members (data+meta pairs)"),
    ),
    mode(
        "shar-fields-disagree",
        "NR316",
        raised("AssertionError", "shards available for field", "but found"),
        raised("AssertionError", "Mismatched IDs: cut ID is", "but found data with name"),
    ),
    mode("no-shar-cuts", "NR311 NR317", raised("AssertionError", "No cuts JSONL shards found in")),
    mode(
        "shard-ids-disagree",
        "NR316 NR317",
        raised("AssertionError", "Mismatch between shard IDs. Details:"),
    ),
    mode(
        "row-not-in-manifest",
        "NR316 NR804",
        raised("RuntimeError", "Mismatched entry between JSON manifest", "Cannot locate JSON entry for tar file"),
    ),
    mode(
        "unnumbered-shard",
        "NR317",
        raised("AssertionError", "Cannot determine shard_id from tar input specifier"),
        raised("AssertionError", "Cannot determine shard_id from manifest input specified"),
    ),
    mode(
        "missing-pack",
        "NR331 NR332",
        raised("FileNotFoundError", "Declared index pack does not exist"),
        raised("FileNotFoundError", "Index pack not found: "),
        raised("FileNotFoundError", "No such file or directory: ", ".idxpack"),
    ),
    mode("pack-without-index", "NR330", raised("ValueError", "Declaring index_pack requires indexed=true")),
    mode(
        "stale-pack",
        "NR805",
        raised("KeyError", "is not present in index pack"),
        raised("ValueError", "Packed manifest/tar shard-count mismatch"),
        raised("ValueError", "Packed manifest/tar length mismatch in shard"),
        raised("RuntimeError", "Index pack changed after it was opened"),
    ),
    mode(
        "corrupt-pack",
        "NR807",
        raised("ValueError", "Invalid index-pack header magic in"),
        raised("ValueError", "Index pack is truncated before its"),
        raised("ValueError", "Index pack has truncated/invalid"),
        raised("ValueError", "Index pack sections overlap, contain gaps"),
        raised("ValueError", "Index-pack layout mismatch for"),
        raised("ValueError", "Index-pack CRC mismatch for segment"),
    ),
    mode("unsupported-pack-version", "NR705", raised("ValueError", "Unsupported index-pack header in", "version=")),
    mode(
        "pack-without-offsets",
        "NR602 NR805",
        raised("ValueError", "Packed local tar access requires tar-member offsets"),
    ),
    mode(
        "packed-remote-source",
        "NR333",
        raised("ValueError", "Packed lazy reads require local source files"),
    ),
    mode(
        "unpackable-source",
        "NR333",
        raised("ValueError", "Packed native NeMo datasets require manifest_filepath to be"),
        raised("NotImplementedError", "idxpack conversion does not support dataset type"),
    ),
)
