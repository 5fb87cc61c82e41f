"""Texts that commands show: the effective options of a dataset with where each comes from, and what was inspected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from nemo_resumable.core.findings import Location, Severity
from nemo_resumable.core.model.config import TrainingConfig
from nemo_resumable.core.model.dataset import Dataset
from nemo_resumable.core.model.reading import readings
from nemo_resumable.core.model.schema import OPTIONS
from nemo_resumable.core.model.values import Setting, Unknown
from nemo_resumable.core.project import Project
from nemo_resumable.core.settings import Settings, as_table
from nemo_resumable.core.syntax.editing import serialize
from nemo_resumable.core.syntax.nodes import Sequence

from .analyses import Result

Named = Callable[[Path], str]


def effective(dataset: Dataset, named: Named) -> str:
    """The options of a dataset as NeMo will have them, as YAML: those that some file states first, then the defaults."""
    stated: list[str] = []
    defaults: list[str] = []
    for key in dict.fromkeys((*dataset.keys(), *OPTIONS)):
        setting = dataset[key]
        if isinstance(setting.value, Sequence):
            count = len(dataset.sources)
            value, note = "[…]", f"{count} source{'s' if count != 1 else ''}; {_origin(setting, named)}"
        elif isinstance(setting.value, Unknown):
            value, note = _yaml(setting.value.text or "???"), f"not known: {setting.value.reason}"
        else:
            value, note = _yaml(setting.value), _origin(setting, named)
        (stated if setting.stated else defaults).append(f"{key}: {value}  # {note}")
    lines = [f"# {dataset.subject}, as far as the files say", *stated]
    return "\n".join([*lines, "", "# not set anywhere", *defaults]) + "\n"


def _yaml(value: object) -> str:
    return " ".join(serialize(value).split("\n")).strip()


def _origin(setting: Setting, named: Named) -> str:
    if not setting.stated:
        return "default"
    return f"{setting.origin.value}, {_place(setting.location, named)}"


def _place(location: Location, named: Named) -> str:
    return f"{named(location.file)}:{location.source.lines.position(location.span.start).line}"


def inspected(project: Project, result: Result, named: Named) -> str:
    """What the verdict on a config rests on, as Markdown: files, settings, and what could not be looked at."""
    lines = [f"# {named(result.root)}", ""]
    for config in result.analysis.configs:
        lines += [f"Readiness: **{config.readiness}**", ""]
    found = Counter(f.severity for f in result.analysis.findings if f.suppressed is None)
    lines += ["Open findings: " + ", ".join(f"{found[level]} {level.value}" for level in Severity), ""]
    if result.model is not None:
        lines += _section("Files", _files(result.model, named))
        lines += _section("Datasets", (_dataset(dataset) for dataset in result.model.datasets))
    unseen = [part for config in result.analysis.configs for part in config.unverified]
    lines += _section("Not inspected", unseen)
    missing = sorted(path for path in result.reads if not path.exists() and path not in project.overlays)
    lines += _section("Looked for and not there", (f"`{named(path)}`" for path in missing))
    lines += _section("Settings", _settings(project, named))
    return "\n".join(lines).rstrip() + "\n"


def _section(title: str, items: Iterator[str] | list[str]) -> list[str]:
    written = [f"- {item}" for item in items]
    return [f"## {title}", "", *written, ""] if written else []


def _files(model: TrainingConfig, named: Named) -> Iterator[str]:
    for reading in readings(model):
        yield f"`{named(reading.document.source.path)}`: {reading.role}"
    for launcher, _ in model.launchers:
        yield f"`{named(launcher.source.path)}`: launcher"


def _dataset(dataset: Dataset) -> str:
    count = len(dataset.sources)
    return f"`{dataset.subject}`: {dataset.kind}, {count} source{'s' if count != 1 else ''}"


def _settings(project: Project, named: Named) -> Iterator[str]:
    settings = project.settings
    yield f"from `{named(settings.file)}`" if settings.file else "no settings file"
    yield f"training is started in `{named(project.launch_dir)}`"
    default = as_table(Settings(settings.root))
    for key, value in as_table(settings).items():
        if key not in ("file", "root", "launch-dir") and value != default[key]:
            yield f"`{key}` = `{value}`"
