"""Tasks of Cline, Roo Code, Kilo Code and their kin to turns: what the screen showed, or what the model was sent.

A task is a folder with two files of the same conversation. `ui_messages.json` has times and tells people's words from
tools' answers, so it is the one that is read; `api_conversation_history.json` is read where it stands alone.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from pastchats_memory.formats.base.agent_spellings import CLINE_ANSWER_TOOLS
from pastchats_memory.formats.base.format import Companions, Format, confident
from pastchats_memory.formats.base.locations import Environment
from pastchats_memory.formats.base.session import (
    PendingTurn,
    Position,
    Row,
    SessionBuilder,
    SessionInfo,
    read_items,
    texts_of,
)
from pastchats_memory.formats.base.sibling_files import is_sibling
from pastchats_memory.formats.base.source import (
    Element,
    Json,
    NotText,
    Record,
    SourceFile,
    list_of,
    mapping_of,
    parse_json,
    text_of,
)
from pastchats_memory.formats.base.tags import span, without_spans
from pastchats_memory.formats.base.tools import ToolResult, parse_result, text_of_result
from pastchats_memory.model import Unreadable
from pastchats_memory.text.timestamps import iso_utc

# What Cline sent to the model: Anthropic messages, in which almost everything in the user's role is a program's.
#
# People's words are inside a few tags; answers of tools are text, in a block after the one that names the tool.

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


# What Cline's screen showed, message by message: `{ts, type: say|ask, say|ask: kind, text}`.

ANSWERS = ("text", "completion_result")
QUESTIONS = {"followup": "question", "plan_mode_respond": "response", "act_mode_respond": "response"}
"""Kinds whose text is JSON, and the key of the words in it."""
FAULTS = ("error", "diff_error", "rooignore_error", "clineignore_error")
API_FAULT = "api_req_failed"
OUTPUTS = ("command_output", "mcp_server_response")
QUIET = ("api_req_started", "api_req_finished", "checkpoint_created", "reasoning", "task_progress")
APPROVAL = "REQ_APP"
"""What Cline puts after a command that needs a person's consent."""
PROGRESS = "task_progress"
"""A checklist, shown whenever a box of it is ticked."""


def is_ui_message(record: Json) -> bool:
    """Whether the object is a message of the screen."""
    return "ts" in record and bool(_voice(record))


def _voice(record: Json) -> str:
    """`say` or `ask`, as the type tells or, in exports without one, the key that is there; `""` for neither."""
    named = record.get("type", "say" if "say" in record else "ask")
    return text_of(named) if named in ("say", "ask") and isinstance(record.get(text_of(named)), str) else ""


