"""Build the turns of one OpenCode conversation from its records.

`opencode export --sanitize` writes a placeholder for each text, path and title. Nobody wrote these words.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from pastchats_memory.files.project import project_at
from pastchats_memory.formats.base.dialect import COMMON, read_dialect
from pastchats_memory.formats.base.plans import find_plan
from pastchats_memory.formats.base.session import Position, SessionBuilder, SessionInfo
from pastchats_memory.formats.base.tags import REMINDERS, without_spans
from pastchats_memory.formats.base.tools import ToolResult, parse_call
from pastchats_memory.formats.base.values import Json, list_of, mapping_of, number_of, text_of
from pastchats_memory.model import Task, Turn
from pastchats_memory.text.clean import IMAGE
from pastchats_memory.text.timestamps import iso_utc

DIALECT = COMMON | read_dialect(__file__)
MESSAGE_PREFIX = "msg_"
UNTITLED = ("New session - ", "Child session - ")
ABORTED = "MessageAbortedError"

_WORKTREE = re.compile(r"[/\\](?:opencode|kilo)[/\\]worktree[/\\]")
"""In the path of a worktree that the program made: below it stand the project's id and the name of the worktree."""
_PLACEHOLDER = re.compile(r"\[redacted:[a-z-]{1,40}:\w{1,80}\]")

Lines = Callable[[Json], int]
"""Return the line of a part."""


def first_line(_part: Json) -> int:
    """Return 1 for every part: files with one record each, or a database."""
    return 1


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """A message's record and its parts in order."""

    info: Json
    parts: Sequence[Json]
    line_of: Lines = first_line


@dataclass(frozen=True, slots=True)
class Session:
    """A conversation's record, and the facts of its messages that hold for all."""

    info: Json
    cwd: str | None = None
    todos: Sequence[Json] = ()
    """The final todo list, if a table has it."""

    def turns(self, messages: Iterable[StoredMessage]) -> Iterator[Turn | Task]:
        """Yield the turns and tasks of messages, oldest first. Memory holds only a few messages at a time."""
        builder = SessionBuilder(SessionInfo(), DIALECT, unique_calls=True)
        for position, message in enumerate(messages):
            self._add_message(builder, message)
            yield from builder.queue.pop_complete(position)
        if self.todos:
            changed = iso_utc(self.todos[-1].get("time_updated"))
            builder.queue.add_todo_call("todowrite", {"todos": self.todos}, at=changed)
        yield from builder.flush()

    def _add_message(self, builder: SessionBuilder, message: StoredMessage) -> None:
        """Add a message; its text is at its first words, among its tool calls."""
        tools = [part for part in message.parts if part.get("type") == "tool"]
        first = next((place for place, part in enumerate(message.parts) if part.get("type") == "text"), 0)
        before = sum(part.get("type") == "tool" for part in message.parts[:first])
        for part in tools[:before]:
            self._tool(builder, message, part)
        self._add_text(builder, message)
        for part in tools[before:]:
            self._tool(builder, message, part)

    def _add_text(self, builder: SessionBuilder, message: StoredMessage) -> None:
        info, role = message.info, text_of(message.info.get("role"))
        if role not in ("user", "assistant"):
            return
        data = [part for part in message.parts if part.get("type") in ("text", "subtask", "file") and _is_visible(part)]
        texts = [(part, text) for part in data if (text := _text(part, role))]
        files = [name for part in data if (name := text_of(part.get("filename")))]
        pictures = any(text_of(part.get("mime")).startswith("image/") for part in data)
        kind = "prompt" if role == "user" else "answer"
        if any(part.get("command") for part in data):
            kind = "command"
        semantics = mapping_of(info.get("semantics"))
        if (role == "assistant" and info.get("summary") is True) or semantics.get("kind") == "compact_summary":
            role, kind = "system", "summary"
        elif _is_hidden(info, semantics):
            return
        elif role == "user" and self.info.get("parentID"):
            role = "system"
        words = "\n\n".join(text for _, text in texts) or IMAGE * pictures
        if words:
            at = self._position(builder, message, texts[0][0] if texts else None)
            agent = info.get("agent") or info.get("mode")
            model = text_of(info.get("modelID")) or text_of(mapping_of(info.get("model")).get("modelID"))
            builder.add_turn(role, kind, words, at, attachments=files, model=model, agent=agent)
        if error := text_of(mapping_of(info.get("error")).get("name")):
            builder.queue.flag("interrupted" if error == ABORTED else "api_error")

    def _tool(self, builder: SessionBuilder, message: StoredMessage, part: Json) -> None:
        state, name = mapping_of(part.get("state")), text_of(part.get("tool"))
        time = mapping_of(state.get("time"))
        call = parse_call(name or "tool", state.get("input"), folder=builder.info.cwd or "")
        at = replace(self._position(builder, message, part), native_id=text_of(part.get("id")))
        builder.queue.add_tool(call, iso_utc(time.get("start")))
        builder.add_plan(find_plan(name, state.get("input"), DIALECT), at)
        builder.queue.add_todo_call(name, state.get("input"), at=iso_utc(time.get("start")), line=at.line)
        code = number_of(mapping_of(state.get("metadata")).get("exit"))
        failed = state.get("status") == "error" or bool(code)
        text = text_of(state.get("error")) or _written(state.get("output"))
        ended = replace(at, time=iso_utc(time.get("end")) or at.time)
        builder.add_output(call, ToolResult(text, code, failed), ended)

    def _position(self, builder: SessionBuilder, message: StoredMessage, part: Json | None) -> Position:
        """Return the position of a part, after setting the builder's `info` to the facts of its message."""
        info, parent, title = message.info, text_of(self.info.get("parentID")), _written(self.info.get("title"))
        undone = text_of(mapping_of(self.info.get("revert")).get("messageID"))
        own_id = text_of(info.get("id"))
        metadata: Json = {"title": "" if title.startswith(UNTITLED) else title, "parent_conversation_id": parent}
        session = text_of(self.info.get("id")) or text_of(info.get("sessionID")) or None
        main = text_of(self.info.get("worktree")).removesuffix("/")
        project = project_at(main) if main and _WORKTREE.search(self.cwd or "") else None
        builder.info = SessionInfo(session, self.cwd, project, metadata=metadata)
        branch = "abandoned" if undone and own_id >= undone else "sidechain" if parent else "main"
        line = 1 if part is None else message.line_of(part)
        return Position(line, mapping_of(info.get("time")).get("created"), own_id, branch)


