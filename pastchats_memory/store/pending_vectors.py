"""Embed texts that were stored while no model could be used."""

from contextlib import suppress

from pastchats_memory.embed.session import ModelSession
from pastchats_memory.errors import DatabaseLocked, DatabaseReadOnly, DiskFull, ModelChanged
from pastchats_memory.store import vectors
from pastchats_memory.store.database import Database
from pastchats_memory.store.sources import vector_transaction
from pastchats_memory.store.tasks import TaskTexts, encode_texts
from pastchats_memory.store.vector_columns import stored_vector
from pastchats_memory.text.hashes import text_hash

BATCH = 64
"""Rows of one transaction."""
FEW = 64
"""Turns and tasks that a command embeds besides its own work, while its user waits."""
TURNS = (
    "SELECT e.prompt_id, p.text_hash, p.content FROM prompt_embeddings e JOIN prompts p ON p.id = e.prompt_id "
    "WHERE e.model = '' ORDER BY e.prompt_id DESC LIMIT ?"
)
TASKS = (
    "SELECT DISTINCT t.task_id FROM task_embeddings e JOIN task_texts t ON t.id = e.text_id WHERE e.model = '' "
    "ORDER BY t.task_id DESC LIMIT ?"
)
SET_VECTOR = (
    "UPDATE prompt_embeddings SET model = ?, dim = ?, vector_json = ? WHERE prompt_id = ? AND model = '' "
    "AND prompt_id IN (SELECT id FROM prompts WHERE id = prompt_id AND text_hash = ?)"
)


def fill_pending(database: Database, session: ModelSession, most: int) -> int:
    """Embed up to so many turns and tasks whose vectors are pending, the newest first; return their number.

    A fault of the model ends it. Each batch is a transaction, so that an interruption loses nothing. Another process may
    change rows meanwhile. Raises ModelChanged if one has changed the model.
    """
    left, before = most, session.embedded
    while left > 0 and session.fault is None and (few := database.run(TASKS, (min(BATCH, left),))):
        _fill_tasks(database, session, [id_ for (id_,) in few])
        left -= len(few)
    while left > 0 and session.fault is None and (rows := database.run(TURNS, (min(BATCH, left),))):
        encoded = encode_texts(database, session, [content for _, _, content in rows])
        with vector_transaction(database, session):
            for id_, hash_, content in rows:
                if vector := encoded[text_hash(content)]:
                    database.run(SET_VECTOR, (*stored_vector(database, session.name, vector), id_, hash_))
            vectors.catch_up(database)
        left -= len(rows)
    return session.embedded - before


def fill_few(database: Database, session: ModelSession) -> None:
    """Fill a few pending vectors if the model has just answered; another process that writes is not waited for."""
    if session.has_answered and session.fault is None and database.writable and vectors.count_pending(database):
        with suppress(DatabaseLocked, DatabaseReadOnly, DiskFull, ModelChanged):
            fill_pending(database, session, FEW)


def _fill_tasks(database: Database, session: ModelSession, ids: list[int]) -> None:
    of_rows = TaskTexts(database, session, {})
    encoded = encode_texts(database, session, [text for id_ in ids for text in of_rows.contents(id_)])
    with vector_transaction(database, session):
        texts = TaskTexts(database, session, encoded)
        for id_ in ids:
            texts.refresh(id_)
        vectors.catch_up(database)
