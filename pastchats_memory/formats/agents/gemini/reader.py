"""Gemini CLI sessions: a JSON document, a log that repeats a message when it grows, or a saved chat.

The last record of an id has the text, the first one the position. Messages that were rewound, or are missing from a
checkpoint, are `abandoned`.
"""

from collections.abc import Iterator
from dataclasses import asdict, replace

from pastchats_memory.formats.agents.gemini import changes, content
from pastchats_memory.formats.agents.gemini.dialect import DIALECT
from pastchats_memory.formats.agents.gemini.saved_chat import SavedChat, is_saved_chat
from pastchats_memory.formats.base.agent import AgentSession
from pastchats_memory.formats.base.agent_spellings import parse_gemini_output
from pastchats_memory.formats.base.checkpoint import CannotResume
from pastchats_memory.formats.base.session import BadRecord, Position, Row, SessionBuilder, SessionInfo, read_items
from pastchats_memory.formats.base.source import Record, SourceFile
from pastchats_memory.formats.base.turns import PendingTurn
from pastchats_memory.formats.base.values import Json, list_of, mapping_of, objects_of, text_of

INVESTIGATION = "Your task is to do a deep investigation of the codebase to find "
"""The beginning of a subagent's task; older versions keep it next to the session, under the same id."""
NAMED = "session-"
"""The beginning of a session file's name; a subagent's file has the id of the calling session."""
CANCELLED = "Request cancelled"


def matches(source: SourceFile) -> bool:
    """Return whether a file has a header with the hash of a project, a change, a saved chat, or a printed session."""
    if is_saved_chat(source) or _is_stream(source):
        return True
    if source.shape == "json":
        document = mapping_of(source.outline)
        return changes.is_header(document) and isinstance(document.get("messages", []), list)
    tests = (changes.is_header, changes.is_change, changes.is_answer)
    return any(is_own(record) for record in source.sample for is_own in tests)


def read(source: SourceFile) -> Iterator[Row]:
    """Yield the turns in file order."""
    if is_saved_chat(source):
        return SavedChat.read(source)
    return _PrintedSession.read(source) if _is_stream(source) else _read_session(source)


def _read_session(source: SourceFile) -> Iterator[Row]:
    """Yield the turns, after a first pass that finds the final text of each message."""
    first_pass = changes.FirstPass()
    before = source.resumed.state if source.resumed else {}
    if before:
        first_pass.restore(mapping_of(before.get("view")), frozenset(map(text_of, list_of(before.get("growing")))))
    for position, item in enumerate(changes.records_of(source, source.records())):
        if isinstance(item, Record):
            first_pass.add(mapping_of(item.value), position)
    session = _Session(source, first_pass)
    if before:
        session.restore(before)
    records = source.records()
    yield from read_items(source, session.builder, changes.records_of(source, records), session.add_record)
    if source.shape == "jsonl":
        yield from records.checkpoint(session.snapshot())
    yield from session.builder.flush()


