"""Which commands worked before, for a task."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pastchats_memory.citations import cited_items
from pastchats_memory.episodes.around import episode_around, run_in
from pastchats_memory.episodes.done import CUT, Run, runs_of
from pastchats_memory.episodes.threads import attempt_at, cited_attempts, superseding
from pastchats_memory.model import Command, Filters, Hit
from pastchats_memory.search.lexical import Terms
from pastchats_memory.search.request import Request
from pastchats_memory.store import turns
from pastchats_memory.store.database import Database
from pastchats_memory.store.outcomes import Ending
from pastchats_memory.store.sources import latest_runs
from pastchats_memory.text.shell import classify_check, is_read_only
from pastchats_memory.text.words import FUNCTION_WORDS, words

LEAST_LETTERS = 4
"""Of a word of the task that a command may have: "run" and "the" are in every second one."""
NAMED = 0.2
"""Share of the task's weight, words included that the memory does not know, that names what a command is for it to be told
of an episode that is not about the task: .20 and more of six questions how to run the tests, .15 of the rest at most."""
MOSTLY = 0.5
"""Share of its words that say so, where they have no weight."""
MOST_RUNS, MOST_CHECKS = 1000, 20
"""Rows that are looked at for checks, and different commands that are taken of them."""
FAMILIES = frozenset({"test", "lint"})
"""What a command is called whatever its name; that `make` builds is not to be supposed."""
ENDING = 4
"""Letters that a word may not have behind the one of the task: `builder`, but not `testuser`."""
_WORD = re.compile(r"[^\W_]+")
_PARTS = re.compile(r"&&|\|\||;")
_ADDS, _REMOVES = frozenset({"add", "i", "install"}), frozenset({"remove", "rm", "un", "uninstall"})
_PACKAGE = re.compile(r"(?!-)@?[\w./:-]*\w")
_AROUND = re.compile(
    r"^(?:cd [^&;|]+(?:&&|;)\s*)+|(?:(?<!\s)\s*+(?:2>&1|\|\s*(?:tail|head|cat)\b[^|;&]*|;\s*echo\b[^;&|]*)){1,8}$"
)
"""What stands around a command and changes nothing of what it does."""
_LOOKED_FOR = re.compile(r"\b(?:e?grep|rg)\b[^|;&'\"]{0,80}(?:'[^'\n]*'|\"[^\"\n]*\"|\S+)")
"""What is picked out of an output, which is not what the command is for."""
_OF_ITS_DAY = re.compile(
    r"(?:sudo\s+)?(?:(?:rm|rmdir|mkdir|touch|mv|cp|ln|chmod|chown|find|kill|pkill|killall)"
    r"|git\s+(?:add|am|apply|branch|checkout|cherry-pick|clean|commit|merge|mv|push|rebase|reset|restore|revert|rm|stash|switch|tag))(?:\s|$)"
)
"""A command that belongs to the files and the history of its day: told to those alone who name what it does, whatever it did it to."""


class _Episode(NamedTuple):
    asked: int
    """Id of the turn that asked for the episode."""
    ending: Ending
    when: tuple[str, int]
    """When that was asked, and the place among the commands of the episode, in the order in which they worked."""
    last: Run
    """Of the command, there."""


@dataclass(slots=True)
class _Used:
    project: str
    score: float
    episodes: list[_Episode] = field(default_factory=list)
    """One an episode, the best fitting first."""


def commands(
    database: Database, request: Request, hits: Sequence[Hit], about: Collection[Hit], terms: Terms, limit: int
) -> list[Command]:
    """The commands of the hits' episodes that worked, once each; none that only looks at files, nor one of its day unasked.

    Chosen are those with words of the task in them, then those of the episodes that fit best; those of one episode come in the
    order in which they worked. Whoever asks how to run the tests means a command, whatever it was run for: of an episode that
    is not about the task, or of which the decision was replaced later, those are told whose kind the task names, and the latest
    of that kind whatever was said around them. What added a package that was removed later is not told.

    Args:
        database: to be read.
        request: the task, and what may be told of: episodes that worked.
        hits: for it, the best first.
        about: those of them that have to do with it.
        terms: of the task.
        limit: commands at most.

    Raises:
        StoreFault: the database cannot be read.
    """
    used: dict[tuple[str, str], _Used] = {}
    removed: dict[tuple[str, str, str], tuple[str, int]] = {}
    seen: set[int] = set()
    episodes = 0
    checks = _checks_named(request.text, terms)
    meant = {int(hit.id) for hit in about if hit.task is None and (hit.role == "user" or not checks)}
    found = [int(hit.id) for hit in (*about, *hits) if hit.task is None]
    for item in turns.items(database, [*found, *_latest_of(database, checks, request.filters)]):
        if item.id in seen:
            continue
        episode, ending = episode_around(database, item)
        seen.update(turn.id for turn in episode)
        if ending.said != "worked":
            continue
        is_meant = any(turn.id in meant for turn in episode) and superseding(database, episode, hits) is None
        episodes += 1
        asked = next((turn for turn in episode if turn.role == "user"), episode[0])
        for place, run in enumerate(runs_of(episode)):
            command = run.command
            when = asked.timestamp or "", place
            removed |= {
                (item.project, *one): max(when, removed.get((item.project, *one), when))
                for one in _packages(command, _REMOVES)
            }
            bare = _AROUND.sub("", command)
            of_its_day = _OF_ITS_DAY.match(bare)
            fit = _fit(of_its_day[0] if of_its_day else bare, terms.weights)
            is_wanted = _is_for(bare, checks) or (is_meant and not (checks and _family(bare)))
            if not command.endswith(CUT) and is_wanted and (fit or not of_its_day):
                one = used.setdefault((item.project, bare), _Used(item.project, fit))
                if all(earlier.asked != asked.id for earlier in one.episodes):
                    one.score += 1 / (1 + episodes)
                    one.episodes.append(_Episode(asked.id, ending, when, run))
    lasting = (one for one in used.values() if not _is_undone(one, removed))
    best = sorted(lasting, key=lambda one: -one.score)[:limit]
    return [_command(database, one, where) for one, where in _as_they_worked(best)]


def _checks_named(task: str, terms: Terms) -> set[str]:
    """The kinds of checks that the task asks for, by the weight of its words or, where the memory does not know such a word, as half of them."""
    alike = dict.fromkeys((word for word in words(task) if word not in FUNCTION_WORDS), 1.0)
    known = {family: _fit(family, terms.weights) * terms.coverage for family in FAMILIES}
    return {family for family, fit in known.items() if fit >= NAMED or (not fit and _fit(family, alike) >= MOSTLY)}


def _latest_of(database: Database, checks: Collection[str], filters: Filters) -> list[int]:
    """Ids of the last row of each of the latest commands that are one of the checks."""
    latest: dict[tuple[str, str], int] = {}
    for id_, project, command in latest_runs(database, filters, MOST_RUNS) if checks else ():
        if _is_for(command, checks):
            latest.setdefault((project, _AROUND.sub("", command)), id_)
    return list(latest.values())[:MOST_CHECKS]


def _is_for(command: str, checks: Collection[str]) -> bool:
    """Whether all that the command does is one of the checks that the task names."""
    parts = [part.strip() for part in _PARTS.split(command)]
    doing = [part for part in parts if part and not is_read_only(part)]
    return bool(doing) and all(_family(part) in checks for part in doing)


def _is_undone(used: _Used, removed: Mapping[tuple[str, str, str], tuple[str, int]]) -> bool:
    """Whether what the command added was removed after its last run."""
    last = max(one.when for one in used.episodes)
    added = _packages(used.episodes[0].last.command, _ADDS)
    return any(removed.get((used.project, *one), last) > last for one in added)


def _packages(command: str, verbs: Collection[str]) -> set[tuple[str, str]]:
    """The packages to which a command does that, without their versions, each behind the program that does it."""
    parts = [part.split() for part in _PARTS.split(command)]
    at = ((words, place) for words in parts for place in range(1, len(words)) if words[place] in verbs)
    return {
        (words[place - 1], named[0])
        for words, place in at
        for word in words[place + 1 :]
        if (named := _PACKAGE.match(word))
    }


def _as_they_worked(best: Sequence[_Used]) -> list[tuple[_Used, _Episode]]:
    """The commands of an episode together and in order, that of the best one first; of several episodes the one with most of them."""
    shared = Counter(episode.asked for one in best for episode in one.episodes)
    told = [(one, max(one.episodes, key=lambda episode: shared[episode.asked])) for one in best]
    first = {episode.asked: rank for rank, (_, episode) in reversed(list(enumerate(told)))}
    return sorted(told, key=lambda pair: (first[pair[1].asked], pair[1].when))


def _fit(command: str, weights: Mapping[str, float]) -> float:
    """Share of the task's weight whose words the command has, at the beginning or the end of one of its own; `pytest` is a test."""
    own = [word.lower() for word in _WORD.findall(f"{_LOOKED_FOR.sub('', command)} {_family(command)}")]
    long = {word: weight for word, weight in weights.items() if len(word) >= LEAST_LETTERS}
    present = sum(weight for word, weight in long.items() if _is_among(word.removesuffix("s"), own))
    return present / sum(long.values()) if present else 0.0


def _family(command: str) -> str:
    family = classify_check(command) or ""
    return family if family in FAMILIES else ""


def _is_among(stem: str, own: Sequence[str]) -> bool:
    return any(one.endswith(stem) or (one.startswith(stem) and len(one) < len(stem) + ENDING) for one in own)


def _command(database: Database, used: _Used, where: _Episode) -> Command:
    (item,) = turns.items(database, [where.asked])
    (noted,) = cited_items(database, turns.items(database, [where.last.turn]))
    episode = attempt_at(database, item, where.ending)
    command = where.last.command
    cited = cited_attempts(database, [episode])[episode.id]
    return Command(used.project, command, len(used.episodes), cited, run_in(noted, command))
