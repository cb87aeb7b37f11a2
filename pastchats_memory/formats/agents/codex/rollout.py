"""One line of a Codex rollout in any of its three generations, brought to the shape of the latest."""

from __future__ import annotations

import re
from collections import Counter, deque
from dataclasses import dataclass

from pastchats_memory.formats.agents.codex.dialect import is_injected, strip_context
from pastchats_memory.formats.base.checkpoint import RECENT, CannotResume, digest
from pastchats_memory.formats.base.source import Json, list_of, mapping_of, text_of
from pastchats_memory.text.clean import IMAGE

LINE_TYPES = ("session_meta", "turn_context", "response_item", "event_msg", "compacted")
ITEM_TYPES = (
    "message", "reasoning", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output",
    "local_shell_call", "web_search_call",
)  # fmt: skip
TYPED, UNKNOWN = "user.", "unknown"
"""Kinds of parts: a person's begin so; of a word that Codex itself does not know nothing follows."""
AGENTS = ("subagent", "guardian_review")
"""Sources of a thread that no person began."""
META_KEYS = ("id", "session_id", "timestamp", "git", "source", "thread_source", "originator", "forked_from_id")
"""What a session's meta says of its turns."""
META, CONTEXT, EVENT, ITEM = "session_meta", "turn_context", "event_msg", "response_item"


@dataclass(frozen=True, slots=True)
class Entry:
    """What a line says, whichever generation wrote it."""

    kind: str
    """One of LINE_TYPES, or another word."""
    payload: Json
    timestamp: object = None

    @property
    def type(self) -> str:
        """The payload's own type; a bare `role` and `content` make a message."""
        bare = "message" if "role" in self.payload and "content" in self.payload else ""
        return text_of(self.payload.get("type")) or bare


def entry_of(value: object) -> Entry | str | None:
    """The entry; the reason why a line is none; or None for a line that has nothing to say."""
    if not isinstance(value, dict):
        return f"a {type(value).__name__} instead of a record"
    kind, payload, time = text_of(value.get("type")), value.get("payload"), value.get("timestamp")
    if isinstance(payload, dict):
        return Entry(kind, payload, time)
    if kind in LINE_TYPES:
        return f"{kind} without a payload object"
    if is_bare_meta(value):
        return Entry(META, value, time)
    if kind in ITEM_TYPES or (not kind and "role" in value and "content" in value):
        return Entry(ITEM, value, time)
    return None


def is_bare_meta(record: Json) -> bool:
    """Whether this is the first line of a rollout of mid 2025, which had no types yet."""
    return (
        "type" not in record
        and "id" in record
        and "timestamp" in record
        and ("instructions" in record or "git" in record)
    )


def parts_of(payload: Json) -> list[str]:
    """The texts of a message item, part by part."""
    content = payload.get("content")
    if isinstance(content, str):
        return [content]
    return [text for part in map(mapping_of, list_of(content)) if (text := text_of(part.get("text")))]


def typed_event(entry: Entry) -> str:
    """The words of an event that shows what a person sent, `[image]` for pictures alone, `""` for every other entry.

    Before version 0.145 that was `user_message`, then a completed item of the kind `UserMessage`.
    """
    payload, item = entry.payload, completed(entry)
    if item.get("type") == "UserMessage":
        parts = list(map(mapping_of, list_of(item.get("content"))))
        text = "".join(text_of(part.get("text")) for part in parts)
        pictures = any(part.get("type") != "text" for part in parts)
    elif entry.kind == EVENT and entry.type == "user_message" and payload.get("kind", "plain") in ("plain", None):
        text = text_of(payload.get("message"))
        pictures = bool(list_of(payload.get("images")) or list_of(payload.get("local_images")))
    else:
        return ""
    return text.strip() if bare(text) or not pictures else IMAGE


def completed(entry: Entry) -> Json:
    """The item that an event shows as completed; nothing for every other entry."""
    shown = entry.kind == EVENT and entry.type == "item_completed"
    return mapping_of(entry.payload.get("item")) if shown else {}


def shown_answer(entry: Entry) -> str:
    """The words of an event that shows an answer, which mostly is the echo of an item; `""` for every other entry."""
    item = completed(entry)
    if item.get("type") == "AgentMessage":
        return "".join(parts_of(item))
    shown = entry.kind == EVENT and entry.type == "agent_message"
    return text_of(entry.payload.get("message")) if shown else ""


def bare(text: str) -> str:
    """The words without the marks of pictures among them, which items and events put in different places."""
    return _PICTURE.sub("", text).strip()


def sent_by_user(entry: Entry) -> bool:
    """Whether the entry is a message item in the user's role, typed or injected."""
    return entry.kind == ITEM and entry.type == "message" and entry.payload.get("role") == "user"


