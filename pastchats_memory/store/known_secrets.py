"""Use the secrets that texts of a memory have shown while other texts are stored in it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pastchats_memory.redact.known_secrets import FILE_END, KnownSecrets, using
from pastchats_memory.store.database import Database
from pastchats_memory.store.sources import meta

REMOVED = "known_secrets"
"""Key of `embedding_meta`: state of the known secrets when they were last removed from all rows."""


@contextmanager
def known_secrets_of(database: Database) -> Iterator[KnownSecrets | None]:
    """Learn secrets from the texts that are redacted meanwhile, and remove those that other texts have shown.

    Yields None if they cannot be stored beside the database.
    """
    try:
        known = KnownSecrets(path_of(database))
    except OSError:
        yield None
        return
    known.removed, _ = known.list_hashes(meta(database).get(REMOVED, ""))
    with using(known):
        yield known


def path_of(database: Database) -> Path:
    """Return where the hashes of a database lie."""
    return database.path.with_name(database.path.name + FILE_END)
