"""Calls and results of tools, and which of them are worth a row: errors, failed commands, tests, builds and linters.

Everything else (file contents, listings, successful edits) would crowd out people's words.
"""

import re
from dataclasses import dataclass, field

from pastchats_memory.formats.base.dialect import COMMON, Dialect
from pastchats_memory.formats.base.questions import Questions, is_question_tool, parse_answers, parse_questions
from pastchats_memory.formats.base.values import Json, list_of, mapping_of, number_of, text_of, value_of
from pastchats_memory.model import OUTSIDE, REFUSED, Edit
from pastchats_memory.text.clean import clean
from pastchats_memory.text.shell import classify_check, hides_failure, is_editor, is_read_only, is_reader, written_files
from pastchats_memory.text.tracker_words import folded
from pastchats_memory.text.truncate import keep_head, keep_tail

LABEL_LENGTH, PATH_LENGTH = 120, 400
COMMAND_LENGTH = 240
HEAD_LENGTH = 280
TAIL_LENGTH = 440
"""Characters of a long result: its head says what broke, its tail how it ended. The middle is left out."""

SUBJECTS = (
    "command", "cmd", "file_path", "filePath", "path", "notebook_path", "pattern", "query", "url", "description", "skill", "subject", "name",
    "absolute_path", "dir_path", "target_file", "dirPath", "uri", "filepath", "filename", "file",
)  # fmt: skip
"""Keys of a tool's input that name its subject in a few words, best first."""

EXIT_CODE = re.compile(
    r"\A(?:Chunk ID:[^\n]*\n)?(?:Wall time:[^\n]*\n)?(?:Process exited with code|Exit code:?) (-?\d{1,9})\b[^\n]*\n?"
)
OUTPUT_MARK = re.compile(r"^Output:\n", re.MULTILINE)
HEADER_LENGTH = 400
OUTPUTS, EXIT_CODES = ("output", "stdout", "stderr", "error"), ("exit_code", "exitCode", "returncode")
"""Keys under which programs keep the output of a command, and its exit code."""
OUTSIDE_KEYS = (
    ("sandbox_permissions", "require_escalated"),
    ("with_escalated_permissions", True),
    ("dangerouslyDisableSandbox", True),
)
"""Inputs of Codex and Claude Code with which a command leaves the sandbox."""
WORKDIRS = ("workdir", "working_directory", "directory", "dir_path")
"""Keys under which a command names the folder in which it runs."""
PATCHES = ("input", "patchText")
"""Keys under which a patch is passed."""
PATCH_TOOL = "apply_patch"
"""The name of a call in which a shell applies a patch."""
PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: ([^\n]{1,300})", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call, as far as rows need it."""

    label: str
    """Tool and subject on one line, such as `Bash pytest -q`."""
    command: str = ""
    """The shell command; empty for another tool."""
    questions: Questions = ()
    """The questions that it puts to the person; empty for another tool."""
    edit: Edit | None = field(default=None, compare=False)
    """The change of files that it makes; None for another tool, and after a checkpoint."""
    arguments: object = field(default=None, compare=False)
    """Its input: JSON, or a text; None after a checkpoint."""
    is_outside: bool = False
    """Whether it asks to run a command outside the agent's sandbox."""

    @property
    def name(self) -> str:
        """Return the tool's name."""
        return self.label.partition(" ")[0]


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a tool call."""

    text: str
    exit_code: int | None = None
    failed: bool = False


UNKNOWN_CALL = ToolCall("tool")
"""The call of a result whose call is missing."""


def fold_tool_name(name: str) -> str:
    """Return the name of a tool as dialects spell it, without the server that offers it."""
    return folded(re.split(r"\.|__", name)[-1])


def parse_call(name: str, arguments: object, dialect: Dialect = COMMON, folder: str = "") -> ToolCall:
    """Return a call by its tool's name and its input: an object, an object as JSON text, or raw text.

    A command that runs in another folder than the agent's begins with the change to it.
    """
    values = value_of(arguments)
    if isinstance(arguments, str) and values is arguments:
        files = PATCHED.findall(arguments)
        edit = Edit(tuple(files), arguments) if files else None
        return ToolCall(_make_label(name, ", ".join(files) or arguments), edit=edit, arguments=arguments)
    inputs = mapping_of(values)
    if name.endswith(dialect.editors) or (name in dialect.whole_editors and "command" in inputs):
        name, inputs = text_of(inputs.get("command")) or name, {**inputs, "command": None}
    command = next((words for key in ("command", "cmd") if (words := _shell_text(inputs.get(key)))), "")
    files = PATCHED.findall(command or next((text for key in PATCHES if (text := text_of(inputs.get(key)))), ""))
    if files and command:
        name = PATCH_TOOL
    move = _name_move(inputs, folder) if command and not files else ""
    subject = move + command or next((text for key in SUBJECTS if (text := text_of(inputs.get(key)))), "")
    label = _make_label(name, ", ".join(files) or subject)
    questions = parse_questions(inputs) if is_question_tool(name, dialect.question_tools) else ()
    written = files or ([subject] if is_editor(name) else written_files(command))
    edit = Edit(tuple(written), inputs) if written else None
    is_outside = any(inputs.get(key) == value for key, value in OUTSIDE_KEYS)
    return ToolCall(
        label, "" if files else clean(move + command).strip(), questions, edit, inputs or values, is_outside
    )


def _name_move(inputs: Json, folder: str) -> str:
    """Return the change to the folder in which a command runs, if it is not the agent's; a path below that is relative."""
    there = next((text for key in WORKDIRS if (text := text_of(inputs.get(key)))), "").replace("\\", "/").rstrip("/")
    here = folder.replace("\\", "/").rstrip("/")
    if not here or there.casefold() in ("", ".", here.casefold()):
        return ""
    below = there[len(here) + 1 :] if there.casefold().startswith(f"{here.casefold()}/") else there
    return f'cd "{below}"; ' if " " in below else f"cd {below}; "