class Shown:
    """Adds one message of the screen after another to a telling."""

    def __init__(self, builder: SessionBuilder) -> None:
        self._telling = builder
        self._has_task = False
        self._answer: tuple[str, PendingTurn] | None = None
        self._output: list[str] = []
        self._output_at = Position(1)

    def take(self, value: object, line: int) -> str | None:
        """Add what the message says; the reason why it says nothing that can be read, else None."""
        if not isinstance(value, dict):
            return f"a {type(value).__name__} instead of a message"
        voice = _voice(value)
        if not voice:
            return None if "type" in value else "neither said nor asked"
        kind, text = text_of(value.get(voice)), text_of(value.get("text"))
        at, pictures = Position(line, value.get("ts")), len(list_of(value.get("images")))
        if kind not in (*OUTPUTS, *QUIET):
            self.end()
        if kind in ("task", "user_feedback") or (kind == "text" and not self._has_task):
            self._prompt(text, at, pictures)
        elif kind in ANSWERS:
            self._answered(text, at, text_of(mapping_of(value.get("modelInfo")).get("modelId")))
        elif kind in QUESTIONS:
            self._asked(text, QUESTIONS[kind], at)
        else:
            self._worked(kind, text, at)
            if kind == "condense_context":
                summary = text_of(mapping_of(value.get("contextCondense")).get("summary"))
                self._telling.add_turn("system", "summary", summary, at)
        return None

    def end(self) -> None:
        """A command's output comes in pieces, and is whole when something else is shown."""
        if self._output:
            self._telling.add_result(CALL, parse_result("\n".join(self._output)), self._output_at)
        self._output = []

    def _prompt(self, text: str, at: Position, pictures: int) -> None:
        self._has_task, self._answer = True, None
        self._telling.add_prompt(text, at, pictures)

    def _answered(self, text: str, at: Position, model: str) -> None:
        """An answer. One that was shown while it grew, or is shown again as the result, is one turn."""
        if not text.strip():
            return
        if self._answer is not None:
            before, draft = self._answer
            if text.startswith(before) or before.startswith(text):
                draft.texts = [max(text, before, key=len)]
                self._answer = (draft.texts[0], draft)
                return
        self._answer = (text, self._telling.add_turn("assistant", "answer", text, at, model=model))

    def _asked(self, text: str, key: str, at: Position) -> None:
        """A question, and the option that the person took, which no other message tells of."""
        question = mapping_of(parse_json(text))
        self._answered(text_of(question.get(key)) if question else text, at, "")
        if chosen := text_of(question.get("selected")):
            self._prompt(chosen, at, 0)

    def _worked(self, kind: str, text: str, at: Position) -> None:
        """Tools and what became of them."""
        builder = self._telling
        if kind in ("tool", "use_mcp_server", "browser_action_launch"):
            call = mapping_of(parse_json(text))
            name = text_of(call.get("toolName")) or text_of(call.get("tool")) or kind
            builder.add_call(
                CALL, name, {"path": call.get("path"), "query": call.get("regex"), "todos": call.get("todos")}
            )
        elif kind == PROGRESS:
            builder.queue.add_plan(kind, {PROGRESS: text}, at=iso_utc(at.time), line=at.line)
        elif kind == "command":
            builder.add_call(CALL, "execute_command", {"command": text.removesuffix(APPROVAL).strip()})
        elif kind in OUTPUTS:
            self._output.append(text)
            self._output_at = at
        elif kind in FAULTS:
            builder.add_result(CALL, ToolResult(text, failed=True), at)
        elif kind == API_FAULT:
            builder.queue.flag("api_error")
        elif kind == "api_req_started" and mapping_of(parse_json(text)).get("cancelReason") == "user_cancelled":
            builder.queue.flag("interrupted")


UI_NAMES, API_NAME = ("ui_messages.json", "claude_messages.json"), "api_conversation_history.json"
NAMES = (*UI_NAMES, API_NAME)
FOCUS_CHAIN = "focus_chain_taskid_"
"""How the name of a copy begins of the last list in a transcript beside it."""
SESSION = ".messages.json"
"""End of the name of a session of the command line's agent, beside which `<id>.json` says where it ran."""
CWD_KEYS = ("cwd", "workspace", "workspace_root", "cwdOnTaskInitialization", "workspaceDirPath")

_CWD = re.compile(r"# Current (?:Working|Workspace) Directory \((.{1,1000}?)\)(?: Files)?(?:\n|\\n)")


def recognise(source: SourceFile) -> bool:
    """Whether the messages are what Cline's screen showed, or what the model was sent with Cline's tags near the top."""
    return _is_ui(source) or _is_api(source)


def _is_ui(source: SourceFile) -> bool:
    return any(is_ui_message(mapping_of(value)) for value in _opening(source))


def _is_api(source: SourceFile) -> bool:
    messages = [value for value in map(mapping_of, _opening(source)) if is_api_message(value)]
    named = source.path.name == API_NAME or source.path.name.endswith(SESSION)
    return (named and bool(messages)) or any(map(is_tagged, messages))


def _opening(source: SourceFile) -> list[object]:
    """The first items of the file, in whichever of its shapes."""
    if source.shape == "jsonl":
        return list(source.sample)
    document = source.outline if source.shape == "json" else None
    return list_of(document) or list_of(mapping_of(document).get("messages"))


