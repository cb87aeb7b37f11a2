"""Read logs of the messages that a model received, with tool calls and results.

A file has a message on each line, or a list of messages. The messages are those of OpenAI's and Anthropic's APIs, of the AI SDK,
or of Open Interpreter. mini-swe-agent writes such logs.
"""

from collections.abc import Iterator, Sequence

from pastchats_memory.formats.base import session
from pastchats_memory.formats.base.agent import AgentSession, Items
from pastchats_memory.formats.base.chat_messages import PICTURES, blocks_of, calls_of, parse_output, results_of
from pastchats_memory.formats.base.format import Format
from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.formats.base.tags import without_thoughts
from pastchats_memory.formats.base.tools import ToolResult
from pastchats_memory.formats.base.values import Json, list_of, mapping_of, objects_of, text_of
from pastchats_memory.formats.base.visible_words import visible_words
from pastchats_memory.formats.registry import any_dialect

ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "computer"})
IDS, TIMES = ("session_id", "sessionId", "conversation_id"), ("timestamp", "created_at", "time", "ts")
CODE, CONSOLE = "code", "console"
"""Types of Open Interpreter's messages. They have no ids, so output belongs to the code before it."""
SHELLS = frozenset({"shell", "bash", "sh", "zsh", "powershell", "cmd"})


def detect(source: SourceFile) -> int:
    """Return 55 for messages, but for one record, with a tool call and its result, else 0."""
    is_log = _place_of_list(source) is not None if source.shape == "json" else _is_log(source.sample)
    return 55 if is_log else 0


def _is_log(records: Sequence[Json]) -> bool:
    messages = [record for record in records if text_of(record.get("role")) in ROLES]
    calls = {call_id for message in messages for call_id, _, _ in _all_calls_of(message)}
    has_result = any(call_id in calls for message in messages for call_id, _ in _all_results_of(message))
    return has_result and len(messages) >= len(records) - 1


def _place_of_list(source: SourceFile) -> tuple[str, ...] | None:
    document = source.outline
    lists = [
        ((), document),
        *(((key,), value) for key, value in mapping_of(document).items() if key in session.NAMELESS),
    ]
    return next((place for place, found in lists if _is_log(objects_of(found))), None)


class _Session(AgentSession):
    record_noun = "a message"

    def session_info(self) -> session.SessionInfo:
        return session.SessionInfo(session.session_name(self.source.path))

    def start(self) -> None:
        self.builder = session.SessionBuilder(self.builder.info, any_dialect())

    def records(self) -> Items:
        place = _place_of_list(self.source) if self.source.shape == "json" else None
        return self.source.records() if place is None else self.source.elements(*place)

    def add_record(self, record: Json, line: int) -> None:
        info = self.builder.info
        info.conversation_id = next(filter(None, (text_of(record.get(key)) for key in IDS)), info.conversation_id)
        self.builder.model = text_of(record.get("model")) or self.builder.model
        content = blocks_of(record) or record.get("content")
        text = session.texts_of(content)
        own_id = text_of(record.get("message_id")) or text_of(record.get("id"))
        fields = mapping_of(record.get("extra")) | record
        at = session.Position(line, next((fields[key] for key in TIMES if key in fields), None), own_id)
        for call_id, output in _all_results_of(record):
            self.builder.add_result(call_id, output, at)
        match record.get("role"):
            case "user":
                texts = (
                    [text] if isinstance(content, str) else [session.texts_of([block]) for block in list_of(content)]
                )
                typed = filter(None, (visible_words(words, "user", self.builder.dialect).strip() for words in texts))
                self.builder.add_prompt("\n\n".join(typed), at, session.count_images(content, PICTURES))
            case "assistant" if record.get("type") != CODE:
                self.builder.add_answer(without_thoughts(text), at)
            case "system" | "developer":
                self.builder.add_turn("system", "prompt", text, at)
        for call_id, name, arguments in _all_calls_of(record):
            self.builder.add_call(call_id, name, arguments)


def _all_calls_of(message: Json) -> Iterator[tuple[str, str, object]]:
    """Yield id, name and input of each tool call of a message; code of Open Interpreter is one."""
    yield from calls_of(message)
    if message.get("role") == "assistant" and message.get("type") == CODE:
        language, code = text_of(message.get("format")), text_of(message.get("content"))
        yield CODE, language or CODE, {"command" if language.lower() in SHELLS else "description": code}


def _all_results_of(message: Json) -> Iterator[tuple[str, ToolResult]]:
    """Yield the call's id and the result, for each tool result in a message; output of a console is one."""
    yield from results_of(message)
    if message.get("role") == "computer" and message.get("type") == CONSOLE:
        yield CODE, parse_output(message.get("content"))


AGENT_LOG = Format("agent-log", 5, detect, _Session.read, is_specific=False)
