"""The NeMo and Lhotse in use: what is read of them, what is assumed, and what the rules make of it."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest
from nemo_resumable.core.analysis import Analysis, analyze
from nemo_resumable.core.artifacts import prepare
from nemo_resumable.core.findings import Finding
from nemo_resumable.core.fixing import fix
from nemo_resumable.core.model import probe_files
from nemo_resumable.core.model.probe_schema import read_loader, read_readers
from nemo_resumable.core.model.profiles import DEFAULT, PROFILES, assumed, at_least, version_key
from nemo_resumable.core.model.runtime import runtime_in_use
from nemo_resumable.core.model.schema import OPTIONS
from nemo_resumable.core.model.sources import SOURCE_TYPES
from nemo_resumable.core.model.values import Unknown
from nemo_resumable.core.project import Project
from nemo_resumable.core.rules.page import all_pages
from nemo_resumable.core.settings import PROFILES as NAMES
from nemo_resumable.core.settings import load_settings
from nemo_resumable.hooks.cli import main

WHEELS = ("nemo_toolkit==3.0.0", "lhotse==1.33.0", "lhotse==2.0.0a7")
DATA = Path("collections/common/data/lhotse")

LOADER = '''\
from dataclasses import dataclass


@dataclass
class LhotseDataLoadingConfig:
    """Options."""

    shard_seed: int | str = "trng"
    seed: int | str = 0
    indexed: bool | None = None
    indexes_root: str | None = None
    index_pack: str | None = None
    use_stateful_dataloader: bool = False
    force_map_dataset: bool = False
    force_iterable_dataset: bool = False
    concurrent_bucketing: bool = True
    use_bucketing: bool = False
    num_workers: int = 0
    batch_size: int | None = None
    shuffle: bool = False
    input_cfg: Any = None


class _PerRankStatefulDataLoader:
    pass
'''

CUTSET = """\
def temperature_reweighting(weights, temperature=1.0):
    if np.any(weights <= 0):
        raise ValueError


@data_type_parser("txt")
def read_txt(config): ...


@data_type_parser(["nemo", "nemo_tarred"])
def read_nemo(config): ...


@data_type_parser("group")
def parse_and_combine_datasets(config_list, propagate_attrs):
    for item in config_list:
        item["input_cfg"] = str(folder / item["input_cfg"])
