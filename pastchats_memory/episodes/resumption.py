"""Find the agent's own command that resumes a stored session."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, NamedTuple

from pastchats_memory.episodes.session_folder import find_obstacle
from pastchats_memory.fields import NULL_IF_EMPTY, Shown, shown_as
from pastchats_memory.files.command_line import join_command
from pastchats_memory.files.stored_path import other_machine, resolve_path
from pastchats_memory.formats.base.format import StoredSession
from pastchats_memory.formats.registry import BUILT_IN, added_formats, load_format
from pastchats_memory.model import Hit, Item, Metadata
from pastchats_memory.store import turns
from pastchats_memory.store.database import Database

SAFE_ID = re.compile(r"\w[\w./:@+=-]{0,199}", re.ASCII)
"""Ids of agents' sessions. Any other id is hostile, or had a secret in it."""


@shown_as("ResumptionView")
class Resumption(NamedTuple):
    """The agent's own command that resumes a session."""

    program: Annotated[str, "The agent; empty if the turn came from none."]
    command: Annotated[tuple[str, ...], "Program and arguments; empty if the session cannot be resumed."]
    folder: Annotated[str | None, "The folder in which the command has to run."]
    """The working directory of the session, in which its agent looks for it."""
    reason: Annotated[str, "Why the session cannot be resumed.", NULL_IF_EMPTY]

    @property
    def line(self) -> Annotated[str | None, "Folder and command as a line for a shell.", Shown(after="folder")]:
        """Return the command as a line for a shell."""
        return join_command(self.command, self.folder) if self.command else None


class ResumableTurn(NamedTuple):
    """What is known of the session of a stored turn."""

    metadata: Metadata
    project: str
    conversation_id: str | None
    paths: tuple[str, ...]
    """Stored paths of the files in which the turn was seen; empty for a turn that was stored directly."""

    @classmethod
    def of_item(cls, item: Item) -> "ResumableTurn":
        """Return what is known of a stored turn."""
        return cls(item.metadata, item.project, item.conversation_id, tuple(place.path for place in item.places))

    @classmethod
    def of_hit(cls, hit: Hit) -> "ResumableTurn":
        """Return what is known of a turn that was found."""
        return cls(hit.metadata, hit.source_project, hit.conversation_id, (hit.source_path,))


def find_resumption(database: Database, turn: ResumableTurn) -> Resumption:
    """Return how to resume the session of a turn, unless its own file or its folder is gone. Raises BrokenFormat."""
    name = turn.metadata.get("format")
    is_known = name in BUILT_IN or name in {added.name for added in added_formats()}
    format_ = load_format(str(name)) if is_known else None
    program = format_.program if format_ else ""

    def refuse(reason: str) -> Resumption:
        return Resumption(program, (), None, reason)

    if format_ is None or not turn.paths:
        return refuse("it was stored directly, not read from a session of an agent")
    if format_.resume is None:
        return refuse(f"the format {format_.name} has no command that resumes a session")
    if not turn.conversation_id or not SAFE_ID.fullmatch(turn.conversation_id):
        return refuse("its session has no id that a command line can name safely")
    places = map(resolve_path, turn.paths)
    path = next((found for place in places if (found := _find_file(place, format_.packed))), None)
    if path is None:
        host = next(filter(None, map(other_machine, turn.paths)), None)
        return refuse(f"it lies on the machine {host}" if host else "the session's own file is gone")
    stored = turns.first_folder(database, turn.project, turn.conversation_id)
    if obstacle := find_obstacle(database, turn.project, turn.conversation_id):
        return refuse(f"{obstacle}: {stored}")
    folder = None if stored is None else str(resolve_path(stored))
    command = format_.resume(StoredSession(turn.conversation_id, path, folder))
    return Resumption(program, tuple(command), folder, "" if command else "its program resumes it only in its window")


def find_command_lines(database: Database, by_id: Iterable[tuple[str, ResumableTurn]]) -> dict[str, str]:
    """Return the shell's lines that resume sessions, by the ids of their turns. Raises BrokenFormat."""
    found = ((id_, find_resumption(database, turn)) for id_, turn in by_id)
    return {id_: join_command(one.command, one.folder) for id_, one in found if one.command}


def _find_file(path: Path, packed: str) -> Path | None:
    """Return a session's own file, which its program may have packed itself."""
    places = [path, *((path.with_name(path.name + packed), path.parent) if packed else ())]
    return next((place for place in places if place.is_file()), None)
