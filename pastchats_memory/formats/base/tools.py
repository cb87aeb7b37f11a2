"""What is worth finding in the tool calls of an agent: errors, failed commands, results of tests, builds and linters.

Everything else (file contents, listings, successful edits) would crowd out people's words. Pure functions, any format.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import orjson

from pastchats_memory.formats.base.source import BadJson, Json, list_of, mapping_of, number_of, parse_json, text_of
from pastchats_memory.formats.base.tasks import names_of, short_hash, titled, word_of
from pastchats_memory.model import RESOLVED, Task, TaskLink, TaskState, folded, priority_of, status_of
from pastchats_memory.text.clean import beginning, clean, ending
from pastchats_memory.text.shell import check_of, ends_badly, is_look

# Questions that an agent puts to the person midway, through a tool made for that, and what the person answered.
#
# Each client words the answers for its model in a way of its own: JSON by a question's place or id (Gemini CLI, Codex), pairs of
# `"question"="answer"` (Claude Code, OpenCode), a line a heading (Qwen Code), the choice alone (GitHub Copilot CLI).

Questions = tuple[tuple[str, str], ...]
"""Each question of a call: what its answer is told by, and its words."""

TOOLS = frozenset({"askuserquestion", "askuser", "requestuserinput", "question", "askquestion", "askquestions"})
"""Names of such tools, without what the clients put between the words."""
OPENINGS = ("User has answered your questions:", "Your questions have been answered:")
"""Before pairs of questions and answers, which tell themselves what was asked."""
BETWEEN, NEXT, END = '"="', ', "', ". You can now continue"
NOTES, NOTED = '" user notes: ', "user_note: "
"""Before what the person wrote beside a choice, in pairs and in JSON."""
PREVIEW = '" selected preview:'
LISTED = "User has provided the following answers:"
CHOSEN = ("User selected:", "User responded:", "The user responded:")
SENT_BACK, STORED = "Plan rejected. User feedback:", "\n\nThe plan is stored at:"
"""Around what a person had to say of a plan, in Gemini CLI."""
UNANSWERED = frozenset({"", "Unanswered", "(No answer provided)"})

_LINE = re.compile(r"^\*\*([^*\n]{1,200})\*\*: ", re.MULTILINE)
_BETWEEN_WORDS = re.compile(r"[^a-z]")


def is_question_tool(name: str) -> bool:
    """Whether a tool puts questions to the person."""
    return _BETWEEN_WORDS.sub("", name.lower()) in TOOLS


def questions_of(name: str, inputs: Json) -> Questions:
    """The questions that a call asks; none of another tool's."""
    if not is_question_tool(name):
        return ()
    questions = [mapping_of(question) for question in list_of(inputs.get("questions"))] or [inputs]
    return tuple(
        (
            text_of(question.get("id")) or text_of(question.get("header")) or str(place),
            text_of(question.get("question")),
        )
        for place, question in enumerate(questions)
        if text_of(question.get("question"))
    )


def parse_answers(asked: Questions, text: str) -> str:
    """What the person answered, each answer below its question; `""` where that is not what the text says."""
    if text.startswith(OPENINGS):
        return "\n\n".join(_shown(_from_pairs(text)))
    if text.startswith(SENT_BACK):
        return text.removeprefix(SENT_BACK).partition(STORED)[0].strip()
    if not asked:
        return ""
    if text.startswith("{"):
        return "\n\n".join(_shown(_from_json(asked, text)))
    if text.startswith(LISTED):
        return "\n\n".join(_shown(_from_lines(asked, text)))
    chosen = next((text[len(opening) :] for opening in CHOSEN if text.startswith(opening)), "")
    return "\n\n".join(_shown([(asked[0][1], chosen)]))


def _shown(told: list[tuple[str, str]]) -> list[str]:
    return [f"{question}\n{answer.strip()}" for question, answer in told if answer.strip() not in UNANSWERED]


def _from_pairs(text: str) -> list[tuple[str, str]]:
    """Of `"question"="answer", "question"="answer"`; nothing in it is escaped, so a quotation within may end a part too early."""
    first, *stretches = (text.rpartition(END)[0] or text).split(BETWEEN)
    question, told = first.partition('"')[2], list[tuple[str, str]]()
    for place, stretch in enumerate(stretches, 1):
        answer, _, following = stretch.rpartition(NEXT) if place < len(stretches) else (stretch, "", "")
        chosen, _, noted = answer.partition(NOTES)
        chosen = chosen.partition(PREVIEW)[0].removesuffix('"')
        told.append((question, f"{chosen}\n{noted}"))
        question = following
    return told


