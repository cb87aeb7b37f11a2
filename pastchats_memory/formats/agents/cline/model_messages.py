"""Messages that Cline sent to the model, in Anthropic's form: most text in the user's role is a program's.

The person's text is inside a few tags. A tool result is text in the block after the one that names the tool.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta, timezone

from pastchats_memory.formats.base.dialect import COMMON, read_dialect, read_spellings
from pastchats_memory.formats.base.session import BadRecord, Position, SessionBuilder, texts_of
from pastchats_memory.formats.base.tags import span, without_spans
from pastchats_memory.formats.base.tools import ToolResult, parse_result, split_exit_code, text_of_result
from pastchats_memory.formats.base.values import Json, list_of, mapping_of, objects_of, text_of
from pastchats_memory.text.timestamps import iso_utc, parse_handwritten, to_the_minute

_WORDS = read_spellings(__file__)
DIALECT = COMMON | read_dialect(__file__)
ANSWER_TOOLS = {"attempt_completion": "result", "ask_followup_question": "question", "plan_mode_respond": "response"}
"""Tools whose input the user reads, with the key of the text."""
PERSON = ("task", "feedback", "answer", "user_message")
"""Tags around a prompt."""
CONTEXT = _WORDS["context"]
ANSWERED = ("answer", "user_message", "feedback")
PLUMBING = re.compile("|".join(_WORDS["plumbing"]))
"""How text that the client itself sends begins."""
OPENINGS = ("<task>", "<user_message>", "<user_input mode=")
CHECKED = 4000
"""How many characters of a message are searched for Cline's tags."""
TOOLS = _WORDS["tools"]
"""Tags of tool calls in the assistant's text in older versions."""
LISTED = ("task_progress", "todos")
"""Tags of a checklist in a call as text."""
CALL = "call"
RUN, EDITOR = "run_commands", "editor"
"""Tools of the command line's agent: several commands at once, and file edits."""

_INPUT = re.compile(r'\A\s*<(user_input|user_command) [a-z]{1,10}="[^"\n]{0,80}">')
"""Wrappers of the command line's agent around a prompt."""
_EXITED = re.compile(r"\A\[Command exited with code (\d{1,9})\]\n?")
_REFUSED = re.compile(r"feedback:?\s*<feedback>")
_INTERRUPTED = re.compile(
    r"(?<!\s)\s*\[Response interrupted by (a tool use result|user|API Error)\b[^\]\n]{0,200}\]\s*\Z"
)
_OPENED = re.compile(rf"^<({'|'.join(TOOLS)})>$", re.MULTILINE)
"""The first line of a call that was broken off, where all whole ones are cut out."""
_LEFT_FENCE = re.compile(r"^```\w{0,20}\s*(?:^```\s*)?\Z", re.MULTILINE)
"""A block at the end with nothing left in it."""
CWD = re.compile(r"# Current (?:Working|Workspace) Directory \((.{1,1000}?)\)(?: Files)?(?:\n|\\n)")
_SHOWN_AT = re.compile(
    r"# Current Time\n(?:Current time in ISO 8601 UTC format: (\S{1,40})|([\d/.,: \u202fAPM]{8,30}) \([^()\n]{1,60}UTC([+-](?:0?\d|1[0-4])):([0-5]\d)\))"
)
_INTRODUCED = re.compile(r"[A-Z][^\n]{0,300}:\n<(?:user_message|feedback)>")
_REPLIED = "] Result:"
_REPLY = re.compile(rf"\[(?:{'|'.join(ANSWER_TOOLS)})\b[^\n]")
"""How the person's answer to a tool begins: the question may stand in brackets before it, whatever it holds."""
_RESULT = re.compile(r"\[(\w+)(?: for '(.{0,400}?)')?[^\]\n]{0,400}\] Result:[ \t]*\n?", re.DOTALL)


def is_api_message(record: Json) -> bool:
    """Return whether an object is a message of the model's API."""
    return record.get("role") in ("user", "assistant") and isinstance(record.get("content"), str | list)


