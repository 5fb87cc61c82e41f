"""The index pack that a source declares, beside what the source names: its collections, and the sizes of its files."""

from __future__ import annotations

import os
from collections.abc import Iterator

from ..records import dataclass
from .blend import Entry, PathText
from .environment import variable
from .index_needs import NOT_HERE, REMOTE, UNKNOWN_PATH, UNREADABLE, is_remote
from .index_packs import PATHS_ONLY, Pack, collection_key, read_pack, segments
from .packs import misfit, pack_file
from .paths import to_braces
from .sidecar_files import ABSENT, FILE, Stat, look

_EXAMPLES = 3
_RAISES = "a ValueError at start-up"
_STALE = "records behind the old end are never read, and others may be read from the wrong places"

#: The collections that a reader looks up: data key, role, and the kinds of which one has to be there.
_COLLECTIONS: dict[str, tuple[tuple[str, str, tuple[str, ...]], ...]] = {
    "nemo": (("manifest_filepath", "manifest", ("jsonl",)),),
    "nemo_tarred": (
        ("manifest_filepath", "manifest", ("jsonl",)),
        ("tarred_audio_filepaths", "tar", ("nemo_tar",)),
    ),
    "nemotron_text_converation": (("paths", "paths", ("jsonl", "nemo_tar")),),
    "materialized_sft_messages": (("paths", "paths", ("jsonl",)),),
    "multimodal_conversation": (("manifest_filepath", "manifest", ("jsonl",)),),
    "share_gpt": (("manifest_filepath", "manifest", ("jsonl",)),),
    "share_gpt_webdataset": (("data_dir", "wds_tar", ("wds_tar_v2",)),),
}
_TAR_COLLECTION = ("tarred_audio_filepaths", "tar_collection", ("nemo_tar",))
_SHARD_ROUTE = ("native_tar_shard_route", "nemo_manifest_row_to_tar_shard_v1")


@dataclass(frozen=True, slots=True)
class PackTrouble:
    """Why a pack does not fit the source."""

    path: PathText  #: the path whose collection it is about
    detail: str  #: what the pack holds, and what follows from it
    hint: str = ""  #: a sentence on what may be behind it


@dataclass(frozen=True, slots=True)
class PackLook:
    """What was found of a declared pack."""

    text: str  #: as it is declared, below its root
    problem: str = ""  #: a clause without subject: why it cannot be opened
    troubles: tuple[PackTrouble, ...] = ()
    unseen: str = ""  #: why it, or the files that it speaks of, could not be looked at
    segments: int = 0  #: files whose size was compared


class PackReader:
    """Reads each pack once."""

    def __init__(self) -> None:
        self._packs: dict[tuple[str, Stat], Pack] = {}

    def look(self, source: Entry) -> PackLook:
        """The pack of a source that declares one."""
        file = pack_file(source)
        assert file is not None
        path = file.path if not file.relative else source.dataset.config.context.launch_dir / file.text
        if path is None:
            return PackLook(file.text, unseen=REMOTE if file.remote else UNKNOWN_PATH)
        if misfit(source) is not None:
            return PackLook(file.text)  # no pack can hold it in this form, which is said elsewhere
        found = look(str(path))
        if found.kind == ABSENT:
            return PackLook(file.text, unseen=NOT_HERE)
        key = (str(path), found)
        pack = self._packs.get(key)
        if pack is None:
            pack = self._packs[key] = read_pack(str(path))
        if pack.problem or pack.unseen:
            return PackLook(file.text, pack.problem, unseen=UNREADABLE if pack.unseen else "")
        return _compared(source, file.text, pack)


