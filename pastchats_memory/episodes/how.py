"""Which commands worked before, for a task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pastchats_memory.episodes.around import episode_around
from pastchats_memory.episodes.done import commands_of
from pastchats_memory.episodes.threads import attempt_at
from pastchats_memory.model import Hit
from pastchats_memory.recollection import Command
from pastchats_memory.store import prompts
from pastchats_memory.store.database import Database
from pastchats_memory.store.outcomes import Ending

CUT = "…"
"""Ends a command that was kept in part: nobody could run it."""


@dataclass(slots=True)
class _Used:
    score: float = 0.0
    episodes: list[tuple[int, Ending]] = field(default_factory=list)
    """Ids of the turns that asked, with how it ended; the best fitting first."""


def commands(database: Database, hits: Sequence[Hit], limit: int) -> list[Command]:
    """The commands of the hits' episodes that worked, those of the best fitting first; none that only looks at files.

    Raises:
        StoreFault: the database cannot be read.
    """
    used: dict[tuple[str, str], _Used] = {}
    seen: set[int] = set()
    for item in prompts.items(database, [int(hit.id) for hit in hits if hit.task is None]):
        if item.id in seen:
            continue
        episode, ending = episode_around(database, item)
        seen.update(turn.id for turn in episode)
        if ending.said != "worked":
            continue
        asked = next((turn for turn in episode if turn.role == "user"), episode[0])
        for command in dict.fromkeys(command for turn in episode for command in commands_of(turn)):
            if not command.endswith(CUT):
                one = used.setdefault((item.project, command), _Used())
                one.score += 1 / len(seen)
                one.episodes.append((asked.id, ending))
    best = sorted(used.items(), key=lambda pair: -pair[1].score)[:limit]
    return [_command(database, project, command, one) for (project, command), one in best]


def _command(database: Database, project: str, command: str, used: _Used) -> Command:
    id_, ending = used.episodes[0]
    (item,) = prompts.items(database, [id_])
    return Command(project, command, len(used.episodes), attempt_at(database, item, ending))
