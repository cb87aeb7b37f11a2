"""First pass over a Codex rollout: which user items a person typed, and which turns were rolled back later.

A rollout has every prompt twice: as an item for the model, and as an event for the screen. Items have the text; events
show that a person typed it. Only the whole file shows which belong together.
"""

from collections import Counter, deque
from dataclasses import dataclass

from pastchats_memory.formats.agents.codex import rollout
from pastchats_memory.formats.agents.codex.replay import TaskFinder
from pastchats_memory.formats.base.checkpoint import RECENT, CannotResume, digest
from pastchats_memory.formats.base.values import Json, list_of, mapping_of, text_of
from pastchats_memory.text.clean import IMAGE
from pastchats_memory.text.timestamps import iso_utc


@dataclass(frozen=True, slots=True)
class _Candidate:
    position: int
    event: bool
    digests: tuple[str, ...]
    human: bool
    """Whether its wrappers alone, or the kinds of its parts, show that a person typed it."""
    certain: bool = False
    """Whether the kinds of its parts are known, so that no event is needed."""


class FirstPass:
    """Facts about the whole rollout, once every entry is added in file order and `settle` is called."""

    def __init__(self, named: str | None, before: Json | None = None) -> None:
        """Start empty, or with a snapshot. `named` is the session in the file's name."""
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
        self.calls = self._before.get("calls") is True
        """Items of tool calls exist, so that completed commands are their echo."""
        self.human: set[int] = set()
        """Positions of the items and events that hold a person's words."""
        self.rolled_back: list[tuple[int, int]] = []
        """First and last position of everything that was rolled back."""
        self.own_start: int | None = None
        """The position of a subagent's first entry, if its lines follow the parent's without a pause."""
        self._tasks = TaskFinder()
        self._candidates: list[_Candidate] = []
        self._rollbacks: dict[int, int] = {}
        self._shown: Counter[str] = Counter()
        self._completed: Counter[str] = Counter()
        """The same, as completed items show it, beside or instead of the older events."""
        self._echoes = self._before.get("echoes") is True
        snapshot = {name: map(text_of, list_of(self._before.get(name))) for name in ("seen", "loose", "free")}
        self._seen = deque(snapshot["seen"], RECENT)
        """Digests of what was shown as typed."""
        self._loose = deque(snapshot["loose"], RECENT)
        """Of what stands in items and would be a prompt if an event showed it."""
        self._free = deque(snapshot["free"], RECENT)
        """Of prompts that stand in an event alone."""

    @property
    def session(self) -> str | None:
        """Return the id of the conversation."""
        return text_of(self.meta.get("id")) or text_of(self.meta.get("session_id")) or self._named

    def add(self, entry: rollout.RolloutEntry, position: int) -> None:
        """Add the next entry of the file."""
        if entry.kind == rollout.META:
            self._add_meta(entry.payload)
        if entry.kind in (rollout.META, rollout.CONTEXT):
            self.cwd = self.cwd or text_of(entry.payload.get("cwd"))
        if rollout.subagent_of(self.meta)[0]:
            self._tasks.add(entry, position, self.session, iso_utc(self.meta.get("timestamp")))
        self.answers = self.answers or (entry.kind == rollout.ITEM and entry.payload.get("role") == "assistant")
        self.calls = self.calls or (entry.kind == rollout.ITEM and entry.type in rollout.CALL_TYPES)
        item, typed = rollout.completed_item(entry), rollout.prompt_of_event(entry)
        has_effect = item.get("type") in (rollout.COMMAND, rollout.FILE_CHANGE)
        self._echoes = self._echoes or has_effect or bool(rollout.answer_of_event(entry))
        if typed:
            name = digest(rollout.strip_pictures(typed))
            (self._completed if item else self._shown)[name] += 1
            self._candidates.append(_Candidate(position, event=True, digests=(name,), human=True))
        elif rollout.sent_by_user(entry):
            self.cwd = self.cwd or rollout.folder_of_context(entry.payload)
            parts = rollout.parts_of(entry.payload)
            human = rollout.human_parts(entry.payload)
            has_words = any(map(rollout.strip_pictures, human))
            pictures = [IMAGE] if not has_words and rollout.has_pictures(entry.payload) else []
            digests = tuple(digest(rollout.strip_pictures(text)) for text in (*pictures, *parts, *_wholes(parts)))
            certain = bool(rollout.kinds_of(entry.payload))
            self._candidates.append(_Candidate(position, False, digests, bool(human or pictures), certain))
        turns = entry.payload.get("num_turns")
        if entry.kind == rollout.EVENT and entry.type == "thread_rolled_back" and isinstance(turns, int):
            self._rollbacks[position] = turns

    def settle(self) -> None:
        """Pair items and events of equal text, and mark the turns that were rolled back.

        An event without an item is a prompt of its own; without any event the wrappers decide. Raises CannotResume if
        appended lines change earlier turns.
        """
        if self._before:
            self._check_appended_entries()
        waiting = self._shown | self._completed
        self._seen.extend(waiting)
        for candidate in self._candidates:
            if candidate.event:
                continue
            matched = next((digest for digest in candidate.digests if waiting[digest] > 0), None)
            if matched is not None:
                waiting[matched] -= 1
            prompt = candidate.certain or not self._seen
            if candidate.human if prompt else matched is not None:
                self.human.add(candidate.position)
            self._loose.extend(digest for digest in candidate.digests if digest != matched)
        for candidate in reversed(self._candidates):
            if candidate.event and waiting[candidate.digests[0]] > 0:
                waiting[candidate.digests[0]] -= 1
                self.human.add(candidate.position)
                self._free.append(candidate.digests[0])
        self.own_start = self._tasks.own_start(self.human)
        self._roll_back()

    def snapshot(self) -> Json:
        """Return what a longer file needs, as JSON."""
        snapshot = {"seen": self._seen, "loose": self._loose, "free": self._free}
        return {
            "meta": {key: value for key, value in self.meta.items() if key in rollout.META_KEYS}, "cwd": self.cwd,
            "may_change": self._tasks.may_change, "parent": self.parent, "answers": self.answers, "calls": self.calls, "echoes": self._echoes, "named": self._about(),
        } | {name: list(digests) for name, digests in snapshot.items()}  # fmt: skip

    def _about(self) -> list[object]:
        branch = text_of(mapping_of(self.meta.get("git")).get("branch"))
        prompt = (text_of(self.meta.get(key)) for key in ("timestamp", "originator"))
        return [self.session, self.cwd, self.parent, branch, rollout.subagent_of(self.meta)[0], *prompt]

    def _check_appended_entries(self) -> None:
        items = {digest for candidate in self._candidates if not candidate.event for digest in candidate.digests}
        if self._before.get("may_change") is True:
            raise CannotResume("where a subagent's own session begins was not known before")
        if self._about() != self._before.get("named"):
            raise CannotResume("the session has a new name")
        has_begun = any(getattr(self, known) and self._before.get(known) is not True for known in ("answers", "calls"))
        if has_begun and self._before.get("echoes") is True:
            raise CannotResume("what was told as answers were their echoes")
        shown = self._shown | self._completed
        if not shown.keys().isdisjoint(self._loose) or not {*items, *shown}.isdisjoint(self._free):
            raise CannotResume("an item and an event, or two events, of which one was told before, belong together")
        if shown and self._loose and not self._seen:
            raise CannotResume("prompts were told by their wrappers")

    def words(self, entry: rollout.RolloutEntry) -> list[str]:
        """Return the person's part of an entry whose position is in `human`, without text that was put before it."""
        if not rollout.sent_by_user(entry):
            return [rollout.prompt_of_event(entry)]
        if not self._seen or rollout.kinds_of(entry.payload):
            return rollout.human_parts(entry.payload)
        parts = rollout.parts_of(entry.payload)
        shown = {*self._shown, *self._completed, *self._seen}
        typed = [part for part in parts if (words := rollout.strip_pictures(part)) and digest(words) in shown]
        return typed or ([] if rollout.has_pictures(entry.payload) else _wholes(parts)[:1])

    def _add_meta(self, meta: Json) -> None:
        named = text_of(meta.get("id"))
        if not self.meta or self.session is None or named in ("", self.session):
            self.meta = {**meta, **{key: value for key, value in self.meta.items() if value}}
            base = text_of(mapping_of(meta.get("history_base")).get("thread_id"))
            self.parent = self.parent or text_of(meta.get("forked_from_id")) or rollout.subagent_of(meta)[1] or base
            self.parent = self.parent if self.parent != self.session else ""
        else:
            self.parent = self.parent or named

    def _roll_back(self) -> None:
        standing: list[int] = []
        for position in sorted({*self.human, *self._rollbacks}):
            if position in self.human:
                standing.append(position)
                continue
            turns = max(0, self._rollbacks[position])
            if self._before and turns > len(standing):
                raise CannotResume("prompts that were told before were taken back")
            remaining = max(0, len(standing) - turns)
            gone, standing = standing[remaining:], standing[:remaining]
            if gone:
                self.rolled_back.append((gone[0], position))


def _wholes(parts: list[str]) -> list[str]:
    """Return a message of several parts as one text, in each spelling that an event may have."""
    return ["\n".join(parts), "".join(parts)] if len(parts) > 1 else []
