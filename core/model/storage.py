"""Which storage a config's data lies on, read from its paths alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from . import paths
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
