"""Gemini CLI sessions to turns: one JSON document, a log of messages that are written again when they grow, or a chat that was saved.

The last record of an id has its words, the first one its place; what was rewound, or is missing from a checkpoint, is
`abandoned`.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from pastchats_memory.formats.agents.gemini.content import (
    TAKEN_NOTES,
    add_prompt,
    is_compression,
    join_responses,
    strip_context,
    visible_text,
)
from pastchats_memory.formats.agents.gemini.dialect import DIALECT
from pastchats_memory.formats.agents.gemini.saved_chat import history_of, is_history
from pastchats_memory.formats.base.checkpoint import RECENT, CannotResume
from pastchats_memory.formats.base.session import (
    PendingTurn,
    Position,
    Row,
    SessionBuilder,
    SessionInfo,
    find_folder,
    folder_of,
)
from pastchats_memory.formats.base.sibling_files import is_sibling, read_sibling
from pastchats_memory.formats.base.source import (
    Element,
    Json,
    Record,
    Records,
    SourceFile,
    list_of,
    mapping_of,
    text_of,
)
from pastchats_memory.model import Unreadable
from pastchats_memory.text.timestamps import iso_utc, to_the_minute

# A Gemini CLI session as a list of changes, whether it is one document or a log, and which messages outlived them.

HEADER = ("sessionId", "projectHash", "startTime", "summary", "directories", "kind")
"""What a header says of its messages."""
SPEAKERS = ("user", "gemini", "qwen", "info", "error", "warning")


def is_header(record: Json) -> bool:
    """Whether the object tells of a session."""
    return isinstance(record.get("sessionId"), str) and isinstance(record.get("projectHash"), str)


def is_change(record: Json) -> bool:
    """Whether the line changes what stands above it."""
    return "$set" in record or "$rewindTo" in record


def is_message(record: Json) -> bool:
    """Whether the object is a message of a session."""
    return record.get("type") in SPEAKERS and "content" in record and isinstance(record.get("id"), str)


def records_of(source: SourceFile, records: Records) -> Iterator[Record | Unreadable]:
    """Header, messages and changes in file order; a checkpoint's new messages come one by one before the checkpoint itself.

    What it repeats is left: it may be cut there to what the model still gets.
    """
    if source.shape == "json":
        yield Record(1, {key: value for key, value in mapping_of(source.outline).items() if key != "messages"})
        for element in source.elements("messages"):
            yield Record(element.line, element.value) if isinstance(element, Element) else element
        return
    told = set[str]()
    for item in records:
        replaced = mapping_of(mapping_of(item.value).get("$set")).get("messages") if isinstance(item, Record) else None
        for message in list_of(replaced):
            if text_of(mapping_of(message).get("id")) not in told:
                yield Record(item.line, message)
        told.add(text_of(mapping_of(item.value).get("id")) if isinstance(item, Record) else "")
        yield item


@dataclass(slots=True)
class Overview:
    """The first pass: where each message is said last, and whether a rewinding or a checkpoint took it away."""

    header: Json = field(default_factory=dict)
    last: dict[str, int] = field(default_factory=dict)
    """By message id, the position of the record that has its final words."""
    living: dict[str, None] = field(default_factory=dict)
    """Ids of the messages on the current branch, in order."""
    cwd: str | None = None
    before: dict[str, None] = field(default_factory=dict)
    """Ids of the messages that were told when the file was shorter."""
    growing: frozenset[str] = frozenset()
    """Those of them that may have more to say."""

    def snapshot(self) -> Json:
        """What must be known to go on when the file has grown, as JSON."""
        known = list(deque((*self.before, *self.last), RECENT))
        header = {key: value for key, value in self.header.items() if key in HEADER}
        return {"header": header, "cwd": self.cwd, "known": known}

    def restore(self, state: Json, growing: frozenset[str]) -> None:
        """Take up what `state` gave when the file was shorter."""
        self.header = mapping_of(state.get("header"))
        self.cwd = text_of(state.get("cwd")) or None
        self.before, self.growing = dict.fromkeys(map(text_of, list_of(state.get("known")))), growing

    def add(self, record: Json, position: int) -> None:
        """One record more, in file order.

        Raises:
            CannotResume: what was added to the file changes messages that were told before.
        """
        if is_header(record):
            self.header = record | self.header
        elif is_message(record):
            own_id = text_of(record["id"])
            if own_id in self.before and own_id not in self.growing:
                raise CannotResume(f"{own_id} was told before")
            self.last[own_id] = position
            self.living[own_id] = None
            self.cwd = self.cwd or self._told_by_tools(record)
        else:
            self._change(record)

    def _change(self, record: Json) -> None:
        changes = mapping_of(record.get("$set"))
        if isinstance(changes.get("messages"), list):
            self._refuse_what_reaches_back("the messages begin anew")
            kept = [mapping_of(message) for message in list_of(changes["messages"])]
            compressed = any(is_compression(visible_text(message.get("content"))) for message in kept)
            living = self.living if compressed else {}
            self.living = living | dict.fromkeys(text_of(message.get("id")) for message in kept)
        self.header |= {key: value for key, value in changes.items() if key != "messages"}
        if "$rewindTo" in record:
            ids = list(self.living)
            target = text_of(record["$rewindTo"])
            if target not in self.living or target in self.growing:
                self._refuse_what_reaches_back(f"rewound to {target}")
            self.living = dict.fromkeys(ids[: ids.index(target)] if target in self.living else [])

    def _refuse_what_reaches_back(self, reason: str) -> None:
        if self.before:
            raise CannotResume(reason)

    def _told_by_tools(self, record: Json) -> str | None:
        """The project's folder, if a path that a tool was given lies in it: its hash is that of the session."""
        wanted = text_of(self.header.get("projectHash"))
        for call in map(mapping_of, list_of(record.get("toolCalls"))):
            for value in mapping_of(call.get("args")).values():
                if found := find_folder(text_of(value), lambda folder: _hash(folder) == wanted):
                    return found
        return None


def _hash(path: str) -> str:
    return hashlib.sha256(path.encode("utf-8", "replace")).hexdigest()


def project_folder(path: Path, header: Json) -> str | None:
    """The working directory as Gemini CLI keeps it beside its sessions, else one of the session's folders with its hash.

    `tmp/<project>/.project_root` has the path; `projects.json` maps paths to the names of the folders in `tmp`.
    """
    chats = next((folder for folder in path.parents if folder.name == "chats"), None)
    if chats is not None:
        home = chats.parent
        if root := read_sibling(home / ".project_root").strip():
            return root
        listed = mapping_of(mapping_of(_json_in(home.parent.parent / "projects.json")).get("projects"))
        for folder, name in listed.items():
            if name == home.name or _hash(folder) == header.get("projectHash"):
                return folder
    folders = (folder_of(folder) for folder in list_of(header.get("directories")))
    return next((folder for folder in folders if folder and _hash(folder) == header.get("projectHash")), None)


def _json_in(path: Path) -> object:
    return SourceFile(path).document if is_sibling(path) else None


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
