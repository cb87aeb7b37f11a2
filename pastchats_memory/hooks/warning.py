"""Warn before an action that failed in this project before, once a session.

An agent waits for this at each call, so neither the model nor NumPy is imported. `warn` raises MemoryFault if the database
or the configuration cannot be read.
"""

from __future__ import annotations

from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from pastchats_memory.config import load, private_among
from pastchats_memory.episodes.known_failures import KnownFailure, PlannedCommand, PlannedEdit, find_before
from pastchats_memory.files.project import project_at
from pastchats_memory.formats.base.tools import parse_call
from pastchats_memory.hooks import session
from pastchats_memory.hooks.event import HookEvent
from pastchats_memory.hooks.state import find_state
from pastchats_memory.store import sources
from pastchats_memory.store.database import Database, open_database
from pastchats_memory.text.encoding import utf8
from pastchats_memory.text.shell import is_editor
from pastchats_memory.views.warning import render_warning


def warn(event: HookEvent, database: str | None) -> str | None:
    """Return the warning for the call of an event; None if it needs none."""
    if not event.cwd:
        return None
    project = utf8(project_at(event.cwd))
    actions = _find_actions(event, project)
    if not actions:
        return None
    config = load(database, here=Path(event.cwd))
    state = find_state(database)
    session_id = event.session and utf8(event.session)
    with open_database(config.database, vec0=False) as opened:
        seen = _hide_private(opened, project)
        for action in actions:
            known = find_before(seen, project, action, lambda one: one.conversation_id == session_id)
            if known is not None and _claim(state, event.session, known):
                return render_warning(known)
    return None


def _hide_private(database: Database, project: str) -> Database:
    """Return the database without private projects other than this one: a missing program is a matter of all projects."""
    private, unchecked = sources.private_projects(database)
    return database.hide((private | private_among(unchecked)) - {project})


def _find_actions(event: HookEvent, project: str) -> list[PlannedCommand | PlannedEdit]:
    """Return what the call is about to do: a command, or changes of files."""
    call = parse_call(event.tool, event.arguments)
    if call.command:
        return [PlannedCommand(utf8(call.command), project)]
    files = utf8(call.label).partition(" ")[2].split(", ")
    return [PlannedEdit(path, project) for path in files] if is_editor(call.name) else []


def _claim(state: Path | None, name: str | None, known: KnownFailure) -> bool:
    """Return whether the session gets this cure for the first time, also if two calls ask at once."""
    if state is None or name is None:
        return True
    with suppress(OSError):  # without a folder that can be written, a repeated warning is better than none
        return session.claim(state, name, sha256(known.what.encode()).hexdigest()[:16])
    return True
