"""`Memory`, the public face: open a database, index, search, recall."""

from __future__ import annotations

from pastchats_memory.memory.asking import Asking
from pastchats_memory.memory.keeping import Keeping


class Memory(Asking, Keeping):
    """An open memory. Use it as a context manager, or close it."""
