"""Launchers in Python: what reaches the command, how it is known, and where it stands."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from nemo_resumable.core.findings import Location
from nemo_resumable.core.model.launcher.facts import Launch, Launcher, Override
from nemo_resumable.core.model.launcher.reader import read_launcher
from nemo_resumable.core.text import Source


def read(text: str) -> Launcher:
    return read_launcher(Source.from_text(Path("launch.py"), text))


def only(text: str) -> Launch:
    launcher = read(text)
    assert len(launcher.launches) == 1, launcher.launches
    return launcher.launches[0]


def override(text: str, key: str = "k.a") -> Override:
    return next(each for each in only(text).overrides if each.key == key)


def at(location: Location) -> str:
    return location.source.cut(location.span)


RUN = 'import subprocess\nsubprocess.run(["python", "salm_train.py", "--config-name=c", {}])\n'


@pytest.mark.parametrize(
    ("before", "item", "value", "place"),
    [
        ("", '"k.a=5"', "5", '"k.a=5"'),
        ("", "f'k.a={2 + 3}'", "5", "f'k.a={2 + 3}'"),
        ("A = 5", 'f"k.a={A}"', "5", 'f"k.a={A}"'),
        ("A = 5", '"k.a=" + str(A)', "5", '"k.a="'),
        ("A = 5", '"k.a={}".format(A)', "5", '"k.a={}"'),
        ("A = 5", '"k.a={n}".format(n=A)', "5", '"k.a={n}"'),
        ('A = "x"', 'f"k.a={A.strip()}"', "x", 'f"k.a={A.strip()}"'),
        ("from pathlib import Path\nA = Path('/a') / 'b'", 'f"k.a={A}"', "/a/b", 'f"k.a={A}"'),
        ("import os\nA = os.path.join('/a', 'b')", 'f"k.a={A}"', "/a/b", 'f"k.a={A}"'),
        ("def f(x, y=3):\n    return x + y", 'f"k.a={f(2)}"', "5", 'f"k.a={f(2)}"'),
        ("A = [4, 5]", 'f"k.a={A[1]}"', "5", 'f"k.a={A[1]}"'),
        ("A = {'x': 5}", "f\"k.a={A['x']}\"", "5", "f\"k.a={A['x']}\""),
        ("A = 5 if 1 < 2 else 6", 'f"k.a={A}"', "5", 'f"k.a={A}"'),
        ("A = max(1, 4)", 'f"k.a={A}"', "4", 'f"k.a={A}"'),
        ("O = {'k.a': 5}", '*[f"{k}={v}" for k, v in O.items()]', "5", 'f"{k}={v}"'),
        ("import shlex", '*shlex.split("k.a=5 k.b=6")', "5", '"k.a=5 k.b=6"'),
        ("é = 5", '"k.a=ü"', "ü", '"k.a=ü"'),
        ("", '"k.a={}x".replace("{}", "5")', "5x", None),
        ("", 'r"k.a=\\d"', "\\d", 'r"k.a=\\d"'),
        ("", '"k.a=\\x35"', "5", '"k.a=\\x35"'),
        ("", 'f"k.a={{{5}}}"', "{5}", 'f"k.a={{{5}}}"'),
        ("", '("k.a="\n"5")', "5", 'k.a="\n"5'),
    ],
)
def test_what_is_known(before: str, item: str, value: str, place: str | None) -> None:
    found = override(f"{before}\n" + RUN.format(item))
    assert found.value.text == value
    if place is not None:
        assert at(found.location) == place


@pytest.mark.parametrize(
    ("before", "item", "kind"),
    [
        ("import random", 'f"k.a={random.randint(0, 9)}"', "random"),
        ("from random import randint as draw", 'f"k.a={draw(0, 9)}"', "random"),
        ("import secrets\nA = secrets.randbelow(9)", 'f"k.a={A}"', "random"),
        ("import uuid", 'f"k.a={uuid.uuid4().int % 100}"', "random"),
        ("import time", 'f"k.a={int(time.time())}"', "time"),
        ("import datetime", 'f"k.a={datetime.datetime.now():%H}"', "time"),
        ("import os", "f\"k.a={int.from_bytes(os.urandom(4), 'big')}\"", "random"),
        ("import hashlib, time", 'f"k.a={hashlib.sha256(str(time.time()).encode()).hexdigest()}"', "time"),
        ("import numpy as np", 'f"k.a={np.random.randint(9)}"', "random"),
    ],
)
def test_what_is_drawn(before: str, item: str, kind: str) -> None:
    found = override(f"{before}\n" + RUN.format(item))
    assert found.value.text is None
    assert found.value.varies is not None
    assert found.value.varies.kind == kind


@pytest.mark.parametrize(
    "item",
    ['f"k.a={undefined}"', 'f"k.a={input()}"', "f\"k.a={open('x').read()}\"", '"k.a=" + sys.argv[1]'],
)
def test_what_is_unknown(item: str) -> None:
    found = override("import sys\n" + RUN.format(item))
    assert found.value.text is None
    assert found.value.varies is None
    assert found.value.reason


LOOP = """\
import subprocess
{before}
{loop}:
    {body}
    subprocess.run(["python", "salm_train.py", "--config-name=c", f"k.a={{{value}}}"])
