"""Which storage a config's data lies on, read from its paths alone."""

from __future__ import annotations

from collections.abc import Iterable

from ..records import dataclass
from . import paths
from .blend import Entry, PathText
from .config import TrainingConfig
from .dataset import Dataset


@dataclass(frozen=True, slots=True)
class Storage:
    """The storage of a set of sources."""

    local: int
    remote: int
    unknown: int
    schemes: tuple[str, ...]

    @property
    def workflow(self) -> str:
        """The name of the workflow that holds: with any remote source, the remote one."""
        if self.remote and self.local:
            return f"mixed: local and {self.named} sources in one config, so the stricter remote workflow holds"
        if self.remote:
            return f"remote ({self.named})"
        if self.local:
            return "local file system"
        return "not known: no data path is stated in full"

    @property
    def named(self) -> str:
        """The schemes, as written."""
        return ", ".join(f"`{scheme}://`" for scheme in self.schemes)


def storage_of(datasets: Iterable[Dataset]) -> Storage:
    """Look at every path of the datasets' sources."""
    local = remote = unknown = 0
    schemes: set[str] = set()
    for dataset in datasets:
        for source in dataset.sources:
            for path in source.paths:
                scheme = paths.scheme(path.text)
                if not path.known and scheme is None:
                    unknown += 1
                elif scheme is None or scheme == "file":
                    local += 1
                elif scheme != "pipe":
                    remote += 1
                    schemes.add(scheme)
    return Storage(local, remote, unknown, tuple(sorted(schemes)))


Remote = list[tuple[Entry, PathText]]


def remote_paths(config: TrainingConfig) -> Remote:
    """Every remote path with its source, training first; a path with unknown parts may still show its scheme."""
    known = config.memo.get("remote")
    if known is None:
        known = config.memo["remote"] = [
            (source, path)
            for dataset in config.datasets
            for source in dataset.sources
            for path in source.special_paths
            if paths.is_remote(path.text)
        ]
    return known  # type: ignore[return-value]


NODE_LOCAL = ("/tmp", "/scratch", "/local", "/dev/shm", "/var/tmp", "/mnt/local", "$TMPDIR", "$SLURM_TMPDIR")
_NODE_LOCAL_VARIABLES = ("TMPDIR", "SLURM_TMPDIR")


def node_local_root(dataset: Dataset) -> str:
    """The dataset's `indexes_root` where it lies on storage that only one node sees, else ""."""
    setting = dataset["indexes_root"]
    found = dataset.find("indexes_root")
    if found is None and setting.value is None:
        return ""
    raw = getattr(found.node, "text", "") if found is not None else ""
    text = setting.value if isinstance(setting.value, str) else raw
    local = any(text == start or text.startswith(f"{start}/") or _numbered(text, start) for start in NODE_LOCAL)
    return text if local or any(f"oc.env:{name}" in raw for name in _NODE_LOCAL_VARIABLES) else ""


def _numbered(text: str, start: str) -> bool:
    """Whether it is a numbered or suffixed sibling such as /local_ssd or /scratch2."""
    return start in ("/local", "/scratch") and text.startswith(start) and not text.startswith(f"{start}host")
