"""One file on its way from its bytes to rows: its reader, where that goes on, and what of its turns is kept."""

from __future__ import annotations

import json
from collections.abc import Iterator

from pastchats_memory.files.project import is_opted_out
from pastchats_memory.formats.base.checkpoint import Checkpoint
from pastchats_memory.formats.base.format import Format
from pastchats_memory.formats.base.source import Source
from pastchats_memory.ingest.identity import Identities, project_of
from pastchats_memory.ingest.open_file import OpenFile
from pastchats_memory.ingest.options import IndexOptions
from pastchats_memory.ingest.task_rows import find_fault
from pastchats_memory.ingest.turn_rows import IdentifiedTurn, build_exported_row, clean, redact_split_secret
from pastchats_memory.model import Prompt, Task, Turn, Unreadable, utf8
from pastchats_memory.store import sources
from pastchats_memory.store.database import Database

# What becomes of a turn between its reader and the table, whichever way it came.


def read_turns(source: Source, reader: Format, file: OpenFile, options: IndexOptions) -> Iterator[Turn]:
    """The turns of a file, clean, without our own words, and not empty. Raises CannotResume before the first."""
    try:
        for item in reader.read(source):
            match item:
                case Unreadable():
                    file.unreadable.append(item)
                case Checkpoint():
                    file.reached(item)
                case Task() if (wrong := find_fault(item)) is not None:
                    file.unreadable.append(Unreadable(file.plan.candidate.name, item.line, f"no proper {wrong!r}"))
                case Task() if item.cwd is not None and _is_kept_out(item.cwd, options):
                    file.is_opted_out = True
                case Task():
                    file.tasks.append(item)
                case Turn() if (turn := clean(item)) is not None:
                    yield turn
    except OSError as fault:
        file.is_cut_short = True
        file.unreadable.append(Unreadable(file.plan.candidate.name, 0, fault.strerror or str(fault)))


def read_rows(
    database: Database, source: Source, reader: Format, file: OpenFile, options: IndexOptions
) -> Iterator[Prompt]:
    """The rows of a file's turns, without those of projects that are kept out. Raises CannotResume before the first."""
    name, project = file.plan.candidate.name, file.plan.project
    identities = Identities(utf8(source.path.name), copies=reader.is_specific)
    if source.resumed is not None and (resume := sources.resume_of(database, name)) is not None:
        file.is_resumed = True
        file.places.update(dict(json.loads(resume)["places"]))
        identities.stands_before = lambda content_hash, line: sources.earlier_in(database, name, content_hash, line)
    before: IdentifiedTurn | None = None
    for turn in read_turns(source, reader, file, options):
        of = project or project_of(turn, source.path)
        if not is_wanted(turn, of, options):
            file.is_opted_out = True
            continue
        if turn.origin is not None:
            yield build_exported_row(turn, turn.origin, project)
            continue
        placed = IdentifiedTurn(turn, of, file.places[turn.conversation_id], identities.of(turn))
        file.places[turn.conversation_id] += 1
        if before is not None:
            before, placed = redact_split_secret(before, placed)
            yield before.prompt(name, reader.name)
        before = placed
    if before is not None:
        yield before.prompt(name, reader.name)


def is_wanted(turn: Turn, project: str, options: IndexOptions) -> bool:
    """Whether the turn's project has not opted out: by the marker in its folder, or by a glob of the folder or the name."""
    if options.wanted.excludes(project):
        return False
    return turn.cwd is None or not _is_kept_out(turn.cwd, options)


def _is_kept_out(cwd: str, options: IndexOptions) -> bool:
    return is_opted_out(cwd) or options.wanted.excludes(cwd)