def _compared(source: Entry, text: str, pack: Pack) -> PackLook:
    troubles: list[PackTrouble] = []
    shards: dict[str, int] = {}
    compared, unseen = 0, ""
    for place, role, kinds in _wanted(source):
        spec = source[place.key].value
        if any(not path.known for path in source.paths if path.key == place.key):
            unseen = UNKNOWN_PATH
            continue
        key = next((key for kind in kinds if (key := _key(role, kind, spec)) in pack.collections), None)
        if key is None:
            troubles.append(
                PackTrouble(
                    place,
                    f"no collection for this `{place.key}`: a KeyError at start-up",
                    _respelt(pack, role, kinds, spec),
                )
            )
            continue
        collection = pack.collections[key]
        shards[role] = collection.shards
        if role == "tar" and collection.flags & PATHS_ONLY and _reads_tars(source):
            troubles.append(PackTrouble(place, f"only the names of the tars and not their members' offsets: {_RAISES}"))
        count, trouble, hidden = _sizes(source, place, pack, key)
        compared += count
        unseen = unseen or hidden
        if trouble is not None:
            troubles.append(trouble)
    routed = _route(source) in pack.collections
    if len(shards) == 2 and "tar" in shards and shards["manifest"] != shards["tar"] and not routed:
        place = next(path for path in source.paths if path.key == "tarred_audio_filepaths")
        numbers = f"{_counted(shards['manifest'], 'manifest')} for {_counted(shards['tar'], 'tar')}"
        troubles.append(PackTrouble(place, f"{numbers}: {_RAISES}"))
    return PackLook(text, "", tuple(troubles), unseen, compared)


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"


def _wanted(source: Entry) -> Iterator[tuple[PathText, str, tuple[str, ...]]]:
    """The collections that the source's reader looks up, each at the first path of its key."""
    wanted = _COLLECTIONS.get(source.reader, ())
    if source.reader == "share_gpt" and source["tar_lookup_mode"].is_("collection"):
        wanted = (*wanted, _TAR_COLLECTION)
    for key, role, kinds in wanted:
        place = next((path for path in source.paths if path.key == key), None)
        if place is not None:
            yield place, role, kinds


def _key(role: str, kind: str, spec: object) -> bytes:
    try:
        return collection_key(role, kind, spec)
    except (TypeError, ValueError):  # a value that no JSON holds, or half a surrogate pair
        return b""


def _route(source: Entry) -> bytes:
    spec = {
        "manifest": source["manifest_filepath"].value,
        "tar": source["tarred_audio_filepaths"].value,
        "routing": "manifest-shard-id-v1",
    }
    return _key(*_SHARD_ROUTE, spec)


def _respelt(pack: Pack, role: str, kinds: tuple[str, ...], spec: object) -> str:
    """Whether the pack knows the same files by another spelling of the path."""
    if not isinstance(spec, str):
        return ""
    braces = to_braces(spec)
    for other in dict.fromkeys((braces, braces.replace("{", "_OP_").replace("}", "_CL_"), os.path.normpath(spec))):
        if other != spec and any(_key(role, kind, other) in pack.collections for kind in kinds):
            return (
                f"The pack knows it as `{other}`: write it so, or rebind the pack with `rebind_idxpack_collections.py`."
            )
    return ""


def _reads_tars(source: Entry) -> bool:
    """Whether tars are surely opened, rather than asked for through AIStore's GetBatch."""
    return variable(source.dataset.config, "USE_AIS_GET_BATCH").is_off


def _sizes(source: Entry, place: PathText, pack: Pack, key: bytes) -> tuple[int, PackTrouble | None, str]:
    """Compare the sizes that a collection remembers with the files': how many, what is wrong, what was not there."""
    folder = source.dataset.config.context.launch_dir
    compared = 0
    unseen = ""
    wrong: list[str] = []
    changed = 0
    for segment in segments(pack, key):
        if segment.size is None:
            continue
        found = None if is_remote(segment.path) else look(os.path.join(folder, segment.path))
        if found is None or found.kind != FILE:
            unseen = unseen or (REMOTE if found is None else NOT_HERE)
            continue
        compared += 1
        if found.size != segment.size:
            changed += 1
            if len(wrong) < _EXAMPLES:
                wrong.append(f"`{os.path.basename(segment.path)}` had {segment.size:,} bytes and has {found.size:,}")
    if not changed:
        return compared, None, unseen
    what = "a file" if changed == 1 else f"{changed:,} of {pack.collections[key].shards:,} files"
    return (
        compared,
        PackTrouble(place, f"{what} in another size than on this disk: {_STALE}", f"{'; '.join(wrong)}."),
        unseen,
    )
