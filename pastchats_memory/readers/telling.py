"""Turns of an agent's session, made while its records are read: words, calls of tools, and what those answered.

What every agent's record has in common once its reader has understood it. The reader says who spoke and where; times,
identity, tools noted with the answer they followed, and which results are worth a row, are the same for all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from typing import TypeVar
from urllib.parse import unquote, urlparse

from pastchats_memory.model import Task, Turn, Unreadable
from pastchats_memory.readers.drafts import Draft, Drafts
from pastchats_memory.readers.fields import Json, list_of, mapping_of, text_of
from pastchats_memory.readers.resume import RECENT, Checkpoint
from pastchats_memory.readers.source import Element, Record, Source
from pastchats_memory.readers.text import IMAGE
from pastchats_memory.readers.times import iso_utc, to_the_minute
from pastchats_memory.readers.traffic import NO_CALL, Call, Output, call_again, call_of, kept

Row = Turn | Task | Unreadable | Checkpoint
"""What reading a session gives."""
LONGEST_PATH = 1000
Item = TypeVar("Item", bound=Record | Element)

_SEPARATOR = re.compile(r"[/\\]")


@dataclass(slots=True)
class About:
    """What holds for every turn of a conversation; a reader may learn of it while it reads."""

    conversation_id: str | None = None
    cwd: str | None = None
    project: str | None = None
    started: str | None = None
    """The time of turns that have none of their own, to the minute: the session's, then that of the turn before."""
    metadata: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class At:
    """Where a record stands and what it says of itself."""

    line: int
    time: object = None
    """In any spelling that `times.iso_utc` knows."""
    native_id: str = ""
    branch: str = "main"
    aside: str = ""
    """Who speaks beside the conversation, such as a subagent: what it says is a conversation of its own."""


