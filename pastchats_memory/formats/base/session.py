"""Turns of an agent's session, made while its records are read: words, calls of tools, and what those answered.

What every agent's record has in common once its reader has understood it. The reader says who spoke and where; times,
identity, tools noted with the answer they followed, and which results are worth a row, are the same for all.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from typing import TypeVar
from urllib.parse import unquote, urlparse

from pastchats_memory.formats.base.checkpoint import RECENT, Checkpoint
from pastchats_memory.formats.base.dialect import COMMON, Dialect
from pastchats_memory.formats.base.source import (
    Element,
    Json,
    Record,
    SourceFile,
    list_of,
    mapping_of,
    number_of,
    text_of,
)
from pastchats_memory.formats.base.todo_lists import TodoLists
from pastchats_memory.formats.base.tools import (
    UNKNOWN_CALL,
    ToolCall,
    ToolResult,
    call_from_json,
    call_to_json,
    has_failed,
    notable_result,
    parse_call,
)
from pastchats_memory.model import Task, Turn, Unreadable
from pastchats_memory.text.clean import IMAGE, clean
from pastchats_memory.text.shell import is_editor
from pastchats_memory.text.timestamps import iso_utc, to_the_minute

# Turns in the making, in the order in which they were begun: some grow over several lines, some learn later how they ended.

MOST_TOOLS = 12
"""Calls noted with an answer: the last ones, which tell how it went."""
SPEAKING = ("user", "assistant")


@dataclass(slots=True)
class PendingTurn:
    """A turn that may still grow."""

    role: str
    kind: str
    line: int
    texts: list[str]
    conversation_id: str | None = None
    timestamp: str | None = None
    cwd: str | None = None
    project: str | None = None
    native_id: str | None = None
    branch: str = "main"
    metadata: Json = field(default_factory=dict)
    end_line: int | None = None
    until: int = 0
    """Position of the last record that may add to it."""

    def turn(self) -> Turn | None:
        """What has become of it; None without visible text."""
        content = clean("\n\n".join(text for text in self.texts if text.strip())).strip()
        if not content:
            return None
        return Turn(
            role=self.role,
            kind=self.kind,
            content=content,
            line=self.line,
            end_line=self.end_line,
            conversation_id=self.conversation_id,
            timestamp=self.timestamp,
            cwd=self.cwd,
            project=self.project,
            native_id=self.native_id,
            branch=self.branch,
            metadata={key: value for key, value in self.metadata.items() if value},
        )


class TurnQueue:
    """A queue that lets a turn go when nothing can be added to it any more.

    The last turn of the person or the assistant waits for the next one, so that it can be told it was interrupted and
    which tools followed it; tool rows behind it wait with it.
    """

    def __init__(self, dialect: Dialect = COMMON) -> None:
        self._dialect = dialect
        self._queue: deque[PendingTurn] = deque()
        self._speaking: PendingTurn | None = None
        self._tools: list[object] = []
        self._edits: dict[str, int] = {}
        """How often an edit was made in the words in which it is noted last, and not refused."""
        self._failed: list[str] = []
        """Commands whose last run failed."""
        self._plans = TodoLists(dialect)
        self._latest: PendingTurn | None = None

    def add(self, draft: PendingTurn) -> None:
        """Put a turn at the end; tools that were called before any answer are given to the first one.

        A turn that says nothing may never do so: what is noted with it would be lost.
        """
        self._queue.append(draft)
        self._latest = draft
        if draft.role not in SPEAKING or not any(map(str.strip, draft.texts)):
            return
        self._speaking = draft
        if draft.role == "assistant" and self._tools:
            draft.metadata["tools"], self._tools = self._tools, []
        else:
            self._edits.clear()
        if draft.role == "user":
            self._tools = []

    def flag(self, name: str) -> None:
        """Say of the last spoken turn what became of it."""
        if self._speaking is not None:
            flags = list_of(self._speaking.metadata.setdefault("flags", []))
            if name not in flags:
                flags.append(name)

    def add_tool(self, label: str) -> None:
        """Note a call with the answer that it followed, one that was made again as the latest."""
        tools = self._tools
        if self._speaking is not None and self._speaking.role == "assistant":
            tools = list_of(self._speaking.metadata.setdefault("tools", []))
        if label in tools:
            tools.remove(label)
        tools.append(label)
        del tools[:-MOST_TOOLS]
        if is_editor(label.partition(" ")[0]):
            self._edits[label] = self._edits.get(label, 0) + 1

    def _take_back(self, label: str) -> None:
        """Of a call that came to nothing: it is noted no more, unless another one is noted in the same words.

        What is refused only after the next words stays with the answer before them, which may be read already.
        """
        if not self._edits.get(label):
            return
        self._edits[label] -= 1
        spoken = list_of(self._speaking.metadata.get("tools")) if self._speaking is not None else []
        for tools in (spoken, self._tools):
            if self._edits[label] == 0 and label in tools:
                tools.remove(label)

    def notable_result(self, call: ToolCall, output: ToolResult) -> tuple[str, str, str] | None:
        """Role, kind and text of the row to keep of a call and its answer, None for what is not worth one.

        A command that failed before is worth one when it succeeds. An edit that was refused is none that was made.
        """
        failed = has_failed(call, output, self._dialect)
        if failed and is_editor(call.label.partition(" ")[0]):
            self._take_back(call.label)
        mended = not failed and call.command in self._failed
        if mended:
            self._failed.remove(call.command)
        elif failed and call.command and call.command not in self._failed:
            self._failed.append(call.command)
            del self._failed[:-MOST_TOOLS]
        return notable_result(call, output, self._dialect, failed_before=mended)

    def add_plan(self, name: str, arguments: object, call_id: str = "", at: str | None = None, line: int = 0) -> None:
        """Take a tool call that may keep a list of what is to be done; its time and line are else those of the turn before."""
        said = self._latest
        if said is not None and said.conversation_id:
            self._plans.add_call(
                name, arguments, said.conversation_id, at=at or said.timestamp, line=line or said.line, call_id=call_id
            )

    def add_plan_result(self, call_id: str, told: object, text: str) -> None:
        """Take what such a call answered."""
        self._plans.add_result(call_id, told, text)

    def pop_complete(self, position: int) -> Iterator[Turn]:
        """The turns that no record after `position` can change."""
        while self._queue and self._queue[0] is not self._speaking and self._queue[0].until <= position:
            yield from self._first()

    def flush(self) -> Iterator[Turn]:
        """All that is left, at the end of the file."""
        while self._queue:
            yield from self._first()

    def tasks(self) -> Iterator[Task]:
        """What was planned in the conversation, at the end of the file."""
        if self._latest is not None:
            yield from self._plans.tasks(self._latest.cwd, self._latest.project)

    @property
    def last_spoken(self) -> PendingTurn | None:
        """The last turn of the person or the assistant."""
        return self._speaking

    @property
    def answers(self) -> list[PendingTurn]:
        """The assistant's turns that may still grow."""
        return [draft for draft in self._queue if draft.role == "assistant"]

    def snapshot(self) -> Json:
        """All that waits, as JSON."""
        speaking = next((place for place, draft in enumerate(self._queue) if draft is self._speaking), None)
        latest = None if self._latest is None else asdict(self._latest) | {"texts": [], "metadata": {}}
        queue = [asdict(draft) for draft in self._queue]
        return {
            "queue": queue, "speaking": speaking, "tools": self._tools, "edits": self._edits, "failed": self._failed, "latest": latest,
            "plans": self._plans.snapshot(),
        }  # fmt: skip

    def restore(self, state: Json) -> None:
        """Take up what `state` gave when the file was shorter; positions are counted anew from there."""
        waiting = [PendingTurn(**{**mapping_of(draft), "until": 0}) for draft in list_of(state.get("queue"))]  # type: ignore[arg-type] # as `state` wrote them
        speaking = state.get("speaking")
        self._queue.extend(waiting)
        self._speaking = waiting[speaking] if isinstance(speaking, int) else None
        self._tools = list_of(state.get("tools"))
        self._edits = {label: number_of(uses) or 0 for label, uses in mapping_of(state.get("edits")).items()}
        self._failed = [text_of(command) for command in list_of(state.get("failed"))]
        latest = mapping_of(state.get("latest"))
        self._latest = PendingTurn(**latest) if latest else None  # type: ignore[arg-type] # as `state` wrote it
        self._plans.restore(mapping_of(state.get("plans")))

    def _first(self) -> Iterator[Turn]:
        turn = self._queue.popleft().turn()
        if turn is not None:
            yield turn


