"""What the model is told from outside the config: settings, where training is started, how files are read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING

from ..records import dataclass
from ..settings import RuntimeContext
from ..syntax.nodes import Document
from ..syntax.store import Unreadable
from .presence import Presence, on_disk
from .profiles import Runtime, assumed

if TYPE_CHECKING:
    from .config import TrainingConfig
    from .indexes import IndexReader
    from .launcher.facts import Launcher

#: Folders in which speech projects keep their blends, looked for beside the config and upwards.
BLEND_FOLDERS = ("data_blends", "data", "input_cfg")


@dataclass(frozen=True, slots=True)
class Context:
    """The inputs beside the config."""

    load: Callable[[Path], Document | Unreadable]
    launch_dir: Path
    root: Path  #: the repository's top folder, where the search for blends ends
    seed: int = 42
    indexes_root: str | None = None
    index_pack_root: str | None = None
    variables: Mapping[str, str] = field(default_factory=dict)
    blends: tuple[Path, ...] = ()  #: blend files the user named
    stated: RuntimeContext = field(default_factory=RuntimeContext)  #: what the user says of where training runs
    pack_threshold: int = 1000  #: shards from which on one index pack serves better than loose sidecars
    walltime_margin: int = 10  #: minutes that a run's time limit stays below the job's walltime
    launchers: tuple[GivenLauncher, ...] = ()  #: scripts that may start the config
    read_launcher: Callable[[Path], Launcher | Unreadable] | None = None
    presence: Presence = on_disk  #: how the model asks whether a file is there
    require_suppression_reason: bool = False  #: whether a suppression without a reason holds nothing
    runtime: Runtime = field(default_factory=assumed)  #: what the NeMo and Lhotse in use can do
    indexes: IndexReader | None = None  #: looks at index files on this disk; None where nobody asked for it
    #: The config as it was committed; gives None where nothing of it was, or nothing differs.
    earlier: Callable[[TrainingConfig], TrainingConfig | None] | None = None
    then: str = "in the last commit"  #: how a message names the commit


@dataclass(frozen=True, slots=True)
class GivenLauncher:
    """A script that may start the config: by the user's word (`assigned`), or because it was found beside it."""

    path: Path
    assigned: bool = False
    trainers: tuple[Path, ...] = ()  #: training scripts that read the config where a command names none
    rivals: bool = False  #: whether other files of the repository have the config's name


@dataclass(frozen=True, slots=True)
class BlendFile:
    """An external `input_cfg` document: what the config says, and what was found for it."""

    spec: str
    path: Path | None
    how: str  #: where it was found: "in the launch directory", or why it was not
    document: Document | None = None


def find_blend(spec: str, declared_in: Path, external: bool, context: Context) -> BlendFile:
    """Find the file a string `input_cfg` names.

    At run time the first level is relative to the launch directory, and so is a level below in NeMo 3.0.0; since then it
    is relative to the declaring file. Where nothing stands there, the user's `--blend` files and the usual folders are
    tried, so that a config can be judged outside the place where it is launched.
    """
    if "://" in spec:
        return BlendFile(spec, None, "it is on remote storage, and nothing is fetched")
    candidates = [(context.launch_dir / spec, "in the launch directory")]
    if external:
        beside = (declared_in.parent / spec, "beside the declaring file")
        candidates.insert(0 if context.runtime.nested_relative else 1, beside)
    first = candidates[0][0]
    name = Path(spec).name
    candidates += [(path, "named with --blend") for path in context.blends if path.name == name]
    if not Path(spec).is_absolute():
        for folder in _upwards(declared_in.parent, context.root):
            candidates.append((folder / spec, f"below {folder}"))
            candidates += [(folder / usual / name, f"in {folder / usual}") for usual in BLEND_FOLDERS]
            candidates.append((folder / name, f"in {folder}"))
    problem = ""
    for path, how in candidates:
        loaded = context.load(path)
        if isinstance(loaded, Document):
            return BlendFile(spec, path, how, loaded)
        if loaded.kind != "missing" and not problem:
            problem = loaded.reason
    if len(context.blends) == 1 and not external and isinstance(loaded := context.load(context.blends[0]), Document):
        return BlendFile(spec, context.blends[0], "the one named with --blend", loaded)
    return BlendFile(spec, None, problem or f"there is no `{first}`")


def _upwards(folder: Path, root: Path) -> list[Path]:
    """The folder and those above it up to the repository's top; only the folder itself when it lies elsewhere."""
    folders = [folder, *folder.parents]
    return folders[: folders.index(root) + 1] if root in folders else [folder]
