"""What is read is what OmegaConf loads, and what OmegaConf refuses has a problem: against 2.4 in process, 2.3 in another one."""

from __future__ import annotations

import importlib.util
import json
import os
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


def check(text: str, new: Ask, old: Ask) -> None:
    """Compare with both; what both load has no problem."""
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
    "a: |\n  {}\n", "a: >-\n  {}\n  x\n", "? {}\n: b\n", "a: !!str {}", "a: !!int {}", "a: !!float {}", "a: !!bool {}", "a: !!null {}",
    "a: !!binary {}", "a: ! {}", "a: &x {}\nb: *x\n", "a:\n  {}\n", "a: {} # c\n", "a: x {}", "a: {}\n  x\n", "a: {}\r\nb: {}\r\n",
)  # fmt: skip


@pytest.mark.parametrize("frame", FRAMES)
def test_spellings(frame: str, new: Ask, old: Ask) -> None:
    for word in [*NUMBERS, *WORDS]:
        if frame == "a: ! {}" and word[0] in "#&":
            continue  # a lone `!`: libyaml makes an empty string of it, the pure parser null
        if "[" in frame and word.startswith("!!"):
            continue  # the pure parser takes the comma after a tag into it
        check(frame.format(word, word), new, old)


@pytest.mark.parametrize("tag", TAGS)
def test_tags(tag: str, new: Ask, old: Ask) -> None:
    values = ["", "1", "x", "'1'", "yes", "1.5", "[]", "[a]", "[a: 1]", "[a: 1, b: 2]", "{}", "{a: 1}", "{a: 1, b: 2}", "{a, b}",
              "aGVsbG8=", "2001-01-01", "<<", "\n  - a: 1\n  - a: 2", "\n  a: 1", "|\n  x"]  # fmt: skip
    for value in values:
        if tag == "!" and not value:
            continue  # libyaml makes an empty string of it, the pure parser null
        for frame in ("a: {} {}\n", "- {} {}\n", "{} {}\n", "a: &x {} {}\nb: *x\n", "a: {} &x {}\n"):
            check(frame.format(tag, value), new, old)
    check(f"{tag} k: 1\n", new, old)


# --- generated documents -------------------------------------------------------------------------------------------------

LINES = st.text(st.sampled_from("ab :#-?,[]{}&*!|>'\"%@`\\$~=\té日🎉\u00a0\u2028\x85"), max_size=8)
SCALARS = st.one_of(
    st.sampled_from([word for word in [*NUMBERS, *WORDS] if word.isprintable()]),
    st.sampled_from(
        ["a", "b", "c", "x1", "long words here", "", "''", '""', "'it''s'", '"\\n\\x41"', "a\n  b", "'a\n\n  b'"]
    ),
    st.from_regex(r"\A[-+]?[0-9_]{0,4}[.:]?[0-9_]{0,3}([eE][-+]?[0-9]{0,3})?\Z"),
    LINES.map(lambda text: "'" + text.replace("'", "''") + "'"),
    LINES.map(lambda text: json.dumps(text, ensure_ascii=False)),
    LINES,
)
KEYS = st.one_of(
    st.sampled_from(["a", "b", "c", "d", "key", "x-y", "'1'", "1", "2.5", "yes", "'yes'", "null", "="]),
    SCALARS.filter(lambda s: "\n" not in s),
)
BLOCKS = st.tuples(st.sampled_from(["|", ">", "|-", ">-", "|+", ">+", "|2", "| # c"]), st.lists(LINES, max_size=3))
PROPERTIES = st.sampled_from(["", "", "", "", "&", "!!str ", "!!map ", "!foo ", "&!!str "])

Tree = tuple[Any, ...]
LEAVES: st.SearchStrategy[Tree] = st.one_of(
    st.tuples(st.just("scalar"), PROPERTIES, SCALARS),
    st.tuples(st.just("alias"), st.integers(0, 3)),
    st.tuples(st.just("block"), BLOCKS),
)


