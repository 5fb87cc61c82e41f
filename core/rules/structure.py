"""NR320-NR323, NR338: what the parts of a blend must agree on: temperatures and depth, modes and what they need."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ..findings import Related, Severity
from ..model import depth, paths, sidecars
from ..model.blend import Source
from ..model.config import TrainingConfig
from ..model.dataset import Dataset
from ..model.values import Setting, show
from .drafts import Draft, about
from .registry import rule

_CATALOGS = ("wids-meta.json", ".nv-meta/split.yaml", "wds-catalog.json")


@rule("NR320", "temperature-depth", Severity.ERROR)
def temperature_depth(dataset: Dataset) -> Iterator[Draft]:
    """A list of reweighting temperatures is not as long as `input_cfg` is deep."""
    for found in depth.mismatches(dataset):
        wrapper, levels = found.wrapper, found.depth.levels
        deep = f"{'' if found.depth.exact else 'at least '}{levels} level{'s' if levels != 1 else ''} deep"
        if found.given is None:
            yield about(
                found.setting,
                f"`reweight_temperature` is the single number {show(found.setting.value)} on a group, where only a list is taken "
                "apart: a TypeError at start-up",
                recommended=[found.setting.value] * levels,
            )
            continue
        values = f"{found.given} value{'s' if found.given != 1 else ''}"
        if wrapper is None or found.setting.subject.startswith(f"{wrapper.subject}."):
            yield about(
                found.setting,
                f"`reweight_temperature` has {values} and `input_cfg` is {deep}: a ValueError at start-up",
                rationale="One value for each level, the outermost first; a single number holds for all of them.",
            )
        else:
            yield Draft(
                f"{values} of `reweight_temperature` {'are' if found.given != 1 else 'is'} left for this "
                f"`{show(wrapper.type_name)}`, whose own `input_cfg` is {deep}: a ValueError at start-up",
                wrapper.location,
                f"{wrapper.subject}.reweight_temperature",
                origin=found.setting.origin.value,
                rationale="A wrapper compares what is left with its own depth: give it a list of its own, or nest all alike.",
                related=(Related(found.setting.location, "the temperatures are given here"),),
            )


def _knows_collections(source: Source) -> bool:
    """Whether the NeMo in use reads the keys of collections and of WebDataset's second index: they came with packs."""
    return source.dataset.config.context.runtime.index_packs


@rule("NR321", "incomplete-share-gpt", Severity.ERROR)
def incomplete_share_gpt(source: Source) -> Iterator[Draft]:
    """A ShareGPT source lacks what its way of finding audio needs."""
    if source.reader != "share_gpt" or not _knows_collections(source):
        return
    mode = source["tar_lookup_mode"]
    route, old_route = source["tar_routing_filepath"], source["tar_routing_index"]
    if not mode.known:
        return
    if mode.value not in (None, "paired", "collection"):
        yield about(
            mode,
            f"`tar_lookup_mode` is `{show(mode.value)}`, and only `paired` and `collection` are known: a ValueError at start-up",
        )
    elif mode.value == "collection":
        yield from _incomplete_collection(source, mode, route if route.value is not None else old_route)
    both = route.known and old_route.known and None not in (route.value, old_route.value)
    if both and str(route.value) != str(old_route.value):
        yield about(
            old_route,
            f"`tar_routing_index` is the old name of `tar_routing_filepath`, which says `{show(route.value)}`: the index builder "
            "raises a ValueError",
            related=(Related(route.location, "the other path"),),
        )
    yield from _exclusions(source)


def _incomplete_collection(source: Source, mode: Setting, route: Setting) -> Iterator[Draft]:
    needs = "`tar_lookup_mode: collection` needs"
    if source["indexed"].lacks(True):
        yield about(mode, f"{needs} `indexed: true`: a ValueError at start-up", related=_stated(source["indexed"]))
    if not source.has("tarred_audio_filepaths"):
        yield about(mode, f"{needs} `tarred_audio_filepaths`, the tars of the collection: a ValueError at start-up")
    if route.known and route.value is None:
        yield about(
            mode, f"{needs} `tar_routing_filepath`, which says where each row's audio lies: a ValueError at start-up"
        )
    elif isinstance(route.value, str):
        if not route.value.endswith(".sgroute"):
            yield about(
                route,
                f"`{show(route.value)}` does not end in `.sgroute`: the index builder raises a ValueError and builds no route",
            )
        homes = (source["index_pack"], source["indexes_root"])
        rooted = Path(route.value).is_absolute() or paths.scheme(route.value) is not None
        if not rooted and all(home.known and home.value is None for home in homes):
            yield about(
                route,
                f"`{show(route.value)}` is relative, and neither `index_pack` nor `indexes_root` says to what: a ValueError at "
                "start-up",
            )


