"""Find the commands that worked before, for a task."""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pastchats_memory.episodes.actions import CUT, Run, successful_runs
from pastchats_memory.episodes.cite import cite_items
from pastchats_memory.episodes.load import cite_run, load_episode
from pastchats_memory.episodes.threads import cite_attempts, find_superseding, load_attempt
from pastchats_memory.model import Filters, Hit
from pastchats_memory.model.episodes import Command
from pastchats_memory.search.lexical import Terms
from pastchats_memory.search.request import Request
from pastchats_memory.store import turns
from pastchats_memory.store.database import Database
from pastchats_memory.store.outcomes import Ending
from pastchats_memory.store.sources import latest_runs
from pastchats_memory.text.commands import strip_surroundings
from pastchats_memory.text.lazy_pattern import read_pattern
from pastchats_memory.text.shell import classify_check, is_read_only
from pastchats_memory.text.topics import measure_topic
from pastchats_memory.text.words import FUNCTION_WORDS, WORD, words

MIN_LETTERS = 4
"""Letters of a task's word that counts: "run" and "the" are in every second command."""
MIN_KIND_SHARE = 0.2
"""Share of the task's weight that names a kind of check, so that commands of unrelated episodes count.

Unknown words count too. Six questions how to run the tests had 0.20 and more, other tasks 0.15 at most.
"""
MIN_WORD_SHARE = 0.5
"""Share of the task's words that name the kind of check, if none has a weight."""
MAX_RUNS, MAX_CHECKS = 1000, 20
"""Rows that are searched for checks, and different commands from them."""
FAMILIES = frozenset({"test", "lint"})
"""Kinds of commands that are recognised by any name. `make` need not be a build."""
LEAST_TOPIC = 0.5
"""Topic of a task for which the commands of relevant episodes count whatever their words are."""
TYPE_CHECKERS = frozenset({"basedpyright", "flow", "mypy", "pyre", "pyright", "tsc", "ty"})
TYPE_CHECK = ("type", "check", "typecheck")
"""Words for these programs, whose names do not say what they do."""
MAX_SUFFIX = 4
"""Letters that a command's word may not add to a task's word: `builder` counts, `testuser` does not."""
_PARTS = re.compile(r"&&|\|\||;")
_ADDS, _REMOVES = frozenset({"add", "i", "install"}), frozenset({"remove", "rm", "un", "uninstall"})
_PACKAGE = re.compile(r"(?!-)@?[\w./:-]*\w")
_LOOKED_FOR = re.compile(r"\b(?:e?grep|rg)\b[^|;&'\"]{0,80}(?:'[^'\n]*'|\"[^\"\n]*\"|\S+)")
"""A search in an output. It is not the purpose of the command."""
_ONE_TIME = read_pattern(__file__, "one-time")
"""A command about the files and the history of one day. It counts only if the task names its action."""


class _Use(NamedTuple):
    request: int
    """Id of the turn with the request."""
    ending: Ending
    when: tuple[str, int]
    """Time of the request, and position among the successful commands of the episode."""
    last: Run


@dataclass(slots=True)
class _UsedCommand:
    """A command with its uses, one for each episode, the best one first."""

    project: str
    score: float
    uses: list[_Use] = field(default_factory=list)


def working_commands(
    database: Database, request: Request, hits: Sequence[Hit], about: Collection[Hit], terms: Terms, limit: int,
    current_project: str | None = None,
) -> list[Command]:  # fmt: skip
    """Return the commands that worked in the hits' episodes, once each.

    Those of the current project come first, then commands with words of the task, then commands of the best episodes.
    Those of one episode keep their order, but a plain check precedes one of a part: `cargo test` before one named test.
    A task that names no topic, such as "deploy", gets only commands with a word of it.
    A task may name a kind of check, such as tests. Then commands of that kind count from any episode, superseded or not,
    and so do the latest ones of the project. Leave out commands that only look at files. Leave out one-time commands that
    the task does not name, and commands that add a package which was removed later.

    Args:
        request: the task, with a filter for episodes that worked.
        hits: for the task, the best first.
        about: hits that are relevant to the task.
    """
    used: dict[tuple[str, str], _UsedCommand] = {}
    removed: dict[tuple[str, str, str], tuple[str, int]] = {}
    seen: set[int] = set()
    episodes = 0
    checks = _named_checks(request.text, terms)
    needs_word = is_type_check(request.text) or (not checks and measure_topic(request.text) < LEAST_TOPIC)
    relevant = {int(hit.id) for hit in about if hit.task is None and (hit.role == "user" or not checks)}
    candidates = [int(hit.id) for hit in (*about, *hits) if hit.task is None]
    for item in turns.items(database, [*candidates, *_latest_checks(database, checks, request.filters)]):
        if item.id in seen:
            continue
        episode, ending = load_episode(database, item)
        seen.update(turn.id for turn in episode)
        if ending.outcome != "worked":
            continue
        is_relevant = any(turn.id in relevant for turn in episode) and find_superseding(database, episode, hits) is None
        episodes += 1
        question = next((turn for turn in episode if turn.role == "user"), episode[0])
        for place, run in enumerate(successful_runs(episode)):
            command = run.command
            when = question.timestamp or "", place
            removed |= {
                (item.project, *one): max(when, removed.get((item.project, *one), when))
                for one in _packages(command, _REMOVES)
            }
            bare = strip_surroundings(command)
            one_time = _ONE_TIME.match(bare)
            fit = _measure_fit(one_time[0] if one_time else bare, terms.weights)
            is_wanted = _is_for(bare, checks) or (is_relevant and not (checks and _family(bare)))
            if not command.endswith(CUT) and is_wanted and (fit or not (one_time or needs_word)):
                one = used.setdefault((item.project, bare), _UsedCommand(item.project, fit))
                if all(earlier.request != question.id for earlier in one.uses):
                    one.score += 1 / (1 + episodes)
                    one.uses.append(_Use(question.id, ending, when, run))
    lasting = (one for one in used.values() if not _is_undone(one, removed))
    best = sorted(lasting, key=lambda one: (one.project != current_project, -one.score))[:limit]
    return [_make_command(database, one, use) for one, use in _order_by_episode(best)]


