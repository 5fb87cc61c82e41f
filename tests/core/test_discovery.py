"""Which configs a changed file concerns: through blends, base configs and launchers, as Hydra and NeMo would find them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from nemo_resumable.core.analysis import analyze
from nemo_resumable.core.discovery import concerned, configs_reading, configs_started
from nemo_resumable.core.project import Project
from nemo_resumable.core.repository import Repository, is_script
from nemo_resumable.core.settings import Settings

CONFIG = """\
data:
  train_ds:
    seed: 42
    shard_seed: 42
    batch_size: 4
    input_cfg: {blend}
"""
BLEND = "- type: lhotse_shar\n  shar_path: data/shar\n"
LAUNCHER = """\
#!/bin/bash
#SBATCH --nodes=2
srun python {program} {arguments} trainer.devices=8
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    return tmp_path


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")


def reading(root: Path, *names: str, project: Project | None = None) -> dict[str, str]:
    """The configs that read files, each with the file."""
    project = project or Project(Settings(root), root)
    found = configs_reading([root / name for name in names], project.repository_of(root / "any"), lambda _: project)
    return {config.relative_to(root).as_posix(): cause.relative_to(root).as_posix() for config, cause in found.items()}


def started(root: Path, name: str, settings: Settings | None = None) -> set[str]:
    """The configs that a launcher starts."""
    project = Project(settings or Settings(root), root)
    found = configs_started([root / name], project.repository_of(root / "any"), lambda _: project)
    return {config.relative_to(root).as_posix() for config in found}


def launchers(project: Project, config: Path) -> set[str]:
    """The launchers that a config is judged with."""
    (result,) = analyze(project, [config]).configs
    return {launcher.relative_to(project.settings.root).as_posix() for launcher in result.launchers}


# -- blends and base configs


def test_blend_by_its_path(root: Path) -> None:
    write(
        root,
        {
            "a.yaml": CONFIG.format(blend="blends/train.yaml"),
            "b.yaml": CONFIG.format(blend="blends/other.yaml"),
            "c.yaml": CONFIG.format(blend="blends/other.yaml  # not blends/train.yaml"),
            "blends/train.yaml": BLEND,
            "blends/other.yaml": BLEND,
        },
    )
    assert reading(root, "blends/train.yaml") == {"a.yaml": "blends/train.yaml"}
    assert set(reading(root, "blends/other.yaml")) == {"b.yaml", "c.yaml"}


def test_blend_through_groups_of_other_files(root: Path) -> None:
    write(
        root,
        {
            "a.yaml": CONFIG.format(blend="blends/outer.yaml"),
            "blends/outer.yaml": "- type: group\n  input_cfg: middle.yaml\n",
            "blends/middle.yaml": "- type: group\n  input_cfg: inner.yaml\n",
            "blends/inner.yaml": BLEND,
        },
    )
    for name in ("inner", "middle", "outer"):
        assert reading(root, f"blends/{name}.yaml") == {"a.yaml": f"blends/{name}.yaml"}


def test_blends_that_reach_themselves_end(root: Path) -> None:
    write(
        root,
        {
            "a.yaml": CONFIG.format(blend="one.yaml"),
            "one.yaml": "- type: group\n  input_cfg: two.yaml\n",
            "two.yaml": "- type: group\n  input_cfg: one.yaml\n",
        },
    )
    assert reading(root, "two.yaml") == {"a.yaml": "two.yaml"}


@pytest.mark.parametrize(
    ("blend", "variables"),
    [
        ("${data_blend_dir}/train.yaml", {"data_blend_dir": "blends"}),
        ("blends/${which}.yaml", {"which": "train"}),
        ("${blend}", {"blend": "blends/train.yaml"}),
    ],
)
def test_blend_behind_an_interpolation(root: Path, blend: str, variables: dict[str, str]) -> None:
    write(root, {"a.yaml": CONFIG.format(blend=blend), "blends/train.yaml": BLEND})
    project = Project(Settings(root, variables=variables), root)
    assert reading(root, "blends/train.yaml", project=project) == {"a.yaml": "blends/train.yaml"}
    assert reading(root, "blends/train.yaml") == {}  # what is not known is no reason


