"""The NeMo and Lhotse in use: looked at where they can be found, taken from what the user says, else assumed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from .profiles import DEFAULT, PROFILES, Environment, Package, Runtime, assumed, lhotse_of_version, nemo_of_version

#: Where a virtual environment is looked for, in a repository's top folder.
ENVIRONMENTS = (".venv", "venv")


def runtime_in_use(
    root: Path,
    *,
    profile: str | None = None,
    nemo: Path | None = None,
    lhotse: Path | None = None,
    packages: Mapping[str, str] | None = None,
) -> Runtime:
    """What is known of the NeMo and Lhotse that a config in a repository is started with. Raises KeyError for a profile.

    A path the user gives comes first, then an environment in the repository's top folder, then the versions of the
    runtime context, then a profile. Who names a profile has said what is in use: nothing is looked for then.
    """
    runtime = assumed(profile)
    searched = profile is None and any((root / name).is_dir() for name in ENVIRONMENTS)
    if nemo is not None or lhotse is not None or searched:
        runtime = _looked_at(runtime, root if searched else None, nemo, lhotse)
    return _stated(runtime, packages) if profile is None and packages else runtime


def _looked_at(runtime: Runtime, root: Path | None, nemo: Path | None, lhotse: Path | None) -> Runtime:
    """The runtime with what is found at the paths given, and in the environments of a repository's top folder."""
    from .probe import LHOTSE, NEMO, Found, environment, environments, find, with_lhotse, with_nemo

    problems = []
    found: dict[str, Found] = {}
    for package, path, name in ((NEMO, nemo, "NeMo"), (LHOTSE, lhotse, "Lhotse")):
        if path is not None:
            here = find(path, package)
            if here is not None:
                found[package] = here
            else:
                problems.append(f"there is no {name} in `{path}`")
    places = [path for path in (nemo, lhotse) if path is not None]
    places += environments(root / name for name in ENVIRONMENTS) if root is not None else ()
    for package in (NEMO, LHOTSE):
        for place in places:
            if package not in found and (here := find(place, package)) is not None:
                found[package] = here
    if NEMO in found:
        runtime = with_nemo(runtime, found[NEMO])
    if LHOTSE in found:
        runtime = with_lhotse(runtime, found[LHOTSE])
    # NeMo imports torchdata, so its environment decides; an editable install names that of its links.
    sites = dict.fromkeys(each.site for each in found.values() if each.site is not None)
    whole = next((known for site in sites if (known := environment(site)) is not None), None)
    return replace(runtime, environment=whole, problems=(*runtime.problems, *problems))


def _stated(runtime: Runtime, packages: Mapping[str, str]) -> Runtime:
    """The runtime with the versions that the runtime context gives of what was not read."""
    version = packages.get("nemo-toolkit")
    if version and not runtime.nemo.read:
        runtime = nemo_of_version(runtime, version)
    version = packages.get("lhotse")
    if version and not runtime.lhotse.read:
        runtime = lhotse_of_version(runtime, version)
    return runtime


__all__ = ["DEFAULT", "PROFILES", "Environment", "Package", "Runtime", "assumed", "runtime_in_use"]