"""


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def nemo(root: Path, loader: str = LOADER, cutset: str = CUTSET, info: str = "") -> Path:
    """A NeMo below `root`; what is empty is left out."""
    files = {f"nemo/{DATA}/dataloader.py": loader, f"nemo/{DATA}/cutset.py": cutset, "nemo/package_info.py": info}
    (root / "nemo" / DATA).mkdir(parents=True, exist_ok=True)
    return write(root, {name: text for name, text in files.items() if text})


def lhotse(root: Path, version: str = "2.0.0a7", indexing: str = '"""Indexes."""', packs: str = "") -> Path:
    """A Lhotse below `root`; what is empty is left out."""
    files = {
        "lhotse/version.py": f'__version__ = "{version}"\n',
        "lhotse/indexing.py": indexing,
        "lhotse/index_pack.py": packs,
    }
    return write(root, {name: text for name, text in files.items() if text})


def site(root: Path, name: str = ".venv") -> Path:
    """The folder of installed packages of a new environment, which has torch and torchdata."""
    folder = root / name / "lib/python3.12/site-packages"
    write(folder, {"torch/__init__.py": "", "torchdata/stateful_dataloader/__init__.py": ""})
    return folder


def real_trees(shared: Path) -> tuple[Path | None, str]:
    """The wheels of the package index, unpacked below a folder that all workers share, or the reason why they are not."""
    target, lock, done = shared / "wheels", shared / "wheels.lock", shared / "wheels.done"
    deadline = time.monotonic() + 300
    while not done.exists():
        try:
            os.close(os.open(lock, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            if time.monotonic() > deadline:
                return None, "another worker did not finish the download"
            time.sleep(0.2)
            continue
        try:
            done.write_text(_download(target), encoding="utf-8")
        finally:
            lock.unlink()
    reason = done.read_text(encoding="utf-8")
    return (None, reason) if reason else (target, "")


def _download(target: Path) -> str:
    """Download and unpack each wheel into a folder of its name; the reason where that fails, else nothing."""
    for wheel in WHEELS:
        folder = target / wheel.replace("==", "-")
        command = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "-q",
            "--no-deps",
            "--only-binary",
            ":all:",
            "--retries",
            "1",
        ]
        try:
            ran = subprocess.run(
                [*command, "-d", folder, wheel], capture_output=True, text=True, timeout=200, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"{wheel} cannot be downloaded: {error}"
        if ran.returncode:
            return f"{wheel} cannot be downloaded: {(ran.stderr.strip().splitlines() or ['no word why'])[-1]}"
        for archive in folder.glob("*.whl"):
            with zipfile.ZipFile(archive) as content:
                content.extractall(folder)
            archive.unlink()
    return ""


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.getbasetemp()
    trees, reason = real_trees(base.parent if "PYTEST_XDIST_WORKER" in os.environ else base)
    if trees is None:
        pytest.skip(f"the wheels of NeMo and Lhotse are not at hand: {reason}")
    return trees


# -- profiles


def test_the_profiles_are_the_names_that_settings_and_help_give(capsys: pytest.CaptureFixture[str]) -> None:
    assert tuple(PROFILES) == NAMES
    assert [assumed(name).profile for name in NAMES] == list(NAMES)
    assert main(["check", "--help"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert all(name in shown for name in NAMES)
    assert f"{DEFAULT} (default)" in shown


def test_the_default_is_the_newest_whose_lhotse_is_released() -> None:
    assert assumed().label == "Speech main + lhotse 2.0.0a7"
    newer = NAMES[NAMES.index(DEFAULT) + 1 :]
    assert newer
    assert all(assumed(name).lhotse.version is None for name in newer), "a later profile has a released Lhotse"
    assert not assumed().chosen
    assert assumed(DEFAULT).chosen


#: What each profile can do: what was run or read of these versions.
CAPABILITIES = {
    "nemo-3.0.0": {
        "can_index": False, "per_rank_state": False, "index_packs": False, "pack_versions": (), "gzip_indexes": False,
        "zero_weights": False, "nested_relative": False,
    },
    "speech-main": {
        "can_index": True, "per_rank_state": True, "index_packs": True, "pack_versions": (2, 3), "gzip_indexes": False,
        "zero_weights": False, "nested_relative": True,
    },
    "speech-main-gzip": {
        "can_index": True, "per_rank_state": True, "index_packs": True, "pack_versions": (2, 3, 4), "gzip_indexes": True,
        "zero_weights": True, "nested_relative": True,
    },
}  # fmt: skip

#: Options of Speech main that bear on resuming, as its dataclass has them: type and default.
SPEECH_MAIN = {
    "indexed": ("bool?", None),
    "indexes_root": ("str?", None),
    "index_pack_root": ("str?", None),
    "index_pack": ("str?", None),
    "index_pack_max_open_files": ("int", 32),
    "use_stateful_dataloader": ("bool", False),
    "fault_tolerant_audio_loading": ("bool", True),
    "input_sampling_rate": ("int?", None),
    "packing_buffer_size": ("int?", None),
    "use_packed_sequence_sampling": ("bool", False),
    "excluded_speaker_ids": ("any", None),
    "speaker_filter_fields": ("list[str]?", None),
    "shard_seed": ("int|str", "trng"),
    "seed": ("int|str", 0),
    "concurrent_bucketing": ("bool", True),
    "bucket_buffer_size": ("int", 10000),
    "max_open_streams": ("int?", None),
    "slice_length": ("int?", None),
    "shuffle_buffer_size": ("int?", 10000),
}


@pytest.mark.parametrize("name", NAMES)
def test_what_a_profile_can_do(name: str) -> None:
    runtime = assumed(name)
    assert {key: getattr(runtime, key) for key in CAPABILITIES[name]} == CAPABILITIES[name]


def test_speech_main_knows_every_option_and_type() -> None:
    runtime = assumed("speech-main")
    assert {name: (runtime.options[name].type, runtime.options[name].default) for name in SPEECH_MAIN} == SPEECH_MAIN
    assert set(runtime.options) == set(OPTIONS)
    assert runtime.types == set(SOURCE_TYPES)
    missing = runtime.types - assumed("nemo-3.0.0").types
    assert missing == {"nemotron_text_converation", "materialized_sft_messages"}


def test_versions_are_ordered_as_releases_are() -> None:
    rising = [
        "",
        "1.33.0",
        "2.0.0.dev3",
        "2.0.0a1",
        "2.0.0a7",
        "2.0.0a10",
        "2.0.0b1",
        "2.0.0rc1",
        "2.0",
        "2.0.1",
        "10.0",
    ]
    keys = [version_key(version) for version in rising]
    assert keys == sorted(keys)
    assert len(set(keys)) == len(keys)
    assert version_key("2.0.0") == version_key("2.0") == version_key("v2.0.0+cu12")
    assert at_least("1.17.0", "1.17")
    assert not at_least("1.9.2", "1.17.0")


@pytest.mark.parametrize(
    ("version", "packs", "indexed"),
    [
        ("1.33.0", (), False),
        ("2.0.0a1", (), True),
        ("2.0.0a3", (2,), True),
        ("2.0.0a6", (2, 3), True),
        ("2.1", (2, 3), True),
    ],
)
def test_a_stated_lhotse_can_what_its_release_can(
    version: str, packs: tuple[int, ...], indexed: bool, tmp_path: Path
) -> None:
    runtime = runtime_in_use(tmp_path, packages={"lhotse": version})
    assert (runtime.pack_versions, runtime.indexed_core, runtime.gzip_indexes) == (packs, indexed, False)
    assert runtime.unverified == f"the NeMo and Lhotse in use (Speech main + lhotse {version} assumed)"


def test_a_stated_nemo_is_the_release_or_main(tmp_path: Path) -> None:
    old, new = (runtime_in_use(tmp_path, packages={"nemo-toolkit": version}) for version in ("3.0.0", "3.1.0"))
    assert "indexed" not in old.options
    assert "indexed" in new.options
    assert old.nemo.label == "nemo_toolkit 3.0.0"
    both = runtime_in_use(tmp_path, packages={"nemo-toolkit": "3.1.0", "lhotse": "2.0.0a7"})
    assert both.unverified == "the NeMo and Lhotse in use (nemo_toolkit 3.1.0 + lhotse 2.0.0a7 stated)"


# -- finding them


@pytest.mark.parametrize("form", ["checkout", "package", "site", "environment", "windows", "source"])
def test_a_path_may_name_any_of_these(tmp_path: Path, form: str) -> None:
    top = {
        "site": "lib/site-packages",
        "environment": "venv/lib/python3.11/site-packages",
        "windows": "Lib/site-packages",
    }
    folder = tmp_path / top.get(form, "src" if form == "source" else ".")
    nemo(folder)
    lhotse(folder)
    named = {"package": folder / "nemo", "site": folder, "environment": tmp_path / "venv"}.get(form, tmp_path)
    other = folder / "lhotse" if form == "package" else named
    runtime = runtime_in_use(tmp_path / "elsewhere", nemo=named, lhotse=other)
    assert (runtime.nemo.folder, runtime.lhotse.folder) == (folder / "nemo", folder / "lhotse")
    assert runtime.lhotse.label == "lhotse 2.0.0a7"
    assert runtime.unverified == ""


def test_nemo_s_own_folder_named_lhotse_is_no_lhotse(tmp_path: Path) -> None:
    write(nemo(tmp_path), {f"nemo/{DATA}/__init__.py": ""})
    runtime = runtime_in_use(tmp_path, lhotse=tmp_path / "nemo" / DATA)
    assert not runtime.lhotse.read
    assert runtime.problems == (f"there is no Lhotse in `{tmp_path / 'nemo' / DATA}`",)


def test_one_environment_serves_both(tmp_path: Path) -> None:
    folder = site(tmp_path, "env")
    nemo(folder)
    lhotse(folder)
    runtime = runtime_in_use(tmp_path, nemo=tmp_path / "env")
    assert runtime.lhotse.read
    assert runtime.environment is not None
    assert (runtime.environment.torchdata, runtime.environment.aistore) == (True, None)


@pytest.mark.parametrize("name", [".venv", "venv"])
def test_an_environment_of_the_workspace_is_found(tmp_path: Path, name: str) -> None:
    nemo(site(tmp_path, name))
    lhotse(tmp_path / name / "lib/python3.12/site-packages", version="2.0.0a6")
    runtime = runtime_in_use(tmp_path)
    assert runtime.nemo.read
    assert runtime.lhotse.version == "2.0.0a6"
    assert not runtime_in_use(tmp_path, profile="speech-main").inspected, "who names a profile has said what is in use"
    assert not runtime_in_use(tmp_path / name).inspected, "only the top folder's own"


def test_an_editable_install_is_followed(tmp_path: Path) -> None:
    source = nemo(tmp_path / "source code")
    info = site(tmp_path) / "nemo_toolkit-3.1.0rc0.dist-info"
    write(
        info,
        {
            "METADATA": "Name: nemo-toolkit\nVersion: 3.1.0rc0\n",
            "direct_url.json": json.dumps({"url": source.as_uri()}),
        },
    )
    runtime = runtime_in_use(tmp_path)
    assert runtime.nemo.folder == source / "nemo"
    assert runtime.nemo.label == "nemo_toolkit 3.1.0rc0"
    assert runtime.environment is not None


def test_what_is_no_whole_environment_lacks_nothing(tmp_path: Path) -> None:
    """Packages unpacked by themselves, and an environment that reaches into the system's, say nothing of the rest."""
    assert (
        runtime_in_use(tmp_path, lhotse=write(lhotse(tmp_path / "a"), {"lhotse-1.dist-info/METADATA": ""})).environment
        is None
    )
    folder = lhotse(site(tmp_path))
    assert runtime_in_use(tmp_path).environment is not None
    (tmp_path / ".venv/pyvenv.cfg").write_text("include-system-site-packages = true\n", encoding="utf-8")
    assert runtime_in_use(tmp_path).environment is None
    assert folder.is_dir()


