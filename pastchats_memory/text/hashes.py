"""Describe."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable


def conversation_hash(opening: Iterable[tuple[str, str]]) -> str:
    """SHA-256 of the first three (role, text) pairs: the id of a conversation without one, which it keeps when its file moves."""
    first = [list(pair) for _, pair in zip(range(3), opening, strict=False)]
    return hashlib.sha256(json.dumps(first, separators=(",", ":")).encode()).hexdigest()
