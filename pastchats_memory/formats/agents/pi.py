"""Read sessions of the pi agent and its forks: a header, then a tree of entries.

One fork is OpenClaw, which talks in messengers. It puts facts about a message above the person's words.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import asdict
from itertools import groupby

from pastchats_memory.files.foreign_sqlite import ForeignDatabase
from pastchats_memory.formats.base.agent import AgentSession
from pastchats_memory.formats.base.checkpoint import CannotResume
from pastchats_memory.formats.base.format import CERTAIN, TABLE_LAYOUT, Companions, Format
from pastchats_memory.formats.base.session import (
    BadRecord,
    Position,
    Row,
    count_images,
    folder_of,
    read_items,
    texts_of,
)
from pastchats_memory.formats.base.source import Record, SourceFile
from pastchats_memory.formats.base.sqlite_sessions import has_tables
from pastchats_memory.formats.base.tools import ToolResult, parse_printed, split_exit_code, text_of_result
from pastchats_memory.formats.base.tree import parent_in
from pastchats_memory.formats.base.values import Json, mapping_of, objects_of, parse_json, text_of
from pastchats_memory.text.timestamps import iso_utc

OWN_ROLES = ("toolResult", "bashExecution")
MESSAGES = ("message", "message_end")
"""Types of records with a message: in a session's file, and printed by `pi --mode json`."""
ROLES = ("user", "assistant", *OWN_ROLES)
NAME = "session_info"
SUMMARIES = ("compaction", "branch_summary")
FLAGS = {"aborted": "interrupted", "error": "api_error"}
CHECKPOINT = ".checkpoint."
TABLES = {"transcript_events": frozenset({"session_id", "seq", "event_json"})}
"""The table that OpenClaw writes since 2026.8: github.com/vshulcz/deja-vu/pull/2995."""
ROLE_OF_TYPE = {"human": "user", "assistant": "assistant"}
"""Roles by the types of entries that some versions of OpenClaw write."""
OPENCLAW_PROMPTS = (
    "A new session was started via /new or /reset. ",
    "Read HEARTBEAT.md if it exists (workspace context).",
)
"""Beginnings of prompts that OpenClaw sends itself."""
SILENT = frozenset({"NO_REPLY", "HEARTBEAT_OK"})
"""Answers that OpenClaw sends to nobody."""

_MESSAGE_FACTS = re.compile(
    r"\A(?:[^\n]{1,60} \(untrusted[^\n)]{0,60}\):\n```json\n.{0,4000}?\n```\s*+){0,4}"
    r"(?:\[(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) \d{4}-\d\d-\d\d \d\d:\d\d [^\]\n]{1,12}\] )?",
    re.DOTALL,
)
_EXITED = re.compile(r"Command exited with code (\d{1,9})\s*\Z")
_REPLIES_TO = re.compile(r"\A\[\[reply_to(?:_current|:[^\]\n]{1,80})\]\]\s*")


def detect(source: SourceFile) -> int:
    """Return 90 for a header or a role of pi's own, 60 for another message, the confidence of OpenClaw's tables, else 0."""
    roles = {_role_of(record) for record in source.sample}
    if any(map(_is_header, source.sample)) or not roles.isdisjoint(OWN_ROLES):
        return CERTAIN
    if not roles.isdisjoint(ROLES):
        return 60
    return TABLE_LAYOUT if has_tables(source, TABLES) else 0


def _is_header(record: Json) -> bool:
    has_version = isinstance(record.get("version"), int) and isinstance(record.get("id"), str)
    has_mark = isinstance(record.get("cwd"), str) or has_version
    return record.get("type") == "session" and "timestamp" in record and has_mark


def _role_of(record: Json) -> str:
    """Return the role of an entry's message; `""` for any other record."""
    return text_of(mapping_of(record.get("message")).get("role")) if record.get("type") in MESSAGES else ""


