"""`build-indexes-cmd.sh`: the command that builds the sidecars of just this config's sources.

NeMo's builder follows `input_cfg` documents: in a whole training YAML it finds nothing where `input_cfg` is a path or the
section names its data itself, and it stops at `???`. So blends that are lists are named, everything else is extracted.
"""

from __future__ import annotations

import os
import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ..model.blend import Entry
from ..model.config import TrainingConfig
from ..model.dataset import Dataset
from ..model.obstacles import obstacle
from ..model.storage import storage_of
from ..model.values import Unknown
from ..settings import repository_root
from ..syntax.nodes import Sequence
from .documents import document
from .packs import Declared, existing

if TYPE_CHECKING:
    from .migrate import Migration

#: Types whose sources need no sidecar (build_indexes.py skips them).
_NO_INDEX = frozenset({"txt", "txt_pair", "parquet", "multi_speaker_simulator"})


@dataclass(frozen=True, slots=True)
class Conversion:
    """One index pack: what it is converted from and where it goes."""

    name: str  #: as declared
    document: str  #: file name, beside the script
    index_root: str | None  #: as in the config, perhaps with an interpolation
    pack_root: str | None  #: the same for the pack; None where the name is a path of its own


@dataclass(frozen=True, slots=True)
class Inputs:
    """What the builder is given, by the `indexes_root` it goes to ("" where there is none)."""

    documents: dict[str, list[str]] = field(default_factory=dict)  #: shell words for the command line
    extracted: dict[str, str] = field(default_factory=dict)  #: file name → YAML written beside the script
    conversions: list[Conversion] = field(default_factory=list)  #: index packs, after the sidecars
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
    for pack in existing(migration.migrated) if migration.packs is not None else ():
        _conversion(migration, pack, inputs)
    return inputs


def _conversion(migration: Migration, pack: Declared, inputs: Inputs) -> None:
    """The document of one outer dataset, and where its pack goes."""
    roots = {_written(source["indexes_root"].value) for source in pack.held}
    if len(roots) > 1:
        inputs.left_out.append(f"the pack `{pack.name}`: its sources have sidecars under different roots")
        return
    root = next(iter(roots))
    heading = f"The sources of the pack {pack.name}, for NeMo's converter."
    text = document(pack.held, heading, root)
    name = _extracted(migration, f"{Path(pack.name).stem}-pack", text, inputs)
    absolute = Path(pack.name).is_absolute()
    pack_root = None if absolute else _written(pack.held[0]["index_pack_root"].value)
    inputs.conversions.append(Conversion(pack.name, name, root, pack_root))


def _written(value: object) -> str | None:
    """A folder as the config states it; an interpolation of the environment as it is written."""
    return value.text if isinstance(value, Unknown) else str(value) if value is not None else None


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
    bucket = inputs.documents.setdefault(index_root(migration.migrated, dataset) or "", [])
    for word in _named_blends(migration, dataset, usable, blocked) or [_extract(migration, dataset, usable, inputs)]:
        if word not in bucket:
            bucket.append(word)


def index_root(config: TrainingConfig, dataset: Dataset) -> str | None:
    """The root for a dataset's sidecars, as the script is told it."""
    root = dataset["indexes_root"].value
    if root is None and config.training:  # evaluation without a root of its own uses training's mirror
        root = config.training[0]["indexes_root"].value
    return _written(root)


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
    word = str(blend) if relative.startswith("..") else relative
    return [shlex.quote(f"./{word}" if word.startswith("-") else word)]


def _extract(migration: Migration, dataset: Dataset, usable: list[Entry], inputs: Inputs) -> str:
    """Write the sources as a document of their own, once for equal content."""
    stem = "-".join(dataset.path[1:] if len(dataset.path) > 1 else dataset.path)
    root = index_root(migration.migrated, dataset)
    text = document(usable, f"The sources of {dataset.subject}, for NeMo's index builder.", root)
    name = _extracted(migration, stem, text, inputs)
    return f'"$HERE"/{shlex.quote(name)}'


