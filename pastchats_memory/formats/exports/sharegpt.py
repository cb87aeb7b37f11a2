"""ShareGPT files (FastChat, LLaMA-Factory): a list of conversations, or one a line, with `from` and `value`."""

from pastchats_memory.formats.base.conversation_export import ConversationExport, Message, id_or_hash
from pastchats_memory.formats.base.session import Position, SessionBuilder, SessionInfo
from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.formats.base.tags import without_thoughts
from pastchats_memory.formats.base.tools import ToolResult
from pastchats_memory.formats.base.values import BadJson, Json, mapping_of, objects_of, parse_json, text_of
from pastchats_memory.formats.registry import any_dialect

_NAMES = {
    "user": "human user",
    "assistant": "gpt assistant chatgpt bard bing claude model ai bot",
    "system": "system",
    "call": "function_call tool_call",
    "result": "observation tool function function_response tool_response",
}
ROLES = {name: role for role, names in _NAMES.items() for name in names.split()}
"""Our role by the name in `from`."""
CALL, CALL_END = "<tool_call>", "</tool_call>"
RESULT, RESULT_END = "<tool_response>", "</tool_response>"
"""Tags of some sets around function calls and their results."""


class _ShareGpt(ConversationExport):
    """Conversations with `conversations: [{from, value}]`, and perhaps two answers to choose from."""

    dialect = staticmethod(any_dialect)

    def is_conversation(self, value: object) -> bool:
        turns = objects_of(mapping_of(value).get("conversations"))
        return any(_role_of(turn) and "value" in turn for turn in turns)

    def may_be_conversation(self, value: object) -> bool:
        return isinstance(mapping_of(value).get("conversations"), list)

    def messages(self, conversation: Json) -> list[Message]:
        """Return the system prompt, the turns, and the two answers, of which the rejected one is abandoned."""
        system = text_of(conversation.get("system"))
        rejected, chosen = (mapping_of(conversation.get(key)) for key in ("rejected", "chosen"))
        turns = [_message(turn, "main") for turn in objects_of(conversation.get("conversations"))]
        first = [Message({}, "system", system, branch="main")] if system else []
        return [*first, *turns, _message(rejected, "abandoned"), _message(chosen, "main")]

    def describe(self, conversation: Json, _source: SourceFile) -> SessionInfo:
        turns = objects_of(conversation.get("conversations"))
        words = ((_role_of(turn), text_of(turn.get("value"))) for turn in turns)
        return SessionInfo(id_or_hash(conversation, (pair for pair in words if pair[0] in ("user", "assistant"))))

    def add_answer(self, builder: SessionBuilder, message: Message, at: Position) -> None:
        """Add the words of an answer, then the calls in tags behind them."""
        words, *calls = without_thoughts(message.text).split(CALL)
        builder.add_answer(words, at)
        for call in calls:
            _add_calls(builder, call.partition(CALL_END)[0].strip())

    def add_other(self, builder: SessionBuilder, message: Message, at: Position) -> None:
        if message.role == "call":
            _add_calls(builder, message.text)
        elif message.role == "result":
            text = message.text.strip().removeprefix(RESULT).removesuffix(RESULT_END).strip()
            builder.add_result("", ToolResult(text), at)


def _role_of(turn: Json) -> str:
    return ROLES.get(text_of(turn.get("from")).strip().lower(), "")


def _message(turn: Json, branch: str) -> Message:
    return Message(turn, _role_of(turn), text_of(turn.get("value")), branch=branch)


def _add_calls(builder: SessionBuilder, text: str) -> None:
    """Add one call or a list of them from JSON text; any other text is the name of the tool."""
    value = parse_json(text)
    calls = value if isinstance(value, list) else [value]
    for call in [{"name": text} if isinstance(value, BadJson) else mapping_of(call) for call in calls]:
        builder.add_call("", text_of(call.get("name")) or "tool", call.get("arguments"))


SHAREGPT = _ShareGpt().as_format("sharegpt", 3)