def is_tagged(message: Json) -> bool:
    """Return whether a message in the user's role has Cline's tags."""
    text = texts_of(message.get("content"))[:CHECKED] if message.get("role") == "user" else ""
    return "<environment_details>" in text or text.lstrip().startswith(OPENINGS)


class ModelMessages:
    """Add messages to a builder, one after the other."""

    def __init__(self, builder: SessionBuilder) -> None:
        self._builder = builder
        self._tagged = False

    def add_message(self, value: object, line: int) -> None:
        """Add one message."""
        message = mapping_of(value)
        if message.get("type") == "reasoning" or message.get("isTruncationMarker") is True:
            return
        if not is_api_message(message):
            raise BadRecord("no message with a role and content")
        content = message.get("content")
        at = Position(line, message.get("ts") or _find_time(texts_of(content)))
        if message.get("isSummary") is True:
            self._builder.add_turn("system", "summary", texts_of(content), at)
        elif message["role"] == "assistant":
            model = mapping_of(message.get("modelInfo"))
            self._answer(content, at, text_of(model.get("modelId")) or text_of(model.get("id")))
        else:
            self._add_user_message(content, at)

    def end(self) -> None:
        """Do nothing: no result waits for the end of the file."""

    def _answer(self, content: object, at: Position, model: str) -> None:
        calls = [block for block in objects_of(content) if block.get("type") == "tool_use"]
        keys = ((call, ANSWER_TOOLS.get(text_of(call.get("name")), "")) for call in calls)
        answers = [text_of(mapping_of(call.get("input")).get(key)) for call, key in keys]
        text = "\n\n".join([_strip_calls(texts_of(content)), *filter(None, answers)])
        self._builder.add_answer(text, at, model)
        if (stopped := _INTERRUPTED.search(texts_of(content))) and stopped[1] == "user":
            self._builder.queue.flag("interrupted")
        for tag in LISTED:
            if listed := span(texts_of(content), tag):
                self._builder.queue.add_todo_call(tag, {"task_progress": listed}, at=iso_utc(at.time), line=at.line)
        for call in calls:
            if text_of(call.get("name")) not in ANSWER_TOOLS:
                self._add_call(text_of(call.get("id")), text_of(call.get("name")), mapping_of(call.get("input")))

    def _add_call(self, call_id: str, name: str, given: Json) -> None:
        listed = list_of(given.get("commands"))
        commands = [text_of(command) or text_of(mapping_of(command).get("command")) for command in listed]
        if name == RUN and commands:
            for place, command in enumerate(commands):
                self._builder.add_call(f"{call_id}.{place}", name, {"command": command})
        else:
            self._builder.add_call(call_id, "edit" if name == EDITOR else name, given)

    def _add_results(self, call_id: str, outputs: list[ToolResult], at: Position) -> None:
        if self._builder.awaits_result(f"{call_id}.0"):
            for place, output in enumerate(outputs):
                self._builder.add_result(f"{call_id}.{place}", output, at)
        elif outputs:
            text = "\n".join(output.text for output in outputs)
            self._builder.add_result(call_id, ToolResult(text, failed=any(output.failed for output in outputs)), at)

    def _add_user_message(self, content: object, at: Position) -> None:
        typed, awaited = list[str](), False
        for block in objects_of(content):
            if block.get("type") == "tool_result":
                self._add_results(text_of(block.get("tool_use_id")), _outputs(block.get("content")), at)
        for text, call_id, failed in _api_texts(content):
            rest = without_spans(text, CONTEXT).strip()
            named = _RESULT.match(rest)
            is_reply = _REPLY.match(rest) is not None
            if not is_reply and (call_id or named or awaited):
                body = rest[named.end() :] if named else rest
                typed += _parse_reply(body)
                if named:
                    key = "command" if named[1] == "execute_command" else "path"
                    self._builder.add_call(CALL, named[1], {key: named[2] or ""})
                awaited = bool(named) and not body
                if body:
                    output = parse_result(body, DIALECT)
                    self._builder.add_result(call_id or CALL, replace(output, failed=output.failed or failed), at)
                continue
            rest = rest.partition(_REPLIED)[2] if is_reply else rest
            is_plumbing = is_reply or (PLUMBING.match(rest) or _INTRODUCED.match(rest)) is not None
            words = _find_words(rest) if is_plumbing or rest.startswith("<") else ""
            self._tagged = self._tagged or bool(words)
            typed.append(words or ("" if self._tagged or is_plumbing else rest))
        answers = "\n\n".join(word for word in typed if word)
        pictures = sum(mapping_of(block).get("type") == "image" for block in list_of(content))
        self._builder.add_prompt(answers, at, pictures if answers else 0)


