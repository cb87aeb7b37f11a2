"""Read transcripts of Google's Antigravity: a step a line.

Prompts stand in tags, and tool calls before their results.

Source: `brain/<id>/.system_generated/logs/transcript.jsonl` below its folder in `~/.gemini`. The command line and the editor
write it alike. `transcript_full.jsonl` beside it holds the same steps with longer texts. A conversation may have a database
only, `conversations/<id>.db`: a step a row, as a protocol buffer. For 1.0.9 to 1.2, its fields are described in
github.com/tenequm/pond/issues/201 and github.com/nicosuave/memex/pull/158.
"""

import re
from collections.abc import Iterator
from typing import ClassVar

from pastchats_memory.files.foreign_sqlite import ForeignDatabase
from pastchats_memory.formats.base.agent import AgentSession
from pastchats_memory.formats.base.checkpoint import CannotResume
from pastchats_memory.formats.base.companions import combine, named_after, read_elsewhere
from pastchats_memory.formats.base.format import Format, has_record
from pastchats_memory.formats.base.protobuf import text_at, value_at
from pastchats_memory.formats.base.session import Position, SessionBuilder, SessionInfo, folder_of
from pastchats_memory.formats.base.sibling_files import is_sibling
from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.formats.base.sqlite_sessions import SqliteSessions, Tables
from pastchats_memory.formats.base.tags import spans, without_spans
from pastchats_memory.formats.base.tools import ToolResult
from pastchats_memory.formats.base.values import Json, list_of, mapping_of, number_of, objects_of, text_of, value_of

PERSON, MODEL = "USER_EXPLICIT", "MODEL"
SHORT, FULL = "transcript.jsonl", "transcript_full"
REQUEST, CLIENT_WRAPPERS = "USER_REQUEST", ("ADDITIONAL_METADATA", "USER_SETTINGS_CHANGE")
"""Tags around the person's words, and around text that the client adds."""
GENERATED, CONVERSATIONS = ".system_generated", "conversations"
UNFINISHED = ("RUNNING", "IN_PROGRESS", "PENDING")
ANSWERS = ("PLANNER_RESPONSE", "NOTIFY_USER")
NO_RESULTS = (*ANSWERS, "CHECKPOINT", "ERROR_MESSAGE")
"""Steps that are no tool results. An error is one while a call waits."""
METADATA = "trajectory_metadata_blob"
UNFINISHED_NUMBERS, FAILED = (1, 2, 8, 9, 11), 7
"""Statuses of a step in a database: pending, running, generating, waiting, queued; failed."""
PROMPT_FIELDS, ANSWER_FIELDS = ((19, 2), (19, 1)), ((20, 8), (20, 1), (94, 2))
"""Fields of what the person typed, and of what the model or a message to the person says."""
RESULT_FIELDS = ((28, 21, 1), (28, 21, 2), (28, 19, 1), (28, 4), (34, 11), (34, 8), (140, 2, 1), (24, 1))
"""Fields of a result: of a command, of a search for files, of any other tool, of an error."""
TIME, CALL, ERROR = (5, 1), (5, 4), 24
INPUTS = {
    "CommandLine": "command", "TargetFile": "file_path", "AbsolutePath": "path", "DirectoryPath": "path", "SearchPath": "path",
    "Query": "query", "Url": "url",
}  # fmt: skip
"""Arguments that name the subject of a call, and the names that other agents give them."""

_ACTION = re.compile(r"The USER performed the following action:\nCommand: (?P<command>[^\n]+)\nCWD: (?P<cwd>[^\n]+)\n")
"""The head of a command that the person ran in the editor's terminal, above its result."""
_MODEL = re.compile(r"`Model Selection` from .{1,80}? to (.{1,80}?)\.(?:\s|\Z)")
_HEAD = re.compile(
    r"\A(?:Created At: [^\n]*\n)?(?:Completed At: [^\n]*\n)?"
    r"(?:\s*The command (?:completed successfully|(?:failed|exited) with (?:exit )?code:? ?(?P<code>\d{1,9}))\.?\s*?\n(?:\s*Output:[ \t]*(?:\n|\Z))?)?"
)
"""The lines above a tool result."""


def _is_step(record: Json) -> bool:
    """Return whether a record is a step: by its number, or by a kind that only Antigravity writes."""
    kind = text_of(record.get("type"))
    is_numbered = "step_index" in record and bool(kind)
    return record.get("source") in (PERSON, MODEL) and (is_numbered or kind in ("USER_INPUT", *ANSWERS))


