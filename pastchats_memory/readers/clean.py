"""What no row may contain, taken out in one place for every reader: NUL bytes, lone surrogates, terminal colours."""

from __future__ import annotations

from collections.abc import Mapping

from pastchats_memory.model import Turn
from pastchats_memory.readers import text


def clean(turn: Turn) -> Turn | None:
    """The turn as it may be stored, or None where nothing readable is left."""
    content = text.clean(turn.content).strip()
    if not content:
        return None
    return turn._replace(
        role=text.clean(turn.role).strip().lower() or "unknown",
        content=content,
        conversation_id=_optional(turn.conversation_id),
        native_id=_optional(turn.native_id),
        project=_optional(turn.project),
        cwd=_optional(turn.cwd),
        metadata={text.clean(key): clean_value(value) for key, value in turn.metadata.items()},
    )


def clean_value(value: object) -> object:
    """A JSON value with every text in it clean; numbers that JSON or SQLite cannot hold become text."""
    if isinstance(value, str):
        return text.clean(value)
    if isinstance(value, Mapping):
        return {text.clean(str(key)): clean_value(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [clean_value(inner) for inner in value]
    if isinstance(value, int) and not isinstance(value, bool) and not -(1 << 63) <= value < 1 << 63:
        return str(value)
    return value


def _optional(value: str | None) -> str | None:
    return None if value is None else text.clean(value) or None
