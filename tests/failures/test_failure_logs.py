"""Logs as they come: several ranks in one file and in many, labels, colours, progress bars, packed, cut off, huge."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nemo_resumable.core.failures import Diagnosis, LogError, diagnose
from nemo_resumable.core.failures.lines import last_time, read_line, time_in, written
from nemo_resumable.core.failures.logs import BLOCK, Log, Reader
from nemo_resumable.core.failures.page import find_page

SEED = """\
Traceback (most recent call last):
  File "/opt/train.py", line 75, in train
    trainer.fit(model, datamodule)
  File "/opt/lhotse/lhotse/dataset/sampling/base.py", line 295, in load_state_dict
    assert self.seed == state_dict.pop("seed")
           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
AssertionError
"""
FIELDS = """\
Traceback (most recent call last):
  File "/opt/train.py", line 75, in train
    trainer.fit(model, datamodule)
  File "/opt/NeMo/nemo/collections/common/data/lhotse/nemo_adapters.py", line 478, in _init_indexed
    raise ValueError(
ValueError: LazyNeMoTarredIterator(indexed=True) does not support 'extra_fields' because their values are positional.
"""
UNKNOWN = """\
Traceback (most recent call last):
  File "/work/model.py", line 3, in forward
    x = batch["audio"]
KeyError: 'audio'
"""
NCCL = (
    "[rank1]:[E504 08:42:10.120448 ProcessGroupNCCL.cpp:632] [Rank 1] Watchdog caught collective operation timeout: "
    "WorkNCCL(SeqNum=5120, OpType=ALLREDUCE, Timeout(ms)=1800000) ran for 1800018 milliseconds before timing out.\n"
)
BAR = "Epoch 0:  41%|####      | {}/100000 [12:31<18:00,  1.83s/it, v_num=0]"


def told(text: str | bytes) -> Diagnosis:
    data = text if isinstance(text, bytes) else text.encode()
    return diagnose([Log("run.log", stream=io.BytesIO(data))])


def named(found: Diagnosis) -> str | None:
    return found.mode.slug if found.mode else None


def labelled(text: str, label: str) -> list[str]:
    return [f"{label}{line}" for line in text.splitlines()]


def shuffled(*streams: list[str], seed: int = 1) -> str:
    """The lines of several streams mixed, each in its own order."""
    chance = random.Random(seed)
    rests = [list(stream) for stream in streams]
    lines = []
    while rests := [rest for rest in rests if rest]:
        lines.append(chance.choice(rests).pop(0))
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    "label", ["[rank{}]: ", "{}: ", " {}: ", "0{}: ", "[default{}]:", "[1,{}]<stderr>:", "{}: [rank{}]: "]
)
def test_ranks_that_print_into_each_other(label: str) -> None:
    """Each rank's traceback is put together by its label, whatever stands between its lines."""
    streams = [labelled(SEED if rank == 3 else UNKNOWN, label.format(rank, rank)) for rank in range(8)]
    found = told(shuffled(["ordinary"] * 40, streams[3], seed=5) + shuffled(*streams[:3], *streams[4:]))
    assert named(found) == "shard-seed-changed"
    assert found.cause is not None
    assert found.cause.incident.place.rank == "3"
    assert len(found.cause.incident.chain[0].frames) == 2
    assert {rank for scan in found.scans for rank in scan.ranks} == set("01234567")


@pytest.mark.parametrize("seed", range(20))
def test_ranks_without_labels_that_print_into_each_other(seed: int) -> None:
    """All fail alike, as ranks do; their lines cannot be told apart, and need not be."""
    found = told(shuffled(*[SEED.splitlines() for _ in range(4)], seed=seed))
    assert named(found) == "shard-seed-changed"
    assert found.others == ()


@pytest.mark.parametrize("seed", range(20))
def test_ranks_without_labels_that_fail_differently(seed: int) -> None:
    """Both exceptions are found where the tracebacks begin together."""
    two = [SEED.splitlines(), FIELDS.splitlines()]
    found = told("\n".join([two[0].pop(0), two[1].pop(0)]) + "\n" + shuffled(*two, seed=seed))
    slugs = {each.mode.slug for each in (found.cause, *found.others) if each and each.mode}
    assert "extra-fields" in slugs


def test_the_first_in_time_among_files(tmp_path: Path) -> None:
    """The order of the files does not matter where their lines bear times."""
    early, late = tmp_path / "b.log", tmp_path / "a.log"
    early.write_text("[NeMo I 2026-05-04 08:00:12 x:1] start\n" + SEED, encoding="utf-8")
    late.write_text("[NeMo I 2026-05-04 08:30:12 x:1] start\n" + FIELDS + NCCL, encoding="utf-8")
    for order in ([early, late], [late, early]):
        found = diagnose(order)
        assert named(found) == "shard-seed-changed"
        assert found.ordered
        assert found.cause is not None
        assert written(found.cause.incident.place.time or (0,) * 7) == "2026-05-04 08:00:12"
        assert found.scans[found.cause.incident.place.log].log.path == early


def test_without_times_the_order_is_not_claimed(tmp_path: Path) -> None:
    for name, text in (("a.log", FIELDS), ("b.log", SEED)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    found = diagnose([tmp_path / "b.log", tmp_path / "a.log"])
    assert named(found) == "shard-seed-changed"
    assert not found.ordered


def test_a_timeout_after_a_traceback_is_a_consequence() -> None:
    found = told(NCCL + SEED)
    assert named(found) == "shard-seed-changed"
    assert [each.mode.slug for each in found.others if each.mode] == ["collective-timeout"]
    assert named(told(NCCL)) is None


def test_an_unknown_exception_is_said_to_be_unknown_and_shown() -> None:
    found = told(UNKNOWN + NCCL)
    assert found.cause is None
    assert found.first is not None
    assert found.first.incident.chain[0].summary == "KeyError: 'audio'"


def test_an_unknown_exception_before_a_known_one_is_not_passed_over() -> None:
    found = told(UNKNOWN + SEED)
    assert (found.cause, found.first and found.first.mode) == (None, None)
    assert [each.mode.slug for each in found.others if each.mode] == ["shard-seed-changed"]


def test_an_exception_that_was_caught_is_no_cause() -> None:
    records = "".join(f"[NeMo I 2026-05-04 08:00:{n:02} x:1] model part {n}\n" for n in range(30))
    assert named(told(UNKNOWN + records + SEED)) == "shard-seed-changed"
    ignored = "Exception ignored in: <function Pool.__del__ at 0x7f>\n" + UNKNOWN
    assert named(told(ignored + SEED)) == "shard-seed-changed"
    alone = told(ignored)
    assert alone.cause is None


def test_what_a_run_survived_gives_way_to_what_ended_it() -> None:
    steps = "".join(BAR.format(n) + "\n" for n in range(300))
    many = find_page("too-many-open-files").examples[0].text
    assert named(told(many + steps + SEED)) == "shard-seed-changed"
    alone = told(many + steps)
    assert named(alone) == "too-many-open-files"
    assert alone.cause is not None
    assert alone.cause.survived


def test_a_chain_is_told_by_its_root() -> None:
    chained = (
        SEED
        + "\nDuring handling of the above exception, another exception occurred:\n\n"
        + UNKNOWN
        + "\nThe above exception was the direct cause of the following exception:\n\n"
        + FIELDS
    )
    found = told(chained)
    assert named(found) == "shard-seed-changed"
    assert found.cause is not None
    assert [link.name for link in found.cause.incident.chain] == ["AssertionError", "KeyError", "ValueError"]


def test_a_worker_s_own_traceback_is_the_root() -> None:
    inner = FIELDS.replace("Traceback", "Original Traceback")
    found = told(
        UNKNOWN.replace("KeyError: 'audio'", "ValueError: Caught ValueError in DataLoader worker process 0.") + inner
    )
    assert named(found) == "extra-fields"
    assert found.cause is not None
    assert [len(link.frames) for link in found.cause.incident.chain] == [2, 1]


def test_a_traceback_of_a_process_pool() -> None:
    quoted = f'concurrent.futures.process._RemoteTraceback: \n"""\n{FIELDS}"""\n\n'
    assert named(
        told(quoted + "The above exception was the direct cause of the following exception:\n\n" + FIELDS)
    ) == ("extra-fields")


@pytest.mark.parametrize(
    "line",
    [
        "2026-05-04T08:00:12.123456789Z stderr F {}",
        "2026-05-04 08:00:12,123 {}",
        "\x1b[31m{}\x1b[0m",
        "{}\r",
        "\x1b]0;title\x07{}",
    ],
    ids=["container", "stamped", "coloured", "windows", "title"],
)
def test_what_stands_around_a_line(line: str) -> None:
    found = told("\n".join(line.format(each) for each in SEED.splitlines()))
    assert named(found) == "shard-seed-changed"


def test_records_between_the_lines_of_a_traceback() -> None:
    """A logger's lines bear times, the traceback's do not: they belong to somebody else, and end a message."""
    lines = FIELDS.splitlines()
    record = "2026-05-04 08:00:12,123 - other - INFO - all is well"
    found = told("\n".join(part for line in lines for part in (line, record)) + "\nmore\n")
    assert named(found) == "extra-fields"
    assert found.cause is not None
    assert "\n" not in found.cause.incident.chain[0].message


def test_as_rich_draws_it() -> None:
    box = """\
╭──────────────── Traceback (most recent call last) ────────────────╮
│ /opt/lhotse/lhotse/dataset/sampling/base.py:295 in load_state_dict │
│                                                                    │
│   294                                                              │
│ ❱ 295         assert self.seed == state_dict.pop("seed")           │
╰────────────────────────────────────────────────────────────────────╯
AssertionError
"""
    assert named(told(box)) == "shard-seed-changed"


def test_progress_bars_without_line_ends() -> None:
    bars = "\r".join(BAR.format(n) for n in range(50_000))
    found = told(f"{bars}\r{SEED}")
    assert named(found) == "shard-seed-changed"
    assert found.scans[0].lines == SEED.count("\n")
    assert found.scans[0].activity.steps == 50_000


def test_bytes_that_are_no_text() -> None:
    """A node that went down leaves zeros and torn characters behind."""
    torn = b"\0" * 20_000 + b"\xff\xfe\x80 broken \xc3\n" * 10
    assert named(told(torn + SEED.encode() + b"\xc3")) == "shard-seed-changed"


def test_a_traceback_that_is_cut_off() -> None:
    found = told(SEED.partition("           ^^")[0])
    assert found.cause is None
    assert found.first is not None
    assert len(found.first.incident.chain[0].frames) == 2
    assert named(told(SEED.rstrip("\n"))) == "shard-seed-changed"
    assert told("Traceback (most recent call last):\n").first is None


def test_a_traceback_across_blocks() -> None:
    """Wherever the border between two blocks falls."""
    for shift in range(0, len(SEED) + 40, 7):
        filler = b"x" * 99 + b"\n"
        head = filler * ((BLOCK + 8192) // 100 - 10)
        head += b"y" * (BLOCK + 8192 - len(head) - shift) + b"\n"
        found = told(head + SEED.encode() + filler * 3)
        assert named(found) == "shard-seed-changed", shift
        assert found.cause is not None
        assert found.cause.incident.place.line == head.count(b"\n") + 1


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_packed(tmp_path: Path, pack: object) -> None:
    path = tmp_path / "log.packed"
    path.write_bytes(pack(SEED.encode()))  # type: ignore[operator]
    assert named(diagnose([path])) == "shard-seed-changed"


def test_packed_and_cut_off(tmp_path: Path) -> None:
    """What could be read is read, and that it broke off is told."""
    path = tmp_path / "log.gz"
    chance = random.Random(1)
    rest = "".join(f"{chance.random()}\n" for _ in range(60_000))
    path.write_bytes(gzip.compress((SEED + rest).encode())[:-20_000])
    found = diagnose([path])
    assert named(found) == "shard-seed-changed"
    assert "ends in the middle" in found.scans[0].problem
    data = bytearray(gzip.compress((SEED + rest).encode()))
    data[300_000:300_100] = b"\xff" * 100
    path.write_bytes(data)
    found = diagnose([path])
    assert named(found) == "shard-seed-changed"
    assert "breaks off" in found.scans[0].problem


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"PK\x03\x04" + b"\0" * 100, "a ZIP archive or a checkpoint"),
        (b"\x7fELF\x02\x01\x01" + b"\0" * 100, "a program"),
        (bytes(range(256)) * 40, "is binary"),
        ("log\n".encode("utf-16"), "UTF-16"),
        (b"\x28\xb5\x2f\xfd" + b"abc" * 10, "zstd"),
    ],
    ids=["checkpoint", "program", "binary", "utf-16", "zstd"],
)
def test_what_is_no_log(tmp_path: Path, data: bytes, sentence: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(data)
    with pytest.raises(LogError, match=sentence):
        diagnose([path])


def test_what_cannot_be_read_is_told_before_the_rest_is_read(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text(SEED, encoding="utf-8")
    told_of: list[str] = []
    for bad in (tmp_path / "absent", tmp_path):
        with pytest.raises(LogError):
            diagnose([path, bad], progress=lambda name, done, size: told_of.append(name))
    assert told_of == []


def test_empty_and_odd_logs() -> None:
    for data in (b"", b"\n", b"\r", b"\0" * 9000, b"Traceback (most recent call last)", b"\xef\xbb\xbf"):
        found = told(data)
        assert (found.cause, found.first, found.others) == (None, None, ())


class Dripping(io.BufferedReader):
    """A pipe out of which the pieces come one by one."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        super().__init__(io.BytesIO())
        self.pieces = pieces

    def read(self, size: int | None = -1) -> bytes:
        return next(self.pieces, b"")


@settings(derandomize=True, deadline=None, max_examples=200)
@given(
    st.lists(
        st.sampled_from(
            [
                *SEED.splitlines(),
                *UNKNOWN.splitlines(),
                "During handling of the above exception, another exception occurred:",
                "Original Traceback (most recent call last):",
                "",
                '"""',
                "0: ",
                "[rank3]: ",
                "  File",
                "│ x.py:1 in f │",
                NCCL.strip(),
                BAR,
                "ValueError:",
                "slurmstepd: error: *** JOB 1 ON n CANCELLED AT 2026-99-99T99:99:99 DUE TO TIME LIMIT ***",
                "Restored all states from the checkpoint at x",
            ]
        ),
        max_size=60,
    ),
    st.sampled_from(["\n", "\r\n", "\r"]),
)
def test_any_order_of_lines_is_read(lines: list[str], end: str) -> None:
    found = told(end.join(lines))
    assert len(found.scans[0].incidents) <= len(lines)


