"""Command lines of a shell launcher taken apart: what starts training, with what around it, and where each part stands."""

from __future__ import annotations

from pathlib import Path

import pytest
from nemo_resumable.core.findings import Location
from nemo_resumable.core.model.launcher.facts import Launch, Launcher
from nemo_resumable.core.model.launcher.reader import read_launcher
from nemo_resumable.core.text import Source

HEADER = (
    "#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --ntasks-per-node=8\n#SBATCH --gpus-per-node=8\n#SBATCH --time=04:00:00\n"
)
TRAIN = "python /code/salm_train.py --config-path=/conf --config-name=salm"


def read(script: str, folder: Path = Path("/project")) -> Launcher:
    return read_launcher(Source.from_text(folder / "run.sbatch", script))


def start(script: str) -> Launch:
    launches = read(script).launches
    assert len(launches) == 1
    return launches[0]


def cut(location: Location | None) -> str:
    assert location is not None
    return location.source.cut(location.span)


@pytest.mark.parametrize(
    "command",
    [
        "srun python /code/salm_train.py",
        "srun -n 16 --label python3 -u /code/salm_train.py",
        "exec srun python -X faulthandler -W ignore /code/salm_train.py",
        "time srun --cpu-bind=none python /code/salm_train.py",
        "srun bash -c 'python /code/salm_train.py \"$@\"' train",
        "srun env A=1 B=2 python /code/salm_train.py",
        "srun nohup numactl --cpunodebind=0 python /code/salm_train.py",
        "srun nsys profile -o out --trace=cuda,nvtx -x true python /code/salm_train.py",
        "timeout -k 10 3h srun python /code/salm_train.py",
        "srun torchrun --nnodes=2 --nproc-per-node 8 /code/salm_train.py",
        "srun python -m torch.distributed.run --nproc_per_node=8 --no-python python /code/salm_train.py",
        "srun ft_launcher --nproc_per_node=8 /code/salm_train.py",
        "mpirun -np 16 --map-by ppr:8:node -x PATH python /code/salm_train.py",
        "srun apptainer exec --nv -B /shared:/shared image.sif python /code/salm_train.py",
        "srun singularity run image.sif python /code/salm_train.py",
        "docker run --rm --gpus all -v /a:/b -e X=1 image python /code/salm_train.py",
        "uv run --frozen python /code/salm_train.py",
        "conda run -n nemo --no-capture-output python /code/salm_train.py",
        "poetry run python /code/salm_train.py",
        "srun $SRUN_FLAGS python /code/salm_train.py",
        "$LAUNCHER python /code/salm_train.py",
        "$PYTHON /code/salm_train.py",
        "srun ${PYTHON:-python} /code/salm_train.py",
        "/code/salm_train.py",
        "CUDA_LAUNCH_BLOCKING=1 srun python /code/salm_train.py",
        "srun ./numa_wrapper.sh python /code/salm_train.py",
        "ssh node7 python /code/salm_train.py",
    ],
)
def test_what_starts_a_training(command: str) -> None:
    launch = start(f"{HEADER}{command} --config-path=/conf --config-name=salm k.a=1\n")
    assert launch.program.text == "/code/salm_train.py"
    assert launch.config_path is not None
    assert launch.config_path.text == "/conf"
    assert [(each.key, each.value.text) for each in launch.overrides] == [("k.a", "1")]


@pytest.mark.parametrize(
    "script",
    [
        f"echo {TRAIN}",
        f'echo "{TRAIN}" >> log',
        f"printf '%s' '{TRAIN}'",
        f'A=({TRAIN} trainer.devices=8)\nprintf \'%s\\n\' "${{A[@]}}"\necho "${{A[@]}}"',
        f"# {TRAIN}",
        f": <<EOF\n{TRAIN}\nEOF",
        f"cat <<EOF\n{TRAIN}\nEOF",
        f"f() {{ {TRAIN}; }}",
        f"if false; then {TRAIN}; fi",
        f"[ 1 = 2 ] && {TRAIN}",
        f"exit 0\n{TRAIN}",
        f"while false; do {TRAIN}; done",
        f"for x in; do {TRAIN}; done",
        "python train_tokenizer.py --vocab 1024 --seed 3",
        "python split.py data.train_ds.json",
        "grep -r salm_train.py .",
        "python -m pip install nemo_toolkit",
        "python /code/transcribe_speech.py model_path=x.nemo",
        "vim salm_train.py",
    ],
)
def test_what_starts_nothing(script: str) -> None:
    assert read(f"{script}\n").launches == ()


