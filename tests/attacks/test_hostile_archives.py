"""Archives made to fill the disk or the memory, to lead out, or to keep a run busy: refused with a reason, and the rest is read."""

from __future__ import annotations

import gzip
import json
import os
import stat
import struct
import zipfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest
from inprocess import Shell
from work import count_calls

from pastchats_memory.files import archives
from pastchats_memory.files.archives import ZSTD
from pastchats_memory.ingest import archives as archive_members
from pastchats_memory.ingest.discover import Candidate, discover_files

CONVERSATION = "".join(
    json.dumps({"conversation_id": "c", "role": role, "content": text}) + "\n"
    for role, text in (("user", "Which port?"), ("assistant", "8080."))
)
SMALL = 100_000
BOMB = b'{"role": "user", "content": "' + b"a" * 40 * SMALL + b'"}\n'


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """Where a hundredth of what is allowed to unpack is allowed, so that a test need not unpack a gigabyte to show it."""
    monkeypatch.setattr(archives, "SMALL_SIZE", SMALL)
    monkeypatch.setattr(archive_members, "MOST_MEMBERS", 1_000)
    (tmp_path / "in").mkdir()
    return Shell(tmp_path)


def zipped(path: Path, *members: tuple[str | zipfile.ZipInfo, bytes | str]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, body in members:
            archive.writestr(name, body, zipfile.ZIP_DEFLATED)
    return path


def of_ratio(folder: Path) -> None:
    zipped(folder / "a.zip", ("a.jsonl", BOMB))


def of_ratio_beside_much(folder: Path) -> None:
    zipped(folder / "a.zip", ("a.jsonl", BOMB), ("b.bin", os.urandom(len(BOMB) // 20)))


def nested(folder: Path) -> None:
    inner = zipped(folder / "inner.zip", ("a.jsonl", BOMB))
    body = inner.read_bytes()
    inner.unlink()
    zipped(folder / "a.zip", ("inner.zip", body), ("b/inner.gz", gzip.compress(BOMB)))


def of_many_members(folder: Path) -> None:
    zipped(folder / "a.zip", *((f"{number}.jsonl", "") for number in range(1_001)))


def of_lying_sizes(folder: Path) -> None:
    """Says in its directory and before the member that it is small."""
    path = zipped(folder / "a.zip", ("a.jsonl", BOMB))
    body = path.read_bytes()
    path.write_bytes(body.replace(struct.pack("<I", len(BOMB)), struct.pack("<I", 100)))


def of_parts_that_overlap(folder: Path) -> None:
    """A thousand members of the directory are the same bytes of the file."""
    path = zipped(folder / "a.zip", ("a.jsonl", b"a" * 10 * SMALL))
    body = path.read_bytes()
    start = body.index(b"PK\x01\x02")
    entry, end = body[start : body.index(b"PK\x05\x06")], body[body.index(b"PK\x05\x06") :]
    count = struct.pack("<HHI", 999, 999, 999 * len(entry))
    path.write_bytes(body[:start] + entry * 999 + end[:8] + count + end[16:])


def by_gzip(folder: Path) -> None:
    (folder / "a.jsonl.gz").write_bytes(gzip.compress(BOMB))


def by_gzip_beside_a_hundredth_of_noise(folder: Path) -> None:
    """Would take a minute a megabyte to read and to embed."""
    (folder / "a.jsonl.gz").write_bytes(gzip.compress(BOMB) + gzip.compress(os.urandom(len(BOMB) // 100)))


def by_gzip_of_empty_lines(folder: Path) -> None:
    """Would take seconds a megabyte to read line by line."""
    (folder / "a.jsonl.gz").write_bytes(gzip.compress(b"\n" * 40 * SMALL))


def by_gzip_in_many_parts(folder: Path) -> None:
    (folder / "a.jsonl.gz").write_bytes(gzip.compress(BOMB[: len(BOMB) // 8]) * 8)


def by_gzip_in_countless_parts(folder: Path) -> None:
    (folder / "a.jsonl.gz").write_bytes(gzip.compress(b"") * 200_000)


def by_zstd(folder: Path) -> None:
    (folder / "a.jsonl.zst").write_bytes(import_module(ZSTD).compress(BOMB))


BOMBS: dict[Callable[[Path], None], str] = {
    of_ratio: "a zip archive that unpacks to far more than any transcript",
    of_ratio_beside_much: '"unpacks to far more than any transcript"',
    nested: "an archive within an archive",
    of_many_members: "more than 1,000 members",
    of_lying_sizes: "damaged where it was packed",
    of_parts_that_overlap: "a zip archive that unpacks to far more than any transcript",
    by_gzip: "far more than any transcript",
    by_gzip_beside_a_hundredth_of_noise: "far more than any transcript",
    by_gzip_of_empty_lines: "far more than any transcript",
    by_gzip_in_many_parts: "far more than any transcript",
    by_gzip_in_countless_parts: "more than 20,000 parts",
    by_zstd: "far more than any transcript",
}


@pytest.mark.promise(
    "files",
    "Archive bombs are refused without being unpacked: by ratio, nesting, many or overlapping members, false sizes.",
)
@pytest.mark.parametrize("make", BOMBS, ids=lambda make: make.__name__)
def test_a_bomb_is_refused_without_being_unpacked(shell: Shell, make: Callable[[Path], None]) -> None:
    make(shell.home / "in")
    (shell.home / "in" / "good.jsonl").write_text(CONVERSATION, encoding="utf-8")
    run = shell("index", "in", "--json")
    assert (run.status, run.json["turns_added"]) == (0, 2), run.stderr
    assert BOMBS[make] in run.stdout


def test_no_line_of_a_bomb_is_read(shell: Shell) -> None:
    by_gzip_of_empty_lines(shell.home / "in")
    assert count_calls(lambda: shell("index", "in", "--json"))["strip_line"] == 0


def linked(name: str, to: str) -> tuple[zipfile.ZipInfo, str]:
    member = zipfile.ZipInfo(name)
    member.external_attr = (stat.S_IFLNK | 0o777) << 16
    return member, to


LEADING_OUT = (
    "../out.jsonl", "a/../../out.jsonl", "/out.jsonl", "//host/out.jsonl", "C:/out.jsonl", "..\\out.jsonl", "a\\..\\..\\out.jsonl", "C:\\out.jsonl", "./../out.jsonl",
    "a/b/../../../out.jsonl", "out.jsonl/..", ".",
)  # fmt: skip
NAMELESS = ("\x00.jsonl", "x" * 60_000 + ".jsonl")
OUTSIDE = (*LEADING_OUT, *NAMELESS, "~/out.jsonl", "a\x00b.jsonl", "\x1b[2J.jsonl")


@pytest.mark.promise("files", "No member name leads out of an archive.")
@pytest.mark.parametrize("name", OUTSIDE, ids=[name[:20].encode("unicode_escape").decode() for name in OUTSIDE])
def test_no_name_in_an_archive_leads_out_of_it(shell: Shell, name: str) -> None:
    path = zipped(
        shell.home / "in" / "a.zip",
        (name.replace("\0", "Q"), CONVERSATION),
        ("good.jsonl", CONVERSATION.replace("8080", "9090")),
    )
    path.write_bytes(path.read_bytes().replace(name.replace("\0", "Q").encode(), name.encode()))
    (shell.home / "out.jsonl").write_text(CONVERSATION.replace("8080", "hidden"), encoding="utf-8")
    here = sorted(str(path) for path in shell.home.rglob("*"))
    run = shell("index", "in", "--json")
    assert (run.status, "Traceback" in run.stderr) == (0, False)
    written = {str(path) for path in shell.home.rglob("*")} - set(here)
    assert {Path(path).name.partition("-")[0] for path in written} <= {
        "memory.db",
        "memory.db.secrets",
        "data",
        "pastchats",
    }
    found = shell("search", "port", "--json").stdout
    assert "9090" in shell("search", "9090", "--json").stdout
    assert "hidden" not in found
    assert ("a name that leads out of the archive" in run.stdout) == (name in LEADING_OUT)
    assert ("a member without a name, or with one longer than any path" in run.stdout) == (name in NAMELESS)


@pytest.mark.promise("files", "Links in archives are not followed.")
def test_a_link_in_an_archive_is_not_followed(shell: Shell) -> None:
    (shell.home / "out.jsonl").write_text(CONVERSATION.replace("8080", "hidden"), encoding="utf-8")
    zipped(
        shell.home / "in" / "a.zip",
        linked("a.jsonl", "../out.jsonl"),
        linked("b", str(shell.home)),
        ("b/out.jsonl", CONVERSATION),
    )
    assert shell("index", "in", "--json").status == 0
    assert shell("search", "hidden", "--mode", "keyword").status == 1


def read_through(path: Path) -> None:
    """Every member to its end. Raises OSError."""
    (archive,), _ = discover_files([path])
    for member in archive_members.list_members(archive):
        if isinstance(member, Candidate):
            assert member.unpacked is not None
            with member.unpacked() as stream:
                while stream.read(SMALL):
                    pass


PACKERS: dict[str, Callable[[Path], object]] = {
    "a.zip": lambda path: zipped(path, ("é.jsonl", "a")),
    "a.jsonl.gz": lambda path: path.write_bytes(gzip.compress(b"a")),
    "a.jsonl.zst": lambda path: path.write_bytes(import_module(ZSTD).compress(b"a")),
}


@pytest.mark.promise("files", "An archive with any changed byte is read or refused.")
@pytest.mark.parametrize("name", PACKERS)
def test_an_archive_with_any_changed_byte_is_read_or_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    PACKERS[name](path)
    whole = path.read_bytes()
    read = refused = 0
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + b"\xff" + whole[place + 1 :])
        try:
            read_through(path)
            read += 1
        except OSError:
            refused += 1
    assert read
    assert refused


def test_a_member_that_begins_beyond_any_file_is_refused(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", ("a.jsonl", CONVERSATION))
    body = path.read_bytes()
    start, end = body.index(b"PK\x01\x02"), body.index(b"PK\x05\x06")
    entry = bytearray(body[start:end])
    extra = struct.pack("<HHQ", 1, 8, 2**64 - 1)
    entry[30:32], entry[42:46] = struct.pack("<H", len(extra)), b"\xff" * 4
    count = struct.pack("<I", len(entry) + len(extra))
    path.write_bytes(body[:start] + entry + extra + body[end : end + 12] + count + body[end + 16 :])
    with pytest.raises(OSError, match=r"unpacked|damaged"):
        read_through(path)


def test_an_archive_that_needs_gigabytes_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("a.jsonl", CONVERSATION)
    with pytest.raises(OSError, match="packed by LZMA"):
        read_through(tmp_path / "a.zip")


@pytest.mark.promise("files", "The member list of an archive is read once, not once per member.")
def test_the_list_of_members_is_read_once_and_not_for_each_of_them(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", *((f"{number}.jsonl", "") for number in range(3_000)))

    def open_members() -> None:
        for number in range(100):
            archives.open_member(path, f"{number}.jsonl")().close()

    assert count_calls(open_members)["_RealGetContents"] == 1


def test_an_archive_that_was_replaced_is_read_anew(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", ("a.jsonl", "old"))
    with archives.open_member(path, "a.jsonl")() as member:
        zipped(tmp_path / "b.zip", ("a.jsonl", "new")).replace(path)
        assert member.read() == b"old"
    with archives.open_member(path, "a.jsonl")() as member:
        assert member.read() == b"new"
