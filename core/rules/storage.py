"""NR601-NR608: remote storage, and what has to surround training for it to work."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

from ..findings import Location, Related, Severity
from ..model import paths
from ..model.blend import PathText
from ..model.config import TrainingConfig
from ..model.dataset import Dataset
from ..model.environment import Variable, variable
from ..model.profiles import at_least
from ..model.storage import Remote, remote_paths
from .drafts import Draft
from .registry import rule

ENDPOINT, GET_BATCH, SINGLE_GETS = "AIS_ENDPOINT", "USE_AIS_GET_BATCH", "USE_AIS_INDIVIDUAL_GETS"

#: Variables that send reads of `s3://` elsewhere: to a local mirror, or through another client.
_OTHER_WAYS = ("LHOTSE_S3_LOCAL_MIRROR_ROOTS", "LHOTSE_IO_BACKEND", "LHOTSE_MSC_OVERRIDE_PROTOCOLS")
#: Keys whose files are read at random by line when they are indexed.
_BY_LINE = frozenset({"manifest_filepath", "cuts_path", "paths"})


@rule("NR601", "no-ais-endpoint", Severity.ERROR)
def no_ais_endpoint(config: TrainingConfig) -> Iterator[Draft]:
    """Sources are remote and no AIStore endpoint reaches the ranks."""
    remote = remote_paths(config)
    endpoint = variable(config, ENDPOINT)
    if not remote or _another_way(config, remote):
        return
    first, more = remote[0], _more(remote)
    if endpoint.value is not None and not _is_url(endpoint.value):
        yield _at_variable(
            config,
            endpoint,
            f"`{ENDPOINT}` is `{endpoint.value}`, which is no URL: remote sources{more} cannot be opened",
            Severity.ERROR,
            recommended="http://HOST:PORT",
        )
    elif endpoint.missing:
        yield _missing(
            config,
            endpoint,
            first[1],
            f"sources are remote (`{_shown(first[1])}`{more}) and {_unset(endpoint)}: opening them raises a "
            "ValueError at start-up",
            rationale=f"Export `{ENDPOINT}` before training is started, in every chunk.",
        )
    elif not endpoint.known:
        yield Draft(
            f"sources are remote (`{_shown(first[1])}`{more}): without `{ENDPOINT}` in the ranks' environment, opening them "
            "raises a ValueError at start-up",
            first[1].location,
            f"{first[0].subject}.{first[1].key}",
            rationale="Give the launcher with --launcher, or the endpoint in the runtime context (--runtime).",
            severity=Severity.WARNING,
        )


@rule("NR602", "get-batch-off", Severity.ERROR)
def get_batch_off(config: TrainingConfig) -> Iterator[Draft]:
    """Tarred audio is remote and is not fetched by batch."""
    tars = [
        (source, path)
        for source, path in remote_paths(config)
        if path.key == "tarred_audio_filepaths" and source.reader == "nemo_tarred"
    ]
    switch = variable(config, GET_BATCH)
    if not tars or switch.is_true or _another_way(config, tars):
        return
    first = tars[0]
    effect = (
        "every worker opens a tar reader for each shard at start-up instead of fetching audio when a batch is built"
    )
    if switch.value is not None:
        yield _at_variable(
            config,
            switch,
            f"`{GET_BATCH}` is `{switch.value}`, and only `true` counts: {effect}",
            Severity.ERROR,
            recommended="true",
        )
    elif switch.missing:
        yield _missing(
            config,
            switch,
            first[1],
            f"tarred audio is remote (`{_shown(first[1])}`{_more(tars)}) and `{GET_BATCH}` {_not_there(switch)}: {effect}",
            rationale=f"Export `{GET_BATCH}=true`; no YAML key does the same.",
        )
    elif not switch.known:
        yield Draft(
            f"tarred audio is remote (`{_shown(first[1])}`{_more(tars)}): unless `{GET_BATCH}=true` is exported, {effect}",
            first[1].location,
            f"{first[0].subject}.{first[1].key}",
            rationale="Give the launcher with --launcher, or the variables in the runtime context (--runtime).",
            severity=Severity.WARNING,
        )


@rule("NR603", "individual-gets-alone", Severity.WARNING)
def individual_gets_alone(config: TrainingConfig) -> Iterator[Draft]:
    """Individual gets are asked for without get-batch."""
    single = variable(config, SINGLE_GETS)
    if single.is_true and variable(config, GET_BATCH).is_off:
        yield _at_variable(
            config,
            single,
            f"`{SINGLE_GETS}` only changes how get-batch fetches, and `{GET_BATCH}` is not `true`: it has no effect",
            Severity.WARNING,
        )


@rule("NR604", "get-batch-on-local-data", Severity.WARNING)
def get_batch_on_local_data(config: TrainingConfig) -> Iterator[Draft]:
    """Get-batch is on and no source is remote."""
    switch = variable(config, GET_BATCH)
    if not switch.is_true or remote_paths(config) or config.gaps:
        return
    every = [path for dataset in config.datasets for source in dataset.sources for path in source.paths]
    if every and all(path.known for path in every):
        yield _at_variable(
            config,
            switch,
            f"`{GET_BATCH}` is `true` and no source is remote: tarred audio on a file system is then looked for in an object "
            "store",
            Severity.WARNING,
        )


@rule("NR605", "no-aistore-sdk", Severity.ERROR)
def no_aistore_sdk(config: TrainingConfig) -> Iterator[Draft]:
    """Sources are remote and the AIStore SDK is missing or too old in the environment looked at."""
    remote = remote_paths(config)
    runtime = config.context.runtime
    place, stated = runtime.environment, config.context.stated.packages.get("aistore")
    if not remote or _another_way(config, remote) or (place is None and stated is None):
        return
    source, path = remote[0]
    version = stated or (place.aistore if place is not None else None)
    if version is None:
        problem = "and the environment has no `aistore`: opening them raises an ImportError at start-up"
    elif runtime.aistore_minimum and version and not at_least(version, runtime.aistore_minimum):
        problem = (
            f"and `aistore` is {version}, older than the {runtime.aistore_minimum} that {runtime.lhotse.label} asks for: "
            "fetching from the store fails"
        )
    else:
        return
    wanted = f"`aistore>={runtime.aistore_minimum}`" if runtime.aistore_minimum else "`aistore`"
    yield Draft(
        f"sources are remote (`{_shown(path)}`{_more(remote)}) {problem}",
        path.location,
        f"{source.subject}.{path.key}",
        current=version,
        rationale=f"Install {wanted} where training runs.",
    )


@rule("NR606", "empty-batch-content", Severity.NOTE)
def empty_batch_content(config: TrainingConfig) -> Iterator[Draft]:
    """Get-batch is on: objects have to be there for the batch endpoint."""
    switch = variable(config, GET_BATCH)
    remote = remote_paths(config)
    if switch.is_true and remote:
        yield _at_variable(
            config,
            switch,
            f"`{GET_BATCH}` is `true`: an object that the batch endpoint cannot reach comes back empty, and its items are "
            "dropped or fail to decode in the middle of an epoch",
            Severity.NOTE,
            rationale="Before the first chunk, fetch one object of each bucket through the batch endpoint.",
        )


@rule("NR607", "remote-manifest", Severity.WARNING)
def remote_manifest(dataset: Dataset) -> Iterator[Draft]:
    """Manifests or cuts that are indexed lie on remote storage."""
    by_file: dict[object, Remote] = {}
    for source in dataset.sources:
        if not source.judged_indexed:
            continue
        for path in source.paths:
            by_line = (path.key in _BY_LINE and not path.name.endswith(".tar")) or path.field == "cuts"
            if by_line and paths.is_remote(path.text):
                by_file.setdefault(path.location.file, []).append((source, path))
    for found in by_file.values():
        source, path = found[0]
        yield Draft(
            f"the manifest `{_shown(path)}` is remote{_more(found, ', as ', ' are')}: once indexed, every line is a request of "
            "its own to the object store, and one epoch needs as many as there are items",
            path.location,
            f"{source.subject}.{path.key}",
            path.text,
            rationale="Keep manifests and cuts on a file system that every node sees; audio may stay remote.",
        )


@rule("NR608", "mixed-storage", Severity.NOTE)
def mixed_storage(config: TrainingConfig) -> Iterator[Draft]:
    """Local and remote sources stand in one config."""
    remote = remote_paths(config)
    local = next(
        (
            path
            for dataset in config.datasets
            for source in dataset.sources
            for path in source.paths
            if path.known and path.key not in _BY_LINE and paths.scheme(path.text) in (None, "file")
        ),
        None,
    )
    if remote and local is not None:
        source, path = remote[0]
        yield Draft(
            "local and remote audio stand in one config: what remote storage needs (endpoint, get-batch, an `indexes_root` on "
            "a file system) holds for the whole run",
            path.location,
            f"{source.subject}.{path.key}",
            path.text,
            related=(Related(local.location, "a local source"),),
        )


def _another_way(config: TrainingConfig, remote: Remote) -> bool:
    """Whether all of it is `s3://`, which the environment may send to a mirror or another client than AIStore's."""
    if any(paths.scheme(path.text) != "s3" for _, path in remote):
        return False
    return any(variable(config, name).is_set for name in _OTHER_WAYS)


