"""Read the session of an event: its stored turns, and those that its transcript has and the memory does not yet.

Functions raise MemoryFault if the memory cannot be read.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pastchats_memory.files.project import is_opted_out, project_at
from pastchats_memory.formats.base.source import NotText, SourceFile
from pastchats_memory.formats.base.storage import project_of_file
from pastchats_memory.model import Item, Place, Turn
from pastchats_memory.redact import redact, redact_json, redact_path
from pastchats_memory.store import turns
from pastchats_memory.store.tombstones import Tombstones
from pastchats_memory.text.clean import clean_own_words
from pastchats_memory.text.encoding import utf8

if TYPE_CHECKING:
    from pastchats_memory.config import Config
    from pastchats_memory.formats.base.format import Format
    from pastchats_memory.hooks.event import HookEvent
    from pastchats_memory.store.database import Database

LARGEST = 8 << 20
"""Bytes of a transcript that a hook reads; of a larger one the stored turns have to do."""


def read_session(database: Database, event: HookEvent, format_: Format, config: Config) -> list[Item]:
    """Return the turns of the event's session in order, without those that were forgotten."""
    if not event.session:
        return []
    stored = turns.of_conversation(database, utf8(event.session))
    path = Path(event.transcript) if event.transcript else None
    if path is None or Tombstones(database) or not (stored or _may_be_read(event, config)):
        return stored
    name = redact_path(utf8(str(path)))
    lines = {place.line: item for item in stored for place in item.places if place.path == name}
    if stored and not lines:  # another file has the session
        return stored
    last = max(lines, default=0)
    fresh = [turn for turn in _read_turns(path, format_, event.session) if turn.line >= last]
    known = {item.id for item in (lines[turn.line] for turn in fresh if turn.line in lines)}
    older = [item for item in stored if item.id not in known]
    start = max((item.turn_index for item in older), default=-1) + 1
    project = stored[-1].project if stored else utf8(project_at(event.cwd) if event.cwd else project_of_file(path))
    return older + [
        _make_item(turn, start + place, project, name, lines.get(turn.line)) for place, turn in enumerate(fresh)
    ]


def _may_be_read(event: HookEvent, config: Config) -> bool:
    """Check that nothing excludes a session of which no turn is stored."""
    places = [place for place in (event.cwd, event.transcript) if place]
    if any(map(is_opted_out, places)):
        return False
    if not config.exclude:
        return True
    from pastchats_memory.memory.indexing import build_file_filter  # it imports NumPy

    wanted = build_file_filter(config)
    return not any(map(wanted.excludes, [*places, *map(project_at, [event.cwd] if event.cwd else [])]))


def _read_turns(path: Path, format_: Format, session: str) -> Sequence[Turn]:
    """Return the session's own turns in a transcript; none if it cannot be read."""
    try:
        if path.stat().st_size > LARGEST:
            return ()
        rows = format_.read(SourceFile(path, named=True))
        found = (clean_own_words(row) for row in rows if isinstance(row, Turn))
        return [turn for turn in found if turn and turn.conversation_id == session]
    except (NotText, OSError):
        return ()


def _make_item(turn: Turn, index: int, project: str, path: str, stored: Item | None) -> Item:
    """Return the redacted turn as an item, with the id of the stored one or a negative one."""
    metadata = redact_json(dict(turn.metadata)) | {"branch": turn.branch, "kind": turn.kind}
    return Item(
        id=stored.id if stored and stored.role == turn.role else -1 - index,
        source_path=path,
        project=project,
        conversation_id=turn.conversation_id,
        turn_index=index,
        role=turn.role,
        content=redact(turn.content).text,
        timestamp=turn.timestamp,
        metadata=metadata,
        places=(Place(path, turn.line, turn.end_line),),
    )
