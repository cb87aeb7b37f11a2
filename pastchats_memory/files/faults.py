"""Name the cause of a system's error, and what to do about it."""

import errno
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from pastchats_memory.errors import DatabaseMissing, DatabaseReadOnly, DiskFull, MemoryFault, StoreFault

ELSEWHERE = "Name a database on a local disk with --db."
AGAIN = "run the same command again; nothing is lost."


class Cause(NamedTuple):
    """The explanation of an error number."""

    ours: type[MemoryFault]
    message: str
    hint: str


CAUSES: Mapping[int, Cause] = MappingProxyType({
    errno.ENOSPC: Cause(DiskFull, "the disk is full", f"Free some space and {AGAIN}"),
    errno.EDQUOT: Cause(DiskFull, "your quota of the disk is used up", f"Free some of your own space and {AGAIN}"),
    errno.EFBIG: Cause(
        DiskFull, "there is no room, because a limit on the size of files is reached",
        f"Raise it (`ulimit -f unlimited`) or use a file system for large files, and {AGAIN}",
    ),
    errno.EROFS: Cause(DatabaseReadOnly, "the file system is read-only", "Name a place that may be written, with --db."),
    errno.EACCES: Cause(DatabaseReadOnly, "it may not be opened, made or written", "Check the permissions of the file and of its folders."),
    errno.EPERM: Cause(DatabaseReadOnly, "the system does not permit it", "Check the permissions and attributes of the file."),
    errno.EMFILE: Cause(
        StoreFault, "this process may not open any more files", f"Raise the limit (`ulimit -n 1024`) and {AGAIN}"
    ),
    errno.ENFILE: Cause(StoreFault, "the system cannot open any more files", f"Close other programs and {AGAIN}"),
    errno.ENOMEM: Cause(StoreFault, "there is not enough memory", f"Close other programs, or raise the limit, and {AGAIN}"),
    errno.EAGAIN: Cause(StoreFault, "the system refuses another process or thread", f"Raise the limit (`ulimit -u`) and {AGAIN}"),
    errno.ENOLCK: Cause(StoreFault, "the file system cannot lock files", f"Network folders often cannot. {ELSEWHERE}"),
    errno.ENODEV: Cause(
        StoreFault, "the file system cannot map shared memory", f"Network and container folders often cannot. {ELSEWHERE}"
    ),
    errno.EOPNOTSUPP: Cause(StoreFault, "the file system lacks an operation", ELSEWHERE),
    errno.EIO: Cause(StoreFault, "the disk reports an error", "Check the disk, and name a database on another one with --db."),
    errno.ESTALE: Cause(StoreFault, "the network folder was replaced", "Mount it again."),
    errno.ENAMETOOLONG: Cause(DatabaseMissing, "the name is too long", "Use shorter names of files and folders."),
    errno.ELOOP: Cause(DatabaseMissing, "the path has too many symbolic links", "Correct the links, or name another path."),
    errno.ENOTDIR: Cause(DatabaseMissing, "a part of the path is a file, not a folder", "Name another path."),
    errno.EISDIR: Cause(DatabaseMissing, "there is a folder in place of the file", "Move the folder away, or name another file."),
    errno.ENOENT: Cause(DatabaseMissing, "there is no such file or folder", "Name another path."),
    errno.ENXIO: Cause(DatabaseMissing, "it is not a file on a disk", "Name a file."),
})  # fmt: skip
"""What the environment can do to any command. Other numbers are bugs."""


def explain_os_error(fault: OSError, place: str) -> MemoryFault | None:
    """Return the explained error for a file or another place; None for a number that no environment explains."""
    cause = CAUSES.get(fault.errno or 0)
    if cause is None:
        return None
    details = f" ({fault.strerror})" if fault.strerror else ""
    return cause.ours(f"{place}: {cause.message}{details}", cause.hint)
