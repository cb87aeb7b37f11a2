"""Turn a path that a person names into the glob that excludes it."""

from __future__ import annotations

import glob
import os

from pastchats_memory.errors import UsageFault
from pastchats_memory.text.encoding import utf8


def make_pattern(path: str) -> str:
    """Return the glob of a path: a glob as it is, a name without a slash as a file or folder here.

    Raises UsageFault if it is blank.
    """
    if not path.strip():
        raise UsageFault("a path is empty", "Is the variable that it comes from set?")
    if glob.has_magic(path) and not os.path.lexists(path):
        return path
    return glob.escape(utf8(os.path.abspath(os.path.expanduser(path))))  # noqa: PTH100, PTH111 - resolve() would follow links
