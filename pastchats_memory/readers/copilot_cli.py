"""GitHub Copilot CLI sessions to turns: an event a line, `{type, data, id, timestamp, parentId}`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pastchats_memory.readers.beside import recorded_cwd
from pastchats_memory.readers.fields import Json, list_of, mapping_of, text_of
from pastchats_memory.readers.injected import without_rim
from pastchats_memory.readers.source import Record, Source
from pastchats_memory.readers.telling import About, At, Row, Telling, folder_of, told
from pastchats_memory.readers.traffic import Output, text_in

FORMAT = "copilot-cli"
VERSION = 6

KINDS = ("session", "user", "assistant", "tool", "system", "subagent", "hook", "skill")
"""What stands before the dot in an event's type."""
SPOKEN = ("user.message", "assistant.message")
"""Events that need no place in the chain to be known."""
APPENDED = ("current_datetime", "reminder", "system_reminder", "system-reminder", "system_notification")
FLAGS = {"session.error": "api_error", "abort": "interrupted"}

_EXITED = re.compile(r"\n?<(?:exited with exit code|shellId: \d+ completed with exit code) (-?\d{1,9})>\s*\Z")


def recognise(source: Source) -> bool:
    """Whether any of the first records is an event with a dotted type, data and a place in the chain."""
    return any(_is_event(record) for record in source.sample)


def _is_event(record: Json) -> bool:
    name = text_of(record.get("type"))
    kind, dot, _ = name.partition(".")
    chained = bool(dot) and kind in KINDS and "parentId" in record
    return (chained or name in SPOKEN) and isinstance(record.get("data"), dict)


def read(source: Source) -> Iterator[Row]:
    """The turns in file order; lines that are no events."""
    path = source.path  # of versions whose events do not tell the working directory, a file beside them does
    telling = Telling(About(path.parent.name if path.stem == "events" else path.stem, recorded_cwd(path.parent)))
    yield from told(source, telling, lambda item: _take(telling, item))


def _take(telling: Telling, item: Record) -> str | None:
    """Add what the event says; the reason why it says nothing that can be read, else None."""
    event = item.value
    if not isinstance(event, dict):
        return f"a {type(event).__name__} instead of an event"
    kind, data = text_of(event.get("type")), mapping_of(event.get("data"))
    aside = text_of(event.get("agentId")) or text_of(data.get("parentToolCallId"))
    at = At(item.line, event.get("timestamp"), text_of(event.get("id")), aside=aside)
    if kind.startswith("session."):
        _session(telling, kind, data, at)
    if kind in FLAGS:
        telling.drafts.flag(FLAGS[kind])
    match kind:
        case "user.message":
            return _prompt(telling, data, at)
        case "assistant.message":
            telling.answer(text_of(data.get("content")), at, text_of(data.get("model")))
            for request in map(mapping_of, list_of(data.get("toolRequests"))):
                _call(telling, request, "name")
        case "tool.execution_start":
            _call(telling, data, "toolName")
        case "tool.user_requested":
            command = text_of(mapping_of(data.get("arguments")).get("command"))
            telling.prompt(f"! {command}" if command else "", at, kind="command")
            _call(telling, data, "toolName")
        case "tool.execution_complete":
            telling.result(text_of(data.get("toolCallId")), _output(data), at)
    return None


def _session(telling: Telling, kind: str, data: Json, at: At) -> None:
    """What the session says of itself: where it runs, which model answers, what a compaction made of it."""
    about, context = telling.about, mapping_of(data.get("context"))
    if kind in ("session.start", "session.resume"):
        about.conversation_id = text_of(data.get("sessionId")) or about.conversation_id
        about.cwd = folder_of(context.get("cwd")) or about.cwd
        about.metadata["git_branch"] = text_of(context.get("branch")) or about.metadata.get("git_branch")
    telling.model = text_of(data.get("selectedModel")) or text_of(data.get("newModel")) or telling.model
    if kind in ("session.compaction_complete", "session.handoff"):
        telling.say("system", "summary", text_of(data.get("summaryContent")) or text_of(data.get("summary")), at)


def _prompt(telling: Telling, data: Json, at: At) -> str | None:
    content = data.get("content")
    if not isinstance(content, str):
        return f"content of a message is a {type(content).__name__}"
    sent_by_program = data.get("isAutopilotContinuation") is True or "crossSession" in data
    if data.get("source") in (None, "", "user") and not sent_by_program:
        telling.prompt(without_rim(content, APPENDED), at, len(list_of(data.get("attachments"))) if not content else 0)
    return None


def _call(telling: Telling, data: Json, name: str) -> None:
    telling.call(text_of(data.get("toolCallId")), text_of(data.get(name)), data.get("arguments"))


def _output(data: Json) -> Output:
    """What a tool answered; a shell says at the end with which code its command exited."""
    text = text_in(data.get("result")) or text_of(mapping_of(data.get("error")).get("message"))
    failed = data.get("success") is False
    exited = _EXITED.search(text[-200:])
    if not exited:
        return Output(text, failed=failed)
    code = int(exited[1])
    return Output(text[: -len(exited[0])], code, failed=failed or code != 0)
