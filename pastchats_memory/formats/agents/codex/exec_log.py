"""Output of `codex exec`: a log for people, or with `--json` an event on each line, in two generations.

A session with a rollout is more complete there. A log is often all that is left of a run by another program.
"""

import re
import shlex
from collections.abc import Iterator

from pastchats_memory.formats.agents.codex.dialect import DIALECT
from pastchats_memory.formats.agents.codex.exec_sections import sections
from pastchats_memory.formats.base.agent import AgentSession
from pastchats_memory.formats.base.format import Format, confident
from pastchats_memory.formats.base.markdown_dialogue import MarkdownDialogue, Section
from pastchats_memory.formats.base.session import Position, Row, SessionBuilder, SessionInfo, folder_of
from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.formats.base.tools import ToolResult
from pastchats_memory.formats.base.values import Json, mapping_of, number_of, objects_of, text_of

EVENTS = frozenset({
    "task_started", "agent_message", "agent_reasoning", "exec_command_begin", "exec_command_end", "token_count", "task_complete",
})  # fmt: skip
"""Types of messages in events of the first generation."""

_FACT = re.compile(r"(workdir|model|session id): (\S[^\n]{0,1000})\Z")
_HOW = r" (?:succeeded|exited (?P<code>-?\d{1,9})) in \d[^\n:]{0,20}:$"
_ENDED = re.compile(rf"\n?{_HOW}", re.MULTILINE)
"""The line after a command: its exit code and duration."""
_NEXT_ENDED = re.compile(rf"^{_HOW}", re.MULTILINE)
"""The same line for a parallel command."""
_WHERE = re.compile(r" in (?:/|[A-Za-z]:\\)[^\n]{0,1000}\s*\Z")
_JOINED = re.compile(r" in (?:/|[A-Za-z]:\\)[^\n]{0,1000}?exec\n(?! (?:succeeded|exited) )")
"""Between parallel commands: the heading of the next is on the line of the one before."""
_STATE = re.compile(r"patch: (\w+)\Z")
_CHANGED = re.compile(r"[AMD] ((?:/|[A-Za-z]:\\)[^\n]{0,1000})\Z")

OPENING = 4096
"""Characters within which a log names Codex."""
_LOG = re.compile(
    r"(?:# [^\n]*\n)?(?:(?![#`]|[*_]{0,3}(?:User|Human|You|Assistant|Agent)\b)[^\n]*\n)*?"
    r"(?:\[[\d:T-]{19}\] )?OpenAI Codex v\d[^\n]{0,60}\n-{8}\nworkdir: "
)
"""The head of a log: another program's output may stand above it, but no heading, fence or speaker."""


def matches(source: SourceFile) -> bool:
    """Return whether a log has the head of Codex, or a line is an event of a run."""
    if source.shape in ("markdown", "other"):
        return _LOG.match(source.head[:OPENING].replace("\r\n", "\n")) is not None
    return any(map(_is_event, source.sample))


def _is_event(record: Json) -> bool:
    began = record.get("type") == "thread.started" and isinstance(record.get("thread_id"), str)
    return began or (isinstance(record.get("id"), str) and text_of(mapping_of(record.get("msg")).get("type")) in EVENTS)


def read(source: SourceFile) -> Iterator[Row]:
    """Yield the turns in file order."""
    yield from (_Events if source.shape == "jsonl" else _ExecLog).read(source)


class _ExecLog(MarkdownDialogue[Section]):
    """The sections of a log for people."""

    dialect = staticmethod(lambda: DIALECT)

    def start(self) -> None:
        super().start()
        self._waiting: list[str] = []
        """The ids of running commands, oldest first, until the next answer."""

    def session_info(self) -> SessionInfo:
        """Return the name of the file; the log itself may have an id."""
        return SessionInfo(self.source.path.stem)

    def sections(self) -> Iterator[Section]:
        return sections(self.lines)

    def add_section(self, section: Section) -> None:
        builder, at = self.builder, Position(section.line, section.time)
        if section.name in ("", "codex"):
            self._waiting.clear()
        match section.name:
            case "":
                facts = {fact[1]: fact[2] for line in section.text.split("\n") if (fact := _FACT.match(line))}
                builder.info.conversation_id = facts.get("session id") or builder.info.conversation_id
                builder.info.cwd, builder.model = folder_of(facts.get("workdir")), facts.get("model", "")
            case "user":
                builder.add_prompt(section.text, at)
            case "codex":
                builder.add_answer(section.text, at)
            case "exec":
                _add_calls(builder, section, self._waiting)
                _add_results(builder, section, self._waiting)
            case "called":
                command = _strip_folder(section.text)
                builder.add_call(command, "shell", {"command": _split_command(command)})
            case "ended" if done := _ENDED.search(section.text):
                builder.add_result(section.text[: done.start()], _output(done, section.text), at)
            case "file update" | "apply patch":
                _add_edit(builder, section.text, at)
            case "error":
                builder.queue.flag("api_error")


