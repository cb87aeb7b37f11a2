"""Checkpoints: where a reader resumes when its file has grown."""

from dataclasses import dataclass
from hashlib import sha256

from pastchats_memory.redact import redact_by_rules

RECENT = 400
"""How many records, calls and answers a checkpoint remembers, since a new line may belong to them."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The place after the last whole line, yielded once; the turns after it may change, and are yielded again."""

    offset: int
    """The place in bytes from the start of the file."""
    line: int
    """The 1-based line at the place."""
    state: dict[str, object]
    """What the reader needs of earlier lines, as small JSON: it is stored for every file."""


class CannotResume(ValueError):
    """Appended lines change earlier turns, so the whole file must be read. Raised before the first turn."""


def digest(text: str) -> str:
    """Return a short hash of a text without its secrets, equal in every process."""
    return sha256(redact_by_rules(text).encode("utf-8", "surrogatepass")).hexdigest()[:16]
