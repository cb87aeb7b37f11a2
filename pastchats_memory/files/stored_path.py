"""Resolve a stored path to its file; paths with a secret are stored redacted."""

import os
from itertools import islice
from pathlib import Path, PurePosixPath, PureWindowsPath

from pastchats_memory.text.encoding import utf8

MARKS = ("[redacted:", "\\udc")
"""Marks in a stored path for a redacted part, and for a byte that is no UTF-8."""
MOST_NAMES = 10_000
"""Names of a folder that are tried."""


def resolve_path(stored: str) -> Path:
    """Return the first file whose path would be stored so; without one, the path unchanged."""
    path = Path(stored)
    if not any(mark in stored for mark in MARKS) or os.path.lexists(path):
        return path
    found = Path(path.anchor)
    for part in path.parts[len(found.parts) :]:
        found = found / part if not any(mark in part for mark in MARKS) else _find_in_folder(found, part)
    return found if os.path.lexists(found) else path


def _find_in_folder(folder: Path, stored: str) -> Path:
    from pastchats_memory.redact import redact_path  # many patterns, and hardly a name has had a token in it

    try:
        with os.scandir(folder) as entries:
            for entry in islice(entries, MOST_NAMES):
                if Path(redact_path(utf8(entry.path))).name == stored:
                    return Path(entry.path)
    except OSError:
        pass
    return folder / stored


def other_machine(stored: str) -> str | None:
    """Return the machine of a stored path such as `laptop:/home/ada/a.jsonl`; None for a path of this machine."""
    host, separator, path = stored.partition(":")
    is_elsewhere = (
        separator and len(host) > 1 and (PurePosixPath(path).is_absolute() or PureWindowsPath(path).is_absolute())
    )
    return host if is_elsewhere else None
