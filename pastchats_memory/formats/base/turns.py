"""Turns that may still grow, in the order in which they began."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field

from pastchats_memory.formats.base.dialect import COMMON, Dialect
from pastchats_memory.formats.base.source import (
    Json,
    list_of,
    mapping_of,
    number_of,
    text_of,
)
from pastchats_memory.formats.base.todo_lists import TodoLists
from pastchats_memory.formats.base.tools import (
    ToolCall,
    ToolResult,
    has_failed,
    notable_result,
)
from pastchats_memory.model import Task, Turn
from pastchats_memory.text.clean import clean
from pastchats_memory.text.shell import is_editor

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