@pytest.mark.parametrize(
    ("flags", "config"),
    [
        ("--config-path=/c --config-name=n", ("/c", "n", None)),
        ("--config-path /c --config-name n", ("/c", "n", None)),
        ("-cp /c -cn n", ("/c", "n", None)),
        ("-cp=/c -cn=n", ("/c", "n", None)),
        ("--config-dir=/c --config-name=n.yaml", (None, "n.yaml", "/c")),
        ("-cd /c -cn n", (None, "n", "/c")),
        ("--config-name=a --config-name=n", (None, "n", None)),
        ("k.a=1 --config-name=n", (None, "n", None)),
        ("--multirun --config-name=n", (None, "n", None)),
        ('"--config-path=$C" --config-name="$N"', ("/c", "n", None)),
    ],
)
def test_hydras_own_flags(flags: str, config: tuple[str | None, ...]) -> None:
    launch = start(f"C=/c; N=n\npython salm_train.py {flags}\n")
    words = (launch.config_path, launch.config_name, launch.config_dir)
    assert tuple(word.text if word is not None else None for word in words) == config


@pytest.mark.parametrize(
    ("written", "prefix", "key", "value"),
    [
        ("k.a=1", "", "k.a", "1"),
        ("+k.a=1", "+", "k.a", "1"),
        ("++k.a=1", "++", "k.a", "1"),
        ("~k.a", "~", "k.a", ""),
        ('"k.a=[1,2]"', "", "k.a", "[1,2]"),
        ("'k.a={b: 1}'", "", "k.a", "{b: 1}"),
        ('k.a="x y"', "", "k.a", "x y"),
        ("k.a=", "", "k.a", ""),
        ("k.a='\"quoted\"'", "", "k.a", '"quoted"'),
        ("k.a=x=y", "", "k.a", "x=y"),
        ("k.a=${X:-8}", "", "k.a", "8"),
        ('k.a="${X:-8}"', "", "k.a", "8"),
        ('"k.a=${X:-"8"}"', "", "k.a", "8"),
    ],
)
def test_overrides_stand_where_they_are_written(written: str, prefix: str, key: str, value: str) -> None:
    (override,) = start(f"{TRAIN} {written} \\\n  # more\n").overrides
    assert (override.prefix, override.key, override.value.text) == (prefix, key, value)
    assert cut(override.location) == written


@pytest.mark.parametrize(
    ("script", "place"),
    [
        (f'bash -c "{TRAIN} k.a=${{X:-8}}"', "k.a=${X:-8}"),
        (f"A=(x k.a=1)\n{TRAIN} ${{A[@]}}", "k.a=1"),
        (f'A=(\n  "k.a=$B" # why\n)\n{TRAIN} "${{A[@]}}"', '"k.a=$B"'),
        (f'A=()\nA+=("k.a=1")\n{TRAIN} "${{A[@]}}"', '"k.a=1"'),
        (f'A="x=1 k.a=1"\n{TRAIN} $A', "k.a=1"),
        (f'A="k.a=$RANDOM"\n{TRAIN} $A', "k.a=$RANDOM"),
        (f'B="{TRAIN} k.a=$X"\nsrun bash -c "$B"', "k.a=$X"),
        (f'srun bash -c "{TRAIN} k.a=$X"', "k.a=$X"),
        (f'A=(k.b=1 k.a=2)\nsrun bash -c "{TRAIN} $(printf \' %q\' "${{A[@]}}")"', "k.a=2"),
        (f'A=(k.b=1 k.a=2)\nsrun bash -c "{TRAIN} ${{A[*]}}"', "k.a=2"),
        (f"srun bash -c '{TRAIN} k.a=$X'", "k.a=$X"),
        (f"read -r -d '' B <<EOF\n{TRAIN} \\\\\n  k.a=\\$X\nEOF\nsrun bash -c \"$B\"", "k.a=\\$X"),
        (f'B=$(cat <<EOF\n{TRAIN} k.a=${{X}}\nEOF\n)\nbash -c "$B"', "k.a=${X}"),
        (f"sbatch <<EOF\n#!/bin/bash\n{TRAIN} k.a=$X\nEOF", "k.a=$X"),
        (f"sbatch <<-EOF\n\t#!/bin/bash\n\t{TRAIN} k.a=$X\n\tEOF", "k.a=$X"),
        (f"cat <<EOF | sbatch\n#!/bin/bash\n{TRAIN} k.a=$X\nEOF", "k.a=$X"),
        (f"sbatch --wrap='{TRAIN} k.a=$X'", "k.a=$X"),
        (f'sbatch --wrap "{TRAIN} k.a=$X"', "k.a=$X"),
        (f"cat > job.sh <<EOF\n#!/bin/bash\n{TRAIN} k.a=$X\nEOF\nsbatch job.sh", "k.a=$X"),
        (f"F=job_$X.sh\ncat <<EOF > $F\n#!/bin/bash\n{TRAIN} k.a=$X\nEOF\nsbatch $F", "k.a=$X"),
        (f"tee job.sh <<EOF\n{TRAIN} k.a=$X\nEOF\nbash job.sh", "k.a=$X"),
        (f'f() {{ {TRAIN} "$@"; }}\nf k.a=$X', "k.a=$X"),
        (f"f() {{ {TRAIN} k.a=$1; }}\nf $X", "k.a=$1"),
        (f"bash <<'EOF'\n{TRAIN} k.a=$X\nEOF", "k.a=$X"),
        (f"bash <<< '{TRAIN} k.a=$X'", "k.a=$X"),
    ],
)
def test_overrides_stand_where_they_are_written_however_they_get_there(script: str, place: str) -> None:
    override = start(f"{script}\n").overrides[-1]
    assert override.key == "k.a"
    assert cut(override.location) == place


