"""What commands of a shell print, where that can be worked out or is another in each chunk."""

from __future__ import annotations

import posixpath
import re
import shlex
from typing import TYPE_CHECKING

from ....findings import Location
from ..facts import Variation
from ..texts import Arg, Piece, Text, concat, cut, fixed, flat, known, unknown, varying

if TYPE_CHECKING:
    from .state import State

#: What prints another text in each run.
_DRAWN = re.compile(
    r"/dev/u?random|\buuidgen\b|\bshuf\b|\bmktemp\b|\bopenssl\s+rand\b|\bpwgen\b|\brandom\b|\bsecrets\b|\buuid\b"
    r"|/proc/sys/kernel/random|\bsort\s+(?:-\w*R|--random-sort)"
)
_CLOCK = re.compile(r"(?:^|[\s(|;`])date\b|time\.time|datetime|%\([^)]*\)T")
_FIXED_DATE = re.compile(r"\bdate\b.*(?:\s-d\s*|\s--date[= ])['\"]?(?:@?\d[\d: T-]*)['\"]?(?:\s|$)")
_FORMAT = re.compile(r"%(%|[-+0 #]*(\d*)(?:\.\d+)?([sdiuxXoq]))")
_MAX_SEQ = 2000
_PASSING = frozenset({"cat", "tee", "sort"})


def drawn(written: str, words: list[Arg], stdin: Text | None) -> Variation | None:
    """Why a command prints something else in each chunk: it draws, asks the clock, or gets what varies."""
    if _DRAWN.search(written):
        return Variation("random", "`/dev/urandom`" if "urandom" in written else f"`{short(written)}`")
    if _CLOCK.search(written) and not _FIXED_DATE.search(written):
        return Variation("time", f"the clock (`{short(written)}`)")
    for arg in words[1:]:
        if (varies := varying(arg.text)) is not None:
            return varies
    return varying(stdin) if stdin else None


def short(written: str) -> str:
    """A command as a message quotes it."""
    line = " ".join(written.split())
    return line if len(line) <= 40 else f"{line[:37]}..."


def ended(text: Text) -> Text:
    """Without the line ends at its end, as `$(…)` leaves it."""
    pieces = list(text)
    while pieces:
        last = pieces[-1]
        if last.text is None or not last.text.endswith("\n"):
            break
        kept = last.text.rstrip("\n")
        pieces.pop()
        if kept:
            pieces += cut((last,), 0, len(kept))
            break
    return tuple(pieces)


def echoed(args: list[Arg], where: Location) -> Text:
    """What `echo` prints."""
    words = list(args)
    line_end = True
    while words and (flags := words[0].known) in ("-n", "-e", "-E", "-ne", "-en"):
        line_end = line_end and "n" not in (flags or "")
        words.pop(0)
    parts: list[Text] = []
    for index, arg in enumerate(words):
        if index:
            parts.append(fixed(" ", where))
        parts.append(arg.text)
    return concat([*parts, fixed("\n", where)] if line_end else parts)


def formatted(args: list[Arg], where: Location) -> Text:
    """What `printf` prints."""
    if not args:
        return ()
    form = args[0].known
    varies = next((found for arg in args if (found := varying(arg.text)) is not None), None)
    if form is None:
        return unknown("`printf` is not computed here", where, varies=varies)
    if "T" in form and _CLOCK.search(form):
        return unknown("", where, varies=Variation("time", "the clock (`printf`)"))
    form = form.replace("\\n", "\n").replace("\\t", "\t")
    fields = [match for match in _FORMAT.finditer(form) if match[1] != "%"]
    if re.sub(r"%%", "", _FORMAT.sub("", form)).count("%") or len(fields) > 50:
        return unknown("`printf` is not computed here", where, varies=varies)
    parts: list[Text] = []
    rest = list(args[1:])
    while True:
        parts.append(_filled(form, rest, where))
        rest = rest[len(fields) :]
        if not rest or not fields or len(parts) > _MAX_SEQ:
            return concat(parts)


def _filled(form: str, args: list[Arg], where: Location) -> Text:
    parts: list[Text] = []
    position, index = 0, 0
    for match in _FORMAT.finditer(form):
        parts.append(fixed(form[position : match.start()], where))
        position = match.end()
        if match[1] == "%":
            parts.append(fixed("%", where))
            continue
        value = args[index].text if index < len(args) else ()
        index += 1
        text = known(value)
        if match[3] in "sq" and not match[2]:
            plain = match[3] == "s" or text is None or re.fullmatch(r"[\w./:=,+@%^-]+", text)
            parts.append(value if plain else fixed(shlex.quote(text or ""), where))
        elif text is None:
            parts.append(unknown("`printf` is not computed here", where, varies=varying(value)))
        else:
            parts.append((_conversion(match[0], match[3], text, value, where),))
    parts.append(fixed(form[position:], where))
    return concat(parts)


def _conversion(sign: str, kind: str, text: str, value: Text, where: Location) -> Piece:
    defaulted = any(piece.defaulted for piece in value)
    try:
        width = re.search(r"\d+", sign)
        if width is not None and int(width[0]) > 200:
            raise ValueError
        return Piece(
            sign.replace("u", "d") % (text if kind == "s" else int(text or "0", 0)), where, defaulted=defaulted
        )
    except (ValueError, TypeError):
        return Piece(None, where, reason="`printf` is not computed here")


