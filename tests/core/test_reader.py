"""Nodes and their places, what is refused and where, and that nothing costs more than the text is long."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from nemo_resumable.core.syntax import building
from nemo_resumable.core.syntax.nodes import (
    Alias,
    Document,
    Mapping,
    Node,
    Pair,
    Scalar,
    Sequence,
    SyntaxProblem,
    deref,
    to_plain,
)
from nemo_resumable.core.syntax.reader import read
from nemo_resumable.core.text import Source, Span
from omegaconf import OmegaConf


def document(text: str) -> Document:
    return read(Source.from_text(Path("x.yaml"), text))


def mapping(text: str) -> Mapping:
    root = document(text).root
    assert isinstance(root, Mapping)
    return root


def pair(text: str, key: object) -> Pair:
    found = mapping(text).get(key)  # type: ignore[arg-type]
    assert found is not None
    return found


def problem(text: str) -> SyntaxProblem:
    problems = document(text).problems
    assert len(problems) == 1, problems
    return problems[0]


def walk(node: Node) -> Iterator[Node]:
    """Every node as written, keys included, aliases not followed."""
    stack = [node]
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, Sequence):
            stack += node.items
        elif isinstance(node, Mapping):
            stack += [part for pair in node.pairs for part in (pair.key, pair.value)]


# --- places --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value", "outer"),
    [
        ("k: v", "v", "v"),
        ("k:   'it''s' # c", "'it''s'", "'it''s'"),
        ('k: "a\\n"\n', '"a\\n"', '"a\\n"'),
        ("k: &a v\n", "v", "&a v"),
        ("k: !!str 12\n", "12", "!!str 12"),
        ("k: !<tag:yaml.org,2002:str> 12\n", "12", "!<tag:yaml.org,2002:str> 12"),
        ("k: &a !!str\n  12\n", "12", "&a !!str\n  12"),
        ("k: two\n  lines  # c\n", "two\n  lines", "two\n  lines"),
        ("k: |\n  a\n  b  \n\n# c\n", "|\n  a\n  b  ", "|\n  a\n  b  "),
        ("k: >-\r\n  a\r\n\r\nl: 1\r\n", ">-\r\n  a", ">-\r\n  a"),
        ("k: &a |\n  a\n", "|\n  a", "&a |\n  a"),
        ("k: [a, b]  # c\n", "[a, b]", "[a, b]"),
        ("k: {a: 1,\n  b: 2}\n", "{a: 1,\n  b: 2}", "{a: 1,\n  b: 2}"),
        ("k:\n  a: 1\n  b: 2\n\n# c\nl: 1\n", "a: 1\n  b: 2", "a: 1\n  b: 2"),
        ("k:\n- a\n-  b\n\nl: 1\n", "- a\n-  b", "- a\n-  b"),
        ("k: &a # c\n  b: 1\n", "b: 1", "&a # c\n  b: 1"),
        ("k: &a !!map\n  b:\n    - c\n", "b:\n    - c", "&a !!map\n  b:\n    - c"),
        ("k: !!seq [a]\n", "[a]", "!!seq [a]"),
        ("é: 🎉\n", "🎉", "🎉"),
    ],
)
def test_values(text: str, value: str, outer: str) -> None:
    for before, bom in (("", ""), ("# first\n", "\ufeff"), ("---\n", "")):
        whole = document(bom + before + text)
        assert isinstance(whole.root, Mapping)
        node = next(iter(whole.root.pairs)).value
        assert whole.source.cut(node.span) == value
        assert whole.source.cut(node.outer) == outer


@pytest.mark.parametrize(
    ("text", "offset"),
    [
        ("k:\n", 2),
        ("k:   # c\nl: 1\n", 2),
        ("k: &a\nl: 1\n", 5),
        ("k: !!str  # c\n", 8),
        ("{k: , l: 1}", 3),
        ("{k:   }", 3),
        ("{k , l: 1}", 2),
        ("{k }", 2),
        ("? k\n", 3),
        ("? k\nl: 1\n", 3),
    ],
)
def test_values_left_out(text: str, offset: int) -> None:
    assert pair(text, "k").value.span == Span(offset, offset)


def test_items_left_out() -> None:
    root = document("-\n-   # c\n- a\n").root
    assert isinstance(root, Sequence)
    assert [item.span for item in root.items] == [Span(1, 1), Span(3, 3), Span(12, 13)]


def test_aliases_keep_their_own_place() -> None:
    text = "a: &x {b: 1}\nc: *x\nd: [*x , *x]\n"
    root = mapping(text)
    alias = root.pairs[1].value
    assert isinstance(alias, Alias)
    assert text[alias.span.start : alias.span.end] == "*x"
    assert alias.span.start == 16
    assert alias.target is root.pairs[0].value
    assert deref(alias) is alias.target
    assert root.pairs[0].value.anchor == "x"  # type: ignore[union-attr]
    assert to_plain(root) == {"a": {"b": 1}, "c": {"b": 1}, "d": [{"b": 1}, {"b": 1}]}


def test_merged_pairs_say_what_brought_them_in() -> None:
    text = "a: &x {b: 1, c: 2}\nd: &y {b: 3}\ne:\n  <<: [*y, *x]\n  c: 4\n"
    inner = pair(text, "e").value
    assert isinstance(inner, Mapping)
    assert to_plain(inner) == {"b": 3, "c": 4}
    assert [(key, found.merged_at) for key, found in inner] == [("b", Span(42, 44)), ("c", None)]
    assert text[42:44] == "*y"
    assert len(inner.pairs) == 2
    assert inner.flow is False


def test_styles_and_tags() -> None:
    root = mapping("a: 1\nb: 'x'\nc: \"x\"\nd: |\n  x\ne: >\n  x\nf: !!str 1\n")
    scalars = [pair.value for pair in root.pairs]
    assert all(isinstance(scalar, Scalar) for scalar in scalars)
    assert [scalar.style for scalar in scalars] == ["plain", "single", "double", "literal", "folded", "plain"]  # type: ignore[union-attr]
    assert scalars[5].tag == "tag:yaml.org,2002:str"  # type: ignore[union-attr]


def test_spans_lie_inside_of_each_other() -> None:
    text = "a: &x\n  - b: [1, {c: 'd'}]\n    e: |\n      f\n\n  - *x2\nx: &x2 {}\n".replace("  - *x2\n", "")
    root = mapping(text)
    for node in walk(root):
        assert node.outer.start <= node.span.start <= node.span.end == node.outer.end
        children = (
            node.items
            if isinstance(node, Sequence)
            else [p for pair in getattr(node, "pairs", ()) for p in (pair.key, pair.value)]
        )
        for child in children:
            assert node.span.start <= child.outer.start
            assert child.outer.end <= node.span.end


# --- refusals ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "kind", "at", "related", "words"),
    [
        ("a: 1\n'a': 2\n", "duplicate-key", "'a'", "a", "`a` stands twice"),
        ("a: 1\nb: {c: 1, c: 2}\n", "duplicate-key", "c", "c", "`c`"),
        ("a: *x\n", "construction", "*x", None, "`*x` has no anchor `&x` above"),
        ("a: &x 1\nb: &x 2\n", "construction", "&x", "&x", "`&x` is defined a second time"),
        ("a: &x [*x]\n", "recursion", "*x", None, "inside its own anchor"),
        ("a: !foo b\n", "construction", "!foo b", None, "`!foo` is unknown"),
        ("a: !foo [b]\n", "construction", "!foo ", None, "`!foo` before this list is unknown"),
        ("a: !!int x\n", "construction", "!!int x", None, "`x` cannot be read as an integer"),
        ("a: 0b_\n", "construction", "0b_", None, "`0b_` cannot be read as an integer"),
        ("a: =\n", "construction", "=", None, "quote it"),
        ("a: <<\n", "construction", "<<", None, "quote it"),
        ("a: !!set {b}\n", "construction", "!!set ", None, "write a list"),
        ("a: !!timestamp 2001-01-01\n", "construction", "!!timestamp 2001-01-01", None, "dates"),
        ("a: !!omap [b]\n", "construction", "b", None, "one `key: value`"),
        ("~: 1\n", "construction", "~", None, "`~` cannot be a key"),
        ("a:\n  ? \n  : 1\n", "construction", "1", None, "an empty value cannot be a key"),
        ("[a]: 1\n", "construction", "[a]", None, "a list stands where a key"),
        ("<<: 1\n", "construction", "<<", None, "`<<` needs a mapping"),
        ("<<: [1]\n", "construction", "1", None, "can only merge mappings"),
        ("1: a\n'1': b\n", "construction", "'1'", "1", "from 2.4 on"),
        ("a:\tb\n", "construction", "\t", None, "2.3"),
        ("a: [http://x/y?z=1]\n", "construction", "http://x/y?z=1", None, "2.3"),
        ("a: ${b\n", "interpolation", "${b", None, "`${b` is no valid interpolation"),
        ("a: 'x ${b c}'\n", "interpolation", "'x ${b c}'", None, "`c` cannot stand"),
        ("just words\n", "not-a-config", "just words", None, "a single value"),
        ("a: [1\n", "syntax", "1", "[", "not closed"),
        ("a: [1\nb: 2\n", "syntax", "[", ":", "not closed"),
        ("a: 1\nb c # d\ne: 2\n", "syntax", "b c", None, "no `:` after it"),
        ("a: b: c\n", "syntax", ":", None, "quote the value"),
        ("a: 'b\n", "syntax", "b", "'", "never closed"),
        ("\ta: 1\n", "syntax", "\t", None, "tab"),
        ("a: @b\n", "syntax", "@", None, "quote it"),
        ("a: 1\n b: 2\n", "syntax", ":", None, "indentation"),
        ("a: é\nb: \x07\n", "syntax", "\x07", None, "control character"),
        ("a: \ud800\n", "syntax", "\ud800", None, "U+D800"),
    ],
)  # fmt: skip
def test_refused(text: str, kind: str, at: str, related: str | None, words: str) -> None:
    found = problem(text)
    assert found.kind == kind
    assert text[found.span.start : found.span.end] == at
    assert (found.related and text[found.related.start : found.related.end]) == related
    assert words in found.message
    assert not found.message.endswith(".")


@pytest.mark.parametrize(
    "text",
    [
        "", "# c\n", "---\n", "~\n", "a: 1\n...\n", "'${a': 1\n", "a: '{${b}}'\n", "=: 1\n", "a: \\${b\n", "a: !!null x\n",
        "a: '\tx'\nb: |\n  x\ty\n# c\tc\nc: 1 # \t\n", "a: ['x?y']\nb: x?y\n", "a: &x {b: '${'}\n<<: {a: 1}\n".replace("'${'", "1"),
    ],
)  # fmt: skip
def test_taken(text: str) -> None:
    assert document(text).problems == ()


def test_a_malformed_value_that_nothing_reads() -> None:
    assert document("a: 1\n<<: {a: '${', b: 2}\n").problems == ()
    assert problem("a: 1\n<<: {b: '${'}\n").kind == "interpolation"


def test_merges_that_only_one_version_refuses() -> None:
    late = "a:\n  b: &b {xy: 1}\n  c: &c\n    <<: *b\n    xy: 2\nd:\n  <<: *c\n"
    assert "OmegaConf 2.3" in problem(late).message
    twice = "a: &a {xy: 1}\nb: &b {xy: 2}\nc: &c\n  <<: [*a, *b]\nd:\n  <<: *c\n"
    assert "OmegaConf 2.4" in problem(twice).message
    assert to_plain(pair(twice, "d").value) == {"xy": 1}


def test_further_documents() -> None:
    text = "a: 1\n---\nb: [\n"
    whole = document(text)
    assert to_plain(whole.root) == {"a": 1}  # type: ignore[arg-type]
    assert [problem.kind for problem in whole.problems] == ["syntax"]
    assert [text[span.start :][:3] for span in whole.further_documents] == ["---"]
    whole = document("a: 1\n---\na: 1\na: 2\n--- c\n")
    assert whole.problems == ()
    assert len(whole.further_documents) == 2


def test_too_deep() -> None:
    found = problem("a: " + "[" * 200 + "]" * 200)
    assert found.kind == "recursion"
    assert document("a: " + "[" * 60 + "]" * 60).problems == ()


# --- what it costs --------------------------------------------------------------------------------------------------------


def test_bombs_cost_nothing() -> None:
    lines = ["a0: &a0 [x, x]"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 90)]
    lines += ["m0: &m0 {k: 1}"] + [f"m{n}: &m{n} {{<<: [{', '.join([f'*m{n - 1}'] * 9)}]}}" for n in range(1, 90)]
    started = time.process_time()
    whole = document("\n".join(lines))
    assert time.process_time() - started < 2
    assert whole.expanded_nodes > 9**89
    assert to_plain(pair("\n".join(lines), "m89").value) == {"k": 1}


@pytest.mark.parametrize(
    "text", ["a: 1\n", "a: &x [1, {b: 2}]\nc: *x\nd: {<<: [{e: 1}], f: *x}\n", "- 1\n- [2, 3]\n", "a:\n  b:\n    c:\n"]
)
def test_nodes_are_counted_as_omegaconf_counts(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    count = document(text).expanded_nodes
    OmegaConf.create(text, max_yaml_expanded_nodes=count)
    with pytest.raises(yaml.YAMLError, match="limit"):
        OmegaConf.create(text, max_yaml_expanded_nodes=count - 1)


def test_the_collector_is_left_as_it_was() -> None:
    assert gc.isenabled()
    document("a: 1\n")
    assert gc.isenabled()
    gc.disable()
    try:
        document("a: [\n")
        assert not gc.isenabled()
    finally:
        gc.enable()


# --- without libyaml ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "a: &x\n  - b: [1, {c: 'd'}]\n    e: |\n      f\n\nk:\n\"l\": !!str 1 # c\nm: *x\n<<: {n: >-\n  o\n  }\n".replace(
            "{n: >-\n  o\n  }", "{n: o}"
        ),
        "\ufeffé: 🎉\r\nb:\r\n  - \r\n  - |+\r\n    x\r\n\r\nc: {a: , b }\r\n---\r\nd: 1\r\n",
    ],
)
def test_the_pure_parser_makes_the_same_nodes(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def described(whole: Document) -> list[object]:
        assert whole.root is not None
        return [
            whole.further_documents,
            whole.problems,
            *((type(node).__name__, node.span, node.outer, getattr(node, "value", None)) for node in walk(whole.root)),
        ]

    fast = described(document(text))
    monkeypatch.setattr(building, "Loader", yaml.SafeLoader)
    assert described(document(text)) == fast
