"""Looks at a NeMo and a Lhotse on disk: where each lies, its version and what it can do, from its files alone.

A path may name a source checkout, a folder of installed packages, a virtual environment, or the package's own folder.
The facts and the cheapest signs of them: a Lhotse reads by index from 2.0.0a1 on (`indexing.py` is there), reads index
packs from 2.0.0a3 (`index_pack.py`), packs with arrays from 2.0.0a6, and gzip in no release.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from ..findings import Location
from ..records import dataclass
from ..text import Source, Span
from .probe_files import CannotRead, Reader, is_file, is_folder, names_in
from .probe_schema import read_loader, read_readers
from .probe_versions import (
    Metadata,
    read_gzip,
    read_lines,
    read_metadata,
    read_pack_versions,
    read_package_info,
    read_source,
    read_version,
    read_wanted,
)
from .profiles import Environment, Package, Runtime

NEMO, LHOTSE = "nemo", "lhotse"
_DISTRIBUTIONS = {NEMO: "nemo_toolkit", LHOTSE: "lhotse"}
_DATA = ("collections", "common", "data", "lhotse")
_SITES = ("site-packages", "dist-packages")
T = TypeVar("T")

_MOST_MODULES = 60  #: modules of NeMo's data folder that are looked at for registered types


@dataclass(frozen=True, slots=True)
class Found:
    """A package on disk, and the folder of installed packages it belongs to, where there is one."""

    folder: Path
    site: Path | None


def find(path: Path, package: str) -> Found | None:
    """The package in, at or below a path the user named; None where it is not there."""
    for site in (path, *_sites(path)):
        found = _in_site(site, package)
        if found is not None:
            return found
    for folder in (path / "src" / package, path):
        if folder.name == package and _is(folder, package):
            return Found(folder, _as_site(folder.parent))
    return None


def environments(folders: Iterable[Path]) -> tuple[Path, ...]:
    """The folders of installed packages of virtual environments."""
    return tuple(site for folder in folders for site in _sites(folder))


def _sites(environment: Path) -> Iterator[Path]:
    """The folders of installed packages of a virtual environment; nothing where the path is none."""
    if is_folder(environment / "Lib" / "site-packages"):
        yield environment / "Lib" / "site-packages"
    lib = environment / "lib"
    for name in names_in(lib):
        if name.startswith("python") and is_folder(lib / name / "site-packages"):
            yield lib / name / "site-packages"


def _in_site(site: Path, package: str) -> Found | None:
    """A package below a folder, also one that is installed there in editable form and lies elsewhere."""
    if _is(site / package, package):
        return Found(site / package, _as_site(site))
    source = _editable(site, package)
    if source is not None:
        for folder in (source / package, source / "src" / package):
            if _is(folder, package):
                return Found(folder, _as_site(site))
    return None


def _is(folder: Path, package: str) -> bool:
    if package == NEMO:
        return is_folder(folder.joinpath(*_DATA)) or is_file(folder / "package_info.py")
    # NeMo has a folder `lhotse` of its own, with the dataloader.
    names = ("indexing.py", "version.py", "__init__.py")
    return any(is_file(folder / name) for name in names) and not is_file(folder / "dataloader.py")


def _as_site(folder: Path) -> Path | None:
    """The folder, where it holds installed packages rather than a checkout."""
    names = names_in(folder)
    known = folder.name in _SITES or any(name.endswith(".dist-info") for name in names)
    return folder if known else None


def _editable(site: Path, package: str) -> Path | None:
    info = _info(site, _DISTRIBUTIONS[package])
    try:
        source = read_source(site / info / "direct_url.json") if info else None
    except CannotRead:
        return None
    return Path(source) if source else None


def _info(site: Path, distribution: str) -> str | None:
    """The name of a distribution's `.dist-info` folder."""
    for name in names_in(site):
        if name.endswith(".dist-info") and _distribution(name) == distribution:
            return name
    return None


def _distribution(info: str) -> str:
    return re.sub(r"[-_.]+", "_", info.removesuffix(".dist-info").rsplit("-", 1)[0]).lower()


def _installed(site: Path, distribution: str) -> str | None:
    """The version of an installed distribution by the name of its folder; None where it is not installed."""
    info = _info(site, distribution)
    return info.removesuffix(".dist-info").rpartition("-")[2] if info is not None else None


def environment(site: Path) -> Environment | None:
    """What a folder of installed packages has besides NeMo and Lhotse; None where it is not all there is to import from.

    A folder that somebody installed single packages into has no PyTorch, and an environment may reach into another one.
    """
    whole = site.name in _SITES or is_folder(site / "torch")
    for folder in (*site.parents,)[1:3]:
        try:
            settings = read_lines(folder / "pyvenv.cfg")
        except CannotRead:
            settings = None
        whole = whole and not any(
            re.match(r"\s*include-system-site-packages\s*=\s*true", s, re.I) for s in settings or ()
        )
    if not whole:
        return None
    return Environment(
        site,
        is_folder(site / "torchdata" / "stateful_dataloader") or is_file(site / "torchdata" / "stateful_dataloader.py"),
        is_folder(site / "indexed_gzip") or _installed(site, "indexed_gzip") is not None,
        _installed(site, "aistore") if not is_folder(site / "aistore") else _installed(site, "aistore") or "",
    )


