"""Turns that may still grow, in the order in which they began."""

from collections import Counter, deque
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace

from pastchats_memory.formats.base.checkpoint import digest
from pastchats_memory.formats.base.dialect import COMMON, Dialect
from pastchats_memory.formats.base.todo_lists import TodoLists
from pastchats_memory.formats.base.tools import ToolCall, ToolResult, has_failed, list_rows
from pastchats_memory.formats.base.values import Json, list_of, mapping_of, number_of, text_of
from pastchats_memory.model import RecordedCall, Task, Turn
from pastchats_memory.text.clean import clean
from pastchats_memory.text.shell import is_editor

MOST_TOOLS = 40
"""How many calls an answer lists: the last ones, which show how it ended. Nearly all answers have fewer."""
MOST_FAILED = 12
"""How many commands that failed are remembered until they succeed."""
RECENT_PLANS = 64
"""How many plans are remembered, since a client repeats them."""
RECENT_CALLS = 64
"""How many calls may wait for their results."""
MOST_TOKENS = 1 << 40
"""Tokens of one report that are believed."""
Tokens = Counter[str]
"""Number by kind: `input` that no cache held, `output`, input from the cache (`cache_read`) and into it (`cache_write`)."""
SPEAKING = ("user", "assistant")
SHARED = tuple(name for name in Turn._fields if name not in ("content", "metadata", "calls", "origin"))
"""Fields of a turn that a pending one has, too."""


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
    """The position of the last record that may add to it."""
    calls: list[RecordedCall] = field(default_factory=list)

    def turn(self) -> Turn | None:
        """Return the finished turn, or None without visible text."""
        content = clean("\n\n".join(text for text in self.texts if text.strip())).strip()
        if not content:
            return None
        metadata = {key: value for key, value in self.metadata.items() if value}
        shared = {name: getattr(self, name) for name in SHARED}
        return Turn(content=content, metadata=metadata, calls=tuple(self.calls), **shared)


