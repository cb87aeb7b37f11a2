"""Store vectors of the middles of long answers.

A row's own vector sees only the start and the end of a long text. Triggers list the answers that wait for a vector.
"""

from collections.abc import Sequence

from pastchats_memory.arrays import Floats, np
from pastchats_memory.embed.packaged import cut_middle
from pastchats_memory.embed.session import ModelSession
from pastchats_memory.errors import ModelChanged, ModelUnavailable
from pastchats_memory.store import vectors
from pastchats_memory.store.database import Database, bind_list
from pastchats_memory.store.sources import meta, vector_transaction

BATCH = 256
"""Answers of one transaction."""
WAITING = (
    "SELECT p.id, p.text_hash, p.content FROM middles m JOIN prompts p ON p.id = m.prompt_id WHERE m.codes IS NULL "
    "ORDER BY m.prompt_id DESC LIMIT ?"
)
SET_CODES = "UPDATE middles SET codes = ? WHERE prompt_id IN (SELECT id FROM prompts WHERE id = ? AND text_hash = ?)"


def fill_middles(database: Database, packaged: ModelSession) -> None:
    """Embed the middles that wait, the newest first, if the packaged model is the database's.

    Each batch is a transaction. After an interruption, the next run does the rest.
    """
    if meta(database).get("model_version") != packaged.version:
        return
    while packaged.fault is None and (rows := database.run(WAITING, (BATCH,))):
        try:
            middles = [cut_middle(content) for _, _, content in rows]
            found = packaged.embed(filter(None, middles))
            codes = [vectors.round_vector(next(found)).tobytes() if middle else b"" for middle in middles]
            with vector_transaction(database, packaged):
                database.run_many(SET_CODES, [(of_row, *row[:2]) for of_row, row in zip(codes, rows, strict=True)])
        except (ModelUnavailable, ModelChanged):
            return


def read_middles(database: Database, ids: Sequence[int]) -> tuple[list[int], Floats]:
    """Return the ids whose middle has a vector, ascending, and these unit vectors of shape (ids, dim)."""
    dim = int(meta(database)["embedding_dim"])
    found = database.run(
        "SELECT value, codes FROM json_each(?) JOIN middles ON prompt_id = value "
        "WHERE typeof(codes) = 'blob' AND length(codes) = ?",  # no other length, even in a damaged database
        (bind_list(sorted(set(ids))), dim),
    )
    codes = np.frombuffer(b"".join(codes for _, codes in found), np.int8)
    return [id_ for id_, _ in found], vectors.normalise(codes.reshape(-1, dim))
