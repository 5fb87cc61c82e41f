"""Long sessions, clients that die, disks that are full and folders that are read-only."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .conftest import CONFIG, Refused, codes
from .soak import play

Serve = Callable[..., Any]
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks the kernel for limits as Linux has them")


@linux
def test_a_session_takes_no_more_at_its_end(client: Any, project: Path) -> None:
    """Two minutes' worth of edits; `python -m tests.lsp_server.soak` plays thirty."""
    seconds, megabytes = play(client, project, 400).ratios()
    assert seconds < 4  # short stretches are counted in few ticks
    assert megabytes < 1.3


@linux
def test_clients_that_die_in_the_middle_of_a_message(serve: Serve, project: Path) -> None:
    """The server ends by itself, whatever it was at, and the next one finds the project as it was."""
    for number in range(4):
        client = serve()
        client.initialize(project)
        uri = client.open(project / "conf.yaml")
        if number % 2:
            client.pushed(uri)
        stdin = client.process.stdin
        stdin.write(b"Content-Length: 5000\r\n\r\n{" + b" " * (1000 * number))
        stdin.flush()
        stdin.close()
        assert client.process.wait(30) is not None
    client = serve()
    client.initialize(project)
    assert "NR110" in codes(client.diagnostics(client.open(project / "conf.yaml")))
    assert (project / "conf.yaml").read_text() == CONFIG


@linux
def test_a_full_disk_is_told_and_survived(client: Any, project: Path) -> None:
    import resource

    uri = client.open(project / "conf.yaml")
    client.pushed(uri)
    command = {"command": "nemo-resumable.writeArtifacts", "arguments": [uri]}
    before = resource.prlimit(client.process.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(client.process.pid, resource.RLIMIT_FSIZE, (100, before[1]))
    with pytest.raises(Refused, match="cannot be written: File too large"):
        client.request("workspace/executeCommand", command)
    assert not [path for path in project.rglob("*") if path.is_file() and path.name.startswith(".")]
    resource.prlimit(client.process.pid, resource.RLIMIT_FSIZE, before)
    assert client.request("workspace/executeCommand", command)["files"]


def _run(project: Path, *arguments: str, before: Callable[[], None] | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "nemo_resumable.hooks.cli", *arguments]
    return subprocess.run(command, cwd=project, capture_output=True, text=True, check=False, preexec_fn=before)


@linux
@pytest.mark.parametrize(
    "arguments", [("check", "--fix"), ("migrate",), ("check", "--output", "out.txt")], ids=" ".join
)
def test_a_full_disk_is_a_sentence_on_the_command_line(project: Path, arguments: tuple[str, ...]) -> None:
    import resource

    texts = {path: path.read_bytes() for path in project.glob("*.yaml")}
    done = _run(project, *arguments, "conf.yaml", before=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20, 20)))
    assert done.returncode == 2
    assert "cannot be written: File too large" in done.stderr
    assert "Traceback" not in done.stderr
    assert {path: path.read_bytes() for path in project.glob("*.yaml")} == texts
    assert not [path for path in project.rglob(".*") if path.is_file()], "something half-written is left"


@linux
def test_an_output_that_takes_nothing(project: Path) -> None:
    with open("/dev/full", "wb") as full:
        command = [sys.executable, "-m", "nemo_resumable.hooks.cli", "check", "conf.yaml"]
        done = subprocess.run(command, cwd=project, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr


def _as_everybody() -> None:
    """Root writes anywhere: without this capability it has to ask like everybody else, from the next program on."""
    if os.geteuid() == 0:
        libc = ctypes.CDLL(None, use_errno=True)
        for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
            if libc.prctl(24, capability, 0, 0, 0):  # PR_CAPBSET_DROP
                raise OSError(ctypes.get_errno(), "the capability stays")


@linux
@pytest.mark.parametrize(
    "arguments", [("check", "--fix"), ("migrate",), ("check", "--output", "out.txt")], ids=" ".join
)
def test_a_folder_that_is_read_only(project: Path, arguments: tuple[str, ...]) -> None:
    texts = {path: path.read_bytes() for path in project.glob("*.yaml")}
    project.chmod(0o555)
    try:
        try:
            done = _run(project, *arguments, "conf.yaml", before=_as_everybody)
        except subprocess.SubprocessError:
            pytest.skip("root may not give its capabilities away here")
    finally:
        project.chmod(0o755)
    assert done.returncode == 2, done.stderr
    assert "cannot be written: Permission denied" in done.stderr
    assert "Traceback" not in done.stderr
    assert {path: path.read_bytes() for path in project.glob("*.yaml")} == texts
