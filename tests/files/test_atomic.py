"""A small file that is written anew is there whole, or as it was."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from pastchats_memory.files.atomic import write_atomic


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def test_a_new_file_is_its_owners_alone_and_one_that_is_there_keeps_its_mode(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        write_atomic(tmp_path / "new", b"one")
        (tmp_path / "open").touch(mode=0o644)
        write_atomic(tmp_path / "open", b"two")
    finally:
        os.umask(before)
    assert {path.name: (mode(path), path.read_bytes()) for path in tmp_path.iterdir()} == {
        "new": (0o600, b"one"),
        "open": (0o644, b"two"),
    }


def test_a_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "dotfiles" / "settings")
    write_atomic(tmp_path / "link", b"one")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "dotfiles" / "settings").read_bytes() == b"one"


def test_a_failed_write_leaves_no_temporary_file(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):
        write_atomic(tmp_path / "folder", b"one")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]
