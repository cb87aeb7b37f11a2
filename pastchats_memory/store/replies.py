"""Store the meaning of replies, and list the messages that wait for it.

When it changes, a trigger marks the outcomes of the conversation as due.
"""

from collections.abc import Iterable
from typing import NamedTuple

from pastchats_memory.store.database import Database

WEIGHTS = "reply_weights"
"""Key of `embedding_meta`: the version of the weights that the stored meanings come from."""


class StoredReply(NamedTuple):
    """The meaning of a message."""

    kind: str
    """As `ReplyKind`; empty for a message without words."""
    probability: float
    complaint: float
    approval: float


NO_WORDS = StoredReply("", 0.0, 0.0, 0.0)
COLUMNS = "kind, probability, complaint, approval"
"""Columns of `replies` for a `StoredReply`."""


class WaitingMessage(NamedTuple):
    """A message that waits for its meaning."""

    id: int
    text_hash: bytes
    content: str


def read_version(database: Database) -> str | None:
    """Return the version of the weights that the stored meanings come from."""
    version: str | None = database.value("SELECT value FROM embedding_meta WHERE key = ?", (WEIGHTS,))
    return version


def claim_weights(database: Database, version: str) -> None:
    """Let all messages wait again if other weights told their meaning, inside the caller's transaction."""
    if read_version(database) != version:
        database.run(f"UPDATE replies SET ({COLUMNS}) = (NULL, NULL, NULL, NULL) WHERE kind IS NOT NULL")
        database.run("INSERT OR REPLACE INTO embedding_meta(key, value) VALUES (?, ?)", (WEIGHTS, version))


def list_waiting(database: Database, most: int) -> list[WaitingMessage]:
    """Return up to `most` messages that wait, in the order in which they were stored."""
    rows = database.run(
        "SELECT p.id, p.text_hash, p.content FROM replies r JOIN prompts p ON p.id = r.prompt_id WHERE r.kind IS NULL "
        "ORDER BY r.prompt_id LIMIT ?",
        (most,),
    )
    return [WaitingMessage(*row) for row in rows]


def store_replies(database: Database, found: Iterable[tuple[WaitingMessage, StoredReply]]) -> None:
    """Store the meanings of messages inside the caller's transaction; leave out a message that has changed meanwhile."""
    database.run_many(
        f"UPDATE replies SET ({COLUMNS}) = (?, ?, ?, ?) "
        "WHERE prompt_id IN (SELECT id FROM prompts WHERE id = ? AND text_hash = ?)",
        [(*reply, message.id, message.text_hash) for message, reply in found],
    )


def find_reply(database: Database, ids: Iterable[int]) -> StoredReply | None:
    """Return the meaning of the first of some messages that has words; None if it is not stored."""
    for id_ in ids:
        for row in database.run(f"SELECT {COLUMNS} FROM replies WHERE prompt_id = ?", (id_,)):
            if row != NO_WORDS:
                return StoredReply(*row) if row[0] else None
    return None
