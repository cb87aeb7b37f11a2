"""The first pass over a Claude Code transcript: what must be known of the whole file before its first turn is told.

Only hashes and numbers are kept for a record, so that half a gigabyte of them fits into memory.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

from pastchats_memory.formats.agents.claude_code.grown import Tail
from pastchats_memory.formats.agents.claude_code.records import (
    SPOKEN,
    Said,
    conversation_of,
    is_errand,
    parent_of,
    said,
    typed_meanwhile,
)
from pastchats_memory.formats.base.checkpoint import CannotResume, digest
from pastchats_memory.formats.base.source import Json, list_of, mapping_of, text_of
from pastchats_memory.text.clean import clean
from pastchats_memory.text.timestamps import iso_utc
from pastchats_memory.text.truncate import keep_head

MESSAGE_SPREAD = 400
"""Records between two lines of one API message; the same id farther on is a copy of the history (a resumed session)."""

TITLES = {
    "summary": ("summary", 0),
    "agent-name": ("agentName", 1),
    "ai-title": ("aiTitle", 2),
    "custom-title": ("customTitle", 3),
}
"""Record types that name the session: the key of the name and its rank."""
TITLE_LENGTH = 120

_ROOT = 0
_NO_HUMAN = -1


@dataclass(frozen=True, slots=True)
class _Human:
    key: int
    after: int
    """The message that it answers, links between left out; _ROOT where there is none or for a copy."""
    before: int
    """Index of the human prompt above it, or _NO_HUMAN."""


class Overview:
    """What the whole of a file says, once every record was added in file order."""

    def __init__(self, agent: str | None) -> None:
        """Begin with nothing. `agent` is the one after which the file is called, if it is a subagent's."""
        self.agent = agent
        self.session: str | None = None
        """The first session id in the file."""
        self.cwd: dict[str, str] = {}
        """The first working directory of every session."""
        self.errands: set[str] = set()
        """Conversations that the client held with itself."""
        self._titles: dict[str, tuple[int, str]] = {}
        self._until: dict[int, int] = {}  # last line of every API message of several lines
        self._recent: OrderedDict[int, int] = OrderedDict()  # first line of the messages begun lately
        self._typed: set[int] = set()
        self._attached: set[int] = set()
        self._originals: dict[int, str] = {}
        self._owner: dict[int, int] = {}  # human prompt at or above every record
        self._anchor: dict[int, int] = {}  # message above every record that is none
        self._humans: list[_Human] = []
        self._last = _ROOT
        self._old = 0  # humans that were told before what was added to the file
        self.tail = Tail()

    def restore(self, state: Json) -> None:
        """Take up what `state` gave when the file was shorter."""
        self.tail = Tail(mapping_of(state.get("tail")))
        self.session = text_of(state.get("session")) or None
        self.cwd.update({key: text_of(path) for key, path in mapping_of(state.get("cwd")).items()})
        self.errands.update(map(text_of, list_of(state.get("errands"))))
        for key, title in mapping_of(state.get("titles")).items():
            rank, name = list_of(title)
            self._titles[key] = (int(str(rank)), text_of(name))
        for conversation, message_id in map(list_of, self.tail.messages):
            self._recent[hash((conversation, message_id))] = -1
        for uuid, above, kind in self.tail.places:
            parent = hash(above) if above else _ROOT
            self._hang(hash(uuid), self._anchor.get(parent, parent), self._owner.get(parent, _NO_HUMAN), text_of(kind))
        self._old = len(self._humans)

    def state(self, lost: set[int]) -> Json:
        """What must be known to go on when the file has grown, as JSON. `lost` are hashes of uuids that were given up."""
        return {
            "tail": self.tail.as_json(lost),
            "session": self.session,
            "cwd": self.cwd,
            "errands": sorted(self.errands),
            "titles": {key: list(title) for key, title in self._titles.items()},
        }

    def refuse_forks_back(self, state: Json) -> None:
        """Raises CannotResume where a prompt was rewritten that was told before, or more is known of the session than then."""
        forks = {human.after for human in self._humans[: self._old] if human.after != _ROOT}
        titles = {key: text_of(list_of(title)[-1]) for key, title in mapping_of(state.get("titles")).items()}
        if any(human.after in forks for human in self._humans[self._old :]):
            raise CannotResume("a prompt was rewritten")
        if any(self.title(name) != titles.get(name or "", "") for name in {*titles, self.session}):
            raise CannotResume("the session has a new name")
        told = bool(list_of(mapping_of(state.get("tail")).get("places")))
        home = mapping_of(state.get("cwd")).get(self.session or "")
        if told and (self.session != state.get("session") or self.cwd.get(self.session or "") != home):
            raise CannotResume("where the session runs was not known before")

    def add(self, record: Json, position: int) -> None:
        """Take the next record of the file."""
        attached = record.get("type") != "user"
        told = typed_meanwhile(record) if attached else said(record)
        self._add_session(record)
        self._add_title(record)
        self._add_message(self._message_key(record), position)
        if record.get("type") == "assistant":
            message_id = text_of(mapping_of(record.get("message")).get("id"))
            self.tail.messages.append([self.conversation(record), message_id])
        if not attached:
            conversation = self.conversation(record)
            if conversation is not None and is_errand(told, conversation):
                self.errands.add(conversation)
            if told.human:
                self._typed.add(hash(told.text))
        if told.human and record.get("type") == "attachment":
            self._attached.add(hash(told.text))
        if told.human:
            self.tail.words.append(digest(told.text))
            self.tail.last_human = max(self.tail.last_human, iso_utc(record.get("timestamp")) or "")
        self._add_place(record, None if attached else told)

    def conversation(self, record: Json) -> str | None:
        """The id of the conversation that a record belongs to."""
        return conversation_of(record, self.session, self.agent)

    def title(self, conversation: str | None) -> str:
        """The name of a conversation, or `""`."""
        return self._titles.get(conversation or "", (0, ""))[1]

    def until(self, record: Json) -> int | None:
        """Position of the last line of the API message that a record is a line of; None for a message of one line."""
        key = self._message_key(record)
        return None if key is None else self._until.get(key)

    def grows_until(self, conversation: str | None, message_id: str | None) -> int:
        """Position of the last of the added lines that belongs to an answer which was told in part; 0 without any."""
        return self._until.get(hash((conversation, message_id)), 0)

    def typed_elsewhere(self, record: Json, text: str) -> bool:
        """Whether a better record has the same words: one of the person's own, or for an entry of the queue an attachment."""
        attached = record.get("type") == "queue-operation" and hash(text) in self._attached
        return attached or hash(text) in self._typed

    def first_uuid(self, record: Json, text: str) -> str:
        """The uuid under which a human turn was first seen in the file: a resumed session copies it, time and all, with a new one."""
        uuid, time = text_of(record.get("uuid")), iso_utc(record.get("timestamp"))
        return self._originals.setdefault(hash((time, text)), uuid) if time and uuid else uuid

    def abandoned(self) -> set[int]:
        """Hashes of the uuids of human prompts that were given up for a sibling: retried or rewritten after an interruption.

        Tool results and assistant lines under one parent are parallel calls, no fork. At a fork the sibling that leads
        to the last message of the file stays, and if none does, the latest.
        """
        kept: set[int] = set()
        index = self._owner.get(self._last, _NO_HUMAN)
        while index != _NO_HUMAN and index not in kept:
            kept.add(index)
            index = self._humans[index].before
        siblings: dict[int, list[int]] = {}
        for index, human in enumerate(self._humans):
            if human.after != _ROOT:
                siblings.setdefault(human.after, []).append(index)
        lost: set[int] = set()
        for group in siblings.values():
            chosen = next((index for index in group if index in kept), group[-1])
            lost.update(self._humans[index].key for index in group if index != chosen)
        return lost

    def _add_session(self, record: Json) -> None:
        session = text_of(record.get("sessionId"))
        self.session = self.session or session or None
        if cwd := text_of(record.get("cwd")):
            self.cwd.setdefault(session or self.session or "", cwd)

    def _add_title(self, record: Json) -> None:
        key, rank = TITLES.get(text_of(record.get("type")), ("", 0))
        title = keep_head(" ".join(clean(text_of(record.get(key))).split()), TITLE_LENGTH)
        session = text_of(record.get("sessionId"))
        if not session and hash(text_of(record.get("leafUuid"))) in self._owner:
            # a summary names the session of its leaf, which is mostly another file's
            session = self.session or ""
        if title and session and rank >= self._titles.get(session, (0, ""))[0]:
            self._titles[session] = (rank, title)

    def _add_message(self, key: int | None, position: int) -> None:
        if key is None:
            return
        last = self._until.get(key, self._recent.get(key))
        if last is None:
            self._recent[key] = position
        elif position - last <= MESSAGE_SPREAD:
            self._until[key] = position
        while self._recent and position - next(iter(self._recent.values())) > MESSAGE_SPREAD:
            self._recent.popitem(last=False)

    def _message_key(self, record: Json) -> int | None:
        message_id = text_of(mapping_of(record.get("message")).get("id"))
        spoken = record.get("type") == "assistant" and message_id
        return hash((self.conversation(record), message_id)) if spoken else None

    def _add_place(self, record: Json, told: Said | None) -> None:
        """Where the record hangs in the tree, with all that is no message folded into links between messages."""
        uuid, above = text_of(record.get("uuid")), parent_of(record)
        key, parent = hash(uuid), hash(above) if above else _ROOT
        original = told is None or not told.human or self.first_uuid(record, told.text) == uuid
        if not uuid or key in self._owner:
            return
        anchor = self._anchor.get(parent, parent)
        human = told is not None and told.human
        if record.get("type") not in SPOKEN or (told is not None and told.voice in ("nobody", "output", "unreadable")):
            kind = "link"
        else:
            kind = "human" if human else "aside" if record.get("isSidechain") is True else "message"
        self.tail.places.append([uuid, above, kind])
        self._hang(key, anchor if original else _ROOT, self._owner.get(parent, _NO_HUMAN), kind)
        if record.get("type") in SPOKEN and record.get("isSidechain") is not True:
            self._last = key

    def _hang(self, key: int, anchor: int, owner: int, kind: str) -> None:
        if kind == "human":
            self._humans.append(_Human(key, anchor, owner))
            owner = len(self._humans) - 1
        self._owner[key] = owner
        if kind == "link":
            self._anchor[key] = anchor
