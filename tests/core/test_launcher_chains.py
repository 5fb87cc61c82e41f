"""Chains of chunks, copies of index files, submissions and index builds in shell launchers."""

from __future__ import annotations

from pathlib import Path

import pytest
from nemo_resumable.core.findings import Location
from nemo_resumable.core.model.launcher.facts import Launch, Launcher
from nemo_resumable.core.model.launcher.reader import read_launcher
from nemo_resumable.core.text import Source

HEADER = "#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --ntasks-per-node=8\n"
TRAIN = "python /code/salm_train.py --config-name=salm"


def read(script: str) -> Launcher:
    return read_launcher(Source.from_text(Path("/project/run.sbatch"), script))


def start(script: str) -> Launch:
    (launch,) = read(script).launches
    return launch


def cut(location: Location | None) -> str:
    assert location is not None
    return location.source.cut(location.span)


JOB = f"#!/bin/bash\n#SBATCH -N 2\nsrun {TRAIN}\n"


@pytest.mark.parametrize(
    ("script", "by"),
    [
        (f"{HEADER}srun {TRAIN}", None),
        (f"{HEADER}#SBATCH --dependency=singleton\nsrun {TRAIN}", "--dependency=singleton"),
        (f"{HEADER}#SBATCH -d afterany:17\nsrun {TRAIN}", "--dependency=afterany"),
        (f"{HEADER}#SBATCH --array=1-9%1\nsrun {TRAIN}", "array, one task at a time"),
        (f"{HEADER}#SBATCH --requeue\nsrun {TRAIN}", "--requeue"),
        (f"{HEADER}srun {TRAIN}\nscontrol requeue $SLURM_JOB_ID", "scontrol requeue"),
        (f"{HEADER}srun {TRAIN} || scontrol requeue $SLURM_JOB_ID", "scontrol requeue"),
        (f"{HEADER}trap 'scontrol requeue $SLURM_JOB_ID' USR1\nsrun {TRAIN}", "scontrol requeue"),
        (f"{HEADER}again() {{ scontrol requeue $SLURM_JOB_ID; }}\ntrap again USR1\nsrun {TRAIN}", "scontrol requeue"),
        (
            f"{HEADER}sbatch --dependency=afterok:$SLURM_JOB_ID $0\nsrun {TRAIN}",
            "the job submits itself with --dependency=afterok",
        ),
        (
            f'{HEADER}sbatch -d afterany:$SLURM_JOB_ID "${{BASH_SOURCE[0]}}"\nsrun {TRAIN}',
            "the job submits itself with --dependency=afterany",
        ),
        (f"{HEADER}srun {TRAIN}\nsbatch run.sbatch", "the job submits itself"),
        (
            f"{HEADER}#SBATCH --requeue\nagain() {{ if [ ! -f done ]; then sbatch $SLURM_SUBMIT_DIR/run.sbatch; fi; }}\n"
            f"trap again USR1\nsrun {TRAIN} &\nwait",
            "the job submits itself",
        ),
        (f"for i in 1 2 3; do {TRAIN}; done", "for loop on one machine"),
        (f"while ! {TRAIN}; do sleep 60; done", "while loop on one machine"),
        (f"until {TRAIN}; do sleep 60; done", "while loop on one machine"),
        (f"{HEADER}for i in 1 2 3; do srun {TRAIN}; done", "for loop in the job"),
        (f"for i in 1 2 3; do sbatch <<'EOF'\n{JOB}EOF\ndone", "loop over sbatch"),
        (f"for i in 1 2 3; do sbatch -d singleton <<'EOF'\n{JOB}EOF\ndone", "loop over sbatch --dependency=singleton"),
        (
            f"p=\nfor i in 1 2 3; do p=$(sbatch --parsable ${{p:+-d afterany:$p}} <<'EOF'\n{JOB}EOF\n); done",
            "loop over sbatch --dependency=afterany",
        ),
        (
            f'p=\nfor i in 1 2 3; do\n  d=\n  [ -n "$p" ] && d="--dependency=afterany:$p"\n'
            f"  p=$(sbatch --parsable $d --wrap '{TRAIN}')\ndone",
            "loop over sbatch --dependency=afterany",
        ),
        (
            f"p=\nfor i in 1 2 3; do\n  cat > job.sh <<'EOF'\n{JOB}EOF\n  if [ -z \"$p\" ]; then p=$(sbatch job.sh)\n"
            "  else p=$(sbatch --dependency=afterany:$p job.sh); fi\ndone",
            "loop over sbatch --dependency=afterany",
        ),
        (f"for i in 1; do {TRAIN}; done", None),
        (f"{HEADER}if [ $# -gt 0 ]; then echo; fi\nsrun {TRAIN}", None),
    ],
)
def test_what_makes_a_chain(script: str, by: str | None) -> None:
    chain = start(f"{script}\n").chain
    assert (chain.chained, chain.by) == (by is not None, by)


