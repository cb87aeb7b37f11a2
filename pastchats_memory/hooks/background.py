"""Indexing after a session: detached, at low priority, one at a time, and gone when it is done."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

NICENESS = 19
LONGEST_S = 1800
"""After so long a run that hangs ends itself; the next one goes on where it was."""


def start(folder: Path, database: Path, transcript: Path) -> None:
    """Begin to index a transcript in a process of its own and return at once. Raises OSError."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    subprocess.Popen(  # noqa: S603 - our own interpreter and module; the path is an argument, never a shell's
        [sys.executable, "-m", "pastchats_memory.hooks.background", str(folder), str(database), str(transcript)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        close_fds=True,
        cwd="/",
    )


def run(folder: Path, database: Path, transcript: Path) -> None:
    """Index the transcript unless another run of this kind is under way; that one's turn leaves it to the next event."""
    import signal

    from pastchats_memory.memory import Memory

    signal.alarm(LONGEST_S)  # its default action ends the process; the database takes that as it takes a kill
    os.nice(NICENESS)
    lock = os.open(folder / "indexing.lock", os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return
    with Memory.open(database) as memory:
        memory.index([transcript])


if __name__ == "__main__":
    from pastchats_memory.errors import MemoryFault
    from pastchats_memory.hooks.log import note

    _folder, _database, _transcript = map(Path, sys.argv[1:])
    try:
        run(_folder, _database, _transcript)
    except MemoryFault as fault:
        note(_folder, "background", "index", fault.kind)
