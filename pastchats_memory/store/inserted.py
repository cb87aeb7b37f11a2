"""Complete turns that another program inserted with the columns of the contract alone."""

from contextlib import suppress

from pastchats_memory.errors import DatabaseLocked, DatabaseReadOnly, DiskFull
from pastchats_memory.store.database import Database
from pastchats_memory.store.sources import set_meta
from pastchats_memory.store.turns import set_vectors
from pastchats_memory.store.vector_columns import PENDING

_INSERTED = "SELECT id, content FROM prompts WHERE text_hash = x''"


def adopt_inserted(database: Database) -> None:
    """Give inserted turns the hash of their text and a pending vector, if the database can be written now.

    Their text was not redacted, so that `redact --rescan` is due.
    """
    if not database.writable or not database.run(f"{_INSERTED} LIMIT 1"):
        return
    from pastchats_memory.store.redactions import RULES  # both bring OpenSSL, which a question has no use for
    from pastchats_memory.text.hashes import text_hash

    with suppress(DatabaseLocked, DatabaseReadOnly, DiskFull), database.transaction():
        rows = database.run(_INSERTED)
        database.run_many(
            "UPDATE prompts SET text_hash = ?, metadata_json = ifnull(metadata_json, '{}') WHERE id = ?",
            [(text_hash(content), id_) for id_, content in rows],
        )
        set_vectors(database, "", {id_: PENDING for id_, _ in rows})
        set_meta(database, {RULES: ""})
