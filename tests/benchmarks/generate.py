"""Writes the files that the benchmarks read. The same arguments give the same bytes."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path

_LANGUAGES = ("de", "en", "es", "fr", "hi", "it", "ja", "ko", "pl", "pt")
_DOMAINS = ("calls", "lectures", "meetings", "news", "parliament", "podcasts", "read_speech")


def training_config(lines: int, blend: str, seed: int = 0) -> str:
    """An un-migrated speechlm2 training config of so many lines; what is missing is filled with evaluation sets."""
    if lines < 80:
        raise ValueError("a training config takes 80 lines at least")
    chance = random.Random(seed)
    head = f"""\
---
# A speech language model before its migration.
model:
  pretrained_llm: some-lab/language-model-{chance.choice((1, 2, 8))}b
  pretrained_asr: some-lab/speech-encoder
  prompt_format: qwen
  audio_locator_tag: "<|audio|>"
  freeze_params:
    - "^llm\\\\..+$"
  optimizer:
    _target_: torch.optim.AdamW
    lr: {chance.choice(("1e-4", "3e-4", "5e-4"))}
    betas: [0.9, 0.98]
    weight_decay: 1e-3
  lr_scheduler:
    _target_: nemo.core.optim.lr_scheduler.CosineAnnealing
    warmup_steps: {chance.randrange(500, 2500, 100)}
    min_lr: 1e-6
    max_steps: ${{trainer.max_steps}}

trainer:
  devices: 8
  num_nodes: {chance.choice((1, 2, 4, 8))}
  precision: bf16-true
  logger: false
  enable_checkpointing: false
  use_distributed_sampler: false
  max_steps: 200000
  limit_train_batches: 2000
  val_check_interval: ${{trainer.limit_train_batches}}
  gradient_clip_val: 1.0

exp_manager:
  explicit_log_dir: results/benchmark/
  name: benchmark
  create_checkpoint_callback: true
  resume_if_exists: true
  resume_ignore_no_checkpoint: true
  max_time_per_run: "00:03:50:00"
  checkpoint_callback_params:
    monitor: val_acc
    mode: max
    every_n_epochs: 1

data:
  train_ds:
    sample_rate: 16000
    prompt_format: ${{model.prompt_format}}
    audio_locator_tag: ${{model.audio_locator_tag}}
    input_cfg: {blend}
    seed: {chance.randrange(1, 100)}
    shard_seed: "randomized"
    shuffle: true
    num_workers: 4
    batch_duration: 360
    use_bucketing: true
    num_buckets: 30

  validation_ds:
    sample_rate: 16000
    batch_size: 8
    datasets:
""".splitlines()
    body: list[str] = []
    while len(head) + len(body) < lines:
        body += _evaluation_set(chance, len(body))
    return "\n".join(_whole_entries(head + body, lines, r" {6}\w")) + "\n"


def _evaluation_set(chance: random.Random, number: int) -> list[str]:
    domain = chance.choice(_DOMAINS)
    return f"""\
      {domain}_{number}:
        input_cfg:
          - type: lhotse_as_conversation
            cuts_path: /data/eval/{domain}_{number}.jsonl
            tags:
              context: "Transcribe the following:"
              lang: {chance.choice(_LANGUAGES)}""".splitlines()


def blend(lines: int, seed: int = 0) -> str:
    """A blend of so many lines: groups of sources, tarred and not, on a file system and in an object store."""
    chance = random.Random(seed)
    body = ["---", "# A training blend."]
    while len(body) < lines:
        body += _group(chance, len(body))
    return "\n".join(_whole_entries(body, lines, r"(    )?- ")) + "\n"


def _group(chance: random.Random, number: int) -> list[str]:
    language = chance.choice(_LANGUAGES)
    group = [
        "- type: group",
        f"  weight: {chance.uniform(0.1, 9):.3f}",
        "  tags:",
        f"    lang: {language}",
        "  input_cfg:",
    ]
    for source in range(chance.randint(3, 12)):
        domain = chance.choice(_DOMAINS)
        root = chance.choice(("/data", "s3://speech")) + f"/{language}/{domain}_{number}_{source}"
        last = chance.choice((63, 127, 511))
        group += [
            "    - type: nemo_tarred",
            f"      # {domain}, {last + 1} shards",
            f"      manifest_filepath: {root}/manifest__OP_0..{last}_CL_.json",
            f"      tarred_audio_filepaths: {root}/audio__OP_0..{last}_CL_.tar",
            f"      weight: {chance.uniform(1, 3000):.2f}",
        ]
    return group


def _whole_entries(body: list[str], lines: int, entry: str) -> list[str]:
    """The first lines, with comments in place of an entry that the cut would leave in pieces; `entry` begins one."""
    end = lines
    while end < len(body) and not re.match(entry, body[end]):
        end -= 1
    return body[:end] + ["# the end"] * (lines - end)


def foreign(folder: Path, count: int, seed: int = 0) -> list[Path]:
    """Write YAML files as they lie about in repositories, none of which concerns a dataloader."""
    chance = random.Random(seed)
    paths = []
    for number in range(count):
        path = folder / f"{number // 100:02}" / f"file-{number:05}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(chance.choice(_FOREIGN)(chance, number), encoding="utf-8")
        paths.append(path)
    return paths


def _workflow(chance: random.Random, number: int) -> str:
    jobs = "".join(
        f"  job{job}:\n    runs-on: ubuntu-latest\n    steps:\n      - uses: actions/checkout@v4\n      - run: make part{job}\n"
        for job in range(chance.randint(1, 8))
    )
    return f"---\nname: workflow {number}\non: [push]\njobs:\n{jobs}"


def _deployment(chance: random.Random, number: int) -> str:
    variables = "".join(
        f"            - name: VARIABLE_{i}\n              value: '{chance.random():.4f}'\n"
        for i in range(chance.randint(1, 20))
    )
    return (
        f"---\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: service-{number}\nspec:\n  replicas: 2\n"
        f"  template:\n    spec:\n      containers:\n        - name: main\n          image: service:{number}\n"
        f"          env:\n{variables}"
    )


def _translations(chance: random.Random, number: int) -> str:
    return "---\nen:\n" + "".join(
        f'  message_{number}_{i}: "Text {chance.randrange(10**6)}"\n' for i in range(chance.randint(5, 60))
    )


def _hyperparameters(chance: random.Random, number: int) -> str:
    """The nearest to ours: a training config of some other framework."""
    return (
        f"---\nexperiment: run_{number}\ndata:\n  train: /data/train_{number}.csv\n  batch_size: {chance.choice((16, 32, 64))}\n"
        f"  shuffle: true\n  num_workers: 4\nmodel:\n  layers: [{', '.join(str(chance.randrange(64, 512)) for _ in range(6))}]\n"
        f"trainer:\n  max_epochs: {chance.randrange(5, 100)}\n"
    )


_FOREIGN: tuple[Callable[[random.Random, int], str], ...] = (_workflow, _deployment, _translations, _hyperparameters)


def log(path: Path, size: int, end: str) -> None:
    """The log of a run of so many bytes, with telling words in lines that tell nothing, and a text at its end."""
    steps = 2000
    chunk = "".join(
        f"Epoch 3:  41%|####      | {step}/100000 [12:31<18:00,  1.83s/it, v_num=0]\n"
        f"[NeMo I 2026-05-04 08:00:{step % 60:02} nemo_logging:393] Step {step}: train_step_timing in s=1.83\n"
        f"[NeMo W 2026-05-04 08:00:{step % 60:02} nemo_logging:405] word Error rate {step}, failed hypotheses: 0\n"
        for step in range(steps)
    )
    with path.open("w", encoding="utf-8") as stream:
        for _ in range(-(-size // len(chunk))):
            stream.write(chunk)
        stream.write(end)
