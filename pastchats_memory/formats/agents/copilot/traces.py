"""GitHub Copilot in Visual Studio: traces of OpenTelemetry, whose spans hold prompts, answers and calls as attributes.

Source: `docs/internal/visual-studio-copilot-traces.md` of github.com/kenn-io/agentsview. A file has spans of several conversations,
and a conversation may go on in another file. Each question to the model repeats the prompt.
"""

from collections.abc import Iterator
from pathlib import Path

from pastchats_memory.formats.agents.copilot.dialect import DIALECT
from pastchats_memory.formats.base.agent import AgentSession
from pastchats_memory.formats.base.chat_messages import add_message, parse_output
from pastchats_memory.formats.base.format import has_record
from pastchats_memory.formats.base.session import Position, SessionInfo
from pastchats_memory.formats.base.values import Json, mapping_of, objects_of, text_of, value_of

CONVERSATION, REQUEST = "gen_ai.conversation.id", "copilot_chat.root_request_id"
PROJECT_STORAGE = ".vs"
"""The folder of Visual Studio in that of the solution, in which version 2026 keeps its traces."""


def _spans(record: Json) -> Iterator[tuple[Json, dict[str, str]]]:
    """Yield each span of a conversation, with its attributes."""
    scopes = (scope for each in objects_of(record.get("resourceSpans")) for scope in objects_of(each.get("scopeSpans")))
    for span in (span for scope in scopes for span in objects_of(scope.get("spans"))):
        pairs = (
            (text_of(pair.get("key")), mapping_of(pair.get("value"))) for pair in objects_of(span.get("attributes"))
        )
        facts = {key: text_of(value.get("stringValue")) for key, value in pairs}
        if facts.get(CONVERSATION):
            yield span, facts


detect = has_record(lambda record: any(_spans(record)))


class Traces(AgentSession):
    """The conversations in one file of traces."""

    dialect = DIALECT
    record_noun = "a trace"
    state_names = ("requests",)

    def session_info(self) -> SessionInfo:
        """Return the folder of the solution if the file lies in it."""
        parts = self.source.path.parts
        return SessionInfo(cwd=str(Path(*parts[: parts.index(PROJECT_STORAGE)])) if PROJECT_STORAGE in parts else None)

    def start(self) -> None:
        """Know no request yet."""
        self.requests: list[str] = []

    def add_record(self, record: Json, line: int) -> None:
        """Add the spans of a trace: calls with their results, and questions to the model with its answers."""
        for span, facts in _spans(record):
            self.builder.info.conversation_id = facts[CONVERSATION]
            began, ended = (value_of(span.get(f"{name}TimeUnixNano")) for name in ("start", "end"))
            at = Position(line, ended, text_of(span.get("spanId")))
            tool, call_id = facts.get("gen_ai.tool.name"), facts.get("gen_ai.tool.call.id", "")
            if tool:
                if not self.builder.awaits_result(call_id):
                    self.builder.add_call(call_id, tool, facts.get("gen_ai.tool.call.arguments"))
                result = value_of(facts.get("gen_ai.tool.call.result"))
                self.builder.add_result(call_id, parse_output(mapping_of(result).get("Value", result)), at)
                continue
            questions = [one for one in _messages(facts.get("gen_ai.input.messages")) if one["role"] == "user"]
            request = facts.get(REQUEST, "")
            if questions and request not in self.requests:
                add_message(self.builder, questions[-1], Position(line, began, request))
                self.requests.append(request)
            self.builder.model = facts.get("gen_ai.response.model", "")
            for message in _messages(facts.get("gen_ai.output.messages")):
                add_message(self.builder, message, at)


def _messages(encoded: object) -> Iterator[Json]:
    """Yield the messages of a span in OpenAI's form."""
    for message in objects_of(value_of(encoded)):
        parts = objects_of(message.get("parts"))
        texts = [{"type": "text", "text": part.get("content")} for part in parts if part.get("type") == "text"]
        calls = [part for part in parts if part.get("type") == "tool_call"]
        yield {"role": message.get("role"), "content": texts, "tool_calls": calls}
