"""Where a subagent's own session begins, if its rollout starts with a copy of the parent's history.

The copy is written at once. The subagent's task may follow within milliseconds, so that times do not separate the two.
"""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Literal, NamedTuple

from pastchats_memory.formats.agents.codex import rollout
from pastchats_memory.formats.base.values import text_of
from pastchats_memory.text.timestamps import iso_utc

BURST = timedelta(seconds=1)
"""The longest pause within a replay, whose lines are milliseconds apart; a person takes longer."""
SPAWN = "spawn_agent"
"""The end of the name of the tool by which the parent started the subagent: its last call in the copy."""


def ends_burst(before: datetime | None, now: datetime | None, started: str | None) -> bool:
    """Return whether a pause before an entry ends a replay, which may keep the times of before the session `started`."""
    is_earlier = started is not None and now is not None and now < datetime.fromisoformat(started)
    return before is not None and now is not None and abs(now - before) > BURST and not is_earlier


class _Step(NamedTuple):
    position: int
    kind: Literal["prompt", "work", "spawn"]


class _Message(NamedTuple):
    position: int
    steps: int
    """How many steps come before it."""


class TaskFinder:
    """Find the first entry of a subagent after the parent's history, once every entry is added in file order."""

    def __init__(self) -> None:
        self.may_change = False
        """Whether later lines may show that the session begins elsewhere."""
        self._is_replay = False
        self._before: datetime | None = None
        self._copied: list[_Step] = []
        self._later: list[int] = []
        """Positions of possible prompts after the burst."""
        self._message: _Message | None = None
        """The last message from another agent in the burst; it may be several entries."""

    def add(self, entry: rollout.RolloutEntry, position: int, session: str | None, started: str | None) -> None:
        """Add the next entry; `session` is the subagent's own, `started` when it began."""
        named = text_of(entry.payload.get("id")) if entry.kind == rollout.META else ""
        stamp = iso_utc(entry.timestamp)
        now = datetime.fromisoformat(stamp) if stamp else self._before
        if named:
            self._is_replay = named != session
        elif self._is_replay and ends_burst(self._before, now, started):
            self._is_replay = False
        self._before = now
        is_prompt = rollout.sent_by_user(entry) or entry.kind == rollout.EVENT
        if not self._is_replay:
            self._later += [position] * is_prompt
        elif rollout.is_message_between_agents(entry):
            if self._message is None or self._message.steps != len(self._copied):
                self._message = _Message(position, len(self._copied))
        elif is_prompt:
            self._copied.append(_Step(position, "prompt"))
        elif entry.kind == rollout.ITEM and entry.payload.get("role") != "developer":
            name = text_of(entry.payload.get("name"))
            self._copied.append(_Step(position, "spawn" if name.endswith(SPAWN) else "work"))

    def own_start(self, prompts: Collection[int]) -> int | None:
        """Return the position of a subagent's first entry in the burst, or None, by the positions of prompts."""
        self.may_change = self._is_replay
        steps = [step for step in self._copied if step.kind != "prompt" or step.position in prompts]
        spawned = max((place for place, step in enumerate(steps) if step.kind == "spawn"), default=None)
        places = [place for place, step in enumerate(steps) if step.kind == "prompt"]
        if self._message is not None:
            return self._message.position
        if spawned is not None:
            return next((steps[place].position for place in places if place > spawned), None)
        if not steps:
            return None
        has_later = any(position in prompts for position in self._later)
        self.may_change |= not has_later
        if places and (not has_later or places[-1] == len(steps) - 1):
            return steps[places[-1]].position
        return None
