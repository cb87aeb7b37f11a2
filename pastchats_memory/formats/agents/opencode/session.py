"""One OpenCode conversation, wherever its records were kept, to turns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from pastchats_memory.formats.agents.opencode.dialect import DIALECT
from pastchats_memory.formats.base.source import Json, list_of, mapping_of, number_of, text_of
from pastchats_memory.formats.base.tags import REMINDERS, without_spans
from pastchats_memory.formats.base.tools import ToolResult, parse_call
from pastchats_memory.formats.base.turns import PendingTurn, TurnQueue
from pastchats_memory.model import Task, Turn
from pastchats_memory.text.clean import IMAGE
from pastchats_memory.text.timestamps import iso_utc

MESSAGE_PREFIX = "msg_"
UNTITLED = ("New session - ", "Child session - ")
ABORTED = "MessageAbortedError"


Lines = Callable[[Json], int]
"""The line on which a part stands."""


def first_line(_part: Json) -> int:
    """Of every part, where files have a record each or are a database."""
    return 1


@dataclass(frozen=True, slots=True)
class Message:
    """A message's own record and its parts in order."""

    info: Json
    parts: Sequence[Json]
    line_of: Lines = first_line


@dataclass(frozen=True, slots=True)
class Session:
    """A conversation's own record and what of its messages holds for all of them."""

    info: Json
    cwd: str | None = None
    todos: Sequence[Json] = ()
    """The list of what is to be done as it stood at last, where it is kept beside the messages."""

    def turns(self, messages: Iterable[Message]) -> Iterator[Turn | Task]:
        """What was said and what was planned.

        Args:
            messages: each as it comes, oldest first; none is kept longer than the next one needs it.

        """
        drafts = TurnQueue(DIALECT)
        for position, message in enumerate(messages):
            self._take(drafts, message)
            yield from drafts.pop_complete(position)
        if self.todos:
            drafts.add_plan("todowrite", {"todos": self.todos}, at=iso_utc(self.todos[-1].get("time_updated")))
        yield from drafts.flush()
        yield from drafts.tasks()

    def _take(self, drafts: TurnQueue, message: Message) -> None:
        """What a message says stands where its first words are, among its calls of tools."""
        tools = [part for part in message.parts if part.get("type") == "tool"]
        first = next((place for place, part in enumerate(message.parts) if part.get("type") == "text"), 0)
        before = sum(part.get("type") == "tool" for part in message.parts[:first])
        for part in tools[:before]:
            self._tool(drafts, message, part)
        self._said(drafts, message)
        for part in tools[before:]:
            self._tool(drafts, message, part)

    def _said(self, drafts: TurnQueue, message: Message) -> None:
        info, role = message.info, text_of(message.info.get("role"))
        if role not in ("user", "assistant"):
            return
        told = [part for part in message.parts if part.get("type") in ("text", "subtask", "file") and _is_visible(part)]
        texts = [(part, text) for part in told if (text := _text(part, role))]
        files = [name for part in told if (name := text_of(part.get("filename")))]
        pictures = any(text_of(part.get("mime")).startswith("image/") for part in told)
        draft = self._draft(message, role, "prompt" if role == "user" else "answer")
        draft.line = message.line_of(texts[0][0]) if texts else 1
        draft.texts = [text for _, text in texts] or [IMAGE] * pictures
        if any(part.get("command") for part in told):
            draft.kind = "command"
        if role == "assistant" and info.get("summary") is True:
            draft.role, draft.kind = "system", "summary"
        elif role == "user" and self.info.get("parentID"):
            draft.role = "system"
        draft.metadata |= {"attachments": files, "model": _model(info), "agent": info.get("agent") or info.get("mode")}
        if draft.texts:
            drafts.add(draft)
        if fault := text_of(mapping_of(info.get("error")).get("name")):
            drafts.flag("interrupted" if fault == ABORTED else "api_error")

    def _tool(self, drafts: TurnQueue, message: Message, part: Json) -> None:
        state = mapping_of(part.get("state"))
        call = parse_call(text_of(part.get("tool")) or "tool", state.get("input"))
        drafts.add_tool(call.label)
        begun = iso_utc(mapping_of(state.get("time")).get("start"))
        drafts.add_plan(text_of(part.get("tool")), state.get("input"), at=begun, line=message.line_of(part))
        code = number_of(mapping_of(state.get("metadata")).get("exit"))
        failed = state.get("status") == "error" or bool(code)
        text = text_of(state.get("error")) or text_of(state.get("output"))
        if found := drafts.notable_result(call, ToolResult(text, code, failed)):
            role, kind, words = found
            draft = self._draft(message, role, kind)
            draft.line, draft.texts = message.line_of(part), [words]
            draft.native_id = text_of(part.get("id")) or None
            draft.timestamp = iso_utc(mapping_of(state.get("time")).get("end")) or draft.timestamp
            drafts.add(draft)

    def _draft(self, message: Message, role: str, kind: str) -> PendingTurn:
        info, parent, title = message.info, text_of(self.info.get("parentID")), text_of(self.info.get("title"))
        undone = text_of(mapping_of(self.info.get("revert")).get("messageID"))
        own_id = text_of(info.get("id"))
        return PendingTurn(
            role=role,
            kind=kind,
            line=1,
            texts=[],
            conversation_id=text_of(self.info.get("id")) or text_of(info.get("sessionID")) or None,
            timestamp=iso_utc(mapping_of(info.get("time")).get("created")),
            cwd=self.cwd,
            native_id=own_id or None,
            branch="abandoned" if undone and own_id >= undone else "sidechain" if parent else "main",
            metadata={"title": "" if title.startswith(UNTITLED) else title, "parent_conversation_id": parent},
        )