class _Session:
    """Second pass: add each message at its first record, with the text of its last."""

    def __init__(self, source: SourceFile, first_pass: changes.FirstPass) -> None:
        header = first_pass.header
        self._first_pass = first_pass
        self._stem = source.path.stem
        self._branch = "sidechain" if header.get("kind") == "subagent" else "main"
        self._begun: dict[str, PendingTurn] = {}
        self._called: set[str] = set()
        self._prompts: set[str] = set()
        session, folder = text_of(header.get("sessionId")), source.path.parent
        inside = self._branch == "sidechain" and folder.parent.name == "chats"
        is_sibling = self._branch == "sidechain" and not inside and self._stem.startswith(NAMED)
        parent, own = (folder.name, session) if inside else (session, self._stem) if is_sibling else ("", "")
        cwd = changes.project_folder(source.path, header) or first_pass.cwd
        metadata: Json = {"title": text_of(header.get("summary")), "parent_conversation_id": parent}
        named = f"{parent}/{own}" if parent else session or self._stem
        about = SessionInfo(named, cwd, None, header.get("startTime"), metadata)
        self.builder = SessionBuilder(about, DIALECT)
        self._named = asdict(about)

    def snapshot(self) -> Json:
        growing = [draft.native_id for draft in self.builder.queue.answers if draft.native_id not in self._called]
        own: Json = {"view": self._first_pass.snapshot(), "growing": growing, "named": self._named}
        return self.builder.snapshot() | own | {"branch": self._branch}

    def restore(self, state: Json) -> None:
        """Restore the snapshot of the shorter file. Raises CannotResume if the session has a new title."""
        if self._named != state.get("named"):
            raise CannotResume("the session has a new name")
        self._branch = text_of(state.get("branch"))
        self.builder.restore(state)
        for draft in self.builder.queue.answers:
            own_id = draft.native_id or ""
            if own_id not in self._first_pass.growing:
                self._called.add(own_id)
            elif own_id in self._first_pass.last:
                draft.until = self._first_pass.last[own_id]
                self._begun[own_id] = draft

    def add_record(self, item: Record, position: int) -> None:
        record = item.value
        if not isinstance(record, dict):
            raise BadRecord(f"a {type(record).__name__} instead of a record")
        if not changes.is_message(record):
            known = changes.is_header(record) or changes.is_change(record) or "type" not in record
            if not known and record.get("type") != "session_metadata":
                raise BadRecord("neither a session nor a message")
            return
        if not isinstance(record["content"], str | list | dict | None):
            raise BadRecord(f"content of a message is a {type(record['content']).__name__}")
        own_id = text_of(record["id"])
        branch = self._branch if own_id in self._first_pass.living else "abandoned"
        at = Position(item.line, record.get("timestamp"), own_id, branch)
        if record["type"] == "user":
            self._prompt(record, at)
        elif record["type"] in ("gemini", "qwen"):
            self._answer(record, at, position)
        elif record["type"] == "error":
            self.builder.queue.flag("api_error")
        elif CANCELLED in content.visible_text(record["content"]):
            self.builder.queue.flag("interrupted")

    def _prompt(self, record: Json, at: Position) -> None:
        if at.native_id in self._prompts:
            return
        self._prompts.add(at.native_id)
        sent = content.visible_text(record.get("displayContent") or record["content"])
        if content.strip_context(sent).startswith(INVESTIGATION) and self._branch == "main":
            self._branch = "sidechain"
            self.builder.info.metadata["parent_conversation_id"] = self.builder.info.conversation_id
            self.builder.info.conversation_id = f"{self.builder.info.conversation_id}/{self._stem}"
            at = Position(at.line, at.time, at.native_id, self._branch)
        pictures = sum("inlineData" in mapping_of(part) for part in list_of(record["content"]))
        content.add_prompt(self.builder, sent, at, pictures)

    def _answer(self, record: Json, at: Position, position: int) -> None:
        words = content.visible_text(record["content"])
        words = "" if words in content.ACKNOWLEDGEMENTS else words
        draft = self._begun.get(at.native_id)
        if draft is None:
            draft = self.builder.add_turn("assistant", "answer", words, at, model=text_of(record.get("model")))
            draft.until = self._first_pass.last[at.native_id]
            self._begun[at.native_id] = draft
        draft.texts = [words or draft.texts[0]]
        if position != self._first_pass.last[at.native_id]:
            return
        del self._begun[at.native_id]
        for call in objects_of(record.get("toolCalls")):
            self._called.add(at.native_id)
            self._tool(call, at)

    def _tool(self, call: Json, at: Position) -> None:
        call_id, status = text_of(call.get("id")), call.get("status")
        self.builder.add_call(call_id, text_of(call.get("name")), call.get("args"))
        answers = (mapping_of(part.get("functionResponse")) for part in objects_of(call.get("result")))
        responses = [mapping_of(answer.get("response")) for answer in answers]
        output = content.join_responses(responses, failed=status == "error")
        own = replace(at, time=call.get("timestamp") or at.time)
        if status != "cancelled":
            self.builder.add_result(call_id, output, own)


def _is_stream(source: SourceFile) -> bool:
    """Return whether one of the first lines starts a printed session."""
    return source.shape == "jsonl" and any(map(_is_start, source.sample))


def _is_start(record: Json) -> bool:
    return record.get("type") == "init" and all(isinstance(record.get(key), str) for key in ("session_id", "model"))


class _PrintedSession(AgentSession):
    """A session that `gemini --output-format stream-json` printed, in `packages/core/src/output/types.ts` of Gemini CLI."""

    dialect = DIALECT

    def session_info(self) -> SessionInfo:
        """Return the session's id, which a line before the start does not have."""
        start = next(filter(_is_start, self.source.sample), {})
        return SessionInfo(text_of(start.get("session_id")) or self.source.path.stem)

    def add_record(self, record: Json, line: int) -> None:
        at = Position(line, record.get("timestamp") or record.get("ts"))
        call_id = text_of(record.get("tool_id"))
        match record.get("type"):
            case "init":
                self.builder.model = text_of(record.get("model"))
                self.builder.info.conversation_id = text_of(record.get("session_id")) or self.source.path.stem
            case "message" if not isinstance(record.get("content"), str):
                raise BadRecord("a message without a text")
            case "message" if record.get("role") == "user":
                self.builder.add_prompt(content.strip_context(text_of(record["content"])), at)
            case "message":
                self.builder.add_chunk("assistant", text_of(record["content"]), at)
            case "tool_use":
                self.builder.add_call(call_id, text_of(record.get("tool_name")) or "tool", record.get("parameters"))
            case "tool_result":
                error = text_of(mapping_of(record.get("error")).get("message"))
                output = text_of(record.get("output"))
                failed = record.get("status") == "error"
                self.builder.add_result(call_id, parse_gemini_output(error or output, failed=failed), at)