def _add_calls(builder: SessionBuilder, section: Section, waiting: list[str]) -> None:
    """Add the calls of the commands before the first output."""
    done = _ENDED.search(section.text)
    for number, command in enumerate(_JOINED.split(section.text[: done.start()] if done else section.text)):
        call_id = f"{section.line}:{number}"
        builder.add_call(call_id, "shell", {"command": _split_command(_strip_folder(command))})
        waiting.append(call_id)


def _add_results(builder: SessionBuilder, section: Section, waiting: list[str]) -> None:
    """Add the results of the running commands, in the order of their calls."""
    text, first = section.text, _ENDED.search(section.text)
    ends = [first, *_NEXT_ENDED.finditer(text, first.end())][: len(waiting)] if first else []
    for number, done in enumerate(ends, 1):
        end = ends[number].start() if number < len(ends) else len(text)
        at = Position(section.line + text.count("\n", 0, done.end()), section.time)
        builder.add_result(waiting.pop(0), _output(done, text[:end]), at)


def _strip_folder(command: str) -> str:
    """Return the command without its folder; of a command without an end the first line."""
    found = _WHERE.search(command)
    return command[: found.start()] if found else command.partition("\n")[0]


def _output(done: re.Match[str], text: str) -> ToolResult:
    code = int(done["code"] or 0)
    return ToolResult(text[done.end() :].strip(), code, failed=code != 0)


def _add_edit(builder: SessionBuilder, text: str, at: Position) -> None:
    """Add an edit of files: paths below a state, or in earlier versions after a letter."""
    listed = text.partition("\ndiff --git ")[0].split("\n")
    state = _STATE.match(listed[0])
    files = listed[1:] if state else [found[1] for line in listed if (found := _CHANGED.match(line))]
    _add_patch_call(builder, "", files)
    if state:
        builder.add_result("", ToolResult(listed[0], failed=state[1] != "completed"), at)
    elif done := _ENDED.search(text):
        builder.add_result("", _output(done, text), at)


def _add_patch_call(builder: SessionBuilder, call_id: str, files: list[str]) -> None:
    builder.add_call(call_id, "apply_patch", "\n".join(f"*** Update File: {path}" for path in files))


def _split_command(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:  # what the model wrote is not always whole
        return [command]


class _Events(AgentSession):
    dialect = DIALECT
    record_noun = "an event"

    def add_record(self, record: Json, line: int) -> None:
        at, builder = Position(line), self.builder
        if record.get("type") == "thread.started":
            builder.info.conversation_id = text_of(record.get("thread_id")) or builder.info.conversation_id
        elif record.get("type") in ("turn.failed", "error"):
            builder.queue.flag("api_error")
        elif record.get("type") == "item.completed":
            _item(builder, mapping_of(record.get("item")), at)
        elif "prompt" in record:
            builder.add_prompt(text_of(record["prompt"]), at)
        elif "workdir" in record:
            builder.info.cwd, builder.model = folder_of(record["workdir"]), text_of(record.get("model"))
        _message(builder, mapping_of(record.get("msg")), at)


def _item(builder: SessionBuilder, item: Json, at: Position) -> None:
    """Add an item of the second generation."""
    own_id, error = text_of(item.get("id")), text_of(mapping_of(item.get("error")).get("message"))
    match item.get("type"):
        case "agent_message":
            builder.add_answer(text_of(item.get("text")), at)
        case "command_execution":
            builder.add_call(own_id, "shell", {"command": _split_command(text_of(item.get("command")))})
            builder.add_result(own_id, _parse_output(item), at)
        case "file_change":
            for change in objects_of(item.get("changes")):
                builder.add_call(own_id, text_of(change.get("kind")), change)
        case "mcp_tool_call":
            builder.add_call(own_id, text_of(item.get("tool")), item.get("arguments"))
            builder.add_result(own_id, ToolResult(error, failed=bool(error)), at)


def _message(builder: SessionBuilder, message: Json, at: Position) -> None:
    """Add a message of the first generation."""
    call_id = text_of(message.get("call_id"))
    match message.get("type"):
        case "agent_message":
            builder.add_answer(text_of(message.get("message")), at)
        case "exec_command_begin":
            builder.info.cwd = builder.info.cwd or folder_of(message.get("cwd"))
            builder.add_call(call_id, "shell", {"command": message.get("command")})
        case "exec_command_end":
            builder.add_result(call_id, _parse_output(message), at)
        case "patch_apply_begin":
            _add_patch_call(builder, call_id, list(mapping_of(message.get("changes"))))
        case "patch_apply_end":
            output = ToolResult(text_of(message.get("stderr")), failed=message.get("success") is False)
            builder.add_result(call_id, output, at)
        case "error":
            builder.queue.flag("api_error")


def _parse_output(fields: Json) -> ToolResult:
    code = number_of(fields.get("exit_code"))
    return ToolResult(text_of(fields.get("aggregated_output")), code, failed=bool(code))


CODEX_EXEC = Format(name="codex-exec", version=4, detect=confident(matches, 90), read=read)
