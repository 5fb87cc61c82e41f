"""The engine of fixes, with rules made for the purpose in place of the real ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from nemo_resumable.core import fixing
from nemo_resumable.core.analysis import Analysis
from nemo_resumable.core.findings import Edit, Finding, Fix, FixKind, Location, Severity
from nemo_resumable.core.fixing import FixResult, fix
from nemo_resumable.core.project import Project
from nemo_resumable.core.settings import Settings
from nemo_resumable.core.syntax.editing import CannotEdit, set_nested, set_value
from nemo_resumable.core.syntax.nodes import Document, Mapping, Scalar, deref, to_plain
from nemo_resumable.core.syntax.nodes import Sequence as Items
from nemo_resumable.core.syntax.removing import comment_out_item, rename_key
from nemo_resumable.core.text import Span

Rule = Callable[[Document], Iterator[Finding]]


def section(document: Document, path: str) -> Mapping | None:
    node: Any = document.root
    for part in path.split(".") if path else []:
        pair = node.get(part) if isinstance(node, Mapping) else None
        node = deref(pair.value) if pair else None
    return node if isinstance(node, Mapping) else None


def finding(document: Document, code: str, subject: str, edits: Sequence[Edit] = (), **more: Any) -> Finding:
    given = {name: more.pop(name) for name in ("kind", "group", "withheld", "artifact") if name in more}
    made = Fix("Mend it", tuple(edits), **given) if edits or given else None
    settings = {"severity": Severity.ERROR, "location": Location(document.source, Span(0, 0)), **more}
    return Finding(code, "made-up", message="it is wrong", subject=subject, fix=made, **settings)


def wants(path: str, key: str, value: object, code: str = "", **more: Any) -> Rule:
    """A rule: the section at the path has this value; its fix sets it, creating the section."""

    def check(document: Document) -> Iterator[Finding]:
        mapping = section(document, path)
        pair = mapping.get(key) if mapping else None
        if pair is not None and to_plain(pair.value) == value:
            return
        parts = [*path.split("."), key] if path else [key]
        location = Location(document.source, pair.value.span if pair else Span(0, 0))
        note = f"was {document.source.cut(pair.value.span)}" if pair else "was absent"
        options = dict(more)
        try:
            edits = set_nested(document, parts, value, note=note)
        except CannotEdit as error:
            edits, options = (), {**options, "withheld": error.reason}
        yield finding(document, code or f"NR{key}", ".".join(parts), edits, location=location, **options)

    return check


@pytest.fixture
def fixed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., FixResult]:
    """Fix a text (or several) by made-up rules; `fixed.calls` counts the analyses."""

    def run(text: str | dict[str, str], *rules: Rule, **options: Any) -> FixResult:
        texts = {"a.yaml": text} if isinstance(text, str) else text
        for name, content in texts.items():
            (tmp_path / name).write_bytes(content.encode())

        def analyze(project: Project, files: Sequence[Path]) -> Analysis:
            run.calls += 1  # type: ignore[attr-defined]
            found: list[Finding] = []
            for file in files:
                document = project.store.load(file)
                assert isinstance(document, Document)
                found += [each for rule in rules for each in rule(document)]
            return Analysis(tuple(found), (), ())

        run.calls = 0  # type: ignore[attr-defined]
        monkeypatch.setattr(fixing, "analyze", analyze)
        project = Project(Settings(root=tmp_path), tmp_path)
        return fix(project, [tmp_path / name for name in texts], **options)

    return run


def texts(result: FixResult) -> dict[str, str]:
    return {path.name: source.text for path, source in result.texts.items()}


def test_many_fixes_take_two_analyses(fixed: Any) -> None:
    text = (
        "# config\ndata:\n  train_ds:\n    k0: 0  # why\n" + "other:\n" + "".join(f"  o{i}: {i}\n" for i in range(280))
    )
    rules = [wants("data.train_ds", f"k{number}", 9) for number in range(15)]
    result = fixed(text, *rules)
    assert len(result.applied) == 15
    assert not result.dropped
    assert fixed.calls <= 3
    new = "".join(f"    k{number}: 9\n" for number in range(1, 15))
    assert texts(result) == {"a.yaml": text.replace("    k0: 0  # why\n", f"    k0: 9  # why\n{new}")}


@pytest.mark.parametrize("text", ["x: 1\n", "x: 1\ndata:\n", "x: 1\ndata: {}\n", "x: 1\ndata: {train_ds: }\n", ""])
def test_many_keys_of_a_section_that_is_not_there_take_three_analyses(fixed: Any, text: str) -> None:
    result = fixed(text, *[wants("data.train_ds", f"k{number}", 9) for number in range(15)])
    assert not result.dropped
    assert result.analysis.findings == ()
    assert fixed.calls <= 6
    (after,) = result.texts.values()
    document = Project(Settings(root=Path()), Path()).with_overlays({after.path: after.text}).store.load(after.path)
    assert isinstance(document, Document)
    made = section(document, "data.train_ds")
    assert made is not None
    assert to_plain(made) == {f"k{number}": 9 for number in range(15)}


def test_a_second_run_changes_nothing(fixed: Any) -> None:
    rules = [wants("a", "b", 9), wants("a", "c", [1, 2])]
    once = fixed("a:\n  b: 1\n", *rules)
    assert texts(once) == {"a.yaml": "a:\n  b: 9\n  c: [1, 2]\n"}
    twice = fixed(texts(once)["a.yaml"], *rules)
    assert (twice.texts, twice.applied, fixed.calls) == ({}, (), 1)


def test_one_fix_makes_room_for_the_next(fixed: Any) -> None:
    def chain(document: Document) -> Iterator[Finding]:
        mapping = section(document, "")
        if mapping and mapping.get("old"):
            yield finding(document, "NR1", "old", rename_key(document, mapping, "old", "b"), recommended="b")

    late = wants("", "b", 9, severity=Severity.WARNING)
    result = fixed("old: 1\n", chain, lambda document: late(document) if "b:" in document.source.text else iter(()))
    assert texts(result) == {"a.yaml": "b: 9\n"}
    assert [each.code for each in result.applied] == ["NR1", "NRb"]


def test_only_safe_open_fixes_are_taken(fixed: Any) -> None:
    rules = [
        wants("", "a", 9, kind=FixKind.CHOICE),
        wants("", "b", 9, suppressed="on purpose"),
        wants("", "c", 9, withheld="a source blocks it"),
        wants("", "d", 9, withheld="a source blocks it", artifact=False),
    ]
    text = "a: 1\nb: 1\nc: 1\nd: 1\n"
    assert texts(fixed(text, *rules)) == {}
    assert texts(fixed(text, *rules, for_artifact=True)) == {"a.yaml": text.replace("c: 1", "c: 9")}


def test_a_group_is_applied_all_or_not_at_all(fixed: Any) -> None:
    def never(document: Document) -> Iterator[Finding]:
        mapping = section(document, "")
        assert mapping
        key = "c" if mapping.get("c") else "d"
        yield finding(document, "NRnever", key, set_value(document, mapping, key, 8), group="g")

    result = fixed("a: 1\nb: 1\nc: 1\n", wants("", "a", 9, group="g"), never, wants("", "b", 9))
    assert texts(result) == {"a.yaml": "a: 1\nb: 9\nc: 1\n"}
    assert {(each.code, reason) for each, reason in result.dropped} == {
        ("NRa", "the finding would still be there"),
        ("NRnever", "the finding would still be there"),
    }


def test_a_group_with_a_member_that_cannot_be_edited_waits(fixed: Any) -> None:
    text = "a: 1\nx: &x {b: 1}\ny: *x\n"
    rules = [wants("", "a", 9, group="g"), wants("x", "b", 9, group="g")]
    result = fixed(text, *rules)
    assert texts(result) == {}
    assert [reason for _, reason in result.dropped] == [
        "another fix of its group is missing: `&x` is used in other places too"
    ]
    assert texts(fixed(text, *rules, for_artifact=True)) == {"a.yaml": text.replace("a: 1", "a: 9")}


def test_a_fix_that_brings_an_error_is_dropped_and_the_others_stay(fixed: Any) -> None:
    def forbids(document: Document) -> Iterator[Finding]:
        mapping = section(document, "")
        if mapping and to_plain(mapping) == {**to_plain(mapping), "k3": 9}:  # type: ignore[dict-item]
            yield finding(document, "NRnew", "k3")

    text = "".join(f"k{number}: 1\n" for number in range(8))
    result = fixed(text, *[wants("", f"k{number}", 9) for number in range(8)], forbids)
    assert texts(result) == {"a.yaml": text.replace(": 1", ": 9").replace("k3: 9", "k3: 1")}
    assert [(each.subject, reason) for each, reason in result.dropped] == [("k3", "NRnew at `k3` would appear")]


def test_many_fixes_that_fail_alike_cost_few_analyses(fixed: Any) -> None:
    def forbids(document: Document) -> Iterator[Finding]:
        mapping = section(document, "")
        for key, pair in mapping or ():
            if isinstance(key, str) and key.startswith("bad") and to_plain(pair.value) == 9:
                yield finding(document, "NRnew", key)

    text = "".join(f"bad{number}: 1\n" for number in range(200)) + "good: 1\n"
    result = fixed(text, *[wants("", f"bad{number}", 9) for number in range(200)], wants("", "good", 9), forbids)
    assert texts(result) == {"a.yaml": text.replace("good: 1", "good: 9")}
    assert len(result.dropped) == 200
    assert fixed.calls <= 5


def test_however_fixes_fail_the_work_is_bounded(fixed: Any) -> None:
    def forbids(document: Document) -> Iterator[Finding]:
        if ": 9" in document.source.text:
            yield finding(document, "NRnew", "elsewhere")

    text = "".join(f"k{number}: 1\n" for number in range(200)) + "good: 1\n"
    rules = [wants("", f"k{number}", 9, code="NR7") for number in range(200)]
    result = fixed(text, *rules, wants("", "good", 8), forbids)
    assert texts(result) == {"a.yaml": text.replace("good: 1", "good: 8")}
    assert len(result.dropped) == 200
    assert fixed.calls < 100


def test_a_new_warning_stops_nothing(fixed: Any) -> None:
    def warns(document: Document) -> Iterator[Finding]:
        if "9" in document.source.text:
            yield finding(document, "NRnew", "a", severity=Severity.WARNING)

    assert texts(fixed("a: 1\n", wants("", "a", 9), warns)) == {"a.yaml": "a: 9\n"}


@pytest.mark.parametrize(
    ("text", "subject", "edit", "reason"),
    [
        ("a: 1\nb: 1\n", "a", (8, 9, "2"), "`b` would change too"),
        ("a: 1\nb: [1, 2]\n", "a", (9, 10, "2"), "`b.0` would change too"),
        ("a: 1\nb: [1, 2]\n", "a", (9, 12, ""), "`b` would change too"),
        ("a: 1\nb: {c: 1}\n", "a", (9, 13, ""), "`b.c` would change too"),
        ("a: 1\nb: {c: 1}\n", "a", (9, 9, "d: 2, "), "`b.d` would change too"),
        ("a: {s: 1}\nb: {s: 1}\n", "a.s", (17, 18, "2"), "`b.s` would change too"),
        ("a: 1\nb: 1\n", "a", (5, 5, "a: 2\n"), "the key `a` stands twice in one mapping would be new"),
        ("a: 1\nb: 1\n", "a", (3, 4, "[2"), "a.yaml would not parse any more"),
        ("a: 1\n", "a", (0, 5, "- 1\n"), "`a.yaml` would change too"),
        ("a: &x {s: 1}\nb: *x\n", "a.s", (10, 11, "2"), "`b.s` would change too"),
    ],
)
def test_every_other_value_stays(fixed: Any, text: str, subject: str, edit: tuple[int, int, str], reason: str) -> None:
    def careless(document: Document) -> Iterator[Finding]:
        if document.source.text == text:
            start, end, new = edit
            yield finding(document, "NR1", subject, [Edit(document.source.path, Span(start, end), new)])

    result = fixed(text, careless)
    assert texts(result) == {}
    assert [why for _, why in result.dropped] == [reason]


def test_edits_that_touch_the_same_characters_wait_for_the_next_round(fixed: Any) -> None:
    def second(document: Document) -> Iterator[Finding]:
        mapping = section(document, "")
        assert mapping
        if to_plain(mapping) != {"a": 8}:
            value = 8 if to_plain(mapping) == {"a": 9} else 7
            yield finding(document, "NR2", "a", set_value(document, mapping, "a", value))

    def first(document: Document) -> Iterator[Finding]:
        return wants("", "a", 9)(document) if "1" in document.source.text else iter(())

    result = fixed("a: 1\n", first, second)
    assert texts(result) == {"a.yaml": "a: 8\n"}


def test_a_fix_over_two_files_holds_in_both_or_in_none(fixed: Any) -> None:
    def both(document: Document) -> Iterator[Finding]:
        if document.source.path.name == "a.yaml" and "1" in document.source.text:
            other = document.source.path.with_name("b.yaml")
            edits = (Edit(document.source.path, Span(3, 4), "9"), Edit(other, Span(3, 4), "9"))
            yield finding(document, "NR1", "a", edits)

    assert texts(fixed({"a.yaml": "a: 1\n", "b.yaml": "a: 1\n"}, both)) == {"a.yaml": "a: 9\n", "b.yaml": "a: 9\n"}
    assert texts(fixed({"a.yaml": "a: 1\n", "b.yaml": "b: 1\n"}, both)) == {}


def test_a_file_that_does_not_parse_is_left_alone(fixed: Any) -> None:
    def rule(document: Document) -> Iterator[Finding]:
        yield finding(document, "NR1", "a", [Edit(document.source.path, Span(3, 4), "9")])

    result = fixed("a: 1\nb: [\n", rule)
    assert texts(result) == {}
    assert [reason for _, reason in result.dropped] == ["a.yaml cannot be edited"]


def blocked(document: Document) -> Iterator[Finding]:
    """Entries with `bad` can be left out, all but the last of a list."""
    root = document.root
    assert isinstance(root, Items)
    for index, item in enumerate(root.items):
        mapping = deref(item)
        if isinstance(mapping, Mapping) and mapping.get("bad"):
            try:
                edits = comment_out_item(document, root, index, "it cannot be indexed")
            except CannotEdit:
                edits = ()
            location = Location(document.source, mapping.span)
            yield finding(document, "NR305", f"{index}.bad", edits, kind=FixKind.CHOICE, location=location)


def test_sources_are_left_out_only_when_asked_for(fixed: Any) -> None:
    text = "- bad: 1\n- ok: 1\n- bad: 2\n- bad: 3\n"
    assert texts(fixed(text, blocked)) == {}
    result = fixed(text, blocked, exclude_blocked=True)
    reason = "# it cannot be indexed\n"
    assert texts(result) == {"a.yaml": f"{reason}# - bad: 1\n- ok: 1\n{reason}# - bad: 2\n{reason}# - bad: 3\n"}
    assert fixed.calls == 2


def test_the_last_source_of_a_list_stays(fixed: Any) -> None:
    result = fixed("".join(f"- bad: {number}\n" for number in range(32)), blocked, exclude_blocked=True)
    (after,) = result.texts.values()
    assert after.text.splitlines()[-1] == "- bad: 31"
    assert len(result.applied) == 31
    assert [reason for _, reason in result.dropped] == ["it is the last source of its list"]
    assert fixed.calls <= 4


def test_ten_rounds_are_enough(fixed: Any) -> None:
    def restless(document: Document) -> Iterator[Finding]:
        mapping = section(document, "")
        assert mapping
        node = mapping.lookup["a"].value
        assert isinstance(node, Scalar)
        assert isinstance(node.value, int)
        edits = set_value(document, mapping, "a", node.value + 1)
        yield finding(document, f"NR{node.value}", "a", edits, severity=Severity.WARNING)

    result = fixed("a: 0\n", restless)
    assert texts(result) == {"a.yaml": "a: 10\n"}
    assert fixed.calls == 11


def test_annotations_say_what_was_there_over_several_rounds(fixed: Any) -> None:
    text = "# NRa: was 1\na: 1\nb:\n  c: 1  # why\n"
    late = wants("b", "d", [1], code="NR2", severity=Severity.WARNING)
    rules = [wants("", "a", 9, code="NRa"), lambda d: late(d) if "a: 9" in d.source.text else iter(())]
    result = fixed(text, *rules, wants("b", "c", 9))
    assert texts(result) == {"a.yaml": "# NRa: was 1\na: 9\nb:\n  c: 9  # why\n  d: [1]\n"}
    (commented,) = result.annotated.values()
    assert commented.text == (
        "# NRa: was 1\n# NRa: was 1\na: 9\nb:\n  # NRc: was 1\n  c: 9  # why\n  # NR2: was absent\n  d: [1]\n"
    )


def test_the_byte_order_mark_stays(fixed: Any) -> None:
    result = fixed("\ufeffa: 1\r\n", wants("", "a", 9), wants("", "b", 9))
    (after,) = result.texts.values()
    assert after.to_bytes() == b"\xef\xbb\xbfa: 9\r\nb: 9\r\n"


def test_a_limit_keeps_to_the_groups_of_one_rule(fixed: Any) -> None:
    rules = [wants("", "a", 9, group="g"), wants("", "b", 9, group="g"), wants("", "c", 9)]
    assert texts(fixed("a: 1\nb: 1\nc: 1\n", *rules, limit="NRa")) == {"a.yaml": "a: 9\nb: 9\nc: 1\n"}


def test_fixes_for_a_base_config_open_its_section_once_in_the_file_at_hand(tmp_path: Path) -> None:
    import yaml

    base = (
        "data:\n  train_ds:\n    shard_seed: trng\n    batch_size: 4\n    input_cfg:\n"
        "      - {type: nemo_tarred, manifest_filepath: /d/manifest_1.json, tarred_audio_filepaths: /d/audio_1.tar}\n"
        "  validation_ds:\n    batch_size: 1\n    shard_seed: trng\n    cuts_path: /d/a.jsonl\n"
        "trainer:\n  use_distributed_sampler: false\n  logger: false\n  enable_checkpointing: false\n"
        "exp_manager:\n  explicit_log_dir: logs\n"
    )
    child = "defaults:\n  - base\n  - _self_\ntrainer:\n  devices: 1  # one\n"
    (tmp_path / "base.yaml").write_text(base)
    (tmp_path / "child.yaml").write_text(child)
    result = fix(Project(Settings(tmp_path), tmp_path), [tmp_path / "child.yaml"])
    assert set(result.texts) == {tmp_path / "child.yaml"}
    text = result.texts[tmp_path / "child.yaml"].text
    assert text.startswith(child.rstrip("\n"))
    assert text.count("data:") == text.count("train_ds:") == text.count("validation_ds:") == 1
    assert yaml.safe_load(text)["data"] == {
        "train_ds": {"indexed": True, "use_stateful_dataloader": True, "shard_seed": 42},
        "validation_ds": {"shard_seed": 42},
    }
    assert yaml.safe_load(text)["exp_manager"] == {"resume_if_exists": True, "resume_ignore_no_checkpoint": True}
    assert '    # NR110: was "trng"\n    shard_seed: 42' in result.annotated[tmp_path / "child.yaml"].text
    assert not [finding for finding in result.analysis.findings if finding.severity.blocks]
