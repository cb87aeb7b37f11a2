"""Build the turns of an agent's session while its records are read.

A reader parses its own records, and adds prompts, answers, calls and results. Times, identity, the list of tools of an
answer, and the choice of results that are worth a row are the same for every agent.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TypeVar
from urllib.parse import unquote, urlparse

from pastchats_memory.formats.base import tools
from pastchats_memory.formats.base.checkpoint import RECENT, Checkpoint
from pastchats_memory.formats.base.dialect import COMMON, Dialect
from pastchats_memory.formats.base.plans import find_approved_plan, find_plan
from pastchats_memory.formats.base.source import Element, Record, SourceFile
from pastchats_memory.formats.base.turns import PendingTurn, TurnQueue
from pastchats_memory.formats.base.values import Json, list_of, mapping_of, objects_of, text_of
from pastchats_memory.model import Task, Turn, Unreadable
from pastchats_memory.text.clean import IMAGE
from pastchats_memory.text.timestamps import iso_utc, to_the_minute

Row = Turn | Task | Unreadable | Checkpoint
"""What a reader of sessions yields."""
LONGEST_PATH = 1000
NAMELESS = frozenset({"messages", "history", "chat", "conversation", "session", "log", "transcript", "events"})
"""Names of files, and keys of lists, that say what they hold rather than which session it is."""
Item = TypeVar("Item", bound=Record | Element)

_SEPARATOR = re.compile(r"[/\\]")


class BadRecord(ValueError):
    """A record that cannot be read; the message says why."""


@dataclass(slots=True)
class SessionInfo:
    """What is equal for all turns of a conversation; a reader may complete it while it reads."""

    conversation_id: str | None = None
    cwd: str | None = None
    project: str | None = None
    started: object = None
    """The session's start, in any form that `iso_utc` parses, then the time of the turn before: that of turns without their own."""
    metadata: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Position:
    """A record's line, time, id and branch."""

    line: int
    time: object = None
    """In any form that `iso_utc` parses."""
    native_id: str = ""
    branch: str = "main"
    aside: str = ""
    """The name of a subagent, whose turns are a conversation of their own."""
    end_line: int | None = None
    """The last line, if the record has several."""