def folder_of(info: Json) -> str:
    """The folder that a session says it is of."""
    return text_of(info.get("directory")) or text_of(mapping_of(info.get("location")).get("directory"))


def folder_told_in(infos: Iterable[Json]) -> str | None:
    """The first folder that an answer says it was given in."""
    told = (text_of(mapping_of(info.get("path")).get("cwd")) for info in infos)
    return next(filter(None, told), None)


def order_of(infos: Sequence[Json]) -> list[int]:
    """The places of the messages, oldest first.

    By id, which rises with time, where they have ids of OpenCode's making; answers behind the prompt that they answer.
    Where OpenCode 2's are among them, which have types, as they stand.
    """
    ids = [text_of(info.get("id")) for info in infos]
    places = list(range(len(ids)))
    if any("type" in info for info in infos) or not all(own_id.startswith(MESSAGE_PREFIX) for own_id in ids):
        return places
    asked = dict(zip(ids, ids, strict=True))
    return sorted(places, key=lambda place: (asked.get(text_of(infos[place].get("parentID")), ids[place]), ids[place]))


def _is_visible(part: Json) -> bool:
    """Files that were read and reminders that were sent are in the prompt as text of the program's own."""
    return part.get("synthetic") is not True and part.get("ignored") is not True


def _text(part: Json, role: str) -> str:
    text = text_of(part.get("prompt") if part.get("type") == "subtask" else part.get("text"))
    return without_spans(text, REMINDERS).strip() if role == "user" else text.strip()


def _model(info: Json) -> str:
    return text_of(info.get("modelID")) or text_of(mapping_of(info.get("model")).get("modelID"))


def is_session(value: object) -> bool:
    """Whether the object is a session as OpenCode writes it down."""
    fields = mapping_of(value)
    return text_of(fields.get("id")).startswith("ses_") and any(key in fields for key in ("directory", "projectID"))


def message_in(value: object, line_of: Lines = first_line) -> Message | None:
    """The message of an object with `info` and `parts`, None of anything else."""
    fields = mapping_of(value)
    if not isinstance(fields.get("info"), dict) or not isinstance(fields.get("parts"), list):
        return None
    parts = [part for part in list_of(fields.get("parts")) if isinstance(part, dict)]
    return Message(mapping_of(fields.get("info")), parts, line_of)
