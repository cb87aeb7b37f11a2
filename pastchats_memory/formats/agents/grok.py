"""Sessions of xAI's Grok Build to turns: the updates of the Agent Client Protocol between agent and editor, one a line.

Source: https://agentclientprotocol.com/protocol/session-setup for the updates, `docs/user-guide/17-sessions.md` of the
program for the folder: `sessions/<percent-encoded cwd>/<session>/updates.jsonl` is the conversation, and
`chat_history.jsonl` beside it what the model was sent of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

from pastchats_memory.formats.base.companions import named_after
from pastchats_memory.formats.base.format import Format, confident
from pastchats_memory.formats.base.session import Position, Row, SessionBuilder, SessionInfo, read_session
from pastchats_memory.formats.base.sibling_files import read_sibling
from pastchats_memory.formats.base.source import Json, Record, SourceFile, list_of, mapping_of, text_of
from pastchats_memory.formats.base.tools import ToolResult, parse_printed

FORMAT = "grok"
VERSION = 2

UPDATES, SENT, SUMMARY = "updates.jsonl", "chat_history", "summary.json"
CHUNKS = {"user_message_chunk": "user", "agent_message_chunk": "assistant"}
ENDED = ("completed", "failed")

_FOLDER = re.compile(r"/|[A-Za-z]:[/\\]")


def recognise(source: SourceFile) -> bool:
    """Whether any of the first records is an update of a session."""
    return any(_update(record) for record in source.sample)


def _update(record: Json) -> Json:
    """The update that a notification brings, or an empty object."""
    update = mapping_of(mapping_of(record.get("params")).get("update"))
    is_update = text_of(record.get("method")).endswith("session/update") and isinstance(
        update.get("sessionUpdate"), str
    )
    return update if is_update else {}


def read(source: SourceFile) -> Iterator[Row]:
    """The turns in file order; lines that are no notifications."""
    builder = SessionBuilder(SessionInfo(source.path.parent.name or None, _folder(source.path.parent.parent)))
    calls: Json = mapping_of(source.resumed.state.get("open")) if source.resumed else {}
    yield from read_session(source, builder, lambda item: _take(builder, item, calls), {"open": calls})


def _folder(group: Path) -> str | None:
    """The working directory that a folder of sessions is named after, or that a file in it names where that would be too long."""
    named = read_sibling(group / ".cwd").strip() or unquote(group.name)
    return named if _FOLDER.match(named) else None


def _take(builder: SessionBuilder, item: Record, calls: Json) -> str | None:
    """Add what the notification says; the reason why it says nothing that can be read, else None.

    Args:
        telling: the turns.
        item: the record.
        calls: what is known of each call that has not ended, by its id.
    """
    record = item.value
    if not isinstance(record, dict):
        return f"a {type(record).__name__} instead of a notification"
    update, params = _update(record), mapping_of(record.get("params"))
    metas = mapping_of(params.get("_meta")), mapping_of(update.get("_meta"))
    time = next((meta["agentTimestampMs"] for meta in metas if "agentTimestampMs" in meta), record.get("timestamp"))
    at = Position(item.line, time)
    builder.info.conversation_id = text_of(params.get("sessionId")) or builder.info.conversation_id
    builder.model = text_of(metas[1].get("modelId")) or builder.model
    match update.get("sessionUpdate"):
        case str(kind) if kind in CHUNKS:
            builder.add_chunk(CHUNKS[kind], text_of(mapping_of(update.get("content")).get("text")), at)
        case "tool_call" | "tool_call_update":
            _call(builder, update, calls, at)
        case "plan":
            builder.queue.add_plan("update_plan", {"plan": update.get("entries")})
        case _:
            builder.end_chunk()
    return None


def _call(builder: SessionBuilder, update: Json, calls: Json, at: Position) -> None:
    """Take what is new of a call; it is told once its input is known or it ends."""
    call_id = text_of(update.get("toolCallId"))
    told_before = mapping_of(calls.get(call_id))
    call = told_before | {key: value for key, value in update.items() if value not in (None, "", [], {})}
    has_ended = call.get("status") in ENDED
    if not told_before.get("is_told") and (call.get("rawInput") or has_ended):
        builder.add_call(call_id, text_of(call.get("kind")) or text_of(call.get("title")) or "tool", _input(call))
        call["is_told"] = True
    calls[call_id] = {key: call[key] for key in ("kind", "title", "rawInput", "locations", "is_told") if key in call}
    if has_ended:
        builder.add_result(call_id, _output(call), at)
        del calls[call_id]


def _input(call: Json) -> Json:
    """What the call was given; of one that does not say, the title or the first place that it names."""
    given = mapping_of(call.get("rawInput"))
    places = [text_of(mapping_of(place).get("path")) for place in list_of(call.get("locations"))]
    title = text_of(call.get("title")).strip("`")
    said: Json = {"command": title} if call.get("kind") == "execute" else {"path": next(iter(places), title)}
    return given or said


def _output(call: Json) -> ToolResult:
    """What the tool answered: as it was shown, else as it came."""
    raw = call.get("rawOutput")
    shown = (mapping_of(mapping_of(part).get("content")) for part in list_of(call.get("content")))
    text = "\n".join(text for part in shown if (text := text_of(part.get("text"))))
    printed = parse_printed(mapping_of(raw), failed=call.get("status") == "failed")
    return replace(printed, text=text or text_of(raw) or printed.text)


GROK = Format(
    name="grok",
    version=2,
    detect=confident(recognise, 90),
    read=read,
    program="Grok Build",
    locations=lambda environment: iter([environment.folder("GROK_HOME", environment.home / ".grok") / "sessions"]),
    companions=named_after({UPDATES: (SENT, SUMMARY)}),
)
