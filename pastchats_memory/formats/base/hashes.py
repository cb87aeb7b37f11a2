"""Hashes that stand for texts in ids, equal in every memory and made without the secrets of the texts."""

import hashlib
import json
from collections.abc import Iterable

from pastchats_memory.redact import redact_by_rules


def conversation_hash(opening: Iterable[tuple[str, str]]) -> str:
    """Return the id of a conversation without one: the SHA-256 of its first three (role, text) pairs.

    The id stays the same when the file moves.
    """
    first = [[role, redact_by_rules(text)] for _, (role, text) in zip(range(3), opening, strict=False)]
    return hashlib.sha256(json.dumps(first, separators=(",", ":")).encode()).hexdigest()
