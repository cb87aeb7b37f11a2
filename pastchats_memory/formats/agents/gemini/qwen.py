"""Qwen Code sessions to turns: records as Claude Code writes them, messages as Gemini makes them, in `parts`."""

from __future__ import annotations

from collections.abc import Iterator

from pastchats_memory.formats.agents.gemini.content import shell_output, typed
from pastchats_memory.formats.base.session import Position, Row, SessionBuilder, SessionInfo, folder_of, read_session
from pastchats_memory.formats.base.source import Json, Record, SourceFile, list_of, mapping_of, text_of
from pastchats_memory.formats.base.tools import ToolResult
from pastchats_memory.formats.base.tree import BranchTree
from pastchats_memory.formats.base.wrappers import BUILT_INS, REMINDERS, without_spans

FORMAT = "qwen-code"
VERSION = 5


SPOKEN = ("user", "assistant", "tool_result")
"""Types of records with a message, which is left out where an answer was cut off before its first word."""
SENT = frozenset({"notification", "cron", "goal_runtime"})
"""Subtypes of what the client sends in the user's role by itself."""


def recognise(source: SourceFile) -> bool:
    """Whether any of the first records has a session and a message in parts."""
    return any(_is_ours(record) for record in source.sample)


def _is_ours(record: Json) -> bool:
    return isinstance(mapping_of(record.get("message")).get("parts"), list) and isinstance(record.get("sessionId"), str)


def read(source: SourceFile) -> Iterator[Row]:
    """The turns in file order. The file is read twice: which branch was left behind is known only at its end."""
    branches = BranchTree(source.resumed.state if source.resumed else None)
    for item in source.records():
        record = mapping_of(item.value) if isinstance(item, Record) else {}
        branches.add(text_of(record.get("uuid")), text_of(record.get("parentUuid")))
    builder = SessionBuilder(SessionInfo(source.path.stem))
    yield from read_session(source, builder, lambda item: _take(builder, item, branches), branches.state())


def _take(builder: SessionBuilder, item: Record, branches: BranchTree) -> str | None:
    """Add what the record says; the reason why it says nothing that can be read, else None."""
    record = item.value
    if not isinstance(record, dict):
        return f"a {type(record).__name__} instead of a record"
    about, uuid = builder.info, text_of(record.get("uuid"))
    about.conversation_id = text_of(record.get("sessionId")) or about.conversation_id
    about.cwd = about.cwd or folder_of(record.get("cwd"))
    about.metadata["git_branch"] = text_of(record.get("gitBranch"))
    aside = text_of(record.get("agentId")) or "agent"
    at = Position(
        item.line, record.get("timestamp"), uuid, branches.of(uuid), aside if record.get("isSidechain") is True else ""
    )
    if record.get("type") == "system":
        _system(builder, record, at)
        return None
    message = mapping_of(record.get("message"))
    if record.get("type") in SPOKEN and "message" in record and not isinstance(message.get("parts"), list):
        return f"{record['type']} record without a message in parts"
    parts = [mapping_of(part) for part in list_of(message.get("parts"))]
    text = "\n\n".join(
        text for part in parts if part.get("thought") is not True and (text := text_of(part.get("text")))
    )
    match record.get("type"):
        case "user" if record.get("subtype") == "slash_command":
            _command(builder, text, at)
        case "user" if text_of(record.get("subtype")) not in SENT:
            shown = text_of(mapping_of(record.get("systemPayload")).get("displayText")) or typed(text)
            builder.add_prompt(without_spans(shown, REMINDERS), at, sum("inlineData" in part for part in parts))
        case "assistant":
            builder.add_answer(text, at, text_of(record.get("model")))
            for call in (mapping_of(part.get("functionCall")) for part in parts if "functionCall" in part):
                builder.add_call(text_of(call.get("id")), text_of(call.get("name")), call.get("args"))
        case "tool_result":
            for answer in (mapping_of(part.get("functionResponse")) for part in parts if "functionResponse" in part):
                builder.add_result(text_of(answer.get("id")), _output(record, mapping_of(answer.get("response"))), at)
    return None


def _system(builder: SessionBuilder, record: Json, at: Position) -> None:
    """Of the client's own records: title and parent, a command that a person typed, the summary that a compression began again with."""
    payload, metadata = mapping_of(record.get("systemPayload")), builder.info.metadata
    metadata["title"] = text_of(payload.get("customTitle")) or metadata.get("title")
    metadata["parent_conversation_id"] = text_of(payload.get("parentSessionId")) or metadata.get(
        "parent_conversation_id"
    )
    if record.get("subtype") == "slash_command" and payload.get("phase") != "result":
        _command(builder, text_of(payload.get("rawCommand")), at)
    elif record.get("subtype") == "chat_compression":
        # the rest of the compressed history repeats turns that stand above
        first = mapping_of(next(iter(list_of(payload.get("compressedHistory"))), None))
        parts = map(mapping_of, list_of(first.get("parts")))
        builder.add_turn("system", "summary", "\n\n".join(text_of(part.get("text")) for part in parts), at)


def _command(builder: SessionBuilder, text: str, at: Position) -> None:
    """A command that a person typed, if it asks the model anything."""
    command = text.strip()
    if command.removeprefix("/").partition(" ")[0].lower() not in BUILT_INS:
        builder.add_prompt(command, at, kind="command")


def _output(record: Json, response: Json) -> ToolResult:
    fault = text_of(response.get("error"))
    failed = bool(fault) or mapping_of(record.get("toolCallResult")).get("status") == "error"
    return shell_output(fault or text_of(response.get("output")), failed=failed)
