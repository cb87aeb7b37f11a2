"""Read the lists of prompts of Claude Code, Codex and Gemini CLI, which outlive transcripts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from pastchats_memory.formats.base.checkpoint import Checkpoint
from pastchats_memory.formats.base.dialect import COMMON
from pastchats_memory.formats.base.format import CERTAIN, PROMPTS, Format
from pastchats_memory.formats.base.source import Element, Json, Record, SourceFile, list_of, mapping_of, text_of
from pastchats_memory.formats.registry import any_dialect
from pastchats_memory.model import Turn, Unreadable
from pastchats_memory.text.clean import clean
from pastchats_memory.text.timestamps import iso_utc

_PASTED = re.compile(r"\[(?:Pasted text|\.\.\.Truncated text) #(\d{1,9})[^\]\n]{0,40}\]")


def detect(source: SourceFile) -> int:
    """Return 90 if one of the first three records is an entry, else 0."""
    entries = list_of(source.outline) if source.shape == "json" else source.sample
    return CERTAIN if any(_is_entry(mapping_of(entry)) for entry in entries[:3]) else 0


def _is_entry(record: Json) -> bool:
    return _is_claude_entry(record) or _is_codex_entry(record) or _is_gemini_entry(record)


def _is_claude_entry(record: Json) -> bool:
    return (
        isinstance(record.get("display"), str)
        and "timestamp" in record
        and ("project" in record or "pastedContents" in record)
    )


def _is_codex_entry(record: Json) -> bool:
    return (
        isinstance(record.get("session_id"), str)
        and isinstance(record.get("text"), str)
        and "ts" in record
        and "role" not in record
    )


def _is_gemini_entry(record: Json) -> bool:
    is_numbered = isinstance(record.get("messageId"), int) and "sessionId" in record
    return is_numbered and record.get("type") == "user" and isinstance(record.get("message"), str)


def read(source: SourceFile) -> Iterator[Turn | Unreadable | Checkpoint]:
    """Yield a turn for each prompt, without the commands that only steer the client."""
    if source.shape == "json":
        yield from _read_entries(source, source.elements())
        return
    records = source.records()
    yield from _read_entries(source, records)
    yield from records.checkpoint({})


def _read_entries(
    source: SourceFile, entries: Iterable[Record | Element | Unreadable]
) -> Iterator[Turn | Unreadable | Checkpoint]:
    for item in entries:
        if isinstance(item, Unreadable):
            yield item
        elif turn := _turn(item):
            yield turn
        elif not (isinstance(item.value, dict) and _is_entry(item.value)):
            yield Unreadable(str(source.path), item.line, "no entry of a list of prompts")


def _turn(item: Record | Element) -> Turn | None:
    fields = mapping_of(item.value)
    if _is_claude_entry(fields):
        text, session, time = _insert_pasted(fields), text_of(fields.get("sessionId")), fields.get("timestamp")
    elif _is_codex_entry(fields):
        text, session, time = text_of(fields.get("text")), text_of(fields.get("session_id")), fields.get("ts")
    elif _is_gemini_entry(fields):
        text, time = text_of(fields.get("message")), fields.get("timestamp")
        session = str(fields["sessionId"])
    else:
        return None
    dialect = any_dialect() if _is_gemini_entry(fields) else COMMON
    typed = dialect.parse_typed(clean(text).strip())
    if not typed.text:
        return None
    return Turn(
        role="user",
        kind="command" if typed.is_command or typed.text.startswith("!") else "prompt",
        content=typed.text,
        line=item.line,
        conversation_id=session or None,
        timestamp=iso_utc(time),
        cwd=text_of(fields.get("project")) or None,
    )


def _insert_pasted(fields: Json) -> str:
    """Return a prompt with the pasted texts in the place of their numbers."""
    pasted = mapping_of(fields.get("pastedContents"))
    contents = {number: text_of(mapping_of(value).get("content")) for number, value in pasted.items()}
    return _PASTED.sub(lambda found: contents.get(found[1]) or found[0], text_of(fields.get("display")))


PROMPT_HISTORY = Format(
    name="prompt-history",
    version=3,
    detect=detect,
    read=read,
    fidelity=PROMPTS,
    verified="2026-11",
)
