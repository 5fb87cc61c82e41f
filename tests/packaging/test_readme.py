"""The README keeps its word: what it shows as output is what the command prints, and its settings are read.

Run as a program, this file writes the real output into the README: `python tests/packaging/test_readme.py`.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from shutil import copytree

from nemo_resumable.core.settings import OWN_FILE, load_settings, runtime_context

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"

#: A block of which the first line is a command and the rest what it prints.
_SHOWN = re.compile(r"(?P<opening>```console\n\$ nemo-resumable (?P<arguments>.+)\n)(?P<output>(?:(?!```).*\n)*)```")
_TOML = re.compile(r"```toml\n(.*?)```", re.S)


def _rendered(text: str) -> str:
    """The text with every block of output as the command prints it now, one after the other in one folder."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / ".git").mkdir()
        copytree(ROOT / "examples", folder / "examples")

        def shown(block: re.Match[str]) -> str:
            command = [sys.executable, "-m", "nemo_resumable.hooks.cli", *shlex.split(block["arguments"])]
            plain = {**os.environ, "COLUMNS": "88", "NO_COLOR": "1"}
            ended = subprocess.run(command, cwd=folder, env=plain, capture_output=True, text=True, encoding="utf-8")
            assert ended.returncode in (0, 1), ended.stderr
            return f"{block['opening']}{ended.stdout.rstrip()}\n```"

        return _SHOWN.sub(shown, text)


def test_output_is_real() -> None:
    text = README.read_text(encoding="utf-8")
    assert len(_SHOWN.findall(text)) == text.count("```console")
    assert _rendered(text) == text, f"run `python {Path(__file__).relative_to(ROOT).as_posix()}` and read what changed"


def test_settings_are_read(tmp_path: Path) -> None:
    """Every example of settings can be used as it stands."""
    examples = _TOML.findall(README.read_text(encoding="utf-8"))
    read = []
    for example in examples:
        (tmp_path / OWN_FILE).write_text(example, encoding="utf-8")
        read.append(load_settings(tmp_path))
    assert any(settings.seed == 42 and settings.severity == {"NR113": "error"} for settings in read)
    assert any(runtime_context(settings).variables.get("USE_AIS_GET_BATCH") == "true" for settings in read)


def test_files_that_are_named_exist() -> None:
    text = README.read_text(encoding="utf-8")
    for name in (*re.findall(r"\]\(((?!https?:)[^)#]+)\)", text), *re.findall(r"^\./(\S+)", text, re.M)):
        assert (ROOT / name).exists(), name


def test_every_dependency_earns_its_place() -> None:
    """CONTRIBUTING.md says of each what it is for, and of none that is not there any more."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    required = [
        *project["dependencies"],
        *(each for extra in project["optional-dependencies"].values() for each in extra),
    ]
    names = {re.split(r"[^\w.-]", line, maxsplit=1)[0] for line in required}
    said = set(re.findall(r"^- `([\w.-]+)`:", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.M))
    assert said == names


if __name__ == "__main__":
    README.write_text(_rendered(README.read_text(encoding="utf-8")), encoding="utf-8")