def test_of_a_key_given_twice_the_last_counts() -> None:
    launch = start(f"{TRAIN} k.a=1 k.b=2 k.a=3\n")
    assert [(each.key, each.value.text) for each in launch.overrides] == [("k.b", "2"), ("k.a", "3")]


@pytest.mark.parametrize(
    ("command", "nodes", "tasks", "ranks"),
    [
        ("srun python", 2, 8, 8),
        ("srun -n 16 python", 2, 8, 8),
        ("srun -N 1 -n 4 python", 1, 4, 4),
        ("srun --ntasks-per-node=4 python", 2, 4, 4),
        ("srun --ntasks-per-node=1 torchrun --nproc-per-node=8 --nnodes=2", 2, 1, 8),
        ("srun --ntasks-per-node=1 torchrun --nproc-per-node=gpu --nnodes=$SLURM_NNODES", 2, 1, 8),
        ("srun --ntasks-per-node=1 torchrun --nproc-per-node=$SLURM_GPUS_ON_NODE", 2, 1, 8),
        ("torchrun --nproc-per-node=8", 1, 8, 8),
        ("python", 1, 8, 1),
    ],
)
def test_topology_of_a_job(command: str, nodes: int, tasks: int, ranks: int) -> None:
    launch = start(f"{HEADER}{command} /code/salm_train.py --config-name=salm\n")
    assert (launch.nodes.value, launch.tasks_per_node.value, launch.ranks_per_node.value) == (nodes, tasks, ranks)


@pytest.mark.parametrize(
    ("command", "nodes", "ranks"),
    [
        ("python", 1, None),
        ("torchrun --standalone --nproc_per_node=4", 1, 4),
        ("torchrun --nnodes 2 --nproc-per-node 8 --node-rank $1", 2, 8),
        ("torchrun --nproc-per-node=$N", 1, None),
        ("srun -N 2 --ntasks-per-node=8 python", 2, 8),
        ("srun python", None, None),
        ("NODE_RANK=$1 MASTER_ADDR=node1 python", None, None),
    ],
)
def test_topology_without_a_job(command: str, nodes: int | None, ranks: int | None) -> None:
    launch = start(f"{command} /code/salm_train.py --config-name=salm\n")
    assert (launch.nodes.value, launch.ranks_per_node.value) == (nodes, ranks)


@pytest.mark.parametrize(
    ("header", "nodes", "tasks", "gpus", "seconds"),
    [
        ("#SBATCH -N 2\n#SBATCH -n 16\n#SBATCH --gres=gpu:a100:8\n#SBATCH -t 90", 2, 8, 8, 5400),
        ("#SBATCH -N2 -n16 --gpus=16 -t 1:30", 2, 8, 8, 90),
        (
            "#SBATCH --nodes 2 --ntasks-per-node 4  # half\n#SBATCH --gpus-per-node=h100:4\n#SBATCH --time 2-0",
            2,
            4,
            4,
            172800,
        ),
        (
            "#SBATCH --nodes=4\n#SBATCH --nodes=2\n##SBATCH --nodes=8\n# SBATCH --nodes=9\n#SBATCH --time=1-2:03",
            2,
            1,
            None,
            93780,
        ),
        ("#SBATCH --nodes=2-4\n#SBATCH --ntasks-per-node=8", None, 8, None, None),
        ("#SBATCH --ntasks-per-node=8 --gpus-per-task=1", 1, 8, 8, None),
        ("#SBATCH --nodes=2\necho x\n#SBATCH --nodes=4\n#SBATCH --time=1:00:00", 2, 1, None, None),
        ("#SBATCH --time=1-00:00:30\n#SBATCH --nodes=1", 1, 1, None, 86430),
        ("#SBATCH --time=UNLIMITED\n#SBATCH --nodes=1", 1, 1, None, None),
    ],
)
def test_headers(header: str, nodes: int | None, tasks: int, gpus: int | None, seconds: int | None) -> None:
    launch = start(f"#!/bin/bash\n{header}\nsrun {TRAIN}\n")
    assert (launch.nodes.value, launch.tasks_per_node.value, launch.gpus_per_node.value) == (nodes, tasks, gpus)
    assert (launch.walltime.seconds if launch.walltime else None) == seconds


