"""Let only as many prompts be answered at once as there are processors.

If thirty agents ask at once, each of thirty answers would be too late. In turn, the first ones are in time, and the last
ones end early and silently.
"""

from __future__ import annotations

import fcntl
import os
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

LOOKS_S = 0.02


def wait_for_turn(folder: Path | None, give_up: float) -> bool:
    """Return whether this process may answer now; its turn lasts until it ends.

    Without a folder that can be written there are no turns, and everybody may answer.
    """
    try:
        places = _open_places(folder) if folder is not None else []
    except OSError:
        return True
    while places:
        for place in places:
            try:
                fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            except OSError:  # a file system without locks
                return True
            return True
        if time.monotonic() >= give_up:
            return False
        time.sleep(LOOKS_S)
    return True


def _open_places(folder: Path) -> list[int]:
    places = folder / "turns"
    places.mkdir(mode=0o700, parents=True, exist_ok=True)
    return [os.open(places / f"{number}.lock", os.O_CREAT | os.O_RDWR, 0o600) for number in range(os.cpu_count() or 1)]
