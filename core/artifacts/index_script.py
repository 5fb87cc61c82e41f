"""`build-indexes-cmd.sh`: the command that builds the sidecars of just this config's sources.

NeMo's builder follows `input_cfg` documents: in a whole training YAML it finds nothing where `input_cfg` is a path or the
section names its data itself, and it stops at `???`. So blends that are lists are named, everything else is extracted.
"""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..model.blend import Entry
from ..model.dataset import Dataset
from ..model.obstacles import obstacle
from ..model.storage import storage_of
from ..model.values import Unknown
from ..settings import repository_root
from ..syntax.nodes import Sequence

if TYPE_CHECKING:
    from .migrate import Migration

#: Types whose sources need no sidecar (build_indexes.py skips them).
_NO_INDEX = frozenset({"txt", "txt_pair", "parquet", "multi_speaker_simulator"})

#: Keys of an entry that the builder needs; tags, weights and the like only get in its way.
_KEPT = (
    "type",
    "manifest_filepath",
    "tarred_audio_filepaths",
    "cuts_path",
    "shar_path",
    "paths",
    "data_dir",
    "wds_sample_index_version",
    "tar_lookup_mode",
    "tar_routing_filepath",
    "tar_routing_index",
)


@dataclass(frozen=True, slots=True)
class Inputs:
    """What the builder is given, by the `indexes_root` it goes to ("" where there is none)."""

    documents: dict[str, list[str]] = field(default_factory=dict)  #: shell words for the command line
    extracted: dict[str, str] = field(default_factory=dict)  #: file name → YAML written beside the script
    left_out: list[str] = field(default_factory=list)  #: sentences

    @property
    def buildable(self) -> bool:
        """Whether there is any source to build sidecars for."""
        return any(self.documents.values())


def index_inputs(migration: Migration) -> Inputs:
    """Collect the documents for every dataset of the migrated config, training first."""
    inputs = Inputs()
    for dataset in migration.migrated.datasets:
        _dataset(migration, dataset, inputs)
    return inputs


def _dataset(migration: Migration, dataset: Dataset, inputs: Inputs) -> None:
    usable: list[Entry] = []
    blocked = 0
    for source in dataset.sources:
        name = f"`{source.subject}`" + (f" in `{source.document.source.path.name}`" if source.external else "")
        found = obstacle(source)
        if source.type is None:
            inputs.left_out.append(f"{name}: its type is not known")
        elif source.type.name in _NO_INDEX:
            continue
        elif found is not None:
            blocked += 1
            inputs.left_out.append(f"{name}: it cannot be indexed ({found.code})")
        elif not source.paths or any(not path.known and "???" in path.text for path in source.paths):
            inputs.left_out.append(f"{name}: its path is not stated yet")
        else:
            usable.append(source)
    if not usable:
        return
    root = dataset["indexes_root"].value
    if root is None and migration.migrated.training:  # evaluation without a root of its own uses training's mirror
        root = migration.migrated.training[0]["indexes_root"].value
    bucket = inputs.documents.setdefault(root if isinstance(root, str) else "", [])
    for word in _named_blends(migration, dataset, usable, blocked) or [_extract(migration, dataset, usable, inputs)]:
        if word not in bucket:
            bucket.append(word)


def _named_blends(migration: Migration, dataset: Dataset, usable: list[Entry], blocked: int) -> list[str]:
    """The dataset's blend file, where it can be handed to the builder as it is."""
    setting = dataset["input_cfg"]
    root_files = {entry.document.source.path for entry in dataset.entries}
    if not isinstance(setting.value, str) or len(root_files) != 1 or blocked or len(usable) != len(dataset.sources):
        return []
    blend = root_files.pop()
    document = dataset.entries[0].document
    if not isinstance(document.root, Sequence) or any(not path.known for source in usable for path in source.paths):
        return []
    if any(source.type is not None and source.type.name == "nemo_sft_jsonl" for source in usable):
        return []
    name = migration.patched_blends.get(blend)
    if name is not None:
        return [f'"$HERE"/{shlex.quote(name)}']
    relative = os.path.relpath(blend, migration.project.launch_dir)
    return [shlex.quote(str(blend) if relative.startswith("..") else relative)]


def _extract(migration: Migration, dataset: Dataset, usable: list[Entry], inputs: Inputs) -> str:
    """Write the sources as a document of their own, once for equal content."""
    stem = "-".join(dataset.path[1:] if len(dataset.path) > 1 else dataset.path)
    name = f"{migration.config.document.source.path.stem}-{stem}-input-cfg.yaml"
    text = _document([_entry(source) for source in usable], dataset)
    inputs.extracted[name] = text
    return f'"$HERE"/{shlex.quote(name)}'


def _entry(source: Entry) -> dict[str, Any]:
    entry: dict[str, Any] = {}
    for key in _KEPT:
        value = source.type_name if key == "type" else source[key].value if source.find(key) is not None else None
        if value is not None and not isinstance(value, Unknown):
            entry[key] = _with_environment(value)
        elif isinstance(value, Unknown) and value.kind == "environment":
            entry[key] = value.text
    if source.reader in ("cuts", "shar"):
        entry = {
            "type": "lhotse",
            **{k: v for k, v in entry.items() if k == ("cuts_path" if source.reader == "cuts" else "shar_path")},
        }
    elif source.reader in ("nemo", "nemo_tarred"):
        entry["type"] = source.reader
    elif entry["type"] == "nemo_sft_jsonl":
        entry["type"] = "txt_jsonl"  # the builder does not know the type and would build nothing
    return entry


