"""A file is written whole or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from nemo_resumable.core.writing import WriteRefused, write_atomically


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_file_gets_its_folders_and_the_usual_mode(tmp_path: Path) -> None:
    usual = tmp_path / "usual"
    usual.write_bytes(b"")
    path = tmp_path / "a" / "b" / "c.yaml"
    write_atomically(path, b"x\r\n")
    assert path.read_bytes() == b"x\r\n"
    assert mode(path) == mode(usual)
    assert [entry.name for entry in path.parent.iterdir()] == ["c.yaml"]


@pytest.mark.parametrize("bits", [0o600, 0o644, 0o755])
def test_the_mode_of_a_file_stays(tmp_path: Path, bits: int) -> None:
    path = tmp_path / "a.yaml"
    path.write_bytes(b"old")
    path.chmod(bits)
    write_atomically(path, b"new")
    assert (path.read_bytes(), mode(path)) == (b"new", bits)


def test_a_script_can_be_run_by_those_who_can_read_it(tmp_path: Path) -> None:
    path = tmp_path / "run.sh"
    path.write_bytes(b"")
    path.chmod(0o640)
    write_atomically(path, b"#!/bin/sh\n", executable=True)
    assert mode(path) == 0o750


def test_a_link_inside_the_project_is_written_through(tmp_path: Path) -> None:
    target, link = tmp_path / "real" / "a.yaml", tmp_path / "a.yaml"
    target.parent.mkdir()
    target.write_bytes(b"old")
    link.symlink_to(target)
    write_atomically(link, b"new", root=tmp_path)
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_a_link_that_leads_out_is_refused(tmp_path: Path) -> None:
    outside, project = tmp_path / "outside.yaml", tmp_path / "project"
    outside.write_bytes(b"old")
    project.mkdir()
    link = project / "a.yaml"
    link.symlink_to(outside)
    for root in (project, None):
        with pytest.raises(WriteRefused, match="outside the project; edit that file itself"):
            write_atomically(link, b"new", root=root)
    assert outside.read_bytes() == b"old"


def test_a_linked_folder_that_leads_out_is_refused(tmp_path: Path) -> None:
    outside, project = tmp_path / "outside", tmp_path / "project"
    outside.mkdir()
    project.mkdir()
    (project / "conf").symlink_to(outside)
    with pytest.raises(WriteRefused, match="outside the project"):
        write_atomically(project / "conf" / "a.yaml", b"new", root=project)
    assert list(outside.iterdir()) == []


def test_a_link_to_nothing_inside_the_project_makes_its_target(tmp_path: Path) -> None:
    link = tmp_path / "a.yaml"
    link.symlink_to("b.yaml")
    write_atomically(link, b"new", root=tmp_path)
    assert (tmp_path / "b.yaml").read_bytes() == b"new"


def test_a_circle_of_links_is_refused(tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    first.symlink_to(second)
    second.symlink_to(first)
    with pytest.raises(WriteRefused):
        write_atomically(first, b"new", root=tmp_path)


def test_nothing_half_written_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.yaml"
    path.write_bytes(b"old")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(WriteRefused, match=r"`.*a\.yaml` cannot be written: No space left on device"):
        write_atomically(path, b"new")
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.yaml"]
    assert path.read_bytes() == b"old"


def test_an_interruption_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", stop)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(tmp_path / "a.yaml", b"new")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_and_a_file_in_the_way_are_refused(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_bytes(b"old")
    for path in (tmp_path / "folder", tmp_path / "file" / "a.yaml"):
        with pytest.raises(WriteRefused, match="cannot be written"):
            write_atomically(path, b"new")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["file", "folder"]
    assert (tmp_path / "file").read_bytes() == b"old"
