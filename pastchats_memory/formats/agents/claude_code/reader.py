"""Claude Code transcripts: one turn for each API message; the person's text is separate from the client's."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from pastchats_memory.formats.agents.claude_code import records
from pastchats_memory.formats.agents.claude_code.dialect import DIALECT
from pastchats_memory.formats.agents.claude_code.first_pass import FirstPass, answer_key
from pastchats_memory.formats.agents.claude_code.grown import check_appended_records, key_of
from pastchats_memory.formats.base.dialect import read_spellings
from pastchats_memory.formats.base.format import CERTAIN
from pastchats_memory.formats.base.session import (
    BadRecord,
    Position,
    Row,
    SessionBuilder,
    SessionInfo,
    read_items,
    text_blocks,
)
from pastchats_memory.formats.base.source import Places, Record, Records, SourceFile
from pastchats_memory.formats.base.tools import ToolCall, ToolResult, call_from_json, call_to_json, parse_result
from pastchats_memory.formats.base.turns import PendingTurn, Tokens, read_tokens
from pastchats_memory.formats.base.values import Json, list_of, mapping_of, objects_of, text_of
from pastchats_memory.model import Unreadable

TYPES = frozenset(read_spellings(__file__)["record_types"])
ENVELOPE, BARE_MESSAGES = 80, 60
"""Confidences: of the envelope without a message, and of messages that lost theirs."""
MARKS = ("sessionId", "parentUuid", "leafUuid", "messageId", "promptSource", "promptId", "isSidechain", "isMeta")
KINDS = {
    "prompt": ("user", "prompt"),
    "command": ("user", "command"),
    "plan": ("assistant", "plan"),
    "summary": ("system", "summary"),
    "subagent": ("system", "prompt"),
    "fork": ("system", "prompt"),
    "task": ("tool", "result"),
}
"""Role and kind of a turn by the origin of its user record."""

SHELL = ToolCall("Bash")
TOKENS = {
    "input": "input_tokens",
    "output": "output_tokens",
    "cache_read": "cache_read_input_tokens",
    "cache_write": "cache_creation_input_tokens",
}


def detect(source: SourceFile) -> int:
    """Return a confidence, by the envelope of Claude Code's records and by their messages."""
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
    kind = text_of(record.get("type"))
    typed = kind in TYPES and not isinstance(record.get("payload"), dict)
    is_named = "-" in kind or "type" in mapping_of(record.get("attachment"))  # no other program has such records
    return typed and (is_named or any(mark in record for mark in MARKS) or records.is_streamed(record))


def _has_message(record: Json) -> bool:
    """Return whether a record has a message in a role of Anthropic's, which the record's type may name alone."""
    message, kind = mapping_of(record.get("message")), text_of(record.get("type"))
    return kind in records.ROLES and "content" in message and message.get("role", kind) in records.ROLES


def read(source: SourceFile) -> Iterator[Row]:
    """Yield the turns of every conversation in file order, main and sidechain, and unreadable lines.

    The file is read twice: only the whole file shows retries, copies, titles and the last line of a message. Of a file
    that has grown, only the appended lines are read twice.
    """
    stem = source.path.stem
    first_pass = FirstPass(stem.removeprefix("agent-") if stem.startswith("agent-") else None)
    before = source.resumed.state if source.resumed else None
    if before is not None:
        first_pass.restore(mapping_of(before.get("view")))
        added = (item.value for item in source.records() if isinstance(item, Record) and isinstance(item.value, dict))
        turns = objects_of(mapping_of(before.get("drafts")).get("queue"))
        pending = {
            answer_key(text_of(turn.get("conversation_id")), text_of(turn.get("native_id")))
            for turn in turns
            if turn.get("role") == "assistant"
        }
        lost = set(list_of(mapping_of(mapping_of(before.get("view")).get("tail")).get("lost")))
        check_appended_records(added, first_pass.tail, lost, pending, first_pass.answer_key)
    for position, item in enumerate(_items(source, source.records())):
        if isinstance(item, Record) and isinstance(item.value, dict):
            first_pass.add(item.value, position, item.line)
    session = _SessionReader(source, first_pass)
    if before is not None:
        first_pass.check_forks(mapping_of(before.get("view")))
        session.restore(before)
    stored = source.records()
    yield from read_items(source, session.builder, _items(source, stored), session.add_item)
    if source.shape == "jsonl":
        yield from stored.checkpoint(session.snapshot())
    yield from session.builder.flush()


