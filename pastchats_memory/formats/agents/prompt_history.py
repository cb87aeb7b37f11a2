"""The lists of prompts that Claude Code and Codex keep beside their transcripts: all that is left once those are cleared away."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pastchats_memory.formats.base.checkpoint import Checkpoint
from pastchats_memory.formats.base.dialect import COMMON
from pastchats_memory.formats.base.format import Format, confident
from pastchats_memory.formats.base.source import Json, Record, SourceFile, mapping_of, text_of
from pastchats_memory.model import Turn, Unreadable
from pastchats_memory.text.clean import clean
from pastchats_memory.text.timestamps import iso_utc

FORMAT = "prompt-history"
VERSION = 1

_COMMAND = re.compile(r"/([\w:-]+)(?=\s|\Z)")
_PASTED = re.compile(r"\[(?:Pasted text|\.\.\.Truncated text) #(\d{1,9})[^\]\n]{0,40}\]")


def recognise(source: SourceFile) -> bool:
    """Whether the first records are entries of such a list."""
    return bool(source.sample) and any(_is_claudes(record) or _is_codexs(record) for record in source.sample[:3])


def _is_claudes(record: Json) -> bool:
    return (
        isinstance(record.get("display"), str)
        and "timestamp" in record
        and ("project" in record or "pastedContents" in record)
    )


def _is_codexs(record: Json) -> bool:
    return (
        isinstance(record.get("session_id"), str)
        and isinstance(record.get("text"), str)
        and "ts" in record
        and "role" not in record
    )


def read(source: SourceFile) -> Iterator[Turn | Unreadable | Checkpoint]:
    """One turn a prompt, without commands that only steer the client."""
    records = source.records()
    for item in records:
        if isinstance(item, Unreadable):
            yield item
        elif turn := _turn(item):
            yield turn
        elif not (isinstance(item.value, dict) and (_is_claudes(item.value) or _is_codexs(item.value))):
            yield Unreadable(str(source.path), item.line, "no entry of a list of prompts")
    yield from records.checkpoint({})


def _turn(item: Record) -> Turn | None:
    fields = mapping_of(item.value)
    if _is_claudes(fields):
        text, session, time = _with_pasted(fields), text_of(fields.get("sessionId")), fields.get("timestamp")
    elif _is_codexs(fields):
        text, session, time = text_of(fields.get("text")), text_of(fields.get("session_id")), fields.get("ts")
    else:
        return None
    content, command = clean(text).strip(), _COMMAND.match(text.strip())
    if not content or (command and command[1].lower() in COMMON.commands):
        return None
    return Turn(
        role="user",
        kind="command" if command or content.startswith("!") else "prompt",
        content=content,
        line=item.line,
        conversation_id=session or None,
        timestamp=iso_utc(time),
        cwd=text_of(fields.get("project")) or None,
    )


def _with_pasted(fields: Json) -> str:
    """What was typed, with the texts that were pasted into it in the place of their numbers."""
    pasted = mapping_of(fields.get("pastedContents"))
    contents = {number: text_of(mapping_of(value).get("content")) for number, value in pasted.items()}
    return _PASTED.sub(lambda found: contents.get(found[1]) or found[0], text_of(fields.get("display")))


PROMPT_HISTORY = Format(
    name="prompt-history",
    version=1,
    detect=confident(recognise, 90),
    read=read,
    fidelity=0,
)
