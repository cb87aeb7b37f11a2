"""The first pass over a Codex rollout: whose words the user items are, and what was taken back later.

Every prompt stands twice in a rollout, as an item that the model was sent and as an event that the screen showed. Items
hold the words, events tell that a person typed them; which belongs to which is known only from the whole.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from pastchats_memory.readers.codex_record import (
    CONTEXT,
    EVENT,
    ITEM,
    META,
    Entry,
    human_parts,
    parts_of,
    sent_by_user,
    subagent_of,
    typed_event,
)
from pastchats_memory.readers.fields import Json, text_of


@dataclass(frozen=True, slots=True)
class _Candidate:
    position: int
    event: bool
    digests: tuple[int, ...]
    human: bool
    """By its wrappers alone."""


class Overview:
    """What the whole of a rollout says, once every entry was added in file order and `settle` was called."""

    def __init__(self, named: str | None) -> None:
        """Begin with nothing. `named` is the session after which the file is called."""
        self._named = named
        self.meta: Json = {}
        """The first session meta, with the keys that later ones of the same session add."""
        self.cwd = ""
        """The first working directory."""
        self.parent = ""
        """The session that was resumed, forked or asked for this one."""
        self.answers = False
        """Assistant items exist, so that `agent_message` events are their echo."""
        self.human: set[int] = set()
        """Positions of the items and events that hold a person's words."""
        self.taken_back: list[tuple[int, int]] = []
        """First and last position of everything that was rolled back."""
        self._candidates: list[_Candidate] = []
        self._rollbacks: dict[int, int] = {}
        self._shown: Counter[int] = Counter()

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
        typed = typed_event(entry)
        if typed:
            self._shown[hash(typed)] += 1
            self._candidates.append(_Candidate(position, event=True, digests=(hash(typed),), human=True))
        elif sent_by_user(entry):
            parts = parts_of(entry.payload)
            digests = tuple(hash(text.strip()) for text in (*parts, *_wholes(parts)))
            human = bool(human_parts(entry.payload))
            self._candidates.append(_Candidate(position, event=False, digests=digests, human=human))
        turns = entry.payload.get("num_turns")
        if entry.kind == EVENT and entry.type == "thread_rolled_back" and isinstance(turns, int):
            self._rollbacks[position] = turns

    def settle(self) -> None:
        """Decide what only the whole can tell: pair items and events of the same words, then take back what was rolled back.

        An event without an item is a prompt of its own; without any event the wrappers decide.
        """
        waiting = self._shown.copy()
        for candidate in self._candidates:
            if candidate.event:
                continue
            matched = next((digest for digest in candidate.digests if waiting[digest] > 0), None)
            if matched is not None:
                waiting[matched] -= 1
            if matched is not None or (not self._shown and candidate.human):
                self.human.add(candidate.position)
        for candidate in reversed(self._candidates):
            if candidate.event and waiting[candidate.digests[0]] > 0:
                waiting[candidate.digests[0]] -= 1
                self.human.add(candidate.position)
        self._take_back()

    def words(self, entry: Entry) -> list[str]:
        """The person's part of an entry whose position is in `human`: what was glued before it is left out."""
        if not sent_by_user(entry):
            return [typed_event(entry)]
        if not self._shown:
            return human_parts(entry.payload)
        parts = parts_of(entry.payload)
        return [part for part in parts if hash(part.strip()) in self._shown] or _wholes(parts)[:1]

    def _add_meta(self, meta: Json) -> None:
        named = text_of(meta.get("id"))
        if not self.meta or self.session is None or named in ("", self.session):
            self.meta = {**meta, **{key: value for key, value in self.meta.items() if value}}
            self.parent = self.parent or text_of(meta.get("forked_from_id")) or subagent_of(meta)[1]
        else:
            self.parent = self.parent or named

    def _take_back(self) -> None:
        standing: list[int] = []
        for position in sorted({*self.human, *self._rollbacks}):
            if position in self.human:
                standing.append(position)
                continue
            turns = max(0, self._rollbacks[position])
            gone, standing = (
                standing[len(standing) - min(turns, len(standing)) :],
                standing[: max(0, len(standing) - turns)],
            )
            if gone:
                self.taken_back.append((gone[0], position))


def _wholes(parts: list[str]) -> list[str]:
    """A message of several parts as one text, in the ways in which an event may spell it."""
    return ["\n".join(parts), "".join(parts)] if len(parts) > 1 else []