class SessionBuilder:
    """Build the turns of one conversation in the order of its records."""

    def __init__(self, info: SessionInfo, dialect: Dialect = COMMON, *, unique_calls: bool = False) -> None:
        self.info = info
        self.dialect = dialect
        self.unique_calls = unique_calls
        """Whether a plan or a result has the id of its call alone, and not that of its record as well."""
        self.queue = TurnQueue(dialect)
        self.model = ""
        """The model of answers that do not name one."""
        self._calls: dict[str, tools.ToolCall] = {}
        self._is_open = False
        """Whether a chunk may extend the last turn."""

    def add_turn(self, role: str, kind: str, text: str, at: Position, **metadata: object) -> PendingTurn:
        """Add a turn of any role; it is dropped if it stays without text."""
        info, conversation = self.info, self.info.conversation_id
        if at.aside:
            metadata["parent_conversation_id"] = conversation
            conversation = f"{conversation}/{at.aside}"
        moment = iso_utc(at.time)
        info.started = to_the_minute(moment) or info.started
        common = {key: list(value) if isinstance(value, list) else value for key, value in info.metadata.items()}
        time = moment or to_the_minute(iso_utc(info.started))
        turn = PendingTurn(role, kind, at.line, [text], conversation, time, info.cwd, info.project)
        turn.native_id, turn.end_line, turn.metadata = at.native_id or None, at.end_line, common | metadata
        turn.branch = "sidechain" if at.aside else at.branch
        self.queue.add(turn)
        self._is_open = False
        return turn

    def add_prompt(self, text: str, at: Position, pictures: int = 0, *, kind: str = "prompt") -> None:
        """Add a prompt: typed by a person, or on a sidechain by another agent. Pictures alone become `[image]`."""
        role = "system" if at.aside or at.branch == "sidechain" else "user"
        if text.strip() or pictures:
            self.add_turn(role, kind, text.strip() or IMAGE, at, attachments=["image"] * pictures)

    def add_content(self, content: object, at: Position, pictures: tuple[str, ...] = ("image",)) -> None:
        """Add a prompt by the content of its message, with the blocks whose types are those of pictures."""
        self.add_prompt(texts_of(content), at, count_images(content, pictures))

    def add_typed(self, text: str, at: Position, pictures: int = 0) -> None:
        """Add a prompt or a command, unless the command only steers the client."""
        typed = self.dialect.parse_typed(text.strip())
        if typed.text or not text.strip():
            self.add_prompt(typed.text, at, pictures, kind="command" if typed.is_command else "prompt")

    def add_typed_command(self, command: str, output: tools.ToolResult, at: Position, tool: str = "bash") -> None:
        """Add a shell command that the person ran, with its output if that is worth a row."""
        self.add_prompt(f"! {command}", at, kind="command")
        self.add_call(at.native_id, tool, {"command": command})
        self.add_result(at.native_id, output, at)

    def add_answer(self, text: str, at: Position, model: str = "") -> None:
        """Add the visible text of an answer, if there is any."""
        if text.strip():
            self.add_turn("assistant", "answer", text, at, model=model or self.model)

    def repeats_answer(self, text: str) -> bool:
        """Return whether a text is that of the last answer, with nothing said since."""
        last = self.queue.last_message
        return last is not None and last.role == "assistant" and "".join(last.texts).strip() == text.strip()

    def add_chunk(self, role: str, text: str, at: Position, *, pictures: int = 0) -> None:
        """Add a chunk of a streamed turn, to the one before unless something came between. Pictures: `[image]`."""
        last = self.queue.last_message
        if self._is_open and last is not None and last.role == role:
            last.texts[-1] = text if text and last.texts[-1] == IMAGE else last.texts[-1] + text
        elif not text.strip() and not (pictures and role == "user"):
            return
        elif role == "user":
            self.add_turn("user", "prompt", text if text.strip() else IMAGE, at, attachments=["image"] * pictures)
        else:
            self.add_turn("assistant", "answer", text, at, model=self.model)
        self._is_open = True

    def end_chunk(self) -> None:
        """End the streamed turn."""
        self._is_open = False

    def add_call(self, call_id: str, name: str, arguments: object, at: Position | None = None) -> None:
        """Add a tool call, and the plan that it proposes.

        Its arguments are an object, an object as JSON text, or raw text. A plan without a position has that of the turn before.
        """
        call = tools.parse_call(name, arguments, self.dialect, self.info.cwd or "")
        self.end_chunk()
        self._calls[call_id] = call
        moment, line = (iso_utc(at.time), at.line) if at else (None, 0)
        self.queue.add_tool(call, moment)
        self.queue.add_todo_call(name, arguments, call_id, moment, line)
        self.add_plan(find_plan(name, arguments, self.dialect), at, call_id)

    def add_plan(self, text: str, at: Position | None = None, call_id: str = "") -> None:
        """Add a plan, unless it is empty or repeats an earlier one."""
        if not self.queue.is_new_plan(text):
            return
        latest = self.queue.latest
        if at is None:
            at = Position(latest.line, latest.timestamp, branch=latest.branch) if latest else Position(1)
        self.add_turn("assistant", "plan", text, replace(at, native_id=self._row_id(at, call_id)), model=self.model)

    def add_openai_call(self, call: Json) -> None:
        """Add a call in OpenAI's form. Name and arguments are in `function`, in older logs next to the id."""
        function = mapping_of(call.get("function")) or call
        self.add_call(text_of(call.get("id")), text_of(function.get("name")) or "tool", function.get("arguments"))

    @property
    def waiting(self) -> list[str]:
        """Return the ids of the calls without a result, oldest first."""
        return list(self._calls)

    def forget_calls(self) -> None:
        """Forget the calls without a result: none comes any more."""
        self._calls.clear()

    def awaits_result(self, call_id: str) -> bool:
        """Return whether a call has no result yet."""
        return call_id in self._calls

    def add_result(self, call_id: str, output: tools.ToolResult, at: Position, details: object = None) -> None:
        """Add a tool result: an error, a result of tests, builds or linters, or the person's answer becomes a row.

        `details` is the result as an object for the client, if there is one.
        """
        self.queue.todos.add_result(call_id, details, output.text)
        call = self._calls.pop(call_id, tools.UNKNOWN_CALL)
        approved = find_approved_plan(call.name, output.text, self.dialect)
        self.add_plan(approved, at, f"{call_id}:approved" if self.unique_calls else call_id)
        self.add_output(call, output, replace(at, native_id=self._row_id(at, call_id) or at.native_id))

    def add_output(self, call: tools.ToolCall, output: tools.ToolResult, at: Position) -> None:
        """Add the rows of a call and its result, if they are worth any."""
        for number, row in enumerate(self.queue.list_rows(call, output, iso_utc(at.time))):
            native_id = f"{at.native_id}:reason" if number and at.native_id else at.native_id
            self.add_turn(*row, replace(at, native_id=native_id))

    def _row_id(self, at: Position, call_id: str) -> str:
        if self.unique_calls:
            return call_id or at.native_id
        return f"{at.native_id}:{call_id}" if at.native_id and call_id else ""

    def flush(self) -> Iterator[Turn | Task]:
        """Yield the remaining turns and the tasks, at the end of the file."""
        yield from self.queue.flush()
        yield from self.queue.tasks()

    def snapshot(self) -> Json:
        """Return what a longer file needs of this one, as JSON."""
        calls = {call_id: tools.call_to_json(call) for call_id, call in list(self._calls.items())[-RECENT:]}
        own: Json = {"model": self.model, "calls": calls, "is_open": self._is_open}
        return own | {"info": asdict(self.info), "turns": self.queue.snapshot()}

    def restore(self, snapshot: Json) -> None:
        """Restore the snapshot of the shorter file."""
        self.info = SessionInfo(**mapping_of(snapshot.get("info")))  # type: ignore[arg-type] # as `snapshot` wrote it
        self.queue.restore(mapping_of(snapshot.get("turns")))
        self.model = text_of(snapshot.get("model"))
        self._is_open = snapshot.get("is_open") is True
        for call_id, call in mapping_of(snapshot.get("calls")).items():
            self._calls[call_id] = tools.call_from_json(call)


