"""Index after a session: detached, at low priority, one process at a time."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from pastchats_memory.files.atomic import write_atomic

NICENESS = 19
LONGEST_S = 1800
"""After so long a run that hangs ends itself; the next one goes on where it was."""


def start(folder: Path, database: Path, transcript: Path) -> None:
    """Start to index a transcript in a process of its own, and return at once.

    Raises OSError.
    """
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
    """Index the transcript and whatever else waits.

    If another run does so, leave it waiting. Raises OSError.
    """
    waiting = folder / "waiting"
    waiting.mkdir(mode=0o700, parents=True, exist_ok=True)
    wish = json.dumps([str(database), str(transcript)]).encode()
    write_atomic(waiting / f"{hashlib.sha256(wish).hexdigest()[:24]}.json", wish)
    os.nice(NICENESS)
    lock = os.open(folder / "indexing.lock", os.O_CREAT | os.O_RDWR, 0o600)
    while wishes := sorted(waiting.glob("*.json")):  # again after each release: one may have come just before it
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
        for file in wishes:
            _fulfil(folder, file)
        fcntl.flock(lock, fcntl.LOCK_UN)


def _fulfil(folder: Path, file: Path) -> None:
    """Index the transcript that a file names.

    The file is deleted first: a crash must not repeat itself.
    """
    from pastchats_memory.errors import MemoryFault
    from pastchats_memory.hooks.log import note
    from pastchats_memory.memory import Memory

    try:
        wish = file.read_bytes()
        file.unlink()
    except FileNotFoundError:
        return  # another run was quicker
    try:
        database, transcript = json.loads(wish)
    except ValueError:  # the machine went down before it was on the disk
        note(folder, "background", "index", "torn wish")
        return
    signal.alarm(LONGEST_S)  # its default action ends the process; the database takes that as it takes a kill
    try:
        with Memory.open(Path(database)) as memory:
            memory.index([Path(transcript)])
    except MemoryFault as fault:
        note(folder, "background", "index", fault.kind)


if __name__ == "__main__":
    run(*map(Path, sys.argv[1:]))
