"""Read packed bytes: members of zip archives, gzip and zstd files, within limits."""

import io
import os
import sys
from collections.abc import Callable
from functools import lru_cache, partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol, cast

from pastchats_memory.files.regular_file import open_regular

if TYPE_CHECKING:
    import zipfile

ARCHIVES = frozenset({".zip", ".gz", ".zst", ".zstd"})
ZSTD = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
SMALL_SIZE = 16 * 1024 * 1024
"""Bytes that any file may unpack to."""
MOST_DENSITY = 50
"""Ratio to which a larger file may unpack. Of 24 large transcripts the densest packs to a thirteenth, bombs to a thousandth."""
MOST_PARTS = 20_000
"""Parts of a gzip file. Each takes time, and bgzip makes one of 64 KiB."""
AT_ONCE = 1 << 16
"""Packed bytes of one read."""
GZIP = 31
"""The zlib window code for gzip's header and checksum."""


class BrokenArchive(OSError):
    """An archive, or a member, that cannot be unpacked; the message says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.strerror = reason


def is_archive(path: str) -> bool:
    """Check by its name whether a file is an archive."""
    return path.lower().endswith(tuple(ARCHIVES))


def open_member(path: Path, within: str = "") -> Callable[[], BinaryIO]:
    """Return a function that opens the bytes of an archive's member, of which only zip has names. It raises OSError."""
    return partial(_open_zip_member, path, within) if path.suffix.lower() == ".zip" else partial(_open_single, path)


def archive_of(path: Path) -> Path | None:
    """Return the archive that a path leads into, or None."""
    return next((parent for parent in path.parents if is_archive(str(parent)) and parent.is_file()), None)


def is_bomb(size: int, packed: int) -> bool:
    """Check whether so many bytes from so few packed ones are an attack."""
    return size > SMALL_SIZE and size > MOST_DENSITY * packed


def _open_zip_member(path: Path, name: str) -> BinaryIO:
    import zipfile  # brings much, and a question seldom needs what is packed

    try:
        found = path.stat()
        archive = _zip(path, found.st_ino, found.st_size, found.st_mtime_ns)
        member = archive.getinfo(name)
        if member.compress_type == zipfile.ZIP_LZMA:  # a few bytes may ask for four gigabytes to be unpacked with
            raise BrokenArchive("packed by LZMA; unpack it first")
        return _limit(cast("BinaryIO", archive.open(name)), member.file_size)
    except (zipfile.BadZipFile, KeyError, RuntimeError, ValueError) as fault:
        raise BrokenArchive(f"cannot be unpacked: {fault}") from fault


@lru_cache(1)
def _zip(path: Path, *_state: int) -> "zipfile.ZipFile":
    """Return the archive; the last one stays open, because reading its list for each member takes quadratic time."""
    import zipfile
    from weakref import finalize

    file = open_regular(path)
    try:
        archive = zipfile.ZipFile(file)
    except BaseException:
        file.close()
        raise
    finalize(archive, file.close)  # an archive closes only what it opened by a path
    return archive


def _open_single(path: Path) -> BinaryIO:
    file = open_regular(path)
    most = max(SMALL_SIZE, MOST_DENSITY * os.fstat(file.fileno()).st_size)
    if path.suffix.lower() == ".gz":
        return _limit(_Gzip(file), most)
    return _limit(_Zstd(file, import_module(ZSTD).open(file)), most)


class _Gzip:
    """The parts of a gzip file in sequence, of which the standard library's reader accepts any number."""

    def __init__(self, file: BinaryIO) -> None:
        import zlib

        self._file = file
        self._begin = partial(zlib.decompressobj, GZIP)
        self._packed = b""
        self._part = self._begin()
        self._parts = 0
        self._is_between = True

    def read(self, most: int) -> bytes:
        """Return at most that many bytes; none at the end. Raises zlib.error, EOFError, OSError."""
        while True:
            self._packed = self._packed or self._file.read(AT_ONCE)
            is_end = not self._packed
            if self._is_between:
                self._packed = self._packed.lstrip(b"\0")  # tapes fill their last block up
                if is_end:
                    return b""
                if not self._packed:
                    continue
                self._parts += 1
                if self._parts > MOST_PARTS:
                    raise BrokenArchive(f"put together from more than {MOST_PARTS:,} parts; unpack it first")
                self._part = self._begin()
            found = self._part.decompress(self._packed, most)
            self._packed = self._part.unconsumed_tail or self._part.unused_data
            self._is_between = self._part.eof
            if found:
                return found
            if is_end and not self._is_between:
                raise EOFError("it ends before its end")

    def close(self) -> None:
        self._file.close()


class _Zstd:
    """The text of a zstd file, which closes the file with it."""

    def __init__(self, file: BinaryIO, unpacked: BinaryIO) -> None:
        self._file = file
        self.read = unpacked.read

    def close(self) -> None:
        self._file.close()


class _Stream(Protocol):
    def read(self, most: int, /) -> bytes: ...
    def close(self) -> None: ...


def _limit(stream: _Stream, most: int) -> BinaryIO:
    return io.BufferedReader(_LimitedStream(stream, most))


class _LimitedStream(io.RawIOBase):
    """A stream that unpacks as it is read, stops at its limit, and raises only OSError."""

    def __init__(self, stream: _Stream, most: int) -> None:
        self._stream = stream
        self._left = most

    def readable(self) -> bool:
        return True

    def readinto(self, target: Any) -> int:
        """Fill the target; return 0 at the end."""
        import zipfile
        import zlib

        try:
            found = self._stream.read(len(target))
        except (zlib.error, EOFError, ValueError, zipfile.BadZipFile, import_module(ZSTD).ZstdError) as fault:
            raise BrokenArchive(f"damaged where it was packed: {fault}") from fault
        self._left -= len(found)
        if self._left < 0:
            raise BrokenArchive("unpacks to far more than any transcript")
        target[: len(found)] = found
        return len(found)

    def close(self) -> None:
        self._stream.close()
        super().close()