def test_facts_stand_in_their_lines() -> None:
    launch = start(f"{HEADER}srun --ntasks-per-node=4 {TRAIN}\n")
    assert cut(launch.nodes.location) == "#SBATCH --nodes=2"
    assert cut(launch.tasks_per_node.location) == "--ntasks-per-node=4"
    assert cut(launch.walltime.location if launch.walltime else None) == "#SBATCH --time=04:00:00"
    ranks = start(f"{HEADER}srun --ntasks-per-node 1 torchrun --nproc_per_node 8 {TRAIN.removeprefix('python ')}\n")
    assert cut(ranks.tasks_per_node.location) == "--ntasks-per-node 1"
    assert cut(ranks.ranks_per_node.location) == "--nproc_per_node 8"
    assert cut(launch.location).startswith("srun --ntasks-per-node=4 python /code/salm_train.py")


@pytest.mark.parametrize(
    ("script", "variables"),
    [
        ("export A=1\nsrun TRAIN", {"A": "1"}),
        ("A=1\nexport A\nsrun TRAIN", {"A": "1"}),
        ("declare -x A=1\nsrun TRAIN", {"A": "1"}),
        ("set -a\nA=1\nset +a\nB=2\nsrun TRAIN", {"A": "1"}),
        ("A=1 srun TRAIN", {"A": "1"}),
        ("export A=1\nunset A\nsrun TRAIN", {}),
        ("export A=1\nexport -n A\nsrun TRAIN", {}),
        ("srun --export=ALL,A=1 TRAIN", {"A": "1"}),
        ("export A=1 B=2\nsrun --export=NONE TRAIN", {}),
        ("export A=1 B=2\nsrun --export=A TRAIN", {"A": "1"}),
        ("export A=1\nsrun env -u A B=2 TRAIN", {"B": "2"}),
        ("export A=1\nsrun env -i B=2 TRAIN", {"B": "2"}),
        ("export A=1\ndocker run -e B=2 image TRAIN", {"B": "2"}),
        ("export A=1\ndocker run -e A --env=B=2 image TRAIN", {"A": "1", "B": "2"}),
        ("export A=1\nsrun apptainer exec --env B=2,C=3 x.sif TRAIN", {"A": "1", "B": "2", "C": "3"}),
        ("export APPTAINERENV_A=1\nsrun apptainer exec x.sif TRAIN", {"A": "1"}),
        ("export A=1\nsrun bash -c 'export B=$A; TRAIN'", {"A": "1", "B": "1"}),
        ("(export A=1)\nsrun TRAIN", {}),
        ("f() { export A=1; }\nf\nsrun TRAIN", {"A": "1"}),
    ],
)
def test_variables_that_reach_training(script: str, variables: dict[str, str]) -> None:
    launch = start(HEADER + script.replace("TRAIN", TRAIN) + "\n")
    found = {name: each.value.text for name, each in launch.env.items() if each.reaches and name in "ABC"}
    assert found == variables


def test_a_variable_that_is_not_exported_is_reported_where_it_is_set() -> None:
    launch = start(f"{HEADER}USE_AIS_GET_BATCH=true\nexport AIS_ENDPOINT=http://x:1\nsrun {TRAIN}\n")
    assert not launch.env["USE_AIS_GET_BATCH"].reaches
    assert cut(launch.env["USE_AIS_GET_BATCH"].location) == "USE_AIS_GET_BATCH=true"
    assert cut(launch.env["AIS_ENDPOINT"].location) == "export AIS_ENDPOINT=http://x:1"


