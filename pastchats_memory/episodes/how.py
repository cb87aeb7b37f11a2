"""Which commands worked before, for a task."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from pastchats_memory.commands import check_of
from pastchats_memory.episodes.around import episode_around
from pastchats_memory.episodes.done import commands_of
from pastchats_memory.episodes.threads import attempt_at, cited_attempts
from pastchats_memory.model import Hit
from pastchats_memory.recollection import Command
from pastchats_memory.search.terms import Terms
from pastchats_memory.store import prompts
from pastchats_memory.store.database import Database
from pastchats_memory.store.outcomes import Ending

CUT = "…"
"""Ends a command that was kept in part: nobody could run it."""


LEAST_LETTERS = 4
"""Of a word of the task that a command may have: "run" and "the" are in every second one."""
NAMED = 0.2
"""Share of the task's weight, words included that the memory does not know, that names what a command is for it to be told
of an episode that is not about the task: .20 and more of six questions how to run the tests, .15 of the rest at most."""
FAMILIES = frozenset({"test", "lint"})
"""What a command is called whatever its name; that `make` builds is not to be supposed."""
ENDING = 4
"""Letters that a word may not have behind the one of the task: `builder`, but not `testuser`."""
_WORD = re.compile(r"[^\W_]+")
_AROUND = re.compile(
    r"^(?:cd [^&;|]+(?:&&|;)\s*)+|(?:(?<!\s)\s*+(?:2>&1|\|\s*(?:tail|head|cat)\b[^|;&]*|;\s*echo\b[^;&|]*)){1,8}$"
)
"""What stands around a command and changes nothing of what it does."""
_OF_ITS_DAY = re.compile(
    r"(?:sudo\s+)?(?:(?:rm|rmdir|mkdir|touch|mv|cp|ln|chmod|chown|kill|pkill|killall)"
    r"|git\s+(?:add|am|apply|checkout|cherry-pick|clean|commit|merge|mv|push|rebase|reset|restore|revert|rm|stash|switch|tag))(?:\s|$)"
)
"""A command that belongs to the files and the history of its day: told to those alone who name what it does, whatever it did it to."""


@dataclass(slots=True)
class _Used:
    command: str
    """As it was run in the episode that fits best."""
    score: float = 0.0
    episodes: list[tuple[int, Ending]] = field(default_factory=list)
    """Ids of the turns that asked, with how it ended; the best fitting first."""


def commands(
    database: Database, hits: Sequence[Hit], about: Collection[Hit], terms: Terms, limit: int
) -> list[Command]:
    """The commands of the hits' episodes that worked, once each; none that only looks at files, nor one of its day unasked.

    First those with words of the task in them, then those of the episodes that fit best. Whoever asks how to run the tests
    means a command, whatever it was run for: of an episode that is not about the task those are told whose kind the task names.

    Args:
        database: to be read.
        hits: for the task, the best first.
        about: those of them that have to do with it.
        terms: of the task.
        limit: commands at most.

    Raises:
        StoreFault: the database cannot be read.
    """
    used: dict[tuple[str, str], _Used] = {}
    seen: set[int] = set()
    episodes = 0
    meant = {int(hit.id) for hit in about if hit.task is None}
    for item in prompts.items(database, [int(hit.id) for hit in hits if hit.task is None]):
        if item.id in seen:
            continue
        episode, ending = episode_around(database, item)
        seen.update(turn.id for turn in episode)
        if ending.said != "worked":
            continue
        is_meant = any(turn.id in meant for turn in episode)
        episodes += 1
        asked = next((turn for turn in episode if turn.role == "user"), episode[0])
        for command in dict.fromkeys(command for turn in episode for command in commands_of(turn)):
            bare = _AROUND.sub("", command)
            of_its_day = _OF_ITS_DAY.match(bare)
            fit = _fit(of_its_day[0] if of_its_day else bare, terms.weights)
            is_named = _fit(_family(bare), terms.weights) * terms.coverage >= NAMED
            if not command.endswith(CUT) and (is_named or is_meant) and (fit or not of_its_day):
                one = used.setdefault((item.project, bare), _Used(command, fit))
                if (asked.id, ending) not in one.episodes:
                    one.score += 1 / (1 + episodes)
                    one.episodes.append((asked.id, ending))
    best = sorted(used.items(), key=lambda pair: -pair[1].score)[:limit]
    return [_command(database, project, one) for (project, _), one in best]


def _fit(command: str, words: Mapping[str, float]) -> float:
    """Share of the task's weight whose words the command has, at the beginning or the end of one of its own; `pytest` is a test."""
    own = [word.lower() for word in _WORD.findall(f"{command} {_family(command)}")]
    long = {word: weight for word, weight in words.items() if len(word) >= LEAST_LETTERS}
    present = sum(weight for word, weight in long.items() if _is_among(word.removesuffix("s"), own))
    return present / sum(long.values()) if present else 0.0


def _family(command: str) -> str:
    family = check_of(command) or ""
    return family if family in FAMILIES else ""


def _is_among(stem: str, own: Sequence[str]) -> bool:
    return any(one.endswith(stem) or (one.startswith(stem) and len(one) < len(stem) + ENDING) for one in own)


def _command(database: Database, project: str, used: _Used) -> Command:
    id_, ending = used.episodes[0]
    (item,) = prompts.items(database, [id_])
    episode = attempt_at(database, item, ending)
    return Command(project, used.command, len(used.episodes), cited_attempts(database, [episode])[episode.id])