def _from_json(asked: Questions, text: str) -> list[tuple[str, str]]:
    try:
        answers = mapping_of(mapping_of(orjson.loads(text)).get("answers"))
    except orjson.JSONDecodeError:
        return []
    keys = [(question, (key, str(place))) for place, (key, question) in enumerate(asked)]
    return [(question, next((_words(answers[key]) for key in names if key in answers), "")) for question, names in keys]


def _words(answer: object) -> str:
    chosen = mapping_of(answer).get("answers", answer)
    return text_of(chosen) or "\n".join(text_of(each).removeprefix(NOTED) for each in list_of(chosen))


def _from_lines(asked: Questions, text: str) -> list[tuple[str, str]]:
    _, *parts = _LINE.split(text)
    questions = dict(asked)
    return [(questions.get(heading, heading), answer) for heading, answer in zip(parts[::2], parts[1::2], strict=True)]


LABEL_LENGTH = 120
COMMAND_LENGTH = 240
HEAD_LENGTH = 280
TAIL_LENGTH = 440
"""A result says at its beginning what broke and at its end how it went; the middle is left out."""

SUBJECTS = (
    "command", "cmd", "file_path", "filePath", "path", "notebook_path", "pattern", "query", "url", "description", "skill", "subject", "name",
    "absolute_path", "dir_path", "target_file", "dirPath", "uri", "filepath", "filename", "file",
)  # fmt: skip
"""Keys of a tool's input that say in a few words what it was about, best first."""

EDITORS = (
    "text_editor", "file_editor", "str_replace_editor", "str-replace-editor", "str_replace_based_edit_tool", "fs_write", "fs_read",
)  # fmt: skip
"""Ends of the names of tools whose `command` is one of theirs and none for a shell: it says what was done, which the name does not."""
AS_EDITORS = frozenset({"editor", "read", "write"})
"""The whole names of others."""
BOOKKEEPING = (
    "File has not been read yet", "File has been modified since read", "File has been unexpectedly modified",
    "Sibling tool call errored", "The user doesn't want to", "User chose to stay in plan mode",
    "InputValidationError", "No task found with ID", "Unknown skill", "String to replace not found",
    "No changes to make: old_string", "EISDIR", "oldString not found in content", "Tool execution aborted",
    "Tool execution interrupted", "Could not find oldString in", "No changes to apply: oldString",
    "The user rejected permission to use", "The user has specified a rule which prevents", "The user dismissed this question",
)  # fmt: skip
"""Beginnings of errors between an agent and its client that teach nobody anything."""

NEVER_RAN = ("exec_command failed", "failed in sandbox", "execution error", "apply_patch verification failed")
"""Beginnings of what Codex answers, without an exit code, for a command that it could not run."""

POLLING = ("BashOutput", "TaskOutput", "AgentOutput", "write_stdin")
"""Beginnings of calls that ask how a command goes that was begun before."""

SAID_ON_REFUSAL = re.compile(r"the user said:|tool call with the following feedback:")

EXIT_CODE = re.compile(
    r"\A(?:Chunk ID:[^\n]*\n)?(?:Wall time:[^\n]*\n)?(?:Process exited with code|Exit code:?) (-?\d{1,9})\b[^\n]*\n?"
)
OUTPUT_MARK = re.compile(r"^Output:\n", re.MULTILINE)
HEADER_LENGTH = 400
PRINTED, ENDED_WITH = ("output", "stdout", "stderr", "error"), ("exit_code", "exitCode", "returncode")
"""Under which names programs tell what a command printed, and its exit code."""
PATCHES = ("input", "patchText")
"""Under which names a patch is handed over."""
PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: ([^\n]{1,300})", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call, in as many words as may be kept of it."""

    label: str
    """Tool and subject on one line, such as `Bash pytest -q`."""
    command: str = ""
    """The shell command, when it was one."""
    asked: Questions = ()
    """The questions that it put to the person, when it was a tool for that."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool answered."""

    text: str
    exit_code: int | None = None
    failed: bool = False


UNKNOWN_CALL = ToolCall("tool")
"""What was called, for an answer to which no call is known."""