def _named_checks(task: str, terms: Terms) -> set[str]:
    """Return the kinds of checks that the task names, by weight, or by number if its words are unknown."""
    alike = dict.fromkeys((word for word in words(task) if word not in FUNCTION_WORDS), 1.0)
    if is_type_check(task):
        return {"lint"}
    known = {family: _measure_fit(family, terms.weights) * terms.coverage for family in FAMILIES}
    return {
        family
        for family, fit in known.items()
        if fit >= MIN_KIND_SHARE or (not fit and _measure_fit(family, alike) >= MIN_WORD_SHARE)
    }


def is_type_check(task: str) -> bool:
    """Return whether a task asks for a check of types, which only some linters make."""
    named = {word.removesuffix("s") for word in words(task)}
    return "typecheck" in named or {"type", "check"} <= named


def _latest_checks(database: Database, checks: Collection[str], filters: Filters) -> list[int]:
    latest: dict[tuple[str, str], int] = {}
    for id_, project, command in latest_runs(database, filters, MAX_RUNS) if checks else ():
        if _is_for(command, checks):
            latest.setdefault((project, strip_surroundings(command)), id_)
    return list(latest.values())[:MAX_CHECKS]


def _is_for(command: str, checks: Collection[str]) -> bool:
    """Return whether every part of the command is one of the checks."""
    parts = [part.strip() for part in _PARTS.split(command)]
    doing = [part for part in parts if part and not is_read_only(part)]
    return bool(doing) and all(_family(part) in checks for part in doing)


def _is_undone(used: _UsedCommand, removed: Mapping[tuple[str, str, str], tuple[str, int]]) -> bool:
    """Return whether a package that the command added was removed after its last run."""
    last = max(one.when for one in used.uses)
    return any(removed.get((used.project, *one), last) > last for one in _packages(used.uses[0].last.command, _ADDS))


def _packages(command: str, verbs: Collection[str]) -> set[tuple[str, str]]:
    """Return the packages that a command handles with one of the verbs, each after its program."""
    parts = [part.split() for part in _PARTS.split(command)]
    at = ((words, place) for words in parts for place in range(1, len(words)) if words[place] in verbs)
    return {
        (words[place - 1], named[0])
        for words, place in at
        for word in words[place + 1 :]
        if (named := _PACKAGE.match(word))
    }


def _order_by_episode(best: Sequence[_UsedCommand]) -> list[tuple[_UsedCommand, _Use]]:
    """Return the commands with one use each, grouped by episode and in order.

    Of several episodes, choose the one with the most commands.
    """
    shared = Counter(use.request for one in best for use in one.uses)
    chosen = [(one, max(one.uses, key=lambda use: shared[use.request])) for one in best]
    first = {use.request: rank for rank, (_, use) in reversed(list(enumerate(chosen)))}
    plain = [tuple(strip_surroundings(use.last.command).split()) for _, use in chosen]

    def count_plainer(use: _Use) -> int:
        """Return how many of the commands are the beginning of a check."""
        bare = strip_surroundings(use.last.command)
        parts = tuple(bare.split())
        return sum(parts[: len(one)] == one != parts for one in plain) if _family(bare) else 0

    return sorted(chosen, key=lambda pair: (first[pair[1].request], count_plainer(pair[1]), pair[1].when))


def _measure_fit(command: str, weights: Mapping[str, float]) -> float:
    """Return the share of the task's weight in the command's words, 0 to 1.

    A word counts at either end: `pytest` is a test.
    """
    own = [word.lower() for word in WORD.findall(f"{_LOOKED_FOR.sub('', command)} {_family(command)}")]
    own += TYPE_CHECK if not TYPE_CHECKERS.isdisjoint(own) else ()
    long = {word: weight for word, weight in weights.items() if len(word) >= MIN_LETTERS}
    present = sum(weight for word, weight in long.items() if any(_is_among(stem, own) for stem in _stems(word)))
    return present / sum(long.values()) if present else 0.0


def _stems(word: str) -> tuple[str, ...]:
    """Return what a word of a command may begin or end with: `test` of "tests", `linter` and `lint` of "linter"."""
    stem = word.removesuffix("s")
    tool = stem.removesuffix("er")
    return (stem, tool) if tool != stem and len(tool) >= MIN_LETTERS else (stem,)


def _family(command: str) -> str:
    family = classify_check(command) or ""
    return family if family in FAMILIES else ""


def _is_among(stem: str, own: Sequence[str]) -> bool:
    return any(one.endswith(stem) or (one.startswith(stem) and len(one) < len(stem) + MAX_SUFFIX) for one in own)


def _make_command(database: Database, used: _UsedCommand, use: _Use) -> Command:
    (item,) = turns.items(database, [use.request])
    (recorded,) = cite_items(database, turns.items(database, [use.last.turn]))
    episode = load_attempt(database, item, use.ending)
    command = use.last.command
    cited = cite_attempts(database, [episode])[episode.id]
    return Command(used.project, command, len(used.uses), cited, cite_run(recorded, command))
