"""What `codex exec` prints to turns: for people, a section under each name, and with `--json` an event a line, of two generations.

A session that is kept has a rollout too, which says more; a log is often all that is left of one that another program ran.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from pastchats_memory.formats.agents.codex.dialect import DIALECT
from pastchats_memory.formats.agents.codex.exec_sections import Section, sections
from pastchats_memory.formats.base.format import Format, confident
from pastchats_memory.formats.base.session import Position, Row, SessionBuilder, SessionInfo, folder_of, read_session
from pastchats_memory.formats.base.source import Json, Record, SourceFile, list_of, mapping_of, number_of, text_of
from pastchats_memory.formats.base.tools import ToolResult

EVENTS = frozenset({
    "task_started", "agent_message", "agent_reasoning", "exec_command_begin", "exec_command_end", "token_count", "task_complete",
})  # fmt: skip
"""Types of messages in events of the first generation."""

_FACT = re.compile(r"(workdir|model|session id): (\S[^\n]{0,1000})\Z")
_HOW = r" (?:succeeded|exited (?P<code>-?\d{1,9})) in \d[^\n:]{0,20}:$"
_ENDED = re.compile(rf"\n?{_HOW}", re.MULTILINE)
"""Behind a command: how it ended, how long it took."""
_NEXT_ENDED = re.compile(rf"^{_HOW}", re.MULTILINE)
"""The same of a command that ran at the same time."""
_WHERE = re.compile(r" in (?:/|[A-Za-z]:\\)[^\n]{0,1000}\s*\Z")
_JOINED = re.compile(r" in (?:/|[A-Za-z]:\\)[^\n]{0,1000}?exec\n(?! (?:succeeded|exited) )")
"""Between commands that began at a time: the heading of the next stands on the line of the one before."""
_STATE = re.compile(r"patch: (\w+)\Z")
_CHANGED = re.compile(r"[AMD] ((?:/|[A-Za-z]:\\)[^\n]{0,1000})\Z")

OPENING = 4096
"""Characters within which a log names Codex."""
_LOG = re.compile(
    r"(?:# [^\n]*\n)?(?:(?![#`]|[*_]{0,3}(?:User|Human|You|Assistant|Agent)\b)[^\n]*\n)*?"
    r"(?:\[[\d:T-]{19}\] )?OpenAI Codex v\d[^\n]{0,60}\n-{8}\nworkdir: "
)
"""The head of a log: another program's output may stand above it, but no heading, fence or speaker."""


def recognise(source: SourceFile) -> bool:
    """Whether the log begins as Codex begins one, or a line is an event of such a run."""
    if source.shape in ("markdown", "other"):
        return _LOG.match(source.head[:OPENING].replace("\r\n", "\n")) is not None
    return any(map(_is_event, source.sample))


def _is_event(record: Json) -> bool:
    began = record.get("type") == "thread.started" and isinstance(record.get("thread_id"), str)
    return began or (isinstance(record.get("id"), str) and text_of(mapping_of(record.get("msg")).get("type")) in EVENTS)


def read(source: SourceFile) -> Iterator[Row]:
    """The turns in file order."""
    builder = SessionBuilder(SessionInfo(source.path.stem), DIALECT)
    if source.shape == "jsonl":
        yield from read_session(source, builder, lambda item: _take(builder, item))
        return
    waiting: list[str] = []
    for section in sections(source.text.split("\n")):
        _tell(builder, section, waiting)
        yield from builder.queue.pop_complete(0)
    yield from builder.flush()


def _tell(builder: SessionBuilder, section: Section, waiting: list[str]) -> None:
    """Add what the section says; commands that have not ended yet are waiting, the first first, until the model speaks again."""
    at = Position(section.line, section.time)
    if section.name in ("", "codex"):
        waiting.clear()
    match section.name:
        case "":
            _introduce(builder, section.text)
        case "user":
            builder.add_prompt(section.text, at)
        case "codex":
            builder.add_answer(section.text, at)
        case "exec":
            _begin(builder, section, waiting)
            _end(builder, section, waiting)
        case "called":
            command = _without_place(section.text)
            builder.add_call(command, "shell", {"command": _words(command)})
        case "ended" if done := _ENDED.search(section.text):
            builder.add_result(section.text[: done.start()], _output(done, section.text), at)
        case "file update" | "apply patch":
            _patched(builder, section.text, at)
        case "error":
            builder.queue.flag("api_error")


def _introduce(builder: SessionBuilder, text: str) -> None:
    """What holds for the run."""
    facts = {fact[1]: fact[2] for line in text.split("\n") if (fact := _FACT.match(line))}
    builder.info.conversation_id = facts.get("session id") or builder.info.conversation_id
    builder.info.cwd, builder.model = folder_of(facts.get("workdir")), facts.get("model", "")


def _begin(builder: SessionBuilder, section: Section, waiting: list[str]) -> None:
    """Call the commands that stand before what the first of them printed."""
    done = _ENDED.search(section.text)
    for number, command in enumerate(_JOINED.split(section.text[: done.start()] if done else section.text)):
        call_id = f"{section.line}:{number}"
        builder.add_call(call_id, "shell", {"command": _words(_without_place(command))})
        waiting.append(call_id)


