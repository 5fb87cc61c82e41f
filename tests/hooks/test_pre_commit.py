"""The hooks as a user has them: real commits in real repositories, through pre-commit, with our repository as the source."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ("pyproject.toml", "README.md", "LICENSE", ".pre-commit-hooks.yaml", "core", "hooks", "lsp_server")

CLEAN = """\
data:
  train_ds:
    indexed: true
    use_stateful_dataloader: true
    shard_seed: 42
    seed: 42
    shuffle: true
    num_workers: 2
    batch_size: 4
    input_cfg: conf/blends/train.yaml
"""
BAD = CLEAN.replace("shard_seed: 42", 'shard_seed: "randomized"')
BLEND = "- type: lhotse_shar\n  shar_path: data/shar\n"
BAD_BLEND = """\
- type: nemo_tarred
  manifest_filepath: /data/manifest__OP_0..9_CL_.json
  tarred_audio_filepaths: /data/audio__OP_0..9_CL_.tar
  extra_fields:
    - {type: text_iter, name: context, path: prompts.txt}
"""


@dataclass(frozen=True, slots=True)
class Ended:
    """What a command came to; both streams together, as a user sees them."""

    code: int
    out: str


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository with our hooks in it."""

    path: Path
    environment: dict[str, str] = field(repr=False)

    def run(self, *command: str, **more: str) -> Ended:
        ended = subprocess.run(
            command,
            cwd=self.path,
            env=self.environment | more,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            timeout=300,
        )
        return Ended(ended.returncode, ended.stdout)

    def git(self, *arguments: str) -> str:
        """The output of a git command that has to end well."""
        ended = self.run("git", *arguments)
        assert ended.code == 0, ended.out
        return ended.out

    def pre_commit(self, *arguments: str) -> Ended:
        return self.run(sys.executable, "-m", "pre_commit", *arguments)

    def write(self, name: str, text: str, *, stage: bool = True) -> Path:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
        if stage:
            self.git("add", "--", name)
        return path

    def read(self, name: str) -> str:
        return (self.path / name).read_text(encoding="utf-8")

    def commit(self, message: str = "a change") -> Ended:
        return self.run("git", "commit", "-m", message)

    def commit_unchecked(self) -> None:
        """What stood in the repository before the hooks came."""
        self.git("commit", "--no-verify", "-m", "before")


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The variables of every command: an own cache of pre-commit, and nothing of the user's own settings of git."""
    home = tmp_path_factory.mktemp("home")
    settings = home / "gitconfig"
    settings.write_text(
        "[user]\n  name = A\n  email = a@example.com\n[init]\n  defaultBranch = main\n"
        '[protocol "file"]\n  allow = always\n[core]\n  quotePath = false\n[advice]\n  detachedHead = false\n',
        encoding="utf-8",
    )
    unwanted = ("GIT_", "PRE_COMMIT", "FORCE_COLOR", "NO_COLOR", "COLUMNS")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(unwanted)}
    return kept | {
        "GIT_CONFIG_GLOBAL": str(settings),
        "GIT_CONFIG_NOSYSTEM": "1",
        "PRE_COMMIT_HOME": str(home / "pre-commit"),
        "PRE_COMMIT_COLOR": "never",
        "LC_ALL": "C.UTF-8",
        "COLUMNS": "100",
    }


