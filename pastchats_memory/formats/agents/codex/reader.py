"""Codex rollouts: items have the text, events show who wrote it; replayed turns keep their first session's identity."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from hashlib import blake2b

from pastchats_memory.formats.agents.codex import dialect, rollout
from pastchats_memory.formats.agents.codex.first_pass import FirstPass
from pastchats_memory.formats.agents.codex.replay import ends_burst
from pastchats_memory.formats.base.session import BadRecord, Position, Row, SessionBuilder, SessionInfo, read_items
from pastchats_memory.formats.base.source import Places, Record, Records, SourceFile
from pastchats_memory.formats.base.tools import ToolCall, ToolResult, parse_call, parse_result
from pastchats_memory.formats.base.turns import PendingTurn, Tokens, read_tokens
from pastchats_memory.formats.base.values import Json, list_of, mapping_of, objects_of, text_of
from pastchats_memory.model import Unreadable
from pastchats_memory.redact import redact_by_rules
from pastchats_memory.text.clean import IMAGE
from pastchats_memory.text.timestamps import iso_utc

NAME = re.compile(r"(?<=-)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z")
"""The session in the name `rollout-<time>-<session>.jsonl`, for a file that lost its first line."""

MOST_TURNS = 20_000
"""How many texts a checkpoint counts."""

FLAGS = {"turn_aborted": "interrupted", "error": "api_error", "stream_error": "api_error"}
PLAN = "Plan"
"""The type of a completed item with a plan."""
SHOWN_PICTURES = ("image", "local_image")
TOKENS = {"input": "input_tokens", "output": "output_tokens", "cache_read": "cached_input_tokens"}


def matches(source: SourceFile) -> bool:
    """Return whether one of the first records is a rollout line of one of the three generations."""
    if source.shape == "json":
        document = mapping_of(source.outline)
        return isinstance(document.get("session"), dict) and isinstance(document.get("items"), list)
    return any(_is_rollout_line(record) for record in source.sample)


def _is_rollout_line(record: Json) -> bool:
    typed = isinstance(record.get("payload"), dict) and record.get("type") in rollout.LINE_TYPES
    return typed or record.get("record_type") == "state" or rollout.is_bare_meta(record)


def read(source: SourceFile) -> Iterator[Row]:
    """Yield the turns of the session in file order, and unreadable lines.

    The file is read twice: only the whole file shows which items a person typed, and what was rolled back. Of a file
    that has grown, only the appended lines are read twice.
    """
    named = NAME.search(source.path.stem)
    before = source.resumed.state if source.resumed else {}
    first_pass = FirstPass(named[0] if named else None, mapping_of(before.get("view")))
    for position, item in enumerate(_entries(source, source.records())):
        if isinstance(item, Record) and isinstance(item.value, rollout.RolloutEntry):
            first_pass.add(item.value, position)
    first_pass.settle()
    session = _SessionReader(first_pass)
    if before:
        session.restore(before)
    records = source.records()
    yield from read_items(source, session, _entries(source, records), session.add_item)
    if source.shape == "jsonl" and len(session.ordinals) <= MOST_TURNS:
        yield from records.checkpoint(session.snapshot())
    yield from session.flush()


def _entries(source: SourceFile, records: Records) -> Iterator[Record | Unreadable]:
    """Yield each line with its entry, or the reason why it has none."""
    if source.shape == "json":
        document, places = mapping_of(source.document), Places(source.text)
        yield Record(1, rollout.RolloutEntry(rollout.META, mapping_of(document.get("session"))))
        for item in list_of(document.get("items")):
            fields = mapping_of(item)
            line = places.line(next(iter(rollout.parts_of(fields)), ""))
            entry = rollout.RolloutEntry(rollout.ITEM, fields, fields.get("timestamp"))
            yield Record(line, entry if isinstance(item, dict) else rollout.parse_entry(item))
        return
    for item in records:
        yield Record(item.line, rollout.parse_entry(item.value)) if isinstance(item, Record) else item


class _SessionReader(SessionBuilder):
    """The second pass: every entry adds to the turns that are in the making."""

    def __init__(self, first_pass: FirstPass) -> None:
        super().__init__(SessionInfo(), dialect.DIALECT)
        self._first_pass = first_pass
        self._subagent = rollout.subagent_of(first_pass.meta)[0]
        self._model = self._cwd = ""
        self._total: Tokens = Counter()
        """Tokens of the session up to here."""
        self._script = ""
        """The id of the last call if it runs a script: completed commands are the script's."""
        self._has_shown = False
        """Completed commands showed what the script printed."""
        self.ordinals: Counter[str] = Counter()
        """How often the same was said in the session that said it first."""
        self._replayed = ""
        self._place = rollout.RolloutEntry("", {}), 1, 0
        """The current entry, its line and its position."""
        self._before: datetime | None = None

    def snapshot(self) -> Json:
        built = super().snapshot()
        return {
            "view": self._first_pass.snapshot(), "drafts": built["turns"], "calls": built["calls"], "ordinals": dict(self.ordinals),
            "model": self._model, "cwd": self._cwd, "replayed": self._replayed, "script": self._script, "has_shown": self._has_shown,
            "time": self._before.isoformat() if self._before else "", "total": self._total,
        }  # fmt: skip

    def restore(self, snapshot: Json) -> None:
        super().restore({"turns": snapshot.get("drafts"), "calls": snapshot.get("calls")})
        self.ordinals.update({name: int(str(count)) for name, count in mapping_of(snapshot.get("ordinals")).items()})
        self._model, self._cwd = text_of(snapshot.get("model")), text_of(snapshot.get("cwd"))
        self._replayed, time = text_of(snapshot.get("replayed")), text_of(snapshot.get("time"))
        self._script, self._has_shown = text_of(snapshot.get("script")), snapshot.get("has_shown") is True
        self._before = datetime.fromisoformat(time) if time else None
        self._total = Counter(mapping_of(snapshot.get("total")))

    def add_item(self, item: Record, position: int) -> None:
        if isinstance(item.value, str):
            raise BadRecord(item.value)
        if isinstance(item.value, rollout.RolloutEntry):
            self._add_entry(item.value, item.line, position)

    def _add_entry(self, entry: rollout.RolloutEntry, line: int, position: int) -> None:
        self._follow_replay(entry, position)
        self._place = entry, line, position
        if entry.kind == rollout.CONTEXT:
            self._model = text_of(entry.payload.get("model"))
            self._cwd = text_of(entry.payload.get("cwd"))
        elif self._subagent and rollout.is_message_between_agents(entry):
            self.add_turn("system", "prompt", rollout.text_between_agents(entry), self._position())
        elif position in self._first_pass.human:
            self._prompt(entry)
        elif entry.kind == rollout.ITEM:
            self._item(entry)
        elif entry.kind == "compacted":
            self._add_lost_messages(entry.payload)
            self.add_turn("system", "summary", text_of(entry.payload.get("message")), self._position())
        elif entry.kind == rollout.EVENT and entry.type in FLAGS:
            self.queue.flag(FLAGS[entry.type])
        elif entry.kind == rollout.EVENT and entry.type == "token_count":
            self._count_tokens(mapping_of(entry.payload.get("info")))
        elif rollout.completed_item(entry).get("type") in (PLAN, rollout.COMMAND, rollout.FILE_CHANGE):
            self._add_completed(rollout.completed_item(entry))
        elif not self._first_pass.answers and (words := rollout.answer_of_event(entry)):
            self.add_turn("assistant", "answer", words, self._position())

    def _count_tokens(self, info: Json) -> None:
        """Count what the session's total has grown by; many events repeat it, and a fork begins with its parent's."""
        total, last = (read_tokens(mapping_of(info.get(f"{which}_token_usage")), TOKENS) for which in ("total", "last"))
        if total:
            new = total - self._total if self._total and self._total <= total else last or total
            self._total = total
            uncached = new - Counter(input=new["cache_read"])  # the input has the cached one in it
            self.queue.add_usage(self._model, uncached)

    def _add_completed(self, item: Json) -> None:
        """Add a plan, the result of a script's command; in a session without items of tool calls also the calls."""
        if item.get("type") == PLAN:
            self.add_plan(text_of(item.get("text")).strip(), self._position())
        elif self._first_pass.calls and not self._script:
            return
        elif item.get("type") == rollout.FILE_CHANGE:
            for path, change in mapping_of(item.get("changes")).items():
                self._add_shown(parse_call("apply_patch", {"file_path": path, "change": change}, dialect.DIALECT))
        else:
            call = parse_call("shell", {"command": item.get("command")}, dialect.DIALECT)
            self._add_shown(call)
            self._has_shown = True
            printed = text_of(item.get("aggregated_output")) or text_of(item.get("stdout"))
            code = item.get("exit_code")
            failed = item.get("status") == "failed" or bool(code)
            result = ToolResult(printed, code if isinstance(code, int) else None, failed=failed)
            self.add_output(call, result, self._position())

    def _add_shown(self, call: ToolCall) -> None:
        """Add a call that only an event shows; the source of a script shows its own."""
        if not self._script:
            self.queue.add_tool(call)

    def _follow_replay(self, entry: rollout.RolloutEntry, position: int) -> None:
        """Follow a replay: from the other session's meta to the end of the burst, or to a subagent's own task."""
        own_from = self._first_pass.meta.get(rollout.OWN_FROM)
        if isinstance(own_from, int) and isinstance(entry.ordinal, int):
            self._replayed = self._first_pass.parent if entry.ordinal < own_from else ""
            return
        named = text_of(entry.payload.get("id")) if entry.kind == rollout.META else ""
        stamp = iso_utc(entry.timestamp)
        now = datetime.fromisoformat(stamp) if stamp else self._before
        if named:
            self._replayed = named if named != self._first_pass.session else ""
        elif self._replayed and ends_burst(self._before, now, iso_utc(self._first_pass.meta.get("timestamp"))):
            self._replayed = ""
        if position == self._first_pass.own_start:
            self._replayed = ""
        self._before = now

    def _prompt(self, entry: rollout.RolloutEntry) -> None:
        parts = self._first_pass.words(entry)
        text = "\n\n".join(words for part in parts if (words := dialect.strip_context(part)))
        delegated = self._subagent and not self._replayed
        pictures = _pictures(entry.payload)
        text = text or (IMAGE if pictures else "")
        if dialect.is_automated(text):
            return
        sent = [*rollout.parts_of(entry.payload), rollout.prompt_of_event(entry)]
        kind = "answer" if any(dialect.REPLY in part for part in sent) else "prompt"
        turn = self.add_turn("system" if delegated else "user", kind, text, self._position())
        files = [name for part in parts for name in dialect.find_files(part)]
        turn.metadata["attachments"] = files + ["image"] * pictures
        if text_of(self._first_pass.meta.get("originator")) == "codex_exec":
            list_of(turn.metadata["flags"]).append("non_interactive")

    def _add_lost_messages(self, payload: Json) -> None:
        """Add the messages that a compaction keeps and that stand nowhere before it; most of them repeat earlier ones."""
        summary = text_of(payload.get("message")).strip()
        sessions = {self._replayed, self._first_pass.session, self._first_pass.parent}
        for message in objects_of(payload.get("replacement_history")):
            role = text_of(message.get("role"))
            parts = rollout.human_parts(message) if role == "user" else rollout.parts_of(message)
            text = "\n\n".join(filter(None, map(dialect.strip_context, parts)))
            is_made = rollout.CUT in text or text.startswith(rollout.HANDOVER)
            is_other = is_made or text == summary or dialect.is_automated(text)
            kind = {"user": "prompt", "assistant": "answer"}.get(role)
            if role == "user" and self._subagent and not self._replayed:
                role = "system"
            is_known = any(f"{session}:{_digest(role, text)}" in self.ordinals for session in sessions)
            if kind and not is_other and not is_known:
                self.add_turn(role, kind, text, self._position())

    def _item(self, entry: rollout.RolloutEntry) -> None:
        payload, call_id = entry.payload, text_of(entry.payload.get("call_id"))
        match entry.type:
            case "message" if payload.get("role") == "user":
                self._shell(entry)
            case "message" if payload.get("role") == "assistant":
                words, plan = dialect.split_plan("\n\n".join(rollout.parts_of(payload)))
                turn = self.add_turn("assistant", "answer", words, self._position())
                turn.metadata |= {"model": self._model, "phase": text_of(payload.get("phase"))}
                self.add_plan(plan, self._position())
            case "function_call" | "custom_tool_call":
                name, arguments = text_of(payload.get("name")), payload.get("arguments") or payload.get("input")
                inner = list(dialect.find_calls(text_of(arguments))) if name == dialect.SCRIPT else []
                self._script, self._has_shown = call_id if inner else "", False
                for called, given in inner or [(name, arguments)]:
                    self.add_call(call_id, called, given, self._position())
            case "local_shell_call":
                self.add_call(call_id, "shell", payload.get("action"), self._position())
            case "custom_tool_call_output" if call_id == self._script and self._has_shown:
                self._calls.pop(call_id, None)
            case "function_call_output" | "custom_tool_call_output":
                self.add_result(call_id, parse_result(payload.get("output"), dialect.DIALECT), self._position())

    def _shell(self, entry: rollout.RolloutEntry) -> None:
        """Add a shell command of the person, and its output if it is worth a row; skip context."""
        command, printed = dialect.parse_shell("".join(rollout.parts_of(entry.payload)))
        if command:
            self.add_turn("user", "command", f"! {command}", self._position())
            output = parse_result(printed, dialect.DIALECT)
            self.add_output(parse_call("shell", {"command": command}), output, self._position())

    def _position(self) -> Position:
        """Return the position of the current entry, after setting `info` to its facts."""
        first_pass, (entry, line, position) = self._first_pass, self._place
        stamp = iso_utc(entry.timestamp)
        started = None if stamp else iso_utc(first_pass.meta.get("timestamp"))
        branch = text_of(mapping_of(first_pass.meta.get("git")).get("branch"))
        metadata: Json = {"git_branch": branch, "cwd": self._cwd if self._cwd != first_pass.cwd else ""}
        metadata |= {"parent_conversation_id": self._replayed or first_pass.parent}
        metadata |= {"flags": ["replayed"] if self._replayed else [], "ts_source": "session" if started else ""}
        self.info = SessionInfo(first_pass.session, first_pass.cwd or None, metadata=metadata)
        is_rolled_back = any(first <= position <= last for first, last in first_pass.rolled_back)
        delegated = self._subagent and not self._replayed
        branch = "sidechain" if delegated else "abandoned" if is_rolled_back else "main"
        return Position(line, stamp or started, branch=branch)

    def add_turn(self, role: str, kind: str, text: str, at: Position, **metadata: object) -> PendingTurn:
        """Add a turn that is identified by its text, since Codex gives messages no id that copies keep."""
        native_id = self._identity(role, text) if text.strip() else ""
        return super().add_turn(role, kind, text, replace(at, native_id=native_id), **metadata)

    def _identity(self, role: str, text: str) -> str:
        """Return an id: the turn's number among equal turns of the session that it first belonged to.

        A replay has new times, so they do not identify a replayed turn with its original. A replay is a prefix of the
        older session. Counting equal turns gives each its number there, whether or not that file still exists.
        """
        session = self._replayed or self._first_pass.session
        name = f"{session}:{_digest(role, text)}"
        self.ordinals[name] += 1
        return f"{name}:{self.ordinals[name]}" if session else ""


def _digest(role: str, text: str) -> str:
    return blake2b(f"{role}\n{redact_by_rules(text)}".encode("utf-8", "replace"), digest_size=8).hexdigest()


def _pictures(payload: Json) -> int:
    """Return how many pictures a prompt has, as an item or as an event."""
    sent = sum(part.get("type") == "input_image" for part in objects_of(payload.get("content")))
    item = objects_of(mapping_of(payload.get("item")).get("content"))
    shown = sum(text_of(part.get("type")) in SHOWN_PICTURES for part in item)
    return sent or shown or len(list_of(payload.get("images"))) + len(list_of(payload.get("local_images")))