class _Probe:
    """Reads the files of one package, and keeps which were read and what could not be."""

    def __init__(self, found: Found) -> None:
        self.folder = found.folder
        self.files: list[Path] = []
        self.problems: list[str] = []

    def read(self, reader: Reader[T], path: Path, *, needed: bool = False) -> T | None:
        """The facts of a file; None where there are none."""
        try:
            facts = reader(path)
        except CannotRead as error:
            self.problems.append(f"`{self._shown(path)}` could not be read: {error}")
            return None
        if facts is not None:
            self.files.append(path)
        elif needed:
            self.problems.append(f"there is no `{self._shown(path)}`")
        return facts

    def broken(self, path: Path) -> bool:
        """Whether a file that is there could not be read."""
        return any(problem.startswith(f"`{self._shown(path)}` ") for problem in self.problems)

    def _shown(self, path: Path) -> str:
        parent = self.folder.parent
        return path.relative_to(parent).as_posix() if path.is_relative_to(parent) else path.as_posix()

    def onto(self, runtime: Runtime) -> Runtime:
        """The runtime with what was read and what was not."""
        return replace(runtime, files=(*runtime.files, *self.files), problems=(*runtime.problems, *self.problems))


def with_nemo(runtime: Runtime, found: Found) -> Runtime:
    """The runtime with the facts of a NeMo; those that cannot be read stay as they are assumed."""
    probe = _Probe(found)
    data = found.folder.joinpath(*_DATA)
    loader = probe.read(read_loader, data / "dataloader.py", needed=True)
    modules = [name for name in names_in(data) if name.endswith(".py") and name != "cutset.py"][:_MOST_MODULES]
    readers = [probe.read(read_readers, data / "cutset.py", needed=True)]
    for name in modules:
        try:
            more = read_readers(data / name)
        except CannotRead:
            continue  # what registers no types is no matter
        if more is not None and (more.types or not more.complete):
            readers.append(more)
            probe.files.append(data / name)
    known = [facts for facts in readers if facts is not None]
    types = frozenset().union(*(facts.types for facts in known))
    if not types or not all(facts.complete for facts in known):
        types |= runtime.types
    metadata = _metadata_of(probe, found, NEMO)
    version = (
        metadata.version if metadata is not None else probe.read(read_package_info, found.folder / "package_info.py")
    )
    runtime = replace(runtime, nemo=Package("nemo_toolkit", version, found.folder), types=types)
    for facts in known:
        if facts.zero_weights is not None:
            runtime = replace(runtime, zero_weights=facts.zero_weights)
        if facts.nested_relative is not None:
            runtime = replace(runtime, nested_relative=facts.nested_relative)
    if loader is not None:
        runtime = replace(
            runtime,
            options=loader.options,
            per_rank_state=loader.per_rank_state,
            index_packs="index_pack" in loader.options,
            schema=_place(data / "dataloader.py", loader.text, loader.schema),
        )
    return probe.onto(runtime)


@lru_cache(maxsize=4)
def _place(file: Path, text: str, span: Span) -> Location:
    return Location(Source(file, text), span)


def with_lhotse(runtime: Runtime, found: Found) -> Runtime:
    """The runtime with the facts of a Lhotse; those that cannot be read stay as they are assumed."""
    probe = _Probe(found)
    folder = found.folder
    version = probe.read(read_version, folder / "version.py")
    metadata = _metadata_of(probe, found, LHOTSE)
    wanted = metadata.aistore if metadata is not None else _setup_aistore(folder.parent)
    indexing, packs = folder / "indexing.py", folder / "index_pack.py"
    gzip = probe.read(read_gzip, indexing)
    versions = probe.read(read_pack_versions, packs)
    if not probe.broken(indexing):
        runtime = replace(runtime, indexed_core=gzip is not None, gzip_indexes=bool(gzip))
    if not probe.broken(packs):
        runtime = replace(runtime, pack_versions=versions or ())
    if version is None and metadata is not None:
        version = metadata.version
    runtime = replace(runtime, lhotse=Package("lhotse", version, folder), aistore_minimum=wanted)
    return probe.onto(runtime)


def _metadata_of(probe: _Probe, found: Found, package: str) -> Metadata | None:
    info = _info(found.site, _DISTRIBUTIONS[package]) if found.site is not None else None
    if found.site is None or info is None:
        return None
    return probe.read(read_metadata, found.site / info / "METADATA")


def _setup_aistore(checkout: Path) -> str | None:
    try:
        return read_wanted(checkout / "setup.py")
    except CannotRead:
        return None