def test_an_array_without_a_limit_is_no_chain() -> None:
    chain = start(f"{HEADER}#SBATCH --array=1-9\nsrun {TRAIN}\n").chain
    assert (chain.chained, chain.array) == (False, "1-9")


def test_a_variable_that_a_job_hands_to_its_successor_changes_between_chunks() -> None:
    script = (
        f"{HEADER}CHUNK=${{CHUNK:-1}}\nSEED=$((42 + CHUNK))\n"
        'if ((CHUNK < 9)); then sbatch --export=ALL,CHUNK=$((CHUNK + 1)) "$0"; fi\n'
        f"srun {TRAIN} k.a=$SEED k.b=$OTHER\n"
    )
    first, second = start(script).overrides
    assert first.value.varies is not None
    assert first.value.varies.kind == "chunk"
    assert second.value.varies is None


def test_an_argument_that_a_job_hands_to_its_successor_changes_between_chunks() -> None:
    script = f"{HEADER}N=${{1:-0}}\nsbatch $0 $((N + 1))\nsrun {TRAIN} k.a=$((42 + N)) k.b=4\n"
    first, second = start(script).overrides
    assert first.value.varies is not None
    assert first.value.varies.kind == "chunk"
    assert second.value.text == "4"


# -- copies of index files


@pytest.mark.parametrize(
    ("command", "source", "target", "every_node"),
    [
        ("cp -r /shared/idx/. /tmp/idx/", "/shared/idx/.", "/tmp/idx/", False),
        ("srun --ntasks-per-node=1 cp -r /shared/idx /tmp/idx", "/shared/idx", "/tmp/idx", True),
        ("srun -N 2 -n 2 cp -r -t /tmp/idx /shared/idx", "/shared/idx", "/tmp/idx", True),
        ("srun -N 1 -n 1 cp -r /shared/idx /tmp/idx", "/shared/idx", "/tmp/idx", False),
        ("srun --ntasks-per-node=1 rsync -a --exclude '*.x' /shared/idx/ /tmp/idx/", "/shared/idx/", "/tmp/idx/", True),
        (
            "srun --ntasks-per-node=1 bash -c 'mkdir -p /tmp/idx && cp -r /shared/idx/* /tmp/idx'",
            "/shared/idx/*",
            "/tmp/idx",
            True,
        ),
        ("srun --ntasks-per-node=1 tar -xzf /shared/idx.tar.gz -C /tmp/idx", "/shared/idx.tar.gz", "/tmp/idx", True),
        ("srun --ntasks-per-node=1 tar xf /shared/idx.tar -C /tmp/idx", "/shared/idx.tar", "/tmp/idx", True),
        ("sbcast /shared/idx.tar /tmp/idx.tar", "/shared/idx.tar", "/tmp/idx.tar", True),
        (
            "srun --ntasks-per-node=1 python prefetch_indexes.py --source-indexes-root=/shared/idx --indexes-root=/tmp/idx b.yaml",
            "/shared/idx",
            "/tmp/idx",
            True,
        ),
        ("srun --ntasks-per-node=1 ln -s /shared/idx /tmp/idx", "/shared/idx", "/tmp/idx", True),
        (
            "for n in $(scontrol show hostnames); do ssh $n cp -r /shared/idx /tmp/idx; done",
            "/shared/idx",
            "/tmp/idx",
            True,
        ),
        (
            "for n in $(scontrol show hostnames); do srun -N1 -n1 -w $n cp -r /shared/idx /tmp/idx & done; wait",
            "/shared/idx",
            "/tmp/idx",
            True,
        ),
        (
            "N=($(scontrol show hostnames))\nfor ((w = 0; w < SLURM_NNODES; w++)); do\n"
            '  srun -N1 -n1 -w "${N[$w]}" cp -r /shared/idx /tmp/idx &\ndone',
            "/shared/idx",
            "/tmp/idx",
            True,
        ),
        ("if [ $SLURM_PROCID -eq 0 ]; then cp -r /shared/idx /tmp/idx; fi", "/shared/idx", "/tmp/idx", False),
    ],
)
def test_copies(command: str, source: str, target: str, every_node: bool) -> None:
    (copy,) = start(f"{HEADER}{command}\nsrun {TRAIN}\n").staging
    assert (copy.source.text, copy.target.text, copy.every_node, copy.every_chunk) == (source, target, every_node, True)
    assert copy.named


def test_a_copy_stands_at_its_own_words() -> None:
    (copy,) = start(f'{HEADER}L=/tmp/idx\nsrun --ntasks-per-node=1 cp -r /shared/idx/. "$L/"\nsrun {TRAIN}\n').staging
    assert cut(copy.location) == 'cp -r /shared/idx/. "$L/"'
    assert cut(copy.target.drawn) == "L=/tmp/idx"


