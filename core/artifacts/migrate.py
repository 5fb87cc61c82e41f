"""The migration of one config: patched copies, report, checklist and index script, written to one folder."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from ..analysis import Analysis, analyze
from ..findings import Edit, Severity
from ..fixing import FixResult, fix
from ..model.config import TrainingConfig
from ..project import OUTPUT_FOLDER, Project
from ..records import dataclass
from ..settings import repository_root
from ..syntax.applying import annotated, apply_edits
from ..syntax.editing import serialize
from ..syntax.nodes import Document
from ..text import Source
from ..writing import WriteRefused, write_atomically
from .markdown import mark as made_mark
from .packs import Plan, built, declare, overlays


class NotAConfig(ValueError):
    """The file cannot be migrated; the message says why."""


@dataclass(frozen=True, slots=True, eq=False)
class Migration:
    """Everything the artifacts are made of, and their texts by file name."""

    project: Project
    config: TrainingConfig  #: as it was
    before: Analysis
    fixes: FixResult
    after: Analysis  #: of the patched copies
    migrated: TrainingConfig  #: the patched copy
    folder: Path
    patched_config: str | None  #: file name, None where nothing was changed
    patched_blends: Mapping[Path, str]  #: original → file name
    files: Mapping[str, bytes]
    buildable: bool = False  #: whether the index script has a source to build sidecars for
    packs: Plan | None = None  #: what `--packs` did; None where it was not asked for

    def shown(self, path: Path) -> str:
        """A path relative to the repository where it lies in it."""
        return shown(path, repository_root(self.project.cwd))


def shown(path: Path, root: Path) -> str:
    """A path relative to a folder, so that the artifacts carry no path of one machine."""
    return os.path.relpath(path, root).replace(os.sep, "/")


def prepare(
    project: Project,
    file: Path,
    *,
    out: Path | None = None,
    exclude_blocked: bool = False,
    annotate: bool = True,
    packs: bool = False,
) -> Migration:
    """Make the artifacts of a config without writing anything; `packs` also declares index packs. Raises NotAConfig."""
    fixes = fix(project, [file], for_artifact=True, exclude_blocked=exclude_blocked)
    before = fixes.before
    if before.problems:
        raise NotAConfig(before.problems[0][1])
    broken = [finding for finding in before.findings if finding.code in ("NR001", "NR002", "NR013")]
    if broken and any(finding.location.file == file for finding in broken):
        first = broken[0]
        place = first.location.source.lines.position(first.location.span.start)
        raise NotAConfig(f"{file}:{place.line}:{place.column}: {first.message}; mend that first")
    if not before.models:
        document = project.store.load(file)
        if isinstance(document, Document) and document.problems:
            problem = document.problems[0]
            place = document.source.lines.position(problem.span.start)
            raise NotAConfig(f"{file}:{place.line}:{place.column}: {problem.message}; mend that first")
        raise NotAConfig(f"`{file}` has no training dataset that Lhotse reads (`train_ds` under `data` or `model`)")
    config = before.models[0]
    folder = out if out is not None else output_folder(project, file)
    texts = dict(fixes.annotated if annotate else fixes.texts)
    after, plan = fixes.analysis, None
    if packs:
        plain, plan = declare(project, config, fixes.texts, annotate=False)
        texts, _ = declare(project, config, texts, annotate=annotate)
        after = analyze(built(project, plan).with_overlays(overlays(plain)), [file])
    _add_readers(texts, config, project)
    names = _blend_names([path for path in texts if path != file])
    texts = _repointed(project, file, texts, names, folder, annotate=annotate)
    patched = f"{file.stem}-resumable.yaml" if file in texts else None
    files: dict[str, bytes] = {}
    if patched is not None:
        files[patched] = texts[file].to_bytes()
    files |= {name: texts[path].to_bytes() for path, name in names.items()}
    migrated = after.models[0]
    migration = Migration(project, config, before, fixes, after, migrated, folder, patched, names, files, packs=plan)
    from .checklist import checklist
    from .index_script import index_inputs, index_script
    from .report import report

    inputs = index_inputs(migration)
    migration = replace(migration, buildable=inputs.buildable)
    files |= {name: text.encode() for name, text in inputs.extracted.items()}
    files["build-indexes-cmd.sh"] = index_script(migration, inputs).encode()
    files["pre-flight-checklist.md"] = checklist(migration, inputs).encode()
    listed = made_mark(", ".join(sorted(files)), FILES)
    files["migration-report.md"] = report(migration, inputs, listed).encode()
    return migration


def write(migration: Migration) -> None:
    """Write the artifacts; what an earlier run wrote under other names and is no longer true is removed."""
    folder = migration.folder
    root = repository_root(migration.project.cwd)
    for name in _written_before(folder):
        if name not in migration.files:
            (folder / name).unlink(missing_ok=True)
    for name, data in migration.files.items():
        if Path(name).name != name:
            raise WriteRefused(f"`{name}` is no name of a file in `{folder}`")
        write_atomically(folder / name, data, root=root, executable=name.endswith(".sh"))


MARK = "<!-- config: {} -->"
FILES = "<!-- files: {} -->"


def _written_before(folder: Path) -> list[str]:
    """The copies and extracts that the report in a folder says it was written with; nothing else is ever removed."""
    try:
        with (folder / "migration-report.md").open(encoding="utf-8") as lines:
            head = [lines.readline().strip() for _ in range(2)]
    except (OSError, UnicodeDecodeError):
        return []
    prefix, suffix = FILES.split("{}")
    if not (head[1].startswith(prefix) and head[1].endswith(suffix)):
        return []
    names = head[1][len(prefix) : -len(suffix)].split(", ")
    return [name for name in names if name.endswith(("-resumable.yaml", "-input-cfg.yaml")) and "/" not in name]


def output_folder(project: Project, file: Path) -> Path:
    """`migrate-resumable/<stem>`, or with the parents' names before it where that folder is another config's."""
    root = repository_root(project.cwd)
    # `...yaml` has the stem `..`, and would be migrated into the folder above.
    stem = file.stem if file.stem.strip(".") else f"config{file.stem}"
    mark = made_mark(shown(file, root), MARK)
    for parent in (None, *file.parents):
        if parent is not None:
            if not parent.name:
                break
            stem = f"{parent.name}-{stem}"
        folder = root / OUTPUT_FOLDER / stem
        report = folder / "migration-report.md"
        try:
            with report.open(encoding="utf-8") as lines:
                if lines.readline().strip() == mark:
                    return folder
        except OSError:
            return folder
    return root / OUTPUT_FOLDER / stem


def _add_readers(texts: dict[Path, Source], config: TrainingConfig, project: Project) -> None:
    """Copy whatever reads a patched blend too, up to the config: else nothing would lead to the patched copy."""
    ours = {config.document.source.path, *(blend.path for blend in config.blends)}
    missing = True
    while missing:
        missing = False
        for site in config.blend_sites:
            reader = site.location.file
            if site.target in texts and reader not in texts and reader in ours:
                document = project.store.load(reader)
                assert isinstance(document, Document)
                texts[reader] = document.source
                missing = True


def _blend_names(paths: list[Path]) -> dict[Path, str]:
    """A file name for each patched blend; equal stems get their folder's name before them."""
    counts = Counter(path.stem for path in paths)
    names: dict[Path, str] = {}
    for path in sorted(paths):
        name = path.stem if counts[path.stem] == 1 else f"{path.parent.name}-{path.stem}"
        while f"{name}-resumable.yaml" in names.values():
            name = f"{name}-2"
        names[path] = f"{name}-resumable.yaml"
    return names