def _exclusions(source: Source) -> Iterator[Draft]:
    """`excluded_manifest_lines`: numbers of rows that are left out of an indexed source."""
    lines, audit = source["excluded_manifest_lines"], source["approved_exclusion_audit_sha256"]
    if not lines.known or not isinstance(lines.value, list) or not lines.value:
        return
    if source["indexed"].lacks(True):
        yield about(lines, "`excluded_manifest_lines` needs `indexed: true`: a ValueError at start-up", at_key=True)
    known = [line for line in lines.value if isinstance(line, (int, float, str, bool))]
    if any(type(line) is not int for line in known):
        yield about(
            lines, "`excluded_manifest_lines` holds what is no line number: a TypeError at start-up", at_key=True
        )
    elif any(line < 1 for line in known) or len(set(known)) < len(known):  # type: ignore[operator]
        yield about(
            lines,
            "`excluded_manifest_lines` counts from 1 and names each line once: a ValueError at start-up",
            at_key=True,
        )
    if audit.known and audit.value is None:
        yield about(
            lines,
            "`excluded_manifest_lines` needs `approved_exclusion_audit_sha256`: a ValueError at start-up",
            at_key=True,
        )


def _stated(setting: Setting) -> tuple[Related, ...]:
    return (Related(setting.location, f"`{setting.key}` is {setting.phrase}"),) if setting.stated else ()


@rule("NR322", "incomplete-webdataset", Severity.ERROR)
def incomplete_webdataset(source: Source) -> Iterator[Draft]:
    """A WebDataset source lacks what its sample index needs."""
    if source.reader != "share_gpt_webdataset" or not _knows_collections(source):
        return
    version = source["wds_sample_index_version"]
    if not version.known or version.value is None:
        return
    if type(version.value) is not int or version.value not in (1, 2):
        yield about(
            version,
            f"`wds_sample_index_version` is `{show(version.value)}`, and only 1 and 2 are known: a ValueError at start-up",
        )
        return
    if version.value == 1:
        return
    if source["indexed"].lacks(True):
        yield about(
            version,
            "`wds_sample_index_version: 2` needs `indexed: true`: a ValueError at start-up",
            related=_stated(source["indexed"]),
        )
    for path in source.paths:
        scheme = paths.scheme(path.text) if path.known else None
        if scheme not in (None, "file", *paths.OBJECT_STORES):
            yield Draft(
                f"index version 2 finds tars by a catalog on `s3://`, `ais://` or a file system only: `{scheme}://` raises "
                "a ValueError at start-up",
                path.location,
                f"{source.subject}.data_dir",
                path.text,
                origin="entry",
            )
        elif path.known and scheme is None and _lacks_catalog(source, path.text):
            yield Draft(
                f"`{path.text}` has no shard catalog (`wids-meta.json`, `.nv-meta/split.yaml` or `wds-catalog.json`), by which "
                "index version 2 finds its tars: start-up raises",
                path.location,
                f"{source.subject}.data_dir",
                path.text,
                origin="entry",
            )


def _lacks_catalog(source: Source, text: str) -> bool:
    """Whether a local folder is on this machine and none of its catalogs is."""
    if text.endswith(".json") or paths.count(text) != 1:
        return False
    context = source.dataset.config.context
    folder = context.launch_dir / text
    return context.presence(folder) is True and all(context.presence(folder / name) is False for name in _CATALOGS)


@rule("NR323", "contradictory-index-options", Severity.ERROR)
def contradictory_index_options(source: Source) -> Iterator[Draft]:
    """A Shar source is told where its indexes lie and not to use them."""
    indexed, root = source["indexed"], source["indexes_root"]
    if not source.dataset.config.context.runtime.can_index:
        return  # neither option is read
    if source.reader == "shar" and indexed.is_(False) and root.known and root.value is not None:
        yield about(
            indexed,
            f"`indexed` is `false` for a Shar source under the `indexes_root` `{show(root.value)}`: Lhotse takes the two for a "
            "contradiction and raises a ValueError at start-up",
            rationale="Set `indexed: true`, or `indexes_root: null` beside it.",
            related=(Related(root.location, "`indexes_root` is set here"), *_reads(source, indexed)),
        )


def _reads(source: Source, setting: Setting) -> tuple[Related, ...]:
    """The source, where the setting stands elsewhere."""
    own = setting.location.span == source.location.span or source.own("indexed") is not None
    return () if own else (Related(source.location, "this Shar source inherits it"),)


@rule("NR338", "colliding-sidecars", Severity.ERROR)
def colliding_sidecars(config: TrainingConfig) -> Iterator[Draft]:
    """Two sources share one sidecar under the index root."""
    for first, second, example in sidecars.collisions(config):
        yield Draft(
            f"`{second.path.text}` and `{first.path.text}` have one sidecar under `indexes_root`, `{example}`: the mirror "
            "leaves the scheme out, and one is read at the offsets of the other",
            second.path.location,
            f"{second.source.subject}.{second.path.key}",
            second.path.text,
            origin="file" if second.source.flat else "entry",
            rationale="Give one of them an `indexes_root` of its own.",
            related=(Related(first.path.location, "the other source"),),
        )
