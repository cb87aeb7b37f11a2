"""Let one index run at a time embed, so that none embeds what another one embeds."""

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from pastchats_memory.ingest.forecast import other_runs
from pastchats_memory.store.database import Database

LOCK_END = "-lock"
"""End of the name of the file that runs lock. It is empty, and removed when the lock is released."""
LONGEST_WAIT_S = 600.0
POLL_S = 0.05
"""How often a waiting run looks."""


@contextmanager
def hold_run_lock(database: Database) -> Iterator[None]:
    """Hold the lock of the runs; what another run has embedded is then in the database.

    The system frees the lock of a killed process. Without locks, two runs embed the same texts. Afterwards another run
    gets the time to take the lock.
    """
    from filelock import FileLock  # brings asyncio, which a run without anything new has no use for

    path = database.path.with_name(database.path.name + LOCK_END)
    lock = FileLock(
        path, LONGEST_WAIT_S, mode=0o600, fallback_to_soft=False, poll_interval=POLL_S
    )  # a kill would not free a soft one
    with suppress(OSError, NotImplementedError):  # no locks here, or the other process stands still
        lock.acquire()
    try:
        yield
    finally:
        if lock.is_locked:
            with suppress(OSError):  # Windows removes no open file
                path.unlink()
        lock.release()
    if other_runs(database):
        time.sleep(2 * POLL_S)