def _repointed(
    project: Project, file: Path, texts: dict[Path, Source], names: Mapping[Path, str], folder: Path, *, annotate: bool
) -> dict[Path, Source]:
    """The patched texts with every path to a blend as it has to be from the folder the copies lie in."""
    if not texts:
        return texts
    models = analyze(project.with_overlays(overlays(texts)), [file]).models
    edits: dict[Path, dict[Edit, str]] = {}
    for site in models[0].blend_sites if models else ():
        declared = site.location.file
        if declared not in texts:
            continue
        if site.target in names:
            target = names[site.target] if site.external else _from_launch(folder / names[site.target], project)
        elif site.external and not Path(site.spec).is_absolute() and declared in names:
            target = os.path.relpath(site.target, folder)
        else:
            continue
        edit = Edit(declared, site.location.span, serialize(target))
        edits.setdefault(declared, {})[edit] = f"patched blend: was {site.spec}" if annotate else ""
    result = dict(texts)
    for path, wanted in edits.items():
        result[path] = annotated(texts[path], wanted, wanted) if annotate else apply_edits(texts[path], wanted)
    return result


def _from_launch(path: Path, project: Project) -> str:
    """A path that holds where training is started."""
    launch = project.launch_dir
    return path.relative_to(launch).as_posix() if path.is_relative_to(launch) else str(path)


def counts(analysis: Analysis) -> str:
    """The open findings by severity, in words."""
    found = Counter(finding.severity for finding in analysis.findings if finding.suppressed is None)
    return ", ".join(f"{found[level]} {level.value}" for level in Severity)
