"""Programs that a Python launcher starts: `subprocess` and its kin, and nemo-run where executor and script are plain."""

from __future__ import annotations

import ast
from dataclasses import replace

from ....findings import Location
from ...trainer import walltime_seconds
from ..around import Around
from ..facts import EnvVar, Fact, Variation, Walltime
from ..jobs import Job
from ..shell.running import Shell
from ..texts import Arg, Piece, Text, known, place, word
from .calls import Calls
from .strings import Places
from .values import Const, Items, Record, Str, Table, Unknown, Value, as_text, truth, variation

_SUBPROCESS = "run call check_call check_output Popen getoutput"
_OTHERS = "os.system os.popen os.execv os.execvp os.execve os.execvpe"
_ASYNC = "asyncio.create_subprocess_exec asyncio.create_subprocess_shell"
EXPORTS = ("os.environ.update", "os.environ.setdefault", "os.putenv")
RUNNERS = frozenset([*(f"subprocess.{name}" for name in _SUBPROCESS.split()), *_OTHERS.split(), *_ASYNC.split()])


class Starts(Calls):
    """Hands what is started to a shell's `Commands`."""

    shell: Shell
    environ: dict[str, EnvVar]
    _name: str
    _depth: int
    _loops: tuple[str, ...]
    _conditions: tuple[tuple[Variation | None, Location], ...]

    def export(self, node: ast.Call, args: list[Value], keywords: dict[str, Value]) -> Value:
        """`os.environ.update(A=…)`, `os.environ.setdefault("A", …)`, `os.putenv("A", …)`."""
        at = self.places.at(node)
        entries = [entry for arg in args if isinstance(arg, Table) for entry in arg.entries]
        entries += [
            (keyword.arg, keywords[keyword.arg], self.places.at(keyword)) for keyword in node.keywords if keyword.arg
        ]
        if len(args) == 2 and (name := known(as_text(args[0], at))) is not None:
            entries.append((name, args[1], at))
        for name, value, place_of in entries:
            self.environ[name] = EnvVar(name, word(as_text(value, place_of), place_of), place_of)
        return Const(None)

    def start(self, name: str, node: ast.Call, args: list[Value], keywords: dict[str, Value]) -> Value:
        """What `subprocess` and its kin start."""
        at = _first_line(self.places, node)
        command = args[0] if args else keywords.get("args", Const(None))
        if name.startswith("os.exec") and len(args) > 1:
            command = args[1]
        elif name == "asyncio.create_subprocess_exec":
            command = Items(tuple(args))
        shell = truth(keywords.get("shell", Const(False))) or name in ("os.system", "os.popen", "subprocess.getoutput")
        around = self._around(at, keywords)
        if shell or name.endswith("_shell"):
            self.shell.nested(as_text(command, at), around, ())
        elif isinstance(command, Items):
            words = self._words(command, at)
            if words:
                around = replace(around, begin=self._begin(words, at))
            self.shell.commands.run(words, around)
        elif isinstance(command, Str):
            self.shell.commands.run([Arg(command.text, at)], around)
        elif isinstance(command, Unknown) and command.varies is None and self._depth:
            pass  # a helper that runs whatever it is given
        return Unknown(f"`{name}` gives what only a run shows")

    def _words(self, command: Items, at: Location) -> list[Arg]:
        found = []
        for item in command.items:
            text = as_text(item, at)
            found.append(Arg(text, place(text, at)))
        return found

    def _begin(self, words: list[Arg], at: Location) -> Location:
        """Where a command begins: its first word, where that stands in this file."""
        first = words[0].at
        return first if first.file == at.file else at

    def _around(self, at: Location, keywords: dict[str, Value]) -> Around:
        given = keywords.get("env")
        env = dict(self.environ)
        if isinstance(given, Table):
            env = dict(self.environ) if given.inherits else {}
            env |= {
                name: EnvVar(name, word(as_text(value, place), place), place) for name, value, place in given.entries
            }
        stdin = keywords.get("input")
        folder = keywords.get("cwd")
        return Around(
            at,
            env,
            folder=folder.text if isinstance(folder, Str) else (),
            conditions=self._conditions,
            loops=self._loops,
            stdin=stdin.text if isinstance(stdin, Str) else None,
            script=self._name,
        )

    def nemo_run(self, task: Value, executor: Value, node: ast.Call) -> Value:
        """nemo-run's `run.run(script, executor=…)`, where both are plain."""
        at = _first_line(self.places, node)
        around = self._around(at, {})
        given = executor.attributes if isinstance(executor, Record) else {}
        job = Job(in_job=True)
        if isinstance(executor, Record) and executor.kind == "SlurmExecutor":
            place = executor.at or at
            job = replace(
                job,
                nodes=_number(given.get("nodes"), place),
                tasks_per_node=_number(given.get("ntasks_per_node"), place),
                gpus_per_node=_number(given.get("gpus_per_node"), place),
                walltime=_walltime(given.get("time"), place),
            )
            around = replace(around, job=job, step=job)  # the executor starts the tasks by srun
        image = given.get("container_image")
        variables = given.get("env_vars")
        if isinstance(variables, Table):
            added = {name: EnvVar(name, word(as_text(value, p), p), p) for name, value, p in variables.entries}
            around = replace(around, env={**around.env, **added})
        if isinstance(image, Str):
            around = replace(
                around, container=Arg(image.text, executor.at or at if isinstance(executor, Record) else at)
            )
        if isinstance(task, Record) and task.kind == "Script":
            path, arguments, inline = (task.attributes.get(key) for key in ("path", "args", "inline"))
            if isinstance(inline, Str):
                self.shell.nested(inline.text, around, ())
            elif isinstance(path, Str):
                extra = arguments if isinstance(arguments, Items) else Items(())
                head = Str((Piece("python", task.at or at),))
                launcher = (head,) if (known(path.text) or "").endswith(".py") else ()
                self.shell.commands.run(self._words(Items((*launcher, path, *extra.items)), at), around)
        return Const(None)


def _number(value: Value | None, at: Location) -> Fact:
    if isinstance(value, Const) and type(value.value) is int:
        return Fact(value.value, value.at or at)
    return Fact(None, at, variation(value)) if value is not None else Fact()


def _walltime(value: Value | None, at: Location) -> Walltime | None:
    text = known(value.text) if isinstance(value, Str) else None
    seconds = walltime_seconds(text) if text is not None else None
    where: Text = value.text if isinstance(value, Str) else ()
    place = next((piece.where for piece in where if piece.where), at)
    return Walltime(text or "", seconds, place) if seconds is not None else None


def _first_line(places: Places, node: ast.AST) -> Location:
    start, end = places.span(node)
    line = places.script.text[start:end].split("\n", 1)[0].rstrip()
    return places.script.at(start, start + max(len(line), 1))
