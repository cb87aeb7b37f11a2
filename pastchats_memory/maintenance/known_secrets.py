"""Remove a value from all rows once one of them has shown it to be a secret."""

from collections import defaultdict

from pastchats_memory.embed import Embedder
from pastchats_memory.maintenance.redact_stored import StoredSecrets, forget_cached, rewrite_rows
from pastchats_memory.redact.decoding import has_escapes
from pastchats_memory.redact.known_secrets import KnownSecrets
from pastchats_memory.store import redactions, scrub
from pastchats_memory.store.database import Database
from pastchats_memory.store.known_secrets import REMOVED, path_of
from pastchats_memory.store.redactions import OTHER_TEXTS, TASK_TEXTS, TURNS, StoredTexts, Texts
from pastchats_memory.store.sources import meta, set_meta

MOST_FRESH = 50
"""Values up to which each row is searched for all of them before its words are hashed."""
MOST_ROWS = 50
"""Rows up to which a value that was a secret in one of them is removed from the others."""


def remove_known(database: Database, embedder: Embedder, known: KnownSecrets) -> None:
    """Remove the values that were learned since the last time from all rows; an interrupted call is done by the next.

    A value in more than `MOST_ROWS` other rows stays: it is a name. Raises ModelChanged, StoreFault or
    DeletionUnfinished, as `redact_stored` does.
    """
    state = known.state
    if state == meta(database).get(REMOVED):
        return
    _, known.removed = known.list_hashes(meta(database).get(REMOVED, ""))
    places = _find_places(database, known) if known.removed else {}
    found = StoredSecrets()
    for hash_, rows in places.items():
        if len(rows) > MOST_ROWS:
            known.except_common(hash_)
        else:
            for kind, row in rows:
                found.add(kind, row)
    if found:
        forget_cached()
        rewrite_rows(database, embedder, found, lambda _: None)
        scrub.erase(database)
    with database.transaction():
        set_meta(database, {REMOVED: state})


def forget_known(database: Database) -> None:
    """Delete the hashes of all known secrets. Raises OSError."""
    path_of(database).unlink(missing_ok=True)


def _find_places(database: Database, known: KnownSecrets) -> dict[bytes, list[tuple[Texts, StoredTexts]]]:
    """Return the rows in which each of the values to be removed stands, by its hash; one more than `MOST_ROWS` at most."""
    are_all_fresh = len(known.removed) <= len(known.fresh) <= MOST_FRESH
    places: defaultdict[bytes, list[tuple[Texts, StoredTexts]]] = defaultdict(list)
    for kind in (TURNS, *TASK_TEXTS, *OTHER_TEXTS):
        for row in redactions.rows(database, kind):
            text = "\n".join(row.texts.values())
            if are_all_fresh and not has_escapes(text) and not any(value in text for value in known.fresh):
                continue
            for hash_ in {hash_ for hash_, _ in known.find(text)}:
                if len(places[hash_]) <= MOST_ROWS:  # more texts need not be held in memory
                    places[hash_].append((kind, row))
    return places
