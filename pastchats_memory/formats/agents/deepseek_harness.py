"""Read sessions of DeepSeek Harness: a header, then the events of a log.

A message that the model reads as the user's may come from the program. Its source says so.
"""

from pastchats_memory.formats.base.agent import AgentSession
from pastchats_memory.formats.base.format import Format, has_record
from pastchats_memory.formats.base.session import Position, folder_of, texts_of
from pastchats_memory.formats.base.tools import ToolResult, text_of_result
from pastchats_memory.formats.base.values import Json, mapping_of, number_of, objects_of, parse_json, text_of

TYPED = ("user", "human", "")
"""Sources of a message that a person typed."""
INJECTED = ("agent-instructions", "plugin", "skill-catalog", "tool")
"""Sources of a subagent's messages that its parent did not write."""
FLAGS = {"aborted": "interrupted", "interrupted": "interrupted", "error": "api_error"}


def _is_header(record: Json) -> bool:
    return record.get("type") == "session" and "createdAt" in record and "delegationDepth" in record


def _is_event(record: Json) -> bool:
    is_numbered = isinstance(record.get("seq"), int) and isinstance(record.get("data"), dict)
    return is_numbered and record.get("type") in ("user/message", "assistant/message", "turn/start")


class _Session(AgentSession):
    record_noun = "an event"
    state_names = ("branch", "seeded")

    def start(self) -> None:
        self.branch = "main"
        self.seeded = 0
        """The number of events at the beginning that are the parent's."""

    def add_record(self, record: Json, line: int) -> None:
        if _is_header(record):
            self._apply_header(record)
            return
        data = mapping_of(record.get("data"))
        message = mapping_of(data.get("message")) or data
        if (number_of(record.get("seq")) or 0) < self.seeded:
            return
        at = Position(line, record.get("time"), text_of(message.get("id")), self.branch)
        match record.get("type"):
            case "user/message":
                self._add_message(message, at, is_summary=isinstance(record.get("surfaceOp"), dict))
            case "assistant/message":
                model = text_of(mapping_of(message.get("source")).get("model"))
                self.builder.add_answer(texts_of(message.get("content")), at, model)
            case "tool/call":
                arguments = parse_json(text_of(data.get("arguments")))
                self.builder.add_call(text_of(data.get("callId")), text_of(data.get("name")), arguments)
            case "tool/result":
                blocks = objects_of(message.get("content"))
                block = next((block for block in blocks if block.get("type") == "tool-result"), message)
                failed = block.get("isError") is True or bool(mapping_of(data.get("error")))
                call_id = text_of(block.get("toolCallId")) or text_of(mapping_of(message.get("source")).get("callId"))
                self.builder.add_result(call_id, ToolResult(text_of_result(block.get("content")), failed=failed), at)
            case "session/title":
                self.builder.info.metadata["title"] = text_of(data.get("title"))
            case "turn/end" if flag := FLAGS.get(text_of(mapping_of(data.get("reason")).get("kind"))):
                self.builder.queue.flag(flag)

    def _apply_header(self, record: Json) -> None:
        info = self.builder.info
        info.conversation_id = text_of(record.get("id")) or info.conversation_id
        info.cwd = folder_of(record.get("cwd"))
        info.started = record.get("createdAt")
        if parent := text_of(record.get("parentSession")):
            info.metadata["parent_conversation_id"] = parent
        if record.get("origin") == "subagent":
            self.branch = "sidechain"
            self.seeded = number_of(record.get("seedLength")) or 0

    def _add_message(self, message: Json, at: Position, *, is_summary: bool) -> None:
        """Add a prompt, or the summary that takes the place of earlier messages."""
        content, source = message.get("content"), message.get("source")
        kind = text_of(source) or text_of(mapping_of(source).get("kind"))
        if is_summary:
            self.builder.add_turn("system", "summary", texts_of(content), at)
        elif kind in TYPED or (self.branch == "sidechain" and kind not in INJECTED):
            self.builder.add_content(content, at)


DEEPSEEK_HARNESS = Format(
    name="deepseek-harness",
    version=1,
    detect=has_record(lambda record: _is_header(record) or _is_event(record)),
    read=_Session.read,
    program="DeepSeek Harness",
)
