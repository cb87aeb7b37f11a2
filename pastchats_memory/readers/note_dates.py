"""The day that a path tells: `2026-01-31-foo.md`, `logs/2026/01/31.md`."""

from __future__ import annotations

import re
from pathlib import PurePath

from pastchats_memory.readers.times import LOCAL, iso_utc

COMPONENTS = 4
"""Of a path, so many from its end are looked at."""

_DAY = re.compile(r"(?<!\d)((?:19|20)\d\d)[-_./]?(0[1-9]|1[0-2])[-_./]?(0[1-9]|[12]\d|3[01])(?!\d)")


def date_in_path(path: PurePath) -> str | None:
    """The first moment, in UTC, of the last local day that the end of the path names; None without one."""
    days = _DAY.findall("/".join(path.parts[-COMPONENTS:]))
    return next((moment for day in reversed(days) if (moment := iso_utc("-".join(day), LOCAL))), None)
