"""Where a reader goes on in a file that has grown."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256

RECENT = 400
"""Records, calls, lines of answers, that a new line may belong to: so many are kept."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Where a reader goes on when its file has grown: yielded once by readers that can, behind the last whole line.

    Turns that are yielded after it are those that more lines may still change; going on, the reader yields them again.
    """

    offset: int
    """Bytes of the file before the place."""
    line: int
    """1-based line at the place."""
    state: dict[str, object]
    """What the reader must know of the lines before it, as JSON, and small: it is kept for every file."""


class CannotResume(ValueError):
    """What was added changes what was told before: raised before the first turn, and the file is read as a whole."""


def digest(text: str) -> str:
    """A short name for a text, the same in every process."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
