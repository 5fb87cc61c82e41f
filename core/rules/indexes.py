"""NR801-NR807: index files on this disk, where `--indexes` asks to look at them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..findings import Related, Severity
from ..model.index_states import CORRUPT, MISSING, ROWS, STALE
from ..model.readers import NEMO_TAR
from .drafts import Draft, about
from .registry import rule

if TYPE_CHECKING:
    from ..model.indexes import IndexFiles, Trouble

_BUILD = "Build them again with NeMo's `build_indexes.py`; `nemo-resumable migrate` writes the script."


def _draft(files: IndexFiles, trouble: Trouble, message: str, rationale: str, severity: Severity | None) -> Draft:
    """A draft at the first path concerned."""
    more = [f"`{example.sidecar if trouble.state != ROWS else example.file}`" for example in trouble.examples[1:]]
    if more:
        left = trouble.affected - 1 - len(more)
        rationale = f"Then {', '.join(more)}{f' and {left:,} more' if left else ''}. {rationale}"
    return Draft(
        message,
        trouble.path.location,
        f"{files.source.subject}.{trouble.path.key}",
        trouble.path.text,
        rationale=rationale.strip(),
        origin="entry",
        severity=severity,
    )


def _which(trouble: Trouble, state: str) -> str:
    """The sidecars as subject of the sentence that the first one's detail goes on with."""
    first = f"`{trouble.examples[0].sidecar}`"
    if trouble.affected == 1:
        return f"the sidecar {first}" if trouble.total == 1 else f"1 of {trouble.total:,} sidecars is {state}: {first}"
    return f"{trouble.affected:,} of {trouble.total:,} sidecars are {state}, first {first}, which"


def _of(files: IndexFiles, state: str) -> Iterator[Trouble]:
    return (trouble for trouble in files.troubles if trouble.state == state)


@rule("NR801", "missing-sidecar", Severity.WARNING)
def missing_sidecar(files: IndexFiles) -> Iterator[Draft]:
    """A source on this disk has no sidecar."""
    for trouble in _of(files, MISSING):
        first = trouble.examples[0]
        if trouble.affected == 1:
            which = f"the sidecar `{first.sidecar}` is missing"
        else:
            which = f"{trouble.affected:,} of {trouble.total:,} sidecars are missing, first `{first.sidecar}`"
        if not trouble.severe:
            effect = "the loader reads all of their data at start-up to build them" if trouble.affected > 1 else _BUILT
        elif trouble.kind == NEMO_TAR and any(example.detail for example in trouble.examples):
            effect = "the loader builds none into a folder that does not exist, and start-up raises a FileNotFoundError"
        else:
            effect = "the loader builds none of this sort, and start-up raises a FileNotFoundError"
        yield _draft(
            files,
            trouble,
            f"{which}: {effect}",
            _BUILD.replace(" again", ""),
            Severity.ERROR if trouble.severe else None,
        )


_BUILT = "the loader reads all of its data at start-up to build it"


@rule("NR802", "corrupt-sidecar", Severity.ERROR)
def corrupt_sidecar(files: IndexFiles) -> Iterator[Draft]:
    """A sidecar is no list of rising offsets."""
    for trouble in _of(files, CORRUPT):
        yield _draft(files, trouble, f"{_which(trouble, 'corrupt')} {trouble.examples[0].detail}", _BUILD, None)


@rule("NR803", "stale-sidecar", Severity.ERROR)
def stale_sidecar(files: IndexFiles) -> Iterator[Draft]:
    """A sidecar is of another size or older than its source."""
    for trouble in _of(files, STALE):
        yield _draft(files, trouble, f"{_which(trouble, 'stale')} {trouble.examples[0].detail}", _BUILD, None)


@rule("NR804", "row-member-mismatch", Severity.ERROR)
def row_member_mismatch(files: IndexFiles) -> Iterator[Draft]:
    """A manifest has more or fewer rows than its tar has members."""
    for trouble in _of(files, ROWS):
        first = trouble.examples[0]
        which = f"`{first.file}`"
        if trouble.affected > 1:
            which = f"{trouble.affected:,} of {trouble.total:,} manifests do not fit their tars, first {which}, which"
        if trouble.severe:
            effect = "row and member go together by their position, and rows without a member raise an IndexError"
        else:
            effect = "row and member go together by their position, and rows that are not at their member's are looked for by name"
        yield _draft(
            files,
            trouble,
            f"{which} {first.detail}: {effect}",
            "An index pack with routes from rows to members does without equal numbers.",
            None if trouble.severe else Severity.WARNING,
        )


@rule("NR805", "stale-pack", Severity.ERROR)
def stale_pack(files: IndexFiles) -> Iterator[Draft]:
    """An index pack does not fit the sources that it is declared for."""
    pack = files.pack
    for trouble in pack.troubles if pack is not None else ():
        assert pack is not None
        yield Draft(
            f"the index pack `{pack.text}` holds {trouble.detail}",
            trouble.path.location,
            f"{files.source.subject}.{trouble.path.key}",
            trouble.path.text,
            rationale=trouble.hint or "Convert the pack again: a collection belongs to the very text of the path.",
            origin="entry",
            related=(Related(files.source["index_pack"].location, "the pack is declared here"),),
        )


@rule("NR806", "missing-indexes-root", Severity.WARNING)
def missing_indexes_root(files: IndexFiles) -> Iterator[Draft]:
    """The folder of the sidecars is not on this machine."""
    if files.rootless:
        yield about(
            files.root,
            f"`indexes_root` is `{files.root.value}`, which {files.rootless}: none of the sidecars below it could be looked at",
            rationale="Run `check --indexes` where the folder is, after it was built or staged.",
        )


@rule("NR807", "corrupt-pack", Severity.ERROR)
def corrupt_pack(files: IndexFiles) -> Iterator[Draft]:
    """An index pack is no file that Lhotse opens."""
    if files.pack is not None and files.pack.problem:
        yield about(
            files.source["index_pack"],
            f"the index pack `{files.pack.text}` {files.pack.problem}: start-up raises a ValueError",
            rationale="Convert the pack again with `convert_indexes_to_idxpack.py`.",
        )
