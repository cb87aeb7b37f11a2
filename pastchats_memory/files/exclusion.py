"""Say what stays out of a memory, and what never leaves it."""

import glob
import os
from collections.abc import Callable
from typing import NamedTuple

from pastchats_memory.errors import UsageFault
from pastchats_memory.text.encoding import utf8


class SharingLimits(NamedTuple):
    """What never leaves this machine, and what is never stored here."""

    private: frozenset[str]
    """Projects."""
    excludes: Callable[[str], bool]
    """Says of a project or path whether it is excluded."""

    def keep_here(self, project: str, path: str = "") -> bool:
        """Return whether a row of a project and a file stays here."""
        return project in self.private or self.excludes(project) or (path != "" and self.excludes(path))


def make_pattern(path: str) -> str:
    """Return a glob as it is, or that of a file or folder here. Raises UsageFault if the path is blank."""
    if not path.strip():
        raise UsageFault("a path is empty", "Is the variable that it comes from set?")
    if glob.has_magic(path) and not os.path.lexists(path):
        return path
    return glob.escape(utf8(os.path.abspath(os.path.expanduser(path))))  # noqa: PTH100, PTH111 - resolve() would follow links
