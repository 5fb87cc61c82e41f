"""A process of its own: what is imported, how long a start takes, and writing where something else writes too."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from nemo_resumable.core.writing import write_atomically
from nemo_resumable.hooks import changes

Run = Callable[..., Any]

#: What costs a start tens of milliseconds and is no part of judging a config.
HEAVY = ("pygls", "lsprotocol", "omegaconf", "ruamel", "importlib.metadata", "email", "tomllib", "textwrap")


def imported(*arguments: str, cwd: Path) -> set[str]:
    """The modules a command imports."""
    script = (
        "import sys; from nemo_resumable.hooks.cli import main; main(sys.argv[1:]); "
        "print('\\n'.join(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], cwd=cwd, capture_output=True, text=True, check=True
    )
    return set(done.stderr.split())


@pytest.mark.parametrize(
    "arguments",
    [
        ("check", "conf.yaml"),
        ("check", "--format", "json", "conf.yaml"),
        ("check", "--format", "concise", "--color", "always", "conf.yaml"),
        ("check", "--format", "sarif", "conf.yaml"),
        ("check", "--format", "github", "conf.yaml"),
        ("check", "--format", "gitlab", "conf.yaml"),
        ("check", "--format", "junit", "conf.yaml"),
        ("rules",),
        ("--version",),
    ],
)
def test_a_command_imports_only_what_it_needs(config: Path, arguments: tuple[str, ...]) -> None:
    modules = imported(*arguments, cwd=config.parent)
    assert not {name for name in modules if name.split(".")[0] in HEAVY or name in HEAVY}
    if arguments[0] != "check":
        assert "nemo_resumable.hooks.check" not in modules
    if arguments == ("--version",):
        assert "nemo_resumable.core.analysis" not in modules
        assert "yaml" not in modules


@pytest.mark.parametrize("place", ["nemo_resumable.hooks.check.analyze", "nemo_resumable.hooks.cli._parser"])
def test_an_interrupt_is_quiet(run: Run, config: Path, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(place, interrupt)
    ran = run("check", "conf.yaml")
    assert (ran.code, ran.out, ran.err) == (130, "", "")


def test_what_another_wrote_meanwhile_is_kept(run: Run, config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fix = changes.fix

    def slow(*arguments: Any, **given: Any) -> Any:
        result = fix(*arguments, **given)
        config.write_text("a: 1\n", encoding="utf-8")
        return result

    monkeypatch.setattr(changes, "fix", slow)
    ran = run("check", "--fix")
    assert ran.code == 2
    assert "has changed meanwhile; run the command again" in ran.err
    assert config.read_text(encoding="utf-8") == "a: 1\n"


def test_file_that_cannot_be_written(run: Run, config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path, *arguments: Any, **given: Any) -> None:
        if path.name == "b.yaml":
            raise changes.WriteRefused(f"`{path}` cannot be written: Read-only file system")
        write_atomically(path, *arguments, **given)

    text = config.read_bytes()
    (config.parent / "b.yaml").write_bytes(text)
    monkeypatch.setattr(changes, "write_atomically", refuse)
    ran = run("check", "--fix", "--format", "concise")
    assert ran.code == 2
    assert "cannot be written: Read-only file system" in ran.err
    assert b"shard_seed: 42" in config.read_bytes()
    assert "b.yaml:5:17: error[NR110]" in ran.out, "what is reported is what stands on disk"
    assert "conf.yaml:5:17" not in ran.out


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a named pipe")
def test_output_to_a_pipe_leaves_it_a_pipe(run: Run, config: Path) -> None:
    os.mkfifo("pipe")
    reader = subprocess.Popen(["cat", "pipe"], stdout=subprocess.PIPE)
    assert run("check", "--output", "pipe", "conf.yaml").code == 1
    assert b"error[NR110]" in reader.communicate(timeout=10)[0]
    assert Path("pipe").is_fifo()


def test_several_processes_fix_one_file(config: Path) -> None:
    before = config.read_bytes()
    command = [sys.executable, "-m", "nemo_resumable.hooks.cli", "check", "--fix", "conf.yaml"]
    running = [
        subprocess.Popen(command, cwd=config.parent, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(4)
    ]
    for process in running:
        _, err = process.communicate(timeout=60)
        assert process.returncode in (0, 1, 2)
        assert b"Traceback" not in err
    assert config.read_bytes() == before.replace(b'"randomized"', b"42")
    assert {path.name for path in config.parent.iterdir()} == {".git", "conf.yaml"}
