"""The one door through which both frontends come: files in, findings and a verdict for each config out."""

from __future__ import annotations

import re
import stat
from collections.abc import Sequence
from pathlib import Path

from .findings import Finding
from .model.config import TrainingConfig, read_config
from .project import Project
from .records import dataclass
from .repository import may_be_ours
from .rules.engine import check_config, check_file
from .rules.registry import all_rules
from .selecting import chosen, is_chosen, marked, without_needed
from .syntax.nodes import Document
from .syntax.store import Unreadable

READY, NOT_READY, UNVERIFIED = "launch-ready", "not-launch-ready", "unverified"
WITH_EXCEPTIONS = "launch-ready-with-exceptions"


@dataclass(frozen=True, slots=True)
class ConfigResult:
    """The verdict on one training config."""

    file: Path
    readiness: str
    unverified: tuple[str, ...]  #: the parts that could not be inspected, a phrase each
    blends: tuple[Path, ...]
    launchers: tuple[Path, ...] = ()
    exceptions: tuple[Finding, ...] = ()  #: what is fatal or an error, and suppressed by the user's explicit word
    left_out: tuple[str, ...] = ()  #: codes that stand in the way, of rules that the settings leave out


@dataclass(frozen=True, slots=True)
class Analysis:
    """What was found. `problems` are files that could not be read at all, each with a sentence."""

    findings: tuple[Finding, ...]
    configs: tuple[ConfigResult, ...]
    problems: tuple[tuple[Path, str], ...]
    models: tuple[TrainingConfig, ...] = ()


def analyze(project: Project, files: Sequence[Path]) -> Analysis:
    """Judge the training configs among the files, with the blends they read; everything else is passed over."""
    findings: dict[tuple[object, ...], Finding] = {}
    every: list[Finding] = []
    problems: list[tuple[Path, str]] = []
    configs: list[TrainingConfig] = []
    results: list[ConfigResult] = []
    lone: list[Document] = []
    for file in files:
        document = _load(project, file)
        if isinstance(document, Unreadable):
            problems.append((file, document.reason))
            continue
        if document is None:
            continue
        config = read_config(document, project.context(file, alone=len(files) == 1))
        if config is not None and _in_scope(config, project):
            configs.append(config)
            found = marked(check_config(config), project)
            every += found
            results.append(_result(config, found, project))
            for finding in chosen(found, project):
                key = (finding.code, finding.location.file, finding.location.span, finding.message)
                findings.setdefault(key, finding)
        elif config is None and document.problems and _is_named_config(document):
            reasons = project.settings.require_suppression_reason
            for finding in chosen(marked(check_file(document, "config", reasons=reasons), project), project):
                findings[(finding.code, finding.location.file, finding.location.span)] = finding
        elif config is None:
            lone.append(document)
    reached = {path for config in configs for path in (blend.path for blend in config.blends)}
    for document in lone:
        if document.source.path not in reached:
            from .lone_blends import check_lone_blend

            for finding in chosen(marked(check_lone_blend(document, project), project), project):
                findings[(finding.code, finding.location.file, finding.location.span, finding.message)] = finding
    told = without_needed(findings.values(), every, set(files))
    ordered = sorted(told, key=lambda f: (str(f.location.file), f.location.span, f.code, f.message))
    return Analysis(tuple(ordered), tuple(results), tuple(problems), tuple(configs))


def _load(project: Project, file: Path) -> Document | Unreadable | None:
    """The document of a file that may be ours; None, without parsing it, where no word of ours is in it."""
    if file in project.overlays or not file.name.endswith((".yaml", ".yml")):
        return project.store.load(file)
    try:
        status = file.stat()
        if stat.S_ISREG(status.st_mode) and status.st_size <= 64 * 2**20:
            data = file.read_bytes()
            if not may_be_ours(data) and b"\0" not in data[:8192]:
                data.decode("utf-8")
                return None
    except (OSError, UnicodeDecodeError):
        pass
    return project.store.load(file)


