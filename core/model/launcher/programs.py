"""Programs at the end of a command line: a training script with its overrides, an index build, a copy of index files."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from .chains import chain_of
from .facts import NOTHING, Chain, Fact, IndexBuild, Launch, Override, Word
from .hydra import override_text
from .jobs import Job
from .texts import Arg, Text, cut, fixed, flat, word

if TYPE_CHECKING:
    from .around import Around
    from .recording import Recorder

_TRAINS = re.compile(r"(?:^|_)(?:train|finetune|pretrain)(?:_|\.py$|$)|speech_to_text_|(?:_train|_finetune)\.py$")
#: Programs that only show or look at the words they are given.
_PRINT = frozenset(
    [
        "echo",
        "printf",
        "cat",
        "tee",
        "logger",
        "grep",
        "sed",
        "awk",
        "jq",
        "diff",
        "git",
        "less",
        "head",
        "tail",
        "sort",
        "wc",
        "tr",
        "cut",
        "test",
    ]
)
#: Programs with Hydra's command line that train nothing.
_OTHERS = re.compile(
    r"transcribe|(?:^|_)(?:eval|evaluate|infer|inference|generate|export|convert|predict)(?:_|\.py$|$)"
)
_HYDRA_FLAGS = {
    "--config-path": "path",
    "-cp": "path",
    "--config-name": "name",
    "-cn": "name",
    "--config-dir": "dir",
    "-cd": "dir",
}
_HYDRA_FLAGS |= {
    flag.replace("-", "_").replace("__", "--", 1): what for flag, what in list(_HYDRA_FLAGS.items()) if flag[:2] == "--"
}
_SECTIONS = ("trainer", "exp_manager", "data", "model")
_BUILDERS = frozenset({"build_indexes.py", "convert_indexes_to_idxpack.py"})


def is_training(words: list[Arg], *, module: bool = False) -> bool:
    """Whether a program starts a training: by its name, Hydra's flags, or overrides of a training's sections."""
    name = PurePosixPath(words[0].shown).name
    if name in _PRINT:
        return False
    if not (name.endswith(".py") or "." not in name or module):
        return False
    flags = any(flat(arg.text).partition("=")[0] in _HYDRA_FLAGS for arg in words[1:])
    keys = [found.key.split(".")[0] for arg in words[1:] if (found := override_text(flat(arg.text))) is not None]
    overrides = any(key in _SECTIONS for key in keys)
    if name.endswith(".py") or module:
        own = {arg.text for arg in words[1:] if flat(arg.text).startswith("--")}
        plain = not own or flags  # flags of another kind than Hydra's: some other program
        return (flags or overrides or (plain and bool(_TRAINS.search(name)))) and not _OTHERS.search(name)
    return flags and overrides  # a program without a suffix may be anything


def launch_of(words: list[Arg], around: Around, recorder: Recorder) -> Launch:
    """The training command behind what wraps it."""
    hydra: dict[str, Word] = {}
    overrides: list[Override] = []
    index = 1
    while index < len(words):
        arg = words[index]
        text = flat(arg.text)
        flag, sign, _ = text.partition("=")
        what = _HYDRA_FLAGS.get(flag)
        if what is not None and sign:
            hydra[what] = word(cut(arg.text, len(flag) + 1), arg.at)
        elif what is not None and index + 1 < len(words):
            index += 1
            hydra[what] = word(words[index].text, words[index].at)
        elif (found := override_text(text)) is not None and _stated(cut(arg.text, 0, found.value_at)):
            value = word(cut(arg.text, found.value_at) or _empty(arg), arg.at)
            overrides.append(Override(found.key, found.prefix, value, arg.at))
        index += 1
    last = {override.key: override for override in overrides}
    job = around.step or around.job
    ranks, nodes = _ranks(around, job, last)
    return Launch(
        around.begin,
        around.starter,
        word(words[0].text, words[0].at),
        hydra.get("path"),
        hydra.get("name"),
        hydra.get("dir"),
        tuple(each for each in overrides if last[each.key] is each),
        dict(around.env),
        nodes,
        job.ranks if job is not None else NOTHING,
        ranks,
        job.node_gpus if job is not None else NOTHING,
        around.job.walltime if around.job is not None else None,
        _chain(around),
        _word(around.container or (job.container if job is not None else None)),
        _word(around.python),
        open_files=around.open_files,
        folder=word(around.folder, around.begin) if around.folder else None,
        mounts=around.mounts,
    )


def _stated(key: Text) -> bool:
    """Whether all of a key is known; the override as a whole may still be left out."""
    return all(piece.text is not None for piece in key)


def _empty(arg: Arg) -> Text:
    return fixed("", arg.at)


def _word(arg: Arg | None) -> Word | None:
    return word(arg.text, arg.at) if arg is not None else None


def _ranks(around: Around, job: Job | None, overrides: dict[str, Override]) -> tuple[Fact, Fact]:
    """Processes that really start on a node, and nodes."""
    spread = around.step is not None or any(
        name in around.starter for name in ("mpirun", "mpiexec", "ssh", "pdsh", "clush")
    )
    alone = around.job is not None and not spread  # the body of a job runs on its first node only
    if around.ranks is not None:
        nodes = around.torch_nodes or (job.node_count if job is not None else Fact(1))
        if job is not None and nodes.value is None and nodes.varies is None:
            nodes = job.node_count
        return around.ranks, Fact(1) if alone else nodes
    if job is not None and not alone:
        return job.ranks, job.node_count
    if job is not None and (job.tasks.location is not None or job.tasks_per_node.location is not None):
        return Fact(1), Fact(1)  # Lightning waits for Slurm's other tasks, and nothing starts them
    devices = overrides.get("trainer.devices")
    text = devices.value.text if devices is not None else None
    nodes = NOTHING if any(name in around.env for name in ("NODE_RANK", "MASTER_ADDR", "WORLD_SIZE")) else Fact(1)
    if devices is not None and text is not None and text.isdigit():
        return Fact(int(text), devices.location), nodes  # Lightning starts them itself
    return NOTHING, nodes


def _chain(around: Around) -> Chain:
    if around.chain.chained:
        return around.chain
    own = chain_of(around.job) if around.job is not None else Chain()
    if own.chained:
        return own
    if around.loops and around.loops[-1] == "script":
        return Chain(True, "loop in the script")
    if around.loops:
        return Chain(
            True,
            f"{around.loops[-1]} loop on one machine" if around.job is None else f"{around.loops[-1]} loop in the job",
        )
    return own


def build_of(words: list[Arg], around: Around) -> IndexBuild | None:
    """An index build, where the program is one."""
    name = PurePosixPath(words[0].shown).name
    if not (name in _BUILDERS or (name == "lhotse" and len(words) > 1 and words[1].known == "index")):
        return None
    job = around.step or around.job
    partition = around.job.partition if around.job is not None else None
    gpus = job is not None and bool(job.node_gpus.value)
    off = around.env.get("NVIDIA_VISIBLE_DEVICES")
    return IndexBuild(
        around.begin,
        word(words[0].text, words[0].at),
        partition,
        bool(partition and re.search(r"cpu", partition, re.I)) and not gpus,
        _word(around.container),
        (off is not None and off.value.text in ("void", "none", "")) or "ENROOT_NO_GPU" in around.env,
    )
