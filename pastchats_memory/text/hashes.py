"""Hashes that identify text."""

import hashlib
import json
from collections.abc import Iterable


def conversation_hash(opening: Iterable[tuple[str, str]]) -> str:
    """Return the id of a conversation without one: the SHA-256 of its first three (role, text) pairs.

    The id stays the same when the file moves.
    """
    first = [list(pair) for _, pair in zip(range(3), opening, strict=False)]
    return hashlib.sha256(json.dumps(first, separators=(",", ":")).encode()).hexdigest()


def text_hash(content: str) -> bytes:
    """Return the SHA-256 of the content, 32 bytes."""
    return hashlib.sha256(content.encode()).digest()