def has_pictures(payload: Json) -> bool:
    """Whether a message item shows pictures beside its words."""
    return any(mapping_of(part).get("type") == "input_image" for part in list_of(payload.get("content")))


def human_parts(payload: Json) -> list[str]:
    """The parts of a user item that a person typed: by the kinds that newer versions note, else those that no wrapper marks as injected."""
    parts = parts_of(payload)
    kinds = kinds_of(payload)
    if kinds:
        parts = [part for part, kind in zip(parts, kinds, strict=True) if kind.startswith(TYPED)]
    return [text for part in parts if (text := strip_context(part)) and (kinds or not is_injected(part))]


def kinds_of(payload: Json) -> list[str]:
    """What each part with text is, such as `user.text` or `agents_md.instructions`; nothing where that is not noted of all."""
    noted = mapping_of(payload.get("internal_chat_message_metadata_passthrough")).get("content_item_kinds")
    kinds, parts = list(map(text_of, list_of(noted))), list(map(mapping_of, list_of(payload.get("content"))))
    if len(kinds) != len(parts) or UNKNOWN in kinds:
        return []
    return [kind for kind, part in zip(kinds, parts, strict=True) if text_of(part.get("text"))]


def subagent_of(meta: Json) -> tuple[bool, str]:
    """Whether a session was started by an agent, and the id of the session that did where it is told."""
    subagent = mapping_of(meta.get("source")).get("subagent")
    spawn = mapping_of(mapping_of(subagent).get("thread_spawn"))
    return bool(subagent) or meta.get("thread_source") in AGENTS, text_of(spawn.get("parent_thread_id"))


_PICTURE = re.compile(r"\[Image #\d{1,4}\]")


# The first pass over a Codex rollout: whose words the user items are, and what was taken back later.
#
# Every prompt stands twice in a rollout, as an item that the model was sent and as an event that the screen showed. Items
# hold the words, events tell that a person typed them; which belongs to which is known only from the whole.


@dataclass(frozen=True, slots=True)
class _Candidate:
    position: int
    event: bool
    digests: tuple[str, ...]
    human: bool
    """By its wrappers alone, or by the kinds of its parts."""
    certain: bool = False
    """The kinds of its parts are noted, so that no event has to tell."""


