"""Sessions of Kimi's command lines to turns: what goes over the wire between agent and screen, an event a line, in two generations.

The newer one keeps `<session>/agents/<agent>/wire.jsonl` with `state.json` beside the agents; the older one keeps
`<session>/wire.jsonl`, and beside it, as `context.jsonl`, what the model was sent, which is read where it stands alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import md5
from pathlib import Path

from pastchats_memory.formats.base.companions import named_after
from pastchats_memory.formats.base.format import Format, confident
from pastchats_memory.formats.base.locations import Environment
from pastchats_memory.formats.base.session import (
    Position,
    Row,
    SessionBuilder,
    SessionInfo,
    count_images,
    folder_of,
    read_session,
    texts_of,
)
from pastchats_memory.formats.base.sibling_files import read_sibling, read_sibling_field
from pastchats_memory.formats.base.source import Json, Record, SourceFile, list_of, mapping_of, parse_json, text_of
from pastchats_memory.formats.base.tools import ToolResult

FORMAT = "kimi"
VERSION = 2

WIRE, SENT, AGENTS, STATE = "wire.jsonl", "context", "agents", "state.json"
EVENTS = ("turn.prompt", "turn.steer", "context.append_message", "context.append_loop_event")
OLDER = ("TurnBegin", "StepBegin", "ContentPart", "ToolCall", "ToolResult")
CHECKPOINT = "_checkpoint"
"""Role of a line that says nothing, in what the model was sent."""
NOTE, NOTE_ENDS = "<system>", "</system>"
PERSON = ("", "user")
"""Where a message in the user's role comes from; else a hook or a reminder made it."""
FLAGS = {"cancelled": "interrupted", "error": "api_error", "failed": "api_error"}

_COMMAND = re.compile(r"/[\w:-]{1,40}(?:\s|\Z)")
_EXIT = re.compile(r"(?:failed with |\A)exit code:? (\d{1,9})\b", re.IGNORECASE)


def recognise(source: SourceFile) -> bool:
    """Whether any of the first records goes over such a wire, or stands between messages that the model was sent."""
    return any(_is_event(record) or record.get("role") == CHECKPOINT for record in source.sample)


def _is_event(record: Json) -> bool:
    return record.get("type") in EVENTS or _older(record)[0] in OLDER


def _older(record: Json) -> tuple[str, Json]:
    """Kind and content of an event of the older generation; nothing for any other line."""
    message = mapping_of(record.get("message"))
    payload = message.get("payload")
    return (text_of(message.get("type")), payload) if isinstance(payload, dict) else ("", {})


def read(source: SourceFile) -> Iterator[Row]:
    """The turns in file order; lines that are no events."""
    builder = SessionBuilder(_about(source.path))
    said: Json = {"prompt": text_of(source.resumed.state.get("prompt")) if source.resumed else ""}
    yield from read_session(source, builder, lambda item: _take(builder, item, said), said)


def _about(path: Path) -> SessionInfo:
    """The session by the folders that the file lies in; what an agent does for another one belongs to the session of both."""
    if path.name != WIRE and not path.stem.startswith(SENT):
        return SessionInfo(path.stem)
    agent, agents = path.parent, path.parent.parent
    session = agents.parent if agents.name == AGENTS else agent
    cwd = folder_of(read_sibling_field(session / STATE, "workDir", "cwd")) or _hashed(session.parent)
    if agents.name == AGENTS and agent.name != "main":
        return SessionInfo(f"{session.name}/{agent.name}", cwd, metadata={"parent_conversation_id": session.name})
    return SessionInfo(session.name or None, cwd)


def _hashed(group: Path) -> str | None:
    """The folder whose digest names a group of sessions, out of the list that the older generation keeps above them."""
    listed = mapping_of(parse_json(read_sibling(group.parent.parent / "kimi.json"))).get("work_dirs")
    paths = (text_of(mapping_of(folder).get("path")) for folder in list_of(listed))
    return next((path for path in paths if group.name == _digest(path)), None)


