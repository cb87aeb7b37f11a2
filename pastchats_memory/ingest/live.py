"""Store one turn while it happens, for hooks and MCP."""

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import uuid4

from pastchats_memory.embed import Embedder
from pastchats_memory.errors import UsageFault
from pastchats_memory.files.project import is_opted_out, project_at
from pastchats_memory.ingest.identity import Identities, digest, is_unique
from pastchats_memory.ingest.options import ALL_FILES, FileFilter
from pastchats_memory.ingest.turn_rows import build_row
from pastchats_memory.model import Turn
from pastchats_memory.redact.rules_version import rules_version
from pastchats_memory.store import live_events, redactions, sources, vectors
from pastchats_memory.store import turns as corpus
from pastchats_memory.store.database import Database
from pastchats_memory.store.live_events import LIVE
from pastchats_memory.text.clean import clean_own_words
from pastchats_memory.text.encoding import utf8
from pastchats_memory.text.timestamps import iso_utc


@dataclass(frozen=True, slots=True)
class StoredTurn:
    """The result of storing a turn."""

    id: str
    is_new: bool
    """Whether the turn was added; otherwise its event, or its copy in a transcript, was stored before."""


def make_live_turn(
    role: str, content: str, conversation_id: str | None, event_id: str | None, cwd: str | None, timestamp: str | None
) -> Turn:
    """Return a turn as a format would yield it; without a time it happens now. Raises UsageFault."""
    moment = iso_utc(timestamp or datetime.now(UTC).isoformat())
    if moment is None:
        raise UsageFault(f"{timestamp!r} is no time", "Use ISO 8601, such as 2026-01-31T08:15:00Z.")
    turn = Turn(
        role=utf8(role),
        content=utf8(content),
        line=0,
        conversation_id=utf8(conversation_id) if conversation_id else None,
        native_id=utf8(event_id) if event_id else None,
        timestamp=moment,
        cwd=cwd,
        kind="answer" if role.strip().lower() == "assistant" else "prompt",
    )
    understood = clean_own_words(turn)
    if understood is None or not role.strip():
        raise UsageFault(
            "there is nothing to store", "Give a role and the words that were said; a recalled block alone is not kept."
        )
    return understood


def store_turn(
    database: Database, embedder: Embedder, turn: Turn, project: str | None, client: str, wanted: FileFilter = ALL_FILES
) -> StoredTurn:
    """Store a turn with its words and its vector, which may be pending, in one transaction.

    Args:
        turn: from `make_live_turn`; its `native_id` is the caller's id of the event. A repeated event is the same row.
        project: None for the project of the turn's working directory.
        client: the caller; the row's source is `live:CLIENT` until a transcript has it.
        wanted: which projects' turns may be stored.

    Raises:
        UsageFault: the project has opted out, or these words were forgotten.
        ModelChanged: another process has changed the model meanwhile; nothing was stored.
    """
    if turn.cwd is not None and is_opted_out(turn.cwd):
        raise UsageFault("this project is not to be remembered", "A .pastchats-ignore in its folder says so.")
    project = utf8(project or project_at(turn.cwd or "."))
    if wanted.excludes(project) or (turn.cwd is not None and wanted.excludes(turn.cwd)):
        raise UsageFault("this project is not to be remembered", "See `pastchats-memory exclude --list`.")
    path = f"{LIVE}:{utf8(client)}"
    place = turn.conversation_id or path
    event = digest(LIVE, path, place, turn.role, turn.native_id or uuid4().hex)
    known_by = turn.native_id if turn.native_id and is_unique(turn.native_id) else event
    hashes = Identities(path).of(turn._replace(native_id=known_by))
    prompt = build_row(turn._replace(native_id=turn.native_id or event), path, project, 0, LIVE, hashes)
    _refuse_forgotten(corpus.find_forgotten(database, [prompt]))
    session = sources.open_session(database, embedder)
    encoded = corpus.known_vectors(database, [prompt.text_hash], session.name)
    if not encoded:
        encoded = dict(zip([prompt.text_hash], vectors.encode_or_defer(session, [prompt.turn.content]), strict=True))
    with sources.vector_transaction(database, session):
        redactions.claim_rules(database, rules_version())
        known = live_events.find_event(database, event)
        if known is not None:
            return StoredTurn(str(known), is_new=False)
        source_id = sources.begin_source(database, path, time.time_ns())
        index = live_events.next_turn_index(database, turn.conversation_id, project, path)
        placed = prompt._replace(turn_index=index)
        written = corpus.store(database, [placed], encoded, session.name, source_id)
        _refuse_forgotten(written.forgotten)
        live_events.store_event(database, event, written.ids[0])
        vectors.catch_up(database)
    return StoredTurn(str(written.ids[0]), is_new=bool(written.added))


def _refuse_forgotten(gone: object) -> None:
    if gone:
        raise UsageFault(
            "this was forgotten, and is not stored again",
            "`pastchats-memory forget --list` shows what was; --undo lifts it.",
        )
