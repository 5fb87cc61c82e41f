"""Words of a shell launcher: what reaches training is known, known by default, another in each chunk, or unknown with a reason."""

from __future__ import annotations

from pathlib import Path

import pytest
from nemo_resumable.core.model.launcher.facts import Launcher, Word
from nemo_resumable.core.model.launcher.reader import read_launcher
from nemo_resumable.core.text import Source

TRAIN = "srun python /code/salm_train.py --config-name=salm "


def read(script: str) -> Launcher:
    return read_launcher(Source.from_text(Path("/project/run.sbatch"), script))


def value(before: str, written: str) -> Word:
    """What `k.a` gets when the command line holds `written` behind the statements."""
    launcher = read(f"#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --ntasks-per-node=8\n{before}\n{TRAIN}{written}\n")
    assert len(launcher.launches) == 1
    (override,) = launcher.launches[0].overrides
    assert override.key == "k.a"
    return override.value


@pytest.mark.parametrize(
    ("before", "written", "text"),
    [
        ("A=1", "k.a=$A", "1"),
        ("A='x y'", 'k.a="$A"', "x y"),
        ("A=1; B=${A}2", "k.a=$B", "12"),
        ("A=1\nA+=2", "k.a=$A", "12"),
        ("A=x", "k.a='$A'", "$A"),
        ("A=x", 'k.a="\\$A"', "$A"),
        ("A=x", "k.a=\\$A", "$A"),
        ("", r"k.a=$'it\'s'", "it's"),
        ("A=x", "'k.a='\"$A\"'y'", "xy"),
        ("A=x", "k.a=[$A,y]", "[x,y]"),
        ("A=x; B=y; C='$A z'", 'k.a="$A $B $C"', "x y $A z"),
        ("A=x; B=y", 'k.a="${A} ${B}"', "x y"),
        ("A=x", "'k.a={a:1,b:2}'", "{a:1,b:2}"),
        ("A=3", "k.a=${A:-7}", "3"),
        ("A=", "k.a=${A:-7}", "7"),
        ("A=", "k.a=${A-7}", ""),
        ("A=5", "k.a=${A:+9}", "9"),
        ("A=run.yaml", "k.a=${A%.yaml}", "run"),
        ("A=/a/b/c", "k.a=${A##*/}", "c"),
        ("A=/a/b/c", "k.a=${A%/*}", "/a/b"),
        ("A=a-b-c", "k.a=${A//-/_}", "a_b_c"),
        ("A=abc", "k.a=${A^^}", "ABC"),
        ("A=abcdef", "k.a=${A:1:3}", "bcd"),
        ("A=abc", "k.a=${#A}", "3"),
        ("B=A; A=5", "k.a=${!B}", "5"),
        ("A=4", "k.a=$((A * 2 + 1))", "9"),
        ("A=4", "k.a=$((${A} << 1))", "8"),
        ("", "k.a=$((16#ff))", "255"),
        ("A=7", "k.a=$((A > 3 ? 1 : 2))", "1"),
        ("((A = 3 + 4))", "k.a=$A", "7"),
        ("let A=3+4", "k.a=$A", "7"),
        ("A=1; ((A++))", "k.a=$A", "2"),
        ("A=(x y z)", "k.a=${A[1]}", "y"),
        ("A=(x y z); A[1]=w", "k.a=${A[1]}", "w"),
        ("A=(x y z)", "k.a=${A[-1]}", "z"),
        ("A=(x y z)", "k.a=${#A[@]}", "3"),
        ("A=(x y z)", 'k.a="${A[*]}"', "x y z"),
        ("declare -A M=([x]=5 [y]=6)", "k.a=${M[x]}", "5"),
        ("printf -v A '%02d' 7", "k.a=$A", "07"),
        ("A=$(echo hi)", "k.a=$A", "hi"),
        ("A=`echo hi`", "k.a=$A", "hi"),
        ("A=$(printf '%s-%d' x 3)", "k.a=$A", "x-3"),
        ("A=$(cat <<EOF\nhi\nEOF\n)", "k.a=$A", "hi"),
        ("A=/a/b/c", 'k.a=$(basename "$A")', "c"),
        ("A=/a/b/c", 'k.a=$(dirname "$A")', "/a/b"),
        ("cd /w", "k.a=$PWD/x", "/w/x"),
        ("cd /w; cd x", "k.a=$(pwd)", "/w/x"),
        ("export A=5", "k.a=$A", "5"),
        ("readonly A=5", "k.a=$A", "5"),
        ("declare -r A=5", "k.a=$A", "5"),
        ("A=5; unset A", "k.a=x${A}", None),
        ("A=5; B=$A; A=6", "k.a=$B", "5"),
        ("A=5; (A=6)", "k.a=$A", "5"),
        ("A=5; { A=6; }", "k.a=$A", "6"),
        ("if [ 1 -eq 1 ]; then A=5; else A=6; fi", "k.a=$A", "5"),
        ("if [[ abc == a* ]]; then A=5; else A=6; fi", "k.a=$A", "5"),
        ("if false; then A=5; else A=6; fi", "k.a=$A", "6"),
        ("A=5; [ x = y ] && A=6", "k.a=$A", "5"),
        ("A=5; [ x = x ] && A=6", "k.a=$A", "6"),
        ("A=5; [ x = x ] || A=6", "k.a=$A", "5"),
        ("case x in x) A=5;; *) A=6;; esac", "k.a=$A", "5"),
        ("case xyz in a|x*) A=5;; *) A=6;; esac", "k.a=$A", "5"),
        ("f() { A=$1; }; f 5", "k.a=$A", "5"),
        ("function f { A=5; }; f", "k.a=$A", "5"),
        ("A=5; f() { local A=6; }; f", "k.a=$A", "5"),
        ("f() { echo 5; }; A=$(f)", "k.a=$A", "5"),
        ("f() { A=6; }; A=5", "k.a=$A", "5"),
        ("for x in 1 2 3; do A=$x; done", "k.a=$A", "3"),
        ("A=0; for ((i = 0; i < 3; i++)); do A=$((A + i)); done", "k.a=$A", "3"),
        ("A=(); for x in 1 2; do A+=(v$x); done", 'k.a="${A[*]}"', "v1 v2"),
        ("IFS=, read -r A B <<< '5,6'", "k.a=$A", "5"),
        ("read -r -d '' A <<EOF\n5\nEOF", "k.a=$A", "5"),
        ("set -- 5 6", "k.a=$2", "6"),
        ("set -- 5 6; shift", "k.a=$1", "6"),
        ("", "k.a=$SLURM_NNODES", "2"),
        ("", "k.a=$SLURM_JOB_NUM_NODES", "2"),
        ("", "k.a=$SLURM_NTASKS_PER_NODE", "8"),
        ("", "k.a=$SLURM_NTASKS", "16"),
        ("", "k.a=$((SLURM_NNODES * 8))", "16"),
    ],
)
def test_what_is_known(before: str, written: str, text: str | None) -> None:
    found = value(before, written)
    assert (found.text, found.varies) == (text, None)
    assert not found.defaulted


