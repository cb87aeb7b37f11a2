"""What no row may contain, taken out in one place for every reader: NUL bytes, lone surrogates, terminal colours."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from pastchats_memory.model import Turn

_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_SURROGATE = re.compile("[\ud800-\udfff]")


def clean(turn: Turn) -> Turn | None:
    """The turn as it may be stored, or None where nothing readable is left."""
    content = clean_text(turn.content).strip()
    if not content:
        return None
    return replace(
        turn,
        role=clean_text(turn.role).strip().lower() or "unknown",
        content=content,
        conversation_id=_optional(turn.conversation_id),
        native_id=_optional(turn.native_id),
        project=_optional(turn.project),
        cwd=_optional(turn.cwd),
        metadata={clean_text(key): clean_value(value) for key, value in turn.metadata.items()},
    )


def clean_text(text: str) -> str:
    r"""Without terminal escapes and NUL bytes, `\n` for every line end; halves of surrogate pairs joined or replaced."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    if _SURROGATE.search(text):
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return _ANSI.sub("", text)


def clean_value(value: object) -> object:
    """A JSON value with every text in it clean; numbers that JSON or SQLite cannot hold become text."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, Mapping):
        return {clean_text(str(key)): clean_value(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [clean_value(inner) for inner in value]
    if isinstance(value, int) and not isinstance(value, bool) and not -(1 << 63) <= value < 1 << 63:
        return str(value)
    return value


def _optional(text: str | None) -> str | None:
    return None if text is None else clean_text(text) or None