def test_blend_put_together_inside_the_config(root: Path) -> None:
    write(
        root,
        {
            "a.yaml": "name: train\nfolder: blends\n" + CONFIG.format(blend="${folder}/${name}.yaml"),
            "blends/train.yaml": BLEND,
        },
    )
    assert set(reading(root, "blends/train.yaml")) == {"a.yaml"}


def test_blend_that_is_gone(root: Path) -> None:
    write(root, {"a.yaml": CONFIG.format(blend="blends/train.yaml"), "b.yaml": CONFIG.format(blend="x.yaml")})
    assert reading(root, "blends/train.yaml") == {"a.yaml": "blends/train.yaml"}
    write(root, {"data_blends/train.yaml": BLEND})  # is found in its place, and yet another one was meant
    assert reading(root, "blends/train.yaml") == {"a.yaml": "blends/train.yaml"}


def test_relative_paths_begin_where_training_is_started(root: Path) -> None:
    write(root, {"conf/a.yaml": CONFIG.format(blend="blends/train.yaml"), "runs/blends/train.yaml": BLEND})
    assert reading(root, "runs/blends/train.yaml") == {}
    project = Project(Settings(root, launch_dir=root / "runs"), root)
    assert set(reading(root, "runs/blends/train.yaml", project=project)) == {"conf/a.yaml"}


def test_base_configs(root: Path) -> None:
    write(
        root,
        {
            "conf/base.yaml": "defaults:\n  - /trainer/big\n",
            "conf/trainer/big.yaml": "devices: 8\n",
            "conf/a.yaml": "defaults:\n  - base\n  - _self_\n" + CONFIG.format(blend="x.yaml"),
            "conf/b.yaml": CONFIG.format(blend="base"),
        },
    )
    assert reading(root, "conf/base.yaml") == {"conf/a.yaml": "conf/base.yaml"}
    assert reading(root, "conf/trainer/big.yaml") == {"conf/a.yaml": "conf/trainer/big.yaml"}


@pytest.mark.parametrize("name", ["ünï.yaml", "it's.yaml", "with space.yaml", "-dash.yaml", "a.b.yaml", "口.yml"])
def test_odd_names(root: Path, name: str) -> None:
    quoted = '"' + name.replace("ü", "\\u00fc") + '"'
    write(root, {"a.yaml": CONFIG.format(blend=quoted), name: BLEND})
    assert reading(root, name) == {"a.yaml": name}


def test_what_is_excluded_or_passed_over_is_not_looked_at(root: Path) -> None:
    write(
        root,
        {
            "old/a.yaml": CONFIG.format(blend="train.yaml"),
            "migrate-resumable/a/a-resumable.yaml": CONFIG.format(blend="train.yaml"),
            ".venv/lib/a.yaml": CONFIG.format(blend="train.yaml"),
            "train.yaml": BLEND,
        },
    )
    assert set(reading(root, "train.yaml")) == {"old/a.yaml"}
    assert reading(root, "train.yaml", project=Project(Settings(root, exclude=("old",)), root)) == {}


def test_files_that_cannot_be_read_are_no_hindrance(root: Path) -> None:
    write(root, {"a.yaml": CONFIG.format(blend="train.yaml"), "train.yaml": BLEND, "broken.yaml": "train: [\ntrain_ds"})
    (root / "latin.yaml").write_bytes(b"train_ds: train\xff")
    (root / "binary.yaml").write_bytes(b"train_ds train\0")
    (root / "lost.yaml").symlink_to(root / "nowhere.yaml")
    assert set(reading(root, "train.yaml")) == {"a.yaml"}


def test_concerned_leaves_out_what_is_given(root: Path) -> None:
    write(root, {"a.yaml": CONFIG.format(blend="train.yaml"), "train.yaml": BLEND})
    project = Project(Settings(root), root)
    files = [root / "a.yaml", root / "train.yaml"]
    assert concerned(files, project.repository_of(root / "any"), lambda _: project) == {}


# -- launchers