def _end(builder: SessionBuilder, section: Section, waiting: list[str]) -> None:
    """Give the waiting commands what they printed, as far as they ended, in the order in which they began."""
    text, first = section.text, _ENDED.search(section.text)
    ends = [first, *_NEXT_ENDED.finditer(text, first.end())][: len(waiting)] if first else []
    for number, done in enumerate(ends, 1):
        end = ends[number].start() if number < len(ends) else len(text)
        at = Position(section.line + text.count("\n", 0, done.end()), section.time)
        builder.add_result(waiting.pop(0), _output(done, text[:end]), at)


def _without_place(command: str) -> str:
    """The command without where it ran; of one that did not end its first line."""
    found = _WHERE.search(command)
    return command[: found.start()] if found else command.partition("\n")[0]


def _output(done: re.Match[str], text: str) -> ToolResult:
    code = int(done["code"] or 0)
    return ToolResult(text[done.end() :].strip(), code, failed=code != 0)


def _patched(builder: SessionBuilder, text: str, at: Position) -> None:
    """An edit of some files, whose paths stand below its state in later versions, and behind a letter before each change in earlier ones."""
    listed = text.partition("\ndiff --git ")[0].split("\n")
    state = _STATE.match(listed[0])
    files = listed[1:] if state else [found[1] for line in listed if (found := _CHANGED.match(line))]
    _patches(builder, "", files)
    if state:
        builder.add_result("", ToolResult(listed[0], failed=state[1] != "completed"), at)
    elif done := _ENDED.search(text):
        builder.add_result("", _output(done, text), at)


def _patches(builder: SessionBuilder, call_id: str, files: list[str]) -> None:
    builder.add_call(call_id, "apply_patch", "\n".join(f"*** Update File: {path}" for path in files))


def _words(command: str) -> list[str]:
    """A command as it was given to a shell."""
    try:
        return shlex.split(command)
    except ValueError:  # what the model wrote is not always whole
        return [command]


def _take(builder: SessionBuilder, item: Record) -> str | None:
    """Add what the event says; the reason why it says nothing that can be read, else None."""
    record = item.value
    if not isinstance(record, dict):
        return f"a {type(record).__name__} instead of an event"
    at = Position(item.line)
    about = builder.info
    if record.get("type") == "thread.started":
        about.conversation_id = text_of(record.get("thread_id")) or about.conversation_id
    elif record.get("type") in ("turn.failed", "error"):
        builder.queue.flag("api_error")
    elif record.get("type") == "item.completed":
        _item(builder, mapping_of(record.get("item")), at)
    elif "prompt" in record:
        builder.add_prompt(text_of(record["prompt"]), at)
    elif "workdir" in record:
        about.cwd, builder.model = folder_of(record["workdir"]), text_of(record.get("model"))
    _message(builder, mapping_of(record.get("msg")), at)
    return None


def _item(builder: SessionBuilder, item: Json, at: Position) -> None:
    """What was said or done in a run of the second generation."""
    own_id, error = text_of(item.get("id")), text_of(mapping_of(item.get("error")).get("message"))
    match item.get("type"):
        case "agent_message":
            builder.add_answer(text_of(item.get("text")), at)
        case "command_execution":
            builder.add_call(own_id, "shell", {"command": _words(text_of(item.get("command")))})
            builder.add_result(own_id, _ended(item), at)
        case "file_change":
            for change in map(mapping_of, list_of(item.get("changes"))):
                builder.add_call(own_id, text_of(change.get("kind")), change)
        case "mcp_tool_call":
            builder.add_call(own_id, text_of(item.get("tool")), item.get("arguments"))
            builder.add_result(own_id, ToolResult(error, failed=bool(error)), at)


def _message(builder: SessionBuilder, message: Json, at: Position) -> None:
    """What was said or done in a run of the first generation."""
    call_id = text_of(message.get("call_id"))
    match message.get("type"):
        case "agent_message":
            builder.add_answer(text_of(message.get("message")), at)
        case "exec_command_begin":
            builder.info.cwd = builder.info.cwd or folder_of(message.get("cwd"))
            builder.add_call(call_id, "shell", {"command": message.get("command")})
        case "exec_command_end":
            builder.add_result(call_id, _ended(message), at)
        case "patch_apply_begin":
            _patches(builder, call_id, list(mapping_of(message.get("changes"))))
        case "patch_apply_end":
            builder.add_result(
                call_id, ToolResult(text_of(message.get("stderr")), failed=message.get("success") is False), at
            )
        case "error":
            builder.queue.flag("api_error")


def _ended(fields: Json) -> ToolResult:
    code = number_of(fields.get("exit_code"))
    return ToolResult(text_of(fields.get("aggregated_output")), code, failed=bool(code))


CODEX_EXEC = Format(
    name="codex-exec",
    version=3,
    detect=confident(recognise, 90),
    read=read,
    verified="0.106.0, 2026-11",
)