"""


@pytest.mark.parametrize(
    ("before", "loop", "body", "value", "rotates"),
    [
        ("", "for i in range(5)", "pass", "i", True),
        ("", "for s in [1, 2, 3]", "pass", "s", True),
        ("", "for s in [7]", "pass", "s", False),
        ("", "for i in range(5)", "s = 7", "s", False),
        ("", "for i in range(5)", "s = 100 + i", "s", True),
        ("i = 0", "while True", "i += 1", "i", True),
        ("S = [1, 2, 3]", "for i in range(3)", "pass", "S[i]", True),
        ("", "for i in range(5)", "s = 1 if i < 2 else 2", "s", True),
    ],
)
def test_loops_are_chunks(before: str, loop: str, body: str, value: str, rotates: bool) -> None:
    text = LOOP.format(before=before, loop=loop, body=body, value=value)
    found = override(text)
    assert (found.value.varies is not None) is rotates
    assert only(text).chain.chained is ("[7]" not in loop)


def test_a_loop_that_only_builds_the_command_is_no_chain() -> None:
    text = (
        "import subprocess\nO = {'k.a': 1, 'k.b': 2}\ncommand = ['python', 'salm_train.py', '--config-name=c']\n"
        "for key, value in O.items():\n    command.append(f'{key}={value}')\nsubprocess.run(command)\n"
    )
    launch = only(text)
    assert {each.key: each.value.text for each in launch.overrides} == {"k.a": "1", "k.b": "2"}
    assert not launch.chain.chained


@pytest.mark.parametrize(
    "call",
    [
        'subprocess.run("python salm_train.py --config-name=c k.a=5", shell=True)',
        'os.system("python salm_train.py --config-name=c k.a=5")',
        'subprocess.Popen(["bash", "-c", "python salm_train.py --config-name=c k.a=5"])',
        'subprocess.run(["sbatch", "--wrap=python salm_train.py --config-name=c k.a=5"])',
        'subprocess.run(["sbatch"], input="#!/bin/bash\\n#SBATCH -N 2\\npython salm_train.py --config-name=c k.a=5\\n", text=True)',
        'subprocess.run(shlex.join(["python", "salm_train.py", "--config-name=c", "k.a=5"]), shell=True)',
        'os.execvp("python", ["python", "salm_train.py", "--config-name=c", "k.a=5"])',
    ],
)
def test_ways_to_start(call: str) -> None:
    assert override(f"import os, shlex, subprocess\n{call}\n").value.text == "5"


def test_variables_that_reach_training() -> None:
    text = (
        "import os, subprocess\nos.environ['A'] = '1'\nenv = dict(os.environ)\nenv['B'] = '2'\nenv.update(C='3')\n"
        'subprocess.run(["python", "salm_train.py", "--config-name=c"], env={**env, "D": "4"})\n'
    )
    found = {name: variable.value.text for name, variable in only(text).env.items()}
    assert found == {"A": "1", "B": "2", "C": "3", "D": "4"}


def test_only_what_is_called_starts_anything() -> None:
    body = '    subprocess.run(["python", "salm_train.py", "--config-name=c"])\n'
    assert not read(f"import subprocess\ndef main():\n{body}").launches
    assert read(f"import subprocess\ndef main():\n{body}if __name__ == '__main__':\n    main()\n").launches
    assert not read(f"import subprocess\nDEBUG = False\nif DEBUG:\n{body}").launches


def test_nemo_run() -> None:
    text = (
        "import nemo_run as run\n"
        "executor = run.SlurmExecutor(nodes=2, ntasks_per_node=8, time='04:00:00', container_image='/i.sqsh',\n"
        "    env_vars={'AIS_ENDPOINT': 'http://store'})\n"
        "script = run.Script('salm_train.py', args=['--config-name=c', 'k.a=5'])\n"
        "with run.Experiment('x') as exp:\n    exp.add(script, executor=executor)\n"
    )
    launch = only(text)
    assert (launch.nodes.value, launch.ranks_per_node.value) == (2, 8)
    assert launch.walltime is not None
    assert launch.walltime.seconds == 14400
    assert launch.container is not None
    assert launch.env["AIS_ENDPOINT"].value.text == "http://store"
    assert launch.overrides[0].value.text == "5"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n\n",
        "def (:\n",
        "\0",
        "x = " + "(" * 5000,
        "x = " + "[" * 300 + "]" * 300,
        "def f():\n    return f()\nf()\n",
        "def f(n):\n    f(n + 1)\n    f(n + 2)\nf(0)\n",
        "while True:\n    x = 1\n",
        "x = 'a' * 10 ** 12\n",
        "x = 9 ** 9 ** 9 ** 9\n",
        "x = 1\n" * 30_000,
        "x = []\nfor i in range(10 ** 9):\n    x = x + x + [1]\n",
        "import subprocess\nsubprocess.run()\nsubprocess.run(None)\nsubprocess.run([None, 1, [2]])\n",
        "x: int\nlambda: (yield)\n",
        "class A:\n    def f(self):\n        return self.f()\nA().f()\n",
        "f'{'\n",
        "x = f'{f\"{1}\"}{{'\n",
        "\ufeffprint('é' '\U0001f600')\n",
        "a = b = c = a\nb[a] = c\na.b.c = 1\n(a, b), *c = 1, 2\n",
        "def f(x):\n    for a in [1, 2]:\n        for b in [1, 2]:\n            for c in [1, 2]:\n                f(x)\nf(1)\n",
    ],
    ids=range(21),
)
def test_hostile_scripts_are_read_in_no_time(text: str) -> None:
    start = time.process_time()
    launcher = read(text)
    assert launcher.kind == "python"
    assert time.process_time() - start < 5
