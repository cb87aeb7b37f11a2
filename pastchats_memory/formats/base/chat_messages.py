"""Add the messages of OpenAI's chat API, in which many agents keep their sessions."""

from __future__ import annotations

import re

from pastchats_memory.formats.base.session import Position, SessionBuilder, texts_of
from pastchats_memory.formats.base.source import Json, list_of, mapping_of, text_of, value_of
from pastchats_memory.formats.base.thoughts import without_thoughts
from pastchats_memory.formats.base.tools import ToolResult, parse_printed, text_of_result

PICTURES = ("image", "image_url")

_EXIT = re.compile(r"^(?:returncode|exit[ _]code)(?:: ?|=)(\d{1,9})$", re.MULTILINE | re.IGNORECASE)


def add_message(builder: SessionBuilder, message: Json, at: Position) -> None:
    """Add a prompt, an answer with its calls, or a tool result, by the message's role."""
    content = message.get("content")
    match message.get("role"):
        case "user":
            builder.add_content(content, at, PICTURES)
        case "assistant":
            builder.add_answer(without_thoughts(texts_of(content)), at)
        case "tool":
            result = parse_output(content, failed=message.get("is_error") is True)
            builder.add_result(text_of(message.get("tool_call_id")), result, at)
    for call in map(mapping_of, list_of(message.get("tool_calls"))):
        builder.add_openai_call(call)


def parse_output(content: object, *, failed: bool = False) -> ToolResult:
    """Return a result from an object, also as JSON text, or from lines with the exit code."""
    text = text_of_result(content)
    if fields := mapping_of(content) or mapping_of(value_of(text)):
        printed = parse_printed(fields, failed=failed)
        return printed if printed.text or printed.exit_code is not None else ToolResult(text, failed=failed)
    found = _EXIT.search(text)
    code = int(found[1]) if found else None
    return ToolResult(text, code, failed=failed or bool(code))
