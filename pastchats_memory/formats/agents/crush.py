"""Read the database of Crush, which lies in the project's own folder.

Source: `internal/message` and `internal/db/migrations` of github.com/charmbracelet/crush. The first OpenCode shared that code.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from pastchats_memory.formats.base.format import Format, resume_with
from pastchats_memory.formats.base.locations import Environment
from pastchats_memory.formats.base.session import Position, SessionBuilder, SessionInfo
from pastchats_memory.formats.base.sqlite_sessions import SqliteSessions, Tables
from pastchats_memory.formats.base.tags import without_rim
from pastchats_memory.formats.base.tools import parse_printed, split_exit_code
from pastchats_memory.formats.base.values import Json, mapping_of, objects_of, parse_json, text_of

FOLDERS = (".crush", ".opencode")
"""Folders of the database, below the project."""
CWD = ("cwd",)
"""The tag around the working directory, which Crush adds below the output of a command."""
TITLES = "title-"
"""Beginning of the id of a session in which a model only made a title."""
FLAGS = {"canceled": "interrupted", "error": "api_error"}
_EXIT = re.compile(r"(?:\A|\n)Exit code ([1-9]\d{0,8})\Z")


class _Sessions(SqliteSessions):
    """The sessions of one project."""

    tables: ClassVar[Tables] = {
        "sessions": frozenset({"id", "parent_session_id", "title"}),
        "messages": frozenset({"session_id", "role", "parts"}),
    }

    def sessions(self) -> Iterator[SessionBuilder]:
        folder = self.path.absolute().parent
        cwd = str(folder.parent) if folder.name in FOLDERS else None
        columns = ("id", "parent_session_id", "title")
        for own_id, parent, title in self.database.rows("sessions", columns, order=("created_at", "id")):
            if not text_of(own_id).startswith(TITLES):
                metadata: Json = {"title": text_of(title), "parent_conversation_id": text_of(parent)}
                builder = self.start(SessionInfo(text_of(own_id), cwd, metadata=metadata))
                self._add_messages(builder, "sidechain" if parent else "main")
                yield builder

    def _add_messages(self, builder: SessionBuilder, branch: str) -> None:
        columns = ("id", "role", "parts", "model", "created_at", "is_summary_message")
        where = {"session_id": builder.info.conversation_id}
        rows = self.database.rows("messages", columns, where=where, order=("created_at",))
        for own_id, role, content, model, created, is_summary in rows:
            encoded = content if isinstance(content, bytes) else text_of(content)
            parts = objects_of(parse_json(encoded))
            blocks = [mapping_of(part.get("data")) | {"type": part.get("type")} for part in parts]
            builder.model = text_of(model)
            at = Position(1, created, text_of(own_id), branch)
            _add_message(builder, "summary" if is_summary else text_of(role), blocks, at)


def _add_message(builder: SessionBuilder, role: str, blocks: list[Json], at: Position) -> None:
    shown = (block for block in blocks if block["type"] == "text" and block.get("hidden") is not True)
    text = "\n\n".join(text_of(block.get("text")) for block in shown)
    match role:
        case "summary":
            builder.add_turn("system", "summary", text, at)
        case "user":
            images = (
                block["type"] == "binary" and text_of(block.get("MIMEType")).startswith("image/") for block in blocks
            )
            builder.add_prompt(text, at, sum(images) + sum(block["type"] == "image_url" for block in blocks))
        case "assistant":
            builder.add_answer(text, at)
    for block in blocks:
        match block["type"]:
            case "tool_call":
                builder.add_call(text_of(block.get("id")), text_of(block.get("name")), block.get("input"))
            case "tool_result":
                printed = without_rim(text_of(block.get("content")), CWD)
                output = split_exit_code(printed, _EXIT, failed=block.get("is_error") is True)
                builder.add_result(text_of(block.get("tool_call_id")), output, at)
            case "shell_command":
                builder.add_typed_command(text_of(block.get("command")), parse_printed(block), at)
            case "finish" if flag := FLAGS.get(text_of(block.get("reason"))):
                builder.queue.flag(flag)


def locations(environment: Environment) -> Iterator[Path]:
    """Yield the databases of the projects that Crush lists."""
    list_file = environment.folder("CRUSH_GLOBAL_DATA", environment.local_data("crush")) / "projects.json"
    try:
        listed = json.loads(list_file.read_bytes())
    except (OSError, ValueError):
        return
    projects = listed.get("projects") if isinstance(listed, dict) else None
    for project in projects if isinstance(projects, list) else ():
        match project:
            case {"path": str(path), "data_dir": str(folder)}:
                yield Path(path, folder, "crush.db")


CRUSH = Format(
    name="crush",
    version=2,
    detect=_Sessions.detect,
    read=_Sessions.read,
    program="Crush",
    locations=locations,
    resume=resume_with("crush", "--session"),  # github.com/charmbracelet/crush/pull/2422, 2026-03
)
