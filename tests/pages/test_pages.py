"""Every rule has a page, and what a page shows is what the rule does: each example is run, with and without the fix."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from git_repositories import commit_all
from index_writers import example_bytes
from nemo_resumable.core.analysis import analyze
from nemo_resumable.core.findings import Finding, FixKind
from nemo_resumable.core.fixing import fix
from nemo_resumable.core.model.indexes import IndexReader
from nemo_resumable.core.project import Project
from nemo_resumable.core.rules.index import INDEX, rule_index
from nemo_resumable.core.rules.page import FOLDER, HEADINGS, Example, Page, all_pages, page_text, parse_page
from nemo_resumable.core.rules.registry import Rule, all_rules
from nemo_resumable.core.settings import OWN_FILE, load_settings

PAGES = {page.code: page for page in all_pages()}
RULES = {rule.code: rule for rule in all_rules()}
EXAMPLES = [(page, example) for page in PAGES.values() for example in page.examples]
SHOWN = {code: pages for code, pages in PAGES.items() if code in RULES}


def _name(value: object) -> str:
    if isinstance(value, Page):
        return value.code
    return value.title if isinstance(value, Example) else ""


def _write(folder: Path, files: dict[str, str], committed: Mapping[str, str] | None = None) -> Project:
    """The project of an example in a folder of its own; settings of folders above are kept out."""
    if committed:
        for name, text in committed.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(example_bytes(name, text))
        commit_all(folder)
    for name, text in {OWN_FILE: "", **files}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(example_bytes(name, text))
    return Project(load_settings(folder), cwd=folder, indexes=IndexReader())


def _found(findings: tuple[Finding, ...], folder: Path) -> list[tuple[str, int, str, str]]:
    """Open findings in the form of the markers."""
    found = []
    for finding in findings:
        if finding.suppressed is None:
            line = finding.location.source.lines.position(finding.location.span.start).line
            name = finding.location.file.relative_to(folder).as_posix()
            found.append((name, line, finding.severity.value, finding.code))
    return sorted(found)


def _applies(finding: Finding, code: str, kind: FixKind) -> bool:
    """Whether this is a finding of the rule with a fix of that kind that can be applied in place."""
    given = finding.fix
    if given is None or finding.code != code or finding.suppressed is not None:
        return False
    return bool(given.edits) and not given.withheld and given.kind is kind


def _leaves_out(page: Page, example: Example) -> bool:
    """Whether the mended text is the user's choice to leave sources out: they stay as comments under the reason."""
    texts = example.fixed.values() if example.fixed else ()
    return any(line.lstrip().startswith(f"# {page.code}: ") for text in texts for line in text.splitlines())


def test_each_rule_has_its_page_and_no_page_is_left_over() -> None:
    named = {path.name for path in FOLDER.glob("NR*.md")}
    assert named == {f"{rule.code}-{rule.name}.md" for rule in RULES.values()}


def test_the_index_lists_every_page_as_it_is() -> None:
    """`nemo-resumable rules --format markdown > core/rules/pages/README.md` makes it anew."""
    assert INDEX.read_text(encoding="utf-8") == rule_index()


@pytest.mark.parametrize("page", PAGES.values(), ids=_name)
def test_page_is_found_under_code_and_name_and_has_the_fixed_form(page: Page) -> None:
    text = page_text(page.code)
    assert page_text(page.code.lower()) == page_text(page.name) == text
    assert (FOLDER / f"{page.code}-{page.name}.md").read_text(encoding="utf-8") == text
    assert tuple(page.sections) == HEADINGS
    assert page.summary.endswith(".")
    assert all(page.sections.values()), "a heading has nothing below it"
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    for line in page.sections["References"].splitlines():
        assert line.startswith("- ")
        assert ": https://" in line
    marked = [marker for example in page.examples for marker in example.expected if marker[3] == page.code]
    assert marked, "no example shows the rule"
    assert any(example.fixed for example in page.examples), "nothing is mended"


@pytest.mark.parametrize("page", SHOWN.values(), ids=_name)
def test_page_says_severity_and_fix_as_the_rule_does(page: Page) -> None:
    rule: Rule = RULES[page.code]
    assert page.name == rule.name
    severities = page.severity.split(" · ")
    assert rule.severity.value in severities
    marked = {severity for example in page.examples for _, _, severity, code in example.expected if code == page.code}
    assert marked <= set(severities)
    assert page.fix.split(" (")[0] == (rule.fix.value if rule.fix else "none")


