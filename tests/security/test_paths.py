"""Paths that lead out: nothing outside is written, and nothing in a workspace makes the hook or the server run anything."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from .conftest import Command
from .test_input import BLEND, CONFIG


def everything(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, as it is."""
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file() and not path.is_symlink()}


@pytest.mark.parametrize("kind", ["the config", "the blend", "a folder on the way"])
def test_fixes_do_not_follow_links_out_of_the_repository(repository: Path, command: Command, kind: str) -> None:
    outside = repository.parent / "outside"
    outside.mkdir()
    for name, text in (("conf.yaml", CONFIG), ("blend.yaml", BLEND)):
        (outside / name).write_text(text)
    before = everything(outside)
    config = "conf.yaml"
    if kind == "the config":
        (repository / "conf.yaml").symlink_to(outside / "conf.yaml")
    elif kind == "the blend":
        (repository / "conf.yaml").write_text(CONFIG)
        (repository / "blend.yaml").symlink_to(outside / "blend.yaml")
    else:
        (repository / "linked").symlink_to(outside)
        config = "linked/conf.yaml"
    done = command("check", "--fix", config)
    assert everything(outside) == before
    if kind == "a folder on the way":
        assert done.returncode == 2
        assert b"outside the project; edit that file itself" in done.stderr


def test_artifacts_are_not_written_through_a_link_out_of_the_repository(repository: Path, command: Command) -> None:
    outside = repository.parent / "outside"
    outside.mkdir()
    (repository / "conf.yaml").write_text(CONFIG)
    (repository / "blend.yaml").write_text(BLEND)
    (repository / "migrate-resumable").symlink_to(outside)
    done = command("migrate", "conf.yaml")
    assert done.returncode == 2
    assert b"outside the project" in done.stderr
    assert not list(outside.iterdir())


@pytest.mark.parametrize("name", ["...yaml", "..yaml", ".. .yaml", "..a.yaml", "-.yaml", "a..yaml"])
def test_stems_that_are_dots(repository: Path, command: Command, name: str) -> None:
    (repository / "conf").mkdir()
    (repository / "conf" / name).write_text(CONFIG)
    (repository / "blend.yaml").write_text(BLEND)
    before = set(everything(repository.parent))
    done = command("migrate", f"conf/{name}")
    assert done.returncode in (0, 1), done.stderr
    made = set(everything(repository.parent)) - before
    assert made
    folders = {Path(path).parent for path in made}
    assert len(folders) == 1
    assert folders.pop().parent == repository / "migrate-resumable"


@pytest.mark.parametrize("word", ["../../../../out", "/../../out", "a/b", "..", "a\\b", "\0", "x" * 300])
@pytest.mark.parametrize("more", [(), ("--packs",)], ids=["plain", "with packs"])
def test_names_of_datasets_and_packs_that_are_paths(
    repository: Path, command: Command, word: str, more: tuple[str, ...]
) -> None:
    """The documents of the index script are named after them, and lie beside it."""
    import yaml

    entry = {"type": "lhotse_shar", "shar_path": "/data/shar", "index_pack": f"{word}.idxpack"}
    datasets = {word: {"input_cfg": [entry], "batch_size": 1}, f"{word}/": {"input_cfg": [entry | {"weight": 2}]}}
    train = {"input_cfg": [entry], "indexed": True, "batch_size": 1, "index_pack_root": "/packs"}
    config = {"data": {"train_ds": train, "validation_ds": {"datasets": datasets, "indexed": True}}}
    (repository / "conf.yaml").write_text(yaml.safe_dump(config))
    before = set(everything(repository.parent))
    done = command("migrate", *more, "conf.yaml")
    assert b"Traceback" not in done.stderr
    assert b"internal error" not in done.stderr, done.stderr
    made = {Path(path).parent for path in set(everything(repository.parent)) - before}
    assert made <= {repository / "migrate-resumable" / "conf"}
    assert made or done.returncode == 2


SETTINGS = {
    "folders": 'indexes-root = "../../out"\nindex-pack-root = "../../out"\nlaunch-dir = "../.."\n',
    "launchers": '[launchers]\n"*.yaml" = "../outside/run.sh"\n"conf*" = "/dev/zero"\n',
    "places of packages": 'nemo = "../outside"\nlhotse = "/"\n',
    "a runtime": 'runtime = "../outside/runtime.toml"\n',
    "a variable": '[variables]\na = "$(touch PWNED)"\nb = "`touch PWNED`"\n',
    "words of commands": 'command = "touch PWNED"\nexec = "touch PWNED"\nnemo = "$(touch PWNED)"\nplugins = ["evil"]\n',
}


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
@pytest.mark.parametrize(
    "arguments", [("check",), ("check", "--staged"), ("check", "--fix"), ("migrate",)], ids=" ".join
)
def test_settings_of_a_workspace_run_nothing_and_lead_nowhere(
    repository: Path, command: Command, settings: str, arguments: tuple[str, ...]
) -> None:
    outside = repository.parent / "outside"
    outside.mkdir()
    (outside / "run.sh").write_text("touch PWNED\npython train.py --config-name=conf\n")
    (outside / "runtime.toml").write_text("container = '$(touch PWNED)'\n")
    (repository / "evil.py").write_text("open('PWNED', 'w')\n")
    (repository / ".nemo-resumable.toml").write_text(settings)
    (repository / "conf.yaml").write_text(CONFIG)
    (repository / "blend.yaml").write_text(BLEND)
    before = everything(repository.parent)
    done = command(*arguments, "conf.yaml")
    assert b"internal error" not in done.stderr
    changed = {path for path, data in everything(repository.parent).items() if before.get(path) != data}
    allowed = {str(repository / name) for name in ("conf.yaml", "blend.yaml")} if "--fix" in arguments else set()
    for path in changed - allowed:
        assert Path(path).is_relative_to(repository / "migrate-resumable"), path


GIT = {
    "core.fsmonitor": "touch {mark}",
    "core.pager": "touch {mark}",
    "core.hooksPath": "evil",
    "core.editor": "touch {mark}",
    "core.sshCommand": "touch {mark}",
    "diff.external": "touch {mark}",
    "diff.evil.textconv": "touch {mark}",
    "diff.evil.command": "touch {mark}",
    "filter.evil.clean": "touch {mark}; cat",
    "filter.evil.smudge": "touch {mark}; cat",
    "filter.evil.process": "touch {mark}",
    "alias.ls-files": "!touch {mark}",
}


def test_the_configuration_of_a_repository_starts_nothing(repository: Path, command: Command) -> None:
    """Git is only asked what it lists and holds, with what may start programs left out."""
    mark = repository.parent / "PWNED"
    (repository / ".git").rmdir()
    plain = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b"}
    plain |= {"GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}

    def git(*arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=repository, env=plain, check=True, capture_output=True)

    git("init", "-q")
    (repository / "conf.yaml").write_text(CONFIG)
    (repository / "blend.yaml").write_text(BLEND)
    git("add", ".")
    git("commit", "-qm", "before")
    (repository / ".gitattributes").write_text("*.yaml diff=evil filter=evil\n")
    for key, value in GIT.items():
        git("config", key, value.format(mark=mark))
    mark.unlink(missing_ok=True)
    (repository / "conf.yaml").write_text(CONFIG.replace("seed: 42", "seed: 43"))
    tried = (
        ("check", "--staged", "conf.yaml"),
        ("check", "."),
        ("diff", "HEAD", "conf.yaml"),
        ("migrate", "conf.yaml"),
    )
    for arguments in tried:
        done = command(*arguments)
        assert b"internal error" not in done.stderr, done.stderr
        assert not mark.exists(), arguments
