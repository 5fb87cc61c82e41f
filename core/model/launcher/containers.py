"""Containers: docker, singularity, enroot and Slurm's own, with what they show of the machine and which variables they take."""

from __future__ import annotations

import re
from dataclasses import replace

from .around import Around
from .facts import EnvVar
from .texts import Arg, cut, flat, word
from .wrappers import is_open, mounted, pairs

CONTAINERS = frozenset({"docker", "podman", "nerdctl", "singularity", "apptainer", "enroot"})
_DOCKERS = frozenset({"docker", "podman", "nerdctl"})
_FLAGS = """
--rm -it -ti -i -t -d --privileged --init --detach --interactive --tty --no-healthcheck --read-only -P --publish-all --quiet
--oom-kill-disable --sig-proxy -q --tls --nv --rocm --rw --root --containall -c -C --cleanenv --no-home --writable-tmpfs
--writable -w --fakeroot -f --userns -u --contain --ipc --pid --uts --net --no-init --nvccli --compat --no-privs --keep-privs
"""
_ALONE = frozenset(_FLAGS.split())
#: Of those above, the flags that take a value with docker.
_WITH_VALUE = frozenset({"-w", "-u", "-c", "--ipc", "--pid", "--uts", "--net", "--userns", "-f", "-C"})


def of_container(words: list[Arg], around: Around, name: str) -> tuple[list[Arg], Around]:
    """`docker run … IMAGE cmd`, `singularity exec … IMAGE cmd`. Docker hands on only the variables that it is told."""
    docker = name in _DOCKERS
    index = next((i for i, arg in enumerate(words) if arg.known in ("run", "exec", "start", "shell")), None)
    if index is None:
        return [], around
    env: dict[str, EnvVar] = {} if docker else _handed_in(around)
    folder, mounts = around.folder, list(around.mounts)
    index += 1
    while index < len(words) and (flat(words[index].text).startswith("-") or _skipped(words, index)):
        flag, sign, _ = flat(words[index].text).partition("=")
        value: Arg | None = None
        if sign and flag.startswith("--"):
            value = Arg(cut(words[index].text, len(flag) + 1), words[index].at)
        elif (
            flag.startswith("-") and (flag not in _ALONE or (docker and flag in _WITH_VALUE)) and index + 1 < len(words)
        ):
            index += 1
            value = words[index]
        elif not docker and flag in ("-c", "--cleanenv", "-e", "--containall", "-C"):
            env = {each: found for each, found in env.items() if each not in around.env or _prefixed(each)}
        if value is not None and flag in ("-e", "--env"):
            _take(env, value, around, several=not docker)
        elif value is not None and flag in ("-w", "--workdir", "--pwd"):
            folder = value.text
        elif value is not None and flag in ("-v", "--volume", "-B", "--bind", "--mount", "-m"):
            mounts += mounted(value)
        index += 1
    image = words[index] if index < len(words) else None
    around = replace(
        around, env=env, container=image, folder=folder, mounts=tuple(mounts), starter=(*around.starter, name)
    )
    return words[index + 1 :], around


def _skipped(words: list[Arg], index: int) -> bool:
    """Whether a word stands for flags that are not known: what follows it goes on."""
    return is_open(words[index]) and index + 2 < len(words)


def _prefixed(name: str) -> bool:
    return name.startswith(("SINGULARITYENV_", "APPTAINERENV_"))


def _handed_in(around: Around) -> dict[str, EnvVar]:
    """The variables inside singularity: all of outside, and those that are meant for inside."""
    env = dict(around.env)
    for name, variable in around.env.items():
        if _prefixed(name):
            inner = name.split("_", 1)[1]
            env[inner] = replace(variable, name=inner)
    return env


def _take(env: dict[str, EnvVar], value: Arg, around: Around, *, several: bool) -> None:
    """`-e A=1`, `-e A` for the value outside, and singularity's `--env A=1,B=2`."""
    if not several:
        match = re.match(r"([A-Za-z_]\w*)(=?)", flat(value.text))
        if match and match[2]:
            env[match[1]] = EnvVar(match[1], word(cut(value.text, match.end()), value.at), value.at)
        elif match and match[1] in around.env:
            env[match[1]] = around.env[match[1]]
        return
    for name, text in pairs(value.text):
        env[name] = EnvVar(name, word(text, value.at), value.at)
