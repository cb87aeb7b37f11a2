"""Read sessions of Kimi's two command lines: the events between agent and screen, one a line.

The newer one writes `<session>/agents/<agent>/wire.jsonl` with `state.json` beside the agents. The older one writes
`<session>/wire.jsonl`, and beside it `context.jsonl`, the messages that the model received. That file is read if it is alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import md5
from pathlib import Path

from pastchats_memory.formats.base.companions import named_after
from pastchats_memory.formats.base.format import CERTAIN, Format, Session
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

WIRE, SENT, AGENTS, STATE = "wire.jsonl", "context", "agents", "state.json"
EVENTS = ("turn.prompt", "turn.steer", "context.append_message", "context.append_loop_event")
OLDER = ("TurnBegin", "StepBegin", "ContentPart", "ToolCall", "ToolResult")
CHECKPOINT = "_checkpoint"
"""Role of a line without words, among the messages that the model received."""
NOTE, NOTE_ENDS = "<system>", "</system>"
PERSON = ("", "user")
"""Origins of a message that a person wrote. Other messages in the user's role come from a hook or a reminder."""
FLAGS = {"cancelled": "interrupted", "error": "api_error", "failed": "api_error"}

_COMMAND = re.compile(r"/[\w:-]{1,40}(?:\s|\Z)")
_EXIT = re.compile(r"(?:failed with |\A)exit code:? (\d{1,9})\b", re.IGNORECASE)


def detect(source: SourceFile) -> int:
    """Return 90 if one of the first records is an event, or a checkpoint between messages; else 0."""
    return CERTAIN if any(_is_event(record) or record.get("role") == CHECKPOINT for record in source.sample) else 0


def _is_event(record: Json) -> bool:
    return record.get("type") in EVENTS or _older_event(record)[0] in OLDER


def _older_event(record: Json) -> tuple[str, Json]:
    """Return kind and content of an event of the older command line; empty for any other line."""
    message = mapping_of(record.get("message"))
    payload = message.get("payload")
    return (text_of(message.get("type")), payload) if isinstance(payload, dict) else ("", {})


def read(source: SourceFile) -> Iterator[Row]:
    """Yield the turns in file order, and the lines that are no events."""
    builder = SessionBuilder(_session_info(source.path))
    last: Json = {"prompt": text_of(source.resumed.state.get("prompt")) if source.resumed else ""}
    yield from read_session(source, builder, lambda item: _add_event(builder, item, last), last)


def _session_info(path: Path) -> SessionInfo:
    """Return the session by the folders of a file; a subagent's file names the session as its parent."""
    if path.name != WIRE and not path.stem.startswith(SENT):
        return SessionInfo(path.stem)
    agent, agents = path.parent, path.parent.parent
    session = agents.parent if agents.name == AGENTS else agent
    cwd = folder_of(read_sibling_field(session / STATE, "workDir", "cwd")) or _folder_by_digest(session.parent)
    if agents.name == AGENTS and agent.name != "main":
        return SessionInfo(f"{session.name}/{agent.name}", cwd, metadata={"parent_conversation_id": session.name})
    return SessionInfo(session.name or None, cwd)


def _folder_by_digest(group: Path) -> str | None:
    """Return the folder whose digest is the name of a group of sessions, from the list above them."""
    listed = mapping_of(parse_json(read_sibling(group.parent.parent / "kimi.json"))).get("work_dirs")
    paths = (text_of(mapping_of(folder).get("path")) for folder in list_of(listed))
    return next((path for path in paths if group.name == _digest(path)), None)


