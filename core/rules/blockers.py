"""NR301-NR309, NR319: sources that cannot be indexed as they are."""

from __future__ import annotations

from collections.abc import Iterator

from ..findings import Fix, FixKind, Severity
from ..model import obstacles, paths
from ..model.blend import Entry, PathText, Source
from ..model.dataset import TrainingDataset
from ..model.sidecars import sidecar_path
from ..model.values import show
from .drafts import Draft, about, attempt
from .migration import in_group
from .registry import rule

_MOST_SIDECARS = 10_000  #: shards beyond this are not looked for one by one


def exclude(source: Entry, reason: str) -> Fix:
    """The user's choice to leave a source out: the entry stays as comment lines with the reason."""
    return attempt("Exclude this source (comment it out)", lambda: source.exclude(reason), kind=FixKind.CHOICE)


def at_path(source: Entry, path: PathText, message: str, reason: str, *, choice: bool = True, **more: object) -> Draft:
    """A draft that points at one path of a source."""
    fix = exclude(source, reason) if choice else None
    subject = f"{source.subject}.{path.key}"
    origin = "file" if source.flat else "entry"
    return Draft(message, path.location, subject, path.text, origin=origin, fix=fix, **more)  # type: ignore[arg-type]


@rule("NR301", "extra-fields", Severity.FATAL, fix=FixKind.CHOICE)
def extra_fields(source: Source) -> Iterator[Draft]:
    """A NeMo manifest source with `extra_fields`."""
    setting = obstacles.extra_fields(source) if source.judged_indexed else None
    if setting is not None:
        yield about(
            setting,
            "`extra_fields` cannot be indexed: their values are drawn by position, and the reader raises a ValueError at "
            "start-up",
            rationale="Write the fields into the manifest rows when the data is built.",
            fix=exclude(source, "NR301: extra_fields cannot be indexed"),
            at_key=True,
        )


@rule("NR302", "sliced-source", Severity.FATAL, fix=FixKind.CHOICE)
def sliced_source(source: Source) -> Iterator[Draft]:
    """A source is sliced by `slice_length`."""
    if not source.judged_indexed:
        return
    setting = obstacles.slice_length(source)
    if setting is None:
        return
    if obstacles.refused_slice(source):
        yield about(
            setting,
            f"`slice_length` is `{show(setting.value)}`, which the indexed `{source.reader}` reader refuses: a ValueError at "
            "start-up",
            rationale="Indexed access needs no slices: leave `slice_length` out where the data is built for it.",
            fix=exclude(source, "NR302: slice_length cannot be indexed")
            if not source.flat and source.own("slice_length")
            else None,
        )
    else:
        yield about(
            setting,
            f"`slice_length` is ignored by the `{source.reader}` reader",
            severity=Severity.NOTE,
        )


@rule("NR303", "mapped-cuts", Severity.FATAL, fix=FixKind.CHOICE)
def mapped_cuts(source: Source) -> Iterator[Draft]:
    """A Shar source maps its cuts."""
    setting = obstacles.mapped_cuts(source) if source.judged_indexed else None
    if setting is not None:
        yield about(
            setting,
            "`cut_map_fns` cannot be used with indexed Shar: where a reader hands it to Lhotse, a ValueError at start-up",
            fix=exclude(source, "NR303: cut_map_fns cannot be indexed"),
            at_key=True,
        )


@rule("NR304", "compressed-tar", Severity.FATAL, fix=FixKind.CHOICE)
def compressed_tar(source: Source) -> Iterator[Draft]:
    """A tar archive is compressed as a whole."""
    if source.judged_indexed:
        for path in obstacles.compressed_tars(source):
            suffix = paths.compression(path.name)
            yield at_path(
                source,
                path,
                f"`{path.name}` is compressed (`{suffix}`): members of a compressed tar cannot be reached by offset, and "
                "reading it indexed fails at start-up",
                f"NR304: {suffix} tars cannot be indexed",
                rationale="Unpack the tars; audio inside them is compressed already.",
            )


@rule("NR305", "compressed-manifest", Severity.FATAL, fix=FixKind.CHOICE)
def compressed_manifest(source: Source) -> Iterator[Draft]:
    """A manifest or cuts file is compressed."""
    if not source.judged_indexed:
        return
    for path in obstacles.compressed_manifests(source):
        suffix = paths.compression(path.name)
        what = (
            f"`{path.name}` is compressed (`{suffix}`)"
            if suffix
            else f"the Shar folder `{path.text}` holds compressed cuts"
        )
        if obstacles.gzip_indexed(source, path):
            if not has_gzip_sidecars(source, path):
                yield at_path(
                    source,
                    path,
                    f"{what}: random access needs indexed_gzip, .idx and .gzidx, without which start-up fails",
                    "",
                    choice=False,
                    rationale="Install `indexed_gzip` where training runs and build both sidecars, or decompress the JSONL once.",
                    severity=Severity.ERROR,
                )
            continue
        yield at_path(
            source,
            path,
            f"{what}, which {_unable(source, path)}: a ValueError at start-up",
            f"NR305: {suffix or 'compressed cuts'} cannot be indexed",
            rationale="Decompress the JSONL once and point the config at it.",
        )


