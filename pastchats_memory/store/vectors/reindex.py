"""A change of model: the new vectors are gathered beside the old, text by text, and take their place in one transaction.

They are kept by the text they are of, so that turns, notes and texts of tasks are one to them, a text that stands in many
rows has one, and a run that was interrupted goes on where it was.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby

from pastchats_memory.embed import Embedder
from pastchats_memory.errors import ModelChanged
from pastchats_memory.store import vectors
from pastchats_memory.store.database import Database
from pastchats_memory.store.sources import meta, set_meta
from pastchats_memory.store.vectors import blocks

EMBEDDED = (("prompts", "prompt_embeddings", "prompt_id"), ("task_texts", "task_embeddings", "text_id"))
"""Tables with texts, with their vectors, and the key of the latter."""
TEXTS = "(SELECT id, text_hash, content FROM prompts UNION ALL SELECT id, text_hash, content FROM task_texts)"
NEXT = ("next_model_name", "next_model_version")
CODED, CODED_TEXTS = "temp.coded_blocks", "temp.coded_texts"
"""Blocks of the new vectors, and the texts that they were made of."""
CHANGED_SINCE = (
    f"SELECT id FROM {TEXTS} t WHERE text_hash IS NOT (SELECT c.text_hash FROM {CODED_TEXTS} c WHERE c.id = t.id) "
    f"UNION ALL SELECT id FROM {CODED_TEXTS} WHERE id NOT IN (SELECT id FROM {TEXTS})"
)
STEP = 2048
"""Vectors that are coded at once."""
LACKING = f"FROM {TEXTS} t WHERE t.id > ? AND NOT EXISTS (SELECT 1 FROM next_vectors n WHERE n.text_hash = t.text_hash)"


def begin(database: Database, name: str, version: str) -> None:
    """Prepare for the vectors of a model, keeping those of it that are there already; another's are dropped.

    Raises:
        StoreFault: the database cannot be written.
    """
    with database.transaction():
        known = meta(database)
        if tuple(known.get(key) for key in NEXT) != (name, version):
            database.run("DELETE FROM next_vectors")
        set_meta(database, dict(zip(NEXT, (name, version), strict=True)))
        if (known.get("model_name"), known.get("model_version")) == (name, version):
            for texts, embeddings, key in EMBEDDED:
                database.run(
                    "INSERT OR IGNORE INTO next_vectors(text_hash, vector_json) "
                    f"SELECT t.text_hash, e.vector_json FROM {texts} t JOIN {embeddings} e ON e.{key} = t.id"
                )


def lacking(database: Database, rows: int) -> Iterator[dict[bytes, str]]:
    """Texts by their hash that have no vector yet, of about so many rows at a time; each part is asked for anew."""
    last = 0
    while found := database.run(f"SELECT id, text_hash, content {LACKING} ORDER BY t.id LIMIT ?", (last, rows)):
        yield {text_hash: content for _, text_hash, content in found}
        last = found[-1][0]


def pending(database: Database) -> int:
    """Rows whose text has no vector of the model that the database is being changed to; 0 where it is not. Raises StoreFault."""
    return int(database.value(f"SELECT count(*) {LACKING}", (0,))) if is_under_way(database) else 0


def is_under_way(database: Database) -> bool:
    """Whether a change of model has begun and not ended."""
    return NEXT[0] in meta(database)


def add(database: Database, name: str, version: str, encoded: Iterable[tuple[bytes, str]]) -> None:
    """Keep JSON vectors by the hash of their text; inside the caller's transaction.

    Raises:
        ModelChanged: another process has begun to change to another model, or has ended this change.
        StoreFault: they were not written.
    """
    if tuple(meta(database).get(key) for key in NEXT) != (name, version):
        message = f"another process is changing or has changed the model of {database.path}"
        raise ModelChanged(
            message, "`pastchats-memory status` says which one it has; run the command again if need be."
        )
    database.run_many("INSERT OR IGNORE INTO next_vectors(text_hash, vector_json) VALUES (?, ?)", list(encoded))


def code_ahead(database: Database) -> None:
    """Make the exact engine's blocks of the new vectors while others write, where this connection alone sees them. Raises StoreFault."""
    for name, columns in (
        (CODED, "block INTEGER PRIMARY KEY, ids, codes, scales"),
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
        exact = vectors.decode([vector_json for _, _, vector_json in found])
        for block, places in groupby(range(len(ids)), key=lambda place: ids[place] // blocks.BLOCK):
            here = list(places)
            of_block = [ids[place] for place in here]
            blocks.update(database, block, of_block, of_block, exact[here], CODED)
        database.run_many(f"INSERT INTO {CODED_TEXTS} VALUES (?, ?)", [(id_, text_hash) for id_, text_hash, _ in found])
        last = ids[-1]


def switch(database: Database, name: str, version: str, dim: int) -> int:
    """Put the new vectors in the place of the old ones, which are gone; inside the caller's transaction. Rows written.

    The exact engine gets what was made ahead; `vectors.catch_up` brings the other one along afterwards, and `clear` takes
    away what is left over.

    Args:
        database: in which no row lacks its new vector, after `code_ahead`.
        name: of the model.
        version: of the model.
        dim: length of its vectors.

    Raises:
        StoreFault: nothing was changed.
    """
    rows = 0
    with database.without_triggers():  # every row that is written is of a text that is there
        for texts, embeddings, key in EMBEDDED:
            # NOT INDEXED: in the order of the texts' index pages would be written many times.
            database.run(
                f"INSERT OR REPLACE INTO {embeddings}({key}, model, dim, vector_json) "
                f"SELECT t.id, ?, ?, n.vector_json FROM {texts} t NOT INDEXED JOIN next_vectors n ON n.text_hash = t.text_hash",
                (name, dim),
            )
            rows += database.connection.changes()
    # In the order of ids, in which the engines take them in page by page.
    database.run(f"INSERT INTO vector_changes(prompt_id) SELECT id FROM {TEXTS} ORDER BY id")
    database.run_many("DELETE FROM embedding_meta WHERE key = ?", [(key,) for key in NEXT])
    now = datetime.now(UTC).isoformat(timespec="seconds")
    written = {"model_name": name, "model_version": version, "embedding_dim": str(dim), "last_reindex_at": now}
    set_meta(database, written)
    vectors.start_over(database, CODED, [id_ for (id_,) in database.run(CHANGED_SINCE)])
    return rows


def clear(database: Database) -> None:
    """Delete what a change of model that has ended left over: in the transaction that ends it others would wait longer. Raises StoreFault."""
    with database.transaction():
        if not is_under_way(database):  # another process may have begun one
            database.run("DELETE FROM next_vectors")


# Every text embedded anew, under another model or the same: beside what is there, which answers until the last is done.

BATCH = 512
"""Rows whose texts are looked at together; what was embedded is kept after each."""


@dataclass(frozen=True, slots=True)
class ReindexReport:
    """What a change of model did."""

    model: str
    dim: int
    previous_model: str | None
    rows: int
    """That have a new vector: turns, notes, and texts of tasks."""
    embedded: int
    """Texts that went through the model."""
    cached: int
    """Rows whose text had a vector of the model already, from an earlier run or from another row."""
    duration_s: float


@dataclass(frozen=True, slots=True)
class ReindexProgress:
    """How far a change of model is."""

    done: int
    total: int
    """Rows."""


def reindex_embeddings(
    database: Database, embedder: Embedder, progress: Callable[[ReindexProgress], None] = lambda _: None
) -> ReindexReport:
    """Give every row a vector of the embedder's model, and change to them when the last is there.

    What is embedded is kept batch by batch, so that an interrupted run goes on where it was. Rows that other processes
    store meanwhile get a vector of the old model at once, and of the new one before the change.

    Raises:
        ModelUnavailable: the model cannot be had, or not any longer; the old vectors answer on.
        ModelChanged: another process is changing the model, too.
        StoreFault: the database cannot be written; the old vectors answer on.
    """
    start = time.monotonic()
    embedder.load()
    name, version = embedder.name, embedder.version
    previous = meta(database).get("model_name")
    begin(database, name, version)
    total = pending(database)
    embedded = 0

    def fill(*, alone: bool) -> None:
        nonlocal embedded
        for texts in lacking(database, BATCH):
            made = zip(texts, map(vectors.encode, embedder.embed(texts.values())), strict=True)
            encoded = list(made)
            if alone:
                add(database, name, version, encoded)
            else:
                with database.transaction():
                    add(database, name, version, encoded)
            embedded += len(encoded)
            progress(ReindexProgress(total - pending(database), total))

    fill(alone=False)
    code_ahead(database)
    with database.transaction():
        add(database, name, version, ())
        fill(alone=True)  # what has come since; nobody else writes now
        rows = switch(database, name, version, embedder.dim)
    clear(database)
    vectors.catch_up_in_steps(database)
    vectors.pack_all(database)
    taken = time.monotonic() - start
    return ReindexReport(name, embedder.dim, previous, rows, embedded, rows - embedded, taken)
