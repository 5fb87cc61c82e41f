"""Launchers that are broken, huge, endless or no scripts at all: read in bounded time, never an exception."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nemo_resumable.core.model.launcher.facts import Launcher
from nemo_resumable.core.model.launcher.reader import read_launcher
from nemo_resumable.core.text import Source

TRAIN = "srun python salm_train.py --config-name=salm"
SECONDS = 30.0  #: of the processor: what any takes here several times over; it is there to catch what does not end


def read(text: str, name: str = "run.sh") -> Launcher:
    begin = time.process_time()
    launcher = read_launcher(Source.from_text(Path("/project") / name, text))
    assert time.process_time() - begin < SECONDS
    for launch in launcher.launches:
        assert 0 <= launch.location.span.start <= launch.location.span.end <= len(text)
        for override in launch.overrides:
            assert override.location.span.end <= len(override.location.source.text)
    return launcher


HOSTILE = {
    "empty": "",
    "blank": " \n\t\n",
    "only a shebang": "#!/bin/bash",
    "nul bytes": "\0\0\0srun python salm_train.py\0",
    "private characters": f"\ue000 {TRAIN} k.a=\ue000\ue001$X\n",
    "unterminated single quote": f"{TRAIN} k.a='x\n",
    "unterminated double quote": f'{TRAIN} k.a="x $Y\n',
    "unterminated here-document": f"cat <<EOF\n{TRAIN}\n",
    "unterminated substitution": f"A=$(echo $(date\n{TRAIN}\n",
    "unterminated braces": f"{TRAIN} k.a=${{A:-${{B:-${{C\n",
    "stray ends": f"fi\ndone\nesac\n}}\n)\n{TRAIN}\n",
    "while true": f"while true; do {TRAIN}; done",
    "while true inside": f"while true; do A=$((A + 1)); done\n{TRAIN} k.a=$A",
    "until false": "until false; do :; done",
    "for ever": f"for ((;;)); do {TRAIN} k.a=$i; done",
    "many turns": f"for ((i = 0; i < 1000000000; i++)); do A+=x; done\n{TRAIN} k.a=$A",
    "seq of a billion": f"for i in $(seq 1 1000000000); do {TRAIN} k.a=$i; done",
    "braces of a billion": f"for i in {{1..1000000000}}; do {TRAIN} k.a=$i; done",
    "recursion": f"f() {{ f; f; }}\nf\n{TRAIN}",
    "recursion by two": f"f() {{ g; g; }}\ng() {{ f; f; }}\nf\n{TRAIN}",
    "recursion in a substitution": f"f() {{ A=$(f)$(f); echo $A; }}\nB=$(f)\n{TRAIN} k.a=$B",
    "a fork bomb": ":(){ :|:& };:",
    "doubling text": "A=xxxxxxxxxx\n" + "A=$A$A\n" * 60 + f"{TRAIN} k.a=$A",
    "doubling arrays": "A=(x y)\n" + 'A+=("${A[@]}")\n' * 40 + f'{TRAIN} "${{A[@]}}"',
    "doubling scripts": "A='echo x; '\n" + "A=$A$A\n" * 30 + 'bash -c "$A"',
    "a script that runs itself": 'A=\'bash -c "$A"\'\nexport A\nbash -c "$A"',
    "powers": f"{TRAIN} k.a=$((9 ** 9 ** 9 ** 9)) k.b=$((1 << 1 << 60))",
    "deep arithmetic": f"{TRAIN} k.a=$((" + "(" * 3000 + "1" + ")" * 3000 + "))",
    "deep parentheses": "(" * 3000 + TRAIN + ")" * 3000,
    "deep blocks": "if true; then " * 1500 + TRAIN + "; fi" * 1500,
    "deep substitutions": "A=" + "$(echo " * 800 + "x" + ")" * 800 + f"\n{TRAIN} k.a=$A",
    "deep quotes": f"{TRAIN} k.a=" + '"$(echo ' * 500 + "x" + ')"' * 500,
    "deep defaults": f"{TRAIN} k.a=" + "${A:-" * 1500 + "x" + "}" * 1500,
    "long list": " && ".join(["true"] * 20_000),
    "long pipe": " | ".join(["cat"] * 5_000),
    "nested unknown conditions": "if $X; then A=1; else A=2; fi\n" * 500 + f"{TRAIN} k.a=$A",
    "nested loops": "for a in 1 2 3; do " * 12 + TRAIN + "; done" * 12,
    "loops that turn": "for a in 1 2 3 4 5 6 7 8 9; do " * 12 + ":" + "; done" * 12,
    "a pattern that runs away": f"A={'a' * 400}\ncase $A in {'*a' * 60}b) :;; esac\nB=${{A%%{'*a' * 40}b}}\n{TRAIN} k.a=$B",
    "a regular expression that runs away": f"[[ {'a' * 60} =~ ^(a+)+$ ]] && {TRAIN}",
    "many words": f"{TRAIN} " + " ".join(f"k.a{i}=$X" for i in range(5_000)),
    "printf of a huge width": f"printf -v A '%0999999999d' 1\n{TRAIN} k.a=$A",
    "odd headers": "#SBATCH\n#SBATCH -N\n#SBATCH --nodes=\n#SBATCH --time=::\n#SBATCH -t 99999999999999999999\n"
    "#SBATCH --nodes=99999999999999999999999\n#SBATCH --array=%1\n#SBATCH --gres=gpu:\n" + TRAIN,
    "a job of no nodes": f"#SBATCH -N 0\n#SBATCH -n 8\n#SBATCH --gpus=8\n{TRAIN} trainer.num_nodes=$SLURM_NNODES",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_shell(name: str) -> None:
    read(HOSTILE[name])


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_shell_with_the_lines_of_windows(name: str) -> None:
    read(HOSTILE[name].replace("\n", "\r\n"), "run.sbatch")


def test_a_large_script() -> None:
    """A megabyte that a program wrote: what comes first is read, and the rest said not to be."""
    line = 'A=$((A + 1)); echo "$A of many" >> log; [ -e x ] && B=$A\n'
    launcher = read(f"{TRAIN} k.a=1\n" + line * (2**20 // len(line) - 1))
    assert [override.value.text for override in launcher.launches[0].overrides] == ["1"]


def test_a_larger_script_is_no_launcher() -> None:
    launcher = read("echo x\n" * 2**18)
    assert launcher.launches == ()
    assert len(launcher.gaps) == 1


def test_bytes_that_are_text_by_chance() -> None:
    numbers = random.Random(7)
    for _ in range(60):
        read("".join(chr(numbers.choice((9, 10, *range(32, 127), 0x20AC, 0x1F600))) for _ in range(400)))


#: What shell scripts are made of, so that chance puts it together.
_PARTS = (
    *(
        "$",
        "${",
        "}",
        "$(",
        ")",
        "((",
        "))",
        "[[",
        "]]",
        "[",
        "]",
        '"',
        "'",
        "`",
        "\\",
        "\n",
        ";",
        "|",
        "&&",
        "||",
        "&",
    ),
    *("if ", "then ", "else ", "fi", "for x in ", "do ", "done", "while ", "case ", "esac", ";;", "f() {", "<<EOF\n"),
    *("EOF\n", "A", "=", "1", " ", "#SBATCH ", "--nodes=2", "srun ", "python ", "salm_train.py ", "k.a=", "bash -c "),
    *("sbatch ", "export ", "local ", ":-", "%%", "@", "{1..3}", "$((", "eval ", "read ", "~", "\r\n", "é", "trap "),
)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.lists(st.sampled_from(_PARTS), max_size=60))
def test_scripts_by_chance(parts: list[str]) -> None:
    read("".join(parts))
