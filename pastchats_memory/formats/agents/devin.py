"""Read the database of Cognition's Devin CLI.

Source: `scripts/devin_sessions_schema_probe.py` of github.com/jazzyalex/agent-sessions, which describes 253 sessions. Messages
form a forest, in which each retry and edit has its own copy of what precedes it. The session names the tip of its main chain.
"""

from collections.abc import Iterator
from typing import ClassVar

from pastchats_memory.files.foreign_sqlite import Row
from pastchats_memory.formats.base.chat_messages import add_message
from pastchats_memory.formats.base.format import Format, resume_with
from pastchats_memory.formats.base.session import Position, SessionBuilder, SessionInfo, folder_of
from pastchats_memory.formats.base.sqlite_sessions import SqliteSessions, Tables
from pastchats_memory.formats.base.values import list_of, mapping_of, text_of, value_of


class _Sessions(SqliteSessions):
    """The sessions in the database of Devin CLI."""

    tables: ClassVar[Tables] = {
        "sessions": frozenset({"id", "working_directory", "main_chain_id"}),
        "message_nodes": frozenset({"session_id", "node_id", "parent_node_id", "chat_message"}),
    }

    def sessions(self) -> Iterator[SessionBuilder]:
        columns = ("id", "working_directory", "title", "model", "main_chain_id", "hidden")
        for own_id, folder, title, model, tip, hidden in self.database.rows("sessions", columns, order=("created_at",)):
            if hidden == 1:
                continue
            session = text_of(own_id)
            builder = self.start(SessionInfo(session, folder_of(folder), metadata={"title": text_of(title)}))
            builder.model = text_of(model)
            for node, _, time, encoded in self._main_chain(session, tip):
                message = mapping_of(value_of(encoded))
                at = Position(1, time, text_of(message.get("message_id")) or str(node))
                if pictures := [{"type": "image"} for _ in list_of(message.get("images"))]:
                    message |= {"content": [{"type": "text", "text": message.get("content")}, *pictures]}
                if mapping_of(message.get("metadata")).get("is_user_input") is not False:
                    add_message(builder, message, at)
            yield builder

    def _main_chain(self, session: str, tip: object) -> list[Row]:
        columns = ("node_id", "parent_node_id", "created_at", "chat_message")
        rows = self.database.rows("message_nodes", columns, where={"session_id": session}, order=("row_id",))
        nodes: dict[object, Row] = {row[0]: row for row in rows}
        chain: dict[object, Row] = {}
        while tip in nodes and tip not in chain:
            chain[tip] = nodes[tip]
            tip = nodes[tip][1]
        return list(reversed(chain.values())) or list(nodes.values())


DEVIN = Format(
    "devin", 2, _Sessions.detect, _Sessions.read, program="Devin CLI", resume=resume_with("devin", "--resume")
)
