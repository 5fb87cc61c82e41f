"""Programs that wrap another: env, srun, mpirun, containers, an interpreter; each takes its own words off the front."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import PurePosixPath

from ...findings import Location
from .around import Around
from .facts import NOTHING, EnvVar, Fact, Mount
from .jobs import Job, at_option, option, with_option
from .texts import Arg, Text, cut, fixed, flat, varying, word

#: Programs that run another one in an environment of Python.
RUNNERS = frozenset({"uv", "poetry", "pixi", "pdm", "pipenv", "hatch", "conda", "mamba", "micromamba"})
_VALUES = "-n --name -p --prefix --cwd -e --env --project --directory --with --python --extra --group --package --index"
_RUNNER_VALUES = frozenset(_VALUES.split())


def pairs(text: Text) -> list[tuple[str, Text]]:
    """`A=1,B=$x`: names with their values; a name alone is left out."""
    found = []
    position = 0
    for part in flat(text).split(","):
        name, sign, value = part.partition("=")
        if sign:
            start = position + len(name) + 1
            found.append((name, cut(text, start, start + len(value))))
        position += len(part) + 1
    return found


def exports(value: Arg) -> list[tuple[str, Arg, Text]]:
    """`--export=ALL,A=1,B=$x`: names with their values."""
    return [(name, value, text) for name, text in pairs(value.text)]


def exported_by(value: Arg, env: Mapping[str, EnvVar]) -> dict[str, EnvVar]:
    """What `--export` lets through: everything with ALL, nothing with NONE, else the names that are listed."""
    names = flat(value.text).split(",")
    if "ALL" not in names and is_open(value) is False:
        env = {name: found for name, found in env.items() if name in names}
    return added(env, exports(value))


def is_open(arg: Arg) -> bool:
    """Whether nothing is known of a word, so that it may stand for any words or none."""
    return bool(arg.text) and all(piece.text is None for piece in arg.text)


def mounted(value: Arg) -> Iterator[Mount]:
    """The mounts in `/a:/b:ro,/c` and `type=bind,source=/a,target=/b`."""
    text = flat(value.text)
    if "target=" in text or "dst=" in text:
        named = dict(pairs(value.text))
        source = named.get("source") or named.get("src")
        target = named.get("target") or named.get("dst") or named.get("destination")
        if source is not None and target is not None:
            yield Mount(word(source, value.at), word(target, value.at))
        return
    position = 0
    for part in text.split(","):
        fields = part.split(":")
        if part:
            first = cut(value.text, position, position + len(fields[0]))
            second = first
            if len(fields) > 1 and fields[1]:
                start = position + len(fields[0]) + 1
                second = cut(value.text, start, start + len(fields[1]))
            yield Mount(word(first, value.at), word(second, value.at))
        position += len(part) + 1


def added(env: Mapping[str, EnvVar], handed: list[tuple[str, Arg, Text]]) -> dict[str, EnvVar]:
    """An environment with what is handed over on top."""
    return {**env, **{name: EnvVar(name, word(text, arg.at), arg.at) for name, arg, text in handed}}


def base(arg: Arg) -> str:
    """The last part of a program's path."""
    return PurePosixPath(flat(arg.text)).name


def after_flags(words: list[Arg], with_value: frozenset[str]) -> list[Arg]:
    """The words behind the flags in front."""
    index = 0
    while index < len(words) and flat(words[index].text).startswith("-") and len(flat(words[index].text)) > 1:
        index += 2 if flat(words[index].text) in with_value else 1
    return words[index:]


def with_env(words: list[Arg], around: Around) -> tuple[list[Arg], Around]:
    """`env A=1 program …`."""
    env = dict(around.env)
    index = 0
    while index < len(words):
        text = flat(words[index].text)
        if text in ("-i", "-", "--ignore-environment"):
            env = {}
        elif text in ("-u", "--unset") and index + 1 < len(words):
            index += 1
            env.pop(flat(words[index].text), None)
        elif text.startswith("--unset="):
            env.pop(text.removeprefix("--unset="), None)
        elif text in ("-C", "--chdir", "-S"):
            index += text != "-S"
        elif match := re.match(r"([A-Za-z_]\w*)=", text):
            value = word(cut(words[index].text, match.end()), words[index].at)
            env[match[1]] = EnvVar(match[1], value, words[index].at)
        elif not text.startswith("-"):
            break
        index += 1
    return words[index:], replace(around, env=env)


def of_srun(words: list[Arg], around: Around) -> tuple[list[Arg], Around]:
    """`srun … program`: a step of the job, in a container or not."""
    step = around.job or Job()
    env, container, mounts = dict(around.env), around.container, list(around.mounts)
    stated: set[str] = set()
    index = 0
    while index < len(words) and (
        flat(words[index].text).startswith("-") or (is_open(words[index]) and index + 1 < len(words))
    ):
        flag, value, taken = option(words, index)
        if flag == "--container-image" and value is not None:
            container = value
        elif flag == "--container-mounts" and value is not None:
            mounts += mounted(value)
        elif flag == "--export" and value is not None:
            env = exported_by(value, env)
        elif flag is not None and flag != "--time":
            stated.add(flag)
            step = with_option(step, flag, value, at_option(words, index, taken))
        index += taken
    if "--ntasks" in stated and "--ntasks-per-node" not in stated:
        step = replace(step, tasks_per_node=NOTHING)  # the step's own count of tasks, and not the header's
    around = replace(
        around, step=step, env=env, container=container, mounts=tuple(mounts), starter=(*around.starter, "srun")
    )
    return words[index:], around


def of_mpirun(words: list[Arg], around: Around) -> tuple[list[Arg], Around]:
    """`mpirun … program`."""
    values = frozenset(
        {"-np", "-n", "-N", "-H", "--host", "--hostfile", "-x", "--map-by", "--bind-to", "-npernode", "-ppn"}
    )
    return after_flags(words, values), replace(around, starter=(*around.starter, "mpirun"))


def of_python(interpreter: Arg, around: Around) -> Around:
    """An interpreter named by a path in an environment selects that environment; so does a `PATH` that begins with one."""
    path = interpreter.shown
    if "/" in path:
        if not path.startswith(("/usr/bin/", "/bin/", "/usr/local/bin/")):
            around = replace(around, python=interpreter)
    elif around.python is None and (variable := around.env.get("PATH")) is not None and variable.reaches:
        first = (variable.value.text or variable.value.shown).split(":", 1)[0]
        if re.fullmatch(r".*env.*/bin|.*conda.*/bin", first):
            around = replace(around, python=Arg(fixed(first, variable.location), variable.location))
    return replace(around, starter=(*around.starter, "python"))


def of_runner(words: list[Arg], around: Around, name: Arg) -> tuple[list[Arg], Around]:
    """`uv run program`, `conda run -n env program`."""
    index = next((i for i, arg in enumerate(words) if arg.known == "run"), None)
    if index is None:
        return [], around
    around = replace(around, python=name, starter=(*around.starter, base(name)))
    return after_flags(words[index + 1 :], _RUNNER_VALUES), around


def processes(value: Arg, at: Location, around: Around) -> Fact:
    """How many processes torchrun starts on a node; `gpu` and `auto` are one a GPU."""
    if value.known in ("gpu", "auto"):
        job = around.step or around.job
        return job.node_gpus if job is not None else NOTHING
    return count(value, at)


def count(value: Arg, at: Location) -> Fact:
    """A number on the command line."""
    if (varies := varying(value.text)) is not None:
        return Fact(None, at, varies)
    text = value.known
    return Fact(int(text) if text is not None and text.isdigit() else None, at)