def _unable(source: Entry, path: PathText) -> str:
    """The clause that says by whom a compressed manifest cannot be indexed, and what could."""
    runtime = source.dataset.config.context.runtime
    if paths.compression(path.name) not in (None, ".gz"):
        return f"{runtime.lhotse.label} cannot index"
    if runtime.gzip_indexes:
        return "can be indexed on a file system only"
    return f"{runtime.lhotse.label} cannot index (a later one would need `indexed_gzip`, an `.idx` and a `.gzidx`)"


def has_gzip_sidecars(source: Entry, path: PathText) -> bool:
    """Whether all that random access to a gzip manifest takes is known to be there."""
    context = source.dataset.config.context
    place, root = context.runtime.environment, source["indexes_root"]
    if place is None or not place.indexed_gzip or not path.known or not root.known or not path.name:
        return False
    if paths.count(path.text) > _MOST_SIDECARS or paths.compression(path.name) is None:
        return False
    where = str(root.value) if root.value is not None else None
    return all(
        context.presence(context.launch_dir / sidecar_path(name, where, suffix)) is True
        for name in paths.expand(path.text)
        for suffix in (".idx", ".gzidx")
    )


@rule("NR306", "piped-source", Severity.FATAL, fix=FixKind.CHOICE)
def piped_source(source: Source) -> Iterator[Draft]:
    """A source is the output of a command."""
    if source.judged_indexed:
        for path in obstacles.pipes(source):
            yield at_path(
                source,
                path,
                "a `pipe:` cannot be read at an offset: indexing it raises at start-up",
                "NR306: pipes cannot be indexed",
                rationale="Name the object itself (`s3://…`, `ais://…`) or a file.",
            )


@rule("NR307", "stdin-source", Severity.FATAL, fix=FixKind.CHOICE)
def stdin_source(source: Source) -> Iterator[Draft]:
    """A source is the standard input."""
    if source.judged_indexed:
        for path in obstacles.standard_inputs(source):
            yield at_path(
                source,
                path,
                "`-` is the standard input, which cannot be indexed",
                "NR307: standard input cannot be indexed",
            )


@rule("NR308", "streaming-only-type", Severity.FATAL, fix=FixKind.CHOICE)
def streaming_only_type(source: Source) -> Iterator[Draft]:
    """A source type that can only stream."""
    if source.dataset.is_training and source.type is not None and not source.type.indexable:
        name = source.type.name
        better = " Convert the text to JSONL and read it as `txt_jsonl`." if name.startswith("txt") else ""
        yield about(
            source["type"],
            f"`{name}` ignores `indexed` and streams: with a fixed `shard_seed` every rank and worker draws the same items, and "
            "a resume replays them",
            rationale="Only indexed sources are partitioned." + better,
            fix=exclude(source, f"NR308: {name} can only stream"),
        )


@rule("NR309", "streaming-entry", Severity.ERROR, fix=FixKind.SAFE)
def streaming_entry(entry: Entry) -> Iterator[Draft]:
    """An entry of the training blend switches indexing off for itself."""
    dataset = entry.dataset
    setting = entry.own("indexed") if not entry.flat else None
    if isinstance(dataset, TrainingDataset) and setting is not None and setting.is_(False):
        leaves = list(entry.leaves()) if entry.children else []
        if leaves and not any(leaf["indexed"].is_(False) for leaf in leaves):
            return  # all sources below it switch indexing on again
        if entry.is_group or entry.indexable:
            yield about(
                setting,
                "`indexed` is `false` for this entry: it streams beside indexed sources, and every rank and worker draws the "
                "same items of it",
                recommended=None,
                fix=in_group(dataset, "Remove `indexed: false`", lambda: entry.remove("indexed")),
            )


@rule("NR319", "non-jsonl-cuts", Severity.FATAL, fix=FixKind.CHOICE)
def non_jsonl_cuts(source: Source) -> Iterator[Draft]:
    """A cuts manifest is no JSONL file."""
    if source.judged_indexed:
        for path in obstacles.cuts_without_jsonl(source):
            yield at_path(
                source,
                path,
                f"`{path.name}` has no `.jsonl` in its name: Lhotse ignores `indexed` for it, so it is neither partitioned "
                "between ranks nor restored by offset",
                "NR319: only .jsonl cuts can be indexed",
                rationale="Save the cuts as uncompressed JSONL.",
            )
