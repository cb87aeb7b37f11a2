"""Claude Code transcripts to turns: one row an API message, people's words apart from everything put into their place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pastchats_memory.formats.agents.claude_code.dialect import DIALECT
from pastchats_memory.formats.agents.claude_code.grown import refuse_what_reaches_back
from pastchats_memory.formats.agents.claude_code.index_pass import Overview
from pastchats_memory.formats.agents.claude_code.records import (
    NO_TEXT,
    SPOKEN,
    Said,
    as_kept,
    is_streamed,
    is_synthetic,
    parent_of,
    said,
    texts_of,
    typed_meanwhile,
)
from pastchats_memory.formats.base.checkpoint import RECENT, Checkpoint
from pastchats_memory.formats.base.format import CERTAIN
from pastchats_memory.formats.base.source import Json, Places, Record, Records, SourceFile, list_of, mapping_of, text_of
from pastchats_memory.formats.base.tools import (
    UNKNOWN_CALL,
    ToolCall,
    ToolResult,
    call_from_json,
    call_to_json,
    parse_call,
    parse_result,
)
from pastchats_memory.formats.base.turns import PendingTurn, TurnQueue
from pastchats_memory.model import Task, Turn, Unreadable
from pastchats_memory.text.timestamps import iso_utc

TYPES = frozenset({
    "user", "assistant", "system", "summary", "progress", "attachment", "queue-operation", "file-history-snapshot",
    "file-history-delta", "mode", "permission-mode", "last-prompt", "custom-title", "ai-title", "agent-name",
    "pr-link", "bridge-session", "worktree-state", "tag", "relocated", "agent-color", "agent-setting", "isolation-latch",
    "atis-latch", "ended", "attribution-snapshot", "content-replacement", "cost-state", "artifact-comment-monitor",
    "artifact-autoreact-ledger", "conversation_reset",
})  # fmt: skip
ENVELOPE, BARE_MESSAGES = 80, 60
"""Confidences: of the envelope without a message, and of messages that lost theirs."""
MARKS = ("sessionId", "parentUuid", "leafUuid", "messageId")
KINDS = {
    "prompt": ("user", "prompt"),
    "command": ("user", "command"),
    "summary": ("system", "summary"),
    "subagent": ("system", "prompt"),
}
"""Role and kind of the turn, by whose words a user record holds."""

SHELL = ToolCall("Bash")


def detect(source: SourceFile) -> int:
    """Return a confidence: an exported web session, Claude Code's envelope with or without its messages, or messages alone."""
    if source.shape == "json":
        return CERTAIN if isinstance(mapping_of(source.outline).get("loglines"), list) else 0
    marked = [record for record in source.sample if _is_marked(record)]
    if any(map(_has_message, marked)):
        return CERTAIN
    messages = sum(map(_has_message, source.sample))
    return ENVELOPE if marked else BARE_MESSAGES if 2 * messages > len(source.sample) else 0


def _is_marked(record: Json) -> bool:
    """Return whether a record has Claude Code's envelope, which programs made after it write as well."""
    if isinstance(record.get("loglines"), list):
        return True
    typed = text_of(record.get("type")) in TYPES and not isinstance(record.get("payload"), dict)
    return typed and (any(mark in record for mark in MARKS) or is_streamed(record))


def _has_message(record: Json) -> bool:
    """Return whether a record has a message in a role of Anthropic's."""
    message = mapping_of(record.get("message"))
    return text_of(record.get("type")) in SPOKEN and "content" in message and message.get("role") in SPOKEN


def read(source: SourceFile) -> Iterator[Turn | Task | Unreadable | Checkpoint]:
    """The turns of every conversation in the file, main and sidechain, in file order; lines that are no records.

    The file is read twice: a retry, a copy, a title and the last line of a message are known only from the whole. In one
    that has only grown, what was added is read twice.
    """
    stem = source.path.stem
    view = Overview(stem.removeprefix("agent-") if stem.startswith("agent-") else None)
    before = source.resumed.state if source.resumed else None
    if before is not None:
        view.restore(mapping_of(before.get("view")))
        added = (item.value for item in source.records() if isinstance(item, Record) and isinstance(item.value, dict))
        refuse_what_reaches_back(added, mapping_of(mapping_of(before.get("view")).get("tail")), _pending(before))
    for position, item in enumerate(_items(source, source.records())):
        if isinstance(item, Record) and isinstance(item.value, dict):
            view.add(item.value, position)
    builder = _SessionReader(source, view)
    if before is not None:
        view.refuse_forks_back(mapping_of(before.get("view")))
        builder.restore(before)
    records = source.records()
    for position, item in enumerate(_items(source, records)):
        yield from builder.tell(item, position)
    if source.shape == "jsonl":
        yield from records.checkpoint(builder.snapshot())
    yield from builder.queue.flush()
    yield from builder.queue.tasks()