class Overview:
    """What the whole of a rollout says, once every entry was added in file order and `settle` was called."""

    def __init__(self, named: str | None, before: Json | None = None) -> None:
        """Begin with nothing, or with what `state` gave. `named` is the session after which the file is called."""
        self._before = before or {}
        self._named = named
        self.meta: Json = mapping_of(self._before.get("meta"))
        """The first session meta, with the keys that later ones of the same session add."""
        self.cwd = text_of(self._before.get("cwd"))
        """The first working directory."""
        self.parent = text_of(self._before.get("parent"))
        """The session that was resumed, forked or asked for this one."""
        self.answers = self._before.get("answers") is True
        """Assistant items exist, so that `agent_message` events are their echo."""
        self.human: set[int] = set()
        """Positions of the items and events that hold a person's words."""
        self.taken_back: list[tuple[int, int]] = []
        """First and last position of everything that was rolled back."""
        self._candidates: list[_Candidate] = []
        self._rollbacks: dict[int, int] = {}
        self._shown: Counter[str] = Counter()
        self._completed: Counter[str] = Counter()
        """The same, as completed items show it, beside or instead of the older events."""
        self._echoes = self._before.get("echoes") is True
        kept = {name: map(text_of, list_of(self._before.get(name))) for name in ("seen", "loose", "free")}
        self._seen = deque(kept["seen"], RECENT)
        """Digests of what was shown as typed."""
        self._loose = deque(kept["loose"], RECENT)
        """Of what stands in items and would be a prompt if an event showed it."""
        self._free = deque(kept["free"], RECENT)
        """Of prompts that stand in an event alone."""

    @property
    def session(self) -> str | None:
        """The id of the conversation."""
        return text_of(self.meta.get("id")) or text_of(self.meta.get("session_id")) or self._named

    def add(self, entry: Entry, position: int) -> None:
        """Take the next entry of the file."""
        if entry.kind == META:
            self._add_meta(entry.payload)
        if entry.kind in (META, CONTEXT):
            self.cwd = self.cwd or text_of(entry.payload.get("cwd"))
        self.answers = self.answers or (entry.kind == ITEM and entry.payload.get("role") == "assistant")
        self._echoes = self._echoes or bool(shown_answer(entry))
        typed = typed_event(entry)
        if typed:
            name = digest(bare(typed))
            (self._completed if completed(entry) else self._shown)[name] += 1
            self._candidates.append(_Candidate(position, event=True, digests=(name,), human=True))
        elif sent_by_user(entry):
            parts = parts_of(entry.payload)
            human = human_parts(entry.payload)
            pictures = [IMAGE] if not any(map(bare, human)) and has_pictures(entry.payload) else []
            digests = tuple(digest(bare(text)) for text in (*pictures, *parts, *_wholes(parts)))
            certain = bool(kinds_of(entry.payload))
            self._candidates.append(_Candidate(position, False, digests, bool(human or pictures), certain))
        turns = entry.payload.get("num_turns")
        if entry.kind == EVENT and entry.type == "thread_rolled_back" and isinstance(turns, int):
            self._rollbacks[position] = turns

    def settle(self) -> None:
        """Decide what only the whole can tell: pair items and events of the same words, then take back what was rolled back.

        An event without an item is a prompt of its own; without any event the wrappers decide.

        Raises:
            CannotResume: what was added to the file changes what was told before.
        """
        if self._before:
            self._refuse_what_reaches_back()
        waiting = self._shown | self._completed
        self._seen.extend(waiting)
        for candidate in self._candidates:
            if candidate.event:
                continue
            matched = next((digest for digest in candidate.digests if waiting[digest] > 0), None)
            if matched is not None:
                waiting[matched] -= 1
            told = candidate.certain or not self._seen
            if candidate.human if told else matched is not None:
                self.human.add(candidate.position)
            self._loose.extend(digest for digest in candidate.digests if digest != matched)
        for candidate in reversed(self._candidates):
            if candidate.event and waiting[candidate.digests[0]] > 0:
                waiting[candidate.digests[0]] -= 1
                self.human.add(candidate.position)
                self._free.append(candidate.digests[0])
        self._take_back()

    def snapshot(self) -> Json:
        """What must be known to go on when the file has grown, as JSON."""
        kept = {"seen": self._seen, "loose": self._loose, "free": self._free}
        return {
            "meta": {key: value for key, value in self.meta.items() if key in META_KEYS}, "cwd": self.cwd,
            "parent": self.parent, "answers": self.answers, "echoes": self._echoes, "named": self._about(),
        } | {name: list(digests) for name, digests in kept.items()}  # fmt: skip

    def _about(self) -> list[object]:
        """What every turn of the session is told with."""
        branch = text_of(mapping_of(self.meta.get("git")).get("branch"))
        told = (text_of(self.meta.get(key)) for key in ("timestamp", "originator"))
        return [self.session, self.cwd, self.parent, branch, subagent_of(self.meta)[0], *told]

    def _refuse_what_reaches_back(self) -> None:
        items = {digest for candidate in self._candidates if not candidate.event for digest in candidate.digests}
        if self._about() != self._before.get("named"):
            raise CannotResume("the session has a new name")
        if self.answers and self._before.get("echoes") is True and self._before.get("answers") is not True:
            raise CannotResume("what was told as answers were their echoes")
        shown = self._shown | self._completed
        if not shown.keys().isdisjoint(self._loose) or not {*items, *shown}.isdisjoint(self._free):
            raise CannotResume("an item and an event, or two events, of which one was told before, belong together")
        if shown and self._loose and not self._seen:
            raise CannotResume("prompts were told by their wrappers")

    def words(self, entry: Entry) -> list[str]:
        """The person's part of an entry whose position is in `human`: what was glued before it is left out."""
        if not sent_by_user(entry):
            return [typed_event(entry)]
        if not self._seen or kinds_of(entry.payload):
            return human_parts(entry.payload)
        parts = parts_of(entry.payload)
        typed = [part for part in parts if (words := bare(part)) and self._was_typed(digest(words))]
        return typed or ([] if has_pictures(entry.payload) else _wholes(parts)[:1])

    def _was_typed(self, name: str) -> bool:
        return name in self._shown or name in self._completed or name in self._seen

    def _add_meta(self, meta: Json) -> None:
        named = text_of(meta.get("id"))
        if not self.meta or self.session is None or named in ("", self.session):
            self.meta = {**meta, **{key: value for key, value in self.meta.items() if value}}
            base = text_of(mapping_of(meta.get("history_base")).get("thread_id"))
            self.parent = self.parent or text_of(meta.get("forked_from_id")) or subagent_of(meta)[1] or base
            self.parent = self.parent if self.parent != self.session else ""
        else:
            self.parent = self.parent or named

    def _take_back(self) -> None:
        standing: list[int] = []
        for position in sorted({*self.human, *self._rollbacks}):
            if position in self.human:
                standing.append(position)
                continue
            turns = max(0, self._rollbacks[position])
            if self._before and turns > len(standing):
                raise CannotResume("prompts that were told before were taken back")
            gone, standing = (
                standing[len(standing) - min(turns, len(standing)) :],
                standing[: max(0, len(standing) - turns)],
            )
            if gone:
                self.taken_back.append((gone[0], position))


def _wholes(parts: list[str]) -> list[str]:
    """A message of several parts as one text, in the ways in which an event may spell it."""
    return ["\n".join(parts), "".join(parts)] if len(parts) > 1 else []
