"""Answer an agent's hook: end in time with exit code 0 whatever breaks, with a whole block or nothing."""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from contextlib import suppress

from pastchats_memory.files.folders import JUDGING_VARIABLE, name_state
from pastchats_memory.hooks.limit import seconds_since_start
from pastchats_memory.hooks.server_socket import ask_server
from pastchats_memory.hooks.state import find_state, is_any_waiting, name_database

TYPE_CHECKING = False  # a hook does without the import of typing
if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pastchats_memory.formats.base.format import Format
    from pastchats_memory.formats.base.hooks import HookDialect
    from pastchats_memory.hooks.block import OpenMemory
    from pastchats_memory.hooks.event import HookEvent

    Work = Callable[[], bytes]

LIMIT_S = 2.0
"""From the start of the process to its end, unless PASTCHATS_MEMORY_HOOK_SECONDS says otherwise."""
AROUND_S = 0.2
"""Of that for the end of both processes."""
ANSWER_S = 0.5
"""What an answer takes on an idle machine; a hook that has less left does not begin with one."""
LONGEST_INPUT = 1 << 20
"""Bytes of stdin that are looked at."""
READ_S = 1.0
"""Where a thread reads stdin, what it gets for that however late this process is: an agent has written it by then."""
CAN_FORK = hasattr(os, "fork")
"""Whether a child can answer, which may hang or abort; elsewhere a thread does."""


def main(arguments: list[str]) -> None:
    """Answer an event of an agent, such as `["claude-code", "UserPromptSubmit"]`, and end the process with 0.

    A server of this memory answers if one listens. Otherwise a request to index is on disk before anything else is imported,
    a child answers, and this process waits for it until the limit. So a library that hangs or aborts does no harm, and an
    answer is passed on only if it is complete.
    """
    if os.environ.get(JUDGING_VARIABLE):
        os._exit(0)
    seconds = max(0.1, _seconds(os.environ.get("PASTCHATS_MEMORY_HOOK_SECONDS")) - AROUND_S)
    start = time.monotonic() - seconds_since_start()
    try:
        body = _read_input(start + seconds)
        answer = (
            None if body is None else ask_server(arguments, _find_database(arguments), body, start + seconds - ANSWER_S)
        )
        if answer is None:
            _respond_here(arguments, body, start + seconds)
        elif answer:
            _write(answer)
    except Exception as fault:  # noqa: BLE001 - the last resort: no fault of ours may cost anybody a prompt
        _log(arguments, getattr(fault, "kind", type(fault).__name__), time.monotonic() - start)
    finally:
        os._exit(0)


def _respond_here(arguments: list[str], body: bytes | None, give_up: float) -> None:
    """Respond without a server, if this hook gets a place in time.

    A hook waits for its place before it imports anything heavy. If many start at once, those that wait leave the processors
    to those that answer.
    """

    def is_admitted(state: str | None) -> bool:
        from pastchats_memory.hooks.answer_queue import wait_in_queue

        return wait_in_queue(state, give_up - ANSWER_S)

    def give(work: Work) -> bytes | None:
        return _answer_in_time(lambda: _log_faults(work, arguments), arguments, give_up)

    respond(arguments, body, _find_database(arguments), give, is_admitted)


