"""Answer an agent's hook: end in time with exit code 0 whatever breaks, with a whole block or nothing."""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
from contextlib import suppress

LIMIT_S = 2.0
"""From start to exit, unless PASTCHATS_MEMORY_HOOK_SECONDS says otherwise."""
AROUND_S = 0.2
"""Of that for the interpreter's own start, before any of this runs, and for the end of both processes."""
LONGEST_INPUT = 1 << 20
"""Bytes of stdin that are looked at."""
BUDGET_BYTES = 1500
"""Of the context that a prompt gets."""


def main(arguments: list[str]) -> None:
    """Answer an event of an agent, such as `["claude-code", "UserPromptSubmit"]`, and end the process with 0.

    A child does the work, and this process waits for it until the limit. So a library that hangs or aborts does no harm, and an
    answer is passed on only if it is complete.
    """
    seconds = max(0.1, _seconds(os.environ.get("PASTCHATS_MEMORY_HOOK_SECONDS")) - AROUND_S)
    give_up = time.monotonic() + seconds
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read_end)
        _work(arguments, write_end, give_up)
    os.close(write_end)
    answer = _read_until(read_end, give_up, 1 << 20)
    if answer is None:
        os.kill(child, signal.SIGKILL)
        _log(arguments, "timeout", seconds)
    os.waitpid(child, 0)
    if answer:
        with suppress(OSError, AttributeError, ValueError):  # the agent is gone, or never opened a pipe
            os.write(sys.stdout.fileno(), answer)
    os._exit(0)


def _work(arguments: list[str], write_end: int, give_up: float) -> None:
    """Write the answer into the pipe, and end; runs in the child."""
    start = time.monotonic()
    try:
        answer = _answer(arguments, give_up)
        if answer is not None:
            os.write(write_end, json.dumps(answer).encode() + b"\n")
    except Exception as fault:  # noqa: BLE001 - the last resort: no fault of ours may cost anybody a prompt
        _log(arguments, getattr(fault, "kind", type(fault).__name__), time.monotonic() - start)
    finally:
        os._exit(0)


def _answer(arguments: list[str], give_up: float) -> dict[str, object] | None:
    from pastchats_memory.formats.registry import load_format
    from pastchats_memory.hooks.event import event_of

    agent, event = load_format(arguments[0]).hooks, arguments[1]
    if agent is None:
        return None
    database = arguments[3] if arguments[2:3] == ["--db"] else None
    action = agent.events[event]
    body = _read_until(0, give_up, LONGEST_INPUT)
    received = event_of(json.loads(body or b"{}"))
    if action == "recall" and not _needs_recall(received.prompt):
        return None
    if action == "index" and agent.find_transcript and received.session and not received.transcript:
        from pathlib import Path

        from pastchats_memory.formats.base.locations import Environment

        found = agent.find_transcript(received.session, Environment(os.environ, Path.home(), sys.platform))
        received = received._replace(transcript=str(found) if found else None)

    from pastchats_memory.hooks import events

    context = getattr(events, action)(received, database)
    return agent.context(event, context) if context else None


def _needs_recall(prompt: str) -> bool:
    """Return whether the prompt needs recall.

    If so, the model begins to load in the background.

    Most prompts of a session steer it without a new topic: for them neither NumPy nor the memory is imported.
    """
    from pastchats_memory.hooks.prompt import query_for

    if query_for(prompt) is None:
        return False
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # NumPy would start threads that nothing here has work for
    from pastchats_memory.embed.packaged import load_in_background

    load_in_background()
    return True


def _read_until(descriptor: int, give_up: float, most: int) -> bytes | None:
    """Return all bytes up to the end of the stream or `most`.

    None if time was up before.
    """
    read = b""
    while len(read) < most:
        left = give_up - time.monotonic()
        if left <= 0 or not select.select([descriptor], [], [], left)[0]:
            return None
        piece = os.read(descriptor, 1 << 16)
        if not piece:
            break
        read += piece
    return read


def _seconds(text: str | None) -> float:
    try:
        return min(600.0, max(0.1, float(text))) if text else LIMIT_S
    except ValueError:
        return LIMIT_S


def _log(arguments: list[str], kind: str, seconds: float) -> None:
    from pastchats_memory.config import state_folder
    from pastchats_memory.hooks.log import note

    note(state_folder(), *(argument[:40] for argument in arguments[:2]), kind, f"{seconds * 1000:.0f} ms")
