"""The borders between the rooms, read off the import statements: who may import whom, and how large a module may grow."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DISTRIBUTION = "nemo_resumable"
PACKAGES = ("core", "hooks", "lsp_server")
MODULES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))

#: What lies inside core, from the bottom up. A module imports from its own layer and from those below it; imports
#: that only a type checker follows are held to the same order.
LAYERS = (
    ("core.lazily", "core.records"),
    ("core.git", "core.text", "core.writing", "core.settings_toml"),
    ("core.settings_runtime",),
    ("core.settings",),
    ("core.findings", "core.fingerprints", "core.baseline"),
    ("core.syntax",),
    ("core.history",),
    ("core.model",),
    ("core.rules",),
    ("core.repository",),
    ("core.project",),
    ("core.discovery",),
    ("core.selecting",),
    ("core.lone_blends", "core.analysis"),
    ("core.verification", "core.fixing", "core.suppressing"),
    ("core.artifacts",),
    ("core.failures",),
)

#: Leaves import nothing of ours, or only what stands beside them.
LEAVES = {
    "core.lazily": (),
    "core.records": (),
    "core.text": ("core.lazily", "core.records"),
    "core.git": (),
    "core.writing": (),
    "core.settings_toml": (),
    "core.repository": ("core.lazily", "core.records"),
    "core.settings": ("core.records", "core.settings_toml", "core.settings_runtime"),
    "core.settings_runtime": ("core.records", "core.settings_toml"),
}

#: Packages that only one frontend may know: core has to load without them.
OF_THE_SERVER = ("pygls", "lsprotocol")

MOST_LINES = 300
#: Modules that are allowed to be longer, each with the number of lines and the reason. Empty is how it should be.
LONGER: dict[str, tuple[int, str]] = {}


def _name(path: Path) -> str:
    """`core/model/blend.py` is `core.model.blend`, and a package goes by its folder."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


NAMES = {_name(path): path for path in MODULES}


@cache
def _imports(name: str) -> tuple[tuple[int, str], ...]:
    """Every module that a module imports, with the line: ours from the package on (`core.text`), others in full."""
    return tuple(sorted(set(_read_imports(name))))


def _read_imports(name: str) -> Iterator[tuple[int, str]]:
    path = NAMES[name]
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name.removeprefix(f"{DISTRIBUTION}.")) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            whole = ".".join([*base, *filter(None, [node.module])]).removeprefix(f"{DISTRIBUTION}.")
            for alias in node.names:
                # `from .rules import training` names a module, `from .text import Span` what is in one.
                inner = alias.name if whole in ("", DISTRIBUTION) else f"{whole}.{alias.name}"
                yield node.lineno, inner if inner in NAMES else whole


def _within(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


def _layer(name: str) -> int | None:
    for height, members in enumerate(LAYERS):
        if any(_within(name, member) for member in members):
            return height
    return None


def _offences(name: str, allowed: Callable[[str], bool]) -> list[str]:
    place = NAMES[name].relative_to(ROOT).as_posix()
    return [f"{place}:{line} imports {other}" for line, other in _imports(name) if not allowed(other)]


CORE = [name for name in NAMES if _within(name, "core")]
FRONTENDS = [name for name in NAMES if not _within(name, "core")]


def test_imports_are_found() -> None:
    """The tests below would pass on nothing: what they look at has to be there."""
    assert {"core", "core.syntax.nodes", "hooks.cli"} <= set(NAMES)
    assert "core.findings" in {other for _, other in _imports("core.analysis")}
    assert "core.analysis" in {other for _, other in _imports("hooks.check")}


@pytest.mark.parametrize("name", CORE)
def test_core_knows_no_frontend(name: str) -> None:
    assert not _offences(name, lambda other: other.split(".")[0] not in ("hooks", "lsp_server", *OF_THE_SERVER))


@pytest.mark.parametrize("name", CORE)
def test_core_says_core_in_relative_imports_only(name: str) -> None:
    text = NAMES[name].read_text(encoding="utf-8")
    absolute = [
        line
        for line in text.splitlines()
        if line.lstrip().startswith((f"from {DISTRIBUTION}", f"import {DISTRIBUTION}"))
    ]
    assert not absolute


@pytest.mark.parametrize("name", [name for name in CORE if name != "core"])
def test_arrows_in_core_run_one_way(name: str) -> None:
    height = _layer(name)
    assert height is not None, f"{name} stands in no layer: say in LAYERS where it belongs"
    above = {other for _, other in _imports(name) if _within(other, "core") and (_layer(other) or 0) > height}
    assert not _offences(name, lambda other: other not in above)


@pytest.mark.parametrize("leaf", LEAVES)
def test_leaves_stand_alone(leaf: str) -> None:
    ours = {other for _, other in _imports(leaf) if other.split(".")[0] in PACKAGES}
    assert ours <= set(LEAVES[leaf])


@pytest.mark.parametrize("name", FRONTENDS)
def test_frontends_know_core_and_themselves(name: str) -> None:
    own = name.split(".")[0]
    others = [package for package in PACKAGES if package not in (own, "core")]
    assert not _offences(name, lambda other: other.split(".")[0] not in others)


@pytest.mark.parametrize("name", FRONTENDS)
def test_frontends_take_public_names_of_core(name: str) -> None:
    private = [
        f"{node.lineno}: {alias.name}"
        for node in ast.walk(ast.parse(NAMES[name].read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"{DISTRIBUTION}.core")
        for alias in node.names
        if alias.name.startswith("_") or "._" in (node.module or "")
    ]
    assert not private


@pytest.mark.parametrize("name", [name for name in FRONTENDS if _within(name, "hooks")])
def test_the_command_line_knows_no_protocol(name: str) -> None:
    assert not _offences(name, lambda other: other.split(".")[0] not in OF_THE_SERVER)


@pytest.mark.parametrize("name", NAMES)
def test_a_module_says_what_it_is(name: str) -> None:
    module = ast.parse(NAMES[name].read_text(encoding="utf-8"))
    # An `__init__.py` without a word only marks a package.
    assert not module.body or ast.get_docstring(module), f"{name} begins without a docstring"


def test_modules_stay_short() -> None:
    lengths = {name: len(path.read_text(encoding="utf-8").splitlines()) for name, path in NAMES.items()}
    long = {name: lines for name, lines in lengths.items() if lines > LONGER.get(name, (MOST_LINES, ""))[0]}
    assert not long, f"split these into a folder, or shorten them (at most {MOST_LINES} lines): {long}"
    idle = [name for name, (lines, reason) in LONGER.items() if lengths.get(name, 0) <= MOST_LINES or not reason]
    assert not idle, f"LONGER lists without need or reason: {idle}"
