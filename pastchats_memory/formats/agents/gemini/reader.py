"""Gemini CLI sessions to turns: one JSON document, a log of messages that are written again when they grow, or a chat that was saved.

The last record of an id has its words, the first one its place; what was rewound, or is missing from a checkpoint, is
`abandoned`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace

from pastchats_memory.formats.agents.gemini.changes import (
    Overview,
    is_change,
    is_header,
    is_message,
    project_folder,
    records_of,
)
from pastchats_memory.formats.agents.gemini.content import (
    TAKEN_NOTES,
    add_prompt,
    join_responses,
    strip_context,
    visible_text,
)
from pastchats_memory.formats.agents.gemini.dialect import DIALECT
from pastchats_memory.formats.agents.gemini.saved_chat import history_of, is_history
from pastchats_memory.formats.base.checkpoint import CannotResume
from pastchats_memory.formats.base.session import Position, Row, SessionBuilder, SessionInfo
from pastchats_memory.formats.base.source import (
    Json,
    Record,
    SourceFile,
    list_of,
    mapping_of,
    text_of,
)
from pastchats_memory.formats.base.turns import PendingTurn
from pastchats_memory.model import Unreadable
from pastchats_memory.text.timestamps import iso_utc, to_the_minute

INVESTIGATION = "Your task is to do a deep investigation"
"""How Gemini CLI begins the task of a subagent, which older versions keep beside the session, under the same id."""
NAMED = "session-"
"""How the name of a file begins that stands among the sessions: a subagent's there has the id of the session that called it."""
CANCELLED = "Request cancelled"


def recognise(source: SourceFile) -> bool:
    """Whether the document or a line tells of a session with a project's hash, a line changes what stands above it, or a chat was saved."""
    if is_history(source):
        return True
    if source.shape == "json":
        document = mapping_of(source.outline)
        return is_header(document) and isinstance(document.get("messages", []), list)
    return any(is_header(record) or is_change(record) for record in source.sample)


def read(source: SourceFile) -> Iterator[Row]:
    """The turns in file order. The file is read twice: a message's last words and its fate are known only from the whole."""
    if is_history(source):
        yield from history_of(source)
        return
    view = Overview()
    before = source.resumed.state if source.resumed else {}
    if before:
        view.restore(mapping_of(before.get("view")), frozenset(map(text_of, list_of(before.get("growing")))))
    for position, item in enumerate(records_of(source, source.records())):
        if isinstance(item, Record):
            view.add(mapping_of(item.value), position)
    session = _Session(source, view)
    if before:
        session.restore(before)
    records = source.records()
    for position, item in enumerate(records_of(source, records)):
        if isinstance(item, Unreadable):
            yield item
        elif fault := session.take(item, position):
            yield Unreadable(str(source.path), item.line, fault)
        yield from session.telling.queue.pop_complete(position)
    if source.shape == "jsonl":
        yield from records.checkpoint(session.snapshot())
    yield from session.telling.flush()