@pytest.mark.parametrize(
    ("before", "written", "text"),
    [
        ("", "k.a=${A:-7}", "7"),
        ("A=${1:-7}", "k.a=$A", "7"),
        (": ${A:=7}", "k.a=$A", "7"),
        ("", "k.a=${SLURM_GPUS_ON_NODE:-8}", "8"),
        ("while getopts 'a:' f; do case $f in a) A=$OPTARG ;; esac; done; A=${A:-7}", "k.a=$A", "7"),
        ("A=${1:-7}; B=$((A + 1))", "k.a=$B", "8"),
        ("A=7; while getopts 'a:' flag; do case $flag in a) A=$OPTARG ;; esac; done", "k.a=$A", "7"),
        ("A=7; while [ $# -gt 0 ]; do case $1 in --a) A=$2; shift 2 ;; *) shift ;; esac; done", "k.a=$A", "7"),
        ('A=7; if [ -n "$1" ]; then A=$1; fi', "k.a=$A", "7"),
        ('A=7; [ -n "$B" ] && A=$B', "k.a=$A", "7"),
    ],
)
def test_what_is_known_by_a_default(before: str, written: str, text: str) -> None:
    found = value(before, written)
    assert (found.text, found.defaulted, found.varies) == (text, True, None)


@pytest.mark.parametrize(
    ("before", "written"),
    [
        ("", "k.a=$A"),
        ("", "k.a=$1"),
        ("", "k.a=$(hostname)"),
        ("", "k.a=$(nvidia-smi -L | wc -l)"),
        ("read -r A", "k.a=$A"),
        ("A=$(cat seed.txt)", "k.a=$A"),
        ("A=$(<seed.txt)", "k.a=$A"),
        ('if [ -n "$B" ]; then A=5; else A=6; fi', "k.a=$A"),
        ("", "k.a=$SLURM_PROCID"),
        ("A=(x y); i=$B", "k.a=${A[$i]}"),
    ],
)
def test_what_is_unknown_says_why(before: str, written: str) -> None:
    found = value(before, written)
    assert (found.text, found.varies) == (None, None)
    assert found.reason


