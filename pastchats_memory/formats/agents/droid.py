"""Read sessions of Factory's Droid: a header, then messages in Anthropic's blocks.

Each message names the one before it.
"""

from dataclasses import replace

from pastchats_memory.formats.base.agent import AgentSession
from pastchats_memory.formats.base.agent_spellings import parse_droid_output
from pastchats_memory.formats.base.companions import ending_in
from pastchats_memory.formats.base.format import CERTAIN, Format, resume_with
from pastchats_memory.formats.base.session import BadRecord, Position, count_images, folder_of, texts_of
from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.formats.base.tags import REMINDERS, without_spans
from pastchats_memory.formats.base.tools import parse_printed, text_of_result
from pastchats_memory.formats.base.values import Json, list_of, mapping_of, text_of

SESSIONS, SETTINGS = ".factory/sessions", ".settings.json"
BLOCKS = ("tool_use", "tool_result")
DELEGATED = "# Task Tool Invocation"
"""Beginning of the title of a subagent's session that does not name its parent."""


def detect(source: SourceFile) -> int:
    """Return 90 for messages with a header, 70 for those with tool blocks, else 0."""
    messages = [record for record in source.sample if _is_message(record)]
    if any(map(_is_printed, source.sample)) or (messages and any(map(_is_header, source.sample))):
        return CERTAIN
    return 70 if any(block.get("type") in BLOCKS for each in messages for block in _blocks_of(each)) else 0


def _is_header(record: Json) -> bool:
    return record.get("type") == "session_start" and not {"id", "sessionTitle"}.isdisjoint(record)


def _is_printed(record: Json) -> bool:
    """Return whether `droid exec --output-format stream-json` printed a record that no other program prints."""
    kind = record.get("type")
    is_printed = (kind == "tool_call" and "toolName" in record) or (kind == "completion" and "finalText" in record)
    return is_printed and not {"session_id", "sessionId"}.isdisjoint(record)


def _is_message(record: Json) -> bool:
    return record.get("type") == "message" and mapping_of(record.get("message")).get("role") in ("user", "assistant")


def _blocks_of(record: Json) -> list[Json]:
    """Return the blocks of a message; a text among them may be a bare string."""
    content = mapping_of(record.get("message")).get("content")
    parts = [content] if isinstance(content, str) else list_of(content)
    return [{"type": "text", "text": part} if isinstance(part, str) else mapping_of(part) for part in parts]


class _Session(AgentSession):
    record_noun = "an entry"
    has_branches = True

    def scan_record(self, record: Json) -> None:
        """Add a message's place in the tree; in older sessions it follows the one before."""
        if _is_message(record):
            self.branches.add(text_of(record.get("id")), text_of(record.get("parentId")) or None)

    def add_record(self, record: Json, line: int) -> None:
        if _is_header(record):
            self._apply_header(record)
            return
        own_id = text_of(record.get("id"))
        is_delegated = "parent_conversation_id" in self.builder.info.metadata
        branch = "sidechain" if is_delegated else self.branches.of(own_id)
        at = Position(line, record.get("timestamp"), own_id, branch)
        if record.get("type") == "compaction_state":
            summary = text_of(record.get("summaryText"))
            self.builder.add_turn("system", "summary", summary, replace(at, branch="main"))
        if "session_id" in record or "sessionId" in record:
            self._add_printed(record, replace(at, branch="main"))
            return
        if record.get("type") != "message":
            return
        content = mapping_of(record.get("message")).get("content")
        if not isinstance(content, str | list | None):
            raise BadRecord(f"content of a message is a {type(content).__name__}")
        self._add_message(mapping_of(record.get("message")), _blocks_of(record), at)

    def _add_printed(self, record: Json, at: Position) -> None:
        """Add a printed record: its texts stand beside its role, and calls are records of their own."""
        info, call_id = self.builder.info, text_of(record.get("toolCallId")) or text_of(record.get("id"))
        info.conversation_id = text_of(record.get("session_id")) or text_of(record.get("sessionId"))
        info.cwd = info.cwd or folder_of(record.get("cwd"))
        self.builder.model = text_of(record.get("model")) or self.builder.model
        match record.get("type"):
            case "message" if record.get("role") == "user":
                self.builder.add_prompt(without_spans(text_of(record.get("text")), REMINDERS).strip(), at)
            case "message":
                self.builder.add_answer(text_of(record.get("text")), at)
            case "tool_call":
                self.builder.add_call(call_id, text_of(record.get("toolName")), record.get("parameters"))
            case "tool_result":
                value, failed = record.get("value"), record.get("isError") is True
                if isinstance(value, dict):
                    output = parse_printed(value, failed=failed)
                else:
                    output = parse_droid_output(text_of(value), failed=failed)
                self.builder.add_result(call_id, output, at)
            case "completion" if not self.builder.repeats_answer(text := text_of(record.get("finalText"))):
                self.builder.add_answer(text, at)

    def _apply_header(self, record: Json) -> None:
        info = self.builder.info
        info.conversation_id = text_of(record.get("id")) or self.source.path.stem
        info.cwd = folder_of(record.get("cwd"))
        title = text_of(record.get("sessionTitle")) or text_of(record.get("title"))
        info.metadata["title"] = title
        if title.startswith(DELEGATED) or record.get("callingSessionId"):
            info.metadata["parent_conversation_id"] = text_of(record.get("callingSessionId"))

    def _add_message(self, message: Json, blocks: list[Json], at: Position) -> None:
        if message.get("role") == "assistant":
            self.builder.add_answer(texts_of(blocks), at, text_of(message.get("model")))
        else:
            texts = (without_spans(text_of(block.get("text")), REMINDERS).strip() for block in blocks)
            self.builder.add_prompt("\n\n".join(filter(None, texts)), at, count_images(blocks))
        for block in blocks:
            if block.get("type") == "tool_use":
                self.builder.add_call(text_of(block.get("id")), text_of(block.get("name")), block.get("input"))
            elif block.get("type") == "tool_result":
                failed = block.get("is_error") is True
                output = parse_droid_output(text_of_result(block.get("content")), failed=failed)
                self.builder.add_result(text_of(block.get("tool_use_id")), output, at)


DROID = Format(
    name="droid",
    version=6,
    detect=detect,
    read=_Session.read,
    program="Factory Droid",
    companions=ending_in(SESSIONS, SETTINGS),
    resume=resume_with("droid", "--resume"),  # https://docs.factory.ai/reference/cli-reference
)
