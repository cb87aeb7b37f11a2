"""Use the secrets that texts of a memory have shown while other texts are stored in it."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_bytes

from pastchats_memory.redact.known_secrets import FILE_END, KEY_BYTES, KnownSecrets, known_secrets, using
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


def key_of(database: Database) -> bytes:
    """Return the key for digests of private text; with another one, files are read again.

    Only a run that stores something makes it. Any other gets one that fits nothing if there is none.
    """
    if (known := known_secrets()) is not None:
        return known.key
    with suppress(OSError):
        if (path := path_of(database)).exists():
            return KnownSecrets(path).key
    return token_bytes(KEY_BYTES)


def path_of(database: Database) -> Path:
    """Return where the hashes of a database lie."""
    return database.path.with_name(database.path.name + FILE_END)