def _shown(path: PathText) -> str:
    """The path, of a long one the store and the name."""
    if len(path.text) <= 60:
        return path.text
    return f"{paths.scheme(path.text)}://…/{path.text.rsplit('/', 1)[-1][-50:]}"


def _more(found: Remote, before: str = " and ", after: str = "") -> str:
    return f"{before}{len(found) - 1} more{after}" if len(found) > 1 else ""


def _is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        return False


def _missing(config: TrainingConfig, variable: Variable, path: PathText, message: str, *, rationale: str) -> Draft:
    """A variable does not reach the ranks: the place is where it is set in vain, else the training command, else the path."""
    if config.launch is None:
        return Draft(message, path.location, "environment", rationale=rationale)
    related = (Related(path.location, "a remote source"),)
    where = variable.location or config.launch.location
    return Draft(
        message, where, f"environment.{variable.name}", rationale=rationale, origin="launcher", related=related
    )


def _not_there(variable: Variable) -> str:
    return "is set here and not exported" if variable.location is not None else "is not set"


def _unset(variable: Variable) -> str:
    return (
        f"`{variable.name}` is set here and not exported"
        if variable.location is not None
        else f"no `{variable.name}` reaches the ranks"
    )


def _at_variable(
    config: TrainingConfig,
    found: Variable,
    message: str,
    severity: Severity,
    *,
    recommended: object = None,
    rationale: str = "",
) -> Draft:
    """At the line that sets the variable; one of the runtime context is spoken of at the training dataset."""
    location: Location = found.location or config.training[0].location
    origin = "launcher" if found.location else "settings"
    return Draft(
        message, location, f"environment.{found.name}", found.value, recommended, rationale, origin, severity=severity
    )
