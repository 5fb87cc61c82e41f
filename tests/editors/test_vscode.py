"""The packaged extension in VS Code's workbench, in a browser: what a user does, and what is then on the screen."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import time
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from editor_pieces import Code, Missing, code, extension, scripts

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
OUTPUT = ROOT / "build/editors"  #: screenshots; they stay when the tests have run
SECONDS = 600

Steps = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The extension's folder with what npm has installed in it."""
    try:
        return extension(tmp_path_factory.mktemp("extension"))
    except Missing as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def vsix(built: Path) -> Path:
    """The extension as users install it."""
    ended = subprocess.run(["npm", "run", "package"], cwd=built, capture_output=True, text=True, timeout=SECONDS)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return built / "nemo-resumable.vsix"


def test_unit_tests(built: Path) -> None:
    ended = subprocess.run(["npm", "test"], cwd=built, capture_output=True, text=True, timeout=SECONDS)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert re.search(r"^# pass [1-9]\d", ended.stdout, re.M)


def test_package_is_small_and_whole(vsix: Path, record_property: Callable[[str, object], None]) -> None:
    record_property("bytes", vsix.stat().st_size)
    assert vsix.stat().st_size < 2**20
    with zipfile.ZipFile(vsix) as archive:
        names = set(archive.namelist())
        package = json.loads(archive.read("extension/package.json"))
        readme = archive.read("extension/readme.md").decode()
    for name in ("dist/extension.js", "dist/client.js", "dist/settings.schema.json", package["icon"], "LICENSE.txt"):
        assert f"extension/{name}" in names
    for name in re.findall(r"!\[[^]]*\]\(([^)]+)\)", readme):
        assert f"extension/{name}" in names
    for step in package["contributes"]["walkthroughs"][0]["steps"]:
        assert f"extension/{step['media'].get('image') or step['media']['markdown']}" in names
    assert not [name for name in names if name.endswith((".ts", ".map")) or "node_modules" in name]


@pytest.fixture(scope="module")
def editor() -> Code:
    try:
        return code()
    except Missing as error:
        pytest.skip(f"VS Code's workbench: {error}")


class Workbench:
    """VS Code's server with the extension installed, and scenarios that are played in it."""

    def __init__(self, editor: Code, vsix: Path, folder: Path, path: str, settings: dict[str, Any]) -> None:
        self.editor, self.folder = editor, folder
        self.data = folder / "data"
        machine = self.data / "data/Machine/settings.json"
        machine.parent.mkdir(parents=True)
        machine.write_text(json.dumps(settings), encoding="utf-8")
        self.environment = {**os.environ, "PATH": path, "HOME": str(folder)}
        node = shutil.which("node")
        assert node is not None
        self.node = node
        base = [node, str(editor.server), "--accept-server-license-terms", "--server-data-dir", str(self.data)]
        installed = subprocess.run(
            [*base, "--install-extension", str(vsix)],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
        assert installed.returncode == 0, installed.stdout + installed.stderr
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        self.log = (folder / "server.log").open("wb")
        self.process = subprocess.Popen(
            [
                *base,
                "--without-connection-token",
                "--force-disable-user-env",
                "--host",
                "127.0.0.1",
                "--port",
                str(port),
            ],
            env=self.environment,
            stdout=self.log,
            stderr=subprocess.STDOUT,
        )
        deadline = time.monotonic() + 60
        while True:
            try:
                urllib.request.urlopen(self.url, timeout=5).close()
                return
            except OSError:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    pytest.fail((folder / "server.log").read_text())
                time.sleep(0.2)

    def play(self, scenario: str, project: Path) -> Steps:
        """What each step of a scenario has seen; those after one that failed are missing."""
        output = OUTPUT / scenario
        shutil.rmtree(output, ignore_errors=True)
        output.mkdir(parents=True)
        plan = self.folder / f"{scenario}.json"
        pictures = OUTPUT / "pictures"
        pictures.mkdir(exist_ok=True)
        plan.write_text(
            json.dumps(
                {
                    "scenario": scenario,
                    "url": self.url,
                    "project": str(project),
                    "output": str(output),
                    "pictures": str(pictures),
                    "modules": str(self.editor.modules),
                    "chromium": self.editor.chromium,
                }
            ),
            encoding="utf-8",
        )
        command = [self.node, str(HERE / "workbench/run.mjs"), str(plan)]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
        (output / "said.txt").write_text(ended.stdout + ended.stderr, encoding="utf-8")
        steps = [json.loads(line) for line in ended.stdout.splitlines() if line.startswith("{")]
        found: Steps = {step["name"]: step for step in steps}
        found.setdefault("", {"ok": False, "error": ended.stderr[-2000:]})
        return found

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(30)
        self.log.close()


def _seen(steps: Steps, name: str) -> dict[str, Any]:
    """What a step has seen; fails where it, or one before it, did not work."""
    failed = next((step for step in steps.values() if not step["ok"] and step.get("name")), steps[""])
    step = steps.get(name)
    assert step is not None, f"it was never reached: {failed.get('name')}: {failed['error']}"
    assert step["ok"], step["error"]
    seen: dict[str, Any] = step["seen"]
    return seen


@pytest.fixture(scope="module")
def open_workbench(
    editor: Code, vsix: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., Workbench]]:
    opened: list[Workbench] = []

    def make(*, path: str, **settings: Any) -> Workbench:
        folder = tmp_path_factory.mktemp("code")
        quiet = {"workbench.startupEditor": "none", "telemetry.telemetryLevel": "off", "files.autoSave": "off"}
        opened.append(Workbench(editor, vsix, folder, path, {**quiet, **settings}))
        return opened[-1]

    yield make
    for workbench in opened:
        workbench.close()


