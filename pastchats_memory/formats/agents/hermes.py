"""Read the database of Nous Research's Hermes Agent.

Messages have the form of OpenAI's API.

Source: `hermes_state.py` of github.com/NousResearch/hermes-agent. A compaction continues a long session in a new one, which
names the first as its parent, or in the same one. There the compacted messages stay, and the retained ones are repeated below.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from pastchats_memory.formats.base.format import Format, resume_with
from pastchats_memory.formats.base.session import (
    Position,
    SessionBuilder,
    SessionInfo,
    count_images,
    folder_of,
    texts_of,
)
from pastchats_memory.formats.base.source import Json, list_of, mapping_of, parse_json, text_of, value_of
from pastchats_memory.formats.base.sqlite_sessions import SqliteSessions, Tables
from pastchats_memory.formats.base.tools import ToolResult, parse_printed

SUMMARIES = ("[CONTEXT COMPACTION", "[CONTEXT SUMMARY]")
"""Beginnings of a summary, in any role."""
DELEGATED = "subagent"
"""The source of a session that an agent started."""
ENCODED = "\0json:"
"""Mark before content that is JSON instead of plain text."""


class HermesSessions(SqliteSessions):
    """The sessions in the database of Hermes."""

    tables: ClassVar[Tables] = {
        "sessions": frozenset({"id", "source", "parent_session_id"}),
        "messages": frozenset({"session_id", "role", "tool_calls"}),
    }

    def sessions(self) -> Iterator[SessionBuilder]:
        """Yield the sessions in the order of their start."""
        columns = ("id", "source", "parent_session_id", "title", "model", "cwd")
        rows = self.database.rows("sessions", columns, order=("started_at", "id"))
        for own_id, origin, parent, title, model, cwd in rows:
            metadata: Json = {"title": text_of(title), "parent_conversation_id": text_of(parent)}
            builder = self.start(SessionInfo(text_of(own_id), folder_of(cwd), metadata=metadata))
            builder.model = text_of(model)
            self._add_messages(builder, "sidechain" if origin == DELEGATED else "main")
            yield builder

    def _add_messages(self, builder: SessionBuilder, branch: str) -> None:
        """Add the messages once: a retained message is repeated after a compaction."""
        columns = ("id", "timestamp", "active", "compacted", "role", "content", "tool_calls", "tool_call_id")
        where = {"session_id": builder.info.conversation_id}
        compacted_messages: set[tuple[object, ...]] = set()
        for own_id, time, active, compacted, *message in self.database.rows(
            "messages", columns, where=where, order=("id",)
        ):
            if compacted:
                compacted_messages.add(tuple(message))
            elif active != 0 and tuple(message) in compacted_messages:
                continue
            is_rewound = active == 0 and not compacted
            at = Position(1, time, "" if own_id is None else str(own_id), "abandoned" if is_rewound else branch)
            _add_message(builder, at, *message)


def _add_message(
    builder: SessionBuilder, at: Position, role: object, encoded: object, calls: object, call_id: object
) -> None:
    text = text_of(encoded)
    content = value_of(text.removeprefix(ENCODED)) if text.startswith(ENCODED) else text
    if text.startswith(SUMMARIES):
        builder.add_turn("system", "summary", text, at)
    else:
        match role:
            case "user":
                builder.add_prompt(texts_of(content), at, count_images(content, ("image", "image_url")))
            case "assistant":
                builder.add_answer(texts_of(content), at)
            case "tool":
                builder.add_result(text_of(call_id), _parse_result(texts_of(content)), at)
    for call in map(mapping_of, list_of(parse_json(text_of(calls) or "[]"))):
        arguments = mapping_of(value_of((mapping_of(call.get("function")) or call).get("arguments")))
        builder.info.cwd = builder.info.cwd or folder_of(arguments.get("workdir"))
        builder.add_openai_call(call)


def _parse_result(text: str) -> ToolResult:
    """Return a tool result.

    It is text, or an object with the output, the exit code and the error.
    """
    fields = mapping_of(value_of(text))
    return parse_printed(fields, failed=bool(fields.get("error"))) if fields else ToolResult(text)


HERMES = Format(
    name="hermes",
    version=2,
    detect=HermesSessions.detect,
    read=HermesSessions.read,
    program="Hermes",
    locations=lambda environment: iter([environment.folder("HERMES_HOME", environment.home / ".hermes") / "state.db"]),
    resume=resume_with("hermes", "--resume"),  # https://hermes-agent.nousresearch.com/docs/user-guide/cli
    verified="2026-11",
)
