"""Texts that a fuzzer found to crash or to stall, each with its kind: numbers, patterns, line ends, messages."""

from __future__ import annotations

from pathlib import Path

import pytest
from nemo_resumable.core.analysis import Analysis, analyze
from nemo_resumable.core.model import paths
from nemo_resumable.core.model.launcher.reader import read_launcher
from nemo_resumable.core.project import Project
from nemo_resumable.core.settings import Settings
from nemo_resumable.core.syntax.nodes import Mapping, Scalar
from nemo_resumable.core.syntax.reader import read
from nemo_resumable.core.text import Source

CONFIG = """\
data:
  train_ds:
    indexed: true
    seed: 42
    shard_seed: 42
    num_workers: 2
    batch_size: 4
    input_cfg:
      - type: nemo_tarred
        manifest_filepath: /data/m__OP_0..1_CL_.json
        tarred_audio_filepaths: /data/a__OP_0..1_CL_.tar
"""


def judged(text: str) -> Analysis:
    file = Path("/project/conf.yaml")
    return analyze(Project(Settings(root=Path("/project")), Path("/project"), overlays={file: text}), [file])


ENORMOUS = {
    "decimal": "9" * 5000,
    "octal": "0" + "7" * 9000,
    "hexadecimal": "0x" + "F" * 9000,
    "binary": "0b" + "1" * 90_000,
    "with underscores": "1_0" * 5000,
    "sexagesimal": "1" + ":59" * 3000,
    "a float, sexagesimal": "1" + ":59" * 3000 + ".5",
    "a float": "1e" + "9" * 5000,
    "tagged": "!!int " + "9" * 5000,
}


@pytest.mark.parametrize("written", ENORMOUS.values(), ids=ENORMOUS)
@pytest.mark.parametrize("key", ["seed", "shard_seed", "num_workers", "batch_size"])
def test_numbers_that_python_does_not_print(key: str, written: str) -> None:
    text = "".join(f"    {key}: {written}\n" if f" {key}:" in f" {line}" else line for line in CONFIG.splitlines(True))
    assert judged(text).configs[0].readiness == "not-launch-ready"


def test_a_number_of_many_digits_is_still_a_number() -> None:
    root = read(Source.from_text(Path("a.yaml"), f"a: {'9' * 1000}\n")).root
    assert isinstance(root, Mapping)
    value = root.pairs[0].value
    assert isinstance(value, Scalar)
    assert value.value == int("9" * 1000)


PATTERNS = {
    "many groups": "{0..1}" * 5000,
    "many nested": "{a," * 5000 + "b" + "}" * 5000,
    "many opened": "{" * 50_000,
    "many closed": "}" * 50_000,
    "many brackets": "(" * 50_000,
    "many markers": "_OP_0..1_CL_" * 3000,
    "a range beyond the machine": f"m_{{0..{10**30}}}.json",
    "a range of long numbers": f"m_{{0..{'9' * 5000}}}.json",
    "a step beyond the machine": f"m_{{0..5..{'9' * 5000}}}.json",
    "digits of another script": "m_{٠..٩}.json",
}


@pytest.mark.parametrize("pattern", PATTERNS.values(), ids=PATTERNS)
def test_patterns_that_nobody_means(pattern: str) -> None:
    """They stand for something, found without following them to their end."""
    assert paths.count(pattern) >= 1
    assert next(paths.expand(pattern)) == paths.first(pattern)
    assert paths.last(pattern)
    text = CONFIG.replace("/data/m__OP_0..1_CL_.json", f'"{pattern}"')
    assert judged(text).configs


def test_a_long_list_of_shards_is_followed() -> None:
    pattern = "/data/{" + ",".join(map(str, range(5000))) + "}/a_{0..9}.tar"
    assert paths.count(pattern) == 50_000
    assert paths.last(pattern) == "/data/4999/a_9.tar"


