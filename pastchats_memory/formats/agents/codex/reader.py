"""Codex rollouts to turns: items for the words, events for who said them, replayed history under its first session's identity."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from hashlib import blake2b

from pastchats_memory.formats.agents.codex.dialect import DIALECT, parse_shell, strip_context
from pastchats_memory.formats.agents.codex.first_pass import Overview
from pastchats_memory.formats.agents.codex.rollout import (
    CONTEXT,
    EVENT,
    ITEM,
    LINE_TYPES,
    META,
    Entry,
    entry_of,
    is_bare_meta,
    parts_of,
    shown_answer,
    subagent_of,
)
from pastchats_memory.formats.base.checkpoint import RECENT, Checkpoint
from pastchats_memory.formats.base.source import Json, Places, Record, Records, SourceFile, list_of, mapping_of, text_of
from pastchats_memory.formats.base.tools import (
    UNKNOWN_CALL,
    ToolCall,
    call_from_json,
    call_to_json,
    parse_call,
    parse_result,
)
from pastchats_memory.formats.base.turns import PendingTurn, TurnQueue
from pastchats_memory.model import Task, Turn, Unreadable
from pastchats_memory.text.clean import IMAGE
from pastchats_memory.text.timestamps import iso_utc

BURST = timedelta(seconds=1)
"""A replay is written in one go, milliseconds between its lines; what a person does next takes longer."""

NAME = re.compile(r"(?<=-)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z")
"""The session at the end of `rollout-<time>-<session>.jsonl`, for a file that lost its first line."""

MOST_TURNS = 20_000
"""Of a session that is gone on with: how often each was said is kept."""

FLAGS = {"turn_aborted": "interrupted", "error": "api_error", "stream_error": "api_error"}
SHOWN_PICTURES = ("image", "local_image")


def recognise(source: SourceFile) -> bool:
    """Whether any of the first records is a rollout line of one of the three generations."""
    if source.shape == "json":
        document = mapping_of(source.outline)
        return isinstance(document.get("session"), dict) and isinstance(document.get("items"), list)
    return any(_is_ours(record) for record in source.sample)


def _is_ours(record: Json) -> bool:
    typed = isinstance(record.get("payload"), dict) and record.get("type") in LINE_TYPES
    return typed or record.get("record_type") == "state" or is_bare_meta(record)


def read(source: SourceFile) -> Iterator[Turn | Task | Unreadable | Checkpoint]:
    """The turns of the session in file order; lines that are no records.

    The file is read twice: which items a person typed, and what was rolled back, is known only from the whole. In one
    that has only grown, what was added is read twice.
    """
    named = NAME.search(source.path.stem)
    before = source.resumed.state if source.resumed else {}
    view = Overview(named[0] if named else None, mapping_of(before.get("view")))
    for position, (_, entry) in enumerate(_entries(source, source.records())):
        if isinstance(entry, Entry):
            view.add(entry, position)
    view.settle()
    builder = _SessionReader(view)
    if before:
        builder.restore(before)
    records = source.records()
    for position, (line, entry) in enumerate(_entries(source, records)):
        if isinstance(entry, str):
            yield Unreadable(str(source.path), line, entry)
        elif entry is not None:
            builder.take(entry, line, position)
        yield from builder.queue.pop_complete(position)
    if source.shape == "jsonl" and len(builder.ordinals) <= MOST_TURNS:
        yield from records.checkpoint(builder.snapshot())
    yield from builder.queue.flush()
    yield from builder.queue.tasks()


def _entries(source: SourceFile, records: Records) -> Iterator[tuple[int, Entry | str | None]]:
    if source.shape == "json":
        yield from _of_document(mapping_of(source.document), Places(source.text))
        return
    for item in records:
        yield item.line, entry_of(item.value) if isinstance(item, Record) else item.reason


def _of_document(document: Json, places: Places) -> Iterator[tuple[int, Entry | str | None]]:
    yield 1, Entry(META, mapping_of(document.get("session")))
    for item in list_of(document.get("items")):
        text = next(iter(parts_of(mapping_of(item))), "")
        yield places.line(text), Entry(ITEM, item, item.get("timestamp")) if isinstance(item, dict) else entry_of(item)


class _SessionReader:
    """The second pass: every entry adds to the turns that are in the making."""

    def __init__(self, view: Overview) -> None:
        self.queue = TurnQueue(DIALECT)
        self._view = view
        self._subagent = subagent_of(view.meta)[0]
        self._model = self._cwd = ""
        self._calls: dict[str, ToolCall] = {}
        self.ordinals: Counter[str] = Counter()
        """How often the same was said in the session that said it first."""
        self._replayed = ""
        self._before: datetime | None = None

    def snapshot(self) -> Json:
        """All that a longer file needs of this one, as JSON."""
        calls = {call_id: call_to_json(call) for call_id, call in list(self._calls.items())[-RECENT:]}
        return {
            "view": self._view.snapshot(), "drafts": self.queue.snapshot(), "calls": calls, "ordinals": dict(self.ordinals),
            "model": self._model, "cwd": self._cwd, "replayed": self._replayed,
            "time": self._before.isoformat() if self._before else "",
        }  # fmt: skip

    def restore(self, state: Json) -> None:
        """Take up what `state` gave when the file was shorter."""
        self.queue.restore(mapping_of(state.get("drafts")))
        for call_id, call in mapping_of(state.get("calls")).items():
            self._calls[call_id] = call_from_json(call)
        self.ordinals.update({name: int(str(count)) for name, count in mapping_of(state.get("ordinals")).items()})
        self._model, self._cwd = text_of(state.get("model")), text_of(state.get("cwd"))
        self._replayed, time = text_of(state.get("replayed")), text_of(state.get("time"))
        self._before = datetime.fromisoformat(time) if time else None

    def take(self, entry: Entry, line: int, position: int) -> None:
        """Add what the entry says."""
        self._follow_replay(entry)
        if entry.kind == CONTEXT:
            self._model = text_of(entry.payload.get("model"))
            self._cwd = text_of(entry.payload.get("cwd"))
        elif position in self._view.human:
            self._prompt(entry, line, position)
        elif entry.kind == ITEM:
            self._item(entry, line, position)
        elif entry.kind == "compacted":
            # `replacement_history` beside it repeats earlier messages
            self._add("system", "summary", text_of(entry.payload.get("message")), entry, line, position)
        elif entry.kind == EVENT and entry.type in FLAGS:
            self.queue.flag(FLAGS[entry.type])
        elif not self._view.answers and (words := shown_answer(entry)):
            self._add("assistant", "answer", words, entry, line, position)

    def _follow_replay(self, entry: Entry) -> None:
        """Whether the lines are a copy of another session's: from its meta to the end of the burst in which they were written."""
        named = text_of(entry.payload.get("id")) if entry.kind == META else ""
        stamp = iso_utc(entry.timestamp)
        now = datetime.fromisoformat(stamp) if stamp else self._before
        if named:
            self._replayed = named if named != self._view.session else ""
        elif self._replayed and now and self._before and abs(now - self._before) > BURST:
            self._replayed = ""
        self._before = now

    def _prompt(self, entry: Entry, line: int, position: int) -> None:
        text = "\n\n".join(words for part in self._view.words(entry) if (words := strip_context(part)))
        delegated = self._subagent and not self._replayed
        pictures = _pictures(entry.payload)
        text = text or (IMAGE if pictures else "")
        draft = self._add("system" if delegated else "user", "prompt", text, entry, line, position)
        draft.metadata["attachments"] = ["image"] * pictures
        if text_of(self._view.meta.get("originator")) == "codex_exec":
            list_of(draft.metadata["flags"]).append("non_interactive")

    def _item(self, entry: Entry, line: int, position: int) -> None:
        payload, call_id = entry.payload, text_of(entry.payload.get("call_id"))
        match entry.type:
            case "message" if payload.get("role") == "user":
                self._shell(entry, line, position)
            case "message" if payload.get("role") == "assistant":
                draft = self._add("assistant", "answer", "\n\n".join(parts_of(payload)), entry, line, position)
                draft.metadata |= {"model": self._model, "phase": text_of(payload.get("phase"))}
            case "function_call" | "custom_tool_call":
                arguments = payload.get("arguments") or payload.get("input")
                self._called(call_id, parse_call(text_of(payload.get("name")), arguments, DIALECT))
                self.queue.add_plan(text_of(payload.get("name")), arguments, call_id, iso_utc(entry.timestamp), line)
            case "local_shell_call":
                self._called(call_id, parse_call("shell", payload.get("action")))
            case "function_call_output" | "custom_tool_call_output":
                found = self.queue.notable_result(
                    self._calls.pop(call_id, UNKNOWN_CALL), parse_result(payload.get("output"), DIALECT)
                )
                if found is not None:
                    self._add(*found, entry, line, position)

    def _shell(self, entry: Entry, line: int, position: int) -> None:
        """A command that the person ran, and what is worth finding of its output; nothing for what was injected."""
        command, printed = parse_shell("".join(parts_of(entry.payload)))
        if command:
            self._add("user", "command", f"! {command}", entry, line, position)
            found = self.queue.notable_result(parse_call("shell", {"command": command}), parse_result(printed, DIALECT))
            if found is not None:
                self._add(*found, entry, line, position)

    def _called(self, call_id: str, call: ToolCall) -> None:
        self._calls[call_id] = call
        self.queue.add_tool(call.label)

    def _add(self, role: str, kind: str, text: str, entry: Entry, line: int, position: int) -> PendingTurn:
        view, stamp = self._view, iso_utc(entry.timestamp)
        started = None if stamp else iso_utc(view.meta.get("timestamp"))
        lost = any(first <= position <= last for first, last in view.taken_back)
        delegated = self._subagent and not self._replayed
        draft = PendingTurn(
            role=role,
            kind=kind,
            line=line,
            texts=[text],
            conversation_id=view.session,
            timestamp=stamp or started,
            cwd=view.cwd or None,
            native_id=self._identity(role, text) if text.strip() else None,
            branch="sidechain" if delegated else "abandoned" if lost else "main",
            metadata={
                "git_branch": text_of(mapping_of(view.meta.get("git")).get("branch")),
                "cwd": self._cwd if self._cwd != view.cwd else "",
                "parent_conversation_id": self._replayed or view.parent,
                "flags": ["replayed"] if self._replayed else [],
                "ts_source": "session" if started else "",
            },
        )
        self.queue.add(draft)
        return draft

    def _identity(self, role: str, text: str) -> str | None:
        """The turn's place among equals in the session that said it first.

        Codex gives messages no id that copies keep, and a replay gets new times, so neither id nor time tells that a
        replayed turn is one with its original. A replay is a prefix of the older session; counting equal turns in it
        gives each the number that it has there, whether or not that file is still on the disk.
        """
        session = self._replayed or self._view.session
        digest = blake2b(f"{role}\n{text}".encode("utf-8", "replace"), digest_size=8).hexdigest()
        name = f"{session}:{digest}"
        self.ordinals[name] += 1
        return f"{name}:{self.ordinals[name]}" if session else None


def _pictures(payload: Json) -> int:
    """How many pictures came with a prompt, whether an item or an event tells of it."""
    parts = map(mapping_of, list_of(payload.get("content")))
    sent = sum(part.get("type") == "input_image" for part in parts)
    item = map(mapping_of, list_of(mapping_of(payload.get("item")).get("content")))
    shown = sum(text_of(part.get("type")) in SHOWN_PICTURES for part in item)
    return sent or shown or len(list_of(payload.get("images"))) + len(list_of(payload.get("local_images")))
