"""First pass over a Codex rollout: which user items a person typed, and which turns were rolled back later.

A rollout has every prompt twice: as an item for the model, and as an event for the screen. Items have the text; events
show that a person typed it. Only the whole file shows which belong together.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass

from pastchats_memory.formats.agents.codex.rollout import (
    CONTEXT,
    EVENT,
    ITEM,
    META,
    META_KEYS,
    Entry,
    bare,
    completed,
    has_pictures,
    human_parts,
    kinds_of,
    parts_of,
    sent_by_user,
    shown_answer,
    subagent_of,
    typed_event,
)
from pastchats_memory.formats.base.checkpoint import RECENT, CannotResume, digest
from pastchats_memory.formats.base.source import Json, list_of, mapping_of, text_of
from pastchats_memory.text.clean import IMAGE


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
