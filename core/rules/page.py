"""The rules' pages: their text as printed, and the examples on them as small projects with the findings they expect."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from ..records import dataclass

FOLDER = Path(__file__).parent / "pages"

#: The headings of a page, in their order.
HEADINGS = (
    "What it looks for",
    "What goes wrong at run time",
    "Example",
    "After the fix",
    "Fix safety",
    "Applies to",
    "References",
)
DEFAULT_FILE = "config.yaml"
_COMMITTED = "HEAD:"  #: before the name of a file: what it was in the last commit

_TITLE = re.compile(r"# (?P<code>NR\d{3}) (?P<name>[a-z0-9-]+)")
_VERDICT = re.compile(r"Severity: (?P<severity>[^:]+?) · Fix: (?P<fix>.+)")
_FENCE = re.compile(r"```(?P<language>[\w-]*)(?: (?P<file>\S+))?")
_MARKERS = re.compile(r"[ \t]*#(?P<markers>(?: (?:fatal|error|warning|note)\[NR\d{3}\])+)[ \t]*$")
_MARKER = re.compile(r"(fatal|error|warning|note)\[(NR\d{3})\]")

Expected = tuple[str, int, str, str]


@dataclass(frozen=True, slots=True)
class Example:
    """One project. The first YAML file is the config that is checked; the others are what it reads, or settings."""

    title: str  #: of its subheading, "" for the only example of a page
    files: Mapping[str, str]  #: text by name, without markers
    expected: tuple[Expected, ...]  #: file, line from 1, severity, code
    fixed: Mapping[str, str] | None  #: the whole text of each file that mending changes; None where none is shown
    committed: Mapping[str, str]  #: what files were in the last commit, those of which that is shown

    @property
    def config(self) -> str:
        """The name of the file that is checked."""
        return next(name for name in self.files if name.endswith((".yaml", ".yml")))


@dataclass(frozen=True, slots=True)
class Page:
    """A page, read."""

    code: str
    name: str
    summary: str
    severity: str  #: as written: `error`, `error · note`
    fix: str  #: as written: `safe (in one group with NR101)`, `choice`, `none`
    sections: Mapping[str, str]  #: Markdown by heading, in the page's order
    examples: tuple[Example, ...]


def page_text(code_or_name: str) -> str:
    """The Markdown of a rule's page, by code or name; raises KeyError for a word that is neither."""
    wanted = code_or_name.strip()
    for code, name, path in _files():
        if wanted.upper() == code or wanted.lower() == name:
            return path.read_text(encoding="utf-8")
    raise KeyError(code_or_name)


def find_page(code_or_name: str) -> Page:
    """A rule's page, by code or name; raises KeyError for a word that is neither."""
    return parse_page(page_text(code_or_name))


def all_pages() -> tuple[Page, ...]:
    """Every page, by code."""
    return tuple(parse_page(path.read_text(encoding="utf-8")) for _, _, path in _files())


@lru_cache(maxsize=1)
def _files() -> tuple[tuple[str, str, Path], ...]:
    """Code, name and file of each page."""
    found = []
    for path in sorted(FOLDER.glob("NR*.md")):
        code, _, name = path.stem.partition("-")
        found.append((code, name, path))
    return tuple(found)


def parse_page(text: str) -> Page:
    """Read a page; raises ValueError where its head or a fence is not of the fixed form."""
    lines = text.split("\n")
    title = _TITLE.fullmatch(lines[0])
    if title is None:
        raise ValueError(f"a page begins with `# NRnnn rule-name`, not {lines[0]!r}")
    head, sections = _sections(lines[1:])
    verdict = next((match for line in head if (match := _VERDICT.fullmatch(line))), None)
    if verdict is None:
        raise ValueError(f"{title['code']}: there is no line `Severity: … · Fix: …`")
    summary = " ".join(line for line in head[: head.index(verdict[0])] if line)
    return Page(
        title["code"],
        title["name"],
        summary,
        verdict["severity"],
        verdict["fix"],
        {heading: "\n".join(body).strip() for heading, body in sections.items()},
        _examples(sections.get("Example", []), sections.get("After the fix", [])),
    )


def _sections(lines: list[str]) -> tuple[list[str], dict[str, list[str]]]:
    """The lines above the first `## ` heading, and those below each; headings inside fences do not count."""
    head: list[str] = []
    sections: dict[str, list[str]] = {}
    current = head
    fenced = False
    for line in lines:
        if line.startswith("```"):
            fenced = not fenced
        if line.startswith("## ") and not fenced:
            heading = line[3:].strip()
            if heading in sections:
                raise ValueError(f"the heading {heading!r} stands twice")
            current = sections[heading] = []
        else:
            current.append(line)
    return head, sections


def _examples(shown: list[str], mended: list[str]) -> tuple[Example, ...]:
    """The projects of a page. Mending belongs to the example of the same title, or to the only one."""
    before, after = _projects(shown), _projects(mended)
    if before and len(after) == 1 and (len(before) == 1 or "" in after):
        after = {next(iter(before)): next(iter(after.values()))}
    strays = [title for title in after if title not in before]
    if strays:
        raise ValueError(f"there is no example {strays[0]!r} that could be mended")
    examples = []
    for title, blocks in before.items():
        files: dict[str, str] = {}
        expected: list[Expected] = []
        committed: dict[str, str] = {}
        for name, lines in blocks.items():
            if name.startswith(_COMMITTED):
                committed[name.removeprefix(_COMMITTED)] = _text(lines)
                continue
            files[name], found = _stripped(name, lines)
            expected += found
        fixed = {name: _text(lines) for name, lines in after[title].items()} if title in after else None
        examples.append(Example(title, files, tuple(expected), fixed, committed))
    return tuple(examples)


def _projects(lines: list[str]) -> dict[str, dict[str, list[str]]]:
    """The fenced files below each subheading ("" above the first).

    A YAML fence without a name is `config.yaml`; a fence of another language without a name only illustrates.
    """
    projects: dict[str, dict[str, list[str]]] = {}
    title = ""
    block: list[str] | None = None
    for line in lines:
        if block is not None:
            if line == "```":
                block = None
            else:
                block.append(line)
        elif line.startswith("### "):
            title = line[4:].strip()
        elif line.startswith("```"):
            fence = _FENCE.fullmatch(line)
            if fence is None:
                raise ValueError(f"a fence is opened by a language and a file name, not by {line!r}")
            block = []
            name = fence["file"] or (DEFAULT_FILE if fence["language"] in ("yaml", "yml") else "")
            if name:
                files = projects.setdefault(title, {})
                if name in files:
                    raise ValueError(f"the file {name} stands twice under {title or 'one heading'!r}")
                files[name] = block
    if block is not None:
        raise ValueError("a fence is never closed")
    return projects


def _stripped(name: str, lines: list[str]) -> tuple[str, list[Expected]]:
    """A file's text without its markers, and the findings they expect; a line that is only a marker is for the next."""
    kept: list[str] = []
    expected: list[Expected] = []
    for line in lines:
        match = _MARKERS.search(line)
        rest = line[: match.start()] if match else line
        if match:
            expected += [(name, len(kept) + 1, severity, code) for severity, code in _MARKER.findall(match["markers"])]
            if not rest.strip():
                continue
        kept.append(rest)
    return _text(kept), expected


def _text(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