def parse_call(name: str, arguments: object) -> ToolCall:
    """The call of a tool by its name and its input: an object, an object as JSON text, or raw text."""
    values = arguments
    if isinstance(arguments, str):
        try:
            values = orjson.loads(arguments)
        except orjson.JSONDecodeError:
            files = PATCHED.findall(arguments)
            return ToolCall(_line(f"{name} {', '.join(files) or arguments}"))
    inputs = mapping_of(values)
    if name.endswith(EDITORS) or (name in AS_EDITORS and "command" in inputs):
        name, inputs = text_of(inputs.get("command")) or name, {**inputs, "command": None}
    command = next((words for key in ("command", "cmd") if (words := _command(inputs.get(key)))), "")
    files = PATCHED.findall(command or next((text for key in PATCHES if (text := text_of(inputs.get(key)))), ""))
    subject = command or next((text for key in SUBJECTS if (text := text_of(inputs.get(key)))), "")
    label = _line(f"{name} {', '.join(files) or subject}")
    return ToolCall(label, "" if files else clean(command).strip(), questions_of(name, inputs))


def call_to_json(call: ToolCall) -> list[object]:
    """All of the call, as JSON."""
    return [call.label, call.command, call.asked]


def call_from_json(value: object) -> ToolCall:
    """The call of which `kept` gave the value."""
    label, command, asked = list_of(value)
    return ToolCall(
        text_of(label),
        text_of(command),
        tuple((text_of(key), text_of(words)) for key, words in map(list_of, list_of(asked))),
    )


def _command(value: object) -> str:
    """Shell text of `"ls"` or `["bash", "-lc", "ls"]`."""
    if isinstance(value, list):
        words = [word for word in value if isinstance(word, str)]
        shell = len(words) > 2 and words[1].startswith("-") and words[1].endswith("c")  # noqa: PLR2004 - shell, `-c`, text
        return words[-1] if shell else " ".join(words)
    return text_of(value)


def _line(text: str) -> str:
    line = " ".join(clean(beginning(text, 2 * LABEL_LENGTH)).split())
    return line if len(line) <= LABEL_LENGTH else beginning(line, LABEL_LENGTH - 1) + "…"


def text_of_result(content: object) -> str:
    """The text of a tool result: a string, a list of strings and text blocks, or an object that holds one of them."""
    if isinstance(content, dict):
        content = content.get("content") or content.get("output") or content.get("text")
    if isinstance(content, str):
        return content
    parts = (block if isinstance(block, str) else mapping_of(block).get("text") for block in list_of(content))
    return "\n".join(part for part in parts if isinstance(part, str))


def parse_result(value: object) -> ToolResult:
    """A tool's answer with its exit code, in the spellings that agents use for it: JSON with metadata, or a header of lines."""
    success = mapping_of(value).get("success")
    text = text_of_result(value)
    if text.startswith('{"'):
        try:
            inner = mapping_of(orjson.loads(text))
        except orjson.JSONDecodeError:
            inner = {}
        code = number_of(mapping_of(inner.get("metadata")).get("exit_code"))
        if isinstance(inner.get("output"), str):
            return ToolResult(text_of(inner.get("output")), code, failed=bool(code))
    if found := EXIT_CODE.match(text):
        code, rest = int(found[1]), text[found.end() :]
        mark = OUTPUT_MARK.search(rest[:HEADER_LENGTH])
        return ToolResult(rest[mark.end() :] if mark else rest, code, failed=code != 0)
    return ToolResult(text, failed=success is False or text.startswith(NEVER_RAN))


def parse_printed(fields: Json, *, failed: bool = False) -> ToolResult:
    """What a command printed and how it ended, of an object that tells them under the usual names."""
    text = "\n".join(words for key in PRINTED if (words := text_of(fields.get(key))))
    code = next((code for key in ENDED_WITH if (code := number_of(fields.get(key))) is not None), None)
    return ToolResult(text, code, failed=failed or bool(code))


