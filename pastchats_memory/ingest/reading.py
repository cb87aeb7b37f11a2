"""One file on its way from its bytes to rows: its reader, where that goes on, and what of its turns is kept."""

from __future__ import annotations

import json
from collections.abc import Iterator

from pastchats_memory.ingest.changes import Plan, has_still, recipe_of
from pastchats_memory.ingest.files import Candidate
from pastchats_memory.ingest.identity import Identities, project_of
from pastchats_memory.ingest.options import IndexOptions
from pastchats_memory.ingest.tasks import wrong_with
from pastchats_memory.ingest.turns import Placed, prompt_of_export, without_our_words, without_split_secrets
from pastchats_memory.ingest.writer import Reading
from pastchats_memory.model import Prompt, Task, Turn, Unreadable, utf8
from pastchats_memory.project import opted_out
from pastchats_memory.readers import FALLBACKS, READERS, Reader, TwoClaims, reader_for
from pastchats_memory.readers.resume import Checkpoint
from pastchats_memory.readers.source import BadJson, NotText, Source
from pastchats_memory.store import sources
from pastchats_memory.store.database import Database

NOT_TAKEN = "no conversation found in it"
NOTHING_IN_IT = "an empty list or object"
TABLE = "a table; programs that export chats as one do so as JSON too, which is read"
TABLES = frozenset({".csv", ".tsv"})
NOTES_NOT_TAKEN = "Markdown that is no dialogue; name the file itself or use --notes to take it"
BY_FORMAT: dict[str, Reader] = {reader.FORMAT: reader for reader in (*READERS, *FALLBACKS)}


def opened(candidate: Candidate, options: IndexOptions) -> tuple[Source, Reader | None, str]:
    """The file, its reader or None, and the reason for None. Raises OSError."""
    source = Source(
        candidate.path,
        named=candidate.named,
        notes=options.wants_notes_at(candidate.path),
        chunk_size=options.chunk_size,
        chunk_overlap=options.overlap,
        unpacked=candidate.unpacked,
    )
    try:
        reader = reader_for(source)
        reason = "" if reader is not None else _reason_against(source) if candidate.size else "empty"
    except (NotText, TwoClaims) as fault:
        return source, None, str(fault)
    return source, reader, reason


def _reason_against(source: Source) -> str:
    """Why a file that no reader claims is left. Raises NotText, OSError."""
    if source.shape == "markdown":
        return NOTES_NOT_TAKEN
    if source.shape == "json" and isinstance(source.outline, BadJson):
        return f"not whole JSON: {source.outline.reason}"
    if source.shape == "json" and source.outline in ([], {}):
        return NOTHING_IN_IT
    return TABLE if source.path.suffix.lower() in TABLES else NOT_TAKEN


def resumed(database: Database, plan: Plan, options: IndexOptions) -> Source | None:
    """The file from where its reader left off, if it has only grown since and nothing else asks for the whole of it."""
    state = plan.state
    if state is None or state.format not in BY_FORMAT or options.force or state.project != plan.project:
        return None
    resume = (
        sources.resume_of(database, plan.candidate.name) if state.recipe == recipe_of(state.format, options) else None
    )
    if resume is None or plan.candidate.size <= state.size or not has_still(state, plan.candidate):
        return None
    known = json.loads(resume)
    checkpoint = Checkpoint(known["offset"], known["line"], known["state"])
    return Source(plan.candidate.path, named=plan.candidate.named, notes=options.notes, resumed=checkpoint)


def turns_of(source: Source, reader: Reader, file: Reading, options: IndexOptions) -> Iterator[Turn]:
    """The turns of a file, clean, without our own words, and not empty. Raises CannotResume before the first."""
    try:
        for item in reader.read(source):
            match item:
                case Unreadable():
                    file.unreadable.append(item)
                case Checkpoint():
                    file.reached(item)
                case Task() if (wrong := wrong_with(item)) is not None:
                    file.unreadable.append(Unreadable(file.plan.candidate.name, item.line, f"no proper {wrong!r}"))
                case Task() if item.cwd is not None and _is_kept_out(item.cwd, options):
                    file.is_opted_out = True
                case Task():
                    file.tasks.append(item)
                case Turn() if (turn := without_our_words(item)) is not None:
                    yield turn
    except OSError as fault:
        file.is_cut_short = True
        file.unreadable.append(Unreadable(file.plan.candidate.name, 0, fault.strerror or str(fault)))


def prompts_of(
    database: Database, source: Source, reader: Reader, file: Reading, options: IndexOptions
) -> Iterator[Prompt]:
    """The rows of a file's turns, without those of projects that are kept out. Raises CannotResume before the first."""
    name, project = file.plan.candidate.name, file.plan.project
    identities = Identities(utf8(source.path.name), copies=reader not in FALLBACKS)
    if source.resumed is not None and (resume := sources.resume_of(database, name)) is not None:
        file.is_resumed = True
        file.places.update(dict(json.loads(resume)["places"]))
        identities.stands_before = lambda content_hash, line: sources.earlier_in(database, name, content_hash, line)
    before: Placed | None = None
    for turn in turns_of(source, reader, file, options):
        of = project or project_of(turn, source.path)
        if not is_wanted(turn, of, options):
            file.is_opted_out = True
            continue
        if turn.origin is not None:
            yield prompt_of_export(turn, turn.origin, project)
            continue
        placed = Placed(turn, of, file.places[turn.conversation_id], identities.of(turn))
        file.places[turn.conversation_id] += 1
        if before is not None:
            before, placed = without_split_secrets(before, placed)
            yield before.prompt(name, reader.FORMAT)
        before = placed
    if before is not None:
        yield before.prompt(name, reader.FORMAT)


def is_wanted(turn: Turn, project: str, options: IndexOptions) -> bool:
    """Whether the turn's project has not opted out: by the marker in its folder, or by a glob of the folder or the name."""
    if options.wanted.excludes(project):
        return False
    return turn.cwd is None or not _is_kept_out(turn.cwd, options)


def _is_kept_out(cwd: str, options: IndexOptions) -> bool:
    return opted_out(cwd) or options.wanted.excludes(cwd)
