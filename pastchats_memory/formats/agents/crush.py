"""Crush's database to turns: sessions, and messages in parts; it lies in the folder of the project that they are about.

Source: `internal/message` and `internal/db/migrations` of github.com/charmbracelet/crush, which OpenCode's first program shared.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from pastchats_memory.files.foreign_sqlite import Database
from pastchats_memory.formats.base.format import Format, confident
from pastchats_memory.formats.base.locations import Environment
from pastchats_memory.formats.base.session import Position, Row, SessionBuilder, SessionInfo
from pastchats_memory.formats.base.source import Json, SourceFile, list_of, mapping_of, number_of, parse_json, text_of
from pastchats_memory.formats.base.tags import without_rim
from pastchats_memory.formats.base.tools import ToolResult

FORMAT = "crush"
VERSION = 2

FOLDERS = (".crush", ".opencode")
"""Where the database lies, below the project."""
CWD = ("cwd",)
"""The tag around the folder that Crush tells the model below a command's output."""
TITLES = "title-"
"""What the id of a session begins with in which a model was asked for a title."""
FLAGS = {"canceled": "interrupted", "error": "api_error"}
_EXIT = re.compile(r"(?:\A|\n)Exit code (\d{1,9})\Z")


def recognise(source: SourceFile) -> bool:
    """Whether it is a database of sessions with messages in parts."""
    sessions, messages = (source.tables.get(name, frozenset()) for name in ("sessions", "messages"))
    return sessions >= {"id", "parent_session_id", "title"} and messages >= {"session_id", "role", "parts"}


def read(source: SourceFile) -> Iterator[Row]:
    """The turns of one session after the other."""
    folder = source.path.absolute().parent
    cwd = str(folder.parent) if folder.name in FOLDERS else None
    yield from source.from_database(lambda database: _sessions(database, cwd))


def _sessions(database: Database, cwd: str | None) -> Iterator[Row]:
    columns = ("id", "parent_session_id", "title")
    for own_id, parent, title in database.rows("sessions", columns, order=("created_at", "id")):
        if not text_of(own_id).startswith(TITLES):
            metadata: Json = {"title": text_of(title), "parent_conversation_id": text_of(parent)}
            builder = SessionBuilder(SessionInfo(text_of(own_id), cwd, metadata=metadata))
            _messages(database, builder, "sidechain" if parent else "main")
            yield from builder.flush()


def _messages(database: Database, builder: SessionBuilder, branch: str) -> None:
    columns = ("id", "role", "parts", "model", "created_at", "is_summary_message")
    where = {"session_id": builder.info.conversation_id}
    for own_id, role, parts, model, created, is_summary in database.rows(
        "messages", columns, where=where, order=("created_at",)
    ):
        told = parts if isinstance(parts, bytes) else text_of(parts)
        blocks = [_block(mapping_of(part)) for part in list_of(parse_json(told))]
        builder.model = text_of(model)
        _take(
            builder, "summary" if is_summary else text_of(role), blocks, Position(1, created, text_of(own_id), branch)
        )


def _block(part: Json) -> Json:
    """A part's fields, with its type among them."""
    return mapping_of(part.get("data")) | {"type": part.get("type")}


def _take(builder: SessionBuilder, role: str, blocks: list[Json], at: Position) -> None:
    """Add what a message says."""
    text = "\n\n".join(
        text_of(block.get("text")) for block in blocks if block["type"] == "text" and block.get("hidden") is not True
    )
    match role:
        case "summary":
            builder.add_turn("system", "summary", text, at)
        case "user":
            builder.add_prompt(text, at, sum(_is_picture(block) for block in blocks))
        case "assistant":
            builder.add_answer(text, at)
    for block in blocks:
        match block["type"]:
            case "tool_call":
                builder.add_call(text_of(block.get("id")), text_of(block.get("name")), block.get("input"))
            case "tool_result":
                builder.add_result(text_of(block.get("tool_call_id")), _output(block), at)
            case "shell_command":
                _typed_command(builder, block, at)
            case "finish" if flag := FLAGS.get(text_of(block.get("reason"))):
                builder.queue.flag(flag)


def _is_picture(block: Json) -> bool:
    is_image = block["type"] == "binary" and text_of(block.get("MIMEType")).startswith("image/")
    return is_image or block["type"] == "image_url"


def _output(block: Json) -> ToolResult:
    """What a tool answered; of a command that failed the exit code stands on the last line."""
    text = without_rim(text_of(block.get("content")), CWD)
    found = _EXIT.search(text)
    if found is None:
        return ToolResult(text, failed=block.get("is_error") is True)
    return ToolResult(text[: found.start()], int(found[1]), failed=True)


def _typed_command(builder: SessionBuilder, block: Json, at: Position) -> None:
    """A shell command of the person's own, with what it printed."""
    command, code = text_of(block.get("command")), number_of(block.get("exit_code"))
    builder.add_prompt(f"! {command}", at, kind="command")
    builder.add_call(at.native_id, "bash", {"command": command})
    builder.add_result(at.native_id, ToolResult(text_of(block.get("output")), code, failed=bool(code)), at)


def locations(environment: Environment) -> Iterator[Path]:
    """The databases of the projects in which Crush says that it was used; it keeps one in each of them."""
    listed = environment.folder("CRUSH_GLOBAL_DATA", environment.data / "crush") / "projects.json"
    try:
        told = json.loads(listed.read_bytes())
    except (OSError, ValueError):
        return
    projects = told.get("projects") if isinstance(told, dict) else None
    for project in projects if isinstance(projects, list) else ():
        match project:
            case {"path": str(path), "data_dir": str(folder)}:
                yield Path(path, folder, "crush.db")


CRUSH = Format(
    name="crush",
    version=2,
    detect=confident(recognise, 90),
    read=read,
    program="Crush",
    locations=locations,
)