def _project(folder: Path) -> Path:
    """A repository with the config and blend of these tests."""
    shutil.copytree(HERE / "project", folder)
    (folder / ".git").mkdir()
    return folder


WITH_SERVER = f"{scripts()}{os.pathsep}{os.environ.get('PATH', '')}"
WITHOUT_SERVER = os.pathsep.join(
    each for each in os.environ.get("PATH", "").split(os.pathsep) if not (Path(each) / "nemo-resumable").exists()
)


def _checked(folder: Path, *arguments: str) -> str:
    """The config once the command has fixed what is safe to fix."""
    subprocess.run([scripts() / "nemo-resumable", "check", "--fix", *arguments], cwd=folder, capture_output=True)
    return (folder / "conf/salm.yaml").read_text(encoding="utf-8")


# From an open config to its report.


@pytest.fixture(scope="module")
def work_project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _project(tmp_path_factory.mktemp("work") / "speech")


@pytest.fixture(scope="module")
def work(open_workbench: Callable[..., Workbench], work_project: Path) -> Steps:
    return open_workbench(path=WITH_SERVER).play("work", work_project)


@pytest.fixture(scope="module")
def original() -> str:
    return (HERE / "project/conf/salm.yaml").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def fixed(tmp_path_factory: pytest.TempPathFactory) -> str:
    return _checked(_project(tmp_path_factory.mktemp("fixed") / "speech"))


def test_squiggles_and_readiness(work: Steps) -> None:
    seen = _seen(work, "squiggle")
    assert seen["errors"] >= 3
    assert re.search(r"not launch-ready \([1-9]\)", seen["status"])


def test_problems(work: Steps) -> None:
    seen = _seen(work, "problems")
    assert "NR110" in seen["problem"]
    assert "[Ln 21, Col 17]" in seen["problem"]
    assert any("NR336" in row for row in seen["rows"]), "findings in the blend, which is not open"


def test_hover(work: Steps) -> None:
    assert "shard_seed" in _seen(work, "hover")["text"]


def test_quick_fix_through_the_light_bulb(work: Steps, original: str) -> None:
    seen = _seen(work, "quick fix through the light bulb")
    gone = set(original.splitlines()) - set(seen["text"].splitlines())
    assert gone == {'    shard_seed: "randomized"  # a new order every time'}
    assert "    shard_seed: 42  # a new order every time\n" in seen["text"]
    assert "    indexed: true\n" in seen["text"], "which is only right together with it"
    assert "enable_checkpointing" not in seen["text"], "which is another finding"
    assert any("Suppress NR110" in each for each in seen["offered"])


def test_fix_all_is_what_the_command_does(work: Steps, fixed: str) -> None:
    seen = _seen(work, "fix all")
    assert seen["fixed"] == fixed
    assert "not launch-ready" not in seen["status"]


def test_undo(work: Steps, original: str) -> None:
    assert _seen(work, "undo brings back what was there")["text"] == original


def test_migrate(work: Steps, fixed: str) -> None:
    assert _seen(work, "migrate")["text"] == fixed


def test_a_blend_that_is_edited_changes_its_config(work: Steps) -> None:
    seen = _seen(work, "a blend that is edited changes its config")
    assert "NR301" in seen["inBlend"]
    assert "not launch-ready (1)" in seen["after"]
    assert seen["again"] == seen["before"]