def notable_result(call: ToolCall, output: ToolResult, *, mended: bool = False) -> tuple[str, str, str] | None:
    """Role, kind and text of the row to keep of a call and its answer, None for all that is not worth one.

    That is a tool's `error` or `result`, and the `answer` that a person gave to the questions of an agent.

    Args:
        call: what was called.
        output: what it answered. A check that says nothing passed, a command that says nothing may have failed.
        mended: the same command failed before.

    """
    text = clean(output.text).strip()
    text = text.removeprefix("<tool_use_error>").removesuffix("</tool_use_error>").strip()
    if not output.failed and not call.command and (answers := parse_answers(call.asked, text)):
        return "user", "answer", answers
    if text.startswith(BOOKKEEPING):
        if refused := SAID_ON_REFUSAL.search(text):
            return (
                "tool",
                "result",
                f"{_heading(call)}\nRefused; the user said: {excerpt(text[refused.end() :].strip())}",
            )
        return None
    is_check = _is_check(call, text)
    failed = has_failed(call, output)
    if not failed and not mended and not is_check:
        return None
    if not text and output.failed and (output.exit_code is None or is_look(call.command)):
        return None
    code = f"Exit code {output.exit_code}\n" if output.failed and output.exit_code is not None else ""
    return "tool", "error" if failed else "result", f"{_heading(call)}\n{code}{excerpt(text)}".rstrip()


def has_failed(call: ToolCall, output: ToolResult) -> bool:
    """Whether the call failed, by what its client says or, where a pipe hides that, by the end of what it printed."""
    if output.failed or not call.command or is_look(call.command):
        return output.failed
    text = clean(output.text).strip()
    return not _is_check(call, text) and ends_badly(call.command, text)


def _is_check(call: ToolCall, text: str) -> bool:
    return (bool(call.command) or call.label.startswith(POLLING)) and check_of(call.command, text) is not None


def _heading(call: ToolCall) -> str:
    if not call.command:
        return call.label
    command = call.command
    return f"$ {command}" if len(command) <= COMMAND_LENGTH else f"$ {beginning(command, COMMAND_LENGTH)}…"


def excerpt(text: str) -> str:
    """The text, or its beginning and its end when it is long."""
    if len(text) <= HEAD_LENGTH + TAIL_LENGTH:
        return text
    return f"{beginning(text, HEAD_LENGTH).rstrip()}\n[…]\n{ending(text, TAIL_LENGTH).lstrip()}"


# TODO lists and plans as agents keep them by tool calls: each call replaces the list, or makes and changes one task.
#
# A reader of transcripts tells every call to a `Plans` and asks it for the tasks at the end of the file.

LISTS = frozenset({"todowrite", "todo_write", "write_todos", "update_plan", "update_todo_list", "manage_todo_list", "todo", "todos", "updatetodos", "update_todos", "update_todo", "updatetodolist", "todo_update", "settodolist", "set_todo_list", "todolist", "checklist"})  # fmt: skip
"""Tools, as `folded`, whose call replaces the whole list."""
LIST_KEYS = ("todos", "plan", "items", "todoList", "todo_list", "tasks", "steps", "content", "checklist")
TEXT_KEYS = ("content", "step", "text", "title", "description", "subject", "name")
DROPPED = "dropped"
"""The state of what was still to be done when a list without it replaced the list."""

