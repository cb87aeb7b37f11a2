"""Archives read through, as if they were folders: a member is cited as `export.zip/conversations.json`.

Nothing is unpacked to the disk. What could do harm is refused with a reason: names that lead out, sizes that no transcript
unpacks to, archives within archives.
"""

from __future__ import annotations

import gzip
import io
import os
import stat
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, cast

from pastchats_memory.ingest.files import ARCHIVES, SKIPPED_FOLDERS, TEXTS, Candidate
from pastchats_memory.model import Unreadable, utf8
from pastchats_memory.readers.together import DATABASE_SUFFIXES

ZSTD = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
MOST_MEMBERS = 100_000
SMALL = 256 * 1024 * 1024
"""Bytes that anything may unpack to."""
DENSEST = 200
"""Times its packed size that more than that may unpack to: transcripts pack to a fifth or a tenth, bombs to a thousandth."""
FOREIGN = frozenset({"__MACOSX", *SKIPPED_FOLDERS})


class Broken(OSError):
    """The archive, or a member of it, cannot be unpacked; the message says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.strerror = reason


def is_archive(path: Path) -> bool:
    """Whether it is read through, by its name."""
    return path.suffix.lower() in ARCHIVES


def members(archive: Candidate) -> Iterator[Candidate | Unreadable]:
    """What could be a transcript in the archive, each with a way to open it, and what is refused. Raises OSError."""
    if archive.path.suffix.lower() == ".zip":
        yield from _in_zip(archive)
    else:
        inside = archive.path / archive.path.stem
        yield replace(archive, path=inside, file_id="", is_alone=False, unpacked=_unpacking(archive.path))


def again(archive: Candidate, name: str, size: int) -> Candidate:
    """A member of which the path is known."""
    inside = Path(name)
    within = name[len(archive.name) + 1 :]
    is_zip = archive.path.suffix.lower() == ".zip"
    unpacked = _of_zip(archive.path, within) if is_zip else _unpacking(archive.path)
    named = archive.named and not is_zip
    return replace(archive, path=inside, size=size, named=named, file_id="", is_alone=False, unpacked=unpacked)


def _in_zip(archive: Candidate) -> Iterator[Candidate | Unreadable]:
    try:
        with zipfile.ZipFile(archive.path) as opened:
            listed = opened.infolist()
    except (zipfile.BadZipFile, ValueError, EOFError, NotImplementedError) as fault:
        raise Broken(f"a zip archive that cannot be read: {fault}") from fault
    if len(listed) > MOST_MEMBERS:
        raise Broken(f"a zip archive of more than {MOST_MEMBERS:,} members")
    if is_bomb(sum(member.file_size for member in listed), archive.size):
        raise Broken("a zip archive that unpacks to far more than any transcript")
    for member in listed:
        if member.is_dir() or stat.S_ISLNK(member.external_attr >> 16) or FOREIGN & set(member.filename.split("/")):
            continue
        path = archive.path / member.filename
        if reason := _refusal(member):
            yield Unreadable(utf8(str(path)), 0, reason)
        elif os.path.splitext(member.filename)[1].lower() in TEXTS:  # noqa: PTH122 - a name in an archive is no path
            unpacked = _of_zip(archive.path, member.filename)
            yield replace(
                archive, path=path, size=member.file_size, named=False, file_id="", is_alone=False, unpacked=unpacked
            )


def _refusal(member: zipfile.ZipInfo) -> str:
    name, suffix = PurePosixPath(member.filename), PurePosixPath(member.filename).suffix.lower()
    if name.is_absolute() or ".." in name.parts or "\\" in member.filename or ":" in name.parts[0]:
        return "a name that leads out of the archive"
    if suffix in ARCHIVES:
        return "an archive within an archive; unpack it first"
    if suffix in DATABASE_SUFFIXES:
        return "a database within an archive; unpack it first"
    if member.flag_bits & 1 and suffix in TEXTS:
        return "encrypted"
    if is_bomb(member.file_size, member.compress_size):
        return "unpacks to far more than any transcript"
    return ""


def is_bomb(size: int, packed: int) -> bool:
    """Whether so many bytes of so few are made to do harm."""
    return size > SMALL and size > DENSEST * packed


def _of_zip(path: Path, name: str) -> Callable[[], BinaryIO]:
    def opened() -> BinaryIO:
        try:
            with zipfile.ZipFile(path) as archive:
                return _buffered(cast("BinaryIO", archive.open(name)), archive.getinfo(name).file_size)
        except (zipfile.BadZipFile, KeyError, RuntimeError, NotImplementedError) as fault:
            raise Broken(f"cannot be unpacked: {fault}") from fault

    return opened


def _unpacking(path: Path) -> Callable[[], BinaryIO]:
    def opened() -> BinaryIO:
        most = max(SMALL, DENSEST * path.stat().st_size)
        if path.suffix.lower() == ".gz":
            return _buffered(cast("BinaryIO", gzip.open(path)), most)
        return _buffered(import_module(ZSTD).open(path), most)

    return opened


def _buffered(stream: BinaryIO, most: int) -> BinaryIO:
    return io.BufferedReader(_Unpacked(stream, most))


class _Unpacked(io.RawIOBase):
    """A stream that is unpacked as it is read, that never gives more than it may, and whose faults are OSErrors."""

    def __init__(self, stream: BinaryIO, most: int) -> None:
        self._stream = stream
        self._left = most

    def readable(self) -> bool:
        return True

    def readinto(self, target: Any) -> int:
        """Fill the target; 0 at the end."""
        try:
            found = self._stream.read(len(target))
        except (zlib.error, EOFError, zipfile.BadZipFile, gzip.BadGzipFile, import_module(ZSTD).ZstdError) as fault:
            raise Broken(f"damaged where it was packed: {fault}") from fault
        self._left -= len(found)
        if self._left < 0:
            raise Broken("unpacks to far more than any transcript")
        target[: len(found)] = found
        return len(found)

    def close(self) -> None:
        self._stream.close()
        super().close()
