"""The cause of a failed run, asked for in the editor: with the line of the open config that it comes from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from nemo_resumable.core.failures.page import find_page

from .conftest import CONFIG

COMMAND = "nemo-resumable.diagnoseLogs"
LOG = find_page("shard-seed-changed").examples[0].text


def _run(client: Any, *arguments: Any) -> Any:
    return client.request("workspace/executeCommand", {"command": COMMAND, "arguments": list(arguments)})


def test_the_cause_and_the_line_behind_it(client: Any, project: Path) -> None:
    """The text in the editor counts, not the file."""
    uri = client.open(project / "conf.yaml", f"# one line more\n{CONFIG}")
    log = project / "slurm-1.out"
    log.write_text(LOG, encoding="utf-8")
    answer = _run(client, [log.as_uri()], uri)
    assert (answer["cause"], answer["language"]) == ("shard-seed-changed", "markdown")
    assert answer["text"].startswith("# shard-seed-changed\n")
    line = f"# one line more\n{CONFIG}".splitlines().index('    shard_seed: "randomized"') + 1
    assert f"[conf.yaml:{line}](<{uri}#L{line}>) NR110" in answer["text"]
    kinds = [each["value"]["kind"] for each in client.said("$/progress")]
    assert kinds[0] == "begin"
    assert kinds[-1] == "end"


def test_several_logs_without_a_config(client: Any, project: Path) -> None:
    logs = [project / "rank-0.log", project / "rank-1.log"]
    logs[0].write_text("ordinary\n", encoding="utf-8")
    logs[1].write_text(LOG, encoding="utf-8")
    answer = _run(client, [log.as_uri() for log in logs])
    assert answer["cause"] == "shard-seed-changed"
    assert "Read 2 logs" in answer["text"]
    assert "rank-1.log" in answer["text"]


def test_an_unknown_cause_is_said_to_be_unknown(client: Any, project: Path) -> None:
    log = project / "run.log"
    log.write_text(
        'Traceback (most recent call last):\n  File "/work/model.py", line 3, in forward\n    x = batch["audio"]\n'
        "KeyError: 'audio'\n",
        encoding="utf-8",
    )
    answer = _run(client, [log.as_uri()])
    assert answer["cause"] is None
    assert "# Unknown cause" in answer["text"]
    assert "    KeyError: 'audio'" in answer["text"]


def test_what_came_of_it_is_no_cause(client: Any, project: Path) -> None:
    log = project / "run.log"
    log.write_text(find_page("collective-timeout").examples[0].text, encoding="utf-8")
    answer = _run(client, [log.as_uri()])
    assert answer["cause"] is None
    assert "# Unknown cause\n\nOnly what came of it was found, `collective-timeout`: A rank waited" in answer["text"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [([], "-32602"), ([[]], "-32602"), (["file:///x"], "-32602"), ([["untitled:x"]], "-32602")],
)
def test_wrong_arguments(client: Any, arguments: list[Any], words: str) -> None:
    with pytest.raises(Exception, match=words):
        _run(client, *arguments)


def test_what_is_no_log(client: Any, project: Path) -> None:
    with pytest.raises(Exception, match="-32803"):
        _run(client, [(project / "absent.log").as_uri()])
