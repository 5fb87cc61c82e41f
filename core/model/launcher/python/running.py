"""A Python launcher walked from top to bottom without running anything: statements, own functions, started programs."""

from __future__ import annotations

import ast
from collections.abc import Callable

from ....findings import Location
from ..facts import EnvVar, Variation
from ..recording import Recorder
from ..shell.running import Shell
from ..texts import Piece, Script, known, word
from .starting import EXPORTS, RUNNERS, Starts
from .strings import Places
from .values import (
    Const,
    Function,
    Items,
    Name,
    Str,
    Table,
    Unknown,
    Value,
    as_text,
    either,
    elements,
    same,
    truth,
    variation,
)

_MAX_STEPS = 20_000
_MAX_DEPTH = 25
_MAX_TURNS = 60
Load = Callable[[str], "Script | None"]  #: another script by its path


class _Return(Exception):
    def __init__(self, value: Value) -> None:
        self.value = value


class Exit(Exception):
    """The script ends here."""


class Interpreter(Starts):
    """Walks statements; what they start goes through a shell's `Commands` to the recorder."""

    def __init__(self, script: Script, recorder: Recorder, load: Load, name: str) -> None:
        self.places = Places(script)
        self.variables: dict[str, Value] = {"__name__": Str((Piece("__main__", script.at(0, 1)),))}
        self.imports: dict[str, str] = {}
        self.environ: dict[str, EnvVar] = {}
        self.recorder = recorder
        self.shell = Shell(recorder, load, name)
        self._name = name
        self._loops: tuple[str, ...] = ()
        self._conditions: tuple[tuple[Variation | None, Location], ...] = ()
        self._steps, self._depth, self._globals = 0, 0, self.variables

    def module(self, tree: ast.Module) -> None:
        """The whole script."""
        self._all(tree.body)

    def _all(self, body: list[ast.stmt]) -> None:
        for statement in body:
            self._steps += 1
            if self._steps > _MAX_STEPS:
                self.recorder.gap(self.places.at(statement), "the launcher is too long to be followed to its end")
                raise Exit
            method = getattr(self, f"_do_{type(statement).__name__.lower()}", None)
            if method is not None:
                method(statement)

    # -- statements

    def _do_import(self, node: ast.Import) -> None:
        for alias in node.names:
            self.imports[alias.asname or alias.name.split(".")[0]] = (
                alias.name if alias.asname else alias.name.split(".")[0]
            )

    def _do_importfrom(self, node: ast.ImportFrom) -> None:
        for alias in node.names:
            self.imports[alias.asname or alias.name] = f"{node.module or ''}.{alias.name}".lstrip(".")

    def _do_functiondef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.variables[node.name] = Function(node)

    _do_asyncfunctiondef = _do_functiondef

    def _do_expr(self, node: ast.Expr) -> None:
        self.value(node.value)

    def _do_return(self, node: ast.Return) -> None:
        raise _Return(self.value(node.value))

    def _do_assign(self, node: ast.Assign) -> None:
        value = self.value(node.value)
        for target in node.targets:
            self._assign(target, value, node)

    def _do_annassign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self._assign(node.target, self.value(node.value), node)

    def _do_augassign(self, node: ast.AugAssign) -> None:
        load: ast.expr = ast.copy_location(ast.BinOp(_loaded(node.target), node.op, node.value), node)
        self._assign(node.target, self.value(load), node)

    def _assign(self, target: ast.expr, value: Value, node: ast.stmt) -> None:
        at = self.places.at(node)
        if isinstance(target, ast.Subscript):
            base = self.value(target.value)
            key = known(as_text(self.value(target.slice), at))
            if isinstance(base, Name) and base.dotted == "os.environ" and key is not None:
                self.environ[key] = EnvVar(key, word(as_text(value, at), at), at)
            elif isinstance(base, Table) and key is not None and isinstance(target.value, ast.Name):
                self.variables[target.value.id] = base.having(key, value, at)
        else:
            self.bind(target, value, at)

    def _do_if(self, node: ast.If) -> None:
        test = self.value(node.test)
        holds = truth(test)
        if holds is not None:
            self._all(node.body if holds else node.orelse)
            return
        self._branches([node.body, node.orelse], variation(test), self.places.at(node.test))

    def _branches(self, bodies: list[list[ast.stmt]], why: Variation | None, at: Location) -> None:
        """All branches of a condition that is not known; what they disagree on is the condition's to decide."""
        before, conditions = self.variables, self._conditions
        ends: list[dict[str, Value]] = []
        left: _Return | None = None
        for body in bodies:
            self.variables = dict(before)
            self._conditions = (*conditions, (why, at))
            try:
                self._all(body)
                ends.append(self.variables)
            except _Return as found:
                left = left or found
            except Exit:
                pass
        self.variables, self._conditions = before, conditions
        if not ends:
            raise left or Exit
        for name in {name for end in ends for name, value in end.items() if before.get(name) is not value}:
            values = [end[name] for end in ends if name in end]
            value = values[0]
            for other in values[1:]:
                if not same(value, other):
                    changed = [each for each in values if name not in before or not same(each, before[name])]
                    value = either(value, other, why) if why is not None else (changed or values)[0]
            before[name] = value

    def _do_for(self, node: ast.For | ast.AsyncFor) -> None:
        source = self.value(node.iter)
        items = elements(source)
        at = self.places.at(node.target)
        if items is not None and len(items) <= _MAX_TURNS:
            mark, kept = self.recorder.mark(), dict(self.variables)
            for turn, item in enumerate(items):
                self.bind(node.target, item)
                if self._turn(node.body):
                    break
                if turn == 0 and len(items) > 1 and self.recorder.mark() != mark:
                    break  # each turn starts something: the turns are chunks
            else:
                return
            if self.recorder.mark() == mark or len(items) == 1:
                return
            self.recorder.back_to_mark(mark)
            self.variables.clear()
            self.variables.update(kept)
        name = ast.unparse(node.target)
        self.bind(node.target, Unknown("", Variation("loop", f"the loop's variable `{name}`"), at, name))
        self._looped(node.body)

    _do_asyncfor = _do_for

    def _do_while(self, node: ast.While) -> None:
        if truth(self.value(node.test)) is False:
            return
        for part in ast.walk(node):
            if isinstance(part, ast.AugAssign) and isinstance(part.target, ast.Name):
                name = part.target.id
                if isinstance(self.variables.get(name), (Const, Unknown)):
                    counted = Variation("loop", f"the loop's counter `{name}`")
                    self.variables[name] = Unknown("", counted, self.places.at(part), name)
        self._looped(node.body)

    def _looped(self, body: list[ast.stmt]) -> None:
        before, self._loops = self._loops, (*self._loops, "script")
        for part in (each for statement in body for each in ast.walk(statement)):
            if isinstance(part, ast.Assign) and isinstance(part.targets[0], ast.Name):
                name = part.targets[0].id
                if truth(self.variables.get(name, Const(True))) is False:
                    self.variables[name] = Unknown(f"`{name}` is left by the turn of the loop before", name=name)
        self._turn(body)
        self._loops = before

    def _turn(self, body: list[ast.stmt]) -> bool:
        """One turn of a loop; whether it ends the loop for sure."""
        self._all([part for part in body if not isinstance(part, (ast.Break, ast.Continue))])
        return any(isinstance(part, ast.Break) for part in body)

    def _do_with(self, node: ast.With | ast.AsyncWith) -> None:
        for item in node.items:
            value = self.value(item.context_expr)
            if item.optional_vars is not None:
                self.bind(item.optional_vars, value)
        self._all(node.body)

    _do_asyncwith = _do_with

    def _do_try(self, node: ast.Try) -> None:
        self._all(node.body)
        for handler in node.handlers:
            self._branches([handler.body, []], None, self.places.at(node))
        self._all(node.orelse)
        self._all(node.finalbody)

    # -- calls

    def call(self, node: ast.Call) -> Value:
        """Own functions are walked, programs are started, the rest is evaluated as far as it is plain."""
        args: list[Value] = []
        for arg in node.args:
            inner = self.value(arg)
            spread = inner.items if isinstance(arg, ast.Starred) and isinstance(inner, Items) else (inner,)
            args += spread
        keywords = {keyword.arg: self.value(keyword.value) for keyword in node.keywords if keyword.arg is not None}
        if isinstance(node.func, ast.Attribute):
            base = self.value(node.func.value)
            if not isinstance(base, Name):
                if node.func.attr == "add" and "executor" in keywords and args:
                    return self.nemo_run(args[0], keywords["executor"], node)
                return self.method(node, base, node.func.attr, args, keywords)
        function = self.value(node.func)
        if isinstance(function, Function):
            return self._own(function, args, keywords)
        name = function.dotted if isinstance(function, Name) else ""
        if name in RUNNERS or name in EXPORTS:
            return self.start(name, node, args, keywords) if name in RUNNERS else self.export(node, args, keywords)
        if name in ("sys.exit", "exit", "quit", "os._exit"):
            if self._depth == 0 and not self._conditions:
                raise Exit
            return Const(None)
        if name in ("run.run", "nemo_run.run") and args and "executor" in keywords:
            return self.nemo_run(args[0], keywords["executor"], node)
        return self.plain_call(node, name, args, keywords)

    def environment(self, name: str | None, node: ast.expr) -> Value:
        found = self.environ.get(name or "")
        if found is not None and found.value.text is not None:
            return Str((Piece(found.value.text, found.location),))
        return super().environment(name, node)

    def _own(self, function: Function, args: list[Value], keywords: dict[str, Value]) -> Value:
        if self._depth >= _MAX_DEPTH:
            return Unknown("it is called too deeply")
        signature = function.node.args
        local: dict[str, Value] = {}
        names = [*signature.posonlyargs, *signature.args]
        defaults = dict(zip([arg.arg for arg in names[len(names) - len(signature.defaults) :]], signature.defaults))
        defaults |= {
            arg.arg: value for arg, value in zip(signature.kwonlyargs, signature.kw_defaults) if value is not None
        }
        for name, default in defaults.items():
            local[name] = self.value(default)
        local |= {arg.arg: value for arg, value in zip(names, args)}
        if signature.vararg is not None:
            local[signature.vararg.arg] = Items(tuple(args[len(names) :]))
        known_names = {arg.arg for arg in (*names, *signature.kwonlyargs)}
        local |= {name: value for name, value in keywords.items() if name in known_names}
        for arg in (*names, *signature.kwonlyargs):
            local.setdefault(arg.arg, Unknown(f"`{arg.arg}` is given by the caller", name=arg.arg))
        outer = self.variables
        self.variables = {**self._globals, **(function.outer or {}), **local}
        self._depth += 1
        try:
            if isinstance(function.node, ast.Lambda):
                return self.value(function.node.body)
            self._all(function.node.body)
        except _Return as found:
            return found.value
        finally:
            self._depth -= 1
            self.variables = outer
        return Const(None)


def _loaded(target: ast.expr) -> ast.expr:
    """A target as an expression that reads it."""
    if isinstance(target, ast.Name):
        return ast.copy_location(ast.Name(target.id, ast.Load()), target)
    return target