@pytest.mark.parametrize(
    ("condition", "every_chunk"),
    [
        ("if [ $SLURM_ARRAY_TASK_ID -eq 1 ]; then COPY; fi", False),
        ("[[ $SLURM_ARRAY_TASK_ID == 1 ]] && COPY", False),
        ("if [ ${SLURM_RESTART_COUNT:-0} -eq 0 ]; then COPY; fi", False),
        ("if [ ! -d /tmp/idx ]; then COPY; fi", True),
        ("[ -e /tmp/idx/done ] || COPY", True),
        ('if [ -n "$STAGE" ]; then COPY; fi', True),
        ("if true; then COPY; fi", True),
        ("stage() { COPY; }\nstage", True),
        ("COPY || exit 1", True),
    ],
)
def test_copies_in_some_chunks_only(condition: str, every_chunk: bool) -> None:
    copy = "srun --ntasks-per-node=1 cp -r /shared/idx /tmp/idx"
    script = f"{HEADER}#SBATCH --array=1-4%1\n{condition.replace('COPY', copy)}\nsrun {TRAIN}\n"
    (found,) = start(script).staging
    assert found.every_chunk is every_chunk
    if not every_chunk:
        assert cut(found.condition) == condition.replace("COPY", copy).split("\n")[0]


@pytest.mark.parametrize(
    "command",
    [
        "mkdir -p /tmp/idx",
        "rm -rf /tmp/idx",
        "ls /tmp/idx",
        "echo cp -r /shared/idx /tmp/idx",
        "stage() { cp -r /shared/idx /tmp/idx; }",
        "if false; then cp -r /shared/idx /tmp/idx; fi",
        "cp run.yaml /shared/runs/",
    ],
)
def test_what_copies_no_index_files(command: str) -> None:
    assert start(f"{HEADER}{command}\nsrun {TRAIN}\n").staging == ()


def test_copies_after_training_do_not_count() -> None:
    assert start(f"{HEADER}srun {TRAIN}\ncp -r /shared/idx /tmp/idx\n").staging == ()


def test_a_copy_to_a_nodes_own_disk_that_is_not_called_so_may_be_one() -> None:
    (copy,) = start(f"{HEADER}srun --ntasks-per-node=1 rsync -a /shared/side/ /tmp/side/\nsrun {TRAIN}\n").staging
    assert not copy.named


# -- submissions and index builds


def test_what_a_submission_hands_over() -> None:
    script = 'for i in 1 2 3; do\n  sbatch --nodes=$((i * 2)) --time=1:00:00 --export=ALL,SEED=$RANDOM,N=4 "$JOB" $i x\ndone\n'
    (submission,) = read(script).submissions
    assert {each.name: each.value.text for each in submission.hands_over if each.name in ("SEED", "N")} == {
        "SEED": None,
        "N": "4",
    }
    seed = next(each for each in submission.hands_over if each.name == "SEED")
    assert seed.value.varies is not None
    assert submission.nodes.varies is not None
    assert cut(submission.nodes.location) == "--nodes=$((i * 2))"
    assert submission.walltime is not None
    assert submission.chain.by == "loop over sbatch"


@pytest.mark.parametrize(
    ("script", "cpu", "off"),
    [
        ("#SBATCH -p cpu\nsrun --container-image=x python build_indexes.py b.yaml", True, False),
        (
            "#SBATCH -p cpu_long\nexport NVIDIA_VISIBLE_DEVICES=void\nsrun --container-image=x python build_indexes.py b.yaml",
            True,
            True,
        ),
        (
            "#SBATCH -p cpu\nNVIDIA_VISIBLE_DEVICES=void srun --container-image=x python build_indexes.py b.yaml",
            True,
            True,
        ),
        (
            "#SBATCH -p gpu\n#SBATCH --gpus-per-node=1\nsrun --container-image=x python build_indexes.py b.yaml",
            False,
            False,
        ),
        ("#SBATCH -p cpu\nsrun --container-image=x lhotse index jsonl a.jsonl", True, False),
        (
            "#SBATCH -p cpu\nsrun --container-image=x bash -c 'cd /c && python convert_indexes_to_idxpack.py b.yaml'",
            True,
            False,
        ),
    ],
)
def test_index_builds(script: str, cpu: bool, off: bool) -> None:
    (build,) = read(f"#!/bin/bash\n{script}\n").index_builds
    assert (build.cpu_partition, build.gpu_hook_off) == (cpu, off)
    assert build.container is not None
    assert build.container.text == "x"


def test_the_limit_of_open_files() -> None:
    limit = start(f"{HEADER}ulimit -n 65536\nsrun {TRAIN}\n").open_files
    assert limit is not None
    assert limit.value == 65536
    limit = start(f"{HEADER}srun bash -c 'ulimit -Sn 4096; {TRAIN}'\n").open_files
    assert limit is not None
    assert limit.value == 4096
    assert start(f"{HEADER}ulimit -c 0\nsrun {TRAIN}\n").open_files is None
