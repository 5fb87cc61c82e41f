"""Files that are made to exhaust, to stall or to run something: each ends in time, in bounded memory, with a sentence."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from .conftest import Command

CONFIG = """\
data:
  train_ds:
    indexed: true
    seed: 42
    shard_seed: randomized
    num_workers: 2
    batch_size: 4
    input_cfg: blend.yaml
"""
BLEND = "- type: lhotse_shar\n  shar_path: /data/shar\n"


def bomb(kind: str) -> str:
    """Aliases that stand for some 9 ** 90 nodes."""
    if kind == "lists":
        lines = ["a0: &a0 [x, x]", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 90))]
    elif kind == "mappings":
        lines = ["a0: &a0 {k: 1}"]
        lines += [f"a{n}: &a{n} {{{', '.join(f'k{i}: *a{n - 1}' for i in range(9))}}}" for n in range(1, 90)]
    else:
        lines = ["a0: &a0 {k: 1}", *(f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}" for n in range(1, 90))]
    return "\n".join(lines) + "\n"


INTERPOLATED = "".join(f"v{n}: ${{v{n + 1}}}${{v{n + 1}}}${{v{n + 1}}}\n" for n in range(60)) + "v60: x\n"
HOSTILE = {
    "an alias bomb of lists": bomb("lists") + CONFIG + "  validation_ds: *a89\n",
    "an alias bomb of mappings": bomb("mappings") + CONFIG + "  validation_ds: *a89\n",
    "a bomb of merge keys": bomb("merges") + CONFIG.replace("  train_ds:\n", "  train_ds:\n    <<: *a89\n"),
    "a bomb of interpolations": INTERPOLATED + CONFIG.replace("seed: 42", "seed: ${v0}"),
    "an alias to itself": CONFIG + "x: &x [*x]\n",
    "a merge key to itself": CONFIG + "x: &x\n  <<: *x\n",
    "an interpolation of itself": CONFIG.replace("seed: 42", "seed: ${data.train_ds.seed}"),
    "interpolations in a circle": CONFIG.replace("seed: 42", "seed: ${a}") + "a: ${b}\nb: ${a}\n",
    "deep lists": CONFIG + "x: " + "[" * 100_000 + "]" * 100_000 + "\n",
    "deep mappings": CONFIG + "x: " + "{a: " * 50_000 + "}" * 50_000 + "\n",
    "deep blocks": CONFIG + "".join(" " * n + "a:\n" for n in range(2000)),
    "deep interpolations": CONFIG.replace("seed: 42", "seed: " + "${a:" * 20_000 + "}" * 20_000),
    "a huge scalar": CONFIG.replace("blend.yaml", '"' + "x" * (16 * 2**20) + '"'),
    "a huge key": CONFIG + "? " + "k" * (8 * 2**20) + "\n: 1\n",
    "a huge comment": CONFIG + "# " + "nemo-resumable: ignore[" * 200_000 + "\n",
    "a huge list": CONFIG + "x: [" + "1," * 300_000 + "]\n",
    "a huge pattern": CONFIG.replace("blend.yaml", "'{0..1}" * 1 + "{a,b}" * 100_000 + "'"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_configs_that_are_made_to_exhaust(repository: Path, command: Command, name: str) -> None:
    (repository / "conf.yaml").write_text(HOSTILE[name])
    (repository / "blend.yaml").write_text(BLEND)
    for more in ((), ("--diff",)):
        done = command("check", *more, "conf.yaml")
        assert done.returncode in (0, 1), done.stderr[-300:]
        assert b"internal error" not in done.stderr
        assert more or len(done.stdout) < 2**20  # a diff shows the lines around a change, however long


@pytest.mark.parametrize("kind", ["lists", "mappings", "merges"])
def test_blends_that_are_made_to_exhaust(repository: Path, command: Command, kind: str) -> None:
    (repository / "conf.yaml").write_text(CONFIG)
    (repository / "blend.yaml").write_text(bomb(kind))
    done = command("check", "conf.yaml")
    assert done.returncode == 1, done.stderr[-300:]


def test_blends_in_a_circle(repository: Path, command: Command) -> None:
    (repository / "conf.yaml").write_text(CONFIG)
    (repository / "blend.yaml").write_text("- type: group\n  input_cfg: other.yaml\n" * 20)
    (repository / "other.yaml").write_text("- type: group\n  input_cfg: blend.yaml\n" * 20)
    done = command("check", "conf.yaml")
    assert done.returncode == 1
    assert b"NR008" in done.stdout


def test_base_configs_in_a_circle(repository: Path, command: Command) -> None:
    (repository / "conf.yaml").write_text("defaults: [other, _self_]\n" + CONFIG)
    (repository / "other.yaml").write_text("defaults: [conf, other, _self_]\n" + CONFIG)
    assert command("check", "conf.yaml", "other.yaml").returncode == 1


@pytest.mark.parametrize("role", ["config", "blend", "launcher", "settings", "baseline"])
def test_a_hundred_megabytes(repository: Path, command: Command, role: str) -> None:
    """Too much to be read is said, whatever it is read as."""
    (repository / "conf.yaml").write_text(CONFIG)
    (repository / "blend.yaml").write_text(BLEND)
    name = {"config": "big.yaml", "blend": "blend.yaml", "launcher": "run.sh"}.get(role, ".nemo-resumable.toml")
    name = "known.json" if role == "baseline" else name
    with (repository / name).open("wb") as file:
        file.write(b"# python train.py --config-name=conf train_ds\n")
        file.truncate(100 * 2**20)
    more = {"launcher": ["--launcher", name], "baseline": ["--baseline", name]}.get(role, [])
    done = command("check", *more, "big.yaml" if role == "config" else "conf.yaml")
    if role in ("config", "settings", "baseline"):
        assert done.returncode == 2
        assert done.stderr.count(b"\n") == 1, done.stderr
        assert name.encode() in done.stderr
    else:
        assert done.returncode == 1
        assert name.encode() in done.stdout or role == "launcher"  # which says no more than that it starts nothing


@pytest.mark.parametrize("what", ["pipe", "device", "socket", "folder", "a link to itself", "a link to a device"])
@pytest.mark.parametrize("role", ["config", "blend", "launcher", "settings", "sidecar"])
def test_what_is_no_ordinary_file(repository: Path, command: Command, role: str, what: str) -> None:
    """Nothing is waited for, and nothing endless is read."""
    name = {"config": "odd.yaml", "blend": "blend.yaml", "launcher": "run.sh", "settings": ".nemo-resumable.toml"}.get(
        role, "a.tar"
    )
    path = repository / name
    if what == "pipe":
        os.mkfifo(path)
    elif what == "device":
        try:
            os.mknod(path, 0o20666, os.makedev(1, 5))  # /dev/zero
            path.open("rb").close()
        except OSError:
            pytest.skip("making a device takes root")
    elif what == "socket":
        here = Path.cwd()
        os.chdir(repository)  # a socket's path may not be long
        try:
            with socket.socket(socket.AF_UNIX) as made:
                made.bind(name)
        finally:
            os.chdir(here)
    elif what == "folder":
        path.mkdir()
    else:
        path.symlink_to(name if what == "a link to itself" else "/dev/zero")
    config = CONFIG
    if role == "sidecar":
        config = CONFIG.replace(
            "input_cfg: blend.yaml", f"shar_path: {{cuts: [{name}]}}\n    manifest_filepath: {name}"
        )
    (repository / "conf.yaml").write_text(config)
    if role != "blend":
        (repository / "blend.yaml").write_text(BLEND)
    more = ["--launcher", name] if role == "launcher" else ["--indexes"] if role == "sidecar" else []
    done = command("check", *more, "odd.yaml" if role == "config" else "conf.yaml")
    assert b"Traceback" not in done.stderr
    assert b"internal error" not in done.stderr
    assert done.returncode in (1, 2)
    if role == "config":
        assert done.returncode == 2
        assert name.encode() in done.stderr


TAGS = (
    "!!python/object/apply:os.system ['touch PWNED']",
    "!!python/object/apply:pathlib.Path.touch [!!python/object/apply:pathlib.Path [PWNED]]",
    "!!python/object/new:subprocess.Popen [[touch, PWNED]]",
    "!!python/module:evil ''",
    "!!python/name:evil.made ''",
    "!!python/object:evil.Made {a: 1}",
    "!<tag:yaml.org,2002:python/object/apply:os.mkdir> [PWNED]",
)


@pytest.mark.parametrize("tag", TAGS)
@pytest.mark.parametrize("arguments", [("check",), ("check", "--fix"), ("migrate",)], ids=" ".join)
def test_tags_construct_nothing(repository: Path, command: Command, tag: str, arguments: tuple[str, ...]) -> None:
    (repository / "evil.py").write_text("import pathlib\npathlib.Path('PWNED').touch()\n")
    (repository / "conf.yaml").write_text(CONFIG.replace("seed: 42", f"seed: {tag}") + f"x: {tag}\n")
    (repository / "blend.yaml").write_text(BLEND + f"  tags: {tag}\n")
    command(*arguments, "conf.yaml")
    assert not list(repository.parent.rglob("PWNED"))


NAMES = (
    *(
        "yaml",
        "json",
        "lhotse",
        "nemo",
        "nemo.py",
        "torch",
        "sitecustomize",
        "usercustomize",
        "conftest",
        "setup",
        "omegaconf",
    ),
    *("hydra_plugins", "pygls", "tree_sitter", "argparse", "train", "nemo_resumable", "tomllib", "core", "hooks"),
)


@pytest.mark.parametrize(
    "arguments", [("check", "-v"), ("check", "--indexes"), ("migrate",), ("settings",)], ids=" ".join
)
def test_code_of_the_workspace_is_never_imported(repository: Path, arguments: tuple[str, ...]) -> None:
    """Neither modules called like ours or theirs, nor those that a config or a launcher names."""
    import subprocess
    import sys

    evil = "import pathlib\npathlib.Path(__file__).with_name('PWNED').touch()\n"
    for name in NAMES:
        (repository / f"{name.removesuffix('.py')}.py").write_text(evil)
    package = repository / ".venv" / "lib" / "python3.11" / "site-packages"
    for name in ("nemo", "lhotse"):
        (package / name).mkdir(parents=True)
        (package / name / "__init__.py").write_text(evil + "__version__ = '2.0.0'\n")
    (package / "evil.pth").write_text("import pathlib; pathlib.Path('PWNED').touch()\n")
    (repository / "conf.yaml").write_text("_target_: train.main\n" + CONFIG + "    _target_: train.Dataset\n")
    (repository / "blend.yaml").write_text(BLEND)
    (repository / "run.py").write_text(
        evil + "import subprocess\nsubprocess.run(['python', 'train.py', '--config-name=conf'])\n"
    )
    entry = Path(sys.executable).with_name("nemo-resumable")
    if not entry.exists():
        pytest.skip("the command is not installed as a script")
    path = () if arguments == ("settings",) else ("conf.yaml",)
    done = subprocess.run(
        [str(entry), *arguments, *path], cwd=repository, capture_output=True, timeout=300, check=False
    )
    assert done.returncode in (0, 1), done.stderr
    assert not list(repository.rglob("PWNED"))
