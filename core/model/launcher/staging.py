"""Copies of index files in a launcher: from where to where, on which nodes."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from ...findings import Location
from ...text import Span
from ..storage import NODE_LOCAL
from .around import Around
from .facts import Staging
from .texts import Arg, cut, flat, word
from .wrappers import after_flags

_INDEX = re.compile(r"idx|index", re.I)
#: Copying tools, with the words behind which their operands follow, where they have such.
_COPIERS: dict[str, frozenset[str]] = {
    **dict.fromkeys(("cp", "rsync", "scp", "sbcast", "tar", "unzip", "ln", "mv", "dcp", "pigz"), frozenset()),
    "aws": frozenset({"cp", "sync"}),
    "gsutil": frozenset({"cp", "rsync"}),
    "s5cmd": frozenset({"cp", "sync"}),
    "rclone": frozenset({"copy", "sync", "copyto"}),
    "ais": frozenset({"get"}),
}
#: Flags that take the next word.
_VALUES = {
    "rsync": frozenset({"-e", "--rsh", "--exclude", "--include", "--bwlimit", "--files-from"}),
    "cp": frozenset({"-S"}),
    "sbcast": frozenset({"-F", "-s", "-t"}),
    "aws": frozenset({"--exclude", "--include", "--profile", "--endpoint-url"}),
}
_TARGET_FLAGS = ("-C", "--directory", "-t", "--target-directory", "-d")
_SSH_VALUES = frozenset(f"-{letter}" for letter in "bcDEeFIiJLlmOopQRSWw")
_ARCHIVE = re.compile(r"\.(?:tar|tgz|zip|tar\.\w+)$")
_ELSEWHERE = re.compile(r"SLURM_PROCID|SLURM_NODEID|\bNODE_RANK|(?<!LOCAL_)\bRANK\b")
#: Steps that are started once for each node, by name or by a loop over nodes.
_EACH_NODE = ("ssh", "pdsh", "clush", "mpirun", "mpiexec")


def copy_of(words: list[Arg], around: Around) -> Staging | None:
    """A copy of what may be index files to another folder, where the command is one."""
    name = PurePosixPath(words[0].shown).name
    if name == "prefetch_indexes.py":
        root = _flag_value(words, "--indexes-root")
        shared = _flag_value(words, "--source-indexes-root") or words[0]
        return _staging(words, around, shared, root, named=True) if root is not None else None
    verbs = _COPIERS.get(name)
    if verbs is None:
        return None
    rest = words[1:]
    if verbs:
        verb = next((index for index, arg in enumerate(rest) if arg.known in verbs), None)
        if verb is None:
            return None
        rest = rest[verb + 1 :]
    source, target = _operands(rest, name)
    if source is None or target is None:
        return None
    named = bool(_INDEX.search(source.shown) or _INDEX.search(target.shown))
    if not named and not _node_local(target.shown):
        return None
    return _staging(words, around, source, target, named=named)


def _operands(words: list[Arg], name: str) -> tuple[Arg | None, Arg | None]:
    """What is copied, and where to."""
    plain: list[Arg] = []
    target: Arg | None = None
    index = 0
    while index < len(words):
        text = flat(words[index].text)
        following = words[index + 1] if index + 1 < len(words) else None
        if name == "tar" and index == 0 and re.fullmatch(r"[a-zA-Z]+", text):
            pass  # `tar xf file`: flags without a dash
        elif text in _TARGET_FLAGS and name not in ("rsync", "sbcast") and following is not None:
            target = following
            index += 1
        elif text.startswith(("--directory=", "--target-directory=")):
            target = Arg(cut(words[index].text, text.index("=") + 1), words[index].at)
        elif text in _VALUES.get(name, ()):
            index += 1
        elif not text.startswith("-"):
            plain.append(words[index])
        index += 1
    if name in ("tar", "unzip"):
        return next((arg for arg in plain if _ARCHIVE.search(arg.shown)), None), target
    if target is None and len(plain) >= 2:
        target = plain.pop()
    return (plain[0] if plain else None), target


def _node_local(path: str) -> bool:
    """Whether a path lies on a node's own disk."""
    return any(path == start or path.startswith(f"{start}/") for start in NODE_LOCAL)


def _flag_value(words: list[Arg], flag: str) -> Arg | None:
    for index, arg in enumerate(words):
        text = flat(arg.text)
        if text == flag and index + 1 < len(words):
            return words[index + 1]
        if text.startswith(f"{flag}="):
            return Arg(cut(arg.text, len(flag) + 1), arg.at)
    return None


def _staging(words: list[Arg], around: Around, source: Arg, target: Arg, *, named: bool) -> Staging:
    first, last = words[0].at, words[-1].at
    at = first
    if first.file == last.file and last.span.end > first.span.start:
        at = Location(first.source, Span(first.span.start, last.span.end))
    every = _on_every_node(PurePosixPath(words[0].shown).name, around)
    return Staging(at, word(source.text, source.at), word(target.text, target.at), every_node=every, named=named)


def _on_every_node(name: str, around: Around) -> bool:
    """Whether a copy runs on each node of the job."""
    step, job = around.step, around.job
    nodes = job.node_count.value if job is not None else 1
    if nodes == 1 or name == "sbcast":
        return True
    if any(_ELSEWHERE.search(at.source.cut(at.span)) for _, at in around.conditions):
        return False
    if around.loops and (
        any(each in around.starter for each in _EACH_NODE) or (step is not None and step.chosen_nodes)
    ):
        return True  # a loop over the nodes
    if step is not None:
        whole = job.node_count if job is not None else step.node_count
        return step.node_count == whole or (nodes is not None and step.nodes.value == nodes)
    return any(each in around.starter for each in ("pdsh", "clush", "mpirun", "mpiexec"))


def of_ssh(words: list[Arg]) -> list[Arg]:
    """What `ssh host` runs there."""
    return after_flags(words, _SSH_VALUES)[1:]