def _items(source: SourceFile, stored: Records) -> Iterator[Record | Unreadable]:
    if source.shape == "json":
        places = Places(source.text)
        for value in list_of(mapping_of(source.document).get("loglines")):
            yield Record(places.line(text_of(mapping_of(value).get("uuid"))), value)
        return
    for item in stored:
        lines = mapping_of(item.value).get("loglines") if isinstance(item, Record) else None
        if isinstance(lines, list):
            yield from (Record(item.line, value) for value in lines)
        elif isinstance(item, Record):
            yield Record(item.line, records.to_transcript_record(item.value))
        else:
            yield item


class _SessionReader:
    """Build turns from records in file order (second pass)."""

    def __init__(self, source: SourceFile, first_pass: FirstPass) -> None:
        self.builder = SessionBuilder(SessionInfo(), DIALECT, unique_calls=True)
        self._first_pass = first_pass
        self._abandoned = first_pass.abandoned()
        parts = source.path.parts[:-1]
        has_project = "projects" in parts[:-1] and not first_pass.cwd
        self._project = parts[parts.index("projects") + 1] if has_project else None
        """The encoded folder name below `projects`, for sessions without a working directory."""
        self._open: dict[tuple[str | None, str], PendingTurn] = {}
        self._copies: dict[str, str] = {}
        """The original's id by the uuid of a copied prompt: `/branch` may write a copy again, without the original's id."""
        self._shell = SHELL
        self._counted: tuple[str, Tokens] = "", Counter()
        """The last message whose tokens were counted, since more lines of it may be appended."""

    def snapshot(self) -> Json:
        built = self.builder.snapshot()
        return {
            "view": self._first_pass.state(self._abandoned),
            "drafts": built["turns"],
            "calls": built["calls"],
            "shell": call_to_json(self._shell),
            "project": self._project,
            "counted": list(self._counted),
        }

    def restore(self, state: Json) -> None:
        self.builder.restore({"turns": state.get("drafts"), "calls": state.get("calls")})
        answers = self.builder.queue.answers
        self._open = {(turn.conversation_id, turn.native_id or ""): turn for turn in answers}
        for turn in answers:
            turn.until = self._first_pass.grows_until(turn.conversation_id, turn.native_id)
        self._shell = call_from_json(state.get("shell"))
        self._project = text_of(state.get("project")) or None
        name, tokens = list_of(state["counted"])
        self._counted = text_of(name), Counter(mapping_of(tokens))

    def add_item(self, item: Record, position: int) -> None:
        record = item.value
        if not isinstance(record, dict):
            raise BadRecord(f"a {type(record).__name__} instead of a record")
        if key_of(records.parent_uuid(record)) in self._abandoned and text_of(record.get("uuid")):
            self._abandoned.add(key_of(text_of(record.get("uuid"))))
        conversation = self._first_pass.conversation(record)
        is_copy = position < self._first_pass.own_start.get(conversation, 0)
        if conversation not in self._first_pass.internal and not is_copy:
            self._add_record(record, item.line, position)

    def _add_record(self, record: Json, line: int, position: int) -> None:
        match record.get("type"):
            case "user":
                self._add_user_record(record, line, position)
            case "assistant":
                self._add_assistant_record(record, line, position)
            case "system":
                self._add_queued_prompt(record, line, records.parse_local_command(record))
            case "attachment":
                self._add_queued_prompt(record, line, records.parse_attachment(record))
            case "queue-operation" if queued := self._first_pass.queue.delivered.get(position):
                self._add_queued_prompt(queued.record, queued.line, queued.utterance)

    def _add_queued_prompt(self, record: Json, line: int, utterance: records.RecordedPrompt) -> None:
        is_copy = utterance.is_human and self._first_pass.has_better_record(record, utterance.text)
        if utterance.origin in KINDS and not is_copy:
            self._add_utterance(record, line, utterance)

    def _add_user_record(self, record: Json, line: int, position: int) -> None:
        utterance = records.parse_user_record(record)
        if self._first_pass.is_teammate and (task := records.parse_team_record(record)):
            utterance = records.RecordedPrompt("subagent", task)
        if self._first_pass.local_commands.is_local(position):
            utterance = records.RecordedPrompt("nobody")
        if utterance.is_interruption:
            self.builder.queue.flag("interrupted")
        match utterance.origin:
            case "unreadable":
                raise BadRecord(utterance.text)
            case "tool":
                self._add_results(record, line)
            case "output":
                output = ToolResult(utterance.text, failed=utterance.failed)
                self.builder.add_output(self._shell, output, self._position(record, line))
                self._shell = SHELL
            case "nobody":
                pass
            case _:
                self._add_utterance(record, line, utterance)

    def _add_utterance(self, record: Json, line: int, utterance: records.RecordedPrompt) -> None:
        role, kind = KINDS[utterance.origin]
        kind = "error" if utterance.failed else kind
        at = self._position(record, line)
        if kind == "plan":
            self.builder.add_plan(utterance.text, at)
            return
        if utterance.is_human:
            copied_from = text_of(mapping_of(record.get("forkedFrom")).get("messageUuid"))
            first = self._first_pass.first_uuid(record, utterance.text)
            self._copies |= {first: copied_from} if copied_from else {}
            at = replace(at, native_id=self._copies.get(first, first))
        media, author, channel = list(utterance.media), utterance.author, utterance.channel
        self.builder.add_turn(role, kind, utterance.text, at, attachments=media, author=author, channel=channel)
        if utterance.text.startswith("! "):
            self._shell = ToolCall("Bash", utterance.text.removeprefix("! "))

    def _add_assistant_record(self, record: Json, line: int, position: int) -> None:
        message = record.get("message")
        if not isinstance(message, dict):
            raise BadRecord("assistant record without a message object")
        content, until = message.get("content"), self._first_pass.until(record)
        if not isinstance(content, str | list | None):
            raise BadRecord(f"content of a message is a {type(content).__name__}")
        if records.is_synthetic(record):
            if record.get("isApiErrorMessage") is True:
                self.builder.queue.flag("api_error")
            return
        if until is None or position <= until:
            texts = [text for text in text_blocks(content) if text.strip() not in ("", records.NO_TEXT)]
            self._add_answer(record, line, texts, position, position if until is None else until)
            for block in objects_of(content):
                if block.get("type") == "tool_use":
                    at = self._position(record, line)
                    self.builder.add_call(text_of(block.get("id")), text_of(block.get("name")), block.get("input"), at)
            if position == until or until is None:
                self._count_tokens(message)
            if record.get("isAbortedMidStream") is True:
                self.builder.queue.flag("interrupted")

    def _add_answer(self, record: Json, line: int, texts: list[str], position: int, until: int) -> None:
        message_id = text_of(mapping_of(record.get("message")).get("id"))
        key = (self._first_pass.conversation(record), message_id)
        turn = self._open.get(key)
        if turn is None and texts:
            at = self._position(record, line)
            at = replace(at, native_id=message_id or at.native_id)
            model = text_of(mapping_of(record.get("message")).get("model"))
            turn = self.builder.add_turn("assistant", "answer", texts[0], at, model=model)
            turn.until = until
            turn.texts = list(dict.fromkeys(texts))
            self._open[key] = turn
        elif turn is not None:
            turn.texts += [text for text in dict.fromkeys(texts) if text not in turn.texts]
        if position >= until:
            self._open.pop(key, None)

    def _count_tokens(self, message: Json) -> None:
        """Count the tokens of a message by its last line: the lines before repeat them, or have less of the output."""
        name, tokens = text_of(message.get("id")), read_tokens(mapping_of(message.get("usage")), TOKENS)
        known = self._counted[1] if name and name == self._counted[0] else Counter()
        self.builder.queue.add_usage(text_of(message.get("model")), tokens - known)
        self._counted = (name, tokens | known) if name else self._counted

    def _add_results(self, record: Json, line: int) -> None:
        for block in objects_of(mapping_of(record.get("message")).get("content")):
            if block.get("type") == "tool_result":
                output = parse_result(block.get("content"))
                output = replace(output, failed=output.failed or block.get("is_error") is True)
                at, details = self._position(record, line), record.get("toolUseResult")
                self.builder.add_result(text_of(block.get("tool_use_id")), output, at, details)

    def _position(self, record: Json, line: int) -> Position:
        """Return the position of a record, after setting the builder's `info` to its facts."""
        session = text_of(record.get("sessionId")) or self._first_pass.session or ""
        conversation = self._first_pass.conversation(record)
        uuid, cwd = text_of(record.get("uuid")), text_of(record.get("cwd"))
        home = self._first_pass.cwd.get(session)
        fork = mapping_of(record.get("forkedFrom"))
        sidechain = record.get("isSidechain") is True or self._first_pass.is_teammate is True
        parent = session if conversation != session else text_of(fork.get("sessionId"))
        flags = ["copied"] if fork else []
        metadata: Json = {"git_branch": text_of(record.get("gitBranch")), "cwd": cwd if cwd != home else ""}
        metadata |= {"title": self._first_pass.title(conversation), "parent_conversation_id": parent, "flags": flags}
        self.builder.info = SessionInfo(conversation, home, self._project, metadata=metadata)
        branch = "sidechain" if sidechain else "abandoned" if key_of(uuid) in self._abandoned else "main"
        return Position(line, record.get("timestamp"), uuid, branch)
