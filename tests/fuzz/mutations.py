"""Changes to a text that know what it is made of: lines and their blocks, keys, values, tags, anchors, line ends; and raw bytes."""

from __future__ import annotations

import random
import re
import struct
from collections.abc import Callable, Sequence

Mutation = Callable[[random.Random, str], str]

TAGS = (
    *(
        "!!str",
        "!!int",
        "!!float",
        "!!bool",
        "!!null",
        "!!map",
        "!!seq",
        "!!set",
        "!!omap",
        "!!pairs",
        "!!binary",
        "!x",
    ),
    *("!!timestamp", "!!merge", "!!value", "!", "!!python/object/apply:os.system", "!!python/tuple", "!<tag:a,2000:b>"),
    *("!!python/name:os.system", "!!python/object/new:pathlib.PosixPath", "!%C3%A9", "!!"),
)
VALUES = (
    *(
        "",
        "null",
        "~",
        "???",
        "true",
        "no",
        "Off",
        "y",
        "0",
        "-1",
        "42",
        "1e400",
        ".nan",
        "-.inf",
        "1_000",
        "0x1F",
        "0o7",
    ),
    *("017", "1:30", "2001-01-01", "99999999999999999999999", "1e-9", '"42"', "'true'", "randomized", "trng", "None"),
    *(
        "${seed}",
        "${data.train_ds}",
        "${data.train_ds.seed}",
        "${.seed}",
        "${..x}",
        "${oc.env:HOME}",
        "${oc.env:HOME,1}",
    ),
    *(
        "${",
        "${}",
        "${a:${b}}",
        "x${a}y",
        "${now:%Y}",
        "$RANDOM",
        "[]",
        "{}",
        "[1, [2, 3]]",
        "{a: 1}",
        "[a, null, ${b}]",
    ),
    *(
        "_OP_0..99999999999_CL_",
        "a__OP_0..3_CL_.tar",
        "{0..9999999999}",
        "a{b,c{d,e}}f",
        "_OP_9..1_CL_",
        "_OP_a..b_CL_",
    ),
    *(
        "s3://bucket/a.tar",
        "ais://b/a_OP_0..1_CL_.json",
        "pipe:cat x",
        "/a/../../../b",
        "..",
        "~/x",
        "a\\b",
        "/dev/zero",
    ),
    *(
        "|",
        ">-",
        "|2+",
        "? x",
        "- - a",
        "*a",
        "&a b",
        "&b",
        "*b",
        "<<",
        "=",
        "@x",
        "`x`",
        "%x",
        "a: b: c",
        "{",
        "]",
        "#",
    ),
    *("'", '"', '"\\u2028"', '"\\ud83d"', '"\\x00"', "lhotse_shar", "nemo_tarred", "group", "multi", "blend.yaml"),
    *("[blend.yaml, 1]", "[[blend.yaml, 1], [conf.yaml, 2]]", "{cuts: a, x: [b]}", "conf.yaml", "shar: {a: 1}", "1.5"),
)
KEYS = (
    *(
        "data",
        "train_ds",
        "validation_ds",
        "test_ds",
        "model",
        "trainer",
        "exp_manager",
        "defaults",
        "input_cfg",
        "type",
    ),
    *(
        "weight",
        "tags",
        "indexed",
        "use_stateful_dataloader",
        "shard_seed",
        "seed",
        "shuffle",
        "num_workers",
        "use_lhotse",
    ),
    *("force_map_dataset", "force_iterable_dataset", "multi_config", "datasets", "manifest_filepath", "cuts_path"),
    *("tarred_audio_filepaths", "shar_path", "skip_missing_manifest_entries", "index_pack", "indexes_root", "paths"),
    *("batch_size", "batch_duration", "use_bucketing", "max_epochs", "max_steps", "devices", "num_nodes", "strategy"),
    *(
        "resume_if_exists",
        "resume_ignore_no_checkpoint",
        "checkpoint_callback_params",
        "limit_train_batches",
        "<<",
        "_target_",
    ),
    *(
        "concurrent_bucketing",
        "slice_length",
        "metadata_only",
        "tarred_random_access",
        "text_field",
        "0",
        "null",
        "''",
        "? a",
    ),
)
STRANGE = (
    *(
        "\u2028",
        "\u2029",
        "\x85",
        "\x0b",
        "\x0c",
        "\x1b[31m",
        "\x07",
        "\x00",
        "\x7f",
        "\ufeff",
        "\u200b",
        "\u202e",
        "\xa0",
    ),
    *(
        "é",
        "e\u0301",
        "漢字",
        "😀",
        "👩‍👩‍👧",
        "\U0010ffff",
        "\uffff",
        "\ue000",
        "ǆ",
        "İ",
        "\t",
        "\x1c",
        "\r",
        "\r\n",
        "\n\n",
    ),
)
COMMENTS = (
    *(
        "# why",
        "#",
        "# nemo-resumable: ignore[NR110] a reason",
        "# nemo-resumable: ignore",
        "# nemo-resumable: ignore[NR999]",
    ),
    *("# nemo-resumable: ignore-file[NR101,NR110]", "# é 😀", "#\t# #", "# nemo-resumable: ignore[", "#: | >"),
)
SCRIPT = (
    *(
        "$",
        "${",
        "}",
        "$(",
        ")",
        "((",
        "))",
        "[[",
        "]]",
        '"',
        "'",
        "`",
        "\\",
        "\n",
        ";",
        "|",
        "&&",
        "||",
        "&",
        "if ",
        "then ",
    ),
    *(
        "else ",
        "fi",
        "for x in ",
        "do ",
        "done",
        "while true; do ",
        "case ",
        "esac",
        ";;",
        "f() { f; }",
        "<<EOF\n",
        "EOF\n",
    ),
    *(
        "A=",
        "$A",
        "A+=$A$A",
        "{1..999999999}",
        "$((",
        "** 99",
        "eval ",
        "bash -c ",
        "sbatch $0",
        "srun ",
        "python x.py ",
        "*",
    ),
    *(
        "[0]",
        "(",
        "[",
        "lambda: ",
        "import os\n",
        "while True:\n    ",
        "f'{",
        "x = x * 1000\n",
        "'x' * 10 ** 9",
        "def f(): f()\n",
    ),
    *(
        "range(10 ** 12)",
        "for i in range(9):\n    ",
        "[x for x in range(10 ** 9)]",
        "%s",
        ".format(",
        ".join(",
        "**{}",
        "1 << 10 ** 9",
    ),
    *(
        "${A//x/yyyyyyyyyy}",
        "seq 1 1000000000",
        "printf '%0999999999d' 1",
        "source run.sh\n",
        "exec ",
        "trap ",
        "#SBATCH --array=1-9\n",
    ),
)
_KEYED = re.compile(r"^(\s*(?:- )*)([\w'\"<.-]+)(\s*:)(?: +(.*))?$")


