"""What is worth finding in the tool calls of an agent: errors, failed commands, results of tests, builds and linters.

Everything else (file contents, listings, successful edits) would crowd out people's words. Pure functions, any format.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import orjson

from pastchats_memory.commands import check_of, ends_badly, is_look
from pastchats_memory.readers.asked import Asked, answers_in, questions_of
from pastchats_memory.readers.fields import Json, list_of, mapping_of, number_of, text_of
from pastchats_memory.readers.text import beginning, clean, ending

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
class Call:
    """A tool call, in as many words as may be kept of it."""

    label: str
    """Tool and subject on one line, such as `Bash pytest -q`."""
    command: str = ""
    """The shell command, when it was one."""
    asked: Asked = ()
    """The questions that it put to the person, when it was a tool for that."""


@dataclass(frozen=True, slots=True)
class Output:
    """What a tool answered."""

    text: str
    exit_code: int | None = None
    failed: bool = False


NO_CALL = Call("tool")
"""What was called, for an answer to which no call is known."""


def call_of(name: str, arguments: object) -> Call:
    """The call of a tool by its name and its input: an object, an object as JSON text, or raw text."""
    values = arguments
    if isinstance(arguments, str):
        try:
            values = orjson.loads(arguments)
        except orjson.JSONDecodeError:
            files = PATCHED.findall(arguments)
            return Call(_line(f"{name} {', '.join(files) or arguments}"))
    inputs = mapping_of(values)
    if name.endswith(EDITORS) or (name in AS_EDITORS and "command" in inputs):
        name, inputs = text_of(inputs.get("command")) or name, {**inputs, "command": None}
    command = next((words for key in ("command", "cmd") if (words := _command(inputs.get(key)))), "")
    files = PATCHED.findall(command or next((text for key in PATCHES if (text := text_of(inputs.get(key)))), ""))
    subject = command or next((text for key in SUBJECTS if (text := text_of(inputs.get(key)))), "")
    label = _line(f"{name} {', '.join(files) or subject}")
    return Call(label, "" if files else clean(command).strip(), questions_of(name, inputs))


def kept(call: Call) -> list[object]:
    """All of the call, as JSON."""
    return [call.label, call.command, call.asked]


def call_again(value: object) -> Call:
    """The call of which `kept` gave the value."""
    label, command, asked = list_of(value)
    return Call(
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


def text_in(content: object) -> str:
    """The text of a tool result: a string, a list of strings and text blocks, or an object that holds one of them."""
    if isinstance(content, dict):
        content = content.get("content") or content.get("output") or content.get("text")
    if isinstance(content, str):
        return content
    parts = (block if isinstance(block, str) else mapping_of(block).get("text") for block in list_of(content))
    return "\n".join(part for part in parts if isinstance(part, str))


def output_of(value: object) -> Output:
    """A tool's answer with its exit code, in the spellings that agents use for it: JSON with metadata, or a header of lines."""
    success = mapping_of(value).get("success")
    text = text_in(value)
    if text.startswith('{"'):
        try:
            inner = mapping_of(orjson.loads(text))
        except orjson.JSONDecodeError:
            inner = {}
        code = number_of(mapping_of(inner.get("metadata")).get("exit_code"))
        if isinstance(inner.get("output"), str):
            return Output(text_of(inner.get("output")), code, failed=bool(code))
    if found := EXIT_CODE.match(text):
        code, rest = int(found[1]), text[found.end() :]
        mark = OUTPUT_MARK.search(rest[:HEADER_LENGTH])
        return Output(rest[mark.end() :] if mark else rest, code, failed=code != 0)
    return Output(text, failed=success is False or text.startswith(NEVER_RAN))


def printed_in(fields: Json, *, failed: bool = False) -> Output:
    """What a command printed and how it ended, of an object that tells them under the usual names."""
    text = "\n".join(words for key in PRINTED if (words := text_of(fields.get(key))))
    code = next((code for key in ENDED_WITH if (code := number_of(fields.get(key))) is not None), None)
    return Output(text, code, failed=failed or bool(code))


def finding(call: Call, output: Output, *, mended: bool = False) -> tuple[str, str, str] | None:
    """Role, kind and text of the row to keep of a call and its answer, None for all that is not worth one.

    That is a tool's `error` or `result`, and the `answer` that a person gave to the questions of an agent.

    Args:
        call: what was called.
        output: what it answered. A check that says nothing passed, a command that says nothing may have failed.
        mended: the same command failed before.

    """
    text = clean(output.text).strip()
    text = text.removeprefix("<tool_use_error>").removesuffix("</tool_use_error>").strip()
    if not output.failed and not call.command and (answers := answers_in(call.asked, text)):
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


def has_failed(call: Call, output: Output) -> bool:
    """Whether the call failed, by what its client says or, where a pipe hides that, by the end of what it printed."""
    if output.failed or not call.command or is_look(call.command):
        return output.failed
    text = clean(output.text).strip()
    return not _is_check(call, text) and ends_badly(call.command, text)


def _is_check(call: Call, text: str) -> bool:
    return (bool(call.command) or call.label.startswith(POLLING)) and check_of(call.command, text) is not None


def _heading(call: Call) -> str:
    if not call.command:
        return call.label
    command = call.command
    return f"$ {command}" if len(command) <= COMMAND_LENGTH else f"$ {beginning(command, COMMAND_LENGTH)}…"


def excerpt(text: str) -> str:
    """The text, or its beginning and its end when it is long."""
    if len(text) <= HEAD_LENGTH + TAIL_LENGTH:
        return text
    return f"{beginning(text, HEAD_LENGTH).rstrip()}\n[…]\n{ending(text, TAIL_LENGTH).lstrip()}"