def test_installed_versions_are_read(tmp_path: Path) -> None:
    folder = lhotse(site(tmp_path))
    write(folder, {"aistore-1.20.0.dist-info/METADATA": "", "indexed_gzip-1.9.4.dist-info/METADATA": ""})
    write(folder, {"lhotse-2.0.0a7.dist-info/METADATA": 'Requires-Dist: aistore>=1.17.0; extra == "aistore"\n'})
    runtime = runtime_in_use(tmp_path)
    assert runtime.environment is not None
    assert (runtime.environment.aistore, runtime.environment.indexed_gzip) == ("1.20.0", True)
    assert runtime.aistore_minimum == "1.17.0"


# -- reading them


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("int", "int"),
        ("int | None", "int?"),
        ("Optional[int]", "int?"),
        ("typing.Optional[float]", "float?"),
        ("Union[int, str]", "int|str"),
        ("str | int", "int|str"),
        ("int | str | None", "int|str?"),
        ("Any", "any"),
        ("Any | None", "any"),
        ("list[int] | None", "list[int]?"),
        ("Optional[List[float]]", "list[float]?"),
        ("Tuple[float, float]", "tuple[float,float]"),
        ("dict[str, float] | None", "dict[str,float]?"),
        ("dict", "dict[any]"),
        ("'int | None'", "int?"),
        ("'int |'", "any"),
        ("Literal['a', 'b']", "any"),
        ("Callable[[], int]", "any"),
        ("lambda: 0", "any"),
    ],
)
def test_annotations(tmp_path: Path, written: str, read: str) -> None:
    assert option(tmp_path, f"x: {written} = None").type == read


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("-1", -1),
        ("1e4", 10000.0),
        ("'trng'", "trng"),
        ("(10.0, 20.0)", [10.0, 20.0]),
        ("[]", []),
        ("float('inf')", float("inf")),
        ("field(default=3)", 3),
        ("field(default_factory=list)", []),
        ("dataclasses.field(default_factory=dict)", {}),
        ("(None  # why\n    )", None),
    ],
)
def test_defaults(tmp_path: Path, written: str, read: object) -> None:
    assert option(tmp_path, f"x: Any = {written}").default == read