@settings(derandomize=True, deadline=None, max_examples=100)
@given(st.binary(max_size=400), st.binary(max_size=400))
def test_any_bytes_around_are_read(before: bytes, after: bytes) -> None:
    found = told(b"a log\n" * 2000 + before + b"\n\n" + SEED.encode() + b"\n" + after)
    if b"Traceback" not in before + after and b"rror" not in before:
        assert named(found) == "shard-seed-changed"


def test_memory_does_not_grow_with_the_log() -> None:
    """Telling words in many lines, each with a text of its own, and another traceback every so often."""

    def lines(size: int) -> Iterator[bytes]:
        number = length = 0
        piece = ""
        while length < size:
            number += 1
            piece += f"{BAR.format(number)}\nERROR no Error {number}\n" + f"ordinary {number}\n" * 100
            if number % 10 == 0:
                piece += UNKNOWN.replace("audio", f"key{number}")
            if len(piece) >= 1 << 16:
                length += len(piece)
                yield piece.encode()
                piece = ""

    def peak(size: int) -> tuple[int, Diagnosis]:
        tracemalloc.start()
        found = diagnose([Log("pipe", stream=Dripping(lines(size)))])
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most, found

    peak(1 << 16)  # what is loaded once
    little, much = peak(1 << 20), peak(6 << 20)
    assert much[1].first is not None
    assert much[1].first.incident.repeated > 300
    assert much[0] < 1.2 * little[0]