def _digest(path: str) -> str:
    return md5(path.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()


def _take(builder: SessionBuilder, item: Record, said: Json) -> str | None:
    """Add what the event says; the reason why it says nothing that can be read, else None.

    Args:
        telling: the turns.
        item: the record.
        said: under `prompt` what was typed last, which comes a second time as the message that the model is sent.
    """
    record = item.value
    if not isinstance(record, dict):
        return f"a {type(record).__name__} instead of an event"
    branch = "sidechain" if "parent_conversation_id" in builder.info.metadata else "main"
    at = Position(item.line, record.get("time") or record.get("timestamp"), branch=branch)
    match record.get("type"):
        case "turn.prompt" | "turn.steer":
            said["prompt"] = _typed(builder, record, record.get("input") or record.get("content"), at)
        case "context.append_message":
            _message(builder, mapping_of(record.get("message")), at, said)
        case "context.append_loop_event":
            _event(builder, mapping_of(record.get("event")), at)
        case "context.apply_compaction":
            builder.add_turn("system", "summary", text_of(record.get("summary")), at)
        case None if "role" in record:
            _message(builder, record, at, said)
        case None:
            _older_event(builder, *_older(record), at)
        case kind:
            _learn(builder, text_of(kind), record)
    return None


def _learn(builder: SessionBuilder, kind: str, record: Json) -> None:
    """What the session says of itself: which model answers, where it runs, how a turn ended."""
    match kind:
        case "config.update":
            builder.model = text_of(record.get("modelAlias")) or builder.model
            builder.info.cwd = builder.info.cwd or folder_of(record.get("cwd"))
        case "turn.cancel":
            builder.queue.flag("interrupted")
        case "turn.ended" if flag := FLAGS.get(text_of(record.get("reason"))):
            builder.queue.flag(flag)


def _typed(builder: SessionBuilder, fields: Json, content: object, at: Position) -> str:
    """Add what was typed, if a person did; gives it."""
    text = texts_of(content).strip()
    if text_of(mapping_of(fields.get("origin")).get("kind")) not in PERSON:
        return ""
    pictures = count_images(content, ("image", "image_url"))
    builder.add_prompt(text, at, pictures, kind="command" if _COMMAND.match(text) else "prompt")
    return text


def _message(builder: SessionBuilder, message: Json, at: Position, said: Json) -> None:
    """Add a message that the model is sent; what was typed just before, and what the wire told of the answer, comes again in it."""
    content = message.get("content")
    match message.get("role"):
        case "user" if said["prompt"] and texts_of(content).strip() == said["prompt"]:
            said["prompt"] = ""
        case "user":
            _typed(builder, message, content, at)
        case "assistant" if not _is_told(builder, texts_of(content)):
            builder.add_answer(texts_of(content), at)
            for call in map(mapping_of, list_of(message.get("toolCalls")) or list_of(message.get("tool_calls"))):
                builder.add_openai_call(call)
        case "tool":
            call_id = text_of(message.get("toolCallId")) or text_of(message.get("tool_call_id"))
            if builder.awaits_result(call_id):
                builder.add_result(call_id, _sent(texts_of(content)), at)


def _sent(text: str) -> ToolResult:
    """What a tool answered as the model was sent it: below what the client says of it."""
    note, closed, rest = text.removeprefix(NOTE).partition(NOTE_ENDS) if text.startswith(NOTE) else ("", "", "")
    return _output(rest.strip(), note, failed=note.startswith("ERROR")) if closed else ToolResult(text)


def _is_told(builder: SessionBuilder, text: str) -> bool:
    spoken = builder.queue.last_spoken
    return spoken is not None and spoken.role == "assistant" and "".join(spoken.texts).strip() == text.strip()


def _event(builder: SessionBuilder, event: Json, at: Position) -> None:
    """Add what happened while the model worked."""
    call_id = text_of(event.get("toolCallId"))
    match event.get("type"):
        case "content.part":
            _piece(builder, mapping_of(event.get("part")), at)
        case "tool.call":
            builder.add_call(call_id, text_of(event.get("name")), event.get("args"))
        case "tool.result":
            result = mapping_of(event.get("result"))
            builder.add_result(
                call_id, _output(texts_of(result.get("output")), failed=result.get("isError") is True), at
            )
        case _:
            builder.end_chunk()


def _piece(builder: SessionBuilder, part: Json, at: Position) -> None:
    if part.get("type") == "text" and (text := text_of(part.get("text"))):
        builder.add_chunk("assistant", text, at)
    else:
        builder.end_chunk()


def _older_event(builder: SessionBuilder, kind: str, payload: Json, at: Position) -> None:
    match kind:
        case "TurnBegin" | "SteerInput":
            _typed(builder, {}, payload.get("original_input") or payload.get("user_input"), at)
        case "ContentPart":
            _piece(builder, payload, at)
        case "ToolCall":
            builder.add_openai_call(payload)
        case "ToolResult":
            result = mapping_of(payload.get("return_value"))
            output = _output(
                texts_of(result.get("output")), text_of(result.get("message")), failed=result.get("is_error") is True
            )
            builder.add_result(text_of(payload.get("tool_call_id")), output, at)
        case "StepInterrupted":
            builder.queue.flag("interrupted")
        case _:
            builder.end_chunk()


def _output(text: str, note: str = "", *, failed: bool) -> ToolResult:
    """What a tool answered; of a command that failed the words, or the note beside them, tell the exit code."""
    found = _EXIT.search(note or text) if failed else None
    return ToolResult(text or note, int(found[1]) if found else None, failed=failed)


def locations(environment: Environment) -> Iterator[Path]:
    yield environment.folder("KIMI_CODE_HOME", environment.home / ".kimi-code") / "sessions"
    yield environment.home / ".kimi" / "sessions"


KIMI = Format(
    name="kimi",
    version=2,
    detect=confident(recognise, 90),
    read=read,
    program="Kimi",
    locations=locations,
    companions=named_after({WIRE: (SENT,), AGENTS: (STATE,)}),
)