@pytest.mark.parametrize(
    "written", ["DEFAULT", "os.cpu_count()", "field(default_factory=make)", "[seed]", "float('x')", "3 + y"]
)
def test_a_computed_default_is_unknown(tmp_path: Path, written: str) -> None:
    assert isinstance(option(tmp_path, f"x: Any = {written}").default, Unknown)


def option(folder: Path, line: str):  # type: ignore[no-untyped-def]
    path = folder / "dataloader.py"
    path.write_text(f"class LhotseDataLoadingConfig:\n    {line}\n", encoding="utf-8")
    loader = read_loader(path)
    assert loader is not None
    return loader.options["x"]


def test_fields_of_bases_come_first_and_methods_are_none(tmp_path: Path) -> None:
    path = tmp_path / "dataloader.py"
    path.write_text(
        "class Base:\n    a: int = 1\n    b: int = 1\n\n\nclass LhotseDataLoadingConfig(Base, Other):\n"
        "    b: int = 2\n    c = 3\n\n    def f(self) -> int: ...\n",
        encoding="utf-8",
    )
    loader = read_loader(path)
    assert loader is not None
    assert {name: each.default for name, each in loader.options.items()} == {"a": 1, "b": 2}
    path.write_text("class LhotseDataLoadingConfig(LhotseDataLoadingConfig):\n    a: int = 1\n", encoding="utf-8")
    assert read_loader(path).options.keys() == {"a"}  # type: ignore[union-attr]


def test_registered_types(tmp_path: Path) -> None:
    path = tmp_path / "cutset.py"
    path.write_text(
        '"""\n>>> @data_type_parser("in_a_docstring")\n"""\n\n\n@other\n@data_type_parser(("a", "b"))\n'
        '@cutset.data_type_parser(\n    name=["c"],\n)\nasync def f(): ...\n\n\nclass C:\n    @data_type_parser("in_a_class")\n'
        "    def g(): ...\n",
        encoding="utf-8",
    )
    readers = read_readers(path)
    assert readers is not None
    assert (readers.types, readers.complete) == ({"a", "b", "c"}, True)
    path.write_text('@data_type_parser("a")\ndef f(): ...\n@data_type_parser(NAMES)\ndef g(): ...\n', encoding="utf-8")
    readers = read_readers(path)
    assert readers is not None
    assert (readers.types, readers.complete) == ({"a"}, False)


def test_types_come_from_every_module_beside(tmp_path: Path) -> None:
    nemo(tmp_path)
    write(tmp_path, {f"nemo/{DATA}/more.py": '@data_type_parser("ours")\ndef read(config): ...\n'})
    assert runtime_in_use(tmp_path, nemo=tmp_path).types == {"txt", "nemo", "nemo_tarred", "group", "ours"}


@pytest.mark.parametrize(("check", "allowed"), [("np.any(weights <= 0)", False), ("np.any(weights < 0)", True)])
def test_whether_zero_weights_pass(tmp_path: Path, check: str, allowed: bool) -> None:
    nemo(tmp_path, cutset=CUTSET.replace("np.any(weights <= 0)", check))
    assert runtime_in_use(tmp_path, nemo=tmp_path).zero_weights is allowed


@pytest.mark.parametrize(
    ("packs", "versions"),
    [
        ("", ()),
        ("class IndexPack: ...\n", (2,)),
        ("class IndexPackArraySpec: ...\n", (2, 3)),
        ("_VERSION = 2\n_ARRAY_VERSION: int = 3\n_GZIP_VERSION = 4\n", (2, 3, 4)),
    ],
)
def test_pack_versions(tmp_path: Path, packs: str, versions: tuple[int, ...]) -> None:
    lhotse(tmp_path, packs=packs)
    assert runtime_in_use(tmp_path, lhotse=tmp_path).pack_versions == versions


