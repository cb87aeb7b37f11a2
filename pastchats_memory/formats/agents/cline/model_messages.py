"""Messages that Cline sent to the model, in Anthropic's form: most text in the user's role is a program's.

The person's text is inside a few tags. A tool result is text in the block after the one that names the tool.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pastchats_memory.formats.base.agent_spellings import CLINE_ANSWER_TOOLS
from pastchats_memory.formats.base.session import Position, SessionBuilder, texts_of
from pastchats_memory.formats.base.source import (
    Json,
    list_of,
    mapping_of,
    text_of,
)
from pastchats_memory.formats.base.tags import span, without_spans
from pastchats_memory.formats.base.tools import ToolResult, parse_result, text_of_result
from pastchats_memory.text.timestamps import iso_utc

PERSON = ("task", "feedback", "answer", "user_message")
"""Tags around what a person typed."""
CONTEXT = ("environment_details", "mode_notice", "file_content", "folder_content", "explicit_instructions")
ANSWERED = ("answer", "user_message", "feedback")
PLUMBING = ("[TASK RESUMPTION]", "[ERROR]", "[PLAN MODE]", "# task_progress", "# TODO LIST", "You did not use a tool")
CHECKED = 4000
"""Characters of a message in which Cline's tags are looked for."""
TOOLS = (
    "read_file", "write_to_file", "replace_in_file", "apply_diff", "insert_content", "search_and_replace", "search_files",
    "list_files", "list_code_definition_names", "execute_command", "browser_action", "use_mcp_tool", "access_mcp_resource",
    "ask_followup_question", "attempt_completion", "plan_mode_respond", "new_task", "switch_mode", "codebase_search",
    "update_todo_list", "fetch_instructions", "thinking",
)  # fmt: skip
"""Tags that older versions write into the assistant's text."""
LISTED = ("task_progress", "todos")
"""Tags of a checklist in a call that was written as text."""
CALL = "call"
RUN, EDITOR = "run_commands", "editor"
"""Tools of the command line's agent: several commands at once, and what changes files."""

_INPUT = re.compile(r'\A\s*<(user_input|user_command) [a-z]{1,10}="[^"\n]{0,80}">')
"""What the command line's agent writes around a person's words."""
_EXITED = re.compile(r"\[Command exited with code (\d{1,9})\]\n?")
_REFUSED = re.compile(r"feedback:?\s*<feedback>")
_RESULT = re.compile(r"\[(\w+)(?: for '(.{0,400}?)')?[^\]\n]{0,400}\] Result:[ \t]*\n?", re.DOTALL)


def is_api_message(record: Json) -> bool:
    """Whether the object is a message of the model's interface."""
    return record.get("role") in ("user", "assistant") and isinstance(record.get("content"), str | list)


def is_tagged(message: Json) -> bool:
    """Whether a message in the user's role bears Cline's tags."""
    text = texts_of(message.get("content"))[:CHECKED] if message.get("role") == "user" else ""
    return "<environment_details>" in text or text.lstrip().startswith(
        ("<task>", "<user_message>", "<user_input mode=")
    )