_BOX = re.compile(r"\s*(?:(?:[-*+]|\d+[.)])\s+)?\[([ xX~\-/]|completed|in_progress|pending)\]\s+(\S.*)")
"""A line of a checklist; Droid writes the state out."""
_BOX_STATES = {
    " ": "pending",
    "x": "completed",
    "X": "completed",
    "-": "in_progress",
    "/": "in_progress",
    "~": "in_progress",
}
_MADE = re.compile(r"Task #?(\d+) created")


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a list."""

    text: str
    status: str
    priority: int | None = None
    id: str = ""
    """Within its list, where the agent gives one."""


@dataclass(slots=True)
class _Kept:
    task: Task
    states: list[TaskState] = field(default_factory=list)
    last: str = ""
    """The raw state, also one that was told before the file grew."""

    def turn(self, raw: str, at: str | None) -> None:
        if raw and self.last != raw:
            self.states.append(TaskState(status_of(raw), raw, at))
            self.last = raw


class TodoLists:
    """The lists of the conversations of one file."""

    def __init__(self) -> None:
        self._lists: dict[str, dict[str, _Kept]] = {}
        self._tasks: dict[tuple[str, str], _Kept] = {}
        self._texts: dict[str, dict[str, str]] = {}
        """Of the lines of a list by their ids, which hold within one list alone."""
        self._asked: dict[str, tuple[str, Json, str | None, int]] = {}

    def call(
        self, name: str, given: object, conversation: str, *, at: str | None, line: int, call_id: str = ""
    ) -> None:
        """Take a tool call: its name, its arguments as an object or as JSON text, and where and when it stands."""
        arguments = (
            given if isinstance(given, dict) else mapping_of(parse_json(given) if isinstance(given, str) else None)
        )
        match folded(re.split(r"\.|__", name)[-1]):
            case kind if kind in LISTS:
                if arguments.get("merge") is True:
                    self._merge(conversation, arguments, at, line)
                elif (entries := entries_of(arguments)) is not None:
                    self._replace(conversation, entries, at, line)
            case "taskcreate":
                self._asked[call_id] = (conversation, arguments, at, line)
            case "taskupdate":
                self._update(conversation, arguments, at, line)
        if isinstance(progress := arguments.get("task_progress"), str):
            self._replace(conversation, _boxes(progress), at, line)

    def result(self, call_id: str, told: object, text: str = "") -> None:
        """Take the result of a call: a created task gets its number from it, in `told` or in the words."""
        if call_id not in self._asked:
            return
        conversation, arguments, at, line = self._asked.pop(call_id)
        found = _MADE.search(text)
        number = word_of(mapping_of(mapping_of(told).get("task")).get("id")) or (found[1] if found else "")
        if number and text_of(arguments.get("subject")):
            kept = _Kept(task_of_list(arguments, conversation, number, line=line))
            kept.turn("pending", at)
            self._tasks[conversation, number] = kept

    def tasks(self, cwd: str | None = None, project: str | None = None) -> Iterator[Task]:
        """Every task with its states, the last one as it is now."""
        for kept in (*(kept for lines in self._lists.values() for kept in lines.values()), *self._tasks.values()):
            states = tuple(kept.states)
            raw = states[-1].raw if states else ""
            if raw == "deleted" or not states:  # nothing new of it since the file grew
                continue
            closed = states[-1].at if states[-1].status in RESOLVED else None
            yield kept.task._replace(states=states, status_raw=raw, closed_at=closed, cwd=cwd, project=project,
                created_at=states[0].at if states else None, updated_at=states[-1].at if states else None,
            )  # fmt: skip

    def state(self) -> Json:
        """The lists as they are now, as JSON."""
        lists = {name: [[kept.task.title, kept.last] for kept in of.values()] for name, of in self._lists.items()}
        tasks = [[*key, kept.task.title, kept.task.description, kept.last] for key, kept in self._tasks.items()]
        asked = [[call_id, *call] for call_id, call in self._asked.items()]
        return {"lists": lists, "tasks": tasks, "asked": asked, "texts": self._texts}

    def restore(self, state: Json) -> None:
        """Take up what `state` gave when the file was shorter."""
        for conversation, texts in mapping_of(state.get("texts")).items():
            self._texts[conversation] = {id_: text_of(text) for id_, text in mapping_of(texts).items()}
        for conversation, entries in mapping_of(state.get("lists")).items():
            known = self._lists.setdefault(conversation, {})
            for title, last in (map(text_of, list_of(entry)) for entry in list_of(entries)):
                known[short_hash(title)] = _Kept(task_of_todo(Entry(title, last), conversation, line=0), last=last)
        for entry in list_of(state.get("tasks")):
            conversation, number, subject, description, last = map(text_of, list_of(entry))
            fields: Json = {"subject": subject, "description": description}
            self._tasks[conversation, number] = _Kept(task_of_list(fields, conversation, number, line=0), last=last)
        for call_id, *call in map(list_of, list_of(state.get("asked"))):
            asked_in, given, at, line = call
            self._asked[text_of(call_id)] = (text_of(asked_in), mapping_of(given), text_of(at) or None, int(str(line)))

    def _replace(self, conversation: str, entries: list[Entry], at: str | None, line: int) -> None:
        known = self._lists.setdefault(conversation, {})
        texts = {short_hash(entry.text) for entry in entries}
        for name, kept in known.items():
            if name not in texts and status_of(kept.last) not in RESOLVED:
                kept.turn(DROPPED, at)
        self._texts[conversation] = {}
        for entry in entries:
            self._keep(conversation, entry, at, line)

    def _keep(self, conversation: str, entry: Entry, at: str | None, line: int) -> None:
        kept = _Kept(task_of_todo(entry, conversation, line=line))
        self._lists.setdefault(conversation, {}).setdefault(short_hash(entry.text), kept).turn(entry.status, at)
        if entry.id:
            self._texts.setdefault(conversation, {})[entry.id] = entry.text

    def _merge(self, conversation: str, arguments: Json, at: str | None, line: int) -> None:
        """Take what changes of a list: of a line that is known by its id the text may be left out."""
        texts = self._texts.get(conversation, {})
        for fields in map(mapping_of, list_of(arguments.get("todos"))):
            entry = entry_of({"content": texts.get(word_of(fields.get("id")), "")} | fields)
            if entry is not None:
                self._keep(conversation, entry, at, line)

    def _update(self, conversation: str, arguments: Json, at: str | None, line: int) -> None:
        number = word_of(arguments.get("taskId"))
        kept = self._tasks.get((conversation, number))
        if kept is None:
            return
        changed = task_of_list(
            {"subject": kept.task.title, "description": kept.task.description} | arguments,
            conversation,
            number,
            line=line,
        )
        kept.task = changed._replace(
            line=kept.task.line, links=tuple(dict.fromkeys((*kept.task.links, *changed.links)))
        )
        kept.turn(text_of(arguments.get("status")), at)


def entries_of(arguments: Json) -> list[Entry] | None:
    """The list that a call gives, None where it gives none: objects, texts, or a checklist in one text."""
    for key in LIST_KEYS:
        value = arguments.get(key)
        if isinstance(value, str):
            parsed = parse_json(value)
            if isinstance(parsed, BadJson) or not isinstance(parsed, list):
                return _boxes(value)
            value = parsed
        if isinstance(value, list):
            found = (entry_of(item) if isinstance(item, dict) else _of_text(item) for item in value)
            return [entry for entry in found if entry is not None]
    return None


def entry_of(fields: Json) -> Entry | None:
    """A line of a list from its object, None without a text."""
    text = next((text for key in TEXT_KEYS if (text := text_of(fields.get(key)).strip())), "")
    status = text_of(fields.get("status")) or (
        "completed" if fields.get("completed") is True or fields.get("done") is True else "pending"
    )
    return Entry(text, status, priority_of(fields.get("priority")), word_of(fields.get("id"))) if text else None


def _of_text(value: object) -> Entry | None:
    text = text_of(value).strip()
    return Entry(text, "pending") if text else None


def _boxes(text: str) -> list[Entry]:
    found = (_BOX.match(line) for line in text.split("\n"))
    return [Entry(box[2].strip(), _BOX_STATES.get(box[1], box[1])) for box in found if box]


def task_of_todo(entry: Entry, conversation: str, *, line: int) -> Task:
    """A line of a conversation's list, known by its text."""
    return Task(
        native_id=f"{conversation[:8]}-{short_hash(entry.text)}",
        title=titled(entry.text),
        line=line,
        scope=f"conversation:{conversation}",
        type="subtask" if entry.text.startswith(("↳", "- ")) else "task",
        status_raw=entry.status,
        priority=entry.priority,
        conversation_id=conversation,
        metadata={"format": "todo-list"},
    )