def test_what_changes_is_read_again_and_what_does_not_is_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nemo(tmp_path, info="MAJOR = 3\nMINOR = 1\nPATCH = 0\nPRE_RELEASE = 'rc1'\n")
    lhotse(tmp_path)
    first = runtime_in_use(tmp_path, nemo=tmp_path, lhotse=tmp_path)
    assert first.nemo.version == "3.1.0rc1"
    opened = []
    real = probe_files._text
    monkeypatch.setattr(probe_files, "_text", lambda path, status: opened.append(path) or real(path, status))
    assert runtime_in_use(tmp_path, nemo=tmp_path, lhotse=tmp_path) == first
    assert opened == []
    lhotse(tmp_path, version="2.0.0a10")
    assert runtime_in_use(tmp_path, nemo=tmp_path, lhotse=tmp_path).lhotse.version == "2.0.0a10"
    assert [path.name for path in opened] == ["version.py"] or "version.py" in {path.name for path in opened}


# -- what may lie there


def _loop(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.name)


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


#: What is done to a file, and what is said of it.
HOSTILE = {
    "broken": (lambda path: path.write_text("class LhotseDataLoadingConfig:\n    a: int = = 1\n"), "it is no Python"),
    "cut off": (lambda path: path.write_text('class LhotseDataLoadingConfig:\n    """no end\n'), "it is no Python"),
    "binary": (lambda path: path.write_bytes(b"\x7fELF\0\0" * 100), "it is binary"),
    "latin-1": (lambda path: path.write_bytes(b"# caf\xe9\n"), "it is not UTF-8"),
    "huge": (lambda path: path.write_bytes(b"#" * (3 * 2**20)), "it is larger than 2 MB"),
    "empty": (lambda path: path.write_text(""), "it has no class `LhotseDataLoadingConfig`"),
    "deep": (lambda path: path.write_text(f"class LhotseDataLoadingConfig:\n    a: int = {'-' * 50_000}1\n"), "it is"),
    "deeper": (lambda path: path.write_text(f"class LhotseDataLoadingConfig:\n    a: {'list[' * 5000}\n"), "it is"),
    "many": (
        lambda path: path.write_text("@data_type_parser\n" * 100_000),
        "it has no class `LhotseDataLoadingConfig`",
    ),
    "loop": (_loop, "Too many levels of symbolic links"),
    "pipe": (_pipe, "it is no file"),
    "folder": (_folder, "it is no file"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_leave_the_profile_and_a_sentence(tmp_path: Path, name: str) -> None:
    spoil, why = HOSTILE[name]
    nemo(tmp_path)
    lhotse(tmp_path)
    files = [tmp_path / "nemo" / DATA / "dataloader.py", tmp_path / "nemo" / DATA / "cutset.py"]
    for file in [
        *files,
        tmp_path / "lhotse/version.py",
        tmp_path / "lhotse/indexing.py",
        tmp_path / "nemo/package_info.py",
    ]:
        file.write_text("")
        spoil(file)
    begun = time.monotonic()
    runtime = runtime_in_use(tmp_path, nemo=tmp_path, lhotse=tmp_path)
    assert time.monotonic() - begun < 5
    assert runtime.options == assumed().options
    assert runtime.types == assumed().types
    assert runtime.indexed_core
    assert any(
        "nemo/collections/common/data/lhotse/dataloader.py` could not be read: " in p and why in p
        for p in runtime.problems
    )


def test_nothing_of_them_is_run(tmp_path: Path) -> None:
    trap = f"open({str(tmp_path / 'ran')!r}, 'w')\nraise SystemExit\n"
    nemo(tmp_path, loader=trap + LOADER, cutset=trap + CUTSET, info=trap)
    lhotse(tmp_path, indexing=trap, packs=trap)
    before = dict(sys.modules)
    runtime = runtime_in_use(tmp_path, nemo=tmp_path, lhotse=tmp_path)
    assert runtime.nemo.read
    assert not (tmp_path / "ran").exists()
    assert not {name for name in sys.modules.keys() - before.keys() if name.split(".")[0] in ("nemo", "lhotse")}


# -- what rules and artifacts make of it

RESUMABLE = """\
trainer:
  devices: 8
  num_nodes: 2
data:
  train_ds:
    indexed: true
    use_stateful_dataloader: true
    force_map_dataset: false
    seed: 42
    shard_seed: 42
    shuffle: true
    num_workers: 4
    batch_size: 16
    input_cfg:
      - type: nemo_tarred
        manifest_filepath: /data/manifest__OP_0..3_CL_.jsonl
        tarred_audio_filepaths: /data/audio__OP_0..3_CL_.tar
"""

READY = RESUMABLE.replace(
    "  num_nodes: 2\n",
    """\
  num_nodes: 2
  max_steps: 1000
  limit_train_batches: 100
  use_distributed_sampler: false
  logger: false
  enable_checkpointing: false
exp_manager:
  resume_if_exists: true
  resume_ignore_no_checkpoint: true
  max_time_per_run: "00:03:50:00"
""",
)

CLASSIC = """\
data:
  train_ds:
    shard_seed: randomized
    shuffle: true
    num_workers: 4
    batch_size: 16
    input_cfg:
      - type: nemo_tarred
        manifest_filepath: /data/manifest__OP_0..3_CL_.jsonl
        tarred_audio_filepaths: /data/audio__OP_0..3_CL_.tar
"""


def project(folder: Path, text: str = RESUMABLE, **settings: object) -> tuple[Project, Path]:
    path = folder / "config.yaml"
    path.write_text(text, encoding="utf-8")
    return Project(dataclasses.replace(load_settings(folder), **settings), folder), path  # type: ignore[arg-type]


def judged(folder: Path, text: str = RESUMABLE, **settings: object) -> Analysis:
    made, path = project(folder, text, **settings)
    return analyze(made, [path])


def of(analysis: Analysis, *codes: str) -> list[Finding]:
    return [finding for finding in analysis.findings if finding.code in codes]


def lines(findings: list[Finding]) -> list[tuple[str, int]]:
    return [(f.code, f.location.source.lines.position(f.location.span.start).line) for f in findings]


def test_a_default_that_was_read_decides(tmp_path: Path) -> None:
    was = "concurrent_bucketing: bool = "
    folder = lhotse(nemo(site(tmp_path), loader=LOADER.replace(f"{was}True", f"{was}False")))
    text = RESUMABLE.replace("batch_size: 16", "use_bucketing: true\n    batch_size: 16")
    assert not of(judged(tmp_path, text), "NR111")
    nemo(folder)
    assert of(judged(tmp_path, text), "NR111")


def test_an_option_that_was_read_is_known_and_one_that_was_not_is_not(tmp_path: Path) -> None:
    lhotse(nemo(site(tmp_path), loader=LOADER.replace("num_workers", "our_own_option: str = 'x'\n    num_workers")))
    text = RESUMABLE.replace(
        "batch_size: 16", "batch_size: 16\n    our_own_option: y\n    num_buckets: 30\n    our_own_opton: z"
    )
    found = {f.current: f for f in of(judged(tmp_path, text), "NR005")}
    assert "y" not in found
    assert "is no option of nemo_toolkit, only of later versions" in found[30].message
    assert found["z"].recommended == "our_own_option"


def test_nested_blends_are_looked_for_where_nemo_looks(tmp_path: Path) -> None:
    entry = "- type: nemo\n  manifest_filepath: /data/{}.json\n"
    outer = "- type: group\n  input_cfg: inner.yaml\n"
    write(
        tmp_path,
        {"blends/outer.yaml": outer, "blends/inner.yaml": entry.format("beside"), "inner.yaml": entry.format("launch")},
    )
    text = RESUMABLE[: RESUMABLE.index("    input_cfg:")] + "    input_cfg: blends/outer.yaml\n"
    for profile, read in (("speech-main", "beside"), ("nemo-3.0.0", "launch")):
        model = judged(tmp_path, text, profile=profile).models[0]
        assert [source["manifest_filepath"].value for source in model.training[0].sources] == [f"/data/{read}.json"]


def test_gzip_by_profile(tmp_path: Path) -> None:
    text = RESUMABLE.replace(".jsonl", ".jsonl.gz")
    (fatal,) = of(judged(tmp_path, text), "NR305")
    assert fatal.severity.value == "fatal"
    assert (
        "lhotse 2.0.0a7 cannot index (a later one would need `indexed_gzip`, an `.idx` and a `.gzidx`)" in fatal.message
    )
    (error,) = of(judged(tmp_path, text, profile="speech-main-gzip"), "NR305")
    assert error.severity.value == "error"
    assert "needs indexed_gzip, .idx and .gzidx" in error.message
    assert (
        of(judged(tmp_path, text.replace(".gz", ".xz"), profile="speech-main-gzip"), "NR305")[0].severity.value
        == "fatal"
    )


def test_gzip_is_fine_where_all_it_needs_is_seen(tmp_path: Path) -> None:
    lhotse(nemo(site(tmp_path)), indexing="def gzip_index_file_path(path): ...\n")
    text = RESUMABLE.replace("/data/manifest__OP_0..3_CL_.jsonl", f"{tmp_path}/manifest__OP_0..3_CL_.jsonl.gz")
    assert lines(of(judged(tmp_path, text), "NR305", "NR704")) == [("NR305", 16), ("NR704", 16)]
    write(tmp_path / ".venv/lib/python3.12/site-packages", {"indexed_gzip/__init__.py": ""})
    assert lines(of(judged(tmp_path, text), "NR305", "NR704")) == [("NR305", 16)]
    write(tmp_path, {f"manifest_{number}.jsonl.gz{kind}": "" for number in range(4) for kind in (".idx", ".gzidx")})
    assert not of(judged(tmp_path, text), "NR305", "NR704")
    (tmp_path / "manifest_3.jsonl.gz.gzidx").unlink()
    assert of(judged(tmp_path, text), "NR305")


def test_fixes_are_withheld_where_nemo_would_drop_the_options(tmp_path: Path) -> None:
    """A fixed shard seed on a NeMo that streams gives every rank the same items."""
    made, path = project(tmp_path, CLASSIC, profile="nemo-3.0.0")
    found = analyze(made, [path])
    assert {"NR701", "NR702"} <= {finding.code for finding in found.findings}
    (seed,) = of(found, "NR110")
    assert seed.fix is not None
    assert "nemo_toolkit 3.0.0 does not know `indexed`" in seed.fix.withheld
    assert not fix(made, [path]).texts
    written = prepare(made, path).files
    assert not [name for name, data in written.items() if name.endswith(".yaml") and b"shard_seed: 42" in data]


def test_packs_of_a_later_version(tmp_path: Path) -> None:
    pack = tmp_path / "packs/en.idxpack"
    pack.parent.mkdir()
    text = f"{RESUMABLE}        index_pack: en.idxpack\n        index_pack_root: packs\n"
    for version, fires in ((2, False), (3, False), (4, True)):
        pack.write_bytes(b"IDXPACK2" + version.to_bytes(4, "little") + bytes(244))
        found = of(judged(tmp_path, text), "NR705")
        assert lines(found) == ([("NR705", 18)] if fires else [])
    assert "version 4, and lhotse 2.0.0a7 reads 2 and 3" in found[0].message
    assert not of(judged(tmp_path, text, profile="speech-main-gzip"), "NR705")
    pack.write_bytes(b"IDXPACK")
    assert not of(judged(tmp_path, text), "NR705"), "a broken pack is another rule's matter"


def test_nothing_is_unverified_once_both_were_read(tmp_path: Path) -> None:
    def unverified(**settings: object) -> str:
        return "; ".join(part for part in judged(tmp_path, **settings).configs[0].unverified if "in use" in part)

    assert unverified() == "the NeMo and Lhotse in use (Speech main + lhotse 2.0.0a7 assumed)"
    assert unverified(profile="speech-main") == "the NeMo and Lhotse in use (taken from the profile `speech-main`)"
    nemo(site(tmp_path))
    assert unverified() == "the Lhotse in use (lhotse 2.0.0a7 assumed)"
    lhotse(tmp_path / ".venv/lib/python3.12/site-packages")
    assert unverified() == ""
    analysis = judged(tmp_path)
    assert not of(analysis, "NR701", "NR702", "NR703", "NR704", "NR705", "NR706")


def test_the_note_is_one_a_config_and_calm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The verdict names what was not looked at, so the note is for -v, for machines, and for editors."""
    write(tmp_path, {"config.yaml": READY})
    monkeypatch.chdir(tmp_path)
    assert lines(of(judged(tmp_path, READY), "NR706")) == [("NR706", 14)]
    assert main(["check", "--fail-on", "note", "--select", "NR7", "config.yaml"]) == 0
    out = capsys.readouterr().out
    assert "NR706" not in out
    assert "the NeMo and Lhotse in use (Speech main + lhotse 2.0.0a7 assumed)" in " ".join(out.split())
    main(["check", "-v", "config.yaml"])
    assert "note[NR706]" in capsys.readouterr().out
    main(["check", "--format", "json", "config.yaml"])
    assert "NR706" in [finding["code"] for finding in json.loads(capsys.readouterr().out)["findings"]]
    assert main(["check", "--fail-on", "warning", "--select", "NR7", "--severity", "NR706=warning", "config.yaml"]) == 1


def test_a_setting_that_leads_nowhere_is_told(tmp_path: Path) -> None:
    analysis = judged(tmp_path, nemo=tmp_path / "gone")
    assert [f.severity.value for f in of(analysis, "NR706")] == ["note", "warning"]
    assert of(analysis, "NR706")[1].message.startswith(f"there is no NeMo in `{tmp_path / 'gone'}`")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--profile", "speech-man"], "`speech-man` is no profile; did you mean `speech-main`?"),
        (["--profile", "x"], "`x` is no profile; there are nemo-3.0.0, speech-main, speech-main-gzip"),
        (["--nemo", "nowhere"], "there is no folder `nowhere`"),
        (["--nemo", "."], "there is no `nemo` package in `.`"),
        (["--lhotse", "."], "there is no `lhotse` package in `.`"),
    ],
)
def test_arguments_that_cannot_be_used(
    tmp_path: Path,
    arguments: list[str],
    sentence: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    write(tmp_path, {"config.yaml": RESUMABLE})
    monkeypatch.chdir(tmp_path)
    for command in ("check", "migrate"):
        assert main([command, "config.yaml", *arguments]) == 2
        assert sentence in capsys.readouterr().err


def test_an_unknown_profile_in_the_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, {"config.yaml": RESUMABLE, ".nemo-resumable.toml": 'seed = 1\nprofile = "speech-mian"\n'})
    monkeypatch.chdir(tmp_path)
    assert main(["check", "config.yaml"]) == 2
    error = capsys.readouterr().err
    assert ".nemo-resumable.toml:2: `profile` has to be" in error
    assert "did you mean `speech-main`?" in error


def test_the_profile_of_the_command_line_holds_against_paths_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    nemo(tmp_path / "checkout", loader="class LhotseDataLoadingConfig:\n    seed: int = 0\n")
    write(tmp_path, {"config.yaml": RESUMABLE, ".nemo-resumable.toml": 'nemo = "checkout"\n'})
    monkeypatch.chdir(tmp_path)
    main(["check", "--format", "json", "config.yaml"])
    assert "NR702" in capsys.readouterr().out
    main(["check", "--format", "json", "--profile", "speech-main", "config.yaml"])
    assert "NR702" not in capsys.readouterr().out


def report(folder: Path, **settings: object) -> str:
    made, path = project(folder, **settings)
    return prepare(made, path).files["migration-report.md"].decode()


def test_the_report_says_what_was_read_and_what_was_assumed(tmp_path: Path) -> None:
    text = report(tmp_path)
    assert "- NeMo: Speech main, by the profile `speech-main`: no code was found" in text
    lhotse(site(tmp_path), packs="_VERSION = 2\n")
    text = report(tmp_path)
    assert (
        "Lhotse `.venv/lib/python3.12/site-packages/lhotse`: lhotse 2.0.0a7, its files read (`version.py`, `indexing.py`"
        in text
    )
    assert "index packs of version 2, none of gzip" in text
    assert "with `torchdata.stateful_dataloader`, without `indexed_gzip`, no `aistore`" in text
    assert "- NeMo: Speech main" in text.split("Assumed:")[1]


def test_pages_say_from_which_profile_they_hold() -> None:
    known = "|".join(map(re.escape, NAMES))
    for page in all_pages():
        text = page.sections["Applies to"]
        assert re.match(rf"Every profile\b|From `({known})` on\b|Only `({known})`", text), f"{page.code}: {text[:60]}"
        for word in re.findall(r"`((?:nemo-\d|speech-main)[\w.-]*)`", text):
            assert word in NAMES, f"{page.code} speaks of `{word}`"


# -- the real ones


def test_the_table_is_the_released_schema(wheels: Path) -> None:
    """The options and types of nemo_toolkit 3.0.0, and all else that its profile says, as its wheels have them."""
    profile = assumed("nemo-3.0.0")
    read = runtime_in_use(wheels, nemo=wheels / "nemo_toolkit-3.0.0", lhotse=wheels / "lhotse-1.33.0")
    assert read.problems == ()
    assert read.label == profile.label
    table = {name: (each.type, each.default) for name, each in profile.options.items()}
    assert {name: (each.type, each.default) for name, each in read.options.items()} == table
    assert [type(value) for _, value in table.values()] == [
        type(each.default) for each in (read.options[n] for n in table)
    ]
    assert read.types == profile.types
    for key in (
        "per_rank_state",
        "index_packs",
        "zero_weights",
        "nested_relative",
        "indexed_core",
        "pack_versions",
        "gzip_indexes",
        "aistore_minimum",
    ):
        assert getattr(read, key) == getattr(profile, key), key


def test_the_default_lhotse_is_as_its_wheel_has_it(wheels: Path) -> None:
    read = runtime_in_use(wheels, lhotse=wheels / "lhotse-2.0.0a7")
    assert read.lhotse.label == assumed().lhotse.label
    for key in ("indexed_core", "pack_versions", "gzip_indexes", "aistore_minimum"):
        assert getattr(read, key) == getattr(assumed(), key), key


def test_a_probe_is_cheap(wheels: Path) -> None:
    def once() -> float:
        for reader in (read_loader, read_readers):
            reader._kept.clear()
        begun = time.perf_counter()
        runtime_in_use(wheels, nemo=wheels / "nemo_toolkit-3.0.0", lhotse=wheels / "lhotse-2.0.0a7")
        return time.perf_counter() - begun

    assert min(once() for _ in range(5)) < 0.05


def test_a_resumable_config_is_not_ready_on_the_releases(wheels: Path, tmp_path: Path) -> None:
    analysis = judged(tmp_path, nemo=wheels / "nemo_toolkit-3.0.0", lhotse=wheels / "lhotse-1.33.0")
    assert analysis.configs[0].readiness == "not-launch-ready"
    (seven_one,) = of(analysis, "NR701")
    assert seven_one.message.startswith("lhotse 1.33.0 has no indexes (no `lhotse/indexing.py`)")
    found = of(analysis, "NR702")
    assert lines(found) == [("NR702", 6), ("NR702", 7)]
    assert found[0].message.startswith("nemo_toolkit 3.0.0 has no option `indexed`")
    related = found[0].related[0].location
    assert related.file.name == "dataloader.py"
    assert related.source.cut(related.span) == "LhotseDataLoadingConfig"
    assert not of(judged(tmp_path, lhotse=wheels / "lhotse-2.0.0a7"), "NR701", "NR702", "NR703")


def test_gzip_is_fatal_on_the_newest_release(wheels: Path, tmp_path: Path) -> None:
    analysis = judged(tmp_path, RESUMABLE.replace(".jsonl", ".jsonl.gz"), lhotse=wheels / "lhotse-2.0.0a7")
    (fatal,) = of(analysis, "NR305")
    assert (fatal.severity.value, analysis.configs[0].readiness) == ("fatal", "not-launch-ready")
    assert "lhotse 2.0.0a7 cannot index" in fatal.message
