"""What a NeMo and a Lhotse can do, and the named pairs of them that are assumed where none was looked at."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from ..findings import Location
from ..records import dataclass
from .schema import OPTIONS, Option
from .sources import SOURCE_TYPES

#: Options without which no dataset is indexed or restored. NeMo drops a key it does not know with a warning only.
RESUMING = ("indexed", "use_stateful_dataloader")

#: What goes with them: options that say where the indexes are.
INDEXING = ("indexes_root", "index_pack", "index_pack_root", "index_pack_max_open_files")


@dataclass(frozen=True, slots=True)
class Package:
    """NeMo or Lhotse, as it was found or as it is assumed."""

    name: str  #: as messages name it: nemo_toolkit, Speech main, lhotse
    version: str | None
    folder: Path | None = None  #: the package's folder; None where nothing was read
    stated: bool = False  #: the version is what the user's runtime context says

    @property
    def label(self) -> str:
        """Name and version: `lhotse 2.0.0a7`."""
        return f"{self.name} {self.version}" if self.version else self.name

    @property
    def read(self) -> bool:
        """Whether it was looked at."""
        return self.folder is not None


@dataclass(frozen=True, slots=True)
class Environment:
    """The folder of installed packages that training would import from, where a whole one was looked at."""

    folder: Path
    torchdata: bool  #: whether `torchdata.stateful_dataloader` is there
    indexed_gzip: bool
    aistore: str | None  #: the SDK's version, "" where it has none to read; None where it is not installed


@dataclass(frozen=True, slots=True)
class Runtime:
    """What the NeMo and Lhotse in use can do. Each fact is read from their files, or is the profile's."""

    profile: str  #: the name of the profile that stands for what was not read
    nemo: Package
    lhotse: Package
    options: Mapping[str, Option]  #: fields of `LhotseDataLoadingConfig`
    types: frozenset[str]  #: registered source types
    per_rank_state: bool  #: every rank saves and restores its own loader state
    index_packs: bool  #: NeMo's readers look at `index_pack`
    zero_weights: bool  #: a weight of 0 switches an entry off instead of raising
    nested_relative: bool  #: a relative path inside a blend file begins at that file, not at the launch folder
    indexed_core: bool  #: Lhotse reads by index at all
    pack_versions: tuple[int, ...]  #: formats of index packs that Lhotse reads
    gzip_indexes: bool  #: Lhotse indexes gzip
    aistore_minimum: str | None = None  #: the oldest AIStore SDK that Lhotse wants
    environment: Environment | None = None
    chosen: bool = False  #: the user named the profile
    schema: Location | None = None  #: the class of the options, where it was read
    files: tuple[Path, ...] = ()  #: what was read
    problems: tuple[str, ...] = ()  #: what could not be read, a sentence each

    @property
    def inspected(self) -> bool:
        """Whether any code was looked at."""
        return self.nemo.read or self.lhotse.read

    @property
    def can_index(self) -> bool:
        """Whether the pair reads by index: NeMo asks for it and Lhotse can."""
        return "indexed" in self.options and self.indexed_core

    @property
    def label(self) -> str:
        """Both packages: `Speech main + lhotse 2.0.0a7`."""
        return f"{self.nemo.label} + {self.lhotse.label}"

    @property
    def packages(self) -> tuple[tuple[str, Package], ...]:
        """Both packages, by the names people call them."""
        return ("NeMo", self.nemo), ("Lhotse", self.lhotse)

    @property
    def unverified(self) -> str:
        """What of them was not looked at, or not in full, as a phrase; "" where all was read."""
        open_ = [(name, package) for name, package in self.packages if not package.read]
        if not open_:
            return "parts of the NeMo and Lhotse in use, which could not be read" if self.problems else ""
        names = " and ".join(name for name, _ in open_)
        if self.chosen:
            return f"the {names} in use (taken from the profile `{self.profile}`)"
        what = " + ".join(package.label for _, package in open_)
        return f"the {names} in use ({what} {'stated' if all(p.stated for _, p in open_) else 'assumed'})"