def read(source: SourceFile) -> Iterator[Row]:
    """The turns in the order of the file; nothing of a conversation that is read from the file beside it."""
    shown = _is_ui(source)
    if not shown and _has_screen(source.path):
        return
    path = source.path
    task = path.parent.name if path.name in NAMES else path.name.removesuffix(SESSION).removesuffix(path.suffix)
    builder = SessionBuilder(SessionInfo(task, _recorded(path, task) or _told(source) or _told_beside(path)))
    taking = Shown(builder) if shown else Sent(builder)
    yield from read_items(source, builder, _items(source), lambda item: taking.take(item.value, item.line))
    taking.end()
    yield from builder.flush()


def _items(source: SourceFile) -> Iterator[Record | Element | Unreadable]:
    if source.shape == "jsonl":
        yield from source.records()
    elif isinstance(source.outline, list):
        yield from source.elements()
    else:
        yield from source.elements("messages")


def _has_screen(path: Path) -> bool:
    """Whether what the screen showed of the same task stands beside the file and can be read."""
    if path.name != API_NAME:
        return False
    return any(_is_ui(SourceFile(beside)) for name in UI_NAMES if is_sibling(beside := path.with_name(name)))


def _recorded(path: Path, task: str) -> str | None:
    """The working directory in the task's own record, or in the list of all tasks two folders up."""
    if path.name.endswith(SESSION):
        return _folder_in([_json_in(path.with_name(f"{task}.json"))])
    if path.name not in NAMES:
        return None
    own = _json_in(path.with_name("history_item.json"))
    listed = list_of(_json_in(path.parent.parent.parent / "state" / "taskHistory.json"))
    index = mapping_of(_json_in(path.parent.parent / "_index.json"))
    entries = [own, *listed, *list_of(index.get("entries")), index.get(task)]
    ours = [entry for entry in map(mapping_of, entries) if entry is mapping_of(own) or entry.get("id") == task]
    return _folder_in(ours)


def _folder_in(records: Iterable[object]) -> str | None:
    told = (text_of(record.get(key)) for record in map(mapping_of, records) for key in CWD_KEYS)
    return next(filter(None, told), None)


def _json_in(path: Path) -> object:
    try:
        return SourceFile(path).document if is_sibling(path) and SourceFile(path).shape == "json" else None
    except NotText:
        return None


def _told(source: SourceFile) -> str | None:
    """The working directory as the model was told of it in the first messages."""
    for text in _texts(list_of(_opening(source)), 0):
        if "# Current W" in text and (found := _CWD.search(text)):
            return found[1]
    return None


def _told_beside(path: Path) -> str | None:
    beside = path.with_name(API_NAME)
    return _told(SourceFile(beside)) if path.name in UI_NAMES and is_sibling(beside) else None


def _texts(values: list[object], depth: int) -> Iterator[str]:
    """The texts of messages and of the blocks in them, tools' answers among them."""
    for value in values:
        fields = mapping_of(value)
        yield text_of(value) or text_of(fields.get("text"))
        content = fields.get("content")
        if depth < 3:  # noqa: PLR2004 - a message, its blocks, and the blocks of a tool's answer
            yield from _texts(content if isinstance(content, list) else [content], depth + 1)


def hidden_in(_folder: str, names: Collection[str]) -> Collection[str]:
    """Return the lists of a task's steps, which are read with the task."""
    return [name for name in names if name.startswith(FOCUS_CHAIN)] if any(name in NAMES for name in names) else ()


def locations(environment: Environment) -> Iterator[Path]:
    for editor in environment.editors:
        for extension in ("saoudrizwan.claude-dev", "rooveterinaryinc.roo-cline", "kilocode.kilo-code"):
            yield editor / "globalStorage" / extension / "tasks"
    data = environment.folder("CLINE_DATA_DIR", environment.folder("CLINE_DIR", environment.home / ".cline") / "data")
    yield environment.folder("CLINE_SESSION_DATA_DIR", data / "sessions")


CLINE = Format(
    name="cline",
    version=8,
    detect=confident(recognise, 90),
    read=read,
    program="Cline, Roo Code, Kilo Code",
    locations=locations,
    companions=Companions(hidden_in=hidden_in),
    verified="2026-11",
)
