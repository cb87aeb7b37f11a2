"""ShareGPT files (FastChat, LLaMA-Factory): a list of conversations, or one a line, with `from` and `value`."""

from __future__ import annotations

from collections.abc import Iterator

from pastchats_memory.formats.base.format import Format, confident
from pastchats_memory.formats.base.jsonl_agent import conversations, holds
from pastchats_memory.formats.base.session import Position, Row, SessionBuilder, SessionInfo
from pastchats_memory.formats.base.source import (
    BadJson,
    Json,
    Places,
    SourceFile,
    list_of,
    mapping_of,
    parse_json,
    text_of,
)
from pastchats_memory.formats.base.tools import ToolResult, without_thoughts
from pastchats_memory.model import Turn
from pastchats_memory.text.clean import conversation_hash

FORMAT = "sharegpt"
VERSION = 3

_WORDS = {
    "user": "human user",
    "assistant": "gpt assistant chatgpt bard bing claude model ai bot",
    "system": "system",
    "call": "function_call tool_call",
    "result": "observation tool function function_response tool_response",
}
CALL, CALLED = "<tool_call>", "</tool_call>"
ANSWER, ANSWERED = "<tool_response>", "</tool_response>"
"""How some sets write calls of functions and what they answered."""
WHO = {word: role for role, words in _WORDS.items() for word in words.split()}


def recognise(source: SourceFile) -> bool:
    """Whether a conversation of `from` and `value` is in it."""
    return holds(source, _is_conversation)


def _is_conversation(value: object) -> bool:
    turns = [mapping_of(turn) for turn in list_of(mapping_of(value).get("conversations"))]
    return any(_who(turn) and "value" in turn for turn in turns)


def _is_item(value: object) -> bool:
    """Whether it is a conversation, if only an empty one."""
    return isinstance(mapping_of(value).get("conversations"), list)


def _who(turn: Json) -> str:
    return WHO.get(text_of(turn.get("from")).strip().lower(), "")


def read(source: SourceFile) -> Iterator[Row]:
    """The turns of every conversation; of two answers to choose from the rejected one is abandoned."""
    yield from conversations(source, _is_item, _turns)


def _turns(conversation: Json, places: Places) -> Iterator[Turn]:
    turns = [mapping_of(turn) for turn in list_of(conversation.get("conversations"))]
    said = ((who, text_of(turn.get("value"))) for turn in turns if (who := _who(turn)) in ("user", "assistant"))
    own_id = conversation.get("id")
    named = str(own_id) if isinstance(own_id, int | str) and own_id != "" else conversation_hash(said)
    builder = SessionBuilder(SessionInfo(named))
    if system := text_of(conversation.get("system")):
        builder.add_turn("system", "prompt", system, Position(places.line(system)))
    for turn in turns:
        _take(builder, turn, places, "main")
    for key, branch in (("rejected", "abandoned"), ("chosen", "main")):
        _take(builder, mapping_of(conversation.get(key)), places, branch)
    yield from builder.queue.flush()


def _take(builder: SessionBuilder, turn: Json, places: Places, branch: str) -> None:
    text = text_of(turn.get("value"))
    at = Position(places.line(text), branch=branch)
    match _who(turn):
        case "user":
            builder.add_prompt(text, at)
        case "assistant":
            words, *calls = without_thoughts(text).split(CALL)
            builder.add_answer(words, at)
            for call in calls:
                _call(builder, call.partition(CALLED)[0].strip())
        case "system":
            builder.add_turn("system", "prompt", text, at)
        case "call":
            _call(builder, text)
        case "result":
            builder.add_result("", ToolResult(text.strip().removeprefix(ANSWER).removesuffix(ANSWERED).strip()), at)


def _call(builder: SessionBuilder, text: str) -> None:
    """One call or a list of them, as JSON text; other text is the call itself."""
    value = parse_json(text)
    calls = value if isinstance(value, list) else [value]
    for call in [{"name": text} if isinstance(value, BadJson) else mapping_of(call) for call in calls]:
        builder.add_call("", text_of(call.get("name")) or "tool", call.get("arguments"))


SHAREGPT = Format(
    name="sharegpt",
    version=3,
    detect=confident(recognise, 90),
    read=read,
)