def test_a_line_without_an_end_is_cut() -> None:
    data = b"x" * (9 * BLOCK) + b"\n" + SEED.encode()
    assert max(map(len, Reader(Log("l", stream=io.BytesIO(data))).blocks())) <= 6 * BLOCK
    assert named(told(data)) == "shard-seed-changed"


@pytest.mark.parametrize(
    ("line", "time"),
    [
        ("[NeMo I 2026-05-04 08:00:12 exp_manager:1028] Resuming", "2026-05-04 08:00:12"),
        ("2026-05-04T08:00:12.5Z stderr F x", "2026-05-04 08:00:12"),
        ("[rank3]:[E504 08:42:10.120448 ProcessGroupNCCL.cpp:632] x", "05-04 08:42:10"),
        ("W0504 08:42:10.120000 812 torch/distributed/run.py:793] x", "05-04 08:42:10"),
        (
            "slurmstepd: error: *** JOB 4711 ON n CANCELLED AT 2026-05-04T12:00:21 DUE TO TIME LIMIT ***",
            "2026-05-04 12:00:21",
        ),
        ("/data/2026-05-04/audio_0.tar", None),
        ("Epoch 0 [12:31<18:00]", None),
    ],
)
def test_times(line: str, time: str | None) -> None:
    read = time_in(line)
    assert (written(read) if read else None) == time
    assert last_time(line.encode()) == read


def test_labels() -> None:
    assert (read_line(b"3: [rank3]:   File").rank, read_line(b"3: [rank3]:   File").text) == ("3", "  File")
    assert read_line(b"[rank12]:").rank == "12"
    assert read_line(b"10:42 is a time").rank == ""
    assert read_line(b"    text: 1").rank == ""