def respond(
    arguments: list[str],
    body: bytes | None,
    database: str | None,
    give: Callable[[Work], bytes | None],
    is_admitted: Callable[[str | None], bool] = lambda _: True,
    *,
    folder: str | None = None,
    open_memory: OpenMemory | None = None,
) -> None:
    """Write down what is to be indexed, and answer an event if it has an answer.

    Args:
        arguments: the agent and the event.
        body: what the agent sends; None if it never came.
        database: the file; None for the configured one.
        give: gives the agent what the work returns, and returns it; None if there is no time left.
        is_admitted: tells, with the folder of the hooks' state, whether there is room for an answer that takes long.
        folder: whose configuration counts if the event names none; None for the working directory.
        open_memory: opens the memory of a configuration for a search; None to open it for one question.

    Raises:
        Exception: whatever the work raises.
    """
    from pastchats_memory.formats.registry import load_format

    format_ = load_format(arguments[0])
    agent = format_.hooks
    if agent is None:
        return
    action = agent.events[arguments[1]]
    state = name_state(database)
    received = _parse(arguments, body)._replace(folder=folder)
    if (action == "recall" or _briefs(agent, action, received)) and not is_admitted(state):
        _note(state, arguments, "stayed silent, since many hooks ran at once")
        return
    if action in ("greet", "compact", "index"):
        _request_index(find_state(database), agent.name, database, received.transcript)
    if state is not None and (action == "compact" or received.source == "compact"):
        from pastchats_memory.hooks.session import note_compaction

        note_compaction(find_state(database), received.session)
    elif action == "recall" and state is not None and is_any_waiting(state):
        from pastchats_memory.hooks import background

        background.start(find_state(database))
    did = "asked for an index run" if action in ("compact", "index") else "stayed silent"
    if _is_answered(action, received) or _briefs(agent, action, received):
        answer = give(lambda: _encode(_answer(format_, agent, arguments[1], received, database, open_memory)))
        if answer is None:
            did = "ran out of time"
        elif answer:
            from pastchats_memory.hooks.given import note_given

            did = f"gave {len(answer):,} bytes"
            kind = (
                "brief" if _briefs(agent, action, received) else "compact" if received.source == "compact" else action
            )
            note_given(state, agent.name, kind, received.session, name_database(database), answer)
    _note(state, arguments, did)


def _note(state: str | None, arguments: list[str], did: str) -> None:
    """Record for `doctor` what this hook did."""
    from pastchats_memory.hooks.calls import note_call

    if state is not None:
        note_call(state, arguments[0], arguments[1], did)


def _is_answered(action: str, received: HookEvent) -> bool:
    """Check whether an event may have an answer, before anything heavy is imported."""
    if action not in ("warn", "cure"):
        return action == "greet" or (action == "recall" and bool(received.prompt))
    from pastchats_memory.hooks.event import reports_error
    from pastchats_memory.text.shell import is_editor, is_shell

    if action == "warn":
        return is_shell(received.tool) or is_editor(received.tool)
    # Most calls succeed, and cost no more than this.
    return is_shell(received.tool) and bool(received.error or reports_error(received.response))


def _briefs(agent: HookDialect, action: str, received: HookEvent) -> bool:
    """Check whether a call starts a subagent, which has nothing but its prompt."""
    return action in ("warn", "brief") and received.tool in agent.subagents


def _find_database(arguments: list[str]) -> str | None:
    return arguments[3] if arguments[2:3] == ["--db"] else None


def _parse(arguments: list[str], body: bytes | None) -> HookEvent:
    """Return the event in a body; an empty one if the body is no JSON, since a session's end counts without it."""
    import json

    from pastchats_memory.hooks.event import HookEvent, parse_event

    try:
        return parse_event(json.loads(body or b"{}"))
    except (ValueError, RecursionError) as fault:
        _log(arguments, type(fault).__name__, 0.0)
        return HookEvent()


def _request_index(folder: Path | None, agent: str, database: str | None, transcript: str | None) -> None:
    """Write a request to index down, and start the process that fulfils it."""
    from pastchats_memory.hooks.spool import IndexRequest, add

    request = IndexRequest(agent, name_database(database), transcript)
    is_stored = False
    with suppress(OSError):  # a full or read-only disk: the request is handed over without one
        if folder is not None:
            add(folder, request)
            is_stored = True
    from pastchats_memory.hooks import background

    background.start(folder, None if is_stored else request)


def _answer_in_time(work: Callable[[], bytes], arguments: list[str], give_up: float) -> bytes | None:
    """Pass on the answer, and return it; None if it is not complete before the limit.

    Raises OSError if there can be no child.
    """
    answer = _run_in_child(work, give_up) if CAN_FORK else _run_in_thread(work, give_up)
    if answer is None:
        _log(arguments, "timeout", 0.0)
    if answer:
        _write(answer)
    return answer


