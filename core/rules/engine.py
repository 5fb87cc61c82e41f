"""Runs the catalogue over one config: hands each rule what its parameter names, stamps the drafts, honours suppressions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from ..findings import Finding, Fix
from ..model.config import TrainingConfig
from ..model.dataset import Dataset
from ..model.reading import Reading, readings
from ..syntax.nodes import Document
from .changes import change_of
from .drafts import Draft
from .registry import Rule, all_rules
from .suppression import Suppression, suppressed_by, suppressions


@lru_cache(maxsize=1)
def _by_subject() -> dict[str, tuple[Rule, ...]]:
    table: dict[str, list[Rule]] = {}
    for each in all_rules():
        table.setdefault(each.looks_at, []).append(each)
    return {subject: tuple(found) for subject, found in table.items()}


def check_config(config: TrainingConfig) -> list[Finding]:
    """Every finding of a config, of what it reads and of what starts it, in no particular order, suppressed ones marked."""
    if config.launchers:
        from .starts import judged_as_started  # most configs are judged without a launcher

        drafts, started = judged_as_started(config, _drafts, _run)
        read = {reading.document.source.path: reading.document for each in started for reading in readings(each)}
        scripts = [Document(launcher.source, None) for launcher, _ in config.launchers]
        changes = [change for each in started for change in change_of(each)]
        return finish([*drafts, *_run_all("Change", changes)], [*read.values(), *scripts], config)
    drafts = [*_drafts(config), *_run_all("Change", list(change_of(config)))]
    return finish(drafts, [reading.document for reading in readings(config)], config)


def _drafts(config: TrainingConfig) -> list[tuple[Rule, Draft]]:
    """What the rules say of a config, with the launch that it carries or without one."""
    return [
        *_run("TrainingConfig", config),
        *(pair for reading in readings(config) for pair in _run("Reading", reading)),
        *_run_datasets(config.datasets),
    ]


def check_whole(config: TrainingConfig) -> list[Finding]:
    """What the rules on a whole config say of it, suppressions aside."""
    return [_stamp(each, draft, config) for each, draft in _run("TrainingConfig", config)]


def check_file(document: Document, role: str, *, reasons: bool = False) -> list[Finding]:
    """The findings of a file that cannot be judged as a config: what keeps OmegaConf from loading it."""
    return finish(list(_run("Reading", Reading(document, role, None))), [document], None, reasons=reasons)


def _run(subject: str, item: Any) -> Iterator[tuple[Rule, Draft]]:
    for each in _by_subject().get(subject, ()):
        for draft in each.check(item):
            yield each, draft


def _run_all(subject: str, items: Sequence[Any]) -> Iterator[tuple[Rule, Draft]]:
    """The same for many items, rule by rule: of a long blend it takes less time."""
    for each in _by_subject().get(subject, ()):
        check = each.check
        for item in items:
            for draft in check(item):
                yield each, draft


def _run_datasets(datasets: Sequence[Dataset]) -> Iterator[tuple[Rule, Draft]]:
    yield from _run_all("Dataset", datasets)
    yield from _run_all("TrainingDataset", [dataset for dataset in datasets if dataset.is_training])
    yield from _run_all("EvaluationDataset", [dataset for dataset in datasets if not dataset.is_training])
    yield from _run_all("Entry", [entry for dataset in datasets for entry in dataset.all_entries])
    sources = [source for dataset in datasets for source in dataset.sources]
    yield from _run_all("Source", sources)
    if datasets and (reader := datasets[0].config.context.indexes) is not None:
        yield from _run_all("IndexFiles", [files for source in sources if (files := reader.of(source)) is not None])


def finish(
    drafts: Iterable[tuple[Rule, Draft]],
    documents: Sequence[Document],
    config: TrainingConfig | None,
    *,
    reasons: bool = False,
) -> list[Finding]:
    """Stamp drafts, report each once, mark what is suppressed and add the suppressions that are not needed.

    With `reasons`, or where the config's settings ask for them, a suppression without a reason does not hold.
    """
    reasons = reasons or (config is not None and config.context.require_suppression_reason)
    written = {document.source.path: suppressions(document) for document in documents}
    broken = {d.source.path for d in documents if not d.parses or d.further_documents}
    used: set[Suppression] = set()
    findings: dict[tuple[object, ...], Finding] = {}
    for each, draft in drafts:
        finding = _stamp(each, draft, config)
        if finding.fix is not None and any(edit.file in broken for edit in finding.fix.edits):
            finding = replace(
                finding, fix=Fix(finding.fix.title, (), withheld="the file cannot be loaded as it is", artifact=False)
            )
        candidates = written.get(finding.location.file, ())
        if candidates and (by := suppressed_by(finding, candidates)) is not None:
            used.add(by)
            if by.reason or not reasons:
                finding = replace(finding, suppressed=by.reason, suppressed_at=by.span)
        findings.setdefault((finding.code, finding.location.file, finding.location.span, finding.message), finding)
    result = list(findings.values())
    for candidates in written.values():
        for suppression in candidates:
            lacks_reason = suppression in used and reasons and not suppression.reason
            if suppression not in used or lacks_reason:
                judged = replace(suppression, lacks_reason=lacks_reason)
                result += [_stamp(each, draft, config) for each, draft in _run("Suppression", judged)]
    return result


def _stamp(each: Rule, draft: Draft, config: TrainingConfig | None) -> Finding:
    fix = draft.fix
    if fix is not None and len(fix.withheld) > 200:
        fix = replace(fix, withheld=_on_one_line(fix.withheld))
    return Finding(
        each.code,
        each.name,
        draft.severity or each.severity,
        _on_one_line(draft.message),
        draft.location,
        draft.subject,
        draft.current,
        draft.recommended,
        _on_one_line(draft.rationale),
        draft.origin,
        config.document.source.path if config is not None else None,
        draft.related,
        fix,
    )


_LONG = re.compile(r"`([^`]{150})[^`]{50,}`")


def _on_one_line(message: str) -> str:
    """A message stays one sentence on one line, whatever values it quotes; of long ones it quotes the beginning."""
    if len(message) > 200:
        message = _LONG.sub(r"`\1…`", message)
    return " ".join(message.split()) if "\n" in message or "\r" in message else message
