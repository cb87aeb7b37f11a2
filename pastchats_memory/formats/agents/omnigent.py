"""Read the database of Omnigent, which runs other agents: each event of a conversation is an item with data as JSON.

Source: descriptions and tests of github.com/kenn-io/agentsview. Newer versions write kinds as numbers and ids as bytes.
"""

from collections.abc import Iterator
from typing import ClassVar

from pastchats_memory.formats.base.chat_messages import parse_output
from pastchats_memory.formats.base.format import Format
from pastchats_memory.formats.base.session import Position, SessionBuilder, SessionInfo, folder_of
from pastchats_memory.formats.base.sqlite_sessions import SqliteSessions, Tables
from pastchats_memory.formats.base.values import Json, mapping_of, objects_of, text_of, value_of

CONVERSATIONS, METADATA, ITEMS = "conversations", "omnigent_conversation_metadata", "conversation_items"
KINDS = {
    1: "message", 2: "function_call", 3: "function_call_output", 5: "error", 6: "compaction", 10: "slash_command", 11: "terminal_command",
}  # fmt: skip
"""Kinds of items by their numbers, without those that hold no words of a turn."""


class _Conversations(SqliteSessions):
    """The conversations of Omnigent."""

    tables: ClassVar[Tables] = {
        CONVERSATIONS: frozenset({"id", "title", "root_conversation_id"}),
        ITEMS: frozenset({"conversation_id", "position", "type", "data"}),
    }

    def sessions(self) -> Iterator[SessionBuilder]:
        """Yield the conversations in the order of their start. A subagent works in the folder of the root."""
        about = ("id", "workspace", "git_branch", "kind")
        known = {row[0]: row for table in (CONVERSATIONS, METADATA) for row in self.database.rows(table, about)}
        names = ("id", "root_conversation_id", "parent_conversation_id", "title", "created_at")
        for own_id, root, parent, title, started in self.database.rows(CONVERSATIONS, names, order=("created_at",)):
            own, above = known[own_id], known.get(root, known[own_id])
            facts: Json = {
                "title": text_of(title),
                "git_branch": text_of(own[2] or above[2]),
                "parent_conversation_id": _id_of(parent),
            }
            builder = self.start(SessionInfo(_id_of(own_id), folder_of(own[1] or above[1]), None, started, facts))
            branch = "sidechain" if own[3] in (2, "sub_agent") else "main"
            where, columns = {"conversation_id": own_id}, ("id", "type", "data", "created_at")
            for item, kind, data, created in self.database.rows(ITEMS, columns, where=where, order=("position",)):
                at = Position(1, created, _id_of(item), branch)
                _add_item(builder, KINDS.get(kind) if isinstance(kind, int) else kind, mapping_of(value_of(data)), at)
            yield builder


def _add_item(builder: SessionBuilder, kind: object, item: Json, at: Position) -> None:
    call_id, arguments = text_of(item.get("call_id")), item.get("arguments")
    match kind:
        case "message" if item.get("is_meta") is not True:
            blocks = objects_of(item.get("content"))
            text = "\n\n".join(filter(None, (text_of(block.get("text")) for block in blocks)))
            if item.get("role") == "user":
                builder.add_prompt(text, at, sum(block.get("type") == "input_image" for block in blocks))
            else:
                builder.add_answer(text, at, text_of(item.get("model")))
        case "function_call":
            builder.add_call(call_id, text_of(item.get("name")), arguments, at)
        case "function_call_output":
            builder.add_result(call_id, parse_output(item.get("output")), at)
        case "error":
            builder.queue.flag("api_error")
        case "compaction":
            builder.add_turn("system", "summary", text_of(item.get("summary")), at)
        case "slash_command":
            builder.add_prompt(f"/{text_of(item.get('name'))} {text_of(arguments)}", at, kind="command")
        case "terminal_command" if item.get("kind") == "input":
            builder.add_prompt(f"! {text_of(item.get('input'))}", at, kind="command")


def _id_of(value: object) -> str:
    return value.hex() if isinstance(value, bytes) else text_of(value)


OMNIGENT = Format("omnigent", 1, _Conversations.detect, _Conversations.read, program="Omnigent")
