"""First pass over a Claude Code transcript: what the first turn needs to know of the whole file.

It stores only hashes and numbers for each record, so that half a gigabyte of records fits into memory.
"""

from collections import OrderedDict
from dataclasses import dataclass

from pastchats_memory.formats.agents.claude_code import records
from pastchats_memory.formats.agents.claude_code.grown import Tail, key_of
from pastchats_memory.formats.agents.claude_code.local_commands import LocalCommands
from pastchats_memory.formats.agents.claude_code.queue import PromptQueue
from pastchats_memory.formats.base.checkpoint import CannotResume, digest
from pastchats_memory.formats.base.values import Json, list_of, mapping_of, text_of
from pastchats_memory.text.clean import clean
from pastchats_memory.text.groups import group_by_key
from pastchats_memory.text.timestamps import iso_utc
from pastchats_memory.text.truncate import keep_head

MESSAGE_SPREAD = 400
"""The most records between two lines of one API message; the same id further on is a copy (a resumed session)."""

TITLES = {
    "summary": ("summary", 0),
    "agent-name": ("agentName", 1),
    "ai-title": ("aiTitle", 2),
    "custom-title": ("customTitle", 3),
}
"""Record types with a title of the session: the key of the title, and its rank."""
TITLE_LENGTH = 120

_ROOT = 0
_NO_HUMAN = -1


@dataclass(frozen=True, slots=True)
class _Human:
    key: int
    after: int
    """The message that it answers, without links between them; _ROOT for none or for a copy."""
    before: int
    """The index of the prompt before it in the tree, or _NO_HUMAN."""


def answer_key(conversation: str | None, message_id: str | None) -> int:
    """Return the key of an answer; 0 for one without an id."""
    return key_of(f"{conversation or ''} {message_id}") if message_id else _ROOT