class _Session(AgentSession):
    """A session of Antigravity. A tool result does not name its call. Results follow the order of the calls."""

    record_noun = "a step"

    def session_info(self) -> SessionInfo:
        """Return the id: the folder's or a copied file's name. Raises CannotResume if the folder was not known."""
        generated = self.source.path.parent.parent
        name = generated.parent.name if generated.name == GENERATED else self.source.path.stem
        cwd = next(filter(None, map(_cwd_of, self.source.sample)), None)
        store = generated.parent.parent.parent / CONVERSATIONS / f"{name}.db"
        if not cwd and is_sibling(store):
            cwd = next(map(text_of, SourceFile(store).from_database(_folders)), None) or None
        before = self.source.resumed
        if before is not None and cwd and not mapping_of(before.state.get("info")).get("cwd"):
            raise CannotResume("where the session runs was not known before")
        return SessionInfo(name, cwd)

    def add_record(self, record: Json, line: int) -> None:
        if record.get("status") in UNFINISHED:
            return
        index = number_of(record.get("step_index"))
        own_id = "" if index is None else str(index)
        at = Position(line, record.get("created_at"), own_id)
        text, kind = text_of(record.get("content")), text_of(record.get("type"))
        self.builder.info.cwd = self.builder.info.cwd or _cwd_of(record)
        if record.get("source") == PERSON and (action := _ACTION.match(text)):
            output = _parse_result(record, text[action.end() :].lstrip("\n"))
            self.builder.add_typed_command(action["command"], output, at)
            return
        match kind:
            case "USER_INPUT":
                self.builder.forget_calls()
                self.builder.model = found[1] if (found := _MODEL.search(text)) else self.builder.model
                words = "\n\n".join(spans(text, REQUEST)) or without_spans(text, CLIENT_WRAPPERS).strip()
                self.builder.add_prompt(words, at)
            case "CHECKPOINT":
                self.builder.add_turn("system", "summary", text, at)
            case "ERROR_MESSAGE" if not self.builder.waiting:
                self.builder.queue.flag("api_error")
            case name if name in ANSWERS:
                self.builder.add_answer(text, at)
        for place, call in enumerate(objects_of(record.get("tool_calls"))):
            arguments = {key: value_of(value) for key, value in mapping_of(call.get("args")).items()}
            _add_call(self.builder, f"{own_id or line}.{place}", text_of(call.get("name")), arguments)
        is_result = record.get("source") == MODEL and kind not in NO_RESULTS
        if is_result or (kind == "ERROR_MESSAGE" and self.builder.waiting):
            self.builder.add_result(next(iter(self.builder.waiting), ""), _parse_result(record, text), at)


def _cwd_of(record: Json) -> str | None:
    """Return the folder in which a step runs a command, or None."""
    action = _ACTION.match(text_of(record.get("content")))
    calls = (mapping_of(mapping_of(call).get("args")) for call in list_of(record.get("tool_calls")))
    folders = (folder_of(value_of(arguments.get("Cwd"))) for arguments in calls)
    return action["cwd"].strip() if action else next(filter(None, folders), None)


def _parse_result(step: Json, text: str) -> ToolResult:
    """Return a result without its times; some versions write the exit code in words."""
    head = _HEAD.match(text)
    code_in_words = head["code"] if head else None
    code = number_of(step.get("exit_code"))
    code = int(code_in_words) if code is None and code_in_words else code
    failed = step.get("status") == "ERROR" or step.get("type") == "ERROR_MESSAGE" or bool(code)
    return ToolResult(text[head.end() :] if head else text, code, failed=failed)


class _Store(SqliteSessions):
    """The conversation of one database."""

    tables: ClassVar[Tables] = {"steps": frozenset({"idx", "step_type", "step_payload"})}

    def sessions(self) -> Iterator[SessionBuilder]:
        builder = self.start(SessionInfo(self.path.stem, next(_folders(self.database), None)))
        for number, status, step in self.database.rows("steps", ("idx", "status", "step_payload"), order=("idx",)):
            if status not in UNFINISHED_NUMBERS:
                _add_step(builder, step, str(number), failed=status == FAILED)
        yield builder


def _add_step(builder: SessionBuilder, step: object, own_id: str, *, failed: bool) -> None:
    seconds, nanos = number_of(value_at(step, *TIME, 1)) or 0, number_of(value_at(step, *TIME, 2)) or 0
    at = Position(1, seconds + nanos // 1_000_000 / 1000, own_id)
    if prompt := text_at(step, *PROMPT_FIELDS):
        builder.forget_calls()
        builder.add_prompt(prompt, at)
    builder.add_answer(text_at(step, *ANSWER_FIELDS), at)
    if value_at(step, *CALL):
        call_id, name, encoded = (text_at(step, (*CALL, number)) for number in (1, 2, 3))
        _add_call(builder, call_id or own_id, name, mapping_of(value_of(encoded)))
        builder.add_result(call_id or own_id, ToolResult(text_at(step, *RESULT_FIELDS), failed=failed), at)
    elif value_at(step, ERROR):
        builder.queue.flag("api_error")


def _add_call(builder: SessionBuilder, call_id: str, name: str, arguments: Json) -> None:
    """Add a tool call. Its folder is that of the session, unless another one is known."""
    known = {name: arguments[key] for key, name in INPUTS.items() if key in arguments}
    builder.info.cwd = builder.info.cwd or folder_of(arguments.get("Cwd"))
    builder.add_call(call_id, name, arguments | known)


def _folders(database: ForeignDatabase) -> Iterator[str]:
    return filter(None, (folder_of(text_at(data, (1, 1))) for (data,) in database.rows(METADATA, ("data",))))


ANTIGRAVITY = Format(
    name="antigravity",
    version=5,
    detect=lambda source: _Store.detect(source) or has_record(_is_step)(source),
    read=lambda source: (_Store if source.shape == "sqlite" else _Session).read(source),
    program="Antigravity",
    companions=combine(
        named_after({SHORT: (FULL,)}), read_elsewhere(CONVERSATIONS, f"../brain/{{}}/{GENERATED}/logs/{SHORT}")
    ),
    # github.com/subinium/agf/pull/95, tried with 1.2.6; the editor resumes its sessions in its window
    resume=lambda session: (
        ["agy", "--conversation", session.conversation_id] if "antigravity-cli" in session.path.parts else []
    ),
)
