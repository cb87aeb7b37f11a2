"""A pipe, a device or a folder that takes the place of a file is refused at once."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pastchats_memory.files.archives import open_member
from pastchats_memory.files.regular_file import open_regular
from pastchats_memory.formats.base.sibling_files import read_sibling
from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.ingest.blame import read_line
from pastchats_memory.ingest.changes import fingerprint

ENDLESS = Path("/dev/zero")
REFUSAL = r"regular file|Is a directory"


@pytest.fixture(params=["pipe", "device", "link to a device", "folder"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    place = tmp_path / "chat.jsonl"
    if request.param == "folder":
        place.mkdir()
        return place
    if not ENDLESS.exists():
        pytest.skip("the system has no such files")
    if request.param == "pipe":
        os.mkfifo(place)
        return place
    if request.param == "device":
        return ENDLESS
    place.symlink_to(ENDLESS)
    return place


def test_pipes_and_devices_are_not_read(place: Path) -> None:
    with pytest.raises(OSError, match=REFUSAL):
        open_regular(place)


@pytest.mark.promise(
    "files", "A pipe or a device that takes the place of a transcript during a run neither blocks nor is read."
)
def test_a_transcript_that_was_replaced_since_it_was_found_is_not_read(place: Path) -> None:
    for read in (lambda: SourceFile(place).shape, lambda: fingerprint(place, b"")):
        with pytest.raises(OSError, match=REFUSAL):
            read()


@pytest.mark.parametrize("suffix", [".zip", ".gz", ".zst"])
def test_an_archive_that_was_replaced_since_it_was_found_is_not_read(place: Path, tmp_path: Path, suffix: str) -> None:
    (tmp_path / f"packed{suffix}").symlink_to(place)
    with pytest.raises(OSError, match=REFUSAL):
        open_member(tmp_path / f"packed{suffix}", "chat.jsonl")()


def test_no_sibling_or_line_is_read_from_a_pipe_or_device(place: Path) -> None:
    assert read_sibling(place) == ""
    with pytest.raises(OSError, match=REFUSAL):
        read_line(place, 1)


def test_a_file_and_a_link_to_one_are_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"said\r\n")
    (tmp_path / "link").symlink_to("file")
    for name in ("file", "link"):
        with open_regular(tmp_path / name) as file:
            assert file.read() == b"said\r\n"
