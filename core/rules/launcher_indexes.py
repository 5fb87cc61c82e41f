"""NR506, NR507, NR511, NR514: index files in a launcher: staging them, building them, opening many of them."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..findings import Related, Severity
from ..model import paths
from ..model.storage import node_local_root
from .drafts import Draft
from .registry import rule
from .starts import Launched, Started

if TYPE_CHECKING:
    from ..model.launcher.facts import Staging

#: Soft limit of open files where a site sets none.
_OPEN_FILES = 1024


@rule("NR506", "unstaged-indexes", Severity.ERROR)
def unstaged_indexes(started: Started) -> Iterator[Draft]:
    """Node-local sidecars are not brought to every node before every chunk."""
    root = _root(started)
    if not root or _misplaced(started, root):
        return
    staged = [each for each in started.launch.staging if _reaches(each, root)]
    several = (started.launch.nodes.value or 1) > 1
    if any(each.every_chunk and (each.every_node or not several) for each in staged):
        return
    if not staged:
        what = "nothing in the launcher copies the sidecars there before training"
    elif not any(each.every_chunk for each in staged):
        what = "the sidecars are copied there in some chunks only, and the others may run on other nodes"
    else:
        what = "the sidecars are copied on the first node only"
    related = tuple(Related(each.condition or each.location, "the copy") for each in staged)
    yield Draft(
        f"`indexes_root` is `{root}`, which only one node sees, and {what}: every rank rebuilds them at start-up or stops "
        "at the first that is missing",
        started.launch.location,
        "launcher.staging",
        rationale="Copy the mirror in every chunk and on every node, with `srun --ntasks-per-node=1` before training.",
        origin="launcher",
        related=related,
    )


@rule("NR507", "misplaced-staging", Severity.ERROR)
def misplaced_staging(started: Started) -> Iterator[Draft]:
    """Sidecars are staged to another path than `indexes_root`."""
    root = _root(started)
    for staging in _misplaced(started, root) if root else ():
        yield Draft(
            f"the sidecars go to `{staging.target.text}`, and `indexes_root` is `{root}`: training does not find them there",
            staging.location,
            "launcher.staging",
            current=staging.target.text,
            recommended=root,
            rationale="Stage to the very path of `indexes_root`; what lies below it is the path of each source.",
            origin="launcher",
            related=_decided(staging),
        )


@rule("NR511", "gpu-hook-on-cpu-job", Severity.WARNING)
def gpu_hook_on_cpu_job(launched: Launched) -> Iterator[Draft]:
    """An index-build job runs a GPU container on a CPU partition."""
    for build in launched.launcher.index_builds:
        if build.cpu_partition and build.container is not None and not build.gpu_hook_off:
            yield Draft(
                f"indexes are built on the partition `{build.partition}` in a container whose GPU hook runs at its start: on a "
                "node without a GPU the job stops before the build",
                build.location,
                "launcher.index_build",
                current=build.container.text,
                rationale="Set NVIDIA_VISIBLE_DEVICES=void for this job (or the site's own switch), or use an image without "
                "the hook.",
                origin="launcher",
            )


@rule("NR514", "few-file-handles", Severity.WARNING)
def few_file_handles(started: Started) -> Iterator[Draft]:
    """Indexed Shar keeps more files open than the usual limit allows."""
    if started.launch.open_files is not None:
        return
    for dataset in started.config.training:
        opened = sum(
            paths.count(path.text) if path.known else 0
            for source in dataset.sources
            if source.reader == "shar" and source["indexed"].is_(True)
            for path in source.paths
        )
        if opened > _OPEN_FILES:
            yield Draft(
                f"`{dataset.subject}` keeps {opened:,} Shar files open in each process, and the usual limit is {_OPEN_FILES:,}: "
                "`OSError: Too many open files` after a while",
                started.launch.location,
                "launcher.open_files",
                current=opened,
                rationale="Raise the limit in the job before training starts: `ulimit -n 65536`.",
                origin="launcher",
            )


def _root(started: Started) -> str:
    """The node-local `indexes_root` of training, or ""."""
    for dataset in started.config.training:
        if text := node_local_root(dataset):
            return text
    return ""


def _reaches(staging: Staging, root: str) -> bool:
    """Whether a copy brings files to the root: to itself or to a folder above it, or where its target is not known."""
    if staging.target.text is None:
        return True
    target, wanted = _normal(staging.target.text), _normal(root)
    return target == wanted or wanted.startswith(f"{target}/") or target.startswith(f"{wanted}/")


def _misplaced(started: Started, root: str) -> list[Staging]:
    """The copies of index files that go elsewhere, where none goes to the root."""
    staging = started.launch.staging
    if any(_reaches(each, root) for each in staging):
        return []
    return [each for each in staging if each.named and each.target.text is not None]


def _normal(path: str) -> str:
    return posixpath.normpath(path.removesuffix("/."))


def _decided(staging: Staging) -> tuple[Related, ...]:
    at = staging.target.drawn
    return (Related(at, "the path is set here"),) if at is not None else ()