def _write(answer: bytes) -> None:
    with suppress(OSError, AttributeError, ValueError):  # the agent is gone, or never opened a pipe
        os.write(sys.stdout.fileno(), answer)


def _run_in_child(work: Callable[[], bytes], give_up: float) -> bytes | None:
    """Return the result of a child, which may hang or abort; None if it is not complete when time is up."""
    if sys.platform == "win32":
        return None
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read_end)
        try:
            os.write(write_end, work())
        finally:
            os._exit(0)
    os.close(write_end)
    answer = _read_stream(read_end, give_up)
    if answer is None:
        os.kill(child, signal.SIGKILL)
    with suppress(ChildProcessError):
        os.waitpid(child, 0)
    return answer


def _run_in_thread(work: Callable[[], bytes | None], give_up: float) -> bytes | None:
    """Return the result of some work; None if it is not there when time is up."""
    from threading import Thread

    results: list[bytes | None] = []
    thread = Thread(target=lambda: results.append(work()), daemon=True)
    thread.start()
    thread.join(max(0.0, give_up - time.monotonic()))
    return results[0] if results else None


def _log_faults(work: Work, arguments: list[str]) -> bytes:
    start = time.monotonic()
    try:
        return work()
    except Exception as fault:  # noqa: BLE001 - the last resort: no fault of ours may cost anybody a prompt
        _log(arguments, getattr(fault, "kind", type(fault).__name__), time.monotonic() - start)
        return b""


def _encode(answer: dict[str, object] | None) -> bytes:
    import json

    return b"" if answer is None else json.dumps(answer).encode() + b"\n"


def _answer(
    format_: Format,
    agent: HookDialect,
    event: str,
    received: HookEvent,
    database: str | None,
    open_memory: OpenMemory | None,
) -> dict[str, object] | None:
    action = agent.events[event]
    if _briefs(agent, action, received):
        from pastchats_memory.formats.base.hooks import replaced_input
        from pastchats_memory.hooks.answers import brief_subagent

        arguments = brief_subagent(received, database, open_memory)
        return replaced_input(event, agent.input_key, arguments) if arguments else None
    if action in ("warn", "cure"):
        from pastchats_memory.hooks import warning

        context = (warning.warn if action == "warn" else warning.name_cure)(received, database)
    elif action == "greet":
        from pastchats_memory.hooks.session_start import greet

        context = greet(received, database, format_)
    else:
        context = _recall(format_, received, database, open_memory)
    return agent.context(event, context) if context else None


def _recall(format_: Format, received: HookEvent, database: str | None, open_memory: OpenMemory | None) -> str | None:
    """Return the context for a prompt; most prompts of a session steer it without a new topic, and get none."""
    from pastchats_memory.hooks.prompt import goes_on, is_worth_asking, strip_wrappers

    received = received._replace(prompt=strip_wrappers(received.prompt, format_))
    if goes_on(received.prompt):
        from pastchats_memory.hooks.session_start import recall_where

        return recall_where(received, database)
    if not is_worth_asking(received.prompt):
        return None
    from pastchats_memory.hooks import answers

    return answers.recall(received, database, open_memory)


def _read_input(give_up: float) -> bytes | None:
    """Return what the agent sends on stdin; None if it is not all there when time is up."""
    if CAN_FORK:
        return _read_stream(0, give_up)
    give_up = max(give_up, time.monotonic() + READ_S)
    return _run_in_thread(lambda: _read_stream(0), give_up)  # select takes no pipe on Windows


def _read_stream(descriptor: int, give_up: float | None = None) -> bytes | None:
    """Return all bytes up to the end of the stream or `LONGEST_INPUT`; None if they are not there when time is up.

    Bytes that are there already count however late this process is: with them a session's end names its transcript.
    """
    read = b""
    while len(read) < LONGEST_INPUT:
        if give_up is not None and not select.select([descriptor], [], [], max(0.0, give_up - time.monotonic()))[0]:
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
    from pastchats_memory.hooks.log import note

    if (folder := find_state(_find_database(arguments))) is not None:
        note(folder, *(argument[:40] for argument in arguments[:2]), kind, f"{seconds * 1000:.0f} ms")