def test_broken_in_the_middle_of_an_edit(work: Steps) -> None:
    seen = _seen(work, "broken in the middle of an edit")
    others = [row for row in seen["rows"] if "NR" in row and row != seen["broken"]]
    assert others, "what could be read is still judged"


def test_explain(work: Steps) -> None:
    assert "What goes wrong" in _seen(work, "explain")["text"]


def test_effective_config(work: Steps) -> None:
    assert "# file, conf/salm.yaml:" in _seen(work, "effective config")["text"].replace("\xa0", " ")


def test_artifacts_and_their_preview(work: Steps, work_project: Path) -> None:
    assert "salm" in _seen(work, "artifacts and their preview")["text"]
    folder = work_project / "migrate-resumable/salm"
    assert {"migration-report.md", "salm-resumable.yaml", "build-indexes-cmd.sh"} <= {
        path.name for path in folder.iterdir()
    }


def test_pictures_of_the_readme_are_there(work: Steps) -> None:
    """They are taken by this test; `tests/editors/test_vscode.py` run as a program puts them into the extension."""
    for name in PICTURES:
        assert (OUTPUT / "pictures" / name).stat().st_size > 20_000
        assert (ROOT / "editors/vscode/images" / name).stat().st_size < 300_000


PICTURES = ("findings.png", "report.png")


# What is none of ours.


@pytest.fixture(scope="module")
def idle(open_workbench: Callable[..., Workbench], tmp_path_factory: pytest.TempPathFactory) -> Steps:
    folder = tmp_path_factory.mktemp("idle") / "web"
    folder.mkdir()
    (folder / "deploy.yaml").write_text("services:\n  web:\n    image: nginx\n", encoding="utf-8")
    return open_workbench(path=WITH_SERVER).play("idle", folder)


def test_activation_is_quick(idle: Steps, record_property: Callable[[str, object], None]) -> None:
    """The best of three: what other programs take of the machine is not the extension's."""
    took = [int(re.findall(r"Activation: (\d+)\s*ms", text)[0]) for text in _seen(idle, "activation")["texts"]]
    record_property("activation_ms", took)
    assert min(took) <= 200


def test_no_server_is_started(idle: Steps) -> None:
    assert _seen(idle, "no server")["status"] == ""


# A workspace with a server of its own, which is only run once the workspace is trusted.


@pytest.fixture(scope="module")
def trust_project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = _project(tmp_path_factory.mktemp("trust") / "speech")
    program = folder / ".venv/bin/nemo-resumable"
    program.parent.mkdir(parents=True)
    program.write_text(
        f'#!/bin/sh\ntouch "{folder}/was-run"\nexec "{scripts()}/nemo-resumable" "$@"\n', encoding="utf-8"
    )
    program.chmod(0o755)
    (folder / ".vscode").mkdir()
    settings = {"nemo-resumable.server.path": str(program)}
    (folder / ".vscode/settings.json").write_text(json.dumps(settings), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def trust(open_workbench: Callable[..., Workbench], trust_project: Path) -> Steps:
    workbench = open_workbench(path=WITHOUT_SERVER)
    return workbench.play("trust", trust_project)


def test_nothing_of_the_workspace_is_run(trust: Steps) -> None:
    seen = _seen(trust, "restricted")
    assert "not trusted" in seen["message"]
    assert not seen["was_run"]


def test_it_is_run_once_trusted(trust: Steps, trust_project: Path) -> None:
    assert "not launch-ready" in _seen(trust, "trusted")["status"]
    assert (trust_project / "was-run").exists()


# No server anywhere.


@pytest.fixture(scope="module")
def missing(open_workbench: Callable[..., Workbench], tmp_path_factory: pytest.TempPathFactory) -> Steps:
    missing_project = _project(tmp_path_factory.mktemp("missing") / "speech")
    return open_workbench(path=WITHOUT_SERVER).play("missing", missing_project)


def test_the_user_is_told(missing: Steps) -> None:
    seen = _seen(missing, "told")
    assert "nemo-resumable is not installed" in seen["message"]
    assert "How to Install" in seen["message"]
    assert "nemo-resumable" in seen["status"]


def test_the_walkthrough_helps(missing: Steps) -> None:
    _seen(missing, "helped")


if __name__ == "__main__":
    for name in PICTURES:
        shutil.copy(OUTPUT / "pictures" / name, ROOT / "editors/vscode/images" / name)
