"""The bytes of what is packed: members of zip archives, gzip and zstd files, never more than they may unpack to."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

if TYPE_CHECKING:
    import zipfile

ARCHIVES = frozenset({".zip", ".gz", ".zst"})
ZSTD = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
SMALL = 256 * 1024 * 1024
"""Bytes that anything may unpack to."""
DENSEST = 200
"""Times its packed size that more than that may unpack to: transcripts pack to a fifth or a tenth, bombs to a thousandth."""


class Broken(OSError):
    """The archive, or a member of it, cannot be unpacked; the message says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.strerror = reason


def is_archive(path: str) -> bool:
    """Whether it is read through, by its name."""
    return path.lower().endswith(tuple(ARCHIVES))


def unpacking(path: Path, within: str = "") -> Callable[[], BinaryIO]:
    """A way to open the bytes of an archive's member, which a zip alone has by name; it raises OSError."""
    return _of_zip(path, within) if path.suffix.lower() == ".zip" else _of_one(path)


def archive_of(path: Path) -> Path | None:
    """The archive that a path leads into; None where it leads into none."""
    return next((parent for parent in path.parents if is_archive(str(parent)) and parent.is_file()), None)


def is_bomb(size: int, packed: int) -> bool:
    """Whether so many bytes of so few are made to do harm."""
    return size > SMALL and size > DENSEST * packed


def _of_zip(path: Path, name: str) -> Callable[[], BinaryIO]:
    import zipfile  # brings much, and a question seldom needs what is packed

    def opened() -> BinaryIO:
        try:
            found = path.stat()
            archive = _zip(path, found.st_ino, found.st_size, found.st_mtime_ns)
            member = archive.getinfo(name)
            if member.compress_type == zipfile.ZIP_LZMA:  # a few bytes may ask for four gigabytes to be unpacked with
                raise Broken("packed by LZMA; unpack it first")
            return _buffered(cast("BinaryIO", archive.open(name)), member.file_size)
        except (zipfile.BadZipFile, KeyError, RuntimeError, ValueError) as fault:
            raise Broken(f"cannot be unpacked: {fault}") from fault

    return opened


@lru_cache(1)
def _zip(path: Path, *_state: int) -> zipfile.ZipFile:
    """The archive that was asked for last stays open: to read its list of members anew for each takes the square of their number."""
    import zipfile

    return zipfile.ZipFile(path)


def _of_one(path: Path) -> Callable[[], BinaryIO]:
    import gzip

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
        import zipfile
        import zlib

        try:
            found = self._stream.read(len(target))
        except (zlib.error, EOFError, ValueError, zipfile.BadZipFile, import_module(ZSTD).ZstdError) as fault:
            raise Broken(f"damaged where it was packed: {fault}") from fault
        self._left -= len(found)
        if self._left < 0:
            raise Broken("unpacks to far more than any transcript")
        target[: len(found)] = found
        return len(found)

    def close(self) -> None:
        self._stream.close()
        super().close()