Row = Turn | Task | Unreadable | Checkpoint
"""What reading a session gives."""
LONGEST_PATH = 1000
Item = TypeVar("Item", bound=Record | Element)

_SEPARATOR = re.compile(r"[/\\]")


@dataclass(slots=True)
class SessionInfo:
    """What holds for every turn of a conversation; a reader may learn of it while it reads."""

    conversation_id: str | None = None
    cwd: str | None = None
    project: str | None = None
    started: str | None = None
    """The time of turns that have none of their own, to the minute: the session's, then that of the turn before."""
    metadata: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Position:
    """Where a record stands and what it says of itself."""

    line: int
    time: object = None
    """In any spelling that `times.iso_utc` knows."""
    native_id: str = ""
    branch: str = "main"
    aside: str = ""
    """Who speaks beside the conversation, such as a subagent: what it says is a conversation of its own."""


class SessionBuilder:
    """The turns of one conversation, in the order in which the reader tells of them."""

    def __init__(self, about: SessionInfo, dialect: Dialect = COMMON) -> None:
        self.info = about
        self.dialect = dialect
        self.queue = TurnQueue(dialect)
        self.model = ""
        """The model that answers, where answers do not tell their own."""
        self._calls: dict[str, ToolCall] = {}
        self._is_open = False
        """Whether a piece may go on where the last turn ends."""

    def add_turn(self, role: str, kind: str, text: str, at: Position, **metadata: object) -> PendingTurn:
        """A turn, whoever said it; without text it comes to nothing unless something is added."""
        about, conversation = self.info, self.info.conversation_id
        if at.aside:
            metadata["parent_conversation_id"] = conversation
            conversation = f"{conversation}/{at.aside}"
        moment = iso_utc(at.time)
        about.started = to_the_minute(moment) or about.started
        draft = PendingTurn(
            role=role,
            kind=kind,
            line=at.line,
            texts=[text],
            conversation_id=conversation,
            timestamp=moment or about.started,
            cwd=about.cwd,
            project=about.project,
            native_id=at.native_id or None,
            branch="sidechain" if at.aside else at.branch,
            metadata=about.metadata | metadata,
        )
        self.queue.add(draft)
        self._is_open = False
        return draft

    def add_prompt(self, text: str, at: Position, pictures: int = 0, *, kind: str = "prompt") -> None:
        """What was typed, or on a sidechain what an agent wrote for another; pictures alone are said to be such."""
        role = "system" if at.aside or at.branch == "sidechain" else "user"
        if text.strip() or pictures:
            self.add_turn(role, kind, text.strip() or IMAGE, at, attachments=["image"] * pictures)

    def add_answer(self, text: str, at: Position, model: str = "") -> None:
        """What the assistant visibly said, if anything."""
        if text.strip():
            self.add_turn("assistant", "answer", text, at, model=model or self.model)

    def add_chunk(self, role: str, text: str, at: Position) -> None:
        """What the person typed or the assistant said, as it came: it goes on where the piece before it ended, unless anything came between."""
        spoken = self.queue.last_spoken
        if self._is_open and spoken is not None and spoken.role == role:
            spoken.texts[-1] += text
        elif not text.strip():
            return
        elif role == "user":
            self.add_turn("user", "prompt", text, at)
        else:
            self.add_turn("assistant", "answer", text, at, model=self.model)
        self._is_open = True

    def end_chunk(self) -> None:
        """Something came that is no piece."""
        self._is_open = False

    def add_call(self, call_id: str, name: str, arguments: object) -> None:
        """A tool was called; arguments are an object, JSON text of one, or raw text."""
        call = parse_call(name, arguments, self.dialect)
        self.end_chunk()
        self._calls[call_id] = call
        self.queue.add_tool(call.label)
        self.queue.add_plan(name, arguments, call_id)

    def add_openai_call(self, call: Json) -> None:
        """A call as OpenAI's models write it: what is called stands in `function`, in older logs beside the id."""
        function = mapping_of(call.get("function")) or call
        self.add_call(text_of(call.get("id")), text_of(function.get("name")) or "tool", function.get("arguments"))

    def awaits_result(self, call_id: str) -> bool:
        """Whether a call has not been answered yet."""
        return call_id in self._calls

    def add_result(self, call_id: str, output: ToolResult, at: Position) -> None:
        """What the tool answered: kept as a row when it is an error, the result of tests, a build or a linter, or a person's answer."""
        self.queue.add_plan_result(call_id, None, output.text)
        found = self.queue.notable_result(self._calls.pop(call_id, UNKNOWN_CALL), output)
        if found is not None:
            own = f"{at.native_id}:{call_id}" if at.native_id and call_id else at.native_id
            self.add_turn(*found, replace(at, native_id=own))

    def flush(self) -> Iterator[Turn | Task]:
        """What could still change as long as there was more to read."""
        yield from self.queue.flush()
        yield from self.queue.tasks()

    def snapshot(self) -> Json:
        """All that a longer file needs of this one, as JSON."""
        calls = {call_id: call_to_json(call) for call_id, call in list(self._calls.items())[-RECENT:]}
        return {
            "about": asdict(self.info),
            "drafts": self.queue.snapshot(),
            "model": self.model,
            "calls": calls,
            "is_open": self._is_open,
        }

    def restore(self, state: Json) -> None:
        """Take up what `state` gave when the file was shorter."""
        self.info = SessionInfo(**mapping_of(state.get("about")))  # type: ignore[arg-type] # as `state` wrote it
        self.queue.restore(mapping_of(state.get("drafts")))
        self.model = text_of(state.get("model"))
        self._is_open = state.get("is_open") is True
        for call_id, call in mapping_of(state.get("calls")).items():
            self._calls[call_id] = call_from_json(call)