def _with_environment(value: Any) -> Any:
    """Environment interpolations stay as written: the builder resolves them where it runs."""
    if isinstance(value, Unknown):
        return value.text
    if isinstance(value, list):
        return [_with_environment(item) for item in value]
    if isinstance(value, dict):
        return {key: _with_environment(item) for key, item in value.items()}
    return value


def _document(entries: list[dict[str, Any]], dataset: Dataset) -> str:
    from io import StringIO

    from ruamel.yaml import YAML

    yaml = YAML()
    yaml.default_flow_style = False
    yaml.width = 4096
    stream = StringIO()
    yaml.dump(entries, stream)
    return f"# The sources of {dataset.subject}, for NeMo's index builder.\n{stream.getvalue()}"


def wrapper(root: Path) -> Path | None:
    """The project's own script for building indexes, where one is plainly there."""
    candidates = [root / "submit_build_indexes.py", *sorted((root / "scripts").glob("*build*index*"))]
    return next((path for path in candidates if path.is_file()), None)


def index_script(migration: Migration, inputs: Inputs) -> str:
    """The script's text."""
    config = migration.shown(migration.config.document.source.path)
    launch = os.path.relpath(migration.project.launch_dir, migration.folder)
    lines = [
        "#!/usr/bin/env bash",
        f"# Builds the .idx sidecars for the sources of {config}.",
        "#",
        "#   NEMO=/path/to/NeMo ./build-indexes-cmd.sh",
        "#",
        "# NEMO is the top folder of a NeMo Speech checkout: the builder is not part of the wheels.",
        "# Relative data paths begin in LAUNCH_DIR, the folder in which training is started.",
        *_context_notes(migration),
        "set -euo pipefail",
        "",
        'HERE="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"',
    ]
    for sentence in inputs.left_out:
        lines.append(f"# Left out: {sentence}.")
    if not inputs.buildable:
        lines += [
            'echo "No source of this config can be indexed yet; see $HERE/migration-report.md." >&2',
            "exit 1",
        ]
        return "\n".join(lines) + "\n"
    lines += [_unless_set("LAUNCH_DIR", f"$HERE/{_inside_quotes(launch)}"), 'WORKERS="${WORKERS:-8}"']
    own = wrapper(repository_root(migration.project.cwd))
    generic = _command_lead(own, migration)
    lines += generic[0]
    for number, (root, words) in enumerate(inputs.documents.items()):
        name = "INDEXES_ROOT" if number == 0 else f"INDEXES_ROOT_{number + 1}"
        lines.append("")
        flag: list[str] = []
        if root and "${" not in root:
            lines.append(_unless_set(name, _inside_quotes(root)))
            flag = [f'--indexes-root "${name}"']
        elif root or storage_of(migration.migrated.datasets).remote:
            lines.append(f': "${{{name}:?set it to the folder for the sidecars, as in the config}}"')
            flag = [f'--indexes-root "${name}"']
        else:
            lines.append("# No indexes_root: each sidecar is written beside its data file.")
        lines.append(" \\\n    ".join([generic[1], *flag, '--workers "$WORKERS"', *words]))
    return "\n".join(lines) + "\n"


def _unless_set(name: str, value: str) -> str:
    """A variable's default. Not `${NAME:-…}`: a quote in the value would not end where it seems to."""
    return f'[ -n "${{{name}:-}}" ] || {name}="{value}"'


def _inside_quotes(text: str) -> str:
    """Text for the inside of double quotes."""
    for char in '\\"$`':
        text = text.replace(char, f"\\{char}")
    return text


def _command_lead(own: Path | None, migration: Migration) -> tuple[list[str], str]:
    """The lines before the command, and its first words."""
    if own is not None:
        root = os.path.relpath(repository_root(migration.project.cwd), migration.folder)
        relative = own.relative_to(repository_root(migration.project.cwd)).as_posix()
        run = "python " if own.suffix == ".py" else ""
        return (
            ["# The project's own wrapper; check that it takes the builder's arguments.", 'cd "$LAUNCH_DIR"'],
            f'{run}"$HERE/{root}/{relative}"',
        )
    return (
        [
            'NEMO="${NEMO:?set NEMO to the top folder of a NeMo Speech checkout}"',
            'export PYTHONPATH="$NEMO${PYTHONPATH:+:$PYTHONPATH}"',
            'cd "$LAUNCH_DIR"',
        ],
        'python "$NEMO/scripts/dataloading/build_indexes.py"',
    )


def _context_notes(migration: Migration) -> list[str]:
    """Comment lines on the container and its mounts, where the runtime context names them."""
    runtime = migration.project.settings.runtime
    if not isinstance(runtime, dict):
        return []
    notes = [f"# {key}: {runtime[key]}" for key in ("container", "mounts", "env") if key in runtime]
    return ["#", "# The runtime context names:", *notes] if notes else []
