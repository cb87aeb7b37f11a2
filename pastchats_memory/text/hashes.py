"""Hashes that identify text."""

import hashlib


def text_hash(content: str) -> bytes:
    """Return the SHA-256 of the content, 32 bytes."""
    return hashlib.sha256(content.encode()).digest()