def test_launcher_by_name_and_path(root: Path) -> None:
    write(
        root,
        {
            "conf/salm.yaml": CONFIG.format(blend="x.yaml"),
            "other/salm.yaml": CONFIG.format(blend="x.yaml"),
            "examples/salm_train.py": "import hydra\n",
            "run.sbatch": LAUNCHER.format(
                program="examples/salm_train.py", arguments="--config-path=../conf --config-name=salm.yaml"
            ),
        },
    )
    assert started(root, "run.sbatch") == {"conf/salm.yaml"}
    project = Project(Settings(root), root)
    assert launchers(project, root / "conf/salm.yaml") == {"run.sbatch"}
    assert launchers(project, root / "other/salm.yaml") == set()


@pytest.mark.parametrize(
    ("arguments", "config"),
    [
        ("--config-path=conf --config-name=salm", "examples/conf/salm.yaml"),  # from the training script
        ("--config-path conf --config-name salm", "examples/conf/salm.yaml"),
        ("--config-path=../recipes --config-name=salm", "recipes/salm.yaml"),
        ("--config-path=recipes --config-name=salm", "recipes/salm.yaml"),  # from where training is started
        ("--config-path=/shared/code/recipes --config-name=salm", "recipes/salm.yaml"),  # as it lies on the cluster
        ('--config-path="$PWD/recipes" --config-name=salm', "recipes/salm.yaml"),
        ("--config-dir=recipes --config-name=salm", "recipes/salm.yaml"),
        ("--config-path=. --config-name=conf/salm", "examples/conf/salm.yaml"),
    ],
)
def test_config_path(root: Path, arguments: str, config: str) -> None:
    configs = ("examples/conf/salm.yaml", "recipes/salm.yaml", "third/salm.yaml")
    write(root, {name: CONFIG.format(blend="x.yaml") for name in configs})
    write(root, {"examples/train.py": "", "run.sh": LAUNCHER.format(program="examples/train.py", arguments=arguments)})
    assert started(root, "run.sh") == {config}


def test_folder_that_is_not_known_is_not_guessed(root: Path) -> None:
    launcher = LAUNCHER.format(program="train.py", arguments="--config-path=$CONF --config-name=salm")
    write(root, {"conf/salm.yaml": CONFIG.format(blend="x.yaml"), "run.sh": launcher})
    assert started(root, "run.sh") == {"conf/salm.yaml"}
    write(root, {"conf/asr/salm.yaml": CONFIG.format(blend="x.yaml")})
    assert started(root, "run.sh") == set()


def test_name_in_a_variable(root: Path) -> None:
    write(
        root,
        {
            "conf/salm_large.yaml": CONFIG.format(blend="x.yaml"),
            "conf/salm_small.yaml": CONFIG.format(blend="x.yaml"),
            "run.sh": "SIZE=large\nNAME=salm_${SIZE}\npython train.py --config-path=conf --config-name=$NAME\n",
        },
    )
    assert started(root, "run.sh") == {"conf/salm_large.yaml"}


def test_default_of_the_training_script(root: Path) -> None:
    script = '@hydra_runner(config_path="conf", config_name="salm")\ndef main(cfg): ...\n'
    write(
        root,
        {
            "examples/conf/salm.yaml": CONFIG.format(blend="x.yaml"),
            "conf/salm.yaml": CONFIG.format(blend="x.yaml"),
            "examples/salm_train.py": "from nemo.core.config import hydra_runner\n\n" + script,
            "run.sh": LAUNCHER.format(program="examples/salm_train.py", arguments=""),
        },
    )
    assert started(root, "run.sh") == {"examples/conf/salm.yaml"}


def test_launcher_in_python(root: Path) -> None:
    write(
        root,
        {
            "conf/salm.yaml": CONFIG.format(blend="x.yaml"),
            "submit.py": "import subprocess\n"
            'subprocess.run(["torchrun", "train.py", "--config-path=conf", "--config-name=salm"], check=True)\n',
        },
    )
    assert started(root, "submit.py") == {"conf/salm.yaml"}


def test_every_launcher_of_a_config_counts(root: Path) -> None:
    command = LAUNCHER.format(program="train.py", arguments="--config-path=conf --config-name=salm")
    write(root, {"conf/salm.yaml": CONFIG.format(blend="x.yaml"), "one.sh": command, "slurm/two.slurm": command})
    write(root, {"bin/three": command, "notes.txt": command, "bin/README": "srun python --config-name=salm"})
    project = Project(Settings(root), root)
    assert launchers(project, root / "conf/salm.yaml") == {"one.sh", "slurm/two.slurm", "bin/three"}