@pytest.mark.parametrize("end", ["\r", "\n", "\r\n", "\n\r", "\x0c\n"])
def test_line_ends_of_python(end: str) -> None:
    """A lone carriage return ends a line of Python; what stands below is where it is."""
    lines = [
        "import subprocess",
        "# é 😀",
        'subprocess.run(["python", "salm_train.py", "--config-name", "conf", "a=1"])',
        "",
    ]
    text = end.join(lines)
    (launch,) = read_launcher(Source.from_text(Path("/project/run.py"), text)).launches
    (override,) = launch.overrides
    assert override.location.source.cut(override.location.span) == '"a=1"'


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_text_that_could_not_be_read_as_a_config(end: str) -> None:
    """Whether it is meant as one is found in a time that grows with the text: with the lines of Windows, too."""
    blanks = "data:\n" + "  a: 1\n  \t\n\n" * 3000 + "x: [\n"
    assert judged(blanks.replace("\n", end)).findings == ()
    assert judged(("train_ds:" + " " * 50_000 + "\n" + "\n" * 50_000 + ": [\n").replace("\n", end)).findings == ()
    named = CONFIG + "  - ]\n\tx: [\n"
    if end != "\r":
        assert {finding.code for finding in judged(named.replace("\n", end)).findings} >= {"NR001"}


@pytest.mark.parametrize("key", ["shar_path", "manifest_filepath", "cuts_path", "paths", "index_pack", "input_cfg"])
@pytest.mark.parametrize("value", ['"a\\0b"', '"\\0"', '"' + "x" * 5000 + '"', '"~\\0/a"', '"s3://\\0"', '"a\\ud83d"'])
def test_paths_that_no_file_can_have(key: str, value: str) -> None:
    for kind in ("lhotse_shar", "nemo", "nemo_tarred", "lhotse", "group", "txt"):
        assert judged(
            CONFIG[: CONFIG.index("      - type")] + f"      - type: {kind}\n        {key}: {value}\n"
        ).configs


@pytest.mark.parametrize(
    "bomb",
    [
        "".join(f"v{n}: ${{v{n + 1}}}${{v{n + 1}}}${{v{n + 1}}}\n" for n in range(60)) + "v60: x\n",
        "".join(f"v{n}: [{', '.join([f'${{v{n + 1}}}'] * 9)}]\n" for n in range(60)) + "v60: x\n",
        "v0: '" + "${v1}" * 2000 + "'\nv1: '" + "${v2}" * 2000 + "'\nv2: '" + "${v3}" * 2000 + f"'\nv3: {'x' * 2000}\n",
        "v9: &v9 {k: 1}\n"
        + "".join(f"v{n}: &v{n} {{{', '.join(f'k{i}: *v{n - 1}' for i in range(9))}}}\n" for n in range(10, 90))
        + "v0: *v89\n",
    ],
    ids=["strings", "lists", "wide strings", "aliases"],
)
def test_values_that_stand_for_more_than_memory_holds(bomb: str) -> None:
    """Nothing is said of them but that they are not followed."""
    keys = ("seed", "num_workers", "batch_size", "indexed", "shuffle", "bucket_duration_bins")
    text = bomb + CONFIG + "".join(f"    {key}_x: ${{v0}}\n" for key in keys)
    for key in keys[:4]:
        text = text.replace(
            f"    {key}: {'true' if key == 'indexed' else {'seed': 42, 'num_workers': 2, 'batch_size': 4}[key]}\n",
            f"    {key}: ${{v0}}\n",
        )
    assert "NR110" not in {finding.code for finding in judged(text).findings}


@pytest.mark.parametrize("value", ["|\n      - a: 1\n        b: 2\n", '"a\\nb"', "a" * 3000])
def test_messages_stay_one_line(value: str) -> None:
    text = CONFIG[: CONFIG.index("    input_cfg")] + f"    input_cfg: {value}"
    messages = [finding.message for finding in judged(text).findings]
    assert any("is not read" in message or "not" in message for message in messages)
    for message in messages:
        assert message.isprintable()
        assert len(message) < 1000
