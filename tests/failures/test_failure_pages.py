"""Every failure mode has a page, and the logs on it are told as the page says: its own, and those that only look like it."""

from __future__ import annotations

import io
import random
from itertools import pairwise

import pytest
from nemo_resumable.core.failures import Diagnosis, Kind, Mode, all_modes, diagnose, find_mode, modes_of
from nemo_resumable.core.failures.logs import Log
from nemo_resumable.core.failures.modes import modes_fitting
from nemo_resumable.core.failures.page import (
    FOLDER,
    HEADINGS,
    INDEX,
    UNKNOWN,
    Example,
    Page,
    failure_index,
    failures_of_rule,
    find_page,
    page_text,
    parse_page,
    rules_of,
)
from nemo_resumable.core.rules.registry import all_rules, find_rule

MODES = {mode.slug: mode for mode in all_modes()}
PAGES = {slug: find_page(slug) for slug in MODES}
OWN = [(page, example) for page in PAGES.values() for example in page.examples]
NEAR = [(page, example) for page in PAGES.values() for example in page.near_misses]


def _name(value: object) -> str:
    return value.slug if isinstance(value, (Page, Mode)) else value.told if isinstance(value, Example) else ""


def told(text: str | bytes) -> Diagnosis:
    data = text if isinstance(text, bytes) else text.encode()
    return diagnose([Log("run.log", stream=io.BytesIO(data))])


def named(found: Diagnosis) -> str:
    return found.mode.slug if found.mode else UNKNOWN


def test_each_mode_has_its_page_and_no_page_is_left_over() -> None:
    assert len(MODES) == len(all_modes()), "a mode stands twice in the table"
    assert {path.stem for path in FOLDER.glob("*.md")} - {"README"} == set(MODES)


def test_the_index_lists_every_page_as_it_is() -> None:
    """`nemo-resumable diagnose --list --format markdown > core/failures/pages/README.md` makes it anew."""
    assert INDEX.read_text(encoding="utf-8") == failure_index()


@pytest.mark.parametrize("page", PAGES.values(), ids=_name)
def test_page_has_the_fixed_form(page: Page) -> None:
    text = page_text(page.slug)
    assert tuple(page.sections) == HEADINGS
    assert page.summary.endswith(".")
    assert all(page.sections.values()), "a heading has nothing below it"
    assert page.examples
    assert page.near_misses
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    assert page_text(page.slug.upper()) == text
    for line in page.sections["References"].splitlines():
        assert line.startswith("- ")
        assert ": https://" in line


@pytest.mark.parametrize("mode", MODES.values(), ids=_name)
def test_page_names_the_rules_of_the_table(mode: Mode) -> None:
    section = PAGES[mode.slug].sections["Rules that would have prevented it"]
    if not mode.rules:
        assert section.startswith("None: ")
        return
    said = [line.removeprefix("- ").split(": ")[0] for line in section.splitlines()]
    assert said == [f"{code} {name}" for code, name in rules_of(mode)]
    assert len(said) == len(mode.rules), "the table names a rule that does not exist"


def test_rules_lead_to_their_failure_modes_and_back() -> None:
    for rule in all_rules():
        section = failures_of_rule(rule.code)
        assert all(f"- {mode.slug}: " in section for mode in modes_of(rule.code))
        assert bool(section) == bool(modes_of(rule.code))
    assert all(find_rule(code) for mode in MODES.values() for code in mode.rules)
    assert "shard-seed-changed" in failures_of_rule("NR501")


@pytest.mark.parametrize(("page", "example"), OWN, ids=_name)
def test_log_is_told_as_its_mode_and_no_other(page: Page, example: Example) -> None:
    found = told(example.text)
    mode = MODES[page.slug]
    if mode.kind is Kind.CONSEQUENCE:
        assert found.cause is None
        assert found.first is not None
        assert found.first.mode is mode
    else:
        assert named(found) == page.slug
        assert found.cause is not None
        if found.cause.incident.chain:
            assert modes_fitting(found.cause.incident) == (mode,)


@pytest.mark.parametrize(("page", "example"), NEAR, ids=_name)
def test_log_that_only_looks_alike_is_told_apart(page: Page, example: Example) -> None:
    assert example.told != page.slug
    found = told(example.text)
    assert named(found) == example.told


def noisy(text: str, seed: int, labelled: bool = False) -> str:
    """A log with ordinary output before it, between its lines where they bear labels, and in small measure after it."""
    chance = random.Random(seed)

    def ordinary() -> str:
        step = chance.randrange(1, 100_000)
        return chance.choice(
            [
                f"Epoch 3:  41%|####      | {step}/100000 [{step // 60:02}:{step % 60:02}<18:00,  1.83s/it, v_num=0]",
                f"[NeMo I 2026-05-04 08:{step % 60:02}:11 nemo_logging:393] Step {step}: train_step_timing in s=1.83",
                "[NeMo W 2026-05-04 08:00:01 nemo_logging:405] UserWarning: the word error rate is high",
                f"    | {step} | perception | AudioPerceptionModule | 635 M | train",
                "x\x1b[32mgreen\x1b[0m\tand \u00e4 \u4e2d",
            ]
        )

    before = [ordinary() for _ in range(chance.randrange(50, 300))]
    middle: list[str] = []
    for line in text.splitlines():
        if labelled:
            middle += [f"0: {ordinary()}" for _ in range(chance.randrange(3))]
        middle.append(f"7: {line}" if labelled else line)
    after = [] if labelled else [ordinary() for _ in range(10)]
    return "\n".join([*before, *middle, "", *after]) + "\n"


@pytest.mark.parametrize("labelled", [False, True], ids=["plain", "labelled"])
@pytest.mark.parametrize(("page", "example"), OWN, ids=_name)
def test_log_is_told_in_other_output(page: Page, example: Example, labelled: bool) -> None:
    found = told(noisy(example.text, seed=len(example.text), labelled=labelled))
    each = found.first if MODES[page.slug].kind is Kind.CONSEQUENCE else found.cause
    assert each is not None
    assert each.mode is not None
    assert each.mode.slug == page.slug


CAUSES = [page for page in PAGES.values() if MODES[page.slug].kind is Kind.CAUSE and page.slug != "hang-after-restore"]


@pytest.mark.parametrize(("first", "second"), list(pairwise(CAUSES)), ids=_name)
def test_of_two_the_first_is_the_cause(first: Page, second: Page) -> None:
    ends = ("killed-at-walltime", "preempted-or-lost-node")
    wanted = second if first.slug in ends and second.slug not in ends else first
    found = told(f"{first.examples[0].text}\n{second.examples[0].text}")
    assert named(found) == wanted.slug


def test_words_of_no_page() -> None:
    assert find_mode("no-such-mode") is None
    with pytest.raises(KeyError):
        page_text("no-such-mode")


@pytest.mark.parametrize("text", ["some-mode\n", "# some-mode\n\n```log\nx\n", "# a-mode\n\n## Fix\n\n## Fix\n"])
def test_a_page_of_another_form_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_page(text)