@pytest.fixture(scope="session")
def source(environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Our repository as a hook's source, and the commit to take; made from the working tree, whatever is committed."""
    probe = tmp_path_factory.mktemp("probe")
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(probe), "setuptools>=77"]
    probed = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if probed.returncode:
        pytest.skip(f"no package index can be reached: {probed.stderr.strip().splitlines()[-1:]}")
    repository = Repository(tmp_path_factory.mktemp("source"), environment)
    for name in SOURCE:
        path = ROOT / name
        if path.is_dir():
            shutil.copytree(path, repository.path / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(path, repository.path / name)
    repository.git("init", "-q")
    repository.git("add", ".")
    repository.commit_unchecked()
    return repository.path, repository.git("rev-parse", "HEAD").strip()


Make = Callable[..., Repository]


@pytest.fixture
def make(source: tuple[Path, str], environment: dict[str, str], tmp_path: Path) -> Make:
    """Makes a repository with these hooks installed, and a clean config with its blend committed."""

    def made(*hooks: str, name: str = "repository", extra: str = "") -> Repository:
        repository = Repository(tmp_path / name, environment)
        repository.path.mkdir()
        repository.git("init", "-q")
        settings(repository, source, *hooks, extra=extra)
        repository.write("conf/salm.yaml", CLEAN)
        repository.write("conf/blends/train.yaml", BLEND)
        repository.commit_unchecked()
        installed = repository.pre_commit("install")
        assert installed.code == 0, installed.out
        return repository

    return made


def settings(repository: Repository, source: tuple[Path, str], *hooks: str, extra: str = "") -> None:
    """The five lines of the README."""
    ids = "".join(f"      - id: {hook}\n{extra}" for hook in hooks or ("nemo-resumable",))
    repository.write(
        ".pre-commit-config.yaml",
        f"repos:\n  - repo: {source[0].as_posix()}\n    rev: {source[1]}\n    hooks:\n{ids}",
    )


@pytest.fixture(scope="session")
def command(source: tuple[Path, str], environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> str:
    """The command as pre-commit has installed it."""
    repository = Repository(tmp_path_factory.mktemp("first"), environment)
    repository.git("init", "-q")
    settings(repository, source, "nemo-resumable", "nemo-resumable-fix", "nemo-resumable-artifacts")
    installed = repository.pre_commit("install-hooks")
    assert installed.code == 0, installed.out
    program = "Scripts/nemo-resumable.exe" if sys.platform == "win32" else "bin/nemo-resumable"
    (found,) = Path(environment["PRE_COMMIT_HOME"]).glob(f"repo*/py_env-*/{program}")
    return str(found)


def test_clean_commit_passes(make: Make) -> None:
    repository = make()
    repository.write("conf/salm.yaml", CLEAN + "# looked through\n")
    ended = repository.commit()
    assert ended.code == 0, ended.out
    assert re.search(r"nemo-resumable\.+Passed\n", ended.out)
    assert "NR" not in ended.out  # neither warnings nor notes
    assert repository.git("status", "--short") == ""


def test_blocked_commit_says_what_and_what_next(make: Make) -> None:
    repository = make()
    repository.write("conf/salm.yaml", BAD)
    before = repository.git("rev-parse", "HEAD")
    ended = repository.commit()
    assert ended.code == 1
    assert "- hook id: nemo-resumable\n- exit code: 1\n" in ended.out
    assert "conf/salm.yaml:5:17: error[NR110] `shard_seed` is `randomized`" in ended.out
    assert "Next: nemo-resumable check --fix conf/salm.yaml" in ended.out
    assert "explain NR110" in ended.out
    assert "note[" not in ended.out
    assert len(ended.out.splitlines()) < 12
    assert repository.git("rev-parse", "HEAD") == before


def test_notes_and_warnings_are_shown_when_asked_for(make: Make) -> None:
    repository = make(extra="        verbose: true\n")
    repository.write("conf/salm.yaml", CLEAN + "# a comment\n")
    ended = repository.commit()
    assert ended.code == 0, ended.out
    assert "note[NR107]" in ended.out
    loud = make(name="loud", extra="        args: [-v]\n")
    loud.write("conf/salm.yaml", BAD)
    ended = loud.commit()
    assert ended.code == 1
    assert "note[NR107]" in ended.out
    assert "error[NR110]" in ended.out


def test_fixed_file_is_staged_and_committed(make: Make) -> None:
    repository = make("nemo-resumable-fix", "nemo-resumable")
    repository.write("conf/salm.yaml", BAD)
    ended = repository.commit()
    assert ended.code == 1
    assert "files were modified by this hook" in ended.out
    assert "Fixed 1 finding in 1 file." in ended.out
    assert "stage them and commit again" in ended.out
    assert repository.read("conf/salm.yaml") == CLEAN
    repository.git("add", "-u")
    ended = repository.commit("an empty one, were it not for the blend")
    assert "nothing to commit" in ended.out  # the fix is what stood there before
    repository.write("conf/salm.yaml", BAD + "# more\n")
    assert repository.commit().code == 1
    repository.git("add", "-u")
    assert repository.commit().code == 0
    assert repository.git("show", "HEAD:conf/salm.yaml") == CLEAN + "# more\n"


def test_what_is_staged_counts_and_the_rest_is_kept(make: Make) -> None:
    repository = make()
    repository.write("conf/salm.yaml", CLEAN + "# staged\n")
    unstaged = BAD + "# staged\n# not staged\n"
    repository.write("conf/salm.yaml", unstaged, stage=False)
    repository.write("notes.txt", "not tracked\n", stage=False)
    assert repository.commit().code == 0
    assert repository.read("conf/salm.yaml") == unstaged
    assert repository.git("show", "HEAD:conf/salm.yaml") == CLEAN + "# staged\n"
    repository.write("conf/salm.yaml", BAD)
    repository.write("conf/salm.yaml", CLEAN, stage=False)  # mended, and not staged
    assert repository.commit().code == 1
    assert repository.read("conf/salm.yaml") == CLEAN
    assert repository.read("notes.txt") == "not tracked\n"


def test_fix_that_conflicts_with_what_is_not_staged_loses_nothing(make: Make) -> None:
    repository = make("nemo-resumable-fix")
    repository.write("conf/salm.yaml", BAD)
    edited = BAD.replace('shard_seed: "randomized"', "shard_seed: 7  # mine")
    repository.write("conf/salm.yaml", edited, stage=False)
    ended = repository.commit()
    assert ended.code == 1
    assert repository.read("conf/salm.yaml") == edited
    assert repository.git("show", ":conf/salm.yaml") == BAD


def test_blend_is_judged_through_the_configs_that_read_it(make: Make) -> None:
    repository = make()
    repository.write("conf/group.yaml", "- type: group\n  weight: 1\n  input_cfg: blends/train.yaml\n")
    repository.write("conf/second.yaml", CLEAN.replace("blends/train", "group"))
    repository.commit_unchecked()
    repository.write("conf/blends/train.yaml", BAD_BLEND)
    ended = repository.commit()
    assert ended.code == 1
    assert "conf/blends/train.yaml:4:3: fatal[NR301]" in ended.out
    assert "conf/blends/train.yaml is read by conf/salm.yaml, conf/second.yaml." in ended.out


def test_base_config_is_judged_through_what_is_based_on_it(make: Make) -> None:
    repository = make()
    repository.write("conf/base.yaml", "name: base\n")
    repository.write("conf/derived.yaml", "defaults:\n  - base\n  - _self_\n" + CLEAN)
    repository.commit_unchecked()
    repository.write("conf/base.yaml", "name: base\ntrainer:\n  devices: 8\n")
    ended = repository.commit()
    assert ended.code == 1, ended.out
    assert "error[NR401]" in ended.out
    assert "conf/base.yaml is read by conf/derived.yaml." in ended.out


LAUNCHER = """\
#!/bin/bash
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=8
#SBATCH --time=04:00:00
#SBATCH --array=1-9%1
export PYTHONPATH=/shared/code/Speech
srun python examples/salm_train.py --config-path=../conf --config-name=salm data.train_ds.seed={seed}
"""


@pytest.mark.parametrize("name", ["run.sbatch", "slurm/run.slurm", "run.sh"])
def test_launcher_is_judged_with_the_config_that_it_starts(make: Make, name: str) -> None:
    repository = make()
    repository.write(name, LAUNCHER.format(seed=42).replace("examples/", "/shared/code/Speech/examples/"))
    ended = repository.commit()
    assert ended.code == 0, ended.out
    repository.write(name, LAUNCHER.format(seed="$RANDOM"))
    ended = repository.commit()
    assert ended.code == 1
    assert f"{name}:7:" in ended.out
    assert "error[NR501]" in ended.out
    assert f"{name} starts conf/salm.yaml." in ended.out


def test_config_is_judged_as_its_launchers_start_it(make: Make) -> None:
    repository = make()
    repository.write("run.sbatch", LAUNCHER.format(seed="$RANDOM"))
    repository.commit_unchecked()
    repository.write("not-tracked.sbatch", LAUNCHER.format(seed="$SLURM_JOB_ID"), stage=False)
    repository.write("conf/salm.yaml", CLEAN + "# changed\n")
    ended = repository.commit()
    assert ended.code == 1
    assert "run.sbatch:7:" in ended.out
    assert "not-tracked" not in ended.out  # what git does not know is nobody else's launcher


def test_deleted_blend_is_missed_by_the_configs_that_name_it(make: Make) -> None:
    repository = make()
    repository.git("rm", "-q", "conf/blends/train.yaml")
    ended = repository.commit()
    assert ended.code == 1
    assert "conf/salm.yaml:10:16: error[NR007] `conf/blends/train.yaml` is taken away by this commit" in ended.out
    repository.git("rm", "-q", "conf/salm.yaml")
    assert repository.commit().code == 0


def test_renamed_blend_is_missed_until_the_config_follows(make: Make) -> None:
    repository = make()
    repository.git("mv", "conf/blends/train.yaml", "conf/blends/all.yaml")
    ended = repository.commit()
    assert ended.code == 1
    assert "error[NR007]" in ended.out
    repository.write("conf/salm.yaml", CLEAN.replace("train.yaml", "all.yaml"))
    ended = repository.commit()
    assert ended.code == 0, ended.out


def test_deleted_base_config_is_missed(make: Make) -> None:
    repository = make()
    repository.write("conf/base.yaml", "trainer:\n  devices: 8\n")
    repository.write("conf/derived.yaml", "defaults:\n  - base\n  - _self_\n" + CLEAN)
    repository.commit_unchecked()
    repository.git("rm", "-q", "conf/base.yaml")
    ended = repository.commit()
    assert ended.code == 1
    assert "conf/derived.yaml:2:5: error[NR003] `base` is taken away by this commit" in ended.out


def test_commits_of_other_things_pass_in_silence(make: Make) -> None:
    repository = make(extra="        verbose: true\n")
    repository.write("README.md", "# shard_seed: randomized\n")
    repository.write("deploy.yaml", "kind: Deployment\nspec: {replicas: 2}\n")
    repository.write("broken.yaml", "a: [\n")
    repository.write("setup.py", "print('no launcher')\n")
    ended = repository.commit()
    assert ended.code == 0, ended.out
    assert "NR" not in ended.out


def test_excluded_files_are_not_judged(make: Make) -> None:
    repository = make()
    repository.write(".nemo-resumable.toml", 'exclude = ["attic"]\n')
    repository.write("attic/salm.yaml", BAD)
    assert repository.commit().code == 0
    by_pre_commit = make(name="second", extra="        exclude: ^old/\n")
    by_pre_commit.write("old/salm.yaml", BAD)
    assert by_pre_commit.commit().code == 0
    by_pre_commit.write("new/salm.yaml", BAD)
    assert by_pre_commit.commit().code == 1


def test_all_files_and_a_range_of_commits(make: Make) -> None:
    repository = make()
    assert repository.pre_commit("run", "--all-files").code == 0
    first = repository.git("rev-parse", "HEAD").strip()
    repository.git("rm", "-q", "conf/blends/train.yaml")
    repository.commit_unchecked()
    ended = repository.pre_commit("run", "--from-ref", first, "--to-ref", "HEAD")
    assert ended.code == 1
    assert "error[NR007]" in ended.out


def test_readme_shows_a_blocked_commit(make: Make, command: str) -> None:
    """The README's example is the migrated one, which passes, after somebody took its fixed seed away."""
    repository = make()
    shutil.copytree(ROOT / "examples", repository.path / "examples")
    inputs = ("--indexes-root", "/shared/idx", "--exclude-blocked", "--no-annotate", "--out", "out")
    repository.run(command, "migrate", "examples/conf/salm_asr.yaml", *inputs)
    config = repository.read("out/salm_asr-resumable.yaml").replace("out/train-resumable", "data_blends/train")
    repository.write("data_blends/train.yaml", repository.read("out/train-resumable.yaml"))
    repository.write("conf/salm_asr.yaml", config)
    ended = repository.commit("Migrated")
    assert ended.code == 0, ended.out
    repository.write("conf/salm_asr.yaml", config.replace("shard_seed: 42", 'shard_seed: "randomized"', 1))
    shown = re.findall(
        r"```text\n\$ git commit -am \"(.*)\"\n((?:.*\n)*?)```", (ROOT / "README.md").read_text(encoding="utf-8")
    )
    ((message, output),) = shown
    ended = repository.run("git", "commit", "-am", message)
    assert ended.code == 1
    assert ended.out.strip() == output.strip()


def test_try_repo(source: tuple[Path, str], make: Make) -> None:
    repository = make()
    repository.write("conf/salm.yaml", BAD)
    ended = repository.pre_commit("try-repo", str(source[0]), "nemo-resumable", "--files", "conf/salm.yaml")
    assert ended.code == 1
    assert "error[NR110]" in ended.out


def test_artifacts_are_written_on_demand(make: Make) -> None:
    repository = make("nemo-resumable-artifacts")
    repository.write("conf/salm.yaml", BAD)
    assert repository.commit().code == 0  # the stage is manual
    assert not (repository.path / "migrate-resumable").exists()
    ended = repository.pre_commit("run", "nemo-resumable-artifacts", "--hook-stage", "manual", "--all-files")
    assert ended.code == 0, ended.out
    assert "Wrote migrate-resumable/salm/" in ended.out
    written = {path.name for path in (repository.path / "migrate-resumable/salm").iterdir()}
    assert written >= {"migration-report.md", "salm-resumable.yaml", "pre-flight-checklist.md", "build-indexes-cmd.sh"}
    assert repository.read("conf/salm.yaml") == BAD
    repository.git("add", "migrate-resumable")
    ended = repository.pre_commit("run", "nemo-resumable-artifacts", "--hook-stage", "manual", "--all-files")
    assert repository.git("diff", "--stat") == ""  # the same bytes, and what it wrote is no config to migrate
    assert not (repository.path / "migrate-resumable/salm-resumable").exists()


ODD_NAMES = (
    "with space.yaml",
    "ünï-口.yaml",
    "-dash.yaml",
    "--fix.yaml",
    "it's.yaml",
    "a$b&c;d.yaml",
    "back\\slash.yaml",
)


@pytest.mark.skipif(sys.platform == "win32", reason="some of the names cannot be files there")
def test_odd_names(make: Make) -> None:
    repository = make()
    for name in ODD_NAMES:
        repository.write(name, BAD)
    ended = repository.commit()
    assert ended.code == 1
    for name in ODD_NAMES:
        assert f"{name}:5:17: error[NR110]" in ended.out


@pytest.mark.skipif(sys.platform == "win32", reason="some of the names cannot be files there")
@pytest.mark.parametrize("name", ODD_NAMES)
def test_step_that_is_named_can_be_typed(command: str, make: Make, name: str) -> None:
    repository = make()
    repository.write(name, BAD)
    ended = repository.run(command, "check", "--staged", "--force-exclude", name)
    assert ended.code == 1
    (step,) = re.findall(r"^Next: nemo-resumable (.*)  #", ended.out, re.M)
    mended = repository.run("sh", "-c", f'"$0" {step}', command)
    assert mended.code == 1, mended.out  # something was changed
    assert repository.read(name) == CLEAN


def test_submodule(make: Make, environment: dict[str, str]) -> None:
    inner = make(name="inner")
    outer = make(name="outer")
    outer.git("submodule", "add", "-q", str(inner.path), "recipes")
    assert outer.commit().code == 0
    module = Repository(outer.path / "recipes", environment)
    assert (module.path / ".git").is_file()
    assert module.pre_commit("install").code == 0
    module.git("rm", "-q", "conf/blends/train.yaml")
    ended = module.commit()
    assert ended.code == 1
    assert "error[NR007]" in ended.out
    module.git("reset", "-q", "--hard")
    module.write("conf/salm.yaml", BAD)
    assert module.commit().code == 1
    module.commit_unchecked()
    outer.git("add", "recipes")
    assert outer.commit().code == 0  # what lies in a submodule is the submodule's


def test_worktree(make: Make, environment: dict[str, str]) -> None:
    repository = make()
    tree = Repository(repository.path.parent / "a tree", environment)
    repository.git("worktree", "add", "-q", "-b", "side", str(tree.path))
    assert (tree.path / ".git").is_file()
    tree.write("conf/salm.yaml", BAD)
    assert tree.commit().code == 1
    tree.write("conf/salm.yaml", CLEAN)
    tree.git("rm", "-q", "conf/blends/train.yaml")
    ended = tree.commit()
    assert ended.code == 1
    assert "error[NR007]" in ended.out
    assert repository.git("status", "--short") == ""


def test_merge_commit(make: Make) -> None:
    repository = make()
    repository.git("checkout", "-q", "-b", "side")
    repository.write("conf/salm.yaml", CLEAN.replace("batch_size: 4", "batch_size: 8"))
    assert repository.commit().code == 0
    repository.git("checkout", "-q", "main")
    repository.write("conf/salm.yaml", CLEAN.replace("batch_size: 4", "batch_size: 2"))
    assert repository.commit().code == 0
    assert repository.run("git", "merge", "side").code == 1
    assert "<<<<<<<" in repository.read("conf/salm.yaml")
    repository.git("add", "conf/salm.yaml")
    ended = repository.run("git", "commit", "--no-edit")
    assert ended.code == 1, ended.out  # markers and all
    assert "[NR001]" in ended.out
    repository.write("conf/salm.yaml", BAD)
    assert repository.run("git", "commit", "--no-edit").code == 1
    repository.write("conf/salm.yaml", CLEAN)
    ended = repository.run("git", "commit", "--no-edit")
    assert ended.code == 0, ended.out
    assert len(repository.git("rev-list", "--parents", "-1", "HEAD").split()) == 3


def test_long_command_lines_are_split(make: Make) -> None:
    repository = make()
    folder = "conf/" + "/".join(["a" * 90] * 3)
    names = [f"{folder}/config-{number:03}.yaml" for number in range(500)]
    assert sum(len(name) + 1 for name in names) > 1 << 17  # more than pre-commit puts into one command line
    for name in names:
        repository.write(name, CLEAN, stage=False)
    for name in (names[3], names[497]):
        repository.write(name, BAD, stage=False)
    repository.git("add", "conf")
    ended = repository.commit()
    assert ended.code == 1
    assert ended.out.count("error[NR110]") == 2
    assert ended.out.count("to be mended first") == 2  # two runs, each with its own file


def test_processes_side_by_side(make: Make, command: str) -> None:
    """Without `require_serial` pre-commit would run several at once, and a second `pre-commit run` does."""
    repository = make()
    names = [f"conf/config-{number:02}.yaml" for number in range(40)]
    for name in names:
        repository.write(name, BAD.replace("  train_ds:", f"  # {name}\n  train_ds:"), stage=False)
    repository.git("add", "conf")
    batches = [names[number::4] for number in range(4)] * 2  # each file by two processes
    running = [
        subprocess.Popen(
            [command, "check", "--staged", "--fix", *batch],
            cwd=repository.path,
            env=repository.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
        )
        for batch in batches
    ]
    outputs = [process.communicate(timeout=120)[0] for process in running]
    for process, output in zip(running, outputs):
        # 2: a file that another one had just written is left alone, and that is said.
        assert process.returncode in (0, 1) or "has changed meanwhile" in output, output
    for name in names:
        assert repository.read(name) == CLEAN.replace("  train_ds:", f"  # {name}\n  train_ds:")
    assert repository.git("status", "--short", "--ignored").count("??") == 0  # no temporary file is left
