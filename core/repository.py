"""What a repository holds, judged by names and bytes: YAML files that may be ours, scripts that may start training."""

from __future__ import annotations

import os
import re
import stat
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from .lazily import cached_property
from .records import dataclass

YAML_SUFFIXES = (".yaml", ".yml")
SHELL_SUFFIXES = (".sh", ".bash", ".sbatch", ".slurm")
_SUFFIXES = (*YAML_SUFFIXES, *SHELL_SUFFIXES, ".py")
OUTPUT_FOLDER = "migrate-resumable"
PASSED_OVER = frozenset(
    {
        ".git",
        ".hg",
        ".svn",
        ".venv",
        "venv",
        "node_modules",
        "__pycache__",
        ".tox",
        ".nox",
        ".mypy_cache",
        OUTPUT_FOLDER,
    }
)

#: A YAML file without one of these words is neither a training config nor a blend nor a base config of either.
_OURS = (b"train_ds", b"defaults", b"manifest_filepath", b"shar_path", b"cuts_path", b"input_cfg", b"paths")

#: A working tree may hold results and data by the million: a walk that only looks for what may concern us ends here.
_MOST_ENTRIES = 50_000
#: With more Python files than this beside packages, launchers in Python have to be named in the settings.
_MOST_PYTHON = 5_000
_MOST_BYTES = 2**20  #: a script is a page or two; what is larger is data

#: Tests start configs as well, with a tiny model for a few steps; what they do is no training.
_TESTS = frozenset({"test", "tests", "unit_tests", "functional_tests", "integration_tests"})

_STARTER = re.compile(rb"python|torchrun|srun|sbatch|ft_launcher|accelerate")
_PYTHON_STARTER = re.compile(rb"subprocess|os\.(?:system|exec|spawn)|nemo_run|torchrun|srun|sbatch")
_PROGRAM = re.compile(rb"\.py\b|config[-_](?:name|path|dir)")
_CONFIG_NAME = re.compile(rb"config[-_](?:name|path|dir)")
_BUILT_NAME = re.compile(rb"config[-_]name[\"',=\s]+[^\s,)]*[${]")
_HYDRA = re.compile(rb"@(?:hydra_runner|hydra\.main)\(([^)]*)\)")
_ARGUMENT = re.compile(rb"(config_path|config_name)\s*=\s*[rbuf]*[\"']([^\"']+)[\"']")


def may_be_ours(data: bytes) -> bool:
    """Whether the bytes of a YAML file hold a word of ours."""
    return any(word in data for word in _OURS)


def is_yaml(path: Path) -> bool:
    """Whether a file's name is one of a YAML file."""
    return path.name.endswith(YAML_SUFFIXES)


def is_script(path: Path) -> bool:
    """Whether a file may be a launcher: a shell or Python script by its name, or one without a suffix that begins so."""
    if path.name.endswith((*SHELL_SUFFIXES, ".py")):
        return True
    if "." in path.name:
        return False
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            first = file.readline(200)
    except OSError:
        return False
    return first.startswith(b"#!") and re.search(rb"sh\b|python", first) is not None


@dataclass(frozen=True, slots=True)
class Script:
    """A script that may start training, or that training is started with."""

    path: Path
    data: bytes
    starts: bool  #: whether it may be a launcher
    default: Path | None = None  #: of a training script, the config that it reads where the command line names none


