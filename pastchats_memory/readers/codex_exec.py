"""What `codex exec` prints to turns: for people, a section under each name, and with `--json` an event a line, of two generations.

A session that is kept has a rollout too, which says more; a log is often all that is left of one that another program ran.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import NamedTuple

from pastchats_memory.readers.fields import Json, list_of, mapping_of, number_of, text_of
from pastchats_memory.readers.markdown import CODEX_LOG, OPENING
from pastchats_memory.readers.source import Record, Source
from pastchats_memory.readers.telling import About, At, Row, Telling, folder_of, told
from pastchats_memory.readers.traffic import Output

FORMAT = "codex-exec"
VERSION = 1

SECTIONS = ("user", "codex", "thinking", "exec", "tokens used")
NOTES = ("mcp: ", "mcp startup: ", "warning: ", "hook: ")
"""How lines begin that are nobody's words, wherever they stand."""
EVENTS = frozenset({
    "task_started", "agent_message", "agent_reasoning", "exec_command_begin", "exec_command_end", "token_count", "task_complete",
})  # fmt: skip
"""Types of messages in events of the first generation."""

_FACT = re.compile(r"(workdir|model|session id): (\S[^\n]{0,1000})\Z")
_RULE = "--------"
_DONE = re.compile(
    r" in (?P<cwd>/[^\n]{0,1000}?|[A-Za-z]:\\[^\n]{0,1000}?)\n? (?:succeeded|exited (?P<code>-?\d{1,9})) in [\d.]{1,12}m?s:"
)
"""Behind a command: where it ran, how it ended, how long it took."""


def recognise(source: Source) -> bool:
    """Whether the log begins as Codex begins one, or a line is an event of such a run."""
    if source.shape in ("markdown", "other"):
        return CODEX_LOG.match(source.head[:OPENING].replace("\r\n", "\n")) is not None
    return any(map(_is_event, source.sample))


def _is_event(record: Json) -> bool:
    began = record.get("type") == "thread.started" and isinstance(record.get("thread_id"), str)
    return began or (isinstance(record.get("id"), str) and mapping_of(record.get("msg")).get("type") in EVENTS)


def read(source: Source) -> Iterator[Row]:
    """The turns in file order."""
    telling = Telling(About(source.path.stem))
    if source.shape == "jsonl":
        yield from told(source, telling, lambda item: _take(telling, item))
        return
    for section in _sections(source.text.split("\n")):
        _tell(telling, section)
        yield from telling.drafts.ready(0)
    yield from telling.rest()


class _Section(NamedTuple):
    name: str
    """Of `SECTIONS`, or `""` for what is said of the session."""
    line: int
    text: str


def _sections(lines: list[str]) -> Iterator[_Section]:
    """What stands under each name; what is printed behind the count of tokens is the last answer once more."""
    name, first, body = "tokens used", 0, list[str]()
    for place, line in enumerate(lines):
        begins = line.startswith("OpenAI Codex v") and lines[place + 1 : place + 2] == [_RULE]
        if begins or (name != "tokens used" and line in SECTIONS):
            yield _Section(name, first + 1, "\n".join(body).strip())
            name, first, body = "" if begins else line, place + 1, []
        elif not line.startswith(NOTES):
            body.append(line)
    yield _Section(name, first + 1, "\n".join(body).strip())


def _tell(telling: Telling, section: _Section) -> None:
    at = At(section.line)
    if not section.name:
        facts = {fact[1]: fact[2] for line in section.text.split("\n") if (fact := _FACT.match(line))}
        telling.about.conversation_id = facts.get("session id") or telling.about.conversation_id
        telling.about.cwd, telling.model = folder_of(facts.get("workdir")), facts.get("model", "")
    elif section.name == "user":
        telling.prompt(section.text, at)
    elif section.name == "codex":
        telling.answer(section.text.partition("\nfile update")[0], at)
    elif section.name == "exec":
        done = _DONE.search(section.text)
        command = section.text[: done.start()] if done else section.text.partition("\n")[0].rpartition(" in ")[0]
        telling.call("", "shell", {"command": _words(command)})
        if done:
            code = int(done["code"] or 0)
            telling.result("", Output(section.text[done.end() :].strip(), code, failed=code != 0), at)


def _words(command: str) -> list[str]:
    """A command as it was given to a shell."""
    try:
        return shlex.split(command)
    except ValueError:  # what the model wrote is not always whole
        return [command]


def _take(telling: Telling, item: Record) -> str | None:
    """Add what the event says; the reason why it says nothing that can be read, else None."""
    record = item.value
    if not isinstance(record, dict):
        return f"a {type(record).__name__} instead of an event"
    at = At(item.line)
    about = telling.about
    if record.get("type") == "thread.started":
        about.conversation_id = text_of(record.get("thread_id")) or about.conversation_id
    elif record.get("type") in ("turn.failed", "error"):
        telling.drafts.flag("api_error")
    elif record.get("type") == "item.completed":
        _item(telling, mapping_of(record.get("item")), at)
    elif "prompt" in record:
        telling.prompt(text_of(record["prompt"]), at)
    elif "workdir" in record:
        about.cwd, telling.model = folder_of(record["workdir"]), text_of(record.get("model"))
    _message(telling, mapping_of(record.get("msg")), at)
    return None


def _item(telling: Telling, item: Json, at: At) -> None:
    """What was said or done in a run of the second generation."""
    own_id, error = text_of(item.get("id")), text_of(mapping_of(item.get("error")).get("message"))
    match item.get("type"):
        case "agent_message":
            telling.answer(text_of(item.get("text")), at)
        case "command_execution":
            telling.call(own_id, "shell", {"command": _words(text_of(item.get("command")))})
            telling.result(own_id, _ended(item), at)
        case "file_change":
            for change in map(mapping_of, list_of(item.get("changes"))):
                telling.call(own_id, text_of(change.get("kind")), change)
        case "mcp_tool_call":
            telling.call(own_id, text_of(item.get("tool")), item.get("arguments"))
            telling.result(own_id, Output(error, failed=bool(error)), at)


def _message(telling: Telling, message: Json, at: At) -> None:
    """What was said or done in a run of the first generation."""
    call_id = text_of(message.get("call_id"))
    match message.get("type"):
        case "agent_message":
            telling.answer(text_of(message.get("message")), at)
        case "exec_command_begin":
            telling.about.cwd = telling.about.cwd or folder_of(message.get("cwd"))
            telling.call(call_id, "shell", {"command": message.get("command")})
        case "exec_command_end":
            telling.result(call_id, _ended(message), at)


def _ended(fields: Json) -> Output:
    code = number_of(fields.get("exit_code"))
    return Output(text_of(fields.get("aggregated_output")), code, failed=bool(code))
