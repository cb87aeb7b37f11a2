"""Read sessions of Kiro CLI's second version: a record `{version, kind, data}` a line, with `<id>.json` beside the file."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pastchats_memory.formats.base.companions import ending_in
from pastchats_memory.formats.base.format import CERTAIN, Format, Session
from pastchats_memory.formats.base.locations import below_home
from pastchats_memory.formats.base.session import Position, Row, SessionBuilder, SessionInfo, read_session
from pastchats_memory.formats.base.sibling_files import read_sibling_field
from pastchats_memory.formats.base.source import Json, Record, SourceFile, list_of, mapping_of, text_of
from pastchats_memory.formats.base.tools import ToolResult

SESSIONS = ".kiro/sessions/cli"
KINDS = ("Prompt", "AssistantMessage", "ToolResults")

_COMMAND = re.compile(r"/\w{1,40}\b")
_EXIT = re.compile(r"\d{1,9}\Z")


def detect(source: SourceFile) -> int:
    """Return 90 if one of the first records has such a kind and holds blocks, else 0."""
    return CERTAIN if any(record.get("kind") in KINDS and _blocks_of(record) for record in source.sample) else 0


def _blocks_of(record: Json) -> list[Json]:
    """Return the blocks `{kind, data}` of a message."""
    blocks = map(mapping_of, list_of(mapping_of(record.get("data")).get("content")))
    return [block for block in blocks if isinstance(block.get("kind"), str)]


def read(source: SourceFile) -> Iterator[Row]:
    """Yield the turns in file order, and the lines that are no records."""
    path = source.path
    builder = SessionBuilder(SessionInfo(path.stem, read_sibling_field(path.with_suffix(".json"), "cwd") or None))
    yield from read_session(source, builder, lambda item: _add_record(builder, item))


def _add_record(builder: SessionBuilder, item: Record) -> str | None:
    """Add the turns of a record; return why it cannot be read, else None."""
    record = item.value
    if not isinstance(record, dict):
        return f"a {type(record).__name__} instead of a record"
    data, blocks = mapping_of(record.get("data")), _blocks_of(record)
    at = Position(item.line, mapping_of(data.get("meta")).get("timestamp"), text_of(data.get("message_id")))
    text = "\n\n".join(text for block in blocks if block["kind"] == "text" and (text := text_of(block.get("data"))))
    match record.get("kind"):
        case "Prompt":
            pictures = sum(block["kind"] == "image" for block in blocks)
            builder.add_prompt(text, at, pictures, kind="command" if _COMMAND.match(text) else "prompt")
        case "AssistantMessage":
            builder.add_answer(text, at)
    for block in blocks:
        inner = mapping_of(block.get("data"))
        match block["kind"]:
            case "toolUse":
                builder.add_call(text_of(inner.get("toolUseId")), text_of(inner.get("name")), inner.get("input"))
            case "toolResult":
                builder.add_result(text_of(inner.get("toolUseId")), _parse_result(inner), at)
    return None


def _parse_result(result: Json) -> ToolResult:
    """Return a tool result: text, or the output of a command with its exit code."""
    texts: list[str] = []
    code: int | None = None
    for part in map(mapping_of, list_of(result.get("content"))):
        printed = mapping_of(part.get("data"))
        texts += [text_of(printed.get(key)) for key in ("stdout", "stderr")] if printed else [text_of(part.get("data"))]
        found = _EXIT.search(text_of(printed.get("exit_status")))
        code = int(found[0]) if found else code
    return ToolResult("\n".join(filter(None, texts)), code, failed=result.get("status") == "error" or bool(code))


def resume(session: Session) -> list[str]:
    """Return the command of Kiro CLI's manual (kiro.dev/docs/cli/chat/session-management)."""
    return ["kiro-cli", "chat", "--resume-id", session.conversation_id]


KIRO_CLI = Format(
    name="kiro-cli",
    version=3,
    detect=detect,
    read=read,
    program="Amazon Q, Kiro CLI",
    locations=below_home(SESSIONS),
    companions=ending_in(SESSIONS, ".json"),
    resume=resume,
)
