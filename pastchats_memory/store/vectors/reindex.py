"""Change the model: collect new vectors beside the old ones, then replace all of them in one transaction.

New vectors are stored by the hash of their text. So equal texts of turns, notes and tasks share one, and an interrupted
run resumes where it was.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from typing import Annotated

from pastchats_memory.embed import Embedder
from pastchats_memory.embed.session import ModelSession
from pastchats_memory.errors import ModelChanged
from pastchats_memory.fields import Count, shown_as
from pastchats_memory.model import Progress
from pastchats_memory.store import vectors
from pastchats_memory.store.database import Database
from pastchats_memory.store.sources import meta, set_meta
from pastchats_memory.store.vectors import blocks

EMBEDDED = (("prompts", "prompt_embeddings", "prompt_id"), ("task_texts", "task_embeddings", "text_id"))
"""Table of texts, table of their vectors, and the key of the latter."""
TEXTS = "(SELECT id, text_hash, content FROM prompts UNION ALL SELECT id, text_hash, content FROM task_texts)"
CURRENT = ("model_name", "model_version")
NEXT = ("next_model_name", "next_model_version")
PREVIOUS = ("previous_model_name", "previous_model_version")
"""Keys of `embedding_meta` for the name and version of the models of three kinds of vectors."""
CODED, CODED_TEXTS = "temp.coded_blocks", "temp.coded_texts"
"""Blocks of the new vectors, and the texts that they were computed from."""
CHANGED_SINCE = (
    f"SELECT id FROM {TEXTS} t WHERE text_hash IS NOT (SELECT c.text_hash FROM {CODED_TEXTS} c WHERE c.id = t.id) "
    f"UNION ALL SELECT id FROM {CODED_TEXTS} WHERE id NOT IN (SELECT id FROM {TEXTS})"
)
STEP = 2048
"""Vectors that are written at once."""
MISSING = f"FROM {TEXTS} t WHERE t.id > ? AND NOT EXISTS (SELECT 1 FROM next_vectors n WHERE n.text_hash = t.text_hash)"


def begin(database: Database, name: str, version: str) -> None:
    """Prepare for the vectors of a model.

    Keep those of an interrupted change to it, and drop another one's. Take those that the database has, or had before the
    last change.
    """
    with database.transaction():
        known = meta(database)
        if _named(known, NEXT) != (name, version):
            database.run("DELETE FROM next_vectors")
        set_meta(database, dict(zip(NEXT, (name, version), strict=True)))
        if _named(known, CURRENT) == (name, version):
            for texts, embeddings, key in EMBEDDED:
                database.run(
                    "INSERT OR IGNORE INTO next_vectors(text_hash, vector_json) SELECT t.text_hash, e.vector_json "
                    f"FROM {texts} t JOIN {embeddings} e ON e.{key} = t.id WHERE e.model != ''"
                )
        elif _named(known, PREVIOUS) == (name, version):
            database.run("INSERT OR IGNORE INTO next_vectors SELECT text_hash, vector_json FROM previous_vectors")


def _named(known: Mapping[str, str], keys: Sequence[str]) -> tuple[str | None, ...]:
    return tuple(known.get(key) for key in keys)


def store_previous(database: Database, name: str, version: str) -> None:
    """Copy the present vectors for a later change back from the model, in several transactions."""
    with database.transaction():
        current = _named(meta(database), CURRENT)
        if None in current or current == (name, version):
            return
        database.run("DELETE FROM previous_vectors")
        set_meta(database, {key: str(value) for key, value in zip(PREVIOUS, current, strict=True)})
    for texts, embeddings, key in EMBEDDED:
        last: int | None = 0
        while last is not None:
            of_step = f"SELECT {key} FROM {embeddings} WHERE {key} > {last} ORDER BY {key} LIMIT {STEP}"
            with database.transaction():
                database.run(
                    "INSERT OR IGNORE INTO previous_vectors(text_hash, vector_json) SELECT t.text_hash, e.vector_json "
                    f"FROM {embeddings} e JOIN {texts} t ON t.id = e.{key} WHERE e.{key} IN ({of_step}) AND e.model = ?",
                    (current[0],),
                )
                last = database.value(f"SELECT max({key}) FROM ({of_step})")


def missing_texts(database: Database, rows: int) -> Iterator[dict[bytes, str]]:
    """Yield texts without a new vector by their hash, of up to `rows` rows at a time."""
    last = 0
    while found := database.run(f"SELECT id, text_hash, content {MISSING} ORDER BY t.id LIMIT ?", (last, rows)):
        yield {text_hash: content for _, text_hash, content in found}
        last = found[-1][0]


def pending(database: Database) -> int:
    """Return the number of rows without a new vector, 0 if no change of model is in progress."""
    return int(database.value(f"SELECT count(*) {MISSING}", (0,))) if is_in_progress(database) else 0


def is_in_progress(database: Database) -> bool:
    """Return whether a change of model has begun and not ended."""
    return NEXT[0] in meta(database)


def add_vectors(database: Database, name: str, version: str, encoded: Iterable[tuple[bytes, str]]) -> None:
    """Store new JSON vectors by the hash of their text, inside the caller's transaction.

    Raises ModelChanged if another process has begun to change to another model, or has ended this change.
    """
    if _named(meta(database), NEXT) != (name, version):
        message = f"another process is changing or has changed the model of {database.path}"
        raise ModelChanged(
            message, "`pastchats-memory status` says which one it has; run the command again if need be."
        )
    database.run_many("INSERT OR IGNORE INTO next_vectors(text_hash, vector_json) VALUES (?, ?)", list(encoded))


def prepare_blocks(database: Database) -> None:
    """Write blocks of the new vectors in temporary tables, while other processes can write."""
    for name, columns in (
        (CODED, "block INTEGER PRIMARY KEY, ids, scales, codes"),
        (CODED_TEXTS, "id INTEGER PRIMARY KEY, text_hash"),
    ):
        database.run(f"DROP TABLE IF EXISTS {name}")
        database.run(f"CREATE TABLE {name}({columns})")
    last = 0
    while found := database.run(
        f"SELECT t.id, t.text_hash, n.vector_json FROM {TEXTS} t CROSS JOIN next_vectors n ON n.text_hash = t.text_hash "
        "WHERE t.id > ? ORDER BY t.id LIMIT ?",
        (last, STEP),
    ):
        ids = [id_ for id_, _, _ in found]
        codes = vectors.decode([vector_json for _, _, vector_json in found])
        for block, places in groupby(range(len(ids)), key=lambda place: ids[place] // blocks.BLOCK):
            here = list(places)
            of_block = [ids[place] for place in here]
            blocks.update(database, block, of_block, of_block, codes[here], CODED)
        database.run_many(f"INSERT INTO {CODED_TEXTS} VALUES (?, ?)", [(id_, text_hash) for id_, text_hash, _ in found])
        last = ids[-1]


def switch(database: Database, name: str, version: str, dim: int) -> int:
    """Replace the old vectors by the new ones, inside the caller's transaction; return the number of rows.

    Every row must have a new vector, and `prepare_blocks` was called: the exact engine gets these blocks. Call
    `vectors.catch_up_in_steps` for the other one afterwards, then `clear`.
    """
    rows = 0
    with database.without_triggers():  # every row that is written has a text
        for texts, embeddings, key in EMBEDDED:
            # NOT INDEXED: in the order of the texts' index pages would be written many times.
            database.run(
                f"INSERT OR REPLACE INTO {embeddings}({key}, model, dim, vector_json) "
                f"SELECT t.id, ?, ?, n.vector_json FROM {texts} t NOT INDEXED JOIN next_vectors n ON n.text_hash = t.text_hash",
                (name, dim),
            )
            rows += database.connection.changes()
    if _named(meta(database), CURRENT) != (name, version):
        database.run("UPDATE middles SET codes = NULL WHERE codes IS NOT NULL")
    # In the order of ids, so that the engines read page by page.
    database.run(f"INSERT INTO vector_changes(prompt_id) SELECT id FROM {TEXTS} ORDER BY id")
    database.run_many("DELETE FROM embedding_meta WHERE key = ?", [(key,) for key in NEXT])
    now = datetime.now(UTC).isoformat(timespec="seconds")
    written = {"model_name": name, "model_version": version, "embedding_dim": str(dim), "last_reindex_at": now}
    set_meta(database, written)
    vectors.replace_blocks(database, CODED, database.column(CHANGED_SINCE))
    return rows


def clear(database: Database) -> None:
    """Delete the collected vectors after a change of model, in a transaction of its own."""
    with database.transaction():
        if not is_in_progress(database):  # another process may have begun one
            database.run("DELETE FROM next_vectors")


BATCH = 512
"""Rows of one batch; its vectors are stored before the next."""


@shown_as("ReembeddedView")
@dataclass(frozen=True, slots=True)
class ReindexReport:
    """Result of `reindex --embeddings`."""

    model: str
    dim: Annotated[int, {"minimum": 1}]
    previous_model: str | None
    rows: Annotated[Count, "Rows with a new vector: turns, notes, and texts of tasks."]
    embedded: Annotated[Count, "Texts that went through the model."]
    cached: Annotated[Count, "Rows whose text had a vector of the model already."]
    """It was of another row, an interrupted run, or the model before the last change."""
    duration_s: Annotated[float, {"minimum": 0}]


def reindex_embeddings(
    database: Database, embedder: Embedder, progress: Callable[[Progress], None] = lambda _: None
) -> ReindexReport:
    """Give every row a vector of the embedder's model. The old vectors answer until the last one is there.

    Each batch is stored, so that an interrupted run resumes. Rows that other processes store meanwhile get a vector of
    the old model at once, and of the new one before the change. Raises ModelUnavailable, ModelChanged if another process is
    changing the model, too, or StoreFault; the old vectors then stay in use.
    """
    start = time.monotonic()
    session = ModelSession.of(embedder)
    session.load()
    name, version = session.name, session.version
    previous = meta(database).get("model_name")
    begin(database, name, version)
    total = pending(database)
    embedded = 0

    def embed_missing(*, alone: bool) -> None:
        nonlocal embedded
        for texts in missing_texts(database, BATCH):
            encoded = list(zip(texts, map(vectors.encode, session.embed(texts.values())), strict=True))
            if alone:
                add_vectors(database, name, version, encoded)
            else:
                with database.transaction():
                    add_vectors(database, name, version, encoded)
            embedded += len(encoded)
            progress(Progress(total - pending(database), total))

    embed_missing(alone=False)
    prepare_blocks(database)
    store_previous(database, name, version)
    with database.transaction():
        add_vectors(database, name, version, ())
        embed_missing(alone=True)  # rows that have come since; nobody else writes now
        rows = switch(database, name, version, session.dim)
    clear(database)
    vectors.catch_up_in_steps(database)
    return ReindexReport(name, session.dim, previous, rows, embedded, rows - embedded, time.monotonic() - start)
