"""What NeMo's source says of its options and source types, read off the syntax tree: nothing is imported or run."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ..records import dataclass
from ..text import Span
from .probe_files import CannotRead, Reader
from .schema import INFINITY, OPTIONS, Option
from .values import Unknown

SCHEMA_CLASS = "LhotseDataLoadingConfig"
_REGISTER = "data_type_parser"


@dataclass(frozen=True, slots=True)
class Loader:
    """What `dataloader.py` says."""

    options: dict[str, Option]
    per_rank_state: bool
    text: str
    schema: Span  #: the name of the schema's class


@dataclass(frozen=True, slots=True)
class Readers:
    """What `cutset.py`, or another module that registers source types, says. None: it does not speak of it."""

    types: frozenset[str]
    complete: bool  #: whether every registration could be read
    zero_weights: bool | None = None
    nested_relative: bool | None = None


def _loader(text: str) -> Loader:
    blocks = _blocks(text, "class")
    at = re.search(rf"^class +({SCHEMA_CLASS})\b", text, re.M)
    if at is None:
        raise CannotRead(f"it has no class `{SCHEMA_CLASS}`")
    options = dict(_fields(SCHEMA_CLASS, blocks, ()))
    return Loader(options, any("PerRankStateful" in name for name in blocks), text, Span(*at.span(1)))


_HEAD = re.compile(r"^(?:async +)?(class|def) +(\w+)", re.M)
_NEXT = re.compile(r"^[^\s#)\]}]", re.M)


def _blocks(text: str, keyword: str) -> dict[str, str]:
    """The text of each top-level class or function by its name: parsing a whole module would take many times longer."""
    found = {}
    for head in _HEAD.finditer(text):
        if head[1] == keyword:
            end = _NEXT.search(text, head.end())
            found[head[2]] = text[head.start() : end.start() if end else len(text)]
    return found


def _parsed(block: str) -> ast.stmt:
    return ast.parse(block).body[0]


def _fields(name: str, classes: dict[str, str], seen: tuple[str, ...]) -> Iterator[tuple[str, Option]]:
    """The fields of a dataclass: those of its bases in the same file, then its own."""
    node = _parsed(classes[name]) if name in classes and name not in seen else None
    if not isinstance(node, ast.ClassDef):
        return
    for base in node.bases:
        if isinstance(base, ast.Name):
            yield from _fields(base.id, classes, (*seen, name))
    for item in node.body:
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
            yield item.target.id, _option(item.target.id, item)


def _option(name: str, item: ast.AnnAssign) -> Option:
    known = OPTIONS.get(name)
    default = _default(name, item.value)
    if known is None:
        return Option(name, annotation(item.annotation), default)
    return Option(name, annotation(item.annotation), default, known.propagated, known.shared, known.speech_main)


_COMPUTED = object()


def _default(name: str, node: ast.expr | None) -> object:
    value = _literal(node) if node is not None else _COMPUTED
    if value is _COMPUTED:
        return Unknown(f"the default of `{name}` is computed when NeMo is loaded", "default", "?")
    return value


def _literal(node: ast.expr) -> object:
    """The value of a plain expression, lists and tuples as lists; `_COMPUTED` for any other."""
    if isinstance(node, ast.Call):
        called = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        if called == "float" and len(node.args) == 1:
            return INFINITY if _literal(node.args[0]) in ("inf", "+inf", "Infinity") else _COMPUTED
        if called == "field":
            for keyword in node.keywords:
                if keyword.arg == "default":
                    return _literal(keyword.value)
                if keyword.arg == "default_factory" and isinstance(keyword.value, ast.Name):
                    return {"list": [], "dict": {}}.get(keyword.value.id, _COMPUTED)
        return _COMPUTED
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return _COMPUTED
    return list(value) if isinstance(value, tuple) else value


_PLAIN = {"int": "int", "float": "float", "bool": "bool", "str": "str", "Any": "any", "object": "any"}
_CONTAINERS = {"list": "list", "dict": "dict", "tuple": "tuple", "Sequence": "list"}


def annotation(node: ast.expr) -> str:
    """A type as the schema table writes it: `int`, `float?`, `int|str`, `list[int]?`; `any` for what it has no word for."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        try:
            node = ast.parse(node.value, mode="eval").body
        except SyntaxError:
            return "any"
    parts = sorted({_named(each) for each in _alternatives(node)})
    nullable = "None" in parts
    parts = [part for part in parts if part != "None"]
    if "any" in parts or not parts:
        return "any"
    return "|".join(parts) + ("?" if nullable else "")