class _Session(AgentSession):
    record_noun = "an entry"
    has_branches = True

    def scan_record(self, record: Json) -> None:
        """Add an entry's place and what it says about every turn. Raises CannotResume if it renames a session later."""
        self.branches.add(text_of(record.get("id")), parent_in(record, "parentId"))
        if not _is_header(record) and record.get("type") != NAME:
            return
        before = asdict(self.builder.info)
        self._apply_header(record)
        if self.source.resumed is not None and asdict(self.builder.info) != before:
            raise CannotResume("the session has a new name")

    def _apply_header(self, record: Json) -> None:
        """Set what a header, or a later name of the session, says about every turn."""
        info = self.builder.info
        if _is_header(record):
            info.conversation_id = text_of(record.get("id")) or info.conversation_id
            info.cwd = folder_of(record.get("cwd"))
            info.started = record.get("timestamp")
            parent = text_of(record.get("parentSession")) or text_of(record.get("branchedFrom"))
            name = parent.replace("\\", "/").rpartition("/")[2]  # of the file, `<time>_<id>.jsonl`, or the id
            info.metadata["parent_conversation_id"] = name.removesuffix(".jsonl").rpartition("_")[2]
        else:
            info.metadata["title"] = text_of(record.get("name"))

    def add_record(self, record: Json, line: int) -> None:
        own_id, role = text_of(record.get("id")), ROLE_OF_TYPE.get(text_of(record.get("type")))
        message = mapping_of(record.get("message")) or {"role": role, "content": record.get("content")}
        time = iso_utc(record.get("timestamp")) or message.get("timestamp")
        at = Position(line, time, own_id, self.branches.of(own_id))
        if record.get("type") in SUMMARIES:
            self.builder.add_turn("system", "summary", text_of(record.get("summary")), at)
        if role is None and record.get("type") not in MESSAGES:
            return
        content = message.get("content")
        if not isinstance(content, str | list | None):
            raise BadRecord(f"content of a message is a {type(content).__name__}")
        match message.get("role"):
            case "user":
                text = _MESSAGE_FACTS.sub("", texts_of(content))
                if not text.startswith(OPENCLAW_PROMPTS):
                    self.builder.add_prompt(text, at, count_images(content))
            case "assistant":
                self._add_answer(message, at)
            case "toolResult":
                text, failed = text_of_result(content), message.get("isError") is True
                output = split_exit_code(text, _EXITED, failed=True) if failed else ToolResult(text)
                self.builder.add_result(text_of(message.get("toolCallId")), output, at)
            case "bashExecution" if command := text_of(message.get("command")):
                self.builder.add_typed_command(command, parse_printed(message), at)

    def _add_answer(self, message: Json, at: Position) -> None:
        text = _REPLIES_TO.sub("", texts_of(message.get("content")))
        self.builder.add_answer("" if text.strip() in SILENT else text, at, text_of(message.get("model")))
        for block in objects_of(message.get("content")):
            if block.get("type") == "toolCall":
                self.builder.add_call(text_of(block.get("id")), text_of(block.get("name")), block.get("arguments"))
        if flag := FLAGS.get(text_of(message.get("stopReason"))):
            self.builder.queue.flag(flag)


def hidden_in(_folder: str, names: Collection[str]) -> Collection[str]:
    """Return the names of OpenClaw's copies of a session before it was compacted, which lie beside the session."""
    return [name for name in names if CHECKPOINT in name and f"{name.partition(CHECKPOINT)[0]}.jsonl" in names]


def read(source: SourceFile) -> Iterator[Row]:
    """Yield the turns of a session, or of one after the other of OpenClaw's database. Raises CannotResume, OSError."""
    if source.shape == "sqlite":
        return source.from_database(lambda database: _read_database(database, source))
    return _Session.read(source)


def _read_database(database: ForeignDatabase, source: SourceFile) -> Iterator[Row]:
    """Yield the turns of each session, whose entries are those of its file."""
    events = database.rows("transcript_events", ("session_id", "event_json"), order=("session_id", "seq"))
    for own_id, entries in groupby(events, key=lambda event: event[0]):
        session = _Session(source)
        session.builder.info.conversation_id = str(own_id)
        records = [Record(1, parse_json(text_of(entry))) for _, entry in entries]
        for record in records:
            session.scan_record(mapping_of(record.value))
        yield from read_items(source, session.builder, records, session.add_item)
        yield from session.builder.flush()


PI = Format(
    name="pi",
    companions=Companions(hidden_in=hidden_in),
    version=14,
    detect=detect,
    read=read,
    program="pi, OpenClaw",
    resume=lambda session: ["pi", "--session", str(session.path)],  # github.com/tiann/hapi/pull/1206
)
