"""What the report says of the NeMo and Lhotse in use: what was read, where, and what was assumed instead."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..model.profiles import Package, Runtime

if TYPE_CHECKING:
    from .migrate import Migration


def inspected(migration: Migration) -> list[str]:
    """A line for each of NeMo, Lhotse and their environment that was looked at, with what was found in it."""
    runtime = migration.config.context.runtime
    lines = []
    for name, package in runtime.packages:
        if package.folder is not None:
            found = _nemo(runtime) if package is runtime.nemo else _lhotse(runtime)
            read = [file.name for file in runtime.files if _of(file.parts, package)]
            files = f" ({', '.join(f'`{file}`' for file in read)})" if read else ""
            lines.append(
                f"- {name} `{migration.shown(package.folder)}`: {package.label}, its files read{files}, not run: {found}"
            )
    place = runtime.environment
    if place is not None:
        stateful = "with" if place.torchdata else "without"
        gzip = "with" if place.indexed_gzip else "without"
        store = "no `aistore`" if place.aistore is None else f"`aistore` {place.aistore}".rstrip()
        lines.append(
            f"- environment `{migration.shown(place.folder)}`: {stateful} `torchdata.stateful_dataloader`, {gzip} "
            f"`indexed_gzip`, {store}"
        )
    return lines


def assumed(migration: Migration) -> list[str]:
    """Lines for what was taken from the user's word or from a profile, and for what could not be read."""
    runtime = migration.config.context.runtime
    lines = []
    for name, package in runtime.packages:
        if not package.read:
            why = (
                "its version as the runtime context states it"
                if package.stated
                else f"by the profile `{runtime.profile}`, as you say"
                if runtime.chosen
                else f"by the profile `{runtime.profile}`: no code was found"
            )
            found = _nemo(runtime) if package is runtime.nemo else _lhotse(runtime)
            lines.append(f"- {name}: {package.label}, {why}; {found}")
    lines += [
        f"- {problem}: what it would say is taken from the profile `{runtime.profile}`" for problem in runtime.problems
    ]
    return lines


def _of(parts: tuple[str, ...], package: Package) -> bool:
    """Whether a file that was read is the package's: below its folder, or its METADATA beside it."""
    assert package.folder is not None
    folder = package.folder.parts
    if parts[: len(folder)] == folder:
        return True
    return len(parts) > 1 and parts[-2].startswith(f"{package.name.split()[0]}-")


def _nemo(runtime: Runtime) -> str:
    """What NeMo can do, as a clause."""
    can = [f"{len(runtime.options)} options of a dataset", f"{len(runtime.types)} source types"]
    for key, what in (("indexed", "indexed reading"), ("use_stateful_dataloader", "stateful loading")):
        can.append(what if key in runtime.options else f"no {what}")
    can.append("index packs" if runtime.index_packs else "no index packs")
    return ", ".join(can)


def _lhotse(runtime: Runtime) -> str:
    """What Lhotse can do, as a clause."""
    if not runtime.indexed_core:
        return "no indexes"
    packs = ", ".join(map(str, runtime.pack_versions))
    can = ["indexes", f"index packs of version {packs}" if packs else "no index packs"]
    return ", ".join([*can, "also of gzip" if runtime.gzip_indexes else "none of gzip"])