def _find_words(text: str) -> str:
    """Return what stands in the first of the tags around a prompt, up to its last end."""
    tag = min(PERSON, key=lambda tag: text.find(f"<{tag}>") % (len(text) + 1))
    return text.partition(f"<{tag}>")[2].rpartition(f"</{tag}>")[0].strip()


def _api_texts(content: object) -> Iterator[tuple[str, str, bool]]:
    """Yield the texts of a message, for tool results with the id of the call and whether it failed."""
    if isinstance(content, str):
        yield _in_one_tag(content), "", False
    for block in objects_of(content):
        if block.get("type") == "text":
            yield _in_one_tag(text_of(block.get("text"))), "", False
        elif block.get("type") == "tool_result":
            call_id = text_of(block.get("tool_use_id")) or CALL
            yield text_of_result(block.get("content")), call_id, block.get("is_error") is True


def _outputs(content: object) -> list[ToolResult]:
    """Return the results of the command line's agent, `{query, result, success}`; none for other content."""
    outputs = []
    for part in objects_of(content):
        if isinstance(part.get("success"), bool):
            output = split_exit_code(text_of(part.get("result")), _EXITED, failed=part["success"] is False)
            is_empty = not output.text and output.exit_code is None
            outputs.append(replace(output, text=text_of(part.get("error"))) if is_empty else output)
    return outputs


def _in_one_tag(text: str) -> str:
    """Return a text with the prompt in the current tag, for any version."""
    if (found := _INPUT.match(text)) is None:
        return text
    inside, _, rest = text[found.end() :].partition(f"</{found[1]}>")
    return f"<user_message>{inside}</user_message>{rest}"


def _parse_reply(body: str) -> list[str]:
    """Return an answer or a refusal of a tool; other tags in its output are quotations."""
    for tag in ANSWERED:
        if body.startswith(f"<{tag}>"):
            return [span(body, tag).strip()]
    refused = _REFUSED.search(body)
    return [span(body[refused.end() - len("<feedback>") :], "feedback").strip()] if refused else []


def _strip_calls(text: str) -> str:
    """Return the text of an answer without tool calls in tags, but with their text for the person."""
    text = _INTERRUPTED.sub("", text)
    for tool, key in ANSWER_TOOLS.items():
        whole = span(text, tool)
        text = text.replace(f"<{tool}>{whole}</{tool}>", f"\n\n{span(whole, key).strip()}") if whole else text
    words, *broken_off = _OPENED.split(without_spans(text, TOOLS), maxsplit=1)
    if broken_off and (shown := ANSWER_TOOLS.get(broken_off[0])):
        words += broken_off[1].partition(f"<{shown}>")[2].partition(f"</{shown}>")[0]
    return _LEFT_FENCE.sub("", words).strip()


def _find_time(text: str) -> str | None:
    """Return the time, to the minute, in the context of a message."""
    found = _SHOWN_AT.search(text)
    if found is None or found[1]:
        return to_the_minute(iso_utc(found[1])) if found else None
    offset = timedelta(hours=int(found[3]), minutes=int(f"{found[3][0]}{found[4]}"))
    return parse_handwritten(found[2], timezone(offset))