def session_name(path: Path) -> str:
    """Return a name for a session without an id: its file's or folder's. Documents of one name may lie in many folders."""
    if path.stem in NAMELESS and path.parent.name:
        return path.parent.name
    return path.stem if path.suffix == ".jsonl" else f"{path.parent.name}/{path.stem}"


def read_items(
    source: SourceFile,
    builder: SessionBuilder,
    items: Iterable[Item | Unreadable],
    add_item: Callable[[Item, int], None],
) -> Iterator[Row]:
    """Yield turns that no later item can change, and the items for which `add_item` raises BadRecord."""
    for position, item in enumerate(items):
        if isinstance(item, Unreadable):
            yield item
            continue
        try:
            add_item(item, position)
        except BadRecord as fault:
            yield Unreadable(str(source.path), item.line, str(fault))
        yield from builder.queue.pop_complete(position)


def texts_of(content: object) -> str:
    """Return the visible text of a message's content: a string, or the text blocks and documents of a list as paragraphs."""
    return "\n\n".join(text_blocks(content))


def text_blocks(content: object) -> list[str]:
    """Return the visible text blocks of a message's content, then its documents; a string is one block."""
    if isinstance(content, str):
        return [content]
    blocks = objects_of(content)
    texts = [text for block in blocks if block.get("type") == "text" and (text := text_of(block.get("text")))]
    return texts + documents_of(content)


def documents_of(content: object) -> list[str]:
    """Return each attached document with a title or words: `[document plan.pdf]`, and below it the words of a text."""
    blocks = (mapping_of(block) for block in list_of(content) if mapping_of(block).get("type") == "document")
    named = ((text_of(block.get("title")).strip(), mapping_of(block.get("source"))) for block in blocks)
    texts = ((f"[{f'document {title}'.strip()}]", title, _words_of(source)) for title, source in named)
    return [f"{head}\n{words}".strip() for head, title, words in texts if title or words]


def _words_of(source: Json) -> str:
    return text_of(source.get("data")) if source.get("type") == "text" else texts_of(source.get("content"))


def count_images(content: object, kinds: tuple[str, ...] = ("image",)) -> int:
    """Return how many blocks of a message's content are pictures."""
    return sum(mapping_of(block).get("type") in kinds for block in list_of(content))


def folder_of(value: object) -> str | None:
    """Return the path of a working directory or a `file://` address, or None."""
    text = text_of(value)
    if not text.startswith("file://"):
        return text or None
    path = unquote(urlparse(text).path)
    drive = path[:1] == "/" and path[2:3] == ":"
    return path[1:] if drive else path or None


def find_folder(path: str, is_wanted: Callable[[str], bool]) -> str | None:
    """Return the first folder along an absolute path, or the path itself, that is wanted; else None."""
    if len(path) > LONGEST_PATH or not (path.startswith("/") or path[1:2] == ":"):
        return None
    ends = [found.start() for found in _SEPARATOR.finditer(path) if found.start()]
    return next((path[:end] for end in (*ends, len(path)) if is_wanted(path[:end])), None)