def _lines(text: str) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _block(chance: random.Random, lines: Sequence[str]) -> tuple[int, int]:
    """A line with what is nested below it, as a range."""
    start = chance.randrange(len(lines))
    end = start + 1
    while end < len(lines) and (not lines[end].strip() or _indent(lines[end]) > _indent(lines[start])):
        end += 1
    return (start, end) if chance.random() < 0.7 else (start, min(start + chance.randint(1, 3), len(lines)))


def _of_lines(change: Callable[[random.Random, list[str]], None]) -> Mutation:
    def mutation(chance: random.Random, text: str) -> str:
        lines = _lines(text)
        if lines:
            change(chance, lines)
        return "".join(lines)

    mutation.__name__ = change.__name__.strip("_")
    return mutation


@_of_lines
def swap(chance: random.Random, lines: list[str]) -> None:
    """Two blocks change places."""
    one, other = sorted((_block(chance, lines), _block(chance, lines)))
    if one[1] <= other[0]:
        lines[one[0] : other[1]] = [*lines[slice(*other)], *lines[one[1] : other[0]], *lines[slice(*one)]]


@_of_lines
def drop(chance: random.Random, lines: list[str]) -> None:
    """A block is gone."""
    start, end = _block(chance, lines)
    del lines[start:end]


@_of_lines
def duplicate(chance: random.Random, lines: list[str]) -> None:
    """A block stands there twice, the second time anywhere."""
    start, end = _block(chance, lines)
    place = chance.choice((end, chance.randrange(len(lines) + 1)))
    lines[place:place] = lines[start:end] * chance.choice((1, 1, 1, 2, 40))