def task_of_list(fields: Json, session: str, number: str, *, line: int) -> Task:
    """A task with a number of its own, from what made or changed it or from its file."""
    blocked = names_of(fields.get("blockedBy")) + names_of(fields.get("addBlockedBy"))
    owner = text_of(fields.get("owner"))
    return Task(
        native_id=f"{session[:8]}-{number}",
        title=titled(text_of(fields.get("subject")) or f"Task {number}"),
        line=line,
        scope=f"conversation:{session}",
        description=text_of(fields.get("description")).strip(),
        status_raw=text_of(fields.get("status")),
        links=tuple(TaskLink("depends", f"{session[:8]}-{name}") for name in blocked),
        conversation_id=session,
        metadata={"format": "task-list"} | ({"assignee": owner} if owner else {}),
    )


# What models think before they answer, where it stands in the text of the answer.

_THOUGHTS = (
    re.compile(r"\A\s*<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL),
    re.compile(r"\A\s*<\|begin_of_thought\|>.*?(?:<\|end_of_thought\|>|\Z)", re.DOTALL),
)
_SOLUTION = re.compile(r"\A\s*<\|begin_of_solution\|>|<\|end_of_solution\|>\s*\Z")


def without_thoughts(text: str) -> str:
    """The answer alone; nothing where it was cut off while the model still thought."""
    for thoughts in _THOUGHTS:
        text = thoughts.sub("", text)
    return _SOLUTION.sub("", text).strip()
