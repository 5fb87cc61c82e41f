"""What is built into a shell: assignments by `read`, `printf -v` and `let`, folders, arguments, limits, environments."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from ....findings import Location
from ....records import dataclass
from ..facts import Fact
from ..texts import Arg, Script, Text, concat, cut, fixed, flat, known, unknown
from .control import Leave, Stop
from .expanding import Expander
from .printing import formatted
from .state import State, Var

if TYPE_CHECKING:
    from tree_sitter import Node

    from ..recording import Recorder

_IDLE = (
    *("sleep", "mkdir", "rmdir", "test", "[", ":", "true", "false", "wait", "touch", "rm", "chmod", "chown"),
    *("module", "ml", "umask", "shopt", "alias", "hash"),
)
_SWITCHING = ("activate", "shell", "local", "global")
_NAME = re.compile(r"[A-Za-z_]\w*")
_ACTIVATE = re.compile(r"(?:^|/)activate$|conda\.sh$|/profile\.d/")


@dataclass(frozen=True, slots=True)
class Call:
    """One command that the shell carries out itself."""

    script: Script
    node: Node
    name: str
    args: list[Arg]
    state: State
    stdin: Text | None
    where: Location
    expander: Expander
    assigned: dict[str, Var]  #: what stands in front of it
    recorder: Recorder


def carry_out(call: Call) -> bool:
    """Carry out what is built in and prints nothing; False for any other command."""
    found = _BUILT_IN.get(call.name)
    if found is None or (found is _activate and not any(arg.known in _SWITCHING for arg in call.args)):
        return False
    found(call)
    return True


def _leave(call: Call) -> None:
    raise Stop if call.name == "exit" else Leave(call.name)


def _cd(call: Call) -> None:
    plain = [arg for arg in call.args if not flat(arg.text).startswith("-")]
    if call.name == "popd":
        call.state.folder = ()
        return
    if not plain:
        call.state.folder = fixed("~", call.where) if not call.args else ()
        return
    text, before = plain[0].known, known(call.state.folder)
    if text is not None and not text.startswith(("/", "~")) and before:
        parts = [part for part in text.split("/") if part not in ("", ".")]
        base = before.rstrip("/").split("/")
        for part in parts:
            if part == ".." and base and base[-1] not in ("", "..", "~"):
                base.pop()
            else:
                base.append(part)
        call.state.folder = fixed("/".join(base) or "/", plain[0].at)
    else:
        call.state.folder = plain[0].text


def _eval(call: Call) -> None:
    call.recorder.gap(call.where, "`eval` runs text that is only known when it runs")


def _read(call: Call) -> None:
    """`read -r A B`, `read -a A`, `read -d '' A <<EOF`."""
    flags = {"a": False, "d": False}
    names: list[str] = []
    index = 0
    while index < len(call.args):
        text = flat(call.args[index].text)
        if text.startswith("-") and len(text) > 1:
            flags["a"] = flags["a"] or "a" in text
            flags["d"] = flags["d"] or "d" in text
            takes_next = text[-1] in "dinNptu"
            if takes_next and index + 1 < len(call.args):
                if text[-1] == "d":
                    flags["d"] = True
                index += 1
        elif _NAME.fullmatch(text):
            names.append(text)
        index += 1
    if call.stdin is None:
        for name in names:
            value = unknown(f"`{name}` is read from the input", call.where, name=name)
            call.state.set(name, Var(call.where, value))
        return
    if flags["d"]:
        if names:
            call.state.set(names[-1], Var(call.where, call.stdin))
        return
    line = call.stdin
    position = flat(line).find("\n")
    line = cut(line, 0, position) if position >= 0 else line
    given = call.assigned.get("IFS")
    separators = known(given.text) if given is not None else " \t"
    fields = _fields(line, separators or "")
    if flags["a"]:
        if names:
            call.state.set(names[0], Var(call.where, items=tuple(Arg(field, call.where) for field in fields)))
        return
    for number, name in enumerate(names):
        if number == len(names) - 1 and len(fields) > len(names):
            value = concat([part for field in fields[number:] for part in (field, fixed(" ", call.where))][:-1])
        else:
            value = fields[number] if number < len(fields) else ()
        call.state.set(name, Var(call.where, value))


def _fields(line: Text, separators: str) -> list[Text]:
    found: list[Text] = []
    start: int | None = None
    blanks = separators.isspace() or not separators
    text = flat(line)
    for position, char in enumerate(text):
        if char in separators:
            if start is not None or not blanks:
                found.append(cut(line, start if start is not None else position, position))
            start = None
        elif start is None:
            start = position
    if start is not None:
        found.append(cut(line, start))
    return found


def _mapfile(call: Call) -> None:
    plain = [each for arg in call.args if (each := flat(arg.text)) and _NAME.fullmatch(each)]
    name = plain[-1] if plain else "MAPFILE"
    text = known(call.stdin) if call.stdin is not None else None
    if text is None or call.stdin is None:
        value = unknown(f"`{name}` is read from the input", call.where, name=name)
        call.state.set(name, Var(call.where, value))
        return
    items = [Arg(field, call.where) for field in _fields(call.stdin, "\n")]
    call.state.set(name, Var(call.where, items=tuple(items)))


def _let(call: Call) -> None:
    for arg in call.args:
        call.expander.computed(arg.text, arg.at)


def _shift(call: Call) -> None:
    if call.state.args is not None:
        count = call.args[0].known if call.args else "1"
        call.state.args = call.state.args[int(count) :] if count and count.isdigit() else None


def _set(call: Call) -> None:
    if any(arg.known in ("-a", "+a", "-ea", "-ae") for arg in call.args):
        call.state.exports_all = not any(arg.known == "+a" for arg in call.args)
    marks = [index for index, arg in enumerate(call.args) if arg.known == "--"]
    if marks:
        call.state.args = tuple(call.args[marks[0] + 1 :])


def _ulimit(call: Call) -> None:
    flags = [arg.known for arg in call.args if flat(arg.text).startswith("-")]
    if any(flag is not None and "n" in flag for flag in flags):
        text = call.args[-1].known
        call.state.open_files = Fact(int(text) if text and text.isdigit() else None, call.where)


def _activate(call: Call) -> None:
    call.state.python = call.args[-1]


def _getopts(call: Call) -> None:
    names = [text for arg in call.args[1:2] if (text := arg.known) is not None]
    for name in (*names, "OPTARG", "OPTIND"):
        reason = "the script's own options are given by whoever starts it"
        call.state.set(name, Var(call.where, unknown(reason, call.where, name=name, caller=True)))


def _printf_to(call: Call) -> bool:
    if len(call.args) < 2 or call.args[0].known != "-v" or call.args[1].known is None:
        return False
    call.state.set(call.args[1].known, Var(call.where, formatted(call.args[2:], call.where)))
    return True


def _export_off(call: Call) -> None:
    """`unset` as a command."""
    for arg in call.args:
        if arg.known is not None:
            call.state.variables.pop(arg.known, None)


def _nothing(call: Call) -> None:
    """It changes nothing that is looked at."""


_BUILT_IN: dict[str, Callable[[Call], None]] = {
    **dict.fromkeys(("exit", "return", "break", "continue"), _leave),
    **dict.fromkeys(("cd", "pushd", "popd"), _cd),
    **dict.fromkeys(("mapfile", "readarray"), _mapfile),
    **dict.fromkeys(("conda", "micromamba", "mamba", "pyenv"), _activate),
    **dict.fromkeys(
        [
            "sleep",
            "mkdir",
            "rmdir",
            "test",
            "[",
            ":",
            "true",
            "false",
            "wait",
            "touch",
            "rm",
            "chmod",
            "chown",
            "module",
            "ml",
            "umask",
            "shopt",
            "alias",
            "hash",
        ],
        _nothing,
    ),
    "eval": _eval,
    "read": _read,
    "let": _let,
    "shift": _shift,
    "set": _set,
    "ulimit": _ulimit,
    "getopts": _getopts,
    "unset": _export_off,
}


def switches_on(path: str) -> bool:
    """Whether a sourced file switches on an environment of Python."""
    return bool(_ACTIVATE.search(path))


def printf_to(call: Call) -> bool:
    """`printf -v NAME …`; False where it prints."""
    return call.name == "printf" and _printf_to(call)
