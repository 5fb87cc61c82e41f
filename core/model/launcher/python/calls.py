"""Calls of a Python launcher that matter: builtins, texts and lists, argument parsers, and what draws or reads the clock."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ....findings import Location
from ..facts import Variation
from ..texts import Piece, Text, cut, flat, known, split
from .expressions import Expressions
from .strings import joined
from .values import (
    Const,
    Items,
    Name,
    Record,
    Str,
    Table,
    Unknown,
    Value,
    as_text,
    shortened,
    variation,
)

_RANDOM = re.compile(r"^(random|secrets|uuid|numpy\.random|np\.random|os\.urandom|os\.getpid|tempfile|string\.)")
_CLOCK = re.compile(r"^(time\.(?!sleep)|datetime|date\.|calendar\.)")
_SAME = frozenset(
    {"str", "int", "float", "Path", "pathlib.Path", "os.path.abspath", "os.path.expanduser", "os.fspath", "shlex.quote"}
)
_KEPT = frozenset(
    {"strip", "rstrip", "lstrip", "as_posix", "resolve", "absolute", "expanduser", "copy", "lower", "upper"}
)
_NUMBERS: dict[str, Callable[..., Any]] = {"max": max, "min": min, "abs": abs, "round": round}


class Calls(Expressions):
    """Evaluates what is built in and plain; what starts programs is the interpreter's."""

    def plain_call(self, node: ast.Call, name: str, args: list[Value], keywords: dict[str, Value]) -> Value:
        """A call of something that is not the script's own."""
        if _RANDOM.match(name):
            return Unknown("", Variation("random", f"`{shortened(self.places.written(node))}`"))
        if _CLOCK.match(name):
            return Unknown("", Variation("time", f"the clock (`{shortened(self.places.written(node))}`)"))
        if name in _SAME and args:
            return self._same(name, args, node)
        if name in _NUMBERS and args and all(isinstance(arg, Const) for arg in args):
            numbers = [arg.value for arg in args if isinstance(arg, Const)]
            try:
                return replace(args[0], value=_NUMBERS[name](*numbers))
            except (TypeError, ValueError):
                pass
        if name in ("list", "tuple", "sorted", "reversed") and args and isinstance(args[0], Items):
            return args[0]
        if name == "dict" or name.endswith(("OrderedDict", "environ.copy")):
            return self._table(name, args, keywords, node)
        if name in ("shlex.join", "subprocess.list2cmdline") and args and isinstance(args[0], Items):
            at = self.places.at(node)
            return Str(joined([as_text(item, at) for item in args[0].items], at))
        if name == "shlex.split" and args and isinstance(args[0], Str):
            return Items(tuple(Str(part) for part in split(args[0].text)))
        if name in ("os.path.join",) and args:
            return self._joined_path(args, node)
        if name in ("os.environ.get", "os.getenv"):
            return self._from_environment(args, node)
        if name == "range":
            return self._range(args)
        if name.endswith("ArgumentParser"):
            return Record("parser", {}, self.places.at(node))
        if name == "len" and args and isinstance(args[0], Items):
            return Const(len(args[0].items))
        if name == "enumerate" and args and isinstance(args[0], Items):
            return Items(tuple(Items((Const(index), item)) for index, item in enumerate(args[0].items)))
        if name.split(".")[-1] in ("SlurmExecutor", "Script", "LocalExecutor", "Partial"):
            return self._record(name, args, keywords, node)
        return Unknown(
            f"`{shortened(self.places.written(node))}` is not evaluated", variation(*args, *keywords.values())
        )

    def _same(self, name: str, args: list[Value], node: ast.Call) -> Value:
        value = args[0]
        if name in ("int", "float"):
            text = known(value.text) if isinstance(value, Str) else None
            if text is not None and re.fullmatch(r"\s*[+-]?\d+\s*", text):
                defaulted = isinstance(value, Str) and any(piece.defaulted for piece in value.text)
                return Const(int(text), self.places.at(node), defaulted)
            return value
        if name == "str" and isinstance(value, Const):
            return Str(as_text(value, self.places.at(node)))
        if name in ("Path", "pathlib.Path") and len(args) > 1:
            return self._joined_path(args, node)
        return value

    def _joined_path(self, args: list[Value], node: ast.Call) -> Value:
        at = self.places.at(node)
        text: Text = as_text(args[0], at)
        for arg in args[1:]:
            text = (*text, Piece("/", at), *as_text(arg, at))
        return Str(text)

    def _table(self, name: str, args: list[Value], keywords: dict[str, Value], node: ast.Call) -> Value:
        table = Table(inherits=name.endswith("environ.copy"))
        if args and isinstance(args[0], Table):
            table = args[0]
        elif args and isinstance(args[0], Name) and args[0].dotted == "os.environ":
            table = Table(inherits=True)
        for keyword in node.keywords:
            if keyword.arg is not None:
                table = table.having(keyword.arg, keywords[keyword.arg], self.places.at(keyword))
        return table

    def _from_environment(self, args: list[Value], node: ast.Call) -> Value:
        at = self.places.at(node)
        name = known(as_text(args[0], at)) if args else None
        if len(args) > 1:
            default = args[1]
            if isinstance(default, Const):
                return replace(default, defaulted=True)
            if isinstance(default, Str):
                return Str(tuple(replace(piece, defaulted=True) for piece in default.text))
        return self.environment(name, node)

    def _range(self, args: list[Value]) -> Value:
        numbers = [
            arg.value for arg in args if isinstance(arg, Const) and isinstance(arg.value, int) and not arg.defaulted
        ]
        if len(numbers) == len(args) and args:
            span = range(*numbers[:3]) if len(numbers) < 3 or numbers[2] else range(0)
            if len(span) == 1:
                return Items((Const(span[0]),))
        return Unknown("a range of numbers", name="range")

    def _record(self, name: str, args: list[Value], keywords: dict[str, Value], node: ast.Call) -> Value:
        kind = name.split(".")[-1]
        attributes = dict(keywords)
        if kind in ("Script", "Partial") and args:
            attributes.setdefault("path", args[0])
        return Record(kind, attributes, self.places.at(node))

    # -- methods

    def method(self, node: ast.Call, base: Value, name: str, args: list[Value], keywords: dict[str, Value]) -> Value:
        """A method of a value; changes of lists and tables go back into their variable."""
        at = self.places.at(node)
        if isinstance(base, Str):
            return self._text_method(node, base, name, args, keywords)
        if isinstance(base, Items):
            if name in ("append", "extend", "insert"):
                added = args[-1] if args else Const(None)
                more = added.items if name == "extend" and isinstance(added, Items) else (added,)
                self._write_back(node, Items((*more, *base.items) if name == "insert" else (*base.items, *more)))
            return Items(base.items) if name == "copy" else Const(None)
        if isinstance(base, Table):
            return self._table_method(node, base, name, args, keywords)
        if isinstance(base, Record) and base.kind == "parser":
            return self._parser_method(node, base, name, args, keywords)
        if isinstance(base, Const) and name in ("total_seconds", "bit_length"):
            return Unknown("", None)
        return Unknown(f"`{shortened(self.places.written(node))}` is not evaluated", variation(base, *args), at)

    def _text_method(
        self, node: ast.Call, base: Str, name: str, args: list[Value], keywords: dict[str, Value]
    ) -> Value:
        at = self.places.at(node)
        if name == "join" and args and isinstance(args[0], Items):
            separator = known(base.text)
            parts: list[Piece] = []
            for index, item in enumerate(args[0].items):
                if index:
                    parts.append(Piece(separator if separator is not None else " ", at))
                parts += as_text(item, at)
            return Str(tuple(parts))
        if name == "format":
            return Str(_formatted(base.text, args, keywords, at))
        if name in ("split", "splitlines") and not args:
            return Items(tuple(Str(part) for part in split(base.text)))
        if name in _KEPT:
            return base
        if name == "joinpath":
            return self._joined_path([base, *args], node)
        text = known(base.text)
        plain = [known(arg.text) if isinstance(arg, Str) else None for arg in args]
        if text is not None and name == "replace" and len(plain) == 2 and None not in plain:
            return Str((Piece(text.replace(str(plain[0]), str(plain[1])), at),))
        return Unknown(f"`{shortened(self.places.written(node))}` is not computed here", variation(base, *args))

    def _table_method(
        self, node: ast.Call, base: Table, name: str, args: list[Value], keywords: dict[str, Value]
    ) -> Value:
        at = self.places.at(node)
        key = known(as_text(args[0], at)) if args else None
        if name == "get" and key is not None:
            return base.get(key) or (args[1] if len(args) > 1 else Const(None))
        if name == "items":
            return Items(tuple(Items((Str((Piece(key, place),)), value)) for key, value, place in base.entries))
        if name == "values":
            return Items(tuple(value for _, value, _ in base.entries))
        if name == "keys":
            return Items(tuple(Str((Piece(key, place),)) for key, _, place in base.entries))
        if name in ("update", "setdefault"):
            table = base
            if args and isinstance(args[0], Table):
                for entry in args[0].entries:
                    table = table.having(*entry)
            elif name == "setdefault" and key is not None and len(args) > 1 and base.get(key) is None:
                table = table.having(key, args[1], at)
            for keyword, value in keywords.items():
                table = table.having(keyword, value, at)
            self._write_back(node, table)
        return base if name == "copy" else Const(None)

    def _parser_method(
        self, node: ast.Call, base: Record, name: str, args: list[Value], keywords: dict[str, Value]
    ) -> Value:
        at = self.places.at(node)
        if name == "add_argument":
            flags = [known(as_text(arg, at)) or "" for arg in args]
            long = next((flag for flag in flags if flag.startswith("--")), flags[0] if flags else "")
            target = known(as_text(keywords["dest"], at)) if "dest" in keywords else long.lstrip("-").replace("-", "_")
            default = keywords.get("default")
            action = known(as_text(keywords["action"], at)) if "action" in keywords else None
            if default is None and action in ("store_true", "store_false"):
                default = Const(action == "store_false")
            if isinstance(default, Const):
                base.attributes[target or ""] = replace(default, defaulted=True)
            elif isinstance(default, Str):
                base.attributes[target or ""] = default  # one value for all chunks that the script starts
        elif name in ("parse_args", "parse_known_args"):
            namespace = Record("namespace", dict(base.attributes), at)
            return (
                namespace if name == "parse_args" else Items((namespace, Unknown("arguments of the caller", name="@")))
            )
        elif name in ("add_argument_group", "add_mutually_exclusive_group"):
            return base
        return Const(None)

    def _write_back(self, node: ast.Call, value: Value) -> None:
        target = node.func.value if isinstance(node.func, ast.Attribute) else None
        if isinstance(target, ast.Name) and target.id in self.variables:
            self.variables[target.id] = value


def _formatted(template: Text, args: list[Value], keywords: dict[str, Value], at: Location) -> Text:
    """`"…{name}…".format(name=…)` with the places of the template kept."""
    pieces: list[Piece] = []
    position = count = 0
    for match in re.finditer(r"\{\{|\}\}|\{(\w*)(?:![rs])?(?::[^{}]*)?\}", flat(template)):
        pieces += cut(template, position, match.start())
        position = match.end()
        if match[0] in ("{{", "}}"):
            pieces += cut(template, match.start(), match.start() + 1)
            continue
        name = match[1]
        value = keywords.get(name)
        if value is None and (not name or name.isdigit()):
            index = int(name) if name else count
            count += 1
            value = args[index] if index < len(args) else None
        pieces += as_text(value if value is not None else Unknown(f"`{name}` is not given"), at)
    pieces += cut(template, position)
    return tuple(pieces)
