"""Facts in launchers beside known answers (`../shared/launchers`, where it is there): every fact of every script."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from nemo_resumable.core.findings import Location
from nemo_resumable.core.model.launcher.facts import Fact, Launch, Launcher, Submission, Word
from nemo_resumable.core.text import Source

SCRIPTS = Path(__file__).parents[3] / "shared" / "launchers"
pytestmark = pytest.mark.skipif(not SCRIPTS.is_dir(), reason="the launchers are not beside this repository")

EXPECTED: dict[str, Any] = json.loads((SCRIPTS / "expected.json").read_text()) if SCRIPTS.is_dir() else {}
CASES: dict[str, Any] = EXPECTED.get("scripts", {})
#: The variables of which the answers speak.
_SPOKEN_OF = re.compile(r"AIS_|USE_AIS_|LHOTSE_|PYTHONPATH$|PL_GLOBAL_SEED$")
_SEEDS = ("data.train_ds.seed", "seed")

Facts = list[tuple[str, object, object]]  #: what it is · as expected · as read


@cache
def read(name: str) -> Launcher:
    from nemo_resumable.core.model.launcher.reader import read_launcher

    path = SCRIPTS / name
    return read_launcher(Source.from_bytes(path, path.read_bytes()))


def start(name: str) -> Launch | None:
    """The one training command of a script; None where it starts none itself."""
    launches = read(name).launches
    assert len({launch.location.span for launch in launches}) <= 1, "one training command in each of these scripts"
    return launches[-1] if launches else None


def said(word: Word | None, expected: object) -> object:
    """A word the way the answers write it: `~` for the home, `unknown: …` for what is not known or varies."""
    if word is None:
        return None
    if isinstance(expected, str) and expected.startswith("unknown"):
        return expected if word.text is None else word.text
    if word.text is not None:
        return word.text
    if "<inherited>" in str(expected):
        return re.sub(r"\$\{?\w+\}?", "<inherited>", word.shown)
    home = word.shown.replace("${HOME}", "$HOME")
    return home if str(expected).startswith("$HOME") else home.replace("$HOME", "~")


def home(text: str | None) -> str | None:
    """Both ways in which the answers write the home."""
    return text.replace("$HOME", "~") if text is not None else None


def line(location: Location) -> int:
    return location.source.lines.position(location.span.start).line


def number(fact: Fact) -> int | None:
    return fact.value


def overrides(launch: Launch | None, expected: dict[str, str]) -> dict[str, object]:
    found: dict[str, object] = {}
    for override in launch.overrides if launch else ():
        if override.prefix == "~":
            found[f"~{override.key}"] = "deleted"
        else:
            found[override.key] = said(override.value, expected.get(override.key))
    return found


def seed(launcher: Launcher, launch: Launch | None) -> Iterator[Word]:
    """The words that seed training, the strongest last."""
    for submission in launcher.submissions:
        yield from (handed.value for handed in submission.hands_over if "seed" in handed.name.lower())
    if launch is not None:
        if (variable := launch.env.get("PL_GLOBAL_SEED")) is not None and variable.reaches:
            yield variable.value
        yield from (override.value for override in launch.overrides if override.key in _SEEDS)


def policy(words: list[Word], expected: dict[str, Any]) -> dict[str, Any]:
    """The policy of the seed, in the words of the answers."""
    if not words:
        return {"policy": "none"}
    word = words[-1]
    if word.varies is not None:
        by = re.sub(r"[`$]", "", word.varies.by)
        wanted = str(expected.get("by", ""))
        names = set(re.findall(r"[\w/.\[\]]{5,}", wanted.replace("$", "")))
        return {"policy": "rotates", "by": wanted if any(name in by for name in names) else by}
    if word.text is None:
        return {"policy": "unknown"}
    return {
        "policy": "fixed",
        "value": int(word.text),
        **({"unless": expected.get("unless")} if word.defaulted else {}),
    }


def assumed(launch: Launch | None, key: str) -> int:
    found = {override.key: override.value.text for override in launch.overrides} if launch else {}
    return int(str(found.get(key, EXPECTED["assume"][key])))


def topology(launch: Launch | None, submission: Submission | None, expected: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {
        "nodes": number(launch.nodes) if launch else None,
        "tasks_per_node": number(launch.tasks_per_node) if launch else None,
        "ranks_per_node": number(launch.ranks_per_node) if launch else None,
        "gpus_per_node": number(launch.gpus_per_node) if launch else None,
        "num_nodes": assumed(launch, "trainer.num_nodes"),
        "devices": assumed(launch, "trainer.devices"),
    }
    if submission is not None and submission.nodes.varies is not None:
        found["varies"] = expected.get("varies")
    if launch is not None and any(
        override.key.endswith((".num_workers", ".num_nodes", ".devices")) and override.value.varies is not None
        for override in launch.overrides
    ):
        found["varies"] = expected.get("varies")
    return found


def facts(name: str) -> Facts:
    """Every fact of a script beside its answer."""
    case, launcher, launch = CASES[name], read(name), start(name)
    submission = launcher.submissions[-1] if launcher.submissions else None
    stated = launch or submission
    config = case["config"] or {}
    walltime = stated.walltime if stated is not None else None
    chain = stated.chain if stated is not None else None
    env = {key: value for key, value in (launch.env.items() if launch else ()) if _SPOKEN_OF.match(key)}
    words = list(seed(launcher, launch))
    return [
        ("kind", case["kind"].split()[0], launcher.kind),
        ("program", case.get("program_value", case["program"]), said(launch.program, None) if launch else None),
        ("config.path", config.get("path_value", config.get("path")), _path(launch, config)),
        (
            "config.name",
            config.get("name_value", config.get("name")),
            said(launch.config_name, None) if launch else None,
        ),
        ("overrides", case["overrides"], overrides(launch, case["overrides"])),
        ("seed", case["seed"], policy(words, case["seed"])),
        ("topology", case["topology"], topology(launch, submission, case["topology"])),
        (
            "walltime",
            case["walltime"],
            {"written": walltime.written, "seconds": walltime.seconds, "line": line(walltime.location)}
            if walltime is not None
            else None,
        ),
        (
            "chunks",
            case["chunks"],
            {"chained": chain.chained, "by": chain.by, "array": chain.array} if chain is not None else None,
        ),
        (
            "env",
            case["env"],
            {key: said(value.value, case["env"].get(key)) for key, value in env.items() if value.reaches},
        ),
        ("container", case["container"], said(launch.container, None) if launch else None),
        ("venv", home(case.get("venv")), home(str(said(launch.python, None))) if launch and launch.python else None),
        (
            "staging",
            case["staging"],
            [
                {
                    "line": line(each.location),
                    "from": each.source.text,
                    "to": each.target.text,
                    "every_chunk": each.every_chunk,
                    "every_node": each.every_node,
                }
                for each in (launch.staging if launch else ())
            ],
        ),
    ]


def _path(launch: Launch | None, config: dict[str, Any]) -> object:
    if launch is None:
        return None
    return said(launch.config_path or launch.config_dir, config.get("path_value", config.get("path")))


@pytest.mark.parametrize("name", sorted(CASES))
def test_facts_of_a_script(name: str) -> None:
    found = facts(name)
    assert {what: read for what, _, read in found} == {what: expected for what, expected, _ in found}


def test_facts_in_one_figure(capsys: pytest.CaptureFixture[str]) -> None:
    """The figure, shell and Python apart: how many facts are right."""
    figures = {}
    for kind in ("shell", "Python"):
        scripts = [name for name in CASES if name.endswith(".py") == (kind == "Python")]
        found = [fact for name in scripts for fact in facts(name)]
        figures[kind] = (sum(expected == read for _, expected, read in found), len(found), len(scripts))
    with capsys.disabled():
        for kind, (right, total, scripts) in figures.items():
            print(f"\nlaunchers in {kind}: {right} of {total} facts right in {scripts} scripts", end="")
        print()
    assert all(right == total for right, total, _ in figures.values())


def test_what_cannot_be_read_is_said_at_its_place() -> None:
    """The gaps of a script are the NR512 of the answers, and nothing else."""
    for name, case in CASES.items():
        answers = {
            (note["line"], note["column"], note["end_column"]) for note in case["notes"] if note["code"] == "NR512"
        }
        gaps = set()
        for gap in read(name).gaps:
            lines = gap.location.source.lines
            begin, end = lines.position(gap.location.span.start), lines.position(gap.location.span.end)
            gaps.add((begin.line, begin.column, end.column))
        assert gaps == answers, name
