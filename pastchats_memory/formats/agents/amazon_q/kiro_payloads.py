"""Read sessions of Kiro's editor, and of its command line since the third version.

A line is a record `{id, timestamp, payload}`. `session.json` beside the file names the working directory.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from pastchats_memory.formats.agents.amazon_q.dialect import DIALECT
from pastchats_memory.formats.base.agent import AgentSession
from pastchats_memory.formats.base.companions import named_after
from pastchats_memory.formats.base.format import Format, has_record
from pastchats_memory.formats.base.locations import Environment
from pastchats_memory.formats.base.session import Position, SessionInfo, folder_of, texts_of
from pastchats_memory.formats.base.sibling_files import read_sibling
from pastchats_memory.formats.base.tools import split_exit_code, text_of_result
from pastchats_memory.formats.base.values import Json, list_of, mapping_of, parse_json, text_of

SESSION, MESSAGES = "session.json", "messages.jsonl"
COMMAND_LINE = "cli"
TYPES = frozenset({"user", "assistant", "tool_call", "tool_result", "turn_start", "turn_end", "session_start"})
"""Types of payloads that identify a file."""
REASONING = "Reasoning"
"""The operation of a payload with hidden thoughts in the assistant's place."""
FLAGS = {"cancelled": "interrupted", "error": "api_error", "failed": "api_error", "aborted": "api_error"}

_EXIT_CODE = re.compile(r"^Exit Code: (-?\d{1,9})\Z", re.MULTILINE)


def _is_record(record: Json) -> bool:
    is_named = text_of(mapping_of(record.get("payload")).get("type")) in TYPES
    return is_named and "type" not in record and isinstance(record.get("timestamp"), str)


class _Session(AgentSession):
    dialect = DIALECT

    def session_info(self) -> SessionInfo:
        """Return what the file beside the session says of it; the folder has the session's name."""
        path = self.source.path
        about = mapping_of(parse_json(read_sibling(path.with_name(SESSION)) or "{}"))
        folders = (folder_of(place) for place in list_of(about.get("workspacePaths")) + list_of(about.get("rootPaths")))
        own_id = text_of(about.get("id")) or (path.parent.name if path.name == MESSAGES else path.stem)
        return SessionInfo(own_id, next(filter(None, folders), None), metadata={"title": text_of(about.get("title"))})

    def add_record(self, record: Json, line: int) -> None:
        payload = mapping_of(record.get("payload"))
        at = Position(line, record.get("timestamp"), text_of(record.get("id")))
        call_id, content = text_of(payload.get("toolCallId")), payload.get("content")
        match payload.get("type"):
            case "user":
                self.builder.add_typed(texts_of(content), at, len(list_of(payload.get("images"))))
            case "assistant" if payload.get("operationType") != REASONING:
                self.builder.add_answer(texts_of(content), at, text_of(payload.get("modelId")))
            case "tool_call":
                self.builder.add_call(call_id, text_of(payload.get("toolName")), payload.get("args"), at)
            case "tool_result":
                # a shell's output stands between `Output:` and the exit code
                text = text_of_result(content).removeprefix("Output:\n").rstrip()
                output = split_exit_code(text, _EXIT_CODE, failed=payload.get("success") is False)
                self.builder.add_result(call_id, output, at)
            case "turn_end" if flag := FLAGS.get(text_of(payload.get("stopReason"))):
                self.builder.queue.flag(flag)


def locations(environment: Environment) -> Iterator[Path]:
    """Yield a folder for each workspace, beside that of the second version of the command line."""
    folders = sorted((environment.home / ".kiro" / "sessions").glob("*/"))
    yield from (folder for folder in folders if folder.name != COMMAND_LINE)


KIRO = Format(
    name="kiro",
    version=1,
    detect=has_record(_is_record),
    read=_Session.read,
    program="Kiro",
    locations=locations,
    dialect=lambda: DIALECT,
    companions=named_after({MESSAGES: (SESSION,)}),
)
