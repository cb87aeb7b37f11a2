"""Read sessions of Factory's Droid: a header, then messages in Anthropic's blocks.

Each message names the one before it.
"""

from __future__ import annotations

from dataclasses import replace

from pastchats_memory.formats.base.agent import AgentSession
from pastchats_memory.formats.base.agent_spellings import parse_droid_output
from pastchats_memory.formats.base.companions import ending_in
from pastchats_memory.formats.base.format import CERTAIN, Format, resume_with
from pastchats_memory.formats.base.locations import below_home
from pastchats_memory.formats.base.session import Position, count_images, folder_of, texts_of
from pastchats_memory.formats.base.source import Json, SourceFile, list_of, mapping_of, text_of
from pastchats_memory.formats.base.tags import REMINDERS, without_spans
from pastchats_memory.formats.base.tools import text_of_result

SESSIONS, SETTINGS = ".factory/sessions", ".settings.json"
BLOCKS = ("tool_use", "tool_result")
DELEGATED = "# Task Tool Invocation"
"""Beginning of the title of a subagent's session that does not name its parent."""


def detect(source: SourceFile) -> int:
    """Return 90 for messages with a header, 70 for those with tool blocks, else 0."""
    messages = [record for record in source.sample if _is_message(record)]
    if messages and any(map(_is_header, source.sample)):
        return CERTAIN
    return 70 if any(block.get("type") in BLOCKS for each in messages for block in _blocks_of(each)) else 0


def _is_header(record: Json) -> bool:
    return record.get("type") == "session_start" and isinstance(record.get("id"), str)


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

    def add_record(self, record: Json, line: int) -> str | None:
        if _is_header(record):
            self._apply_header(record)
            return None
        own_id = text_of(record.get("id"))
        is_delegated = "parent_conversation_id" in self.builder.info.metadata
        branch = "sidechain" if is_delegated else self.branches.of(own_id)
        at = Position(line, record.get("timestamp"), own_id, branch)
        if record.get("type") == "compaction_state":
            summary = text_of(record.get("summaryText"))
            self.builder.add_turn("system", "summary", summary, replace(at, branch="main"))
        if record.get("type") != "message":
            return None
        content = mapping_of(record.get("message")).get("content")
        if not isinstance(content, str | list | None):
            return f"content of a message is a {type(content).__name__}"
        self._add_message(mapping_of(record.get("message")), _blocks_of(record), at)
        return None

    def _apply_header(self, record: Json) -> None:
        info = self.builder.info
        info.conversation_id = text_of(record.get("id"))
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
    version=3,
    detect=detect,
    read=_Session.read,
    program="Factory Droid",
    locations=below_home(SESSIONS),
    companions=ending_in(SESSIONS, SETTINGS),
    resume=resume_with("droid", "--resume"),  # https://docs.factory.ai/reference/cli-reference
    verified="2026-11",
)
