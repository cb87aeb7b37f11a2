"""Describe."""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path

from pastchats_memory.model import utf8

MARKS = ("[redacted:", "\\udc")
"""What stands in a stored name in the place of a token, and of a byte that is no UTF-8."""
MOST_NAMES = 10_000
"""Of a folder, among which the one is looked for."""


def resolve_path(stored: str) -> Path:
    """The file of that name, or the first whose name would be stored so; the name as it is where there is none."""
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
