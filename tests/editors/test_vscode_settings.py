"""The settings that VS Code offers are those of the settings file: derived from its schema, and kept so by this test.

Run as a program, this file writes them into the extension's package.json: `python tests/editors/test_vscode_settings.py`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from nemo_resumable.core.settings import SCHEMA
from nemo_resumable.lsp_server.options import SWITCHES

ROOT = Path(__file__).resolve().parents[2]
EXTENSION = ROOT / "editors/vscode"
PACKAGE = EXTENSION / "package.json"

#: What only the extension knows of.
OF_THE_EXTENSION: dict[str, dict[str, Any]] = {
    "server.path": {
        "markdownDescription": "The server: a `nemo-resumable` program, or a Python that has it installed. `~`, "
        "`${workspaceFolder}`, `${userHome}` and `${env:NAME}` may be used. Where it is empty, the interpreter that the "
        "Python extension has selected, `.venv` of the workspace, and PATH are looked at, in this order.",
        "type": "string",
        "default": "",
        "scope": "machine-overridable",
    },
    "server.uvx": {
        "markdownDescription": "What `uvx` may install and run the server from where nothing else is found: a name on "
        "your package index, `git+https://…`, or a folder. Where it is empty, uvx is not used.",
        "type": "string",
        "default": "",
        "scope": "machine-overridable",
    },
    "trace.server": {
        "markdownDescription": "How much of the conversation with the server is written to the log.",
        "type": "string",
        "enum": ["off", "messages", "verbose"],
        "default": "off",
        "scope": "window",
    },
}
#: What only editors know of, with the words for it.
OF_EDITORS = {
    "scan-workspace": "Look in the background for the configs that read a blend, so that the blend is judged with them.",
    "workspace-diagnostics": "Judge files that are not open as well.",
    "indexes": "Look at the index files of the open configs too: sidecars and packs on this machine.",
    "inlay-hints": "Show shard counts, resolved interpolations and NeMo's defaults within the text.",
}


def _setting(schema: dict[str, Any]) -> dict[str, Any]:
    """A property of the file's schema as VS Code takes it: with a default, and without references."""
    setting = {
        key: value
        for key, value in schema.items()
        if key in ("type", "enum", "items", "minimum", "additionalProperties")
    }
    if "anyOf" in schema:
        setting["type"] = ["string", "object"]
    if "enum" in setting:
        setting.setdefault("type", "string")
    if "default" not in schema:
        types = setting["type"] if isinstance(setting["type"], list) else [setting["type"]]
        setting["type"] = [*types, "null"]
        if "enum" in setting:
            setting["enum"] = [*setting["enum"], None]
    return {
        "markdownDescription": schema["description"],
        **setting,
        "default": schema.get("default"),
        "scope": "resource",
    }


def contributed() -> list[dict[str, Any]]:
    """The settings in their sections, as package.json has them."""
    properties = json.loads(SCHEMA.read_text(encoding="utf-8"))["properties"]
    editors = {
        name: {
            "markdownDescription": OF_EDITORS[name],
            "type": "boolean",
            "default": SWITCHES[name],
            "scope": "resource",
        }
        for name in SWITCHES
    }
    sections = {
        "Project": {name: _setting(schema) for name, schema in properties.items()},
        "Editor": editors,
        "Server": OF_THE_EXTENSION,
    }
    return [
        {"title": title, "properties": {f"nemo-resumable.{name}": setting for name, setting in settings.items()}}
        for title, settings in sections.items()
    ]


def test_the_settings_are_those_of_the_file() -> None:
    package = json.loads(PACKAGE.read_text(encoding="utf-8"))
    place = Path(__file__).relative_to(ROOT).as_posix()
    assert package["contributes"]["configuration"] == contributed(), f"run `python {place}`"


def test_the_licence_is_the_projects() -> None:
    assert (EXTENSION / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


if __name__ == "__main__":
    package = json.loads(PACKAGE.read_text(encoding="utf-8"))
    package["contributes"]["configuration"] = contributed()
    PACKAGE.write_text(json.dumps(package, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