def collections(below: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
    """Leaves and collections of what is given."""
    merged = st.lists(st.integers(0, 3), min_size=1, max_size=3)
    return st.one_of(
        LEAVES,
        st.tuples(st.just("seq"), st.booleans(), PROPERTIES, st.lists(below, max_size=3)),
        st.tuples(st.just("map"), st.booleans(), PROPERTIES, pairs(KEYS, below)),
        st.tuples(st.just("map"), st.booleans(), PROPERTIES, pairs(st.sampled_from(["<<", "a", "b"]), below)),
        st.tuples(st.just("merge"), merged, pairs(KEYS, below)),
    )


def pairs(keys: st.SearchStrategy[str], values: st.SearchStrategy[Tree]) -> st.SearchStrategy[list[tuple[str, Tree]]]:
    return st.lists(st.tuples(keys, values), max_size=4)


TREES = collections(collections(collections(LEAVES)))


class Writer:
    """Writes a tree as YAML: block style as long as it is asked for, flow style inside of flow style."""

    def __init__(self) -> None:
        self.anchors = 0

    def properties(self, properties: str) -> str:
        if properties.startswith("&"):
            self.anchors += 1
            return f"&n{self.anchors} {properties[1:]}"
        return properties

    def alias(self, number: int) -> str:
        return f"*n{number % self.anchors + 1}" if self.anchors else "~"

    def flow(self, tree: Tree) -> str:
        kind = tree[0]
        if kind == "scalar":
            return self.properties(tree[1]) + str(tree[2])
        if kind == "alias":
            return self.alias(tree[1])
        if kind == "block":
            return "'block'"
        if kind == "merge":
            merges = ", ".join(self.alias(number) for number in tree[1])
            return "{<<: [" + merges + "]" + "".join(f", {key}: {self.flow(value)}" for key, value in tree[2]) + "}"
        before = self.properties(tree[2])
        if kind == "seq":
            return before + "[" + ", ".join(self.flow(item) for item in tree[3]) + "]"
        return before + "{" + ", ".join(f"{key}: {self.flow(value)}" for key, value in tree[3]) + "}"

    def below(self, tree: Tree, indent: str) -> str:
        """A node after its key or dash, up to and with its newline."""
        kind = tree[0]
        if kind == "block":
            header, lines = tree[1]
            return f" {header}\n" + "".join(f"{indent}  {line}\n" for line in lines)
        if kind == "merge":
            aliases = [self.alias(number) for number in tree[1]]
            merge = aliases[0] if len(aliases) == 1 else f"[{', '.join(aliases)}]"
            pairs = "".join(f"{indent}  {key}:{self.below(value, indent + '  ')}" for key, value in tree[2])
            return f"\n{indent}  <<: {merge}\n{pairs}"
        if kind in ("seq", "map") and not tree[1] and tree[3]:
            before = self.properties(tree[2])
            if kind == "seq":
                items = "".join(f"{indent}  -{self.below(item, indent + '    ')}" for item in tree[3])
            else:
                items = "".join(f"{indent}  {key}:{self.below(value, indent + '  ')}" for key, value in tree[3])
            return f" {before}\n{items}"
        return f" {self.flow(tree)}\n"

    def document(self, tree: Tree) -> str:
        """A whole document; a block collection at its top is not indented."""
        kind = tree[0]
        if kind == "map" and not tree[1]:
            return "".join(f"{key}:{self.below(value, '')}" for key, value in tree[3])
        if kind == "seq" and not tree[1]:
            return "".join(f"-{self.below(item, '  ')}" for item in tree[3])
        return f"{self.flow(tree)}\n"


TOPS = st.one_of(
    st.tuples(st.just("map"), st.just(False), st.just(""), st.lists(st.tuples(KEYS, TREES), min_size=1, max_size=5)),
    st.tuples(st.just("map"), st.just(False), st.just(""),
              st.lists(st.tuples(st.sampled_from(["p", "q", "r", "s"]), TREES), min_size=2, max_size=5)),
    st.tuples(st.just("seq"), st.just(False), st.just(""), st.lists(TREES, min_size=1, max_size=4)),
    TREES,
)  # fmt: skip


@st.composite
def documents(draw: st.DrawFn) -> str:
    text = Writer().document(draw(TOPS))
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


@st.composite
def broken(draw: st.DrawFn) -> str:
    """A document with a piece cut out or put in, as while typing."""
    text = draw(documents())
    at = draw(st.integers(0, len(text)))
    if draw(st.booleans()):
        return text[:at] + text[at + draw(st.integers(1, 6)) :]
    return (
        text[:at]
        + draw(st.sampled_from([":", "\t", "[", "]", "{", "}", "'", '"', "\n", " ", "- ", "&", "*", "${", "|", "#"]))
        + text[at:]
    )


def bounded(examples: int) -> settings:
    scale = int(os.environ.get("NEMO_RESUMABLE_EXAMPLES", "1"))
    return settings(
        max_examples=examples * scale,
        derandomize=scale == 1,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


@bounded(1500)
@given(documents())
@example("a: 1\na: 2\n")
def test_generated(new: Ask, old: Ask, text: str) -> None:
    check(text, new, old)


@bounded(1200)
@given(broken())
@example("a: [1, 2\nb: 3\n")
def test_generated_and_broken(new: Ask, old: Ask, text: str) -> None:
    check(text, new, old)
