"""Expressions of a Python launcher: texts, lists, tables, arithmetic; calls are the interpreter's."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ....findings import Location
from ..facts import Variation
from ..texts import Piece, Text, known
from .strings import Places, literal
from .values import (
    Const,
    Function,
    Items,
    Name,
    Record,
    Str,
    Table,
    Unknown,
    Value,
    as_text,
    drawn_at,
    either,
    elements,
    plain,
    shortened,
    truth,
    variation,
)

_MAX_ITEMS = 300
_MAX_EVALUATED = 60_000
_BINARY: dict[type[ast.operator], Callable[[int | float, int | float], int | float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Div: operator.truediv,
}
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


class Endless(Exception):
    """More is computed than a launcher computes."""


class Expressions:
    """Evaluates expressions in the variables of the moment."""

    places: Places
    variables: dict[str, Value]
    imports: dict[str, str]
    _evaluated: int = 0

    def call(self, node: ast.Call) -> Value:
        """What a call gives; the interpreter says."""
        raise NotImplementedError

    def value(self, node: ast.expr | None) -> Value:
        """The value of an expression. Raises Endless where the script is no launcher but a program."""
        if node is None:
            return Const(None)
        self._evaluated += 1
        if self._evaluated > _MAX_EVALUATED:
            raise Endless
        method = getattr(self, f"_of_{type(node).__name__.lower()}", None)
        if method is None:
            return Unknown(f"`{shortened(self.places.written(node))}` is not evaluated")
        found: Value = method(node)
        return found

    def text(self, node: ast.expr) -> Text:
        """An expression as `str()` prints it; what is not known goes by its source."""
        value = self.value(node)
        if isinstance(value, Unknown) and not value.name:
            value = replace(value, name=f"{{{shortened(self.places.written(node))}}}")
        return as_text(value, self.places.at(node))

    # -- the kinds of expressions

    def _of_constant(self, node: ast.Constant) -> Value:
        if isinstance(node.value, str):
            return Str(literal(node, self.places, self.text))
        if node.value is None or isinstance(node.value, (bool, int, float)):
            return Const(node.value, self.places.at(node))
        return Unknown("it is no plain text")

    def _of_joinedstr(self, node: ast.JoinedStr) -> Value:
        return Str(literal(node, self.places, self.text))

    def _of_name(self, node: ast.Name) -> Value:
        if node.id in self.variables:
            return self.variables[node.id]
        if node.id in self.imports:
            return Name(self.imports[node.id])
        return Name(node.id)

    def _of_attribute(self, node: ast.Attribute) -> Value:
        base = self.value(node.value)
        if isinstance(base, Name):
            dotted = f"{base.dotted}.{node.attr}"
            if dotted == "sys.executable":
                return Str((Piece("python", self.places.at(node)),))
            return Name(dotted)
        if isinstance(base, Record):
            found = base.attributes.get(node.attr)
            if found is not None:
                return found
            return Unknown(f"`{self.places.written(node)}` is given by whoever starts the launcher", name=node.attr)
        if isinstance(base, Str) and node.attr in ("name", "stem", "suffix"):
            return Unknown(f"`{self.places.written(node)}` is not computed here", variation(base))
        return Unknown(f"`{shortened(self.places.written(node))}` is not known", variation(base), name=node.attr)

    def _of_list(self, node: ast.List | ast.Tuple | ast.Set) -> Value:
        items: list[Value] = []
        for element in node.elts:
            if isinstance(element, ast.Starred):
                inner = self.value(element.value)
                items += inner.items if isinstance(inner, Items) else (inner,)
            else:
                items.append(self.value(element))
        return Items(tuple(items[:_MAX_ITEMS]))

    _of_tuple = _of_list
    _of_set = _of_list

    def _of_dict(self, node: ast.Dict) -> Value:
        table = Table()
        for key, item in zip(node.keys, node.values):
            value = self.value(item)
            if key is None:
                if isinstance(value, Table):
                    table = Table((*table.entries, *value.entries), table.inherits or value.inherits)
                elif isinstance(value, Name) and value.dotted == "os.environ":
                    table = replace(table, inherits=True)
                continue
            name = known(as_text(self.value(key), self.places.at(key)))
            if name is not None:
                first, last = self.places.span(key)[0], self.places.span(item)[1]
                table = table.having(name, value, self.places.script.at(first, last))
        return table

    def _of_binop(self, node: ast.BinOp) -> Value:
        left, right = self.value(node.left), self.value(node.right)
        at = self.places.at(node)
        if isinstance(node.op, ast.Add) and isinstance(left, Items) and isinstance(right, Items):
            return Items((left.items + right.items)[:_MAX_ITEMS])
        if isinstance(node.op, ast.Add) and isinstance(left, Items) and isinstance(right, Unknown):
            return Items((*left.items, right))
        if isinstance(node.op, ast.Add) and isinstance(left, Str):
            return Str(left.text + as_text(right, self.places.at(node.right)))
        if isinstance(node.op, ast.Add) and isinstance(right, Str):
            return Str(as_text(left, self.places.at(node.left)) + right.text)
        if isinstance(node.op, ast.Div) and isinstance(left, Str):
            return Str((*left.text, Piece("/", at), *as_text(right, self.places.at(node.right))))
        if isinstance(left, Const) and isinstance(right, Const):
            compute = _BINARY.get(type(node.op))
            numbers = [left.value, right.value]
            if compute is not None and all(isinstance(number, (int, float)) for number in numbers):
                try:
                    result = compute(numbers[0], numbers[1])  # type: ignore[arg-type]
                    return Const(result, at, left.defaulted or right.defaulted, left.drawn or right.drawn)
                except (ArithmeticError, ValueError):
                    pass
        return Unknown(f"`{shortened(self.places.written(node))}` is not computed here", variation(left, right))

    def _of_unaryop(self, node: ast.UnaryOp) -> Value:
        value = self.value(node.operand)
        if isinstance(node.op, ast.Not):
            found = truth(value)
            return Const(not found) if found is not None else Unknown("", variation(value))
        if isinstance(node.op, ast.USub) and isinstance(value, Const) and isinstance(value.value, (int, float)):
            return replace(value, value=-value.value)
        return Unknown("", variation(value))

    def _of_boolop(self, node: ast.BoolOp) -> Value:
        """`a or b`: the first that is sure to decide, else the last with what it may be."""
        values = [self.value(each) for each in node.values]
        wanted = isinstance(node.op, ast.Or)
        for value in values[:-1]:
            found = truth(value)
            if found is wanted:
                return value
            if found is None:
                default = values[-1]
                if wanted and isinstance(default, Const):
                    return replace(default, defaulted=True)
                if wanted and isinstance(default, Str):
                    return Str(tuple(replace(piece, defaulted=True) for piece in default.text))
                return Unknown("", variation(*values))
        return values[-1]

    def _of_compare(self, node: ast.Compare) -> Value:
        left, right = self.value(node.left), self.value(node.comparators[0])
        compare = _COMPARE.get(type(node.ops[0]))
        if isinstance(node.ops[0], (ast.Is, ast.IsNot)) and isinstance(right, Const) and right.value is None:
            if isinstance(left, Const) and not left.defaulted:
                return Const((left.value is None) == isinstance(node.ops[0], ast.Is))
            if isinstance(left, (Str, Items, Table)):
                return Const(isinstance(node.ops[0], ast.IsNot))
        first, second = plain(left), plain(right)
        if len(node.ops) == 1 and compare is not None and first is not None and second is not None:
            try:
                return Const(compare(first, second))
            except TypeError:
                pass
        return Unknown("", variation(left, right))

    def _of_ifexp(self, node: ast.IfExp) -> Value:
        test = self.value(node.test)
        holds = truth(test)
        if holds is not None:
            return self.value(node.body if holds else node.orelse)
        one, other = self.value(node.body), self.value(node.orelse)
        return either(one, other, variation(test))

    def _of_subscript(self, node: ast.Subscript) -> Value:
        base, index = self.value(node.value), self.value(node.slice)
        if isinstance(base, Items) and isinstance(index, Const) and isinstance(index.value, int):
            if -len(base.items) <= index.value < len(base.items):
                return base.items[index.value]
        key = known(as_text(index, self.places.at(node)))
        if isinstance(base, Table) and key is not None and (found := base.get(key)) is not None:
            return found
        if isinstance(base, Name) and base.dotted == "os.environ":
            return self.environment(key, node)
        varies = variation(index)
        if varies is not None and isinstance(base, (Items, Table)):
            return Unknown("", Variation("list", f"`{shortened(self.places.written(node))}`"))
        return Unknown(f"`{shortened(self.places.written(node))}` is not known", varies or variation(base))

    def environment(self, name: str | None, node: ast.expr) -> Value:
        """A variable of the launcher's own environment."""
        return Unknown(f"`{shortened(self.places.written(node))}` comes from outside", name=name or "")

    def _of_listcomp(self, node: ast.ListComp | ast.GeneratorExp | ast.SetComp) -> Value:
        generator = node.generators[0]
        source = self.value(generator.iter)
        items = elements(source)
        if len(node.generators) > 1 or items is None or len(items) > _MAX_ITEMS:
            return Unknown("the list is only known when it runs", variation(source))
        kept = dict(self.variables)
        found: list[Value] = []
        for item in items:
            self.bind(generator.target, item)
            if all(truth(self.value(test)) is not False for test in generator.ifs):
                found.append(self.value(node.elt))
        self.variables = kept
        return Items(tuple(found))

    _of_generatorexp = _of_listcomp
    _of_setcomp = _of_listcomp

    def _of_starred(self, node: ast.Starred) -> Value:
        return self.value(node.value)

    def _of_lambda(self, node: ast.Lambda) -> Value:
        return Function(node, dict(self.variables))

    def _of_await(self, node: ast.Await) -> Value:
        return self.value(node.value)

    def _of_namedexpr(self, node: ast.NamedExpr) -> Value:
        value = self.value(node.value)
        self.bind(node.target, value, self.places.at(node))
        return value

    def _of_call(self, node: ast.Call) -> Value:
        return self.call(node)

    def bind(self, target: ast.expr, value: Value, at: Location | None = None) -> None:
        """Assign to a name or take apart a tuple; `at` is the assignment, where there is one."""
        if isinstance(target, ast.Name):
            self.variables[target.id] = drawn_at(value, at) if at is not None else value
        elif isinstance(target, (ast.Tuple, ast.List)):
            parts = value.items if isinstance(value, Items) else ()
            for index, part in enumerate(target.elts):
                item = parts[index] if len(parts) == len(target.elts) else Unknown("", variation(value))
                self.bind(part, item, at)