def call_to_json(call: ToolCall) -> list[object]:
    """Return a call as JSON."""
    return [call.label, call.command, call.questions, call.is_outside]


def call_from_json(value: object) -> ToolCall:
    """Return the call that `call_to_json` encoded."""
    label, command, questions, is_outside = list_of(value)
    pairs = (map(text_of, list_of(pair)) for pair in list_of(questions))
    return ToolCall(
        text_of(label), text_of(command), tuple((key, words) for key, words in pairs), is_outside=is_outside is True
    )


def _shell_text(value: object) -> str:
    """Return the shell text of `"ls"`, `["bash", "-lc", "ls"]` or `["powershell.exe", "-NoProfile", "-Command", "ls"]`."""
    if isinstance(value, list):
        words = [word for word in value if isinstance(word, str)]
        is_shell = len(words) > 2 and words[1].startswith("-") and words[1].endswith("c")  # noqa: PLR2004 - shell, `-c`, text
        return words[-1] if is_shell or "-command" in map(str.lower, words[1:-1]) else " ".join(words)
    return text_of(value)


def _make_label(name: str, subject: str) -> str:
    """Return a tool and its subject on one line: of a file the whole path, which a shorter one would not name."""
    width = PATH_LENGTH if is_editor(name) or is_reader(name) else LABEL_LENGTH
    line = " ".join(clean(keep_head(f"{name} {subject}", 2 * width)).split())
    return line if len(line) <= width else keep_head(line, width - 1) + "…"


def text_of_result(content: object) -> str:
    """Return the text of a tool result: a string, a list of strings and text blocks, or an object with one of them."""
    if isinstance(content, dict):
        content = content.get("content") or content.get("output") or content.get("text")
    if isinstance(content, str):
        return content
    parts = (block if isinstance(block, str) else mapping_of(block).get("text") for block in list_of(content))
    return "\n".join(part for part in parts if isinstance(part, str))


def parse_result(value: object, dialect: Dialect = COMMON) -> ToolResult:
    """Return a result with its exit code, from JSON with metadata or from a header of lines."""
    success = mapping_of(value).get("success")
    text = text_of_result(value)
    if text.startswith('{"'):
        inner = mapping_of(value_of(text))
        code = number_of(mapping_of(inner.get("metadata")).get("exit_code"))
        if isinstance(inner.get("output"), str):
            return ToolResult(text_of(inner.get("output")), code, failed=bool(code))
    if found := EXIT_CODE.match(text):
        code, rest = int(found[1]), text[found.end() :]
        mark = OUTPUT_MARK.search(rest[:HEADER_LENGTH])
        return ToolResult(rest[mark.end() :] if mark else rest, code, failed=code != 0)
    return ToolResult(text, failed=success is False or text.startswith(dialect.never_ran))