def test_the_users_word_comes_first(root: Path) -> None:
    command = LAUNCHER.format(program="train.py", arguments="--config-path=conf --config-name=salm")
    write(root, {"conf/salm.yaml": CONFIG.format(blend="x.yaml"), "one.sh": command, "two.sh": command})
    settings = Settings(root, launchers={"conf/salm.yaml": "two.sh"})
    assert launchers(Project(settings, root), root / "conf/salm.yaml") == {"two.sh"}
    assert started(root, "two.sh", settings) == {"conf/salm.yaml"}
    assert started(root, "one.sh", settings) == set()
    named = replace(Project(settings, root), launchers=(root / "one.sh",))
    assert "one.sh" in launchers(named, root / "conf/salm.yaml")


def test_tests_and_modules_start_no_training(root: Path) -> None:
    command = LAUNCHER.format(program="train.py", arguments="--config-path=conf --config-name=salm")
    python = 'import subprocess\nsubprocess.run(["python", "train.py", "--config-path=conf", "--config-name=salm"])\n'
    write(
        root,
        {
            "conf/salm.yaml": CONFIG.format(blend="x.yaml"),
            "tests/functional/train.sh": command,
            "test_train.py": python,
            "package/__init__.py": "",
            "package/launch.py": python,
            "docs/salm.sh": "echo salm\n",
        },
    )
    assert launchers(Project(Settings(root), root), root / "conf/salm.yaml") == set()


def test_scripts_are_told_from_other_files(root: Path) -> None:
    write(
        root,
        {
            "run.sh": "",
            "job": "#!/usr/bin/env bash\n",
            "tool": "#!/usr/bin/perl\n",
            "LICENSE": "text",
            "a.txt": "#!/bin/sh",
        },
    )
    scripts = [path.name for path in sorted(root.iterdir()) if path.is_file() and is_script(path)]
    assert scripts == ["job", "run.sh"]
    assert not is_script(root / "nowhere")


# -- the listing


def test_names_can_be_given(root: Path) -> None:
    write(
        root,
        {"a.yaml": "train_ds: 1\n", "b.yaml": "train_ds: 1\n", ".venv/c.yaml": "train_ds: 1\n", "d.yaml": "x: 1\n"},
    )
    names = ["a.yaml", ".venv/c.yaml", "d.yaml", "gone.yaml", "e.txt"]
    assert [path.name for path, _ in Repository(root, names).yaml()] == ["a.yaml"]
    assert [path.name for path, _ in Repository(root).yaml()] == ["a.yaml", "b.yaml"]
    assert [path.name for path, _ in Repository(root, names, lambda path: path.name == "a.yaml").yaml()] == []


def test_a_run_lists_a_repository_once(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listed: list[Path] = []
    walk = Repository.__init__

    def noting(self: Repository, *given: object) -> None:
        listed.append(given[0])  # type: ignore[arg-type]
        walk(self, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(Repository, "__init__", noting)
    write(root, {f"{number}.yaml": CONFIG.format(blend="x.yaml") for number in range(5)})
    project = Project(Settings(root), root)
    analyze(project, project.discover([root]).files)
    analyze(project.with_overlays({root / "0.yaml": CONFIG.format(blend="y.yaml")}), [root / "0.yaml"])
    assert listed == [root]
    project.repositories.forget()
    write(root, {"run.sh": LAUNCHER.format(program="train.py", arguments="--config-name=0")})
    assert launchers(project, root / "0.yaml") == {"run.sh"}


def test_pipes_and_folders_are_passed_over(root: Path, make_pipe: Callable[[Path], None]) -> None:
    make_pipe(root / "pipe.yaml")
    make_pipe(root / "pipe.sh")
    make_pipe(root / "pipe")
    (root / "folder.yaml").mkdir()
    repository = Repository(root)
    assert list(repository.yaml()) == []
    assert repository.scripts == ()


@pytest.fixture
def make_pipe() -> Iterable[Callable[[Path], None]]:
    import os

    if not hasattr(os, "mkfifo"):
        pytest.skip("no named pipes here")
    return os.mkfifo