def _pending(state: Json) -> set[str]:
    drafts = map(mapping_of, list_of(mapping_of(state.get("drafts")).get("queue")))
    return {text_of(draft.get("native_id")) for draft in drafts if draft.get("role") == "assistant"}


def _items(source: SourceFile, records: Records) -> Iterator[Record | Unreadable]:
    if source.shape == "json":
        yield from _exported(list_of(mapping_of(source.document).get("loglines")), Places(source.text))
        return
    for item in records:
        lines = mapping_of(item.value).get("loglines") if isinstance(item, Record) else None
        if isinstance(lines, list):
            yield from (Record(item.line, value) for value in lines)
        elif isinstance(item, Record):
            yield Record(item.line, as_kept(item.value))
        else:
            yield item


def _exported(values: list[object], places: Places) -> Iterator[Record]:
    for value in values:
        yield Record(places.line(text_of(mapping_of(value).get("uuid"))), value)


def _folder_of_project(source: SourceFile) -> str | None:
    """The encoded folder name below `projects`, for sessions that never say where they ran."""
    parts = source.path.parts[:-1]
    return parts[parts.index("projects") + 1] if "projects" in parts[:-1] else None


class _SessionReader:
    """The second pass: every record adds to the turns that are in the making."""

    def __init__(self, source: SourceFile, view: Overview) -> None:
        self.queue = TurnQueue(DIALECT)
        self._path = str(source.path)
        self._view = view
        self._lost = view.abandoned()
        self._project = None if view.cwd else _folder_of_project(source)
        self._open: dict[tuple[str | None, str], PendingTurn] = {}
        self._calls: dict[str, ToolCall] = {}
        self._shell = SHELL

    def snapshot(self) -> Json:
        """All that a longer file needs of this one, as JSON."""
        calls = {call_id: call_to_json(call) for call_id, call in list(self._calls.items())[-RECENT:]}
        shell = call_to_json(self._shell)
        view = self._view.state(self._lost)
        return {"view": view, "drafts": self.queue.snapshot(), "calls": calls, "shell": shell, "project": self._project}

    def restore(self, state: Json) -> None:
        """Take up what `state` gave when the file was shorter."""
        self.queue.restore(mapping_of(state.get("drafts")))
        self._open = {(draft.conversation_id, draft.native_id or ""): draft for draft in self.queue.answers}
        for draft in self.queue.answers:
            draft.until = self._view.grows_until(draft.conversation_id, draft.native_id)
        self._calls = {call_id: call_from_json(call) for call_id, call in mapping_of(state.get("calls")).items()}
        self._shell = call_from_json(state.get("shell"))
        self._project = text_of(state.get("project")) or None

    def tell(self, item: Record | Unreadable, position: int) -> Iterator[Turn | Unreadable]:
        if isinstance(item, Unreadable):
            yield item
            return
        record = item.value
        if not isinstance(record, dict):
            yield Unreadable(self._path, item.line, f"a {type(record).__name__} instead of a record")
            return
        if hash(parent_of(record)) in self._lost and text_of(record.get("uuid")):
            self._lost.add(hash(text_of(record.get("uuid"))))
        if self._view.conversation(record) not in self._view.errands:
            fault = self._take(record, item.line, position)
            if fault:
                yield Unreadable(self._path, item.line, fault)
        yield from self.queue.pop_complete(position)

    def _take(self, record: Json, line: int, position: int) -> str | None:
        """Add what the record says; the reason why it says nothing that can be read, else None."""
        match record.get("type"):
            case "user":
                return self._user(record, line)
            case "assistant":
                return self._assistant(record, line, position)
            case "attachment" | "queue-operation":
                told = typed_meanwhile(record)
                if told.human and not self._view.typed_elsewhere(record, told.text):
                    self._spoken(record, line, told)
        return None

    def _user(self, record: Json, line: int) -> str | None:
        told = said(record)
        if told.interrupted:
            self.queue.flag("interrupted")
        match told.voice:
            case "unreadable":
                return told.text
            case "tool":
                self._results(record, line)
            case "output":
                self._found(record, line, self._shell, ToolResult(told.text, failed=told.failed))
                self._shell = SHELL
            case "nobody":
                pass
            case _:
                self._spoken(record, line, told)
        return None

    def _spoken(self, record: Json, line: int, told: Said) -> None:
        role, kind = KINDS[told.voice]
        draft = self._draft(record, line, role, kind, told.text)
        if told.human:
            copied_from = text_of(mapping_of(record.get("forkedFrom")).get("messageUuid"))
            draft.native_id = copied_from or self._view.first_uuid(record, told.text) or None
        draft.metadata["attachments"] = list(told.media)
        self.queue.add(draft)
        if told.text.startswith("! "):
            self._shell = ToolCall("Bash", told.text.removeprefix("! "))

    def _assistant(self, record: Json, line: int, position: int) -> str | None:
        message = record.get("message")
        if not isinstance(message, dict):
            return "assistant record without a message object"
        content, until = message.get("content"), self._view.until(record)
        if not isinstance(content, str | list | None):
            return f"content of a message is a {type(content).__name__}"
        if is_synthetic(record):
            if record.get("isApiErrorMessage") is True:
                self.queue.flag("api_error")
            return None
        if until is None or position <= until:
            texts = [text for text in texts_of(content) if text.strip() not in ("", NO_TEXT)]
            self._answer(record, line, texts, position, position if until is None else until)
            self._tools(record, content, line)
            if record.get("isAbortedMidStream") is True:
                self.queue.flag("interrupted")
        return None

    def _answer(self, record: Json, line: int, texts: list[str], position: int, until: int) -> None:
        message_id = text_of(mapping_of(record.get("message")).get("id"))
        key = (self._view.conversation(record), message_id)
        draft = self._open.get(key)
        if draft is None and texts:
            draft = self._draft(record, line, "assistant", "answer")
            draft.native_id = message_id or draft.native_id
            draft.metadata["model"] = text_of(mapping_of(record.get("message")).get("model"))
            draft.until = until
            draft.texts = list(dict.fromkeys(texts))
            self._open[key] = draft
            self.queue.add(draft)
        elif draft is not None:
            draft.texts += [text for text in dict.fromkeys(texts) if text not in draft.texts]
        if position >= until:
            self._open.pop(key, None)

    def _tools(self, record: Json, content: object, line: int) -> None:
        for block in map(mapping_of, list_of(content)):
            if block.get("type") == "tool_use":
                call = parse_call(text_of(block.get("name")), block.get("input"), DIALECT)
                call_id = text_of(block.get("id"))
                self._calls[call_id] = call
                self.queue.add_tool(call.label)
                at = iso_utc(record.get("timestamp"))
                self.queue.add_plan(text_of(block.get("name")), block.get("input"), call_id, at, line)

    def _results(self, record: Json, line: int) -> None:
        for block in map(mapping_of, list_of(mapping_of(record.get("message")).get("content"))):
            if block.get("type") == "tool_result":
                call_id = text_of(block.get("tool_use_id"))
                output = parse_result(block.get("content"))
                self.queue.add_plan_result(call_id, record.get("toolUseResult"), output.text)
                failed = output.failed or block.get("is_error") is True
                self._found(
                    record, line, self._calls.pop(call_id, UNKNOWN_CALL), replace(output, failed=failed), call_id
                )

    def _found(self, record: Json, line: int, call: ToolCall, output: ToolResult, call_id: str = "") -> None:
        found = self.queue.notable_result(call, output)
        if found is not None:
            draft = self._draft(record, line, *found)
            draft.native_id = call_id or draft.native_id
            self.queue.add(draft)

    def _draft(self, record: Json, line: int, role: str, kind: str, text: str = "") -> PendingTurn:
        """A turn with all that its record says about itself."""
        session = text_of(record.get("sessionId")) or self._view.session or ""
        conversation = self._view.conversation(record)
        uuid, cwd = text_of(record.get("uuid")), text_of(record.get("cwd"))
        home = self._view.cwd.get(session)
        fork = mapping_of(record.get("forkedFrom"))
        sidechain = record.get("isSidechain") is True
        return PendingTurn(
            role=role,
            kind=kind,
            line=line,
            texts=[text] if text else [],
            conversation_id=conversation,
            timestamp=iso_utc(record.get("timestamp")),
            cwd=home,
            project=self._project,
            native_id=uuid or None,
            branch="sidechain" if sidechain else "abandoned" if hash(uuid) in self._lost else "main",
            metadata={
                "git_branch": text_of(record.get("gitBranch")),
                "cwd": cwd if cwd != home else "",
                "title": self._view.title(conversation),
                "parent_conversation_id": session if conversation != session else text_of(fork.get("sessionId")),
                "flags": ["copied"] if fork else [],
            },
        )
