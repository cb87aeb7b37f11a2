"""Warn before an action that failed before, and name the cure after an error, each once a session.

An agent waits for this at each call, so neither the model nor NumPy is imported. `warn` and `name_cure` raise MemoryFault if the
database or the configuration cannot be read.
"""

import re
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

from pastchats_memory.config import load, private_among
from pastchats_memory.episodes.failed_calls import shows_failure
from pastchats_memory.episodes.known_failures import KnownFailure, PlannedCommand, PlannedEdit, find_after, find_before
from pastchats_memory.files.project import project_at
from pastchats_memory.formats.base import tools
from pastchats_memory.formats.base.values import mapping_of, text_of
from pastchats_memory.hooks import session
from pastchats_memory.hooks.event import HookEvent
from pastchats_memory.hooks.state import find_state
from pastchats_memory.store.database import Database, open_database
from pastchats_memory.store.failures import StoredFailure
from pastchats_memory.text.clean import clean
from pastchats_memory.text.encoding import utf8
from pastchats_memory.text.shell import is_editor
from pastchats_memory.views.warning import render_warning

_EXIT_LINE = re.compile(r"^Exit Code: (-?\d{1,9})[^\n]*$", re.MULTILINE)
"""Line of a result for the model, of Gemini CLI and Qwen Code."""


def warn(event: HookEvent, database: str | None) -> str | None:
    """Return the warning for the call of an event; None if it needs none."""
    project = utf8(project_at(event.cwd)) if event.cwd else ""
    actions = _find_actions(event, project)

    def find(opened: Database, is_given: Callable[[StoredFailure], bool]) -> KnownFailure | None:
        found = (find_before(opened, project, action, is_given) for action in actions)
        return next((known for known in found if known), None)

    return _answer(event, database, find) if actions else None


def name_cure(event: HookEvent, database: str | None) -> str | None:
    """Return the cure of the error that an event reports; None if there is no error, or no cure is known."""
    call = tools.parse_call(event.tool, event.arguments, folder=event.cwd or "")
    result = utf8(read_error(event, call))
    project = utf8(project_at(event.cwd)) if event.cwd else ""

    def find(opened: Database, is_given: Callable[[StoredFailure], bool]) -> KnownFailure | None:
        return find_after(opened, project, utf8(call.command), result, is_given)

    return _answer(event, database, find) if result else None


def read_error(event: HookEvent, call: tools.ToolCall) -> str:
    """Return the result of a command that failed, or what it wrote to its error channel; empty for any other."""
    if not call.command or event.error:
        return clean(event.error) if call.command else ""
    fields = mapping_of(event.response)
    error = text_of(fields.get("error")) or text_of(mapping_of(fields.get("error")).get("message"))
    if {"stdout", "stderr", "output", "exit_code", "exitCode"} & fields.keys():
        result = tools.parse_printed(fields)
    else:
        result = tools.parse_result(fields.get("llmContent") or event.response)
        result = tools.split_exit_code(result.text, _EXIT_LINE, failed=result.failed)
    text = clean(result.text or error)
    has_failed = error or tools.has_failed(call, result) or shows_failure(call.command, text)
    return text if has_failed else clean(text_of(fields.get("stderr")))


def _answer(
    event: HookEvent,
    database: str | None,
    find: Callable[[Database, Callable[[StoredFailure], bool]], KnownFailure | None],
) -> str | None:
    """Return the line for what is found, unless the session has it in its context."""
    if not event.cwd:
        return None
    config = load(database, here=Path(event.cwd))
    state = find_state(database)
    compacted = session.compacted_at(state, event.session) if state and event.session else ""
    session_id = event.session and utf8(event.session)

    def is_given(one: StoredFailure) -> bool:
        return one.conversation_id == session_id and not (one.timestamp or "~")[: len(compacted)] < compacted

    with open_database(config.database, vec0=False) as opened:
        known = find(opened, is_given) and find(_hide_private(opened, utf8(project_at(event.cwd))), is_given)
    if known is None:
        return None
    key = sha256(f"{known.what} {compacted}".encode()).hexdigest()[:16]
    return render_warning(known) if session.claim_once(state, event.session, key) else None


def _hide_private(database: Database, project: str) -> Database:
    """Return the database without other private projects, since a missing program is a matter of all projects."""
    from pastchats_memory.store import sources  # most calls have not failed before

    private, unchecked = sources.private_projects(database)
    return database.hide((private | private_among(unchecked)) - {project})


def _find_actions(event: HookEvent, project: str) -> list[PlannedCommand | PlannedEdit]:
    """Return what the call is about to do: a command, or changes of files."""
    call = tools.parse_call(event.tool, event.arguments, folder=event.cwd or "")
    if call.command:
        return [PlannedCommand(utf8(call.command), project, is_outside=call.is_outside)]
    files = utf8(call.label).partition(" ")[2].split(", ")
    return [PlannedEdit(path, project) for path in files] if is_editor(call.name) else []
