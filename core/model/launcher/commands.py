"""Command lines taken apart: what wraps a program (srun, torchrun, containers, shells), down to the training command."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import PurePosixPath

from .around import Around
from .facts import Fact
from .jobs import Job, option, with_option
from .programs import build_of, copy_of, is_training, launch_of
from .recording import Recorder
from .texts import Arg, Text, cut, flat
from .wrappers import (
    added,
    after_flags,
    base,
    count,
    exports,
    of_container,
    of_mpirun,
    of_python,
    of_srun,
    processes,
    with_env,
)

#: Words in front of a command that change nothing of what is looked at, with how many words of theirs follow.
_PREFIXES = {
    "exec": 0,
    "command": 0,
    "time": 0,
    "nohup": 0,
    "sudo": 0,
    "setsid": 0,
    "stdbuf": 0,
    "nice": 0,
    "ionice": 0,
}
_PREFIXES |= {
    "unbuffer": 0,
    "timeout": 1,
    "numactl": 0,
    "taskset": 1,
    "builtin": 0,
    "catchsegv": 0,
    "nsys": 0,
    "trap": 0,
}
_PREFIX_VALUES = frozenset({"-n", "-c", "-p", "-k", "-s", "-u", "-t", "-o", "--signal", "--kill-after"})
_TORCHRUN = frozenset({"torchrun", "ft_launcher"})
_TORCH_MODULES = frozenset({"torch.distributed.run", "torch.distributed.launch", "torch.distributed.elastic"})
_TORCH_ALONE = frozenset(
    {"--standalone", "--no-python", "--no_python", "-m", "--module", "--run-path", "--run_path", "--use-env"}
)
_SHELLS = frozenset({"bash", "sh", "zsh", "dash", "ksh"})
_CONTAINERS = frozenset({"docker", "podman", "singularity", "apptainer", "enroot", "nerdctl"})
_PYTHON = re.compile(r"python[\d.]*$")


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
            if name in _PREFIXES:
                words = after_flags(rest, _PREFIX_VALUES)[_PREFIXES[name] :]
            elif name == "env":
                words, around = with_env(rest, around)
            elif name == "srun":
                words, around = of_srun(rest, around)
            elif name in ("mpirun", "mpiexec"):
                words, around = of_mpirun(rest, around)
            elif name in _TORCHRUN or (name == "accelerate" and rest and base(rest[0]) == "launch"):
                words, around = self._torchrun(rest[1:] if name == "accelerate" else rest, around, name)
            elif name in _CONTAINERS:
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
                module = next((i for i, arg in enumerate(rest) if arg.known == "-m"), None)
                if module is not None and module + 1 < len(rest) and rest[module + 1].known in _TORCH_MODULES:
                    words, around = self._torchrun(
                        rest[module + 2 :], of_python(words[0], around), "torch.distributed.run"
                    )
                    continue
                return self._program(after_flags(rest, frozenset({"-W", "-X"})), of_python(words[0], around))
            else:
                return self._program(words, around)

    def _program(self, words: list[Arg], around: Around) -> None:
        """The program at the end of it all."""
        if not words:
            return
        copied = copy_of(words, around)
        if copied is not None:
            self.recorder.stage(copied, around)
        elif (build := build_of(words, around)) is not None:
            self.recorder.index_builds.append(build)
        elif is_training(words):
            self.recorder.launch(launch_of(words, around, self.recorder))
        elif words[0].shown.endswith((".sh", ".bash", ".sbatch", ".slurm")):
            self._file(words, around)

    def _file(self, words: list[Arg], around: Around) -> None:
        name = words[0].known
        if name is None or not self._run_file(name, around, tuple(words[1:])):
            self.recorder.gap(words[0].at, f"the script `{words[0].shown}` is not here")

    def _torchrun(self, words: list[Arg], around: Around, name: str) -> tuple[list[Arg], Around]:
        ranks, nodes = around.ranks, around.torch_nodes
        index = 0
        module = False
        while index < len(words) and flat(words[index].text).startswith("-"):
            text = flat(words[index].text)
            flag, sign, _ = text.partition("=")
            module = module or flag in ("-m", "--module")
            value: Arg | None = None
            if sign:
                value = Arg(cut(words[index].text, len(flag) + 1), words[index].at)
            elif flag not in _TORCH_ALONE and index + 1 < len(words):
                index += 1
                value = words[index]
            flag = flag.replace("_", "-")
            if value is not None and flag in ("--nproc-per-node", "--num-processes"):
                ranks = processes(value, words[index].at, around)
            elif value is not None and flag in ("--nnodes", "--num-machines"):
                nodes = count(value, words[index].at)
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
            elif flag is not None:
                job = with_option(job, flag, value, words[index].at)
            index += taken
        rest = words[index:]
        chain = self.recorder.chain_of_submission(job, around)
        inner = replace(around, job=job, chain=chain, env=added(around.env, handed), step=None, starter=())
        if wrap is not None:
            self._run_script(wrap, inner, ())
        elif not rest and around.stdin is not None:
            self._run_script(around.stdin, inner, ())
        elif rest:
            name = rest[0].known
            own = PurePosixPath(rest[0].shown).name
            if own in ("$0", around.script) or rest[0].shown in ("$0", "${BASH_SOURCE[0]}"):
                self.recorder.submits_itself(job)
            elif name is None or not self._run_file(name, inner, tuple(rest[1:])):
                self.recorder.submit(head.at, rest[0], rest[1:], handed, job, chain)
