"""Short Markdown about options, source types and rules: what a hover shows, and completion beside its list."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from nemo_resumable.core.findings import Finding
from nemo_resumable.core.model.option_docs import CHOICES, EVALUATION_NEEDS, OPTION_DOCS, RESUMING_NEEDS
from nemo_resumable.core.model.readers import READERS, SUFFIXES, Reader
from nemo_resumable.core.model.schema import Option
from nemo_resumable.core.model.sources import KEY_DOCS, SourceType
from nemo_resumable.core.model.trainer import FIELDS
from nemo_resumable.core.model.trainer_docs import FIELD_DOCS, FIELD_NEEDS
from nemo_resumable.core.model.values import show
from nemo_resumable.core.rules.page import Page, find_page

from .diagnosing import page_uri

RULE = "\n\n---\n\n"
_MOST_WORDS = 420  #: characters of a rule's explanation


def code(text: str) -> str:
    """Text as a piece of code, whatever backticks are in it."""
    fence = "`" * (max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    pad = " " if text[:1] == "`" or text[-1:] == "`" else ""
    return f"{fence}{pad}{' '.join(text.split())}{pad}{fence}"


def counted(number: int, word: str) -> str:
    """A number of things: `1 shard`, `1,024 shards`."""
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def type_words(option: Option) -> str:
    """The type of an option as a reader of YAML says it."""
    words = {"str": "text", "int": "integer", "float": "number", "bool": "true or false"}
    kind = option.type.rstrip("?")
    if kind == "any":
        return ""
    said = " or ".join(words.get(part, part) for part in kind.split("|"))
    return f"{said} or null" if option.type.endswith("?") else said


def option_head(name: str, option: Option | None) -> str:
    """The first line: `**shard_seed** · integer or text · default `trng``."""
    parts = [f"**{name}**"]
    if option is not None:
        kind = type_words(option)
        parts += [kind] if kind else []
        parts.append(f"default {code(show(option.default))}")
    return " · ".join(parts)


def option_needs(name: str, kind: str) -> list[str]:
    """What a dataset of a kind (training, validation or test) needs of an option; nothing or one line."""
    training = kind in ("training", "")
    words = (RESUMING_NEEDS if training else EVALUATION_NEEDS).get(name)
    return [f"{'Resumable training' if training else 'Evaluation'} needs: {words}"] if words else []


def choices(name: str) -> list[str]:
    """The values that an option or a key takes where it takes few."""
    return [f"{code(value)}: {words}" for value, words in CHOICES.get(name, {}).items()]


def sentence(docs: Mapping[str, str], name: str) -> list[str]:
    """What a table says of a name, as a sentence; nothing or one."""
    return [f"{docs[name]}."] if name in docs else []


def option_text(name: str, option: Option | None, kind: str) -> str:
    """An option, wherever it stands."""
    return joined(
        [option_head(name, option), *sentence(OPTION_DOCS, name)], [*option_needs(name, kind), *choices(name)]
    )


def key_text(name: str) -> str:
    """A key of an entry that is no option."""
    return "".join(sentence(KEY_DOCS, name))


def field_text(path: str, bullets: Iterable[str] = ()) -> str:
    """A key of the trainer: what it does, what is known of it, and what a resumed run needs of it."""
    head = f"**{path}** · default {code(show(FIELDS[path].default))}"
    needs = [f"A chain of runs needs: {FIELD_NEEDS[path]}"] if path in FIELD_NEEDS else []
    return joined([head, *sentence(FIELD_DOCS, path)], [*bullets, *needs])


def joined(lines: Iterable[str], bullets: Iterable[str]) -> str:
    """Paragraphs, and a list below them."""
    found = _list(bullets)
    return "\n\n".join([*lines, *([found] if found else [])])


def needed_value(name: str, kind: str) -> str:
    """The value that a dataset of a kind needs of an option, where it is just one; else empty."""
    words = (RESUMING_NEEDS if kind == "training" else EVALUATION_NEEDS).get(name, "")
    match = re.match(r'`(true|false|null|"[a-z]+")`', words)
    return match[1] if match else ""


def type_text(kind: SourceType, reader: str = "") -> str:
    """What a source type reads, and what of it indexes and packs can serve. The reader is the one its keys choose."""
    lines = [f"**{kind.name}** · since {kind.since}", f"{kind.summary}."]
    if kind.group:
        return "\n\n".join(lines)
    readers = [READERS[reader]] if reader in kind.readers else list(kind.opened_by)
    bullets = []
    if not kind.indexable:
        bullets.append("Index: none; it only streams, so a resume replays it")
    else:
        sidecars = list(dict.fromkeys(text for each in readers for text in _sidecars(each)))
        bullets.append(f"Index: {'; '.join(sidecars)}" if sidecars else "Index: by row group, without sidecars")
    bullets.append(f"Index pack: {_packs(readers)}")
    styles = list(dict.fromkeys(each.style for each in readers))
    bullets.append(f"Style where none is forced: {' or '.join(styles)}")
    if kind.needs:
        groups = (" or ".join(code(key) for key in group) for group in kind.needs)
        bullets.append(f"Needs {', and '.join(groups)}")
    return "\n\n".join([*lines, _list(bullets)])


def _sidecars(reader: Reader) -> Iterator[str]:
    for sidecar in reader.sidecars:
        when = f" {sidecar.when}" if sidecar.when else ""
        built = "" if sidecar.built else ", never built at start-up"
        files = " and ".join(code(suffix) for suffix in SUFFIXES[sidecar.kind])
        yield f"{f'{files} for' if files else 'the file in'} {code(sidecar.key)}{when}{built}"


def _packs(readers: Iterable[Reader]) -> str:
    said = dict.fromkeys(
        each.pack.forms if each.pack is not None else f"none; a declared one is {each.unpackable}" for each in readers
    )
    return " · ".join(said)


def _list(items: Iterable[str]) -> str:
    return "\n".join(f"- {item}" for item in items)


# -- rules


@lru_cache(maxsize=256)
def _page(rule: str) -> Page | None:
    try:
        return find_page(rule)
    except (KeyError, ValueError, OSError):
        return None


def rule_link(finding: Finding) -> str:
    """The code and name of a finding's rule, the code leading to its page."""
    return f"[{finding.code}]({page_uri(finding)}) {finding.name}"


