"""Qwen Code sessions: records like Claude Code's, with Gemini's messages in `parts`."""

from pastchats_memory.formats.agents.gemini.content import join_responses, strip_context
from pastchats_memory.formats.agents.gemini.dialect import DIALECT
from pastchats_memory.formats.base.agent import AgentSession
from pastchats_memory.formats.base.format import has_record
from pastchats_memory.formats.base.session import BadRecord, Position, folder_of
from pastchats_memory.formats.base.tags import REMINDERS, without_spans
from pastchats_memory.formats.base.tree import parent_in
from pastchats_memory.formats.base.values import Json, list_of, mapping_of, objects_of, text_of

WITH_MESSAGE = ("user", "assistant", "tool_result")
"""Types of records with a message. It is missing if an answer was stopped before its first word."""
SENT_BY_CLIENT = frozenset({"notification", "cron", "goal_runtime"})
"""Subtypes of messages that the client itself sends in the user's role."""


def _is_qwen(record: Json) -> bool:
    return isinstance(mapping_of(record.get("message")).get("parts"), list) and isinstance(record.get("sessionId"), str)


detect = has_record(_is_qwen)


class QwenSession(AgentSession):
    """A session of Qwen Code."""

    dialect = DIALECT
    has_branches = True

    def scan_record(self, record: Json) -> None:
        """Add the record's place in the chain."""
        self.branches.add(text_of(record.get("uuid")), parent_in(record, "parentUuid"))

    def add_record(self, record: Json, line: int) -> None:
        """Add one record."""
        info, uuid = self.builder.info, text_of(record.get("uuid"))
        info.conversation_id = text_of(record.get("sessionId")) or info.conversation_id
        info.cwd = info.cwd or folder_of(record.get("cwd"))
        info.metadata["git_branch"] = text_of(record.get("gitBranch"))
        subagent = (text_of(record.get("agentId")) or "agent") if record.get("isSidechain") is True else ""
        at = Position(line, record.get("timestamp"), uuid, self.branches.of(uuid), subagent)
        if record.get("type") == "system":
            payload, metadata = mapping_of(record.get("systemPayload")), self.builder.info.metadata
            metadata["title"] = text_of(payload.get("customTitle")) or metadata.get("title")
            parent = text_of(payload.get("parentSessionId")) or metadata.get("parent_conversation_id")
            metadata["parent_conversation_id"] = parent
            if record.get("subtype") == "slash_command" and payload.get("phase") != "result":
                self.builder.add_typed(text_of(payload.get("rawCommand")), at)
            elif record.get("subtype") == "chat_compression":
                # the rest of the compressed history repeats earlier turns
                first = mapping_of(next(iter(list_of(payload.get("compressedHistory"))), None))
                parts = objects_of(first.get("parts"))
                self.builder.add_turn("system", "summary", "\n\n".join(text_of(part.get("text")) for part in parts), at)
            return
        message = mapping_of(record.get("message"))
        if record.get("type") in WITH_MESSAGE and "message" in record and not isinstance(message.get("parts"), list):
            raise BadRecord(f"{record['type']} record without a message in parts")
        self._add_message(record, objects_of(message.get("parts")), at)

    def _add_message(self, record: Json, parts: list[Json], at: Position) -> None:
        visible = (text_of(part.get("text")) for part in parts if part.get("thought") is not True)
        text = "\n\n".join(filter(None, visible))
        match record.get("type"):
            case "user" if record.get("subtype") == "slash_command":
                self.builder.add_typed(text, at)
            case "user" if text_of(record.get("subtype")) not in SENT_BY_CLIENT:
                shown = text_of(mapping_of(record.get("systemPayload")).get("displayText")) or strip_context(text)
                images = sum("inlineData" in part for part in parts)
                self.builder.add_typed(without_spans(shown, REMINDERS), at, images)
            case "assistant":
                self.builder.add_answer(text, at, text_of(record.get("model")))
                for call in (mapping_of(part["functionCall"]) for part in parts if "functionCall" in part):
                    self.builder.add_call(text_of(call.get("id")), text_of(call.get("name")), call.get("args"))
            case "tool_result":
                failed = mapping_of(record.get("toolCallResult")).get("status") == "error"
                for result in (mapping_of(part["functionResponse"]) for part in parts if "functionResponse" in part):
                    output = join_responses([mapping_of(result.get("response"))], failed=failed)
                    self.builder.add_result(text_of(result.get("id")), output, at)