def folder_of(info: Json) -> str:
    """Return a session's folder."""
    return _written(info.get("directory")) or _written(mapping_of(info.get("location")).get("directory"))


def folder_of_answers(infos: Iterable[Json]) -> str | None:
    """Return the first folder in an answer."""
    return next(filter(None, (_written(mapping_of(info.get("path")).get("cwd")) for info in infos)), None)


def order_of(infos: Sequence[Json]) -> list[int]:
    """Return the places of the messages, oldest first.

    The order is by OpenCode's ids, which rise with time; answers follow their prompt. Messages of OpenCode 2, which
    have types, and those of ZCode, which are numbered, keep their order.
    """
    ids = [text_of(info.get("id")) for info in infos]
    places = list(range(len(ids)))
    is_ordered = any("type" in info or "sequence" in info for info in infos)
    if is_ordered or not all(own_id.startswith(MESSAGE_PREFIX) for own_id in ids):
        return places
    prompts = dict(zip(ids, ids, strict=True))
    above = [prompts.get(text_of(info.get("parentID")), own_id) for info, own_id in zip(infos, ids, strict=True)]
    return sorted(places, key=lambda place: (above[place], ids[place]))


def _is_hidden(info: Json, semantics: Json) -> bool:
    """Return whether ZCode marks a message as its own: a notice for the model, or a user's message that nobody typed."""
    is_for_model = info.get("visibility") == "model-only" or semantics.get("transcriptVisibility") == "hidden"
    return is_for_model or (info.get("role") == "user" and semantics.get("origin", "real_user") != "real_user")


def _is_visible(part: Json) -> bool:
    """Return whether a part is visible: files and reminders are the program's text."""
    return part.get("synthetic") is not True and part.get("ignored") is not True


def _text(part: Json, role: str) -> str:
    text = _written(part.get("prompt") if part.get("type") == "subtask" else part.get("text"))
    return without_spans(text, REMINDERS).strip() if role == "user" else text.strip()


def _written(value: object) -> str:
    text = text_of(value)
    return "" if _PLACEHOLDER.fullmatch(text) else text


def is_session(value: object) -> bool:
    """Return whether an object is a session's record."""
    fields = mapping_of(value)
    return text_of(fields.get("id")).startswith("ses_") and any(key in fields for key in ("directory", "projectID"))


def parse_message(value: object, line_of: Lines = first_line) -> StoredMessage | None:
    """Return the message of an object with `info` and `parts`, or None."""
    fields = mapping_of(value)
    if not isinstance(fields.get("info"), dict) or not isinstance(fields.get("parts"), list):
        return None
    parts = [part for part in list_of(fields.get("parts")) if isinstance(part, dict)]
    return StoredMessage(mapping_of(fields.get("info")), parts, line_of)