class _Session:
    """The second pass: each message is begun where it is said first and filled in where it is said last."""

    def __init__(self, source: SourceFile, view: Overview) -> None:
        header = view.header
        self._view = view
        self._stem = source.path.stem
        self._branch = "sidechain" if header.get("kind") == "subagent" else "main"
        self._begun: dict[str, PendingTurn] = {}
        self._called: set[str] = set()
        self._prompts: set[str] = set()
        session, folder = text_of(header.get("sessionId")), source.path.parent
        inside = self._branch == "sidechain" and folder.parent.name == "chats"
        beside = self._branch == "sidechain" and not inside and self._stem.startswith(NAMED)
        parent, own = (folder.name, session) if inside else (session, self._stem) if beside else ("", "")
        about = SessionInfo(
            f"{parent}/{own}" if parent else session or self._stem,
            project_folder(source.path, header) or view.cwd,
            started=to_the_minute(iso_utc(header.get("startTime"))),
            metadata={"title": text_of(header.get("summary")), "parent_conversation_id": parent},
        )
        self.telling = SessionBuilder(about, DIALECT)
        self._named = asdict(about)

    def snapshot(self) -> Json:
        """All that a longer file needs of this one, as JSON."""
        growing = [draft.native_id for draft in self.telling.queue.answers if draft.native_id not in self._called]
        kept = {"view": self._view.snapshot(), "growing": growing, "named": self._named, "branch": self._branch}
        return self.telling.snapshot() | kept

    def restore(self, state: Json) -> None:
        """Take up what `state` gave when the file was shorter. Raises CannotResume where the session has a new name since."""
        if self._named != state.get("named"):
            raise CannotResume("the session has a new name")
        self._branch = text_of(state.get("branch"))
        self.telling.restore(state)
        for draft in self.telling.queue.answers:
            own_id = draft.native_id or ""
            if own_id not in self._view.growing:
                self._called.add(own_id)
            elif own_id in self._view.last:
                draft.until = self._view.last[own_id]
                self._begun[own_id] = draft

    def take(self, item: Record, position: int) -> str | None:
        """Add what the record says; the reason why it says nothing that can be read, else None."""
        record = item.value
        if not isinstance(record, dict):
            return f"a {type(record).__name__} instead of a record"
        if not is_message(record):
            known = is_header(record) or is_change(record) or "type" not in record
            return None if known or record.get("type") == "session_metadata" else "neither a session nor a message"
        if not isinstance(record["content"], str | list | dict | None):
            return f"content of a message is a {type(record['content']).__name__}"
        own_id = text_of(record["id"])
        branch = self._branch if own_id in self._view.living else "abandoned"
        at = Position(item.line, record.get("timestamp"), own_id, branch)
        if record["type"] == "user":
            self._prompt(record, at)
        elif record["type"] in ("gemini", "qwen"):
            self._answer(record, at, position)
        elif record["type"] == "error":
            self.telling.queue.flag("api_error")
        elif CANCELLED in visible_text(record["content"]):
            self.telling.queue.flag("interrupted")
        return None

    def _prompt(self, record: Json, at: Position) -> None:
        if at.native_id in self._prompts:
            return
        self._prompts.add(at.native_id)
        sent = visible_text(record.get("displayContent") or record["content"])
        if strip_context(sent).startswith(INVESTIGATION) and self._branch == "main":
            self._branch = "sidechain"
            self.telling.info.metadata["parent_conversation_id"] = self.telling.info.conversation_id
            self.telling.info.conversation_id = f"{self.telling.info.conversation_id}/{self._stem}"
            at = Position(at.line, at.time, at.native_id, self._branch)
        pictures = sum("inlineData" in mapping_of(part) for part in list_of(record["content"]))
        add_prompt(self.telling, sent, at, pictures)

    def _answer(self, record: Json, at: Position, position: int) -> None:
        words = visible_text(record["content"])
        words = "" if words in TAKEN_NOTES else words
        draft = self._begun.get(at.native_id)
        if draft is None:
            draft = self.telling.add_turn("assistant", "answer", words, at, model=text_of(record.get("model")))
            draft.until = self._view.last[at.native_id]
            self._begun[at.native_id] = draft
        draft.texts = [words or draft.texts[0]]
        if position != self._view.last[at.native_id]:
            return
        del self._begun[at.native_id]
        for call in map(mapping_of, list_of(record.get("toolCalls"))):
            self._called.add(at.native_id)
            self._tool(call, at)

    def _tool(self, call: Json, at: Position) -> None:
        call_id, status = text_of(call.get("id")), call.get("status")
        self.telling.add_call(call_id, text_of(call.get("name")), call.get("args"))
        responses = [
            mapping_of(mapping_of(mapping_of(part).get("functionResponse")).get("response"))
            for part in list_of(call.get("result"))
        ]
        output = join_responses(responses, failed=status == "error")
        own = replace(at, time=call.get("timestamp") or at.time)
        if status != "cancelled":
            self.telling.add_result(call_id, output, own)