class Sent:
    """Adds one message after another to a telling."""

    def __init__(self, builder: SessionBuilder) -> None:
        self._telling = builder
        self._tagged = False

    def take(self, value: object, line: int) -> str | None:
        """Add what the message says; the reason why it says nothing that can be read, else None."""
        message = mapping_of(value)
        if message.get("type") == "reasoning" or message.get("isTruncationMarker") is True:
            return None
        if not is_api_message(message):
            return "no message with a role and content"
        content, at = message.get("content"), Position(line, message.get("ts"))
        if message.get("isSummary") is True:
            self._telling.add_turn("system", "summary", texts_of(content), at)
        elif message["role"] == "assistant":
            self._answer(content, at, _model(mapping_of(message.get("modelInfo"))))
        else:
            self._sent(content, at)
        return None

    def end(self) -> None:
        """Nothing waits for the end of the file."""

    def _answer(self, content: object, at: Position, model: str) -> None:
        blocks = [mapping_of(block) for block in list_of(content)]
        calls = [block for block in blocks if block.get("type") == "tool_use"]
        said = [
            text_of(mapping_of(call.get("input")).get(CLINE_ANSWER_TOOLS.get(text_of(call.get("name")), "")))
            for call in calls
        ]
        text = "\n\n".join([_visible(texts_of(content)), *filter(None, said)])
        self._telling.add_answer(text, at, model)
        for tag in LISTED:
            if listed := span(texts_of(content), tag):
                self._telling.queue.add_plan(tag, {"task_progress": listed}, at=iso_utc(at.time), line=at.line)
        for call in calls:
            if text_of(call.get("name")) not in CLINE_ANSWER_TOOLS:
                self._called(text_of(call.get("id")), text_of(call.get("name")), mapping_of(call.get("input")))

    def _called(self, call_id: str, name: str, given: Json) -> None:
        """Note a call, and of several commands each."""
        commands = [
            text_of(command) or text_of(mapping_of(command).get("command"))
            for command in list_of(given.get("commands"))
        ]
        if name == RUN and commands:
            for place, command in enumerate(commands):
                self._telling.add_call(f"{call_id}.{place}", name, {"command": command})
        else:
            self._telling.add_call(call_id, "edit" if name == EDITOR else name, given)

    def _resulted(self, call_id: str, outputs: list[ToolResult], at: Position) -> None:
        """What the parts of a call came to: each of several commands, else all of them together."""
        if self._telling.awaits_result(f"{call_id}.0"):
            for place, output in enumerate(outputs):
                self._telling.add_result(f"{call_id}.{place}", output, at)
        elif outputs:
            text = "\n".join(output.text for output in outputs)
            self._telling.add_result(call_id, ToolResult(text, failed=any(output.failed for output in outputs)), at)

    def _sent(self, content: object, at: Position) -> None:
        """A message in the user's role: what tools answered, and what a person typed."""
        typed, awaited = list[str](), False
        for block in map(mapping_of, list_of(content)):
            if block.get("type") == "tool_result":
                self._resulted(text_of(block.get("tool_use_id")), _outputs(block.get("content")), at)
        for text, call_id in _api_texts(content):
            rest = without_spans(text, CONTEXT).strip()
            named = _RESULT.match(rest)
            if call_id or named or awaited:
                body = rest[named.end() :] if named else rest
                typed += _answered(body)
                if named:
                    key = "command" if named[1] == "execute_command" else "path"
                    self._telling.add_call(CALL, named[1], {key: named[2] or ""})
                awaited = bool(named) and not body
                if body:
                    self._telling.add_result(call_id or CALL, parse_result(body), at)
                continue
            words = [inside for tag in PERSON if (inside := span(rest, tag).strip())]
            self._tagged = self._tagged or bool(words)
            if not self._tagged and not rest.startswith(PLUMBING):
                words = [rest]
            typed += words
        said = "\n\n".join(word for word in typed if word)
        pictures = sum(mapping_of(block).get("type") == "image" for block in list_of(content))
        self._telling.add_prompt(said, at, pictures if said else 0)


def _model(info: Json) -> str:
    return text_of(info.get("modelId")) or text_of(info.get("id"))


def _api_texts(content: object) -> Iterator[tuple[str, str]]:
    """The texts of a message, and of an answer to a call that call's id."""
    if isinstance(content, str):
        yield _in_one_tag(content), ""
    for block in map(mapping_of, list_of(content)):
        if block.get("type") == "text":
            yield _in_one_tag(text_of(block.get("text"))), ""
        elif block.get("type") == "tool_result":
            yield text_of_result(block.get("content")), text_of(block.get("tool_use_id")) or CALL


def _outputs(content: object) -> list[ToolResult]:
    """What the command line's agent notes of each part of a call: `{query, result, success}`; nothing of any other answer."""
    parts = [part for part in map(mapping_of, list_of(content)) if isinstance(part.get("success"), bool)]
    return [_output(part) for part in parts]


def _output(part: Json) -> ToolResult:
    text = text_of(part.get("result"))
    found = _EXITED.match(text)
    told = text[found.end() :] if found else text or text_of(part.get("error"))
    return ToolResult(told, int(found[1]) if found else None, failed=part["success"] is False)


def _in_one_tag(text: str) -> str:
    """The text with a person's words in the tag that is known, whatever the version wrote around them."""
    if (found := _INPUT.match(text)) is None:
        return text
    inside, _, rest = text[found.end() :].partition(f"</{found[1]}>")
    return f"<user_message>{inside}</user_message>{rest}"


def _answered(body: str) -> list[str]:
    """What a person said to a tool: an answer to its question, or why they refused it. Other tags in its output are quoted."""
    for tag in ANSWERED:
        if body.startswith(f"<{tag}>"):
            return [span(body, tag).strip()]
    refused = _REFUSED.search(body)
    return [span(body[refused.end() - len("<feedback>") :], "feedback").strip()] if refused else []


def _visible(text: str) -> str:
    """The words of an answer, without the tools that older versions call in tags; what those tell the person stays."""
    for tool, key in CLINE_ANSWER_TOOLS.items():
        whole = span(text, tool)
        text = text.replace(f"<{tool}>{whole}</{tool}>", f"\n\n{span(whole, key).strip()}") if whole else text
    return without_spans(text, TOOLS).strip()
