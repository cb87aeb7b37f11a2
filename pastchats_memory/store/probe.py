"""Find out what a file system refuses, by doing in it what SQLite does.

SQLite reports a file system without locks as a busy database, and most other faults as an I/O error. Its vector extension
reports even a full disk as a broken table.
"""

import mmap
import os
import stat
import sys
from contextlib import suppress
from pathlib import Path

CHUNK_BYTES = 1024 * 1024 * 4
"""More than sqlite-vec writes at once: 1,024 vectors of 768 numbers take three quarters of it."""
MAP_BYTES = 1 << 15
"""Of the index of a write-ahead log."""


def find_refusal(database: Path) -> OSError | None:
    """Return the error with which the system refuses to lock, map or write a file beside the database, or None.

    The file is as long as the database, so a limit on the size of files counts as well. It takes a few blocks.
    """
    scratch = database.with_name(f"{database.name}.{os.getpid()}.partial")
    try:
        descriptor = os.open(scratch, os.O_CREAT | os.O_EXCL | os.O_RDWR, stat.S_IRUSR | stat.S_IWUSR)
    except OSError as fault:
        return fault
    try:
        if sys.platform != "win32":
            os.lockf(descriptor, os.F_TLOCK, 1)
        with suppress(FileNotFoundError):
            os.lseek(descriptor, database.stat().st_size, os.SEEK_SET)
        rest = CHUNK_BYTES
        while rest > 0:  # a full disk takes a part at first
            rest -= os.write(descriptor, bytes(rest))
        mmap.mmap(descriptor, MAP_BYTES).close()
    except OSError as fault:
        return fault
    finally:
        os.close(descriptor)
        with suppress(OSError):
            scratch.unlink()
    return None