class FirstPass:
    """Facts about the whole file, once every record is added in file order."""

    def __init__(self, agent: str | None) -> None:
        """Start empty. `agent` is the subagent in the file's name, if there is one."""
        self.agent = agent
        self.session: str | None = None
        """The first session id in the file."""
        self.cwd: dict[str, str] = {}
        """The first working directory of every session."""
        self.internal: set[str] = set()
        """Conversations that the client held with itself."""
        self.own_start: dict[str | None, int] = {}
        """The position of the directive of each fork, below a copy of its parent's records."""
        self.is_teammate: bool | None = None
        """Whether another agent of a team began the session; None before its first user record."""
        self._titles: dict[str, tuple[int, str]] = {}
        self._until: dict[int, int] = {}  # last line of every API message of several lines
        self._recent: OrderedDict[int, int] = OrderedDict()  # first line of the messages begun lately
        self._merge_prompts: set[int] = set()
        self._attached: set[int] = set()
        self._originals: dict[int, str] = {}
        self._owner: dict[int, int] = {}  # human prompt at or above every record
        self._anchor: dict[int, int] = {}  # message above every record that is none
        self._humans: list[_Human] = []
        self._last = _ROOT
        self._rewound: list[range] = []  # indexes of the humans that a rewind removed
        self._old = 0  # humans that were told before what was added to the file
        self._old_words: set[object] = set()
        self.tail = Tail()
        self.queue = PromptQueue()
        self.local_commands = LocalCommands()

    def restore(self, state: Json) -> None:
        """Restore the snapshot of the shorter file."""
        self.tail = Tail(mapping_of(state.get("tail")))
        self.queue.restore(mapping_of(state.get("queue")))
        self.local_commands.restore(mapping_of(state.get("local_commands")))
        self.session = text_of(state.get("session")) or None
        is_teammate = state.get("is_teammate")
        self.is_teammate = is_teammate if isinstance(is_teammate, bool) else None
        self.cwd.update({key: text_of(path) for key, path in mapping_of(state.get("cwd")).items()})
        self.internal.update(map(text_of, list_of(state.get("errands"))))
        for key, title in mapping_of(state.get("titles")).items():
            rank, name = list_of(title)
            self._titles[key] = (int(str(rank)), text_of(name))
        self._recent.update(dict.fromkeys((int(str(key)) for key in self.tail.messages), -1))
        for uuid, parent, kind in self.tail.places:
            self._hang(uuid, self._anchor.get(parent, parent), self._owner.get(parent, _NO_HUMAN), kind)
        self._old = len(self._humans)
        self._old_words = set(self.tail.words)

    def state(self, abandoned: set[int]) -> Json:
        """Return what a longer file needs as JSON, with the keys of abandoned prompts."""
        return {
            "tail": self.tail.snapshot_json(abandoned),
            "queue": self.queue.snapshot(),
            "local_commands": self.local_commands.snapshot(),
            "session": self.session,
            "cwd": self.cwd,
            "is_teammate": self.is_teammate,
            "errands": sorted(self.internal),
            "titles": {key: list(title) for key, title in self._titles.items()},
        }

    def check_forks(self, state: Json) -> None:
        """Raise CannotResume if an earlier prompt was rewritten, or if the session has new facts."""
        forks = {is_human.after for is_human in self._humans[: self._old] if is_human.after != _ROOT}
        titles = {key: text_of(list_of(title)[-1]) for key, title in mapping_of(state.get("titles")).items()}
        if self.queue.changes_earlier or self.local_commands.changes_earlier:
            raise CannotResume("an appended record tells who wrote an earlier one")
        if self._rewound or self.own_start:
            raise CannotResume("earlier records were taken back, or are a copy")
        if any(is_human.after in forks for is_human in self._humans[self._old :]):
            raise CannotResume("a prompt was rewritten")
        if any(self.title(name) != titles.get(name or "", "") for name in {*titles, self.session}):
            raise CannotResume("the session has a new name")
        utterance = bool(list_of(mapping_of(state.get("tail")).get("places")))
        home = mapping_of(state.get("cwd")).get(self.session or "")
        if utterance and (self.session != state.get("session") or self.cwd.get(self.session or "") != home):
            raise CannotResume("where the session runs was not known before")

    def add(self, record: Json, position: int, line: int) -> None:
        """Add the next record of the file."""
        attached = record.get("type") != "user"
        for queued in self.queue.add(record, position, line):
            self.queue.changes_earlier |= digest(queued.utterance.text) in self._old_words
            self._add_words(queued.record, queued.utterance.text)
        utterance = records.parse_attachment(record) if attached else records.parse_user_record(record)
        if record.get("type") in records.ROLES and record.get("isSidechain") is not True:
            self.local_commands.add(record, utterance, position)
        if self.is_teammate is None and record.get("type") == "user":
            self.is_teammate = bool(records.parse_team_record(record))
        session = text_of(record.get("sessionId"))
        self.session = self.session or session or None
        if cwd := text_of(record.get("cwd")):
            self.cwd.setdefault(session or self.session or "", cwd)
        self._add_title(record)
        self._follow_rewind(record)
        self._add_message(self.answer_key(record), position)
        if not attached:
            conversation = self.conversation(record)
            if conversation is not None and records.is_internal_conversation(utterance, conversation):
                self.internal.add(conversation)
            if utterance.origin == "fork":
                self.own_start[conversation] = position
        if utterance.is_human:
            self._add_words(record, utterance.text)
        self._add_place(record, None if attached else utterance)

    def _add_words(self, record: Json, text: str) -> None:
        if record.get("type") == "user":
            self._merge_prompts.add(hash(text))
        elif record.get("type") == "attachment":
            self._attached.add(hash(text))
        self.tail.words.append(digest(text))
        self.tail.last_human = max(self.tail.last_human, iso_utc(record.get("timestamp")) or "")

    def conversation(self, record: Json) -> str | None:
        """Return the id of a record's conversation."""
        return records.conversation_of(record, self.session, self.agent)

    def title(self, conversation: str | None) -> str:
        """Return the title of a conversation, or `""`."""
        return self._titles.get(conversation or "", (0, ""))[1]

    def until(self, record: Json) -> int | None:
        """Return the position of the last of several lines of an API message, or None."""
        return self._until.get(self.answer_key(record))

    def grows_until(self, conversation: str | None, message_id: str | None) -> int:
        """Return the position of the last appended line of an answer that was read in part; 0 without any."""
        return self._until.get(answer_key(conversation, message_id), 0)

    def has_better_record(self, record: Json, text: str) -> bool:
        """Return whether a better record has the same text: the prompt's own, or an attachment for a queue entry."""
        attached = record.get("type") == "queue-operation" and hash(text) in self._attached
        return attached or hash(text) in self._merge_prompts

    def first_uuid(self, record: Json, text: str) -> str:
        """Return the first uuid of a prompt in the file: a resumed session copies prompts under new uuids."""
        uuid, time = text_of(record.get("uuid")), iso_utc(record.get("timestamp"))
        return self._originals.setdefault(hash((time, text)), uuid) if time and uuid else uuid

    def abandoned(self) -> set[int]:
        """Return keys of the uuids of abandoned prompts: retried, rewritten after an interruption, or taken back.

        Tool results and assistant lines below one parent are parallel calls, no fork. At a fork the sibling that leads
        to the last message of the file stays; if none does, the latest one stays.
        """
        snapshot: set[int] = set()
        index = self._owner.get(self._last, _NO_HUMAN)
        while index != _NO_HUMAN and index not in snapshot:
            snapshot.add(index)
            index = self._humans[index].before
        humans = enumerate(self._humans)
        siblings = group_by_key((is_human.after, index) for index, is_human in humans if is_human.after != _ROOT)
        abandoned: set[int] = set()
        for group in siblings.values():
            chosen = next((index for index in group if index in snapshot), group[-1])
            abandoned.update(self._humans[index].key for index in group if index != chosen)
        removed = (index for indexes in self._rewound for index in indexes if index not in snapshot)
        return abandoned.union(self._humans[index].key for index in removed)

    def _follow_rewind(self, record: Json) -> None:
        """Note the prompts that a rewind removed, also without a message after it."""
        if record.get("type") != "last-prompt" or record.get("rewound") is not True:
            return
        leaf = key_of(text_of(record.get("leafUuid")))
        if leaf in self._owner or leaf == _ROOT:
            self._rewound.append(range(self._owner.get(leaf, _NO_HUMAN) + 1, len(self._humans)))
            self._last = leaf

    def _add_title(self, record: Json) -> None:
        key, rank = TITLES.get(text_of(record.get("type")), ("", 0))
        title = keep_head(" ".join(clean(text_of(record.get(key))).split()), TITLE_LENGTH)
        session = text_of(record.get("sessionId"))
        if not session and key_of(text_of(record.get("leafUuid"))) in self._owner:
            # a summary names the session of its leaf, which is mostly another file's
            session = self.session or ""
        if title and session and rank >= self._titles.get(session, (0, ""))[0]:
            self._titles[session] = (rank, title)

    def _add_message(self, key: int, position: int) -> None:
        if key == _ROOT:
            return
        if not self.tail.messages or self.tail.messages[-1] != key:
            self.tail.messages.append(key)
        last = self._until.get(key, self._recent.get(key))
        if last is None:
            self._recent[key] = position
        elif position - last <= MESSAGE_SPREAD:
            self._until[key] = position
        while self._recent and position - next(iter(self._recent.values())) > MESSAGE_SPREAD:
            self._recent.popitem(last=False)

    def answer_key(self, record: Json) -> int:
        """Return the key of the answer that a record belongs to; 0 for none."""
        message_id = text_of(mapping_of(record.get("message")).get("id"))
        return answer_key(self.conversation(record), message_id) if record.get("type") == "assistant" else _ROOT

    def _add_place(self, record: Json, utterance: records.RecordedPrompt | None) -> None:
        """Add the record's place in the tree, where other records are only links between messages."""
        uuid, above = text_of(record.get("uuid")), records.parent_uuid(record)
        key, parent = key_of(uuid), key_of(above)
        original = utterance is None or not utterance.is_human or self.first_uuid(record, utterance.text) == uuid
        if not uuid or key in self._owner:
            return
        anchor = self._anchor.get(parent, parent)
        is_human = utterance is not None and utterance.is_human
        is_aside = record.get("isSidechain") is True
        is_empty = utterance is not None and utterance.origin in ("nobody", "output", "task", "unreadable")
        if record.get("type") not in records.ROLES or is_empty:
            kind = "link"
        else:
            kind = "human" if is_human else "aside" if is_aside else "message"
        self.tail.places.append((key, parent, kind))
        self._hang(key, anchor if original else _ROOT, self._owner.get(parent, _NO_HUMAN), kind)
        if record.get("type") in records.ROLES and not is_aside:
            self._last = key

    def _hang(self, key: int, anchor: int, owner: int, kind: str) -> None:
        if kind == "human":
            self._humans.append(_Human(key, anchor, owner))
            owner = len(self._humans) - 1
        self._owner[key] = owner
        if kind == "link":
            self._anchor[key] = anchor
