"""Failure modes of storage, of what is installed, and of the machine."""

from __future__ import annotations

from .modes import mode, printed, raised

_MODULE = "ModuleNotFoundError ImportError"

MODES = (
    mode(
        "no-ais-endpoint",
        "NR601",
        raised("ValueError", "Set a valid URL as AIS_ENDPOINT environment variable"),
    ),
    mode(
        "aistore-missing",
        "NR605",
        raised("ImportError", "Please run 'pip install aistore"),
        raised(_MODULE, "No module named 'aistore"),
    ),
    mode(
        "remote-path-unopened",
        "NR601 NR605 NR318",
        raised("ValueError", "Error trying to open what seems to be a URI"),
        raised("FileNotFoundError", "No such file or directory: 's3://"),
        raised("FileNotFoundError", "No such file or directory: 'ais://"),
    ),
    mode(
        "aistore-sdk-changed",
        "NR605",
        raised("AttributeError", "'MossOut' object has no attribute"),
        raised("AttributeError", "object has none of the expected attributes", "AIStore SDK API may have changed"),
        printed("'MossOut' object has no attribute"),
    ),
    mode(
        "bucket-not-found",
        "NR606 NR601",
        raised("ErrBckNotFound ErrRemoteBckNotFound ErrObjNotFound"),
    ),
    mode(
        "empty-batch-content",
        "NR606 NR604",
        printed("returned empty content. Retrying with direct AIStore API call"),
        raised("AISBatchLoaderError", "Direct API fallback failed for"),
        raised("AISBatchLoaderError", "Sequential GET fallback failed for"),
        printed("FallbackDataset received None from", "on the first call"),
    ),
    mode(
        "unsupported-remote-scheme",
        "NR318",
        raised("ValueError", "Unsupported remote range-read scheme"),
    ),
    mode(
        "unseekable-reader",
        "NR318 NR605",
        raised("UnsupportedOperation", "seek", unless="not seekable stdin"),
    ),
    mode("torchdata-missing", "NR703", raised(_MODULE, "No module named 'torchdata")),
    mode("indexed-gzip-missing", "NR704", raised(_MODULE, "No module named 'indexed_gzip")),
    mode(
        "lhotse-without-indexes",
        "NR701 NR509",
        raised(_MODULE, "No module named 'lhotse.indexing"),
        raised(_MODULE, "No module named 'lhotse.checkpoint"),
        raised(_MODULE, "cannot import name", "from 'lhotse.indexing'"),
        raised(_MODULE, "cannot import name 'PartitionedIndexedIterator'"),
    ),
    mode(
        "lhotse-without-packs",
        "NR705 NR509",
        raised(_MODULE, "No module named 'lhotse.index_pack"),
        raised(_MODULE, "No module named 'lhotse.packed_lazy"),
        raised(_MODULE, "cannot import name", "from 'lhotse.index_pack'"),
    ),
    mode(
        "nemo-without-options",
        "NR702 NR509",
        raised("TypeError", "got an unexpected keyword argument 'indexe"),
        raised("ConfigKeyError", "Key 'use_stateful_dataloader' not in"),
        raised("ConfigKeyError", "Key 'indexed' not in"),
    ),
    mode("pyarrow-missing", "", raised("ImportError", "PyArrow is required to read Parquet manifests")),
    mode(
        "too-many-open-files",
        "NR514",
        raised("OSError RuntimeError", "Too many open files"),
    ),
    mode(
        "too-many-memory-maps",
        "NR336",
        raised("OSError", "[Errno 12] Cannot allocate memory", at=("numpy/core/memmap.py", "numpy/_core/memmap.py")),
        raised("OSError", "[Errno 12] Cannot allocate memory", at=("lhotse/indexing.py", "lhotse/indexed_adapters.py")),
    ),
    mode(
        "index-build-killed",
        "",
        raised("BrokenProcessPool"),
    ),
    mode(
        "gpu-hook-on-cpu-node",
        "NR511",
        printed("nvidia-container-cli: initialization error"),
        printed("nvidia-container-cli", "not found"),
        printed("nvidia-container-cli", "libnvidia-ml.so"),
    ),
    mode(
        "host-out-of-memory",
        "",
        printed("oom_kill event"),
        printed("oom-kill event"),
        printed("Out of memory: Killed process"),
        printed("task ", "Out Of Memory"),
        raised("RuntimeError", "DataLoader worker (pid", "is killed by signal: Killed"),
    ),
    mode(
        "gpu-out-of-memory",
        "",
        raised("OutOfMemoryError", "CUDA out of memory"),
        raised("RuntimeError", "CUDA out of memory"),
    ),
    mode(
        "shared-memory-exhausted",
        "",
        raised("RuntimeError", "is killed by signal: Bus error"),
        raised("RuntimeError", "unable to write to file </torch_"),
        raised("OSError", "[Errno 28] No space left on device", "/dev/shm"),
    ),
    mode("disk-full", "", raised("OSError", "[Errno 28] No space left on device", unless="/dev/shm")),
)
