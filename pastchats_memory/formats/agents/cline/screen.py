"""Messages that Cline showed on its screen: `{ts, type: say|ask, say|ask: kind, text}`."""

from pastchats_memory.formats.agents.cline.model_messages import CALL
from pastchats_memory.formats.base.session import BadRecord, Position, SessionBuilder
from pastchats_memory.formats.base.tools import ToolResult, parse_result
from pastchats_memory.formats.base.turns import PendingTurn
from pastchats_memory.formats.base.values import Json, list_of, mapping_of, parse_json, text_of
from pastchats_memory.text.timestamps import iso_utc

ANSWERS = ("text", "completion_result")
DIALOGUE_KINDS = ("task", "user_feedback", *ANSWERS)
"""Kinds of words, by which a message without a time is recognised."""
QUESTIONS = {"followup": "question", "plan_mode_respond": "response", "act_mode_respond": "response"}
"""Kinds whose text is JSON, and its key with the text."""
ERRORS = ("error", "diff_error", "rooignore_error", "clineignore_error")
API_ERROR = "api_req_failed"
OUTPUTS = ("command_output", "mcp_server_response")
QUIET = ("api_req_started", "api_req_finished", "checkpoint_created", "reasoning", "task_progress")
APPROVAL = "REQ_APP"
"""The mark after a command that needs the person's consent."""
PROGRESS = "task_progress"
"""The kind of a checklist, which is shown at each change."""


def is_ui_message(record: Json) -> bool:
    """Return whether an object is a message of the screen."""
    has_place = "ts" in record or record.get(_say_or_ask(record)) in DIALOGUE_KINDS
    return has_place and bool(_say_or_ask(record))


def _say_or_ask(record: Json) -> str:
    """Return `say` or `ask` by the type, in exports without types by the key; else `""`."""
    named = record.get("type", "say" if "say" in record else "ask")
    return text_of(named) if named in ("say", "ask") and isinstance(record.get(text_of(named)), str) else ""


class ScreenMessages:
    """Adds the messages of the screen, one after another, to a session."""

    def __init__(self, builder: SessionBuilder) -> None:
        self._builder = builder
        self._has_task = False
        self._answer: tuple[str, PendingTurn] | None = None
        self._output: list[str] = []
        self._output_at = Position(1)

    def add_message(self, value: object, line: int) -> None:
        """Add one message."""
        if not isinstance(value, dict):
            raise BadRecord(f"a {type(value).__name__} instead of a message")
        kind_key = _say_or_ask(value)
        if not kind_key:
            if "type" not in value:
                raise BadRecord("neither said nor asked")
            return
        kind, text = text_of(value.get(kind_key)), text_of(value.get("text"))
        at, pictures = Position(line, value.get("ts")), len(list_of(value.get("images")))
        if kind not in (*OUTPUTS, *QUIET):
            self.end()
        if kind in ("task", "user_feedback") or (kind == "text" and not self._has_task):
            self._prompt(text, at, pictures)
        elif kind in ANSWERS:
            self._parse_reply(text, at, text_of(mapping_of(value.get("modelInfo")).get("modelId")))
        elif kind in QUESTIONS:
            key = QUESTIONS[kind]
            question = mapping_of(parse_json(text))
            self._parse_reply(text_of(question.get(key)) if question else text, at, "")
            if chosen := text_of(question.get("selected")):
                self._prompt(chosen, at, 0)
        else:
            self._add_tool_message(kind, text, at)
            if kind == "condense_context":
                summary = text_of(mapping_of(value.get("contextCondense")).get("summary"))
                self._builder.add_turn("system", "summary", summary, at)

    def end(self) -> None:
        """Add the output of a command, which is complete when another message follows."""
        if self._output:
            self._builder.add_result(CALL, parse_result("\n".join(self._output)), self._output_at)
        self._output = []

    def _prompt(self, text: str, at: Position, pictures: int) -> None:
        self._has_task, self._answer = True, None
        self._builder.add_prompt(text, at, pictures)

    def _parse_reply(self, text: str, at: Position, model: str) -> None:
        """Add an answer; one that grew on the screen, or is repeated as the result, is one turn."""
        if not text.strip():
            return
        if self._answer is not None:
            before, draft = self._answer
            if text.startswith(before) or before.startswith(text):
                draft.texts = [max(text, before, key=len)]
                self._answer = (draft.texts[0], draft)
                return
        self._answer = (text, self._builder.add_turn("assistant", "answer", text, at, model=model))

    def _add_tool_message(self, kind: str, text: str, at: Position) -> None:
        builder = self._builder
        if kind in ("tool", "use_mcp_server", "browser_action_launch"):
            call = mapping_of(parse_json(text))
            name = text_of(call.get("toolName")) or text_of(call.get("tool")) or kind
            arguments = {"path": call.get("path"), "query": call.get("regex"), "todos": call.get("todos")}
            builder.add_call(CALL, name, arguments)
        elif kind == PROGRESS:
            builder.queue.add_todo_call(kind, {PROGRESS: text}, at=iso_utc(at.time), line=at.line)
        elif kind == "command":
            builder.add_call(CALL, "execute_command", {"command": text.removesuffix(APPROVAL).strip()})
        elif kind in OUTPUTS:
            self._output.append(text)
            self._output_at = at
        elif kind in ERRORS:
            builder.add_result(CALL, ToolResult(text, failed=True), at)
        elif kind == API_ERROR:
            builder.queue.flag("api_error")
        elif kind == "api_req_started" and mapping_of(parse_json(text)).get("cancelReason") == "user_cancelled":
            builder.queue.flag("interrupted")