def split_exit_code(text: str, pattern: re.Pattern[str], *, failed: bool = False) -> ToolResult:
    """Return a result without the passage that a pattern finds, whose first group is the exit code."""
    found = pattern.search(text)
    if found is None:
        return ToolResult(text, failed=failed)
    code = int(found[1])
    return ToolResult(text[: found.start()] + text[found.end() :], code, failed=failed or code != 0)


def parse_printed(fields: Json, *, failed: bool = False) -> ToolResult:
    """Return the output and exit code of a command, from an object with the usual keys."""
    text = "\n".join(words for key in OUTPUTS if (words := text_of(fields.get(key))))
    code = next((code for key in EXIT_CODES if (code := number_of(fields.get(key))) is not None), None)
    return ToolResult(text, code, failed=failed or bool(code))


def list_rows(
    call: ToolCall, output: ToolResult, dialect: Dialect = COMMON, *, failed_before: bool = False
) -> list[tuple[str, str, str]]:
    """Return role, kind and text of each row for a call and its result; none if it is not worth one.

    A row is a tool's `error` or `result`, or the person's `answer` to the agent's questions. A refused call has a row
    that says so, and the person's reason is an `answer` behind it. A check without output passed; a command without
    output may have failed. `failed_before` says that the last run of the same command failed.
    """
    text = clean(output.text).strip()
    text = text.removeprefix("<tool_use_error>").removesuffix("</tool_use_error>").strip()
    if not output.failed and not call.command and (answers := parse_answers(call.questions, text, dialect.answers)):
        return [("user", "answer", answers)]
    if text.startswith(dialect.refused):
        reason = _parse_reason(text, dialect)
        refusal = ("tool", "result", f"{_heading(call)}{REFUSED}")
        return [refusal, ("user", "answer", reason)] if reason else [refusal]
    if text.startswith(dialect.noise):
        return []
    is_check = _is_check(call, text, dialect)
    failed = has_failed(call, output, dialect)
    if not failed and not failed_before and not is_check:
        return []
    if not text and output.failed and (output.exit_code is None or is_read_only(call.command)):
        return []
    code = f"Exit code {output.exit_code}\n" if output.failed and output.exit_code is not None else ""
    place = f"{OUTSIDE}\n" if call.is_outside and (failed or failed_before) else ""
    return [("tool", "error" if failed else "result", f"{_heading(call)}\n{code}{place}{cut_middle(text)}".rstrip())]


def _parse_reason(text: str, dialect: Dialect) -> str:
    """Return why the person refused, without the client's note behind it; empty if they gave no reason."""
    first = min((phrase for phrase in dialect.reasons if phrase in text), key=text.find, default=None)
    reason = text.partition(first)[2] if first else ""
    for note in dialect.reason_notes:
        reason = reason.partition(f"\n\n{note}")[0]
    return reason.strip()


def has_failed(call: ToolCall, output: ToolResult, dialect: Dialect = COMMON) -> bool:
    """Return whether a call failed: by its client, or by the end of its output where a pipe hides the exit code."""
    if output.failed or not call.command or is_read_only(call.command):
        return output.failed
    text = clean(output.text).strip()
    return not _is_check(call, text, dialect) and hides_failure(call.command, text)


def _is_check(call: ToolCall, text: str, dialect: Dialect) -> bool:
    may_check = bool(call.command) or call.label.startswith(dialect.polling)
    return may_check and classify_check(call.command, text) is not None


def _heading(call: ToolCall) -> str:
    if not call.command:
        return call.label
    command = call.command
    return f"$ {command}" if len(command) <= COMMAND_LENGTH else f"$ {keep_head(command, COMMAND_LENGTH)}…"


def cut_middle(text: str) -> str:
    """Return a text, or the head and the tail of a long one."""
    if len(text) <= HEAD_LENGTH + TAIL_LENGTH:
        return text
    return f"{keep_head(text, HEAD_LENGTH).rstrip()}\n[…]\n{keep_tail(text, TAIL_LENGTH).lstrip()}"
