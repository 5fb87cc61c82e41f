"""Texts, positions and names: what the editor has is what the server has."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lsprotocol import types
from nemo_resumable.core.text import Source, Span
from nemo_resumable.lsp_server import convert, uris
from nemo_resumable.lsp_server.documents import Documents, OpenDocument
from nemo_resumable.lsp_server.edits import changes
from nemo_resumable.lsp_server.transport import Framing

from .conftest import CONFIG, MODERN, codes

Serve = Callable[..., Any]
ENCODINGS = ("utf-8", "utf-16", "utf-32")
#: Characters of one to four bytes, and those that other tools take for line ends.
ALPHABET = "ab:# é一😀\u0301\u2028\u2029\x85\x0b\x0c\x1c\ufeff\r\n"
TEXTS = st.text(ALPHABET, max_size=30)


def _width(text: str, encoding: str) -> int:
    if encoding == "utf-8":
        return len(text.encode())
    return len(text.encode("utf-16-le")) // 2 if encoding == "utf-16" else len(text)


def _position(text: str, offset: int, encoding: str) -> types.Position:
    """Worked out from the beginning of the text, character by character."""
    before = re.split(r"\r\n|\n|\r", text[:offset])
    # An offset between \r and \n stands at the end of its line.
    if text[offset - 1 : offset + 1] == "\r\n":
        before.pop()
    return types.Position(len(before) - 1, _width(before[-1], encoding))


def _document(text: str) -> OpenDocument:
    return OpenDocument("file:///a.yaml", Path("/a.yaml"), 1, text, "yaml", None)


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(text=TEXTS, edits=st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40), TEXTS), max_size=4))
@settings(derandomize=True, max_examples=300, deadline=None)
def test_incremental_changes_are_those_of_the_editor(
    encoding: str, text: str, edits: list[tuple[int, int, str]]
) -> None:
    events, wanted = [], text
    for first, second, new in edits:
        start, end = sorted((min(first, len(wanted)), min(second, len(wanted))))
        # An editor has no place between the two halves of a line end.
        start -= wanted[start - 1 : start + 1] == "\r\n"
        end -= wanted[end - 1 : end + 1] == "\r\n"
        span = types.Range(_position(wanted, start, encoding), _position(wanted, end, encoding))
        events.append(types.TextDocumentContentChangePartial(span, new))
        wanted = wanted[:start] + new + wanted[end:]
    assert _document(text).changed(2, events, encoding).text == wanted


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(text=TEXTS, offset=st.integers(0, 40))
@settings(derandomize=True, max_examples=300, deadline=None)
def test_positions_there_and_back(encoding: str, text: str, offset: int) -> None:
    source = Source.from_text(Path("/a.yaml"), text)
    offset = min(offset, len(source.text))
    offset -= source.text[offset - 1 : offset + 1] == "\r\n"
    place = convert.position(source, offset, encoding)
    assert place == _position(text, offset + source.bom, encoding)
    assert convert.offset(source, place, encoding) == offset
    assert convert.span(source, convert.text_range(source, Span(0, offset), encoding), encoding) == Span(0, offset)


def test_positions_beyond_the_text_are_held_inside() -> None:
    document = _document("ab\ncd")
    far = types.Range(types.Position(0, 99), types.Position(99, 0))
    change = types.TextDocumentContentChangePartial(far, "!")
    assert document.changed(2, [change], "utf-16").text == "ab!"
    # A unit inside a character means that character's beginning.
    inside = types.Range(types.Position(0, 1), types.Position(0, 1))
    change = types.TextDocumentContentChangePartial(inside, "x")
    assert _document("😀").changed(2, [change], "utf-16").text == "x😀"


@given(before=TEXTS, after=TEXTS)
@settings(derandomize=True, max_examples=500, deadline=None)
def test_a_changed_text_as_edits(before: str, after: str) -> None:
    text, last = before, len(before) + 1
    for span, new in reversed(list(changes(before, after))):
        assert span.end < last or span.end == last == 0 or span.end <= last
        text, last = text[: span.start] + new + text[span.end :], span.start
    assert text == after


def test_edits_touch_no_more_than_has_changed() -> None:
    found = list(changes("a: 1\r\nb: 2\r\nc: 3\r\n", "a: 1\r\nb: 22\r\nc: 3\r\nd: 4\r\n"))
    assert [(span.end - span.start, text) for span, text in found] == [(0, "2"), (0, "d: 4\r\n")]


@pytest.mark.parametrize(
    ("uri", "windows", "path"),
    [
        ("file:///home/me/a.yaml", False, "/home/me/a.yaml"),
        ("file:///home/me/a%20b%23c%25.yaml", False, "/home/me/a b#c%.yaml"),
        ("file:///home/me/a#b?c.yaml", False, "/home/me/a#b?c.yaml"),
        ("file:///home/me/../you/a.yaml", False, "/home/you/a.yaml"),
        ("file://localhost/a.yaml", False, "/a.yaml"),
        ("file:/a.yaml", False, "/a.yaml"),
        ("FILE:///%E4%B8%80.yaml", False, "/一.yaml"),
        ("file:///c%3A/Users/me/a.yaml", True, "C:\\Users\\me\\a.yaml"),
        ("file:///C:/Users/me/a.yaml", True, "C:\\Users\\me\\a.yaml"),
        ("file:///c:/Users/me/a%20b.yaml", True, "C:\\Users\\me\\a b.yaml"),
        ("file://server/share/a.yaml", True, "\\\\server\\share\\a.yaml"),
        ("untitled:Untitled-1", False, None),
        ("git:/home/me/a.yaml?x", False, None),
        ("vscode-remote://ssh/home/me/a.yaml", False, None),
    ],
)
def test_paths_of_uris(uri: str, windows: bool, path: str | None) -> None:
    assert uris.file_path(uri, windows=windows) == path


@pytest.mark.parametrize(
    ("path", "windows", "uri"),
    [
        ("/home/me/a b#c%.yaml", False, "file:///home/me/a%20b%23c%25.yaml"),
        ("C:\\Users\\me\\a.yaml", True, "file:///c%3A/Users/me/a.yaml"),
        ("\\\\server\\share\\a b.yaml", True, "file://server/share/a%20b.yaml"),
    ],
)
def test_uris_of_paths(path: str, windows: bool, uri: str) -> None:
    assert uris.path_uri(path, windows=windows) == uri
    assert uris.file_path(uri, windows=windows) == path


@given(names=st.lists(st.text("aé一😀 #?%&+:;=@~'\"(){}[].", min_size=1, max_size=8), min_size=1, max_size=3))
@settings(derandomize=True, max_examples=200, deadline=None)
def test_every_name_comes_back(names: list[str]) -> None:
    path = PurePosixPath("/", *[name for name in names if name not in (".", "..")])
    assert uris.file_path(uris.path_uri(str(path), windows=False), windows=False) == str(path)


def test_texts_without_a_file_have_places_of_their_own(tmp_path: Path) -> None:
    names = ["untitled:Untitled-1", "untitled:Untitled-2", f"git:{tmp_path}/conf.yaml?a", f"git:{tmp_path}/conf.yaml?b"]
    places = [uris.stand_in(name, tmp_path) for name in names]
    assert len(set(places)) == len(names)
    assert {place.parent for place in places} == {tmp_path}
    assert not any(place.exists() for place in places)


def test_links_lead_to_the_same_text(tmp_path: Path) -> None:
    (tmp_path / "real.yaml").write_text("a: 1\n")
    (tmp_path / "link.yaml").symlink_to("real.yaml")
    documents = Documents()
    item = types.TextDocumentItem((tmp_path / "link.yaml").as_uri(), "yaml", 1, "a: 2\n")
    documents.open(OpenDocument.opened(item, tmp_path / "link.yaml", is_file=True))
    assert documents.texts() == {tmp_path / "link.yaml": "a: 2\n", tmp_path / "real.yaml": "a: 2\n"}
    assert documents.close(item.uri) is not None
    assert documents.texts() == {}
    assert documents.at(tmp_path / "real.yaml") is None


@given(bodies=st.lists(st.binary(max_size=20), max_size=5), sizes=st.lists(st.integers(1, 30), min_size=1, max_size=20))
@settings(derandomize=True, max_examples=200, deadline=None)
def test_messages_come_whole_however_they_are_cut(bodies: list[bytes], sizes: list[int]) -> None:
    data = b"".join(
        b"Content-Type: x; charset=utf-8\r\ncontent-length: %d\r\n\r\n" % len(body) + body for body in bodies
    )
    framing, found, index = Framing(), [], 0
    while data:
        found += framing.feed(data[: sizes[index % len(sizes)]])
        data, index = data[sizes[index % len(sizes)] :], index + 1
    assert found == bodies


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_ranges_in_every_encoding(serve: Serve, project: Path, encoding: str) -> None:
    """Emoji and Chinese before the span on its line, and characters that are no line ends above it."""
    client = serve({**MODERN, "general": {"positionEncodings": [encoding, "utf-16"]}})
    assert client.initialize(project)["positionEncoding"] == encoding
    head = 'note: "one \u2028 two \x85 three 😀"\n'
    flow = '  train_ds: {"note 😀一é": 1, shard_seed: "randomized", input_cfg: blend.yaml, shuffle: true, seed: 1}\n'
    text = head + "data:\n" + flow
    uri = client.open(project / "conf.yaml", text)
    found = next(found for found in client.diagnostics(uri) if found["code"] == "NR110")
    assert client.cut(text, found["range"]) == '"randomized"'
    # An edit above and one on the line, in one change, each after what the one before has left.
    text2 = text.replace("three 😀", "three 😀😀")
    place = client.place(text, text.index("three 😀") + len("three 😀"))
    where = client.span(text2, '"randomized"')
    start, end = ((point["line"], point["character"]) for point in (where["start"], where["end"]))
    spot = (place["line"], place["character"])
    client.change(uri, 2, (spot, spot, "😀"), (start, end, "trng"))
    text3 = text2.replace('"randomized"', "trng")
    found = next(found for found in client.diagnostics(uri) if found["code"] == "NR110")
    assert client.cut(text3, found["range"]) == "trng"
    action = next(a for a in client.actions(uri, found["range"], only=["quickfix"]) if "Suppress" not in a["title"])
    fixed = client.applied(client.edit_of(action), {uri: text3})[uri]
    assert head.replace("three 😀", "three 😀😀") in fixed
    assert "shard_seed: trng" not in fixed
    client.change(uri, 3, fixed)
    assert "NR110" not in codes(client.diagnostics(uri))


def test_without_a_choice_of_encodings_it_is_utf_16(serve: Serve, project: Path) -> None:
    client = serve({key: value for key, value in MODERN.items() if key != "general"})
    assert client.initialize(project)["positionEncoding"] == "utf-16"
    text = CONFIG.replace('shard_seed: "randomized"', '"shard_seed": "randomized"  # 😀')
    found = next(f for f in client.diagnostics(client.open(project / "conf.yaml", text)) if f["code"] == "NR110")
    assert client.cut(text, found["range"]) == '"randomized"'
