"""Clean text for every format: no NUL bytes, lone surrogates or terminal colours."""

import re
from collections.abc import Mapping

from pastchats_memory.model import Turn
from pastchats_memory.text.recall_block import strip_recall_blocks

IMAGE = "[image]"
"""Stands for a picture, and for a prompt that has only pictures."""

_SURROGATE = re.compile(r"[\ud800-\udfff]")
_TERMINAL_CODE = re.compile(r"\x1b\[[0-9;?]{0,32}[A-Za-z]")


def clean(text: str) -> str:
    r"""Return text that SQLite and a terminal accept.

    Line ends become `\n`, NUL bytes and colour codes go, and lone surrogates become `\ufffd`.
    """
    if not text.isascii() and _SURROGATE.search(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if "\x1b" in text:
        text = _TERMINAL_CODE.sub("", text)
    return text.replace("\0", "").replace("\r\n", "\n").replace("\r", "\n")


def clean_turn(turn: Turn) -> Turn | None:
    """Return the turn as it may be stored, or None if no readable text is left."""
    content = clean(turn.content).strip()
    if not content:
        return None
    return turn._replace(
        role=clean(turn.role).strip().lower() or "unknown",
        content=content,
        conversation_id=_optional(turn.conversation_id),
        native_id=_optional(turn.native_id),
        project=_optional(turn.project),
        cwd=_optional(turn.cwd),
        metadata={clean(key): clean_value(value) for key, value in turn.metadata.items()},
    )


def clean_own_words(turn: Turn) -> Turn | None:
    """Return the turn as `clean_turn` does, without our own recall blocks, or None if nothing else is left."""
    cleaned = clean_turn(turn)
    content = strip_recall_blocks(cleaned.content) if cleaned else ""
    return cleaned._replace(content=content) if cleaned and content else None


def clean_value(value: object) -> object:
    """Return a JSON value with clean text, and as text a number that JSON or SQLite cannot hold."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, Mapping):
        return {clean(str(key)): clean_value(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [clean_value(inner) for inner in value]
    if isinstance(value, int) and not isinstance(value, bool) and not -(1 << 63) <= value < 1 << 63:
        return str(value)
    return value


def _optional(value: str | None) -> str | None:
    return None if value is None else clean(value) or None
