"""The distribution as a user gets it: built from its own sdist, installed into an empty environment, and run there."""

from __future__ import annotations

import subprocess
import sys
import venv
import zipfile
from pathlib import Path
from shutil import copytree, ignore_patterns

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("core", "hooks", "lsp_server")
CONFIG = ROOT / "examples/conf/salm_asr.yaml"

#: What reading and judging a file does without: each of these costs more start-up time than the judging itself.
HEAVY = ("pygls", "lsprotocol", "omegaconf", "ruamel")


def _run(*command: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True, timeout=600)


def _done(*command: str | Path, cwd: Path | None = None) -> str:
    """What a command prints, once it has ended well."""
    ended = _run(*command, cwd=cwd)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Skips where nothing can be installed; from here on every failure is ours."""
    folder = tmp_path_factory.mktemp("probe")
    probe = _run(sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", folder, "setuptools>=77")
    if probe.returncode:
        pytest.skip(f"no package index can be reached: {probe.stderr.strip().splitlines()[-1:]}")


@pytest.fixture(scope="module")
def wheel(index: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the sdist; both are made from a copy, so that no earlier build is packed with them."""
    copy = tmp_path_factory.mktemp("source") / "project"
    copy.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        (copy / name).write_bytes((ROOT / name).read_bytes())
    for package in PACKAGES:
        copytree(ROOT / package, copy / package, ignore=ignore_patterns("__pycache__"))
    folder = tmp_path_factory.mktemp("dist")
    _done(sys.executable, "-m", "build", "--outdir", folder, copy)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `bin` folder of an environment that holds the wheel and what it asks for, nothing else."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=True)
    programs = folder / ("Scripts" if sys.platform == "win32" else "bin")
    _done(programs / "python", "-m", "pip", "install", "-q", wheel)
    return programs


def test_wheel_holds_every_module_and_page(wheel: Path) -> None:
    """pyproject.toml names the packages one by one: a new folder that is not named there would be left behind."""
    ours = {
        f"nemo_resumable/{path.relative_to(ROOT).as_posix()}"
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    with zipfile.ZipFile(wheel) as archive:
        packed = set(archive.namelist())
    assert any(name.endswith("pages/NR110-unfixed-shard-seed.md") for name in packed)
    assert {"settings.schema.json", "check.schema.json", "diagnose.schema.json"} <= {
        name.rpartition("/")[2] for name in packed
    }
    assert ours - packed == set()
    assert {name.split("/")[0] for name in packed} == {
        "nemo_resumable",
        f"{'-'.join(wheel.name.split('-')[:2])}.dist-info",
    }
    assert any(name.endswith("licenses/LICENSE") for name in packed)


def test_no_bare_names_are_installed(installed: Path) -> None:
    bare = f"[name for name in {PACKAGES} if find_spec(name)]"
    find = f"from importlib.util import find_spec; print({bare}, find_spec('nemo_resumable.core').origin)"
    found, origin = _done(installed / "python", "-I", "-c", find).rsplit(" ", 1)
    assert found == "[]"
    assert "site-packages" in origin


def test_requirements_agree(installed: Path) -> None:
    _done(installed / "python", "-m", "pip", "check")


def test_command_runs(installed: Path, tmp_path: Path) -> None:
    command = installed / "nemo-resumable"
    assert _done(command, "--version", cwd=tmp_path).startswith("nemo-resumable ")
    assert "shard_seed" in _done(command, "explain", "NR110", cwd=tmp_path)
    found = _run(command, "check", "--format", "concise", CONFIG, cwd=ROOT)
    assert found.returncode == 1, found.stderr
    assert "NR110" in found.stdout
    made = _run(command, "migrate", CONFIG, "--indexes-root", "/shared/idx", "--out", tmp_path / "out", cwd=ROOT)
    assert made.returncode == 1, made.stderr
    assert (tmp_path / "out/migration-report.md").is_file()


def test_hooks_are_offered() -> None:
    """pre-commit accepts the manifest, and each hook starts a command that takes its arguments."""
    manifest = ROOT / ".pre-commit-hooks.yaml"
    _done(sys.executable, "-m", "pre_commit", "validate-manifest", manifest)
    for hook in yaml.safe_load(manifest.read_text(encoding="utf-8")):
        program, *arguments = hook["entry"].split()
        assert program == "nemo-resumable"
        assert hook["require_serial"] is True
        _done(sys.executable, "-m", "nemo_resumable.hooks.cli", *arguments, ROOT / ".pre-commit-hooks.yaml", cwd=ROOT)


_LOADED = "print([name for name in sys.modules if name.partition('.')[0] in {heavy!r}], file=sys.stderr)"


@pytest.mark.parametrize(
    "action",
    [
        "import nemo_resumable.core.analysis",
        "from nemo_resumable.hooks.cli import main; main(['check', 'examples/conf/salm_asr.yaml'])",
        "from nemo_resumable.hooks.cli import main; main(['check', '--format', 'json', 'examples/conf/salm_asr.yaml'])",
    ],
    ids=["core", "check", "check-json"],
)
def test_reading_loads_little(action: str) -> None:
    script = f"import sys; {action}; {_LOADED.format(heavy=HEAVY)}"
    ended = _run(sys.executable, "-c", script, cwd=ROOT)
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr.splitlines()[-1] == "[]"