class Repository:
    """The files below a folder. They are listed once; which scripts there are is read when it is asked for.

    `names` are paths relative to the folder, with slashes; where they are not given, the folder is walked.
    """

    def __init__(
        self,
        root: Path,
        names: Iterable[str] | None = None,
        excluded: Callable[[Path], bool] | None = None,
    ) -> None:
        self.root = root
        self._given = names
        self._excluded = excluded

    @cached_property
    def _names(self) -> tuple[str, ...]:
        """The files that their names let count: YAML and scripts, what is excluded left out."""
        if self._given is None:
            names = _walked(self.root, self._excluded)
        else:
            names = (name for name in self._given if PASSED_OVER.isdisjoint(name.split("/")))
        counted = (name for name in names if name.endswith(_SUFFIXES) or "." not in name.rpartition("/")[2])
        if self._excluded is None:
            return tuple(counted)
        return tuple(name for name in counted if not self._excluded(self.root / name))

    def yaml(self) -> Iterator[tuple[Path, bytes]]:
        """The YAML files that may be ours, with their bytes; those that cannot be read are left out."""
        for name in self._names:
            if name.endswith(YAML_SUFFIXES) and (data := _read(path := self.root / name)) is not None:
                if may_be_ours(data):
                    yield path, data

    @cached_property
    def scripts(self) -> tuple[Script, ...]:
        """The scripts that may have to do with training: no tests, no modules of packages, nothing that is data."""
        names = [name for name in self._names if not name.endswith(YAML_SUFFIXES) and not _is_test(name)]
        packages = {name.rpartition("/")[0] for name in names if name.endswith("__init__.py")}
        python = [name for name in names if name.endswith(".py") and name.rpartition("/")[0] not in packages]
        shell = [name for name in names if not name.endswith(".py")]
        if len(python) > _MOST_PYTHON:
            python = []
        return tuple(script for name in (*shell, *python) if (script := _script(self.root / name)) is not None)

    def launchers_naming(self, config: Path) -> tuple[Path, ...]:
        """The scripts that may start a config: its name stands in them, may be put together in them, or is a default's."""
        stem = config.stem.encode()
        pieces = [piece for piece in re.split(rb"[^A-Za-z]+", stem) if piece]
        trainers = [path.name.encode() for path in self.trainers_of(config)]
        return tuple(
            script.path
            for script in self.scripts
            if script.starts
            and (
                stem in script.data
                or any(trainer in script.data for trainer in trainers)
                or (_BUILT_NAME.search(script.data) and all(piece in script.data for piece in pieces))
            )
        )

    def has_rivals(self, config: Path) -> bool:
        """Whether other YAML files have the name of a config."""
        return self._stems[config.stem] > 1

    @cached_property
    def _stems(self) -> Counter[str]:
        return Counter(
            name.rpartition("/")[2].rpartition(".")[0] for name in self._names if name.endswith(YAML_SUFFIXES)
        )

    def trainers_of(self, config: Path) -> tuple[Path, ...]:
        """The training scripts that read a config where the command line names none."""
        return tuple(script.path for script in self.scripts if script.default == config)


def _is_test(name: str) -> bool:
    *folders, last = name.split("/")
    return last.startswith("test_") or not _TESTS.isdisjoint(folders)


def walk(
    folder: Path, excluded: Callable[[Path], bool] | None = None, most: int | None = None
) -> Iterator[tuple[str, list[str]]]:
    """Folders below a folder with the names of their files, sorted; what is passed over or excluded is not entered."""
    seen = 0
    for top, folders, names in os.walk(folder):
        folders[:] = sorted(
            name for name in folders if name not in PASSED_OVER and not (excluded and excluded(Path(top, name)))
        )
        yield top, sorted(names)
        seen += len(names) + 1
        if most is not None and seen > most:
            return


def _walked(folder: Path, excluded: Callable[[Path], bool] | None) -> Iterator[str]:
    for top, names in walk(folder, excluded, _MOST_ENTRIES):
        below = os.path.relpath(top, folder).replace(os.sep, "/") + "/" if top != str(folder) else ""
        for name in names:
            yield below + name


def _read(path: Path, most: int = 64 * _MOST_BYTES) -> bytes | None:
    """The bytes of an ordinary file of usual size."""
    try:
        status = path.stat()
        return path.read_bytes() if stat.S_ISREG(status.st_mode) and status.st_size <= most else None
    except OSError:
        return None


def _script(path: Path) -> Script | None:
    """What the bytes of a script say, None where they have nothing to do with training."""
    data = _read(path, _MOST_BYTES) if "." in path.name or is_script(path) else None
    if data is None:
        return None
    if not path.name.endswith(".py"):
        return Script(path, data, True) if _STARTER.search(data) and _PROGRAM.search(data) else None
    if not _CONFIG_NAME.search(data):
        return None
    default = _hydra_default(path, data)
    starts = _PYTHON_STARTER.search(data) is not None
    return Script(path, data, starts, default) if starts or default else None


def _hydra_default(path: Path, data: bytes) -> Path | None:
    """The config that a training script hands to Hydra; its path begins at the script."""
    match = _HYDRA.search(data)
    if match is None:
        return None
    said = {name: value.decode(errors="replace") for name, value in _ARGUMENT.findall(match[1])}
    if not (name := said.get(b"config_name")):
        return None
    name = name if name.endswith(YAML_SUFFIXES) else f"{name}.yaml"
    return Path(os.path.normpath(path.parent / said.get(b"config_path", "") / name))


class Repositories:
    """The repositories that a run looks into, each listed once. `list_files` may name what lies below a folder."""

    def __init__(self, list_files: Callable[[Path], Iterable[str] | None] | None = None) -> None:
        self._list_files = list_files
        self._known: dict[object, Repository] = {}
        self.tops: dict[Path, Path] = {}  #: folder → the top of its repository

    def at(self, root: Path, key: object, excluded: Callable[[Path], bool] | None) -> Repository:
        """The repository with its top folder there; `key` stands for what is excluded."""
        known = self._known.get((root, key))
        if known is None:
            given = self._list_files(root) if self._list_files is not None else None
            known = self._known[root, key] = Repository(root, given, excluded)
        return known

    def forget(self) -> None:
        """List everything anew: a file has come or gone."""
        self._known.clear()
        self.tops.clear()
