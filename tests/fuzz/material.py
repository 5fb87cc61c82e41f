"""What is mutated: the projects on the rule pages, generated configs and blends, and public files where they are at hand."""

from __future__ import annotations

import functools
import random
import sys
from dataclasses import dataclass
from pathlib import Path

from nemo_resumable.core.rules.page import all_pages

TESTS = Path(__file__).parents[1]
SHARED = Path(__file__).parents[3] / "shared"
for _folder in ("support", "benchmarks"):
    if str(TESTS / _folder) not in sys.path:
        sys.path.append(str(TESTS / _folder))

from generate import blend, training_config  # noqa: E402
from index_writers import example_bytes  # noqa: E402

#: Stands in front of files whose own project is not known: a config with the sources that make most of the rules look.
CONFIG = """\
# A training config.
data:
  train_ds: &train
    indexed: false  # as it was
    shard_seed: "randomized"
    seed: 42
    shuffle: true
    num_workers: 2
    batch_size: 4
    input_cfg: blend.yaml
  validation_ds:
    <<: *train
    shuffle: false
trainer: {devices: 2, num_nodes: 1, max_steps: 1000, use_distributed_sampler: false}
exp_manager:
  resume_if_exists: true
"""
PYTHON_LAUNCHER = """\
import subprocess
import sys

NODES = 4
for chunk in range(3):
    overrides = [f"trainer.num_nodes={NODES}", "+data.train_ds.seed=" + str(chunk), f"exp_manager.name=run_{chunk:02d}"]
    command = ["torchrun", "--nproc-per-node", "8", "salm_train.py", "--config-name", "conf", *overrides]
    subprocess.run(" ".join(command), shell=True, check=True)
    if len(sys.argv) > 1 and sys.argv[1] == "once":
        break
"""
SHELL_LAUNCHER = """\
#!/bin/bash
#SBATCH --nodes=4 --ntasks-per-node=8
#SBATCH --time=04:00:00
set -euo pipefail
SEED=${SEED:-$RANDOM}
for i in $(seq 1 4); do
    # the next chunk
    srun --container-image="$IMAGE" bash -c "python salm_train.py --config-name=conf \\
        data.train_ds.seed=$SEED trainer.devices=$((4 + 4)) ++exp_manager.name='run ${i}'"
done
case "$1" in a*) sbatch "$0" ;; *) echo <<EOF
$SEED
EOF
;; esac
"""


@dataclass(frozen=True, slots=True)
class Seed:
    """A project: files by name, and the name of the one that is judged."""

    name: str
    files: dict[str, bytes]
    config: str

    def named(self, *suffixes: str) -> list[str]:
        """The names of its files of some kinds."""
        return [name for name in self.files if name.endswith(suffixes)]


@functools.cache
def seeds(shared: bool) -> tuple[Seed, ...]:
    """All projects; `shared` adds the public files, where they lie beside this repository."""
    found = [
        Seed(
            f"{page.code} {example.title}",
            {name: example_bytes(name, text) for name, text in example.files.items()},
            example.config,
        )
        for page in all_pages()
        for example in page.examples
    ]
    for number in range(6):
        files = {"conf.yaml": training_config(90, "blend.yaml", number), "blend.yaml": blend(40, number)}
        found.append(Seed(f"generated {number}", {name: text.encode() for name, text in files.items()}, "conf.yaml"))
    for name, text in (("run.sh", SHELL_LAUNCHER), ("run.py", PYTHON_LAUNCHER)):
        files = {"conf.yaml": CONFIG, "blend.yaml": blend(20), name: text}
        found += [Seed(name, {each: text.encode() for each, text in files.items()}, "conf.yaml")] * 8
    if shared and SHARED.is_dir():
        found += _shared()
    return tuple(found)


def _shared() -> list[Seed]:
    found = []
    for path in sorted((SHARED / "corpus" / "configs").glob("*.yaml")):
        found.append(Seed(path.name, {"conf.yaml": path.read_bytes(), "blend.yaml": blend(20).encode()}, "conf.yaml"))
    for path in sorted((SHARED / "corpus" / "blends").glob("*.yaml")):
        found.append(Seed(path.name, {"conf.yaml": CONFIG.encode(), "blend.yaml": path.read_bytes()}, "conf.yaml"))
    for path in sorted((SHARED / "launchers").glob("*.*")):
        if path.suffix in (".sh", ".sbatch", ".py"):
            found.append(Seed(path.name, {"conf.yaml": CONFIG.encode(), path.name: path.read_bytes()}, "conf.yaml"))
    return found


def chosen(chance: random.Random, shared: bool, *suffixes: str) -> Seed:
    """A project by chance, one that has a file of these kinds; small ones come more often than large ones."""
    every = [seed for seed in seeds(shared) if not suffixes or seed.named(*suffixes)]
    one, other = chance.choice(every), chance.choice(every)
    return min(one, other, key=lambda seed: sum(map(len, seed.files.values())))
