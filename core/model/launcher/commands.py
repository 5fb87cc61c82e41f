"""Command lines taken apart: what wraps a program (srun, torchrun, containers, shells), down to the training command."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from ...findings import Location
from .facts import NO_CHAIN, NOTHING, Chain, EnvVar, Fact, Variation
from .jobs import Job, option, with_option
from .programs import build_of, copy_of, is_training, launch_of
from .recording import Recorder
from .texts import Arg, Text, cut, flat, varying, word

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
_DOCKER_FLAGS = (
    "--rm -it -ti -i -t -d --privileged --init --detach --interactive --tty --nv --rocm --rw --root --containall"
)
_DOCKER_ALONE = frozenset(f"{_DOCKER_FLAGS} --cleanenv --no-home --writable-tmpfs".split())
_PYTHON = re.compile(r"python[\d.]*$")


@dataclass(frozen=True, slots=True)
class Around:
    """What surrounds a command."""

    begin: Location  #: where the whole command begins, on one line
    env: Mapping[str, EnvVar] = field(default_factory=dict)
    job: Job | None = None  #: the job whose body it is in
    step: Job | None = None  #: the srun step
    container: Arg | None = None
    python: Arg | None = None
    folder: Text = ()
    open_files: Fact | None = None
    chain: Chain = NO_CHAIN
    conditions: tuple[tuple[Variation | None, Location], ...] = ()
    loops: tuple[str, ...] = ()
    starter: tuple[str, ...] = ()
    ranks: Fact | None = None  #: processes that torchrun starts on a node
    torch_nodes: Fact | None = None
    stdin: Text | None = None  #: a here-document or what a program is given
    script: str = ""  #: the file's own name, for a job that submits itself


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
            name = _base(words[0])
            rest = words[1:]
            if name in _PREFIXES:
                words = _after_flags(rest, _PREFIX_VALUES)[_PREFIXES[name] :]
            elif name == "env":
                words, around = _env(rest, around)
            elif name == "srun":
                words, around = _srun(rest, around)
            elif name in ("mpirun", "mpiexec"):
                words, around = _mpirun(rest, around)
            elif name in _TORCHRUN or (name == "accelerate" and rest and _base(rest[0]) == "launch"):
                words, around = self._torchrun(rest[1:] if name == "accelerate" else rest, around, name)
            elif name in _CONTAINERS:
                words, around = _container(rest, around, name)
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
                        rest[module + 2 :], _python(words[0], around), "torch.distributed.run"
                    )
                    continue
                return self._program(_after_flags(rest, frozenset({"-W", "-X"})), _python(words[0], around))
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
                ranks = _processes(value, words[index].at, around)
            elif value is not None and flag in ("--nnodes", "--num-machines"):
                nodes = _count(value, words[index].at)
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
                handed += _exports(value)
            elif flag is not None:
                job = with_option(job, flag, value, words[index].at)
            index += taken
        rest = words[index:]
        chain = self.recorder.chain_of_submission(job, around)
        inner = replace(around, job=job, chain=chain, env=_with(around.env, handed), step=None, starter=())
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


def _exports(value: Arg) -> list[tuple[str, Arg, Text]]:
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


def _with(env: Mapping[str, EnvVar], handed: list[tuple[str, Arg, Text]]) -> dict[str, EnvVar]:
    return {**env, **{name: EnvVar(name, word(text, arg.at), arg.at) for name, arg, text in handed}}


def _base(arg: Arg) -> str:
    return PurePosixPath(flat(arg.text)).name


def _after_flags(words: list[Arg], with_value: frozenset[str]) -> list[Arg]:
    """The words behind the flags in front."""
    index = 0
    while index < len(words) and flat(words[index].text).startswith("-") and len(flat(words[index].text)) > 1:
        index += 2 if flat(words[index].text) in with_value else 1
    return words[index:]


def _env(words: list[Arg], around: Around) -> tuple[list[Arg], Around]:
    words = _after_flags(words, frozenset({"-u", "--unset", "-C", "--chdir"}))
    env = dict(around.env)
    index = 0
    while index < len(words) and (match := re.match(r"([A-Za-z_]\w*)=", flat(words[index].text))):
        value = word(cut(words[index].text, match.end()), words[index].at)
        env[match[1]] = EnvVar(match[1], value, words[index].at)
        index += 1
    return words[index:], replace(around, env=env)


def _srun(words: list[Arg], around: Around) -> tuple[list[Arg], Around]:
    step = around.job or Job(in_job=True)
    env, container = dict(around.env), around.container
    index = 0
    while index < len(words) and flat(words[index].text).startswith("-"):
        flag, value, taken = option(words, index)
        if flag == "--container-image" and value is not None:
            container = value
        elif flag == "--export" and value is not None:
            env = _with(env, _exports(value))
        elif flag is not None and flag != "--time":
            step = with_option(step, flag, value, words[index].at)
        index += taken
    return words[index:], replace(around, step=step, env=env, container=container, starter=(*around.starter, "srun"))


def _mpirun(words: list[Arg], around: Around) -> tuple[list[Arg], Around]:
    values = frozenset(
        {"-np", "-n", "-N", "-H", "--host", "--hostfile", "-x", "--map-by", "--bind-to", "-npernode", "-ppn"}
    )
    return _after_flags(words, values), replace(around, starter=(*around.starter, "mpirun"))


def _container(words: list[Arg], around: Around, name: str) -> tuple[list[Arg], Around]:
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


def _python(interpreter: Arg, around: Around) -> Around:
    """An interpreter named by a path in an environment selects that environment."""
    path = interpreter.shown
    if "/" in path and not path.startswith(("/usr/bin/", "/bin/")):
        around = replace(around, python=interpreter)
    return replace(around, starter=(*around.starter, "python"))


def _processes(value: Arg, at: Location, around: Around) -> Fact:
    if value.known in ("gpu", "auto"):
        job = around.step or around.job
        return job.gpus_per_node if job is not None else NOTHING
    return _count(value, at)


def _count(value: Arg, at: Location) -> Fact:
    if (varies := varying(value.text)) is not None:
        return Fact(None, at, varies)
    text = value.known
    return Fact(int(text) if text is not None and text.isdigit() else None, at)
