"""Read the lists of prompts of Claude Code, Codex, Gemini CLI and Antigravity, which outlive transcripts."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pastchats_memory.formats.base.checkpoint import Checkpoint
from pastchats_memory.formats.base.dialect import COMMON, Dialect
from pastchats_memory.formats.base.format import CERTAIN, PROMPTS, Format
from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.formats.base.values import Json, list_of, mapping_of, text_of
from pastchats_memory.formats.registry import any_dialect
from pastchats_memory.model import Turn, Unreadable
from pastchats_memory.text.clean import clean
from pastchats_memory.text.timestamps import iso_utc

PLACES = frozenset({"project", "pastedContents", "workspace"})
"""Keys of an entry of Claude Code or Antigravity, of which it has at least one."""
_PASTED = re.compile(r"\[(?:Pasted text|\.\.\.Truncated text) #(\d{1,9})[^\]\n]{0,40}\]")


@dataclass(frozen=True, slots=True)
class _Entry:
    text: str
    session: str
    time: object
    dialect: Dialect = COMMON


def detect(source: SourceFile) -> int:
    """Return 90 if one of the first three records is an entry, else 0."""
    entries = list_of(source.outline) if source.shape == "json" else source.sample
    return CERTAIN if any(_parse_entry(mapping_of(entry)) for entry in entries[:3]) else 0


def _parse_entry(fields: Json) -> _Entry | None:
    """Return an entry of one of the four programs, with pasted texts in the place of their numbers; None for another record."""
    display, text, message = fields.get("display"), fields.get("text"), fields.get("message")
    session, is_typed = fields.get("session_id"), not PLACES.isdisjoint(fields) and "timestamp" in fields
    if isinstance(display, str) and is_typed:
        own_id = text_of(fields.get("sessionId")) or text_of(fields.get("conversationId"))
        pasted = mapping_of(fields.get("pastedContents"))
        contents = {number: text_of(mapping_of(value).get("content")) for number, value in pasted.items()}
        typed = _PASTED.sub(lambda found: contents.get(found[1]) or found[0], display)
        return _Entry(typed, own_id, fields["timestamp"])
    if isinstance(session, str) and isinstance(text, str) and "ts" in fields and "role" not in fields:
        return _Entry(text, session, fields["ts"])
    is_numbered = isinstance(fields.get("messageId"), int) and "sessionId" in fields
    if is_numbered and fields.get("type") == "user" and isinstance(message, str):
        return _Entry(message, str(fields["sessionId"]), fields.get("timestamp"), any_dialect())
    return None


def read(source: SourceFile) -> Iterator[Turn | Unreadable | Checkpoint]:
    """Yield a turn for each prompt, without the commands that only steer the client."""
    records = source.records()
    for item in source.elements() if source.shape == "json" else records:
        if isinstance(item, Unreadable):
            yield item
        elif (entry := _parse_entry(fields := mapping_of(item.value))) is None:
            yield Unreadable(str(source.path), item.line, "no entry of a list of prompts")
        elif (typed := entry.dialect.parse_typed(clean(entry.text).strip())).text:
            kind = "command" if typed.is_command or typed.text.startswith("!") else "prompt"
            cwd = text_of(fields.get("project")) or text_of(fields.get("workspace")) or None
            session = entry.session or None
            yield Turn("user", typed.text, item.line, None, session, iso_utc(entry.time), cwd, kind=kind)
    if source.shape == "jsonl":
        yield from records.checkpoint({})


PROMPT_HISTORY = Format("prompt-history", 4, detect, read, fidelity=PROMPTS)
