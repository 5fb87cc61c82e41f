"""The unified diff: what `patch` makes of it is the new text, and it stays quick on long lists."""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nemo_resumable.core.text import Source
from nemo_resumable.hooks.output.diff import unified

TEXTS = st.lists(st.sampled_from(["a\n", "b\n", "- x: 1\n", "  y: 2\r\n", "z\x0c\u2028\n", "end"]), max_size=25).map(
    "".join
)


def diff(old: str, new: str, *, color: bool = False) -> str:
    path = Path("conf.yaml")
    return unified(Source.from_text(path, old), Source.from_text(path, new), "conf.yaml", color)


def patched(old: str, text: str) -> str:
    """The old text with a diff applied, as its format says."""
    lines = re.findall(r"[^\n]*\n|[^\n]+", old)
    result: list[str] = []
    done = 0
    body = re.findall(r"[^\n]*\n", text)[2:]
    while body:
        start, length = re.match(r"@@ -(\d+)(?:,(\d+))? ", body.pop(0)).groups()  # type: ignore[union-attr]
        first = int(start) - (length != "0")
        result += lines[done:first]
        done = first
        while body and not body[0].startswith("@@"):
            kind, line = body[0][0], body.pop(0)[1:]
            if body and body[0].startswith("\\"):
                body.pop(0)
                line = line.removesuffix("\n")
            if kind in " -":
                assert lines[done] == line
                done += 1
            if kind in " +":
                result.append(line)
    return "".join([*result, *lines[done:]])


@given(TEXTS, TEXTS)
@settings(max_examples=300)
def test_applied_it_gives_the_new_text(old: str, new: str) -> None:
    text = diff(old, new)
    assert patched(old, text) == new if text else old == new


@pytest.mark.skipif(shutil.which("patch") is None, reason="there is no `patch` here")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a\nb\nc\n", "a\nB\nc\n"),
        ("", "a\n"),
        ("a\nb", "a\nb\nc"),
        ("\ufeffa\r\nb\r\n", "\ufeffa\r\nB\r\n"),
        ("a\x0cb\u2028c\nd\n", "a\x0cb\u2028c\nD\n"),
        ("".join(f"{n}\n" for n in range(50)), "".join(f"{n}\n" for n in range(50) if n not in (3, 5, 40)) + "x"),
    ],
)
def test_patch_takes_it(tmp_path: Path, old: str, new: str) -> None:
    (tmp_path / "conf.yaml").write_bytes(old.encode())
    subprocess.run(["patch", "--binary", "-s", "-p0"], input=diff(old, new).encode(), cwd=tmp_path, check=True)
    assert (tmp_path / "conf.yaml").read_bytes() == new.encode()


def test_whole() -> None:
    old = "data:\n  train_ds:\n    seed: x # ü\n    a: 1\n    shard_seed: y\n" + "    b: 2\n" * 9
    new = old.replace("x #", "42 #").replace("y\n", "42\n") + "    indexed: true\n"
    assert diff(old, new) == (
        "--- conf.yaml\n+++ conf.yaml\n"
        "@@ -1,8 +1,8 @@\n data:\n   train_ds:\n-    seed: x # ü\n+    seed: 42 # ü\n     a: 1\n"
        "-    shard_seed: y\n+    shard_seed: 42\n     b: 2\n     b: 2\n     b: 2\n"
        "@@ -12,3 +12,4 @@\n     b: 2\n     b: 2\n     b: 2\n+    indexed: true\n"
    )


def test_colours() -> None:
    text = diff("a\nb\n", "a\nc\n", color=True)
    assert "\x1b[31m-b\x1b[0m\n\x1b[32m+c\x1b[0m\n" in text
    assert re.sub(r"\x1b\[[\d;]*m", "", text) == diff("a\nb\n", "a\nc\n")


def test_nothing_changed() -> None:
    assert diff("a\n", "a\n") == ""


def test_a_long_list_takes_time_in_proportion() -> None:
    def seconds(entries: int) -> float:
        old = "".join(f"- type: nemo\n  path: {n}\n  weight: 1\n" for n in range(entries))
        new = re.sub(r"(?m)^- type: nemo\n  path: (\d*5)\n", r"# \g<0># ", old)
        start = time.process_time()
        assert diff(old, new)
        return time.process_time() - start

    seconds(100)
    assert seconds(16_000) < 16 * max(seconds(2_000), 0.01)


def test_a_text_of_which_nothing_is_left() -> None:
    old = "".join(f"old {n}\n" for n in range(1000))
    new = "".join(f"new {n}\n" for n in range(1000))
    assert patched(old, diff(old, new)) == new