def read_session(
    source: SourceFile, builder: SessionBuilder, take: Callable[[Record], str | None], kept: Json | None = None
) -> Iterator[Row]:
    """The turns of a session with a record a line, in file order, and where to go on when it has grown.

    Args:
        source: the file.
        telling: gets what was kept of it when the file was shorter.
        take: tells `telling` what a record says; gives the reason why it says nothing that can be read, else None.
        kept: what else the reader must know to go on, beside what `telling` keeps.

    """
    if source.resumed is not None:
        builder.restore(source.resumed.state)
    records = source.records()
    yield from read_items(source, builder, records, take)
    yield from records.checkpoint(builder.snapshot() | (kept or {}))
    yield from builder.flush()


def read_items(
    source: SourceFile, builder: SessionBuilder, items: Iterable[Item | Unreadable], take: Callable[[Item], str | None]
) -> Iterator[Row]:
    """The turns that no further item can change, as soon as that is known, and which items are none; `take` as `told` has it."""
    for position, item in enumerate(items):
        if isinstance(item, Unreadable):
            yield item
        elif fault := take(item):
            yield Unreadable(str(source.path), item.line, fault)
        yield from builder.queue.pop_complete(position)


def texts_of(content: object) -> str:
    """Visible text of a message's content: a string, or the text blocks of a list, a paragraph each."""
    if isinstance(content, str):
        return content
    blocks = (mapping_of(block) for block in list_of(content))
    return "\n\n".join(text for block in blocks if block.get("type") == "text" and (text := text_of(block.get("text"))))


def count_images(content: object, kinds: tuple[str, ...] = ("image",)) -> int:
    """How many pictures are among the blocks of a message's content."""
    return sum(mapping_of(block).get("type") in kinds for block in list_of(content))


def folder_of(value: object) -> str | None:
    """The path that a working directory or a `file://` address says, None for anything else."""
    text = text_of(value)
    if not text.startswith("file://"):
        return text or None
    path = unquote(urlparse(text).path)
    drive = path[:1] == "/" and path[2:3] == ":"
    return path[1:] if drive else path or None


def find_folder(path: str, is_wanted: Callable[[str], bool]) -> str | None:
    """The first of the folders down an absolute path, the whole of it being the last, that is the wanted one; None where none is."""
    if len(path) > LONGEST_PATH or not (path.startswith("/") or path[1:2] == ":"):
        return None
    ends = [found.start() for found in _SEPARATOR.finditer(path) if found.start()]
    return next((path[:end] for end in (*ends, len(path)) if is_wanted(path[:end])), None)