class TurnQueue:
    """A queue that releases a turn when no later record can change it.

    The last turn of the user or the assistant waits for the next one: an interruption or tools may still follow. Tool rows
    after it wait with it.
    """

    def __init__(self, dialect: Dialect = COMMON) -> None:
        self._dialect = dialect
        self._queue: deque[PendingTurn] = deque()
        self.last_message: PendingTurn | None = None
        """The last turn of the user or the assistant."""
        self._tools: list[object] = []
        self._waiting_calls: list[RecordedCall] = []
        """Those in `_tools`, and earlier ones with the same labels."""
        self._called: deque[tuple[ToolCall, RecordedCall]] = deque(maxlen=RECENT_CALLS)
        self._usage: Json = {}
        """Tokens by model that wait for the next answer."""
        self._edits: dict[str, int] = {}
        """How many successful edits each label stands for."""
        self._failed: list[str] = []
        """Commands whose last run failed."""
        self.todos = TodoLists(dialect)
        """The todo lists of the conversation."""
        self._plans: deque[object] = deque(maxlen=RECENT_PLANS)
        """Digests of the plans in the queue and before it."""
        self.latest: PendingTurn | None = None
        """The last turn of any role."""

    def add(self, turn: PendingTurn) -> None:
        """Append a turn; the first answer takes the tools that were called before it.

        A turn without text takes no tools: it may stay empty, and they would be lost. A prompt without an answer keeps
        those that were called for it.
        """
        self._queue.append(turn)
        self.latest = turn
        if turn.role not in SPEAKING or not any(map(str.strip, turn.texts)):
            return
        if turn.role == "user":
            self._give_rest_to_prompt()
            self._usage = {} if self.last_message is not None else self._usage
        self.last_message = turn
        if turn.role == "assistant" and self._usage:
            turn.metadata["usage"], self._usage = self._usage, {}
        if turn.role == "assistant" and self._tools:
            turn.metadata["tools"], self._tools = self._tools, []
            turn.calls, self._waiting_calls = self._waiting_calls, []
        else:
            self._edits.clear()
        if turn.role == "user":
            self._tools, self._waiting_calls = [], []

    def _give_rest_to_prompt(self) -> None:
        """Give calls and tokens that no answer followed to the prompt before them."""
        if self._tools and self.last_message is not None and self.last_message.role == "user":
            self.last_message.metadata["tools"] = list(self._tools)
            self.last_message.calls = list(self._waiting_calls)
        if self._usage and self.last_message is not None:
            self.last_message.metadata["usage"] = self._usage

    def add_usage(self, model: str, tokens: Tokens) -> None:
        """Count tokens of a model with the answer before them; until the first answer they wait for it."""
        last, usage = self.last_message, self._usage
        if last is not None and last.role == "assistant":
            usage = mapping_of(last.metadata.setdefault("usage", {}))
        if tokens:
            usage[model] = dict(Counter(mapping_of(usage.get(model))) + tokens)

    def flag(self, name: str) -> None:
        """Add a flag to the last turn of the user or the assistant."""
        if self.last_message is not None:
            flags = list_of(self.last_message.metadata.setdefault("flags", []))
            if name not in flags:
                flags.append(name)

    def add_tool(self, call: ToolCall, began: str | None = None) -> None:
        """List a call with the answer before it; a repeated call moves to the end."""
        tools, calls, label = self._tools, self._waiting_calls, call.label
        if self.last_message is not None and self.last_message.role == "assistant":
            tools = list_of(self.last_message.metadata.setdefault("tools", []))
            calls = self.last_message.calls
        record = RecordedCall(label, call.command, call.edit, call.arguments, began)
        calls.append(record)
        self._called.append((call, record))
        if label in tools:
            tools.remove(label)
        tools.append(label)
        del tools[:-MOST_TOOLS]
        if is_editor(label.partition(" ")[0]):
            self._edits[label] = self._edits.get(label, 0) + 1

    def _remove_edit(self, call: ToolCall) -> None:
        """Remove a refused edit from the list, unless an equal one succeeded."""
        label = call.label
        if not self._edits.get(label):
            return
        self._edits[label] -= 1
        listed = list_of(self.last_message.metadata.get("tools")) if self.last_message is not None else []
        for tools in (listed, self._tools):
            if self._edits[label] == 0 and label in tools:
                tools.remove(label)

    def list_rows(self, call: ToolCall, output: ToolResult, ended: str | None = None) -> list[tuple[str, str, str]]:
        """Return role, kind and text of each row for a call and its result; none if it is not worth one.

        A command that failed before is worth a row when it succeeds. A refused edit leaves the answer's list.
        """
        failed = has_failed(call, output, self._dialect)
        is_refused = failed and is_editor(call.name)
        if is_refused:
            self._remove_edit(call)
        for record in (record for called, record in self._called if called is call):
            record.output, record.exit_code, record.has_failed, record.ended = (
                output.text,
                output.exit_code,
                failed,
                ended,
            )
            record.edit = None if is_refused else record.edit
        failed_before = not failed and call.command in self._failed
        if failed_before:
            self._failed.remove(call.command)
        elif failed and call.command and call.command not in self._failed:
            self._failed.append(call.command)
            del self._failed[:-MOST_FAILED]
        return list_rows(call, output, self._dialect, failed_before=failed_before)

    def add_todo_call(
        self, name: str, arguments: object, call_id: str = "", at: str | None = None, line: int = 0
    ) -> None:
        """Add a tool call that may be about a todo list. Time and line default to those of the turn before."""
        latest = self.latest
        if latest is not None and latest.conversation_id:
            at, line = at or latest.timestamp, line or latest.line
            self.todos.add_call(name, arguments, latest.conversation_id, at=at, line=line, call_id=call_id)

    def is_new_plan(self, text: str) -> bool:
        """Return whether a text is a plan that was not proposed before, and remember it."""
        name = digest(text)
        if not text or name in self._plans:
            return False
        self._plans.append(name)
        return True

    def pop_complete(self, position: int) -> Iterator[Turn]:
        """Yield the turns that no record after `position` can change."""
        while self._queue and self._queue[0] is not self.last_message and self._queue[0].until <= position:
            yield from self._pop()

    def flush(self) -> Iterator[Turn]:
        """Yield the remaining turns, at the end of the file."""
        self._give_rest_to_prompt()
        while self._queue:
            yield from self._pop()

    def tasks(self) -> Iterator[Task]:
        """Yield the tasks of the conversation's todo lists, at the end of the file."""
        if self.latest is not None:
            yield from self.todos.tasks(self.latest.cwd, self.latest.project)

    @property
    def answers(self) -> list[PendingTurn]:
        """Return the assistant's turns that may still grow."""
        return [turn for turn in self._queue if turn.role == "assistant"]

    def snapshot(self) -> Json:
        """Return the waiting turns, as JSON."""
        speaking = next((place for place, turn in enumerate(self._queue) if turn is self.last_message), None)
        latest = None if self.latest is None else asdict(replace(self.latest, texts=[], metadata={}, calls=[]))
        queue = [asdict(replace(turn, calls=[])) for turn in self._queue]
        return {
            "queue": queue, "speaking": speaking, "tools": self._tools, "edits": self._edits, "failed": self._failed, "latest": latest,
            "todos": self.todos.snapshot(), "plans": list(self._plans), "usage": self._usage,
        }  # fmt: skip

    def restore(self, snapshot: Json) -> None:
        """Restore the snapshot of the shorter file; positions start at zero again."""
        waiting = [PendingTurn(**{**mapping_of(turn), "until": 0}) for turn in list_of(snapshot.get("queue"))]  # type: ignore[arg-type] # as `snapshot` wrote them
        speaking = snapshot.get("speaking")
        self._queue.extend(waiting)
        self.last_message = waiting[speaking] if isinstance(speaking, int) else None
        self._tools = list_of(snapshot.get("tools"))
        self._edits = {label: number_of(uses) or 0 for label, uses in mapping_of(snapshot.get("edits")).items()}
        self._failed = [text_of(command) for command in list_of(snapshot.get("failed"))]
        self._usage = mapping_of(snapshot.get("usage"))
        latest = mapping_of(snapshot.get("latest"))
        self.latest = PendingTurn(**latest) if latest else None  # type: ignore[arg-type] # as `snapshot` wrote it
        self.todos.restore(mapping_of(snapshot.get("todos")))
        self._plans.extend(list_of(snapshot.get("plans")))

    def _pop(self) -> Iterator[Turn]:
        turn = self._queue.popleft().turn()
        if turn is not None:
            yield turn


def read_tokens(usage: Json, keys: Mapping[str, str]) -> Tokens:
    """Return the numbers of a report, by the API's name of each kind."""
    numbers = {kind: number_of(usage.get(key)) or 0 for kind, key in keys.items()}
    return Counter({kind: min(number, MOST_TOKENS) for kind, number in numbers.items() if number > 0})
