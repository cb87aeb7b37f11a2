"""The columns of a stored vector, for writers that need no NumPy."""

from pastchats_memory.store.database import Database

PENDING = ""
"""Encoded vector of a text that no model can embed now."""
PENDING_DIM = 384
"""Length of the zeros in the place of such a vector, as long as the database has no model."""


def stored_vector(database: Database, model: str, encoded: str) -> tuple[str, int, str]:
    """Return the columns model, dim and vector_json of an encoded vector.

    A pending one has no model and is all zeros.
    """
    if encoded:
        return model, encoded.count(",") + 1, encoded
    dim = length(database)
    return "", dim, f"[{','.join('0' * dim)}]"


def length(database: Database) -> int:
    """Return the number of components of a vector of the database's model."""
    return int(database.value("SELECT value FROM embedding_meta WHERE key = 'embedding_dim'") or PENDING_DIM)