def _extracted(migration: Migration, stem: str, text: str, inputs: Inputs) -> str:
    """Add a document under a name made of a dataset's or a pack's, whatever that is; the name."""
    begin = f"{migration.config.document.source.path.stem}-{re.sub(r'[^A-Za-z0-9._-]+', '-', stem)}"
    name, number = f"{begin}-input-cfg.yaml", 1
    while inputs.extracted.setdefault(name, text) != text:
        number += 1
        name = f"{begin}-{number}-input-cfg.yaml"
    return name


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
        f"# Builds the .idx sidecars for the sources of {config}"
        + (", and converts its index packs." if inputs.conversions else "."),
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
        return _joined(lines)
    lines += [_unless_set("LAUNCH_DIR", f"$HERE/{_inside_quotes(launch)}"), 'WORKERS="${WORKERS:-8}"']
    own = wrapper(repository_root(migration.project.cwd))
    generic = _command_lead(own, migration)
    lines += generic[0]
    remote = storage_of(migration.migrated.datasets).remote
    variables = Variables()
    for root, words in inputs.documents.items():
        lines.append("")
        flag = variables.flag("--indexes-root", "INDEXES_ROOT", root or None, lines, needed=bool(remote))
        if not flag:
            lines.append("# No indexes_root: each sidecar is written beside its data file.")
        lines.append(" \\\n    ".join([generic[1], *flag, '--workers "$WORKERS"', *words]))
    for conversion in inputs.conversions:
        lines += ["", f"# The index pack {conversion.name}, from the sidecars above."]
        if own is not None and conversion is inputs.conversions[0]:
            lines += CHECKOUT
        flag = variables.flag("--indexes-root", "INDEXES_ROOT", conversion.index_root, lines, needed=bool(remote))
        output = shlex.quote(conversion.name)
        if conversion.pack_root is not None:
            output = f"{variables.word('INDEX_PACK_ROOT', conversion.pack_root, lines)}/{output}"
        words = [f"--output {output}", "--overwrite", f'"$HERE"/{shlex.quote(conversion.document)}']
        lines.append(" \\\n    ".join([CONVERTER, *flag, *words]))
    return _joined(lines)


CHECKOUT = [
    'NEMO="${NEMO:?set NEMO to the top folder of a NeMo Speech checkout}"',
    'export PYTHONPATH="$NEMO${PYTHONPATH:+:$PYTHONPATH}"',
]
CONVERTER = 'python "$NEMO/scripts/dataloading/convert_indexes_to_idxpack.py"'


@dataclass(slots=True)
class Variables:
    """The shell variables of the folders that the commands use, each set once, before the first that needs it."""

    names: dict[tuple[str, str | None], str] = field(default_factory=dict)

    def word(self, stem: str, value: str | None, lines: list[str]) -> str:
        """The variable for a folder, as a word; a value that is not known has to be given by who runs the script."""
        known = (stem, value) in self.names
        count = sum(of == stem for of, _ in self.names)
        name = self.names.setdefault((stem, value), stem if count == 0 else f"{stem}_{count + 1}")
        if not known and value is not None and "${" not in value:
            lines.append(_unless_set(name, _inside_quotes(value)))
        elif not known:
            lines.append(f': "${{{name}:?set it to the folder, as in the config}}"')
        return f'"${name}"'

    def flag(self, option: str, stem: str, value: str | None, lines: list[str], *, needed: bool) -> list[str]:
        """The option with its variable; nothing where there is no such folder and none is needed."""
        return [f"{option} {self.word(stem, value, lines)}"] if value is not None or needed else []


def _joined(lines: list[str]) -> str:
    """The script's text. A comment names files and keys, and a line end in one of them must not end the comment."""
    return "".join(f"{' '.join(line.splitlines()) if line.startswith('#') else line}\n" for line in lines)


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
            f'{run}"$HERE/{_inside_quotes(f"{root}/{relative}")}"',
        )
    return (
        [*CHECKOUT, 'cd "$LAUNCH_DIR"'],
        'python "$NEMO/scripts/dataloading/build_indexes.py"',
    )


def _context_notes(migration: Migration) -> list[str]:
    """Comment lines on container, mounts and workers, where the runtime context names them; of variables only the names."""
    stated = migration.project.stated_runtime
    notes = [
        ("container", stated.container),
        ("mounts", ", ".join(stated.mounts)),
        ("variables", ", ".join(sorted(stated.variables))),
        ("worker processes a rank", stated.workers),
    ]
    lines = [f"# {name}: {' '.join(str(value).split())}" for name, value in notes if value not in (None, "")]
    return ["#", "# The runtime context names:", *lines] if lines else []