@pytest.mark.parametrize(("page", "example"), EXAMPLES, ids=_name)
def test_example_has_the_findings_it_marks(page: Page, example: Example, tmp_path: Path) -> None:
    project = _write(tmp_path, dict(example.files), example.committed)
    found = _found(analyze(project, [tmp_path / example.config]).findings, tmp_path)
    assert [finding for finding in found if finding[3] == page.code] == sorted(
        marker for marker in example.expected if marker[3] == page.code
    )
    others = {marker for marker in example.expected if marker[3] != page.code}
    assert others <= set(found)


@pytest.mark.parametrize(("page", "example"), [pair for pair in EXAMPLES if pair[1].fixed is not None], ids=_name)
def test_example_is_mended_as_shown(page: Page, example: Example, tmp_path: Path) -> None:
    """Where the rule's own fix holds, it gives just this text; else this is mended by hand and the finding is gone."""
    assert example.fixed is not None
    project = _write(tmp_path, dict(example.files), example.committed)
    checked = [tmp_path / example.config]
    before = analyze(project, checked)
    left_out = _leaves_out(page, example)
    kind = FixKind.CHOICE if left_out else FixKind.SAFE
    if left_out or any(_applies(finding, page.code, kind) for finding in before.findings):
        result = fix(project, checked, limit=page.code, exclude_blocked=left_out)
        texts = {path.relative_to(tmp_path).as_posix(): source.text for path, source in result.texts.items()}
        assert texts == dict(example.fixed)
        after = result.analysis
    else:
        assert dict(example.fixed) != dict(example.files)
        after = analyze(_write(tmp_path, {**example.files, **example.fixed}, example.committed), checked)
    assert [finding for finding in _found(after.findings, tmp_path) if finding[3] == page.code] == []


@pytest.mark.parametrize("page", [page for code, page in SHOWN.items() if RULES[code].fix], ids=_name)
def test_what_the_fix_does_is_shown_at_least_once(page: Page, tmp_path: Path) -> None:
    kind = RULES[page.code].fix
    assert kind is not None
    for number, example in enumerate(page.examples):
        if example.fixed is None or _leaves_out(page, example) != (kind is FixKind.CHOICE):
            continue
        folder = tmp_path / str(number)
        project = _write(folder, dict(example.files), example.committed)
        findings = analyze(project, [folder / example.config]).findings
        if any(_applies(finding, page.code, kind) for finding in findings):
            return
    pytest.fail("no example shows what the fix does")


HEAD = "# NR999 some-rule\n\nWhat is wrong.\n\nSeverity: error · note · Fix: safe (often)\n\n"
SHOWN_AND_MENDED = """\
## Example

```yaml conf/a.yaml
# error[NR999] note[NR998]
a: 1
# a comment
b: |  # keep
  text
c: 2  # note[NR999]
```

```yaml blend.yaml
- x
```

```bash
ls
```

## After the fix

```yaml conf/a.yaml
a: 2
```
"""


def test_markers_are_read_off_and_a_line_of_its_own_speaks_of_the_next() -> None:
    page = parse_page(HEAD + SHOWN_AND_MENDED)
    assert (page.code, page.name, page.summary) == ("NR999", "some-rule", "What is wrong.")
    assert (page.severity, page.fix) == ("error · note", "safe (often)")
    (example,) = page.examples
    assert example.config == "conf/a.yaml"
    assert example.files == {
        "conf/a.yaml": "a: 1\n# a comment\nb: |  # keep\n  text\nc: 2\n",
        "blend.yaml": "- x\n",
    }
    assert example.expected == (
        ("conf/a.yaml", 1, "error", "NR999"),
        ("conf/a.yaml", 1, "note", "NR998"),
        ("conf/a.yaml", 5, "note", "NR999"),
    )
    assert example.fixed == {"conf/a.yaml": "a: 2\n"}


@pytest.mark.parametrize(
    "text",
    [
        "NR999 some-rule\n",
        "# NR999 some-rule\n\nWhat is wrong.\n",
        f"{HEAD}## Example\n\n```yaml\na: 1\n",
        f"{HEAD}## Example\n\n```yaml\na: 1\n```\n\n```yaml\nb: 1\n```\n",
        f"{HEAD}## Example\n\n## Example\n",
        f"{HEAD}## Example\n\n## After the fix\n\n### Other\n\n```yaml\na: 1\n```\n",
    ],
    ids=["title", "verdict", "open fence", "file twice", "heading twice", "stray mending"],
)
def test_a_page_of_another_form_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_page(text)


def test_unknown_page_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        page_text("NR000")
