"""What is read is what OmegaConf loads, and what OmegaConf refuses has a problem: against 2.4 in process, 2.3 in another one."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from nemo_resumable.core.syntax.nodes import Document, Scalar, to_plain
from nemo_resumable.core.syntax.reader import read
from nemo_resumable.core.text import Source

HERE = Path(__file__).parent
REPOSITORY = HERE.parents[1]
CORPUS = REPOSITORY.parent / "shared" / "corpus"
OLD = REPOSITORY / "build" / "omegaconf-2.3"
#: 2.3 reads with PyYAML's own flattening of merges; 6.0.4 lets the last of a merge list win instead of the first.
OLD_PACKAGES = ("omegaconf==2.3.0", "PyYAML==6.0.2")


def _worker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("omegaconf_worker", HERE / "omegaconf_worker.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


worker = _worker()
Ask = Callable[[str], dict[str, Any]]


@pytest.fixture(scope="session")
def new() -> Iterator[Ask]:
    """OmegaConf as it is installed, without its limit on nodes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMEGACONF_MAX_YAML_EXPANDED_NODES", "none")
        yield worker.outcome


@pytest.fixture(scope="session")
def old() -> Iterator[Ask]:
    """OmegaConf 2.3 in one process of its own, installed below build/ the first time."""
    if not (OLD / "omegaconf").is_dir() or not list(OLD.glob("[pP][yY][yY][aA][mM][lL]-6.0.2*")):
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--upgrade", "--target", str(OLD), *OLD_PACKAGES]
        done = subprocess.run(pip, capture_output=True, text=True, check=False)
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["no words"])[-1]
            pytest.skip(f"OmegaConf 2.3 cannot be installed here: {last}")
    with subprocess.Popen(
        [sys.executable, str(HERE / "omegaconf_worker.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": str(OLD), "PYTHONIOENCODING": "utf-8"},
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        stdin, stdout = process.stdin, process.stdout

        def ask(text: str) -> dict[str, Any]:
            stdin.write(json.dumps(text) + "\n")
            stdin.flush()
            answer: dict[str, Any] = json.loads(stdout.readline())
            return answer

        yield ask
        stdin.close()


def plain(document: Document) -> Any:
    """What we read, in the form the oracle answers in. A file that is empty or `null` is an empty config."""
    root = document.root
    if root is None or (isinstance(root, Scalar) and root.value is None):
        return ["dict", []]
    return worker.canonical(to_plain(root))


def disagreement(text: str, outcome: dict[str, Any]) -> str | None:
    """How our reading of a text differs from OmegaConf's, None where it does not."""
    document = read(Source.from_text(Path("x.yaml"), text))
    for problem in document.problems:
        for span in (problem.span, problem.related or problem.span):
            if not 0 <= span.start <= span.end <= len(document.source.text):
                return f"{span} lies outside of the text: {problem}"
        if not problem.message or problem.message.endswith(".") or "\n" in problem.message:
            return f"no sentence: {problem.message!r}"
    if "refused" in outcome:
        if not document.problems and not document.further_documents:
            return f"refused, and we say nothing: {outcome['refused']}"
        return None
    if any(problem.kind == "syntax" for problem in document.problems):
        return None  # judged by the other version: what one parser does not take has no value here
    if any(problem.kind == "not-a-config" for problem in document.problems):
        return None  # a lone string becomes a key without a value, which is no config
    if (ours := plain(document)) != outcome["value"]:
        return f"OmegaConf: {outcome['value']}\nwe:        {ours}\n{document.problems}"
    return None


#: A `!` before nothing: libyaml makes an empty string of it, the pure parser null.
LONE_MARK = re.compile(r"(?<!\S)!(?=\s*(?:[#&,\]}\r\n]|\Z))")


def check(text: str, new: Ask, old: Ask) -> None:
    """Compare with both; what both load has no problem."""
    if LONE_MARK.search(text):
        return
    outcomes = {"2.4": new(text), "2.3": old(text)}
    for version, outcome in outcomes.items():
        difference = disagreement(text, outcome)
        assert difference is None, f"OmegaConf {version} on {text!r}\n{difference}"
    document = read(Source.from_text(Path("x.yaml"), text))
    if not any("refused" in outcome for outcome in outcomes.values()):
        left = [problem for problem in document.problems if problem.kind != "not-a-config"]
        assert not left, f"both load {text!r}, and we say {left}"


# --- real files ---------------------------------------------------------------------------------------------------------


def corpus() -> list[Path]:
    return sorted([*CORPUS.rglob("*.yaml"), *CORPUS.rglob("*.yml")])


@pytest.mark.skipif(not CORPUS.is_dir(), reason="there is no ../shared/corpus beside the repository")
def test_real_files(new: Ask, old: Ask) -> None:
    files = corpus()
    assert files
    with ThreadPoolExecutor(1) as other:  # the pure parser takes its time: let both work
        texts = [file.read_bytes().decode("utf-8") for file in files]
        for text, answer in zip(texts, [other.submit(old, text) for text in texts]):
            check(text, new, lambda _, answer=answer: answer.result())  # type: ignore[misc]


# --- spellings of scalars ------------------------------------------------------------------------------------------------

NUMBERS = [
    "0",
    "00",
    "01",
    "07",
    "08",
    "012",
    "-012",
    "+7",
    "0o7",
    "0x1F",
    "0X1F",
    "-0xff",
    "0x_",
    "0b101",
    "0b_",
    "0b12",
    "1_000",
    "_1",
    "1__0",
    "1_",
    "12:30",
    "1:60",
    "-1:30",
    "1:30.5",
    "190:20:30",
    "1:2:3:4",
    "1.",
    ".5",
    "-.5",
    "+.5",
    "5.e3",
    "1e3",
    "1E3",
    "1e-4",
    "1e+4",
    "-1e3",
    "1_0e3",
    "1.5e3",
    "1.5e+3",
    ".5e3",
    ".5e+3",
    "1e",
    "1e3.5",
    "6.8523015e+5",
    "685_230.15",
    ".inf",
    "-.inf",
    "+.Inf",
    ".INF",
    ".nan",
    ".NaN",
    "-.nan",
    ".NAN",
    "inf",
    "nan",
    "1.0.0",
    "1,000",
    "0.1",
    "-0",
    "-0.0",
    "+0",
    "1-2",
    "--1",
    "0b",
    "0x",
    "0o",
    "1__0.5",
    "1_0._5",
    ".",
    "-",
    "+",
    "~",
    "-.",
    "+.",
    ".e3",
    "1e5",
    "0e0",
    "9007199254740993",
    "123456789012345678901234567890",
    "0777777777777777777777",
    "1e400",
    "-1e400",
    "4.9e-324",
]
WORDS = [
    "y",
    "n",
    "Y",
    "N",
    "yes",
    "Yes",
    "YES",
    "yEs",
    "no",
    "No",
    "NO",
    "on",
    "On",
    "ON",
    "off",
    "OFF",
    "Off",
    "true",
    "True",
    "TRUE",
    "tRue",
    "false",
    "False",
    "FALSE",
    "null",
    "Null",
    "NULL",
    "nUll",
    "~",
    "=",
    "==",
    "<<",
    "???",
    "2001-01-01",
    "2001-01-01T12:00:00Z",
    "2001-1-1",
    "a:b",
    "a::b",
    "http://x.y/z?q=1&r=2",
    "a#b",
    "#x",
    "@x",
    "%x",
    "`x`",
    "!x",
    "&x",
    "*x",
    "|x",
    ">x",
    "'x",
    '"x',
    ",x",
    "[x",
    "{x",
    "]x",
    "}x",
    "-x",
    "?x",
    ":x",
    "x:",
    "x-",
    "-",
    "?",
    ":",
    "!!str",
    "!!int",
    "!!float",
    "!!binary",
    "!!null",
    "!!bool",
    "é",
    "日本",
    "🎉",
    "a",
    "b",
    "a",
    "b",
    "a",
    "b",
    "a\ufeffb",
    "\x07",
    "\x7f",
    "${a}",
    "${a.b}",
    "${a[0]}",
    "${.a}",
    "${..a}",
    "${oc.env:HOME}",
    "${oc.env:HOME,/tmp}",
    "${f:a,b}",
    "${f:${a}}",
    "${a",
    "${",
    "${}",
    "${.}",
    "${a.}",
    "${a}}",
    "$${a}",
    "\\${a}",
    "\\${",
    "\\\\${a}",
    "${a}-${b}",
    "${f:'x'}",
    '${f:"x,y"}',
    "${f:'x}",
    "${f:[1,2]}",
    "${f:{a:1}}",
    "${f:[1,2}",
    "${f:a=b}",
    "${f:é}",
    "${é}",
    "${a-b}",
    "${1}",
    "${a:}",
    "${1:x}",
]
TAGS = [
    "!!str",
    "!!int",
    "!!float",
    "!!bool",
    "!!null",
    "!!binary",
    "!!timestamp",
    "!!map",
    "!!seq",
    "!!set",
    "!!omap",
    "!!pairs",
    "!!merge",
    "!!value",
    "!",
    "!foo",
    "!!foo",
]
FRAMES = (
    "{}", "a: {}", "{}: a", "- {}", "a: [{}]", "a: [{}, b]", "a: {{b: {}}}", "a: {{{}: b}}", "a: {{{}}}", "a: '{}'", 'a: "{}"',
    "a: |\n  {}\n", "a: >-\n  {}\n  x\n", "? {}\n: b\n", "a: !!str {}", "a: !!int {}", "a: !!float {}", "a: !!bool {}",
    "a: !!null {}",
    "a: !!binary {}", "a: ! {}", "a: &x {}\nb: *x\n", "a:\n  {}\n", "a: {} # c\n", "a: x {}", "a: {}\n  x\n", "a: {}\r\nb: {}\r\n",
)  # fmt: skip


@pytest.mark.parametrize("frame", FRAMES)
def test_spellings(frame: str, new: Ask, old: Ask) -> None:
    for word in [*NUMBERS, *WORDS]:
        if "[" in frame and word.startswith("!!"):
            continue  # the pure parser takes the comma after a tag into it
        check(frame.format(word, word), new, old)


@pytest.mark.parametrize("tag", TAGS)
def test_tags(tag: str, new: Ask, old: Ask) -> None:
    values = ["", "1", "x", "'1'", "yes", "1.5", "[]", "[a]", "[a: 1]", "[a: 1, b: 2]", "{}", "{a: 1}", "{a: 1, b: 2}", "{a, b}",
              "aGVsbG8=", "2001-01-01", "<<", "\n  - a: 1\n  - a: 2", "\n  a: 1", "|\n  x"]  # fmt: skip
    for value in values:
        for frame in ("a: {} {}\n", "- {} {}\n", "{} {}\n", "a: &x {} {}\nb: *x\n", "a: {} &x {}\n"):
            check(frame.format(tag, value), new, old)
    check(f"{tag} k: 1\n", new, old)


# --- generated documents -------------------------------------------------------------------------------------------------

LINES = st.text(st.sampled_from("ab :#-?,[]{}&*!|>'\"%@`\\$~=\té日🎉\u00a0\u2028\x85"), max_size=8)
NUMBERS_MADE = st.from_regex(r"\A[-+]?[0-9_]{0,4}[.:]?[0-9_]{0,3}([eE][-+]?[0-9]{0,3})?\Z")
QUOTED = st.one_of(
    LINES.map(lambda text: "'" + text.replace("'", "''") + "'"),
    LINES.map(lambda text: json.dumps(text, ensure_ascii=False)),
    st.sampled_from(["''", '""', "'it''s'", '"\\n\\x41"', "'a\n\n    b'", '"a\\\n    b"']),
)
CALM = st.one_of(
    st.sampled_from([word for word in NUMBERS if word[0].isalnum() and not word.endswith("_")]),
    st.sampled_from(
        [
            "a",
            "yes",
            "No",
            "on",
            "null",
            "~",
            "é",
            "日本",
            "🎉",
            "${a}",
            "${a.b}",
            "${oc.env:HOME}",
            "x:y",
            "2001-01-01",
            "True",
            "a#b",
        ]
    ),
    st.sampled_from(["long words here", "", "a\n    b"]),
    QUOTED,
)
WILD = st.one_of(
    CALM, st.sampled_from([word for word in [*NUMBERS, *WORDS] if word.isprintable()]), NUMBERS_MADE, LINES
)
CALM_KEYS = st.sampled_from(["a", "b", "c", "d", "key", "x-y", "'1'", "2.5", "yes", "'yes'", "é", "12:30", "0x1F"])
WILD_KEYS = st.one_of(
    CALM_KEYS, st.sampled_from(["1", "=", "null", "<<", "'<<'", "!!str"]), WILD.filter(lambda text: "\n" not in text)
)
BLOCKS = st.tuples(st.sampled_from(["|", ">", "|-", ">-", "|+", ">+", "|2", "| # c"]), st.lists(LINES, max_size=3))
CALM_PROPERTIES = st.sampled_from(["", "", "&", "&"])
WILD_PROPERTIES = st.sampled_from(["", "", "", "&", "!!str ", "!!map ", "!!omap ", "!foo ", "&!!str "])

Tree = tuple[Any, ...]


def trees(
    scalars: st.SearchStrategy[str], keys: st.SearchStrategy[str], properties: st.SearchStrategy[str]
) -> st.SearchStrategy[Tree]:
    """Trees of four levels; how they are written, block or flow, is part of them."""
    leaves: st.SearchStrategy[Tree] = st.one_of(
        st.tuples(st.just("scalar"), properties, scalars),
        st.tuples(st.just("alias"), st.integers(0, 5)),
        st.tuples(st.just("block"), BLOCKS),
    )
    below = leaves
    for _ in range(3):
        pairs = st.lists(st.tuples(keys, below), max_size=4)
        below = st.one_of(
            leaves,
            st.tuples(st.just("seq"), st.booleans(), properties, st.lists(below, max_size=3)),
            st.tuples(st.just("map"), st.booleans(), properties, pairs),
            st.tuples(st.just("merge"), st.lists(st.integers(0, 5), min_size=1, max_size=3), properties, pairs),
        )
    return below


class Writer:
    """Writes a tree as YAML: block style as long as it is asked for, flow style inside of flow style."""

    def __init__(self, wild: bool) -> None:
        self.wild = wild
        self.anchors = 0
        self.closed: list[str] = []  #: what an alias can stand for without containing itself
        self.mappings: list[str] = []

    def properties(self, properties: str) -> tuple[str, str]:
        """What is written before a node, and its anchor."""
        if not properties.startswith("&"):
            return properties, ""
        self.anchors += 1
        name = f"n{self.anchors}"
        if self.wild:  # aliases to what is still open
            self.closed.append(name)
        return f"&{name} {properties[1:]}", name

    def close(self, name: str, kind: str) -> None:
        if name:
            self.closed.append(name)
            if kind in ("map", "merge"):
                self.mappings.append(name)

    def alias(self, number: int, *, merged: bool = False) -> str:
        names = self.mappings if merged and not (self.wild and number == 5) else self.closed
        return f"*{names[number % len(names)]}" if names else "{a: 0}"

    def pairs(self, pairs: list[tuple[str, Tree]]) -> list[tuple[str, Tree]]:
        return pairs if self.wild else list(dict(pairs).items())

    def merge(self, numbers: list[int]) -> str:
        aliases = [self.alias(number, merged=True) for number in numbers]
        return aliases[0] if len(aliases) == 1 else f"[{', '.join(aliases)}]"

    def flow(self, tree: Tree) -> str:
        kind = tree[0]
        if kind == "alias":
            return self.alias(tree[1])
        if kind == "block":
            return "'block'"
        before, name = self.properties(tree[1] if kind == "scalar" else tree[2])
        if kind == "scalar":
            text = str(tree[2])
        elif kind == "seq":
            text = "[" + ", ".join(self.flow(item) for item in tree[3]) + "]"
        else:
            written = [f"<<: {self.merge(tree[1])}"] if kind == "merge" else []
            written += [f"{key}: {self.flow(value)}" for key, value in self.pairs(tree[3])]
            text = "{" + ", ".join(written) + "}"
        self.close(name, kind)
        return before + text

    def below(self, tree: Tree, indent: str) -> str:
        """A node after its key or dash, up to and with its newline."""
        kind = tree[0]
        if kind == "block":
            header, lines = tree[1]
            return f" {header}\n" + "".join(f"{indent}  {line}\n" for line in lines)
        if kind in ("scalar", "alias") or (kind != "merge" and (tree[1] or not tree[3])):
            return f" {self.flow(tree)}\n"
        before, name = self.properties(tree[2])
        if kind == "seq":
            text = "".join(f"{indent}  -{self.below(item, indent + '    ')}" for item in tree[3])
        else:
            text = f"{indent}  <<: {self.merge(tree[1])}\n" if kind == "merge" else ""
            text += "".join(f"{indent}  {key}:{self.below(value, indent + '  ')}" for key, value in self.pairs(tree[3]))
        self.close(name, kind)
        return f" {before}\n{text}"

    def document(self, top: list[Tree], listed: bool) -> str:
        """A whole document: a list, or a mapping with keys of its own."""
        if listed:
            return "".join(f"-{self.below(item, '  ')}" for item in top)
        return "".join(f"{key}:{self.below(value, '')}" for key, value in zip("pqrstu", top))


TREES = {False: trees(CALM, CALM_KEYS, CALM_PROPERTIES), True: trees(WILD, WILD_KEYS, WILD_PROPERTIES)}


@st.composite
def documents(draw: st.DrawFn, wild: bool) -> str:
    top = draw(st.lists(TREES[wild], min_size=1, max_size=6))
    text = Writer(wild).document(top, draw(st.integers(0, 4)) == 0)
    shape = draw(st.integers(0, 15))
    if shape == 0:
        text = text.replace("\n", "\r\n")
    elif shape == 1:
        text = "\ufeff" + text
    elif shape == 2:
        text = "---\n" + text + "...\n"
    elif shape == 3:
        text += draw(st.sampled_from(["---\n", "---\na: 1\n", "--- b\n", "...\n---\nc: [\n"]))
    elif shape == 4:
        text = "# first\n\n" + text.replace("\n", "  # c\n", 1)
    elif shape == 5:
        text = text.rstrip("\n")
    return text


TYPED = [":", "\t", "[", "]", "{", "}", "'", '"', "\n", " ", "- ", "&", "*", "${", "|", "#"]


@st.composite
def broken(draw: st.DrawFn) -> str:
    """A document with a piece cut out or put in, as while typing."""
    text = draw(documents(False))
    at = draw(st.integers(0, len(text)))
    if draw(st.booleans()):
        return text[:at] + text[at + draw(st.integers(1, 6)) :]
    return text[:at] + draw(st.sampled_from(TYPED)) + text[at:]


def bounded(examples: int) -> settings:
    scale = int(os.environ.get("NEMO_RESUMABLE_EXAMPLES", "1"))
    return settings(
        max_examples=examples * scale,
        derandomize=scale == 1,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


@bounded(300)
@given(documents(wild=False))
@example("a: 1\na: 2\n")
def test_generated(new: Ask, old: Ask, text: str) -> None:
    check(text, new, old)


@bounded(300)
@given(documents(wild=True))
@example("a: &a {xy: 1}\nb: &b {xy: 2}\nc: &c\n  <<: [*a, *b]\nd:\n  <<: *c\n")
@example("a: &a {b: 0}\nb: &b\n  <<: [*a, *a]\nc:\n  <<: *b\n")
@example("- |2\r\n    \t\r\n")
@example("a:\n  b: &b {xy: 1}\n  c: &c\n    <<: *b\n    xy: 2\nd:\n  <<: *c\n")
def test_generated_and_odd(new: Ask, old: Ask, text: str) -> None:
    check(text, new, old)


@bounded(300)
@given(broken())
@example("a: [1, 2\nb: 3\n")
def test_generated_and_broken(new: Ask, old: Ask, text: str) -> None:
    check(text, new, old)