@pytest.mark.parametrize(
    ("script", "python"),
    [
        ("source /venv/bin/activate\nsrun TRAIN", "/venv/bin/activate"),
        (". /conda/bin/activate nemo\nsrun TRAIN", "/conda/bin/activate nemo"),
        ("conda activate nemo\nsrun TRAIN", "nemo"),
        ("srun /venv/bin/TRAIN", "/venv/bin/python"),
        ("srun /usr/bin/TRAIN", None),
        ("uv run TRAIN", "uv"),
        ("conda run -n nemo TRAIN", "conda"),
        ("export PATH=/venvs/nemo/bin:$PATH\nsrun TRAIN", "/venvs/nemo/bin"),
        ("srun bash -c 'source /venv/bin/activate; TRAIN'", "/venv/bin/activate"),
        ("srun TRAIN", None),
    ],
)
def test_the_python_in_use(script: str, python: str | None) -> None:
    launch = start(HEADER + script.replace("TRAIN", TRAIN) + "\n")
    assert (launch.python.text if launch.python else None) == python


@pytest.mark.parametrize(
    ("script", "image"),
    [
        ("srun --container-image=/a.sqsh TRAIN", "/a.sqsh"),
        ("srun --container-image /a.sqsh TRAIN", "/a.sqsh"),
        ("#SBATCH --container-image=/a.sqsh\nsrun TRAIN", "/a.sqsh"),
        ("docker run --rm -it --gpus all --ipc host image:tag TRAIN", "image:tag"),
        ("docker run --rm --gpus '\"device=0\"' --ulimit memlock=-1 image:tag TRAIN", "image:tag"),
        ("srun apptainer exec --nv a.sif TRAIN", "a.sif"),
        ("srun TRAIN", None),
    ],
)
def test_the_container(script: str, image: str | None) -> None:
    launch = start("#!/bin/bash\n#SBATCH -N 2\n" + script.replace("TRAIN", TRAIN) + "\n")
    assert (launch.container.text if launch.container else None) == image


def test_mounts_of_a_container() -> None:
    launch = start(f"srun --container-image=x --container-mounts=/shared/idx:/tmp/idx:ro,/data {TRAIN}\n")
    assert [(each.source.text, each.target.text) for each in launch.mounts] == [
        ("/shared/idx", "/tmp/idx"),
        ("/data", "/data"),
    ]
    launch = start(
        f"docker run -v /shared/idx:/tmp/idx:ro --volume=/a:/b --mount type=bind,source=/c,target=/d x {TRAIN}\n"
    )
    assert [(each.source.text, each.target.text) for each in launch.mounts] == [
        ("/shared/idx", "/tmp/idx"),
        ("/a", "/b"),
        ("/c", "/d"),
    ]


@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        ("source ./missing.sh\n", "the sourced file `./missing.sh` is not here"),
        ('eval "$X"\n', "`eval` runs text that is only known when it runs"),
        ('sbatch "$1"\n', "which job file is started is only known at the call"),
        ("sbatch missing.sbatch\n", "the job file `missing.sbatch` is not here"),
        ("bash missing.sh\n", "the script `missing.sh` is not here"),
        ("srun $COMMAND\n", "which command is started is only known at the call"),
        ('srun bash -c "$COMMAND"\n', "which command is started is only known at the call"),
    ],
)
def test_gaps(script: str, sentence: str, tmp_path: Path) -> None:
    assert [gap.sentence for gap in read(script, tmp_path).gaps] == [sentence]


def test_files_beside_the_launcher_are_read(tmp_path: Path) -> None:
    (tmp_path / "env.sh").write_text("export A=1\nSEED=7\n")
    (tmp_path / "job.sbatch").write_text(f"#!/bin/bash\n#SBATCH --nodes=2\nsrun {TRAIN} k.a=$1 k.b=$SEED k.c=$B\n")
    launcher = read(
        'source "$(dirname "$0")/env.sh"\nexport SEED\nsbatch --nodes=4 --export=ALL,B=3 job.sbatch 5\n', tmp_path
    )
    (launch,) = launcher.launches
    assert launcher.gaps == ()
    assert launcher.submissions == ()
    assert [(each.key, each.value.text) for each in launch.overrides] == [("k.a", "5"), ("k.b", "7"), ("k.c", "3")]
    assert launch.env["A"].value.text == "1"
    assert launch.nodes.value == 4
    assert launch.overrides[0].location.file == tmp_path / "job.sbatch"


def test_text_that_is_no_shell_is_said_to_be_none() -> None:
    launcher = read("if [ 1 = 1 ; then\n  echo )x\nelse else\n")
    assert launcher.gaps