def printed(name: str, args: list[Arg], state: State, stdin: Text | None, where: Location) -> Text | None:
    """What a command prints, where it is one that can be worked out; None for any other."""
    if name == "echo":
        return echoed(args, where)
    if name == "printf":
        return formatted(args, where)
    if name == "pwd":
        return state.folder or None
    if name in _PASSING and stdin is not None and all(flat(arg.text) in ("-", "-u", "-n") for arg in args):
        return stdin
    if name == "cat" and len(args) == 1 and args[0].shown in state.files:
        return state.files[args[0].shown]
    if name == "tee" and stdin is not None:
        return stdin
    if name == "seq":
        return _sequence(args, where)
    if name in ("realpath", "readlink", "abspath"):
        plain = [arg for arg in args if not flat(arg.text).startswith("-")]
        return plain[0].text if len(plain) == 1 and flat(plain[0].text).startswith(("/", "~")) else _itself(plain)
    if name in ("basename", "dirname"):
        return _part_of_path(name, args, state, where)
    if name == "expr":
        return None
    if name in ("tr", "cut", "head", "tail") and stdin is not None and (text := known(stdin)) is not None:
        result = _filtered(name, [arg.known for arg in args], text)
        if result is not None:
            return (Piece(result, where, defaulted=any(piece.defaulted for piece in stdin)),)
    return None


def _itself(plain: list[Arg]) -> Text | None:
    """The launcher's own name stays what it is, by whatever path."""
    return plain[0].text if len(plain) == 1 and plain[0].shown in ("$0",) else None


def _sequence(args: list[Arg], where: Location) -> Text | None:
    values = [arg.known for arg in args]
    varies = next((found for arg in args if (found := varying(arg.text)) is not None), None)
    if varies is not None:
        return unknown("", where, varies=varies)
    if (
        not values
        or len(values) > 3
        or not all(value is not None and re.fullmatch(r"-?\d{1,9}", value) for value in values)
    ):
        return None
    numbers = [int(value) for value in values if value is not None]
    first = numbers[0] if len(numbers) > 1 else 1
    step = numbers[1] if len(numbers) == 3 else 1
    if step == 0 or abs(numbers[-1] - first) // abs(step) > _MAX_SEQ:
        return None
    sequence = range(first, numbers[-1] + (1 if step > 0 else -1), step)
    return fixed("".join(f"{number}\n" for number in sequence), where)


def _part_of_path(name: str, args: list[Arg], state: State, where: Location) -> Text | None:
    plain = [arg for arg in args if not flat(arg.text).startswith("-")]
    if not plain:
        return None
    if name == "dirname" and plain[0].shown == "$0":
        if state.job is not None:
            return unknown("a job runs from a copy of its script", where, name="(dirname $0)")
        return fixed(str(where.file.parent), where)
    text = plain[0].known
    varies = varying(plain[0].text)
    if text is None:
        return unknown("a part of an unknown path", where, varies=varies) if varies is not None else None
    path = text.rstrip("/") or "/"
    result = posixpath.basename(path) if name == "basename" else posixpath.dirname(path) or "."
    suffix = plain[1].known if len(plain) > 1 else None
    if suffix and result.endswith(suffix) and result != suffix:
        result = result[: -len(suffix)]
    drawn_at = next((piece.drawn for piece in plain[0].text if piece.drawn), None)
    return (Piece(result, where, defaulted=any(piece.defaulted for piece in plain[0].text), drawn=drawn_at),)


def _filtered(name: str, args: list[str | None], text: str) -> str | None:
    """`tr`, `cut`, `head` and `tail` on a known text, in their plain forms."""
    words = [arg for arg in args if arg is not None]
    if len(words) != len(args) or len(text) > 10_000:
        return None
    if name == "tr":
        return _translated(words, text)
    joined = " ".join(words)
    if name == "cut":
        match = re.fullmatch(r"-d ?(\S) -f ?(\d+)", joined) or re.fullmatch(r"-f ?(?P<f>\d+) -d ?(?P<d>\S)", joined)
        if match is None:
            return None
        sign, field = (match["d"], match["f"]) if "d" in match.groupdict() else (match[1], match[2])
        lines = [line.split(sign) for line in text.splitlines()]
        return "".join(
            f"{parts[int(field) - 1] if 0 < int(field) <= len(parts) else '' if len(parts) > 1 else parts[0]}\n"
            for parts in lines
        )
    match = re.fullmatch(r"(?:-n ?|-)(\d+)", joined)
    if match is None and joined:
        return None
    count = int(match[1]) if match is not None else 10
    lines_ = text.splitlines(keepends=True)
    return "".join(lines_[:count] if name == "head" else lines_[-count:] if count else [])


def _translated(words: list[str], text: str) -> str | None:
    plain = [re.sub(r"\\n", "\n", word) for word in words]
    if len(plain) == 2 and plain[0] == "-d" and not re.search(r"[\[\]\\-]", plain[1]):
        return "".join(char for char in text if char not in plain[1])
    if len(plain) == 2 and all(word in ("[:upper:]", "A-Z", "[:lower:]", "a-z") for word in plain):
        return text.lower() if plain[1] in ("[:lower:]", "a-z") else text.upper()
    if len(plain) == 2 and not plain[0].startswith("-") and not any(re.search(r"[\[\]\\]|.-.", word) for word in plain):
        old, new = plain
        new = new.ljust(len(old), new[-1:]) if new else ""
        return text.translate({ord(one): other for one, other in zip(old, new)}) if new else None
    return None