def _alternatives(node: ast.expr) -> Iterator[ast.expr]:
    """The members of a union; of `Optional[X]`, X and None."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        yield from _alternatives(node.left)
        yield from _alternatives(node.right)
    elif isinstance(node, ast.Subscript) and _word(node.value) in ("Optional", "Union"):
        inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        for each in inner:
            yield from _alternatives(each)
        if _word(node.value) == "Optional":
            yield ast.Constant(None)
    else:
        yield node


def _named(node: ast.expr) -> str:
    if isinstance(node, ast.Constant) and node.value is None:
        return "None"
    if isinstance(node, ast.Subscript):
        container = _container(node.value)
        inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return f"{container}[{','.join(annotation(each) for each in inner)}]" if container else "any"
    container = _container(node)
    return f"{container}[any]" if container else _PLAIN.get(_word(node), "any")


def _container(node: ast.expr) -> str:
    word = _word(node)
    return _CONTAINERS.get(word) or _CONTAINERS.get(word.lower(), "")


def _word(node: ast.expr) -> str:
    """The last word of a name: `Optional` of `typing.Optional`."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _readers(text: str) -> Readers:
    types: set[str] = set()
    complete = True
    for number, found in enumerate(_REGISTERED.finditer(text)):
        if number == _MOST_TYPES:
            complete = False
            break
        end = _FUNCTION.search(text, found.end(), found.end() + _LONGEST_DECORATORS)
        if end is None:
            complete = False
            continue
        function = _parsed(f"{text[found.start() : end.start()]}def parser(): ...")
        for decorator in getattr(function, "decorator_list", []):
            if isinstance(decorator, ast.Call) and _word(decorator.func) == _REGISTER:
                given = [*decorator.args, *(keyword.value for keyword in decorator.keywords)]
                names = _literal(given[0]) if given else _COMPUTED
                names = [names] if isinstance(names, str) else names
                if isinstance(names, list) and all(isinstance(name, str) for name in names):
                    types.update(names)
                else:
                    complete = False
    functions = _blocks(text, "def") if types else {}
    weights, group = functions.get("temperature_reweighting"), functions.get("parse_and_combine_datasets")
    return Readers(
        frozenset(types),
        complete,
        _zero_weights(_parsed(weights)) if weights is not None else None,
        _nested_relative(_parsed(group)) if group is not None else None,
    )


_REGISTERED = re.compile(rf"^@(?:\w+\.)*{_REGISTER}\b", re.M)
_FUNCTION = re.compile(r"^(?:async +)?def ", re.M)
_LONGEST_DECORATORS = 4000  #: characters above a function
_MOST_TYPES = 500


def _zero_weights(function: ast.AST) -> bool | None:
    """Whether the check of weights lets zeros pass: `any(weights < 0)` does, `any(weights <= 0)` does not."""
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and _word(node.func) == "any":
            for inner in ast.walk(node):
                if (
                    isinstance(inner, ast.Compare)
                    and len(inner.ops) == 1
                    and _literal(inner.comparators[0]) in (0, 0.0)
                ):
                    if isinstance(inner.ops[0], (ast.Lt, ast.LtE)):
                        return isinstance(inner.ops[0], ast.Lt)
    return None


def _nested_relative(function: ast.AST) -> bool:
    """Whether an entry's `input_cfg` is rewritten before it is read, which is how it is put beside its own file."""
    return any(
        isinstance(target, ast.Subscript) and _literal(target.slice) == "input_cfg"
        for node in ast.walk(function)
        if isinstance(node, ast.Assign)
        for target in node.targets
    )


read_loader = Reader(_loader)
read_readers = Reader(_readers)