@_of_lines
def reindent(chance: random.Random, lines: list[str]) -> None:
    """A block stands deeper, or less deep, or after a tab."""
    start, end = _block(chance, lines)
    by = chance.choice((-4, -2, -2, -1, 1, 2, 2, 4, 8))
    for index in range(start, end):
        line = lines[index]
        lines[index] = " " * by + line if by > 0 else line[min(-by, _indent(line)) :]
    if chance.random() < 0.05:
        lines[start] = "\t" + lines[start].lstrip(" ")


def _value(change: Callable[[random.Random, str], str]) -> Mutation:
    """A mutation of one value after its key."""

    @_of_lines
    def mutation(chance: random.Random, lines: list[str]) -> None:
        places = [index for index, line in enumerate(lines) if _KEYED.match(line.rstrip("\r\n"))]
        if not places:
            return
        index = chance.choice(places)
        body = lines[index].rstrip("\r\n")
        found = _KEYED.match(body)
        assert found is not None
        value = change(chance, found[4] or "")
        lines[index] = f"{found[1]}{found[2]}{found[3]}{' ' + value if value else ''}{lines[index][len(body) :]}"

    return mutation


revalue = _value(lambda chance, value: chance.choice(VALUES))
retag = _value(lambda chance, value: f"{chance.choice(TAGS)} {value}")
flow = _value(
    lambda chance, value: chance.choice(("[%s]", "{a: %s}", "[%s, %s]", "{%s}", "[[%s")).replace("%s", value or "a")
)
quote = _value(lambda chance, value: chance.choice(("'%s'", '"%s"', '"%s', "'%s")) % value.strip("'\""))
stretch = _value(lambda chance, value: (value or "a") * chance.choice((3, 60, 3000)))


def reanchor(chance: random.Random, text: str) -> str:
    """Anchors and aliases to them, in whatever order."""
    name = chance.choice(("a", "b", "train", "x"))
    text = _value(lambda _, value: f"&{name} {value}")(chance, text)
    for _ in range(chance.randint(1, 3)):
        if chance.random() < 0.6:
            text = _value(lambda _, value: f"*{name}")(chance, text)
        else:
            text = _inserted(
                chance, text, f"<<: {chance.choice((f'*{name}', f'[*{name}, *{name}]', '{a: 1}', '[]', 'x'))}"
            )
    return text


def _inserted(chance: random.Random, text: str, line: str) -> str:
    """A text with one more line, as deep as the one below."""
    lines = _lines(text)
    if not lines:
        return line + "\n"
    index = chance.randrange(len(lines))
    lines.insert(index, " " * _indent(lines[index]) + line + "\n")
    return "".join(lines)


@_of_lines
def rekey(chance: random.Random, lines: list[str]) -> None:
    """A key has another name."""
    index = chance.randrange(len(lines))
    lines[index] = re.sub(r"[\w-]+(?=\s*:)", lambda _: chance.choice(KEYS), lines[index], count=1)


def option(chance: random.Random, text: str) -> str:
    """One more setting."""
    return _inserted(chance, text, f"{chance.choice(KEYS)}: {chance.choice(VALUES)}")


@_of_lines
def comment(chance: random.Random, lines: list[str]) -> None:
    """A comment on a line of its own, or after a value."""
    index = chance.randrange(len(lines))
    said = chance.choice(COMMENTS)
    if chance.random() < 0.5:
        body = lines[index].rstrip("\r\n")
        lines[index] = f"{body}  {said}{lines[index][len(body) :]}"
    else:
        lines.insert(index, " " * chance.choice((0, _indent(lines[index]))) + said + "\n")


def _put(chance: random.Random, text: str, piece: str) -> str:
    place = chance.randrange(len(text) + 1)
    return text[:place] + piece + text[place:]


