"""GitHub Copilot CLI sessions: an event `{type, data, id, timestamp, parentId}` on each line."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pastchats_memory.formats.agents.copilot.dialect import DIALECT
from pastchats_memory.formats.base.session import Position, Row, SessionBuilder, SessionInfo, folder_of, read_session
from pastchats_memory.formats.base.sibling_files import recorded_cwd
from pastchats_memory.formats.base.source import Json, Record, SourceFile, list_of, mapping_of, text_of
from pastchats_memory.formats.base.tags import without_rim
from pastchats_memory.formats.base.tools import ToolResult, text_of_result

EVENT_GROUPS = ("session", "user", "assistant", "tool", "system", "subagent", "hook", "skill")
"""The part of an event's type before the dot."""
MESSAGES = ("user.message", "assistant.message")
"""Events that are known without a place in the chain."""
APPENDED = ("current_datetime", "reminder", "system_reminder", "system-reminder", "system_notification")
FLAGS = {"session.error": "api_error", "abort": "interrupted"}

_EXITED = re.compile(r"\n?<(?:exited with exit code|shellId: \d+ completed with exit code) (-?\d{1,9})>\s*\Z")


def matches(source: SourceFile) -> bool:
    """Return whether one of the first records is an event with a dotted type, data and a parent."""
    return any(_is_event(record) for record in source.sample)


def _is_event(record: Json) -> bool:
    name = text_of(record.get("type"))
    kind, dot, _ = name.partition(".")
    chained = bool(dot) and kind in EVENT_GROUPS and "parentId" in record
    return (chained or name in MESSAGES) and isinstance(record.get("data"), dict)


def read(source: SourceFile) -> Iterator[Row]:
    """Yield the turns in file order, and unreadable lines."""
    path = source.path  # of versions whose events do not tell the working directory, a file beside them does
    builder = SessionBuilder(
        SessionInfo(path.parent.name if path.stem == "events" else path.stem, recorded_cwd(path.parent)),
        DIALECT,
    )
    yield from read_session(source, builder, lambda item: _add_record(builder, item))


def _add_record(builder: SessionBuilder, item: Record) -> str | None:
    """Add one event. Return why it is unreadable, or None."""
    event = item.value
    if not isinstance(event, dict):
        return f"a {type(event).__name__} instead of an event"
    kind, data = text_of(event.get("type")), mapping_of(event.get("data"))
    aside = text_of(event.get("agentId")) or text_of(data.get("parentToolCallId"))
    at = Position(item.line, event.get("timestamp"), text_of(event.get("id")), aside=aside)
    if kind.startswith("session."):
        _session(builder, kind, data, at)
    if kind in FLAGS:
        builder.queue.flag(FLAGS[kind])
    match kind:
        case "user.message":
            return _prompt(builder, data, at)
        case "assistant.message":
            builder.add_answer(text_of(data.get("content")), at, text_of(data.get("model")))
            for request in map(mapping_of, list_of(data.get("toolRequests"))):
                _call(builder, request, "name")
        case "tool.execution_start":
            _call(builder, data, "toolName")
        case "tool.user_requested":
            command = text_of(mapping_of(data.get("arguments")).get("command"))
            builder.add_prompt(f"! {command}" if command else "", at, kind="command")
            _call(builder, data, "toolName")
        case "tool.execution_complete":
            builder.add_result(text_of(data.get("toolCallId")), _output(data), at)
    return None


def _session(builder: SessionBuilder, kind: str, data: Json, at: Position) -> None:
    """Set folder and model of the session, or add the summary of a compaction."""
    about, context = builder.info, mapping_of(data.get("context"))
    if kind in ("session.start", "session.resume"):
        about.conversation_id = text_of(data.get("sessionId")) or about.conversation_id
        about.cwd = folder_of(context.get("cwd")) or about.cwd
        about.metadata["git_branch"] = text_of(context.get("branch")) or about.metadata.get("git_branch")
    builder.model = text_of(data.get("selectedModel")) or text_of(data.get("newModel")) or builder.model
    if kind in ("session.compaction_complete", "session.handoff"):
        builder.add_turn("system", "summary", text_of(data.get("summaryContent")) or text_of(data.get("summary")), at)


def _prompt(builder: SessionBuilder, data: Json, at: Position) -> str | None:
    content = data.get("content")
    if not isinstance(content, str):
        return f"content of a message is a {type(content).__name__}"
    sent_by_program = data.get("isAutopilotContinuation") is True or "crossSession" in data
    if data.get("source") in (None, "", "user") and not sent_by_program:
        builder.add_prompt(
            without_rim(content, APPENDED), at, len(list_of(data.get("attachments"))) if not content else 0
        )
    return None


def _call(builder: SessionBuilder, data: Json, name: str) -> None:
    builder.add_call(text_of(data.get("toolCallId")), text_of(data.get(name)), data.get("arguments"))


def _output(data: Json) -> ToolResult:
    """Return a tool result; a shell prints the exit code at the end."""
    text = text_of_result(data.get("result")) or text_of(mapping_of(data.get("error")).get("message"))
    failed = data.get("success") is False
    exited = _EXITED.search(text[-200:])
    if not exited:
        return ToolResult(text, failed=failed)
    code = int(exited[1])
    return ToolResult(text[: -len(exited[0])], code, failed=failed or code != 0)
