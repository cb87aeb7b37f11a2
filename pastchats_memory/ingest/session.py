"""Find the agent's own command that resumes a stored session."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from pastchats_memory.files.archives import archive_of
from pastchats_memory.files.stored_path import other_machine, resolve_path
from pastchats_memory.formats.base.format import Format, Session
from pastchats_memory.formats.base.source import NotText, SourceFile
from pastchats_memory.formats.registry import BUILT_IN, added_formats, load_format
from pastchats_memory.model import Item, Turn

SAFE_ID = re.compile(r"\w[\w./:@+=-]{0,199}", re.ASCII)
"""Ids of agents' sessions. Any other id is hostile, or had a secret in it."""


class Resumption(NamedTuple):
    """The command that resumes a session, or the reason why there is none."""

    program: str
    """The agent, such as `Claude Code`; empty if the turn came from none."""
    command: tuple[str, ...]
    """The program and its arguments; empty if the session cannot be resumed."""
    folder: str | None
    """The working directory of the session, in which its agent looks for it."""
    reason: str
    """Why it cannot be resumed; empty if it can."""


def find_resumption(item: Item) -> Resumption:
    """Return how to resume the session of a turn.

    The folder is read from the source: a transcript that is gone cannot be resumed either. Raises BrokenFormat.
    """
    format_ = _format_of(item)
    program = format_.program if format_ else ""

    def refuse(reason: str) -> Resumption:
        return Resumption(program, (), None, reason)

    if format_ is None or not item.places:
        return refuse("it was stored directly, not read from a session of an agent")
    if format_.resume is None:
        return refuse(f"the format {format_.name} has no command that resumes a session")
    if not item.conversation_id or not SAFE_ID.fullmatch(item.conversation_id):
        return refuse("its session has no id that a command line can name safely")
    path = next((path for place in item.places if (path := resolve_path(place.path)).is_file()), None)
    if path is None or archive_of(path) is not None:
        host = other_machine(item.source_path)
        return refuse(f"it lies on the machine {host}" if host else "the session's own file is gone")
    try:
        folder = _read_folder(path, item.conversation_id, format_)
    except (NotText, OSError) as fault:
        return refuse(f"the session's own file cannot be read: {fault}")
    return Resumption(program, tuple(format_.resume(Session(item.conversation_id, path, folder))), folder, "")


def _format_of(item: Item) -> Format | None:
    name = item.metadata.get("format")
    known = name in BUILT_IN or name in {format_.name for format_ in added_formats()}
    return load_format(str(name)) if known else None


def _read_folder(path: Path, conversation_id: str, format_: Format) -> str | None:
    """Return the first working directory of a conversation. Raises NotText, OSError."""
    turns = (row for row in format_.read(SourceFile(path, named=True)) if isinstance(row, Turn))
    found = (turn.cwd for turn in turns if turn.cwd and turn.conversation_id == conversation_id)
    return next(found, None)
