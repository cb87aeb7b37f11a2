"""Claude.ai exports and single conversations: messages of content blocks, or of the text beside them."""

import re
from collections.abc import Sequence

from pastchats_memory.formats.base.conversation_export import ConversationExport, Message, first_filled
from pastchats_memory.formats.base.hashes import conversation_hash
from pastchats_memory.formats.base.locations import in_downloads
from pastchats_memory.formats.base.session import Position, SessionBuilder, SessionInfo
from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.formats.base.tools import ToolResult, text_of_result
from pastchats_memory.formats.base.values import Json, mapping_of, objects_of, text_of
from pastchats_memory.text.clean import IMAGE
from pastchats_memory.text.timestamps import iso_utc
from pastchats_memory.text.truncate import truncate_middle

SHOWN_TYPES = ("text", "voice_note")
ROLES = {"human": "user", "user": "user", "assistant": "assistant"}
ARTIFACTS = "artifacts"
CREATE_FILE, OUTPUTS = "create_file", "/outputs/"
"""The tool that writes a file, and the folder that the user downloads from: such a file is an artifact of later versions."""
UNSUPPORTED = re.compile(r"```\s*\n?This block is not supported on your current device yet\.\s*\n?```")

_ARTIFACT = re.compile(r"<antArtifact\b([^>]{0,4096})>(.*?)(?:</antArtifact>|\Z)", re.DOTALL)
_TITLE = re.compile(r'title="([^"]*)"')
_THINKING = re.compile(r"<antThinking>.*?(?:</antThinking>|\Z)", re.DOTALL)


class _ClaudeAi(ConversationExport):
    """Conversations with `chat_messages`; the other files of an export have none."""

    list_keys = ("conversations",)

    def is_conversation(self, value: object) -> bool:
        return isinstance(mapping_of(value).get("chat_messages"), list)

    def messages(self, conversation: Json) -> list[Message]:
        model = text_of(conversation.get("model"))
        return [_message(message, model) for message in _in_order(conversation)]

    def describe(self, conversation: Json, _source: SourceFile) -> SessionInfo:
        """Return the id of a conversation, else a hash of its words, with project, title and time."""
        words = ((_sender(each), _text(each)) for each in _in_order(conversation))
        own_id, title = text_of(conversation.get("uuid")) or conversation_hash(words), text_of(conversation.get("name"))
        project = text_of(mapping_of(conversation.get("project")).get("name")) or None
        return SessionInfo(own_id, None, project, conversation.get("created_at"), {"title": title})

    def current_message(self, conversation: Json, _messages: Sequence[Message]) -> str | None:
        return text_of(conversation.get("current_leaf_message_uuid")) or None

    def add_prompt(self, builder: SessionBuilder, message: Message, at: Position) -> None:
        """Add the words of a user, with a part of each paste, which is kept as an attachment."""
        attachments = objects_of(message.fields.get("attachments"))
        files = objects_of(message.fields.get("files"))
        texts = (text_of(each.get("extracted_content")).strip() for each in attachments)
        pasted = [truncate_middle(text) for text in texts if text]
        names = [name for item in (*attachments, *files) if (name := text_of(item.get("file_name")))]
        words = "\n\n".join([message.text, *pasted]).strip() or (IMAGE if files else "")
        builder.add_turn("user", "prompt", words, at, attachments=names)

    def add_tools(self, builder: SessionBuilder, message: Message, at: Position) -> None:
        """Add calls and results; a document that was written beside the chat is a result."""
        for block in objects_of(message.fields.get("content")):
            if block.get("type") == "tool_use":
                _add_call(builder, block, at)
            elif block.get("type") == "tool_result":
                output = ToolResult(text_of_result(block.get("content")), failed=block.get("is_error") is True)
                builder.add_result(text_of(block.get("tool_use_id")), output, at)
        for found in _ARTIFACT.finditer(_THINKING.sub("", message.text)):
            title = _TITLE.search(found[1])
            _add_document(builder, title[1] if title else "", found[2], at)

    def add_answer(self, builder: SessionBuilder, message: Message, at: Position) -> None:
        flags = ["truncated"] if message.fields.get("truncated") is True else []
        text = _ARTIFACT.sub("", _THINKING.sub("", message.text))
        builder.add_turn("assistant", "answer", text, at, model=message.model, flags=flags)


def _in_order(conversation: Json) -> Sequence[Json]:
    """Return the messages as they stand, but by time if they have no parents and may be out of order."""
    messages = objects_of(conversation.get("chat_messages"))
    if any("parent_message_uuid" in message for message in messages):
        return messages
    times = [iso_utc(message.get("created_at")) or "" for message in messages]
    if not all(times):
        return messages
    return [message for _, message in sorted(zip(times, messages, strict=True), key=lambda pair: pair[0])]


def _message(message: Json, model: str) -> Message:
    first = first_filled([*_texts_of_blocks(message), _plain_text(message)])
    own_id, parent = text_of(message.get("uuid")), text_of(message.get("parent_message_uuid")) or None
    role, time = ROLES.get(_sender(message), ""), message.get("created_at")
    return Message(message, role, _text(message), first, own_id, parent, time, model)


def _texts_of_blocks(message: Json) -> list[str]:
    blocks = objects_of(message.get("content"))
    shown = (text_of(block.get("text")) for block in blocks if block.get("type") in SHOWN_TYPES)
    return [text for text in shown if text.strip()]


def _text(message: Json) -> str:
    """Return the blocks of text, else the text beside them, without its note on blocks that it cannot show."""
    return "\n\n".join(_texts_of_blocks(message)) or UNSUPPORTED.sub("", _plain_text(message))


def _plain_text(message: Json) -> str:
    """Return the text beside the blocks, or in their place."""
    return text_of(message.get("text")) or text_of(message.get("content"))


def _sender(message: Json) -> str:
    return text_of(message.get("sender")) or text_of(message.get("role"))


def _add_call(builder: SessionBuilder, block: Json, at: Position) -> None:
    arguments = mapping_of(block.get("input"))
    builder.add_call(text_of(block.get("id")), text_of(block.get("name")) or "tool", arguments)
    path = text_of(arguments.get("path"))
    if block.get("name") == CREATE_FILE and OUTPUTS in path:
        _add_document(builder, path.rpartition("/")[2], text_of(arguments.get("file_text")), at)
    if block.get("name") == ARTIFACTS:
        _add_document(builder, text_of(arguments.get("title")), text_of(arguments.get("content")), at)


def _add_document(builder: SessionBuilder, title: str, text: str, at: Position) -> None:
    if text.strip():
        builder.add_turn("tool", "result", f"{title}\n\n{truncate_middle(text.strip())}".strip(), at)


CLAUDE_AI = _ClaudeAi().as_format("claude-ai", 4, service="claude-ai", locations=in_downloads("data-20??-*.zip"))
