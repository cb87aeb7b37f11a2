"""Let only as many hooks answer at once as there are processors, and only as many wait as can answer in time.

If thirty agents ask at once, each of thirty answers would be too late. In turn, the first ones are in time, and the last
ones end early and silently.
"""

import os
import sys
import time

try:
    import fcntl
except ImportError:
    HAS_LOCKS = False
else:
    HAS_LOCKS = True
"""Whether the system has the locks that a process loses with its end."""
POLL_S = 0.02
WAITING_PER_PROCESSOR = 2
"""Hooks that wait for each processor: an answer takes a third of the time limit on an idle machine."""


def wait_in_queue(folder: str | None, give_up: float) -> bool:
    """Return whether this process may answer now; its place is free again when it and its children have ended.

    Without a folder that can be written there is no queue, and everybody may answer. The same holds for Windows.
    """
    if folder is None or not HAS_LOCKS:
        return True
    processors = os.cpu_count() or 1
    try:
        places = _open_places(folder, "answering", processors)
        if _take_one(places):
            return True
        queue = _open_places(folder, "waiting", processors * WAITING_PER_PROCESSOR)
        if not _take_one(queue):
            return False
        while time.monotonic() < give_up:
            if _take_one(places):
                for place in queue:
                    os.close(place)
                return True
            time.sleep(POLL_S)
    except OSError:  # a file system that is full or read-only, or has no locks
        return True
    return False


def _take_one(places: list[int]) -> bool:
    """Lock the first free place, and return whether there was one. Raises OSError on a file system without locks."""
    if sys.platform == "win32":
        return True
    for place in places:
        try:
            fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            continue
        return True
    return False


def _open_places(folder: str, kind: str, count: int) -> list[int]:
    places = f"{folder}/turns"
    os.makedirs(places, mode=0o700, exist_ok=True)  # noqa: PTH103 - pathlib takes long to import
    return [os.open(f"{places}/{kind}-{number}.lock", os.O_CREAT | os.O_RDWR, 0o600) for number in range(count)]