def _in_scope(config: TrainingConfig, project: Project) -> bool:
    if project.settings.scope != "opted-in":
        return True
    return any(
        d[key].stated and d[key].value for d in config.training for key in ("indexed", "use_stateful_dataloader")
    )


_DATA = re.compile(r"data[ \t]*:[ \t]*(?:#.*)?\r?$")
_SECTION = re.compile(r"[ \t]*train_ds[ \t]*:")
_LHOTSE = re.compile(
    r"[ \t]*(?:-[ \t]+)?(?:use_lhotse[ \t]*:[ \t]*(?:true|yes|on)|(?:input_cfg|shar_path|cuts_path)[ \t]*:)", re.I
)


def _is_named_config(document: Document) -> bool:
    """Whether text that could not be recovered as a config still reads like one."""
    below_data = section = lhotse = False
    for line in document.source.text.split("\n"):  # line by line: a pattern over lines may take time without end
        if line.strip() and line[0] not in " \t#":
            below_data = _DATA.match(line) is not None  # what stands below it is always read by Lhotse
        elif below_data and _SECTION.match(line):
            return True
        section = section or _SECTION.match(line) is not None
        lhotse = lhotse or _LHOTSE.match(line) is not None
    return section and lhotse


def known_rule_names() -> list[str]:
    """Every word that selects rules: codes, their prefixes and names."""
    rules = all_rules()
    prefixes = {rule.code[:length] for rule in rules for length in (2, 3, 4)}
    return sorted(prefixes) + [word for rule in rules for word in (rule.code, rule.name)]


def _result(config: TrainingConfig, found: list[Finding], project: Project) -> ConfigResult:
    """The verdict. Rules that the settings leave out count all the same: a config does not get better by not being looked at."""
    blocking = [finding for finding in found if finding.severity.blocks]
    open_ = [finding for finding in blocking if finding.suppressed is None]
    excused = tuple(finding for finding in blocking if finding.suppressed is not None)
    left_out = tuple(sorted({finding.code for finding in open_ if not is_chosen(finding, project.settings)}))
    unverified = _unverified(config)
    if open_:
        readiness = NOT_READY
    elif excused:
        readiness = WITH_EXCEPTIONS
    else:
        readiness = UNVERIFIED if unverified else READY
    blends = tuple(blend.path for blend in config.blends if blend.path is not None)
    launchers = tuple(launcher.source.path for launcher, _ in config.launchers)
    return ConfigResult(config.document.source.path, readiness, unverified, blends, launchers, excused, left_out)


def _unverified(config: TrainingConfig) -> tuple[str, ...]:
    parts = [f"the base config `{base.name}`" for base in config.composition.missing]
    parts += [f"the blend `{gap.spec}`" for gap in config.gaps if gap.kind in ("missing", "remote", "unknown")]
    parts += [f"`{gap.subject}`, which is `???`" for gap in config.gaps if gap.kind == "unset"]
    unset = [
        path.location
        for dataset in config.datasets
        for source in dataset.sources
        for path in source.paths
        if not path.known
    ]
    if unset:
        parts.append(f"{len(unset)} data path{'s' if len(unset) > 1 else ''} with unknown parts")
    parts += _unseen_of_launchers(config)
    if config.context.indexes is not None:
        from .model.indexes import unverified as unseen_index_files

        parts += unseen_index_files(config)
    if runtime := config.context.runtime.unverified:
        parts.append(runtime)
    return tuple(dict.fromkeys(parts))


def _unseen_of_launchers(config: TrainingConfig) -> list[str]:
    if not config.launchers:
        return ["the launcher (none was given or found)"]
    parts = []
    for launcher, launches in config.launchers:
        name = launcher.source.path.name
        if launcher.gaps:
            parts.append(f"part of the launcher `{name}`")
        if not launches:
            parts.append(f"the training command (none is in the launcher `{name}`)")
        parts += [
            f"the override of `{override.key}` in `{name}`"
            for launch in launches
            for override in launch.overrides
            if override.value.text is None and override.value.varies is None
        ]
    return parts