@pytest.mark.parametrize(
    ("before", "written", "kind"),
    [
        ("", "k.a=$RANDOM", "random"),
        ("A=$RANDOM", "k.a=$A", "random"),
        ("A=$((RANDOM % 100))", "k.a=$A", "random"),
        ("A=$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')", "k.a=$A", "random"),
        ("A=$(head -c 4 /dev/urandom | xxd -p)", "k.a=$A", "random"),
        ("A=$(tr -dc 0-9 < /dev/urandom | head -c 5)", "k.a=$A", "random"),
        ("A=$(shuf -i 1-1000 -n 1)", "k.a=$A", "random"),
        ("A=$(openssl rand -hex 4)", "k.a=$A", "random"),
        ("A=$(uuidgen)", "k.a=$A", "random"),
        ("A=$(python3 -c 'import random; print(random.randint(0, 9))')", "k.a=$A", "random"),
        ("A=$(echo $RANDOM | md5sum | head -c 8)", "k.a=$A", "random"),
        ("A=$(cksum <<< \"$RANDOM\" | cut -f1 -d' ')", "k.a=$A", "random"),
        ("f() { echo $RANDOM; }; A=$(f)", "k.a=$A", "random"),
        ("", "k.a=$(date +%s)", "time"),
        ("printf -v A '%(%s)T' -1", "k.a=$A", "time"),
        ("", "k.a=$EPOCHSECONDS", "time"),
        ("", "k.a=$SLURM_JOB_ID", "job"),
        ("A=${SLURM_JOB_ID:-0}", "k.a=$A", "job"),
        ("A=${SLURM_JOBID}", "k.a=run-$A", "job"),
        ("#SBATCH --array=1-4%1", "k.a=$SLURM_ARRAY_TASK_ID", "array"),
        ("#SBATCH --array=1-4%1", "k.a=$((42 + SLURM_ARRAY_TASK_ID))", "array"),
        ("#SBATCH --array=0-2%1\nA=(1 2 3)", "k.a=${A[$SLURM_ARRAY_TASK_ID]}", "list"),
        ("#SBATCH --array=0-2%1\nA=(1 2 3)\ni=$SLURM_ARRAY_TASK_ID", "k.a=${A[i]}", "list"),
        ("#SBATCH --array=1-4%1\nA=1; if ((SLURM_ARRAY_TASK_ID > 2)); then A=2; fi", "k.a=$A", "array"),
        ("#SBATCH --array=1-4%1\ncase $SLURM_ARRAY_TASK_ID in 1) A=1 ;; *) A=2 ;; esac", "k.a=$A", "array"),
        ("#SBATCH --requeue", "k.a=$SLURM_RESTART_COUNT", "restart"),
        ("#SBATCH --requeue", "k.a=$((8 - ${SLURM_RESTART_COUNT:-0}))", "restart"),
    ],
)
def test_what_changes_between_chunks(before: str, written: str, kind: str) -> None:
    found = value(before, written)
    assert found.text is None
    assert found.varies is not None
    assert found.varies.kind == kind
    assert found.varies.by


@pytest.mark.parametrize(
    ("script", "key"),
    [
        ("for s in 1 2 3; do python salm_train.py --config-name=c k.a=$s; done", "list"),
        ("for s in $(seq 1 $N); do python salm_train.py --config-name=c k.a=$s; done", "loop"),
        ("for ((s = 0; s < 3; s++)); do python salm_train.py --config-name=c k.a=$s; done", "loop"),
        ("s=1; while true; do python salm_train.py --config-name=c k.a=$s; s=$((s + 1)); done", "loop"),
        ("s=1; until python salm_train.py --config-name=c k.a=$s; do ((s++)); done", "loop"),
        ("S=(5 6); for i in 0 1; do python salm_train.py --config-name=c k.a=${S[$i]}; done", "list"),
        (
            "for i in 1 2 3; do w=8; if ((i > 1)); then w=4; fi; python salm_train.py --config-name=c k.a=$w; done",
            "list",
        ),
        ("run() { python salm_train.py --config-name=c k.a=$1; }; for i in 1 2; do run $i; done", "list"),
    ],
)
def test_what_changes_with_a_loop(script: str, key: str) -> None:
    launcher = read(script)
    assert launcher.launches
    for launch in launcher.launches:
        (override,) = launch.overrides
        assert override.value.varies is not None
        assert override.value.varies.kind == key
        assert launch.chain.chained