def version_key(version: str) -> tuple[tuple[int, ...], int, int]:
    """A version such that comparing compares: release, whether a pre-release (0) or not (1), and its number.

    `2.0.0a7` is ((2, 0, 0), 0, 7), `2.0.0` ((2, 0, 0), 1, 0). A version that is none comes before all.
    """
    match = re.match(r"v?(\d+(?:\.\d+)*)(?:[-_.]?(alpha|beta|a|b|c|rc|dev)[-_.]?(\d*))?", version.strip().lower())
    if match is None:
        return (), 0, 0
    release = tuple(int(part[:9]) for part in match[1].split("."))
    while len(release) > 1 and release[-1] == 0:
        release = release[:-1]
    step = {"dev": -1000, "a": 0, "alpha": 0, "b": 1000, "beta": 1000, "c": 2000, "rc": 2000}
    if match[2] is None:
        return release, 1, 0
    return release, 0, step[match[2]] + int((match[3] or "0")[:3])


def at_least(version: str, wanted: str) -> bool:
    """Whether a version is the wanted one or a later one."""
    return version_key(version) >= version_key(wanted)


def lhotse_of_version(runtime: Runtime, version: str) -> Runtime:
    """The runtime with the Lhotse of a version that is only stated: what each release can do is known."""
    known = runtime.lhotse.version
    if known is not None and version_key(known) == version_key(version):
        return replace(runtime, lhotse=Package("lhotse", version, stated=True))
    indexed = at_least(version, "2.0.0a1")
    packs = (2, 3) if at_least(version, "2.0.0a6") else (2,) if at_least(version, "2.0.0a3") else ()
    return replace(
        runtime,
        lhotse=Package("lhotse", version, stated=True),
        indexed_core=indexed,
        pack_versions=packs,
        gzip_indexes=False,  # no release does
    )


def nemo_of_version(runtime: Runtime, version: str) -> Runtime:
    """The runtime with the NeMo of a version that is only stated. What is later than 3.0.0 is taken as Speech main."""
    other = PROFILES["speech-main" if version_key(version) > version_key("3.0.0") else "nemo-3.0.0"]()
    if runtime.zero_weights and "indexed" in other.options:
        other = runtime
    return replace(
        runtime,
        nemo=Package("nemo_toolkit", version, stated=True),
        options=other.options,
        types=other.types,
        per_rank_state=other.per_rank_state,
        index_packs=other.index_packs,
        zero_weights=other.zero_weights,
        nested_relative=other.nested_relative,
    )


@lru_cache(maxsize=1)
def _nemo_3() -> Runtime:
    """The newest NeMo on the package index, with the Lhotse it was released with. Read in the wheels."""
    return Runtime(
        "nemo-3.0.0",
        Package("nemo_toolkit", "3.0.0"),
        Package("lhotse", "1.33.0"),
        options={name: option for name, option in OPTIONS.items() if not option.speech_main},
        types=frozenset(name for name, kind in SOURCE_TYPES.items() if not kind.speech_main),
        per_rank_state=False,
        index_packs=False,
        zero_weights=False,
        nested_relative=False,
        indexed_core=False,
        pack_versions=(),
        gzip_indexes=False,
        aistore_minimum="1.17.0",
    )


@lru_cache(maxsize=1)
def _speech_main() -> Runtime:
    """NeMo Speech main of July 2026 with the newest Lhotse pre-release, as it was run."""
    return Runtime(
        "speech-main",
        Package("Speech main", None),
        Package("lhotse", "2.0.0a7"),
        options=OPTIONS,
        types=frozenset(SOURCE_TYPES),
        per_rank_state=True,
        index_packs=True,
        zero_weights=False,
        nested_relative=True,
        indexed_core=True,
        pack_versions=(2, 3),
        gzip_indexes=False,
        aistore_minimum="1.17.0",
    )


@lru_cache(maxsize=1)
def _speech_main_gzip() -> Runtime:
    """What the newest Speech main is written for: a Lhotse, not released, that indexes gzip and reads version 4 packs."""
    return replace(
        _speech_main(),
        profile="speech-main-gzip",
        lhotse=Package("a Lhotse with gzip indexes", None),
        pack_versions=(2, 3, 4),
        gzip_indexes=True,
        zero_weights=True,
    )


#: The profiles, oldest first.
PROFILES = {"nemo-3.0.0": _nemo_3, "speech-main": _speech_main, "speech-main-gzip": _speech_main_gzip}

#: The newest whose Lhotse is released.
DEFAULT = "speech-main"


def assumed(name: str | None = None) -> Runtime:
    """The runtime of a profile, of the default one where none is named. Raises KeyError."""
    runtime = PROFILES[name or DEFAULT]()
    return replace(runtime, chosen=True) if name else runtime
