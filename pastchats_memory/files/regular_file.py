"""Open a file that something else may have replaced since it was found."""

import errno
import os
import stat
from io import BufferedReader
from pathlib import Path

_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class NotRegularFile(OSError):
    """A pipe, a device or a folder stands where a file was."""


def open_regular(path: Path, *, may_be_link: bool = True) -> BufferedReader:
    """Open a regular file for its bytes, or the one that a link leads to, if it may be a link.

    A pipe is not waited for, and a device is not read, since it may have no end. Raises OSError, for these NotRegularFile.
    """
    descriptor = os.open(path, _FLAGS if may_be_link else _FLAGS | getattr(os, "O_NOFOLLOW", 0))
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        kind = errno.EISDIR if stat.S_ISDIR(mode) else errno.EINVAL
        raise NotRegularFile(kind, os.strerror(kind) if kind == errno.EISDIR else "it is no regular file", str(path))
    return os.fdopen(descriptor, "rb")
