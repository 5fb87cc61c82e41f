"""Launchers: their findings stand in them, whoever is open, and are mended there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from .conftest import CONFIG, codes

LAUNCHER = """\
#!/bin/bash
#SBATCH --time=04:00:00
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=2
export PYTHONPATH=/opt/nemo
srun python salm_train.py --config-path=. --config-name=conf \\
    data.train_ds.shard_seed=randomized \\
    trainer.num_nodes=1
"""


@pytest.fixture
def launcher(project: Path) -> Path:
    """A launcher that starts the config of the project."""
    path = project / "launch.sh"
    path.write_text(LAUNCHER)
    return path


def test_its_findings_stand_in_it(client: Any, project: Path, launcher: Path) -> None:
    client.open(project / "conf.yaml", CONFIG.replace('"randomized"', "42"))
    shown = client.until(launcher.as_uri(), lambda found: "NR503" in codes(found))
    found = next(each for each in shown if each["code"] == "NR503")
    assert client.cut(LAUNCHER, found["range"]) == "data.train_ds.shard_seed=randomized"


def test_it_is_judged_though_no_config_is_open(client: Any, project: Path, launcher: Path) -> None:
    (project / "conf.yaml").write_text(CONFIG.replace('"randomized"', "42"))
    uri = client.open(launcher, language="shellscript")
    client.until(uri, lambda found: "NR503" in codes(found))
    text = LAUNCHER.replace("shard_seed=randomized", "shard_seed=7")
    client.change(uri, 2, text)
    client.until(uri, lambda found: "NR503" not in codes(found))


def test_an_override_is_dropped(client: Any, project: Path, launcher: Path) -> None:
    """A choice, and one that leaves the script as it is otherwise."""
    (project / "conf.yaml").write_text(CONFIG.replace('"randomized"', "42"))
    uri = client.open(launcher, language="shellscript")
    shown = client.until(uri, lambda found: "NR503" in codes(found))
    found = next(each for each in shown if each["code"] == "NR503")
    actions = client.actions(uri, found["range"], only=["quickfix"], diagnostics=[found])
    action = next(each for each in actions if each["title"] == "Drop the override of `data.train_ds.shard_seed`")
    assert action["isPreferred"] is False
    done = client.applied(client.edit_of(action), {uri: LAUNCHER})[uri]
    assert done == LAUNCHER.replace("    data.train_ds.shard_seed=randomized \\\n", "")
    client.change(uri, 2, done)
    client.until(uri, lambda found: "NR503" not in codes(found))


def test_a_launcher_that_comes_into_being(client: Any, project: Path) -> None:
    client.open(project / "conf.yaml", CONFIG.replace('"randomized"', "42"))
    client.pushed((project / "conf.yaml").as_uri())
    path = project / "launch.sh"
    path.write_text(LAUNCHER)
    client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": path.as_uri(), "type": 1}]})
    client.until(path.as_uri(), lambda found: "NR503" in codes(found))