def rule_text(finding: Finding) -> str:
    """A finding's rule in a few lines: what goes wrong at run time, and whether it can be mended."""
    page = _page(finding.code)
    lines = [f"**{finding.severity.value}** {rule_link(finding)}"]
    if page is None:
        return "\n\n".join([*lines, f"{finding.message}."])
    lines.append(_shortened(page.sections.get("What goes wrong at run time", "") or page.summary))
    if finding.fix is not None and finding.fix.edits and not finding.fix.withheld:
        lines.append(f"Quick fix: {finding.fix.title}")
    elif finding.rationale:
        lines.append(finding.rationale)
    return "\n\n".join(lines)


def _shortened(text: str) -> str:
    """The first paragraph, cut after a sentence where it is long."""
    paragraph = " ".join(text.split("\n\n", 1)[0].split())
    if len(paragraph) <= _MOST_WORDS:
        return paragraph
    end = paragraph.rfind(". ", 0, _MOST_WORDS)
    return paragraph[: end + 1] if end > 0 else paragraph[:_MOST_WORDS].rsplit(" ", 1)[0] + " …"


def findings_text(findings: Iterable[Finding], *, most: int = 2) -> str:
    """The rules behind findings: a few explained, the others named."""
    found = list({finding.code: finding for finding in findings}.values())
    found.sort(key=lambda finding: (finding.severity.rank, finding.code))
    parts = [rule_text(finding) for finding in found[:most]]
    if rest := found[most:]:
        parts.append(named_findings(rest))
    return RULE.join(parts)


def named_findings(findings: Iterable[Finding], most: int = 12) -> str:
    """Findings by severity and rule, one a line."""
    found = list({finding.code: finding for finding in findings}.values())
    found.sort(key=lambda finding: (finding.severity.rank, finding.code))
    lines = [f"{finding.severity.value} {rule_link(finding)}" for finding in found[:most]]
    return _list([*lines, *([f"{len(found) - most} more"] if len(found) > most else [])])


# -- clients that show no Markdown


def plain(text: str) -> str:
    """Markdown of ours as plain text."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text.replace(RULE, "\n\n"))
    return re.sub(r"\*\*([^*]+)\*\*", r"\1", text).replace("`", "")