def test_what_stays_in_a_loop_does_not_change() -> None:
    launcher = read(
        "SEED=42\nfor i in 1 2 3; do\n  echo $i\n  w=4\n"
        "  python salm_train.py --config-name=c k.a=$SEED k.b=$w > log.$i\ndone\n"
    )
    assert [(o.value.text, o.value.varies) for o in launcher.launches[0].overrides] == [("42", None), ("4", None)]


def test_the_arrays_own_id_and_a_requeued_jobs_id_stay() -> None:
    """Tasks of an array share `SLURM_ARRAY_JOB_ID`; a job that is only requeued keeps its id."""
    array = read(f"#SBATCH --array=1-4%1\n{TRAIN}k.a=$SLURM_ARRAY_JOB_ID k.b=$SLURM_JOB_ID\n").launches[0]
    assert [o.value.varies is not None for o in array.overrides] == [False, True]
    again = read(f"#SBATCH --nodes=1\n{TRAIN}k.a=$SLURM_JOB_ID\nscontrol requeue $SLURM_JOB_ID\n").launches[0]
    assert again.overrides[0].value.varies is None
    assert again.overrides[0].value.text is None


def test_the_place_that_decides_is_named() -> None:
    script = (
        "#!/bin/bash\n#SBATCH --array=0-2%1\nSEEDS=(1 2 3)\nSEED=${SEEDS[$SLURM_ARRAY_TASK_ID]}\n"
        + TRAIN
        + "k.a=$SEED\n"
    )
    varies = read(script).launches[0].overrides[0].value.varies
    assert varies is not None
    assert varies.at is not None
    assert varies.at.source.cut(varies.at.span) == "SEED=${SEEDS[$SLURM_ARRAY_TASK_ID]}"
    assert "SEEDS[SLURM_ARRAY_TASK_ID]" in varies.by

    known = read("A=/tmp/x\n" + TRAIN + 'k.a="$A"\n').launches[0].overrides[0].value
    assert known.drawn is not None
    assert known.drawn.source.cut(known.drawn.span) == "A=/tmp/x"


@pytest.mark.parametrize(
    ("before", "written", "kind"),
    [
        ("O=''; if [ $SLURM_ARRAY_TASK_ID -gt 1 ]; then O='k.a=2'; fi", "$O", "array"),
        ("O='k.b=1'; if [ $SLURM_ARRAY_TASK_ID -gt 1 ]; then O=\"$O k.a=2\"; fi", "$O", "array"),
        ("O=(); if [ $SLURM_ARRAY_TASK_ID -gt 1 ]; then O+=(k.a=2); fi", '"${O[@]}"', "array"),
        ("O=(); [[ $SLURM_RESTART_COUNT -gt 0 ]] && O+=(k.a=2)", '"${O[@]}"', "restart"),
        ("O=''; if [ -n \"$X\" ]; then O='k.a=2'; fi", "$O", None),
        ("O=(); if [ -e x ]; then O+=(k.a=2); fi", '"${O[@]}"', None),
        ('O=k.b=$RANDOM; case $MODE in debug) O="$O k.a=1" ;; esac', "$O", None),
    ],
)
def test_overrides_that_are_given_in_some_chunks_only(before: str, written: str, kind: str | None) -> None:
    """They stand there, and their value is not known: it varies where the condition does."""
    script = f"#SBATCH --array=1-4%1\n{before}\n{TRAIN}k.c=3 {written}\n"
    overrides = {each.key: each.value for each in read(script).launches[0].overrides}
    assert overrides["k.c"].text == "3"
    assert overrides["k.a"].text is None
    varies = overrides["k.a"].varies
    assert (varies.kind if varies is not None else None) == kind
