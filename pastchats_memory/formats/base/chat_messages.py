"""Add the messages of a model's API, in which many agents keep their sessions: OpenAI's, Anthropic's, the AI SDK's."""

import re
from collections.abc import Iterator, Sequence

from pastchats_memory.formats.base.session import Position, SessionBuilder, texts_of
from pastchats_memory.formats.base.tags import without_thoughts
from pastchats_memory.formats.base.tools import ToolResult, parse_printed, text_of_result
from pastchats_memory.formats.base.values import Json, list_of, mapping_of, objects_of, text_of, value_of

PICTURES = ("image", "image_url")
CALLS = {
    "tool_use": (("id", "tool_id"), ("name", "tool_name"), ("input",)),
    "tool-call": (("toolCallId",), ("toolName",), ("input", "args")),
}
"""Keys of a call's id, name and input by the type of a block: Anthropic's, Engram's and AgentScope's, and the AI SDK's."""
RESULTS = {
    "tool_result": (("tool_use_id", "tool_id", "id"), ("content", "output")),
    "tool-result": (("toolCallId",), ("output", "result")),
}
"""Keys of the call's id and of its result by the type of a block."""

_EXIT = re.compile(r"^(?:returncode|exit[ _]code)(?:: ?|=)(\d{1,9})$", re.MULTILINE | re.IGNORECASE)


def add_message(builder: SessionBuilder, message: Json, at: Position) -> None:
    """Add the results in a message, a prompt or an answer by its role, and its calls."""
    content = message.get("content")
    for call_id, output in results_of(message):
        builder.add_result(call_id, output, at)
    if message.get("role") == "user":
        builder.add_content(content, at, PICTURES)
    elif message.get("role") == "assistant":
        builder.add_answer(without_thoughts(texts_of(content)), at)
    for call_id, name, arguments in calls_of(message):
        builder.add_call(call_id, name, arguments)


def blocks_of(message: Json) -> list[Json]:
    """Return the blocks of a message's content, which may be one alone."""
    content = message.get("content")
    return [mapping_of(block) for block in ([content] if isinstance(content, dict) else list_of(content))]


def calls_of(message: Json) -> Iterator[tuple[str, str, object]]:
    """Yield id, name and input of each tool call of a message."""
    for call in objects_of(message.get("tool_calls")):
        function = mapping_of(call.get("function")) or call
        yield text_of(call.get("id")), text_of(function.get("name")) or "tool", _first(function, ("arguments", "args"))
    for block in blocks_of(message):
        if keys := CALLS.get(text_of(block.get("type"))):
            name = text_of(_first(block, keys[1])) or "tool"
            yield text_of(_first(block, keys[0])), name, _first(block, keys[2])


def results_of(message: Json) -> Iterator[tuple[str, ToolResult]]:
    """Yield the call's id and the result, for each tool result in a message."""
    if message.get("role") == "tool" and (call_id := text_of(message.get("tool_call_id"))):
        yield call_id, parse_output(message.get("content"), failed=message.get("is_error") is True)
    for block in blocks_of(message):
        if keys := RESULTS.get(text_of(block.get("type"))):
            content = _first(block, keys[1])
            typed = mapping_of(content)
            failed = block.get("is_error") is True or text_of(typed.get("type")).startswith("error")
            yield text_of(_first(block, keys[0])), parse_output(typed.get("value", content), failed=failed)


def _first(block: Json, keys: Sequence[str]) -> object:
    return next((block[key] for key in keys if key in block), None)


def parse_output(content: object, *, failed: bool = False) -> ToolResult:
    """Return a result from an object, also as JSON text, or from lines with the exit code."""
    text = text_of_result(content)
    if fields := mapping_of(content) or mapping_of(value_of(text)):
        printed = parse_printed(fields, failed=failed)
        return printed if printed.text or printed.exit_code is not None else ToolResult(text, failed=failed)
    found = _EXIT.search(text)
    code = int(found[1]) if found else None
    return ToolResult(text, code, failed=failed or bool(code))
