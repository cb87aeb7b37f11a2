"""Fulfil requests to index: detached, at low priority, one process at a time."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pastchats_memory.errors import MemoryFault, UsageFault
from pastchats_memory.hooks.spool import EVERY_AGENT, IndexRequest, begin_attempt, list_waiting, parse_request
from pastchats_memory.hooks.state import find_state

if TYPE_CHECKING:
    from pastchats_memory.memory import Memory

NICENESS = 19
NO_WINDOW: int = getattr(subprocess, "CREATE_NO_WINDOW", 0)
"""Keeps Windows from opening a console; other systems know no such flag."""
LONGEST_S = 1800
"""After so long a run that hangs ends itself; the next one goes on where it was."""


def start(folder: Path | None, request: IndexRequest | None = None) -> None:
    """Start a process that fulfils what waits in a folder, and return at once.

    Args:
        folder: of the hooks' state; None if there is none.
        request: a request that could not be written down; it is handed over instead.

    Raises:
        OSError: no process can be started; what waits in the folder goes on waiting.
    """
    handed_over = [] if request is None else [request.encode()]
    subprocess.Popen(  # noqa: S603 - our own interpreter and module; the paths are arguments, never a shell's
        # In UTF-8 mode every path of a request has a name, whatever the agent's locale is.
        [sys.executable, "-X", "utf8", "-m", "pastchats_memory.hooks.background", str(folder or ""), *handed_over],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        creationflags=NO_WINDOW,
        close_fds=True,
        cwd="/",
    )


def run(folder: Path) -> None:
    """Fulfil each waiting request once, unless another process does so already.

    A request is removed after its turns are stored, so a killed process repeats it. Raises OSError.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(folder / "indexing.lock", blocking=False, mode=0o600, fallback_to_soft=False)
    tried: set[str] = set()
    while files := [file for file in list_waiting(folder) if file.name not in tried]:
        try:
            with lock:  # released before the next look: a request may have come just before
                tried |= {_try_request(folder, file) for file in files}
        except Timeout:
            return


def _try_request(folder: Path, file: Path) -> str:
    """Fulfil the request in a file, and return the name under which it still waits if that fails."""
    from pastchats_memory.hooks.log import note

    try:
        attempt = begin_attempt(file)
    except FileNotFoundError:
        return file.name
    if attempt is None:
        note(folder, "background", "index", "given up")
        return file.name
    request = parse_request(attempt.read_bytes())
    try:
        if request is None:  # no program of ours wrote it
            note(folder, "background", "index", "no request")
        else:
            fulfil(request)
    except (MemoryFault, OSError) as fault:
        note(folder, "background", "index", getattr(fault, "kind", type(fault).__name__))
    else:
        attempt.unlink(missing_ok=True)
    return attempt.name


def fulfil(request: IndexRequest) -> None:
    """Index the transcript of a request, and what else the agent's history has."""
    from pastchats_memory.config import load
    from pastchats_memory.memory import Memory

    paths = [Path(request.transcript)] if request.transcript else []
    paths = [path for path in (*paths, *_find_histories(request.agent)) if path.exists()]
    if not paths:
        return
    config = load(request.database)
    with Memory.open(config.database, config=config) as memory:
        memory.index(paths)
        memory.store_notes()
        if config.judge_after_sessions:
            _judge(memory, request, config.judge_after_sessions)


def _judge(memory: "Memory", request: IndexRequest, most: int) -> None:
    """Let the configured judge label the newest episodes, and log what that cost."""
    from pastchats_memory.hooks.log import note

    try:
        plan = memory.plan_judging(None, most)
        done = memory.judge_automatically(plan)
        facts: tuple[str, ...] = (f"{done.calls} calls", f"{done.tokens} tokens", f"{len(done.sheets)} labels")
    except MemoryFault as fault:  # the session is indexed all the same
        facts = (fault.kind,)
    if (folder := find_state(request.database)) is not None:
        note(folder, "background", "judge", *facts)


def _find_histories(agent: str) -> list[Path]:
    """Return the places of an agent's transcripts; none without a home folder."""
    from pastchats_memory.formats.registry import load_format, locations_of
    from pastchats_memory.memory.indexing import find_environment, find_histories

    try:
        if agent == EVERY_AGENT:
            return [history.path for history in find_histories()]
        return list(locations_of(load_format(agent), find_environment()))
    except UsageFault:
        return []


def main(folder: str, *handed_over: str) -> None:
    """Run as the detached process."""
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    if sys.platform != "win32":
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(LONGEST_S)  # its default action ends the process; the database takes that as it takes a kill
    for text in handed_over:
        if (request := parse_request(text)) is not None:
            fulfil(request)
    if folder and Path(folder).is_dir():
        run(Path(folder))


if __name__ == "__main__":
    main(*sys.argv[1:])
