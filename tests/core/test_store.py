"""Files as documents: overlays before the disk, each text parsed once, and a reason for what cannot be read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from nemo_resumable.core.syntax import store as store_module
from nemo_resumable.core.syntax.nodes import Document, to_plain
from nemo_resumable.core.syntax.store import DocumentStore, Unreadable


def value(found: Document | Unreadable) -> object:
    assert isinstance(found, Document)
    assert found.root is not None
    return to_plain(found.root)


def test_parsed_once_until_it_changes(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("a: 1\n")
    store = DocumentStore()
    first = store.load(path)
    assert store.load(path) is first
    path.write_text("a: 22\n")
    assert value(store.load(path)) == {"a": 22}
    assert store.text_of(path) == "a: 22\n"


def test_an_overlay_stands_in_place_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("a: 1\n")
    store = DocumentStore({path: "\ufeffa: 2\n", tmp_path / "new.yaml": "b: 3\n"})
    assert value(store.load(path)) == {"a": 2}
    assert store.text_of(path) == "a: 2\n"
    assert store.load(path) is store.load(path)
    assert value(store.load(tmp_path / "new.yaml")) == {"b": 3}
    other = store.with_overlays({path: "a: 3\n"})
    assert value(other.load(path)) == {"a": 3}
    assert value(store.load(path)) == {"a": 2}


def unreadable(path: Path, kind: str, words: str) -> None:
    store = DocumentStore()
    for found in (store.load(path), store.text_of(path)):
        assert isinstance(found, Unreadable)
        assert found.path == path
        assert found.kind == kind
        assert words in found.reason
        assert not found.reason.endswith(".")


def test_what_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unreadable(tmp_path / "none.yaml", "missing", "check the path")
    unreadable(tmp_path, "folder", "is a folder")
    binary = tmp_path / "b.yaml"
    binary.write_bytes(b"a: \0\n")
    unreadable(binary, "binary", "is a binary file")
    unreadable(binary / "below.yaml", "missing", "check the path")
    latin = tmp_path / "l.yaml"
    latin.write_bytes(b"a: 1\nb: \xe9\n")
    unreadable(latin, "not-utf8", "at line 2")
    unreadable(tmp_path / "nul\0.yaml", "other", "cannot be read")
    monkeypatch.setattr(store_module, "MAX_BYTES", 3)
    (tmp_path / "large.yaml").write_text("a: 1\n")
    unreadable(tmp_path / "large.yaml", "too-large", "is not read")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_pipe_is_not_opened(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.yaml"
    os.mkfifo(pipe)
    unreadable(pipe, "other", "no ordinary file")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads everything")
def test_permission(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("a: 1\n")
    path.chmod(0)
    unreadable(path, "permission", "check its permissions")
