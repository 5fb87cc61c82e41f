"""Command lines taken apart: what wraps a program (srun, torchrun, containers, shells), down to the training command."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import PurePosixPath

from .around import Around
from .containers import CONTAINERS, of_container
from .facts import Fact
from .jobs import Job, at_option, option, with_option
from .programs import build_of, is_training, launch_of
from .recording import Recorder
from .staging import copy_of, of_ssh
from .texts import Arg, Text, cut, flat
from .wrappers import (
    RUNNERS,
    added,
    after_flags,
    base,
    count,
    exported_by,
    exports,
    is_open,
    of_mpirun,
    of_python,
    of_runner,
    of_srun,
    processes,
    with_env,
)

#: Words in front of a command that change nothing of what is looked at, with how many words of theirs follow.
_PREFIXES = {
    **dict.fromkeys(("exec", "command", "builtin", "time", "nohup", "sudo", "setsid", "stdbuf", "nice", "ionice"), 0),
    **dict.fromkeys(("unbuffer", "numactl", "catchsegv", "chrt", "caffeinate"), 0),
    **dict.fromkeys(("timeout", "taskset", "flock", "chroot"), 1),
}
_PREFIX_VALUES = frozenset(
    {"-n", "-c", "-p", "-k", "-s", "-u", "-t", "-o", "-w", "-N", "-m", "--signal", "--kill-after"}
)
#: Programs whose own words are many and differ: the command that they start is looked for behind them.
_SEEKING = frozenset({"nsys", "ncu", "pdsh", "clush", "parallel", "xargs", "dumb-init", "tini", "accelerate-run"})
_TORCHRUN = frozenset({"torchrun", "ft_launcher"})
_TORCH_MODULES = frozenset({"torch.distributed.run", "torch.distributed.launch", "torch.distributed.elastic"})
_TORCH_ALONE = frozenset(
    {"--standalone", "--no-python", "--no_python", "-m", "--module", "--run-path", "--run_path", "--use-env"}
)
_SHELLS = frozenset({"bash", "sh", "zsh", "dash", "ksh"})
_PYTHON = re.compile(r"python[\d.]*$")
_SCRIPT = re.compile(r"\.(?:sh|bash|sbatch|slurm)$")
_NOT_KNOWN = "which command is started is only known at the call"


#: Runs a nested script: its text, the command's surroundings, its arguments (None: those of the caller).
RunScript = Callable[[Text, Around, "tuple[Arg, ...] | None"], None]
#: Runs a script file by its path; False where it is not here.
RunFile = Callable[[str, Around, "tuple[Arg, ...]"], bool]


class Commands:
    """Takes command lines apart and records what they do."""

    def __init__(self, recorder: Recorder, run_script: RunScript, run_file: RunFile) -> None:
        self.recorder, self._run_script, self._run_file = recorder, run_script, run_file

    def run(self, words: list[Arg], around: Around) -> None:
        """One command with its words."""
        for _ in range(50):
            if not words:
                return
            name = base(words[0])
            rest = words[1:]
            if is_open(words[0]) and _sought(rest) is not None:
                words = rest[_sought(rest) :]  # whatever stands there, it runs what follows
            elif name in _PREFIXES:
                words = after_flags(rest, _PREFIX_VALUES)[_PREFIXES[name] :]
            elif name == "env":
                words, around = with_env(rest, around)
            elif name == "srun":
                words, around = of_srun(rest, around)
            elif name in ("mpirun", "mpiexec"):
                words, around = of_mpirun(rest, around)
            elif name in _TORCHRUN or (name == "accelerate" and rest and base(rest[0]) == "launch"):
                words, around = self._torchrun(rest[1:] if name == "accelerate" else rest, around, name)
            elif name in _SEEKING:
                found = _sought(rest)
                if found is None:
                    return None
                words, around = rest[found:], replace(around, starter=(*around.starter, name))
            elif name == "ssh":
                words, around = of_ssh(rest), replace(around, starter=(*around.starter, name))
                if len(words) == 1 and " " in flat(words[0].text):
                    return self._run_script(words[0].text, around, ())
            elif name in RUNNERS and any(arg.known == "run" for arg in rest[:2]):
                words, around = of_runner(rest, around, words[0])
            elif name in CONTAINERS:
                words, around = of_container(rest, around, name)
            elif name in _SHELLS:
                return self._shell(rest, around, name)
            elif name == "sbatch":
                return self._sbatch(rest, around, words[0])
            elif name == "scontrol":
                if rest and rest[0].known == "requeue":
                    self.recorder.requeued = True
                return None
            elif _PYTHON.match(name):
                module = _module(rest)
                if module is not None and rest[module].known in _TORCH_MODULES:
                    words, around = self._torchrun(
                        rest[module + 1 :], of_python(words[0], around), "torch.distributed.run"
                    )
                    continue
                rest = after_flags(rest, frozenset({"-W", "-X"}))
                while len(rest) > 1 and is_open(rest[0]) and _sought(rest[1:]) == 0:
                    rest = rest[1:]  # flags that are not known
                return self._program(rest, of_python(words[0], around), module=module is not None)
            else:
                return self._program(words, around)

    def _program(self, words: list[Arg], around: Around, *, module: bool = False) -> None:
        """The program at the end of it all."""
        if not words:
            return
        copied = copy_of(words, around)
        if copied is not None:
            self.recorder.stage(copied, around)
        elif (build := build_of(words, around)) is not None:
            self.recorder.index_builds.append(build)
        elif is_training(words, module=module):
            self.recorder.launch(launch_of(words, around, self.recorder))
        elif _SCRIPT.search(words[0].shown):
            self._file(words, around)
        elif is_open(words[0]) and around.starter:
            self.recorder.gap(words[0].at, _NOT_KNOWN)

    def _file(self, words: list[Arg], around: Around) -> None:
        """A script file; one that is not here may be there to run what follows it."""
        if self._run_file(words[0].shown, around, tuple(words[1:])):
            return
        sought = _sought(words[1:])
        if sought is not None:
            return self.run(words[1 + sought :], around)
        self.recorder.gap(words[0].at, f"the script `{words[0].shown}` is not here")

    def _torchrun(self, words: list[Arg], around: Around, name: str) -> tuple[list[Arg], Around]:
        ranks, nodes = around.ranks, around.torch_nodes
        index = 0
        module = False
        while index < len(words) and (
            flat(words[index].text).startswith("-")
            or (is_open(words[index]) and _sought(words[index + 1 :]) is not None)
        ):
            text = flat(words[index].text)
            flag, sign, _ = text.partition("=")
            module = module or flag in ("-m", "--module")
            value: Arg | None = None
            at = words[index].at
            if sign:
                value = Arg(cut(words[index].text, len(flag) + 1), words[index].at)
            elif flag not in _TORCH_ALONE and flag.startswith("-") and index + 1 < len(words):
                at = at_option(words, index, 2)
                index += 1
                value = words[index]
            flag = flag.replace("_", "-")
            if value is not None and flag in ("--nproc-per-node", "--num-processes"):
                ranks = processes(value, at, around)
            elif value is not None and flag in ("--nnodes", "--num-machines"):
                nodes = count(value, at)
            index += 1
        around = replace(around, ranks=ranks or Fact(1), torch_nodes=nodes, starter=(*around.starter, name))
        return words[index:], around

    def _shell(self, words: list[Arg], around: Around, name: str) -> None:
        """`bash -c text`, `bash file`, `bash <<EOF`."""
        index = 0
        while index < len(words) and flat(words[index].text).startswith(("-", "+")):
            flags = flat(words[index].text)
            if re.fullmatch(r"-[a-zA-Z]*c[a-zA-Z]*", flags) and index + 1 < len(words):
                # The first word behind the text is $0.
                if is_open(words[index + 1]):
                    return self.recorder.gap(words[index + 1].at, _NOT_KNOWN)
                return self._run_script(words[index + 1].text, around, tuple(words[index + 3 :]))
            if flags in ("-o", "+o", "-O", "--rcfile"):
                index += 1
            index += 1
        if index < len(words) and flat(words[index].text) != "-":
            return self._file(words[index:], around)
        if around.stdin is not None:
            self._run_script(around.stdin, around, tuple(words[index + 1 :]))

    def _sbatch(self, words: list[Arg], around: Around, head: Arg) -> None:
        """A job: of a here-document, of `--wrap`, of a file, or of the script itself."""
        job = Job(in_job=True)
        handed: list[tuple[str, Arg, Text]] = []
        wrap: Text | None = None
        env = added(around.env, [])
        index = 0
        while index < len(words):
            flag, value, taken = option(words, index)
            if flag is None and not flat(words[index].text).startswith("-"):
                if flat(words[index].text) or words[index].text:
                    break
                index += 1  # an empty word is an option that was left out
                continue
            if flag == "--wrap" and value is not None:
                wrap = value.text
            elif flag == "--export" and value is not None:
                handed += exports(value)
                env = exported_by(value, around.env)
            elif flag is not None:
                job = with_option(job, flag, value, at_option(words, index, taken))
            index += taken
        rest = words[index:]
        chain = self.recorder.chain_of_submission(job, around)
        inner = replace(around, job=job, chain=chain, env=env, step=None, starter=())
        if wrap is not None:
            self._run_script(wrap, inner, ())
        elif not rest and around.stdin is not None:
            self._run_script(around.stdin, inner, ())
        elif rest:
            own = PurePosixPath(rest[0].shown).name
            if own in ("$0", around.script) or rest[0].shown in ("$0", "${BASH_SOURCE[0]}"):
                self.recorder.submits_itself(job, handed, rest[1:])
            elif not self._run_file(rest[0].shown, inner, tuple(rest[1:])):
                self.recorder.submit(head.at, rest[0], rest[1:], handed, job, chain)


def _module(words: list[Arg]) -> int | None:
    """Where the name behind `-m` stands, if the interpreter is given one before any script."""
    for index, arg in enumerate(words):
        text = flat(arg.text)
        if text == "-m":
            return index + 1 if index + 1 < len(words) else None
        if not text.startswith("-"):
            return None
    return None


def _sought(words: list[Arg]) -> int | None:
    """Where a command begins behind words that belong to another program; None where none does."""
    for index, arg in enumerate(words):
        name = base(arg)
        if _PYTHON.match(name) or name in _TORCHRUN or name in _SHELLS or name in ("srun", "sbatch"):
            return index
        if name.endswith(".py") and not flat(arg.text).startswith("-"):
            return index
    return None
