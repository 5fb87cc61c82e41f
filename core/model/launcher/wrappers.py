"""Programs that wrap another: env, srun, mpirun, containers, an interpreter; each takes its own words off the front."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePosixPath

from ...findings import Location
from .around import Around
from .facts import NOTHING, EnvVar, Fact
from .jobs import Job, option, with_option
from .texts import Arg, Text, cut, flat, varying, word

_DOCKER_FLAGS = (
    "--rm -it -ti -i -t -d --privileged --init --detach --interactive --tty --nv --rocm --rw --root --containall"
)
_DOCKER_ALONE = frozenset(f"{_DOCKER_FLAGS} --cleanenv --no-home --writable-tmpfs".split())


def exports(value: Arg) -> list[tuple[str, Arg, Text]]:
    """`--export=ALL,A=1,B=$x`: names with their values."""
    found = []
    position = 0
    for part in flat(value.text).split(","):
        name, sign, text = part.partition("=")
        if sign:
            start = position + len(name) + 1
            found.append((name, value, cut(value.text, start, start + len(text))))
        position += len(part) + 1
    return found


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
    words = after_flags(words, frozenset({"-u", "--unset", "-C", "--chdir"}))
    env = dict(around.env)
    index = 0
    while index < len(words) and (match := re.match(r"([A-Za-z_]\w*)=", flat(words[index].text))):
        value = word(cut(words[index].text, match.end()), words[index].at)
        env[match[1]] = EnvVar(match[1], value, words[index].at)
        index += 1
    return words[index:], replace(around, env=env)


def of_srun(words: list[Arg], around: Around) -> tuple[list[Arg], Around]:
    """`srun … program`: a step of the job, in a container or not."""
    step = around.job or Job(in_job=True)
    env, container = dict(around.env), around.container
    index = 0
    while index < len(words) and flat(words[index].text).startswith("-"):
        flag, value, taken = option(words, index)
        if flag == "--container-image" and value is not None:
            container = value
        elif flag == "--export" and value is not None:
            env = added(env, exports(value))
        elif flag is not None and flag != "--time":
            step = with_option(step, flag, value, words[index].at)
        index += taken
    return words[index:], replace(around, step=step, env=env, container=container, starter=(*around.starter, "srun"))


def of_mpirun(words: list[Arg], around: Around) -> tuple[list[Arg], Around]:
    """`mpirun … program`."""
    values = frozenset(
        {"-np", "-n", "-N", "-H", "--host", "--hostfile", "-x", "--map-by", "--bind-to", "-npernode", "-ppn"}
    )
    return after_flags(words, values), replace(around, starter=(*around.starter, "mpirun"))


def of_container(words: list[Arg], around: Around, name: str) -> tuple[list[Arg], Around]:
    """`docker run … IMAGE cmd`, `singularity exec … IMAGE cmd`. Docker hands on only the variables that it is told."""
    if not words or words[0].known not in ("run", "exec", "start"):
        return [], around
    docker = name in ("docker", "podman", "nerdctl")
    env: dict[str, EnvVar] = {} if docker else dict(around.env)
    folder = around.folder
    index = 1
    while index < len(words) and flat(words[index].text).startswith("-"):
        text = flat(words[index].text)
        flag, sign, _ = text.partition("=")
        value: Arg | None = None
        if sign and flag.startswith("--"):
            value = Arg(cut(words[index].text, len(flag) + 1), words[index].at)
        elif flag not in _DOCKER_ALONE and index + 1 < len(words):
            index += 1
            value = words[index]
        if value is not None and flag in ("-e", "--env"):
            match = re.match(r"([A-Za-z_]\w*)(=?)", flat(value.text))
            if match and match[2]:
                env[match[1]] = EnvVar(match[1], word(cut(value.text, match.end()), value.at), value.at)
            elif match and match[1] in around.env:
                env[match[1]] = around.env[match[1]]
        elif value is not None and flag in ("-w", "--workdir", "--pwd"):
            folder = value.text
        index += 1
    image = words[index] if index < len(words) else None
    around = replace(around, env=env, container=image, folder=folder, starter=(*around.starter, name))
    return words[index + 1 :], around


def of_python(interpreter: Arg, around: Around) -> Around:
    """An interpreter named by a path in an environment selects that environment."""
    path = interpreter.shown
    if "/" in path and not path.startswith(("/usr/bin/", "/bin/")):
        around = replace(around, python=interpreter)
    return replace(around, starter=(*around.starter, "python"))


def processes(value: Arg, at: Location, around: Around) -> Fact:
    """How many processes torchrun starts on a node; `gpu` and `auto` are one a GPU."""
    if value.known in ("gpu", "auto"):
        job = around.step or around.job
        return job.gpus_per_node if job is not None else NOTHING
    return count(value, at)


def count(value: Arg, at: Location) -> Fact:
    """A number on the command line."""
    if (varies := varying(value.text)) is not None:
        return Fact(None, at, varies)
    text = value.known
    return Fact(int(text) if text is not None and text.isdigit() else None, at)