class Telling:
    """The turns of one conversation, in the order in which the reader tells of them."""

    def __init__(self, about: About) -> None:
        self.about = about
        self.drafts = Drafts()
        self.model = ""
        """The model that answers, where answers do not tell their own."""
        self._calls: dict[str, Call] = {}
        self._is_open = False
        """Whether a piece may go on where the last turn ends."""

    def say(self, role: str, kind: str, text: str, at: At, **metadata: object) -> Draft:
        """A turn, whoever said it; without text it comes to nothing unless something is added."""
        about, conversation = self.about, self.about.conversation_id
        if at.aside:
            metadata["parent_conversation_id"] = conversation
            conversation = f"{conversation}/{at.aside}"
        moment = iso_utc(at.time)
        about.started = to_the_minute(moment) or about.started
        draft = Draft(
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
        self.drafts.add(draft)
        self._is_open = False
        return draft

    def prompt(self, text: str, at: At, pictures: int = 0, *, kind: str = "prompt") -> None:
        """What was typed, or on a sidechain what an agent wrote for another; pictures alone are said to be such."""
        role = "system" if at.aside or at.branch == "sidechain" else "user"
        if text.strip() or pictures:
            self.say(role, kind, text.strip() or IMAGE, at, attachments=["image"] * pictures)

    def answer(self, text: str, at: At, model: str = "") -> None:
        """What the assistant visibly said, if anything."""
        if text.strip():
            self.say("assistant", "answer", text, at, model=model or self.model)

    def piece(self, role: str, text: str, at: At) -> None:
        """What the person typed or the assistant said, as it came: it goes on where the piece before it ended, unless anything came between."""
        spoken = self.drafts.speaking
        if self._is_open and spoken is not None and spoken.role == role:
            spoken.texts[-1] += text
        elif not text.strip():
            return
        elif role == "user":
            self.say("user", "prompt", text, at)
        else:
            self.say("assistant", "answer", text, at, model=self.model)
        self._is_open = True

    def pause(self) -> None:
        """Something came that is no piece."""
        self._is_open = False

    def call(self, call_id: str, name: str, arguments: object) -> None:
        """A tool was called; arguments are an object, JSON text of one, or raw text."""
        call = call_of(name, arguments)
        self.pause()
        self._calls[call_id] = call
        self.drafts.tool(call.label)
        self.drafts.plan(name, arguments, call_id)

    def requested(self, call: Json) -> None:
        """A call as OpenAI's models write it: what is called stands in `function`, in older logs beside the id."""
        function = mapping_of(call.get("function")) or call
        self.call(text_of(call.get("id")), text_of(function.get("name")) or "tool", function.get("arguments"))

    def awaits(self, call_id: str) -> bool:
        """Whether a call has not been answered yet."""
        return call_id in self._calls

    def result(self, call_id: str, output: Output, at: At) -> None:
        """What the tool answered: kept as a row when it is an error, the result of tests, a build or a linter, or a person's answer."""
        self.drafts.planned(call_id, None, output.text)
        found = self.drafts.finding(self._calls.pop(call_id, NO_CALL), output)
        if found is not None:
            own = f"{at.native_id}:{call_id}" if at.native_id and call_id else at.native_id
            self.say(*found, replace(at, native_id=own))

    def rest(self) -> Iterator[Turn | Task]:
        """What could still change as long as there was more to read."""
        yield from self.drafts.rest()
        yield from self.drafts.tasks()

    def state(self) -> Json:
        """All that a longer file needs of this one, as JSON."""
        calls = {call_id: kept(call) for call_id, call in list(self._calls.items())[-RECENT:]}
        return {
            "about": asdict(self.about),
            "drafts": self.drafts.state(),
            "model": self.model,
            "calls": calls,
            "is_open": self._is_open,
        }

    def go_on(self, state: Json) -> None:
        """Take up what `state` gave when the file was shorter."""
        self.about = About(**mapping_of(state.get("about")))  # type: ignore[arg-type] # as `state` wrote it
        self.drafts.go_on(mapping_of(state.get("drafts")))
        self.model = text_of(state.get("model"))
        self._is_open = state.get("is_open") is True
        for call_id, call in mapping_of(state.get("calls")).items():
            self._calls[call_id] = call_again(call)


def told(
    source: Source, telling: Telling, take: Callable[[Record], str | None], kept: Json | None = None
) -> Iterator[Row]:
    """The turns of a session with a record a line, in file order, and where to go on when it has grown.

    Args:
        source: the file.
        telling: gets what was kept of it when the file was shorter.
        take: tells `telling` what a record says; gives the reason why it says nothing that can be read, else None.
        kept: what else the reader must know to go on, beside what `telling` keeps.

    """
    if source.resumed is not None:
        telling.go_on(source.resumed.state)
    records = source.records()
    yield from taken(source, telling, records, take)
    yield from records.checkpoint(telling.state() | (kept or {}))
    yield from telling.rest()


def taken(
    source: Source, telling: Telling, items: Iterable[Item | Unreadable], take: Callable[[Item], str | None]
) -> Iterator[Row]:
    """The turns that no further item can change, as soon as that is known, and which items are none; `take` as `told` has it."""
    for position, item in enumerate(items):
        if isinstance(item, Unreadable):
            yield item
        elif fault := take(item):
            yield Unreadable(str(source.path), item.line, fault)
        yield from telling.drafts.ready(position)


def texts_of(content: object) -> str:
    """Visible text of a message's content: a string, or the text blocks of a list, a paragraph each."""
    if isinstance(content, str):
        return content
    blocks = (mapping_of(block) for block in list_of(content))
    return "\n\n".join(text for block in blocks if block.get("type") == "text" and (text := text_of(block.get("text"))))


def pictures_in(content: object, kinds: tuple[str, ...] = ("image",)) -> int:
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


def folder_on(path: str, is_wanted: Callable[[str], bool]) -> str | None:
    """The first of the folders down an absolute path, the whole of it being the last, that is the wanted one; None where none is."""
    if len(path) > LONGEST_PATH or not (path.startswith("/") or path[1:2] == ":"):
        return None
    ends = [found.start() for found in _SEPARATOR.finditer(path) if found.start()]
    return next((path[:end] for end in (*ends, len(path)) if is_wanted(path[:end])), None)