def strange(chance: random.Random, text: str) -> str:
    """Characters that are easily miscounted or taken for line ends."""
    for _ in range(chance.choice((1, 1, 3))):
        text = _put(chance, text, chance.choice(STRANGE))
    return text


def line_ends(chance: random.Random, text: str) -> str:
    """Line ends of another system, everywhere or here and there."""
    end = chance.choice(("\r\n", "\r\n", "\r"))
    if chance.random() < 0.6:
        return re.sub(r"\r?\n", end, text)
    return re.sub(r"\n", lambda _: end if chance.random() < 0.3 else "\n", text)


def truncate(chance: random.Random, text: str) -> str:
    """Cut off anywhere, also in front; or without its last line end."""
    if chance.random() < 0.3:
        return text.rstrip("\r\n")
    place = chance.randrange(len(text) + 1)
    return text[:place] if chance.random() < 0.8 else text[place:]


def documents(chance: random.Random, text: str) -> str:
    """More than one document, directives, a byte order mark."""
    return chance.choice(
        (
            lambda: "---\n" + text,
            lambda: _inserted(chance, text, "---"),
            lambda: text + "...\n",
            lambda: "%YAML 1.1\n---\n" + text,
            lambda: "%TAG ! tag:x,2000:\n---\n" + text,
            lambda: "\ufeff" + text,
            lambda: text + "---\n" + text,
        )
    )()


def nest(chance: random.Random, text: str) -> str:
    """Something nested deeply."""
    depth = chance.choice((3, 30, 200, 2000))
    begin, end = chance.choice(
        (("[", "]"), ("{a: ", "}"), ("- ", ""), ("${a:", "}"), ("? ", ""), ("$(", ")"), ("(", ")"))
    )
    return _value(lambda _, value: begin * depth + value + end * depth)(chance, text)


def script(chance: random.Random, text: str) -> str:
    """Pieces that scripts are made of."""
    for _ in range(chance.randint(1, 4)):
        text = _put(chance, text, chance.choice(SCRIPT))
    return text


YAML: tuple[Mutation, ...] = (
    *(
        swap,
        drop,
        duplicate,
        reindent,
        revalue,
        revalue,
        revalue,
        retag,
        reanchor,
        rekey,
        option,
        option,
        comment,
        comment,
    ),
    *(strange, line_ends, truncate, documents, flow, quote, stretch, nest),
)
LAUNCHER: tuple[Mutation, ...] = (
    swap,
    drop,
    duplicate,
    reindent,
    comment,
    strange,
    line_ends,
    truncate,
    script,
    script,
    script,
    nest,
)


def mutated(chance: random.Random, data: bytes, mutations: Sequence[Mutation]) -> bytes:
    """A text after a few changes; seldom also one to its bytes."""
    text = data.decode("utf-8", "surrogateescape")
    for _ in range(chance.choice((1, 1, 1, 2, 2, 3, 5))):
        text = chance.choice(mutations)(chance, text)
    data = text[: 2**17].encode("utf-8", "surrogateescape")
    return raw(chance, data) if chance.random() < 0.04 else data


def raw(chance: random.Random, data: bytes) -> bytes:
    """Changes that know nothing of text: bits, numbers, pieces gone, doubled, or made of noise."""
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 5))):
        place = chance.randrange(len(changed) + 1)
        kind = chance.randrange(6)
        if kind == 0 and place < len(changed):
            changed[place] ^= 1 << chance.randrange(8)
        elif kind == 1:
            changed[place:place] = chance.randbytes(chance.randint(1, 9))
        elif kind == 2:
            del changed[place : place + chance.choice((1, 7, 8, 64))]
        elif kind == 3:
            changed[place:place] = changed[max(place - 16, 0) : place]
        elif kind == 4:
            number = chance.choice(
                (0, 1, 255, 2**31, 2**32 - 1, 2**63 - 1, 2**64 - 1, len(changed), chance.getrandbits(64))
            )
            place -= place % 8
            changed[place : place + 8] = struct.pack("<Q", number)
        else:
            del changed[place:]
    return bytes(changed)