def _digest(path: str) -> str:
    return md5(path.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()


def _add_event(builder: SessionBuilder, item: Record, last: Json) -> str | None:
    """Add the turns of an event; return why it cannot be read, else None.

    Args:
        builder: the session.
        item: the record.
        last: under `prompt` the last prompt, which is repeated as a message to the model.
    """
    record = item.value
    if not isinstance(record, dict):
        return f"a {type(record).__name__} instead of an event"
    branch = "sidechain" if "parent_conversation_id" in builder.info.metadata else "main"
    at = Position(item.line, record.get("time") or record.get("timestamp"), branch=branch)
    match record.get("type"):
        case "turn.prompt" | "turn.steer":
            last["prompt"] = _add_prompt(builder, record, record.get("input") or record.get("content"), at)
        case "context.append_message":
            _add_message(builder, mapping_of(record.get("message")), at, last)
        case "context.append_loop_event":
            _add_loop_event(builder, mapping_of(record.get("event")), at)
        case "context.apply_compaction":
            builder.add_turn("system", "summary", text_of(record.get("summary")), at)
        case None if "role" in record:
            _add_message(builder, record, at, last)
        case None:
            _add_older_event(builder, *_older_event(record), at)
        case kind:
            _apply_state(builder, text_of(kind), record)
    return None


def _apply_state(builder: SessionBuilder, kind: str, record: Json) -> None:
    """Apply an event about the session itself: its model, its folder, the end of a turn."""
    match kind:
        case "config.update":
            builder.model = text_of(record.get("modelAlias")) or builder.model
            builder.info.cwd = builder.info.cwd or folder_of(record.get("cwd"))
        case "turn.cancel":
            builder.queue.flag("interrupted")
        case "turn.ended" if flag := FLAGS.get(text_of(record.get("reason"))):
            builder.queue.flag(flag)


def _add_prompt(builder: SessionBuilder, fields: Json, content: object, at: Position) -> str:
    """Add a prompt and return its text; return `""` if no person typed it."""
    text = texts_of(content).strip()
    if text_of(mapping_of(fields.get("origin")).get("kind")) not in PERSON:
        return ""
    pictures = count_images(content, ("image", "image_url"))
    builder.add_prompt(text, at, pictures, kind="command" if _COMMAND.match(text) else "prompt")
    return text


def _add_message(builder: SessionBuilder, message: Json, at: Position, last: Json) -> None:
    """Add a message to the model, unless it repeats the last prompt or an answer that came as events."""
    content = message.get("content")
    match message.get("role"):
        case "user" if last["prompt"] and texts_of(content).strip() == last["prompt"]:
            last["prompt"] = ""
        case "user":
            _add_prompt(builder, message, content, at)
        case "assistant" if not _is_last_answer(builder, texts_of(content)):
            builder.add_answer(texts_of(content), at)
            for call in map(mapping_of, list_of(message.get("toolCalls")) or list_of(message.get("tool_calls"))):
                builder.add_openai_call(call)
        case "tool":
            call_id = text_of(message.get("toolCallId")) or text_of(message.get("tool_call_id"))
            if builder.awaits_result(call_id):
                builder.add_result(call_id, _parse_noted_result(texts_of(content)), at)


def _parse_noted_result(text: str) -> ToolResult:
    """Return a tool result from a message to the model, in which the client's note stands above it."""
    note, closed, rest = text.removeprefix(NOTE).partition(NOTE_ENDS) if text.startswith(NOTE) else ("", "", "")
    return _parse_result(rest.strip(), note, failed=note.startswith("ERROR")) if closed else ToolResult(text)


def _is_last_answer(builder: SessionBuilder, text: str) -> bool:
    turn = builder.queue.last_spoken
    return turn is not None and turn.role == "assistant" and "".join(turn.texts).strip() == text.strip()


def _add_loop_event(builder: SessionBuilder, event: Json, at: Position) -> None:
    """Add the turns of an event from the model's loop: a part of an answer, a tool call or its result."""
    call_id = text_of(event.get("toolCallId"))
    match event.get("type"):
        case "content.part":
            _add_part(builder, mapping_of(event.get("part")), at)
        case "tool.call":
            builder.add_call(call_id, text_of(event.get("name")), event.get("args"))
        case "tool.result":
            result = mapping_of(event.get("result"))
            output = _parse_result(texts_of(result.get("output")), failed=result.get("isError") is True)
            builder.add_result(call_id, output, at)
        case _:
            builder.end_chunk()


def _add_part(builder: SessionBuilder, part: Json, at: Position) -> None:
    if part.get("type") == "text" and (text := text_of(part.get("text"))):
        builder.add_chunk("assistant", text, at)
    else:
        builder.end_chunk()


def _add_older_event(builder: SessionBuilder, kind: str, payload: Json, at: Position) -> None:
    match kind:
        case "TurnBegin" | "SteerInput":
            _add_prompt(builder, {}, payload.get("original_input") or payload.get("user_input"), at)
        case "ContentPart":
            _add_part(builder, payload, at)
        case "ToolCall":
            builder.add_openai_call(payload)
        case "ToolResult":
            result = mapping_of(payload.get("return_value"))
            text, note = texts_of(result.get("output")), text_of(result.get("message"))
            output = _parse_result(text, note, failed=result.get("is_error") is True)
            builder.add_result(text_of(payload.get("tool_call_id")), output, at)
        case "StepInterrupted":
            builder.queue.flag("interrupted")
        case _:
            builder.end_chunk()


def _parse_result(text: str, note: str = "", *, failed: bool) -> ToolResult:
    """Return a tool result; the exit code of a failed command stands in the client's note, else in the text."""
    found = _EXIT.search(note or text) if failed else None
    return ToolResult(text or note, int(found[1]) if found else None, failed=failed)


def locations(environment: Environment) -> Iterator[Path]:
    """Yield the folders of the newer and the older command line's sessions."""
    yield environment.folder("KIMI_CODE_HOME", environment.home / ".kimi-code") / "sessions"
    yield environment.home / ".kimi" / "sessions"


def resume(session: Session) -> list[str]:
    """Return the command of Kimi's manual (moonshotai.github.io/kimi-code/en/guides/sessions); subagents share a session."""
    return ["kimi", "--session", session.conversation_id.partition("/")[0]]


KIMI = Format(
    name="kimi",
    version=2,
    detect=detect,
    read=read,
    program="Kimi",
    locations=locations,
    companions=named_after({WIRE: (SENT,), AGENTS: (STATE,)}),
    resume=resume,
)
