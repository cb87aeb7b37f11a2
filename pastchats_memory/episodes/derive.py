"""Outcomes derived from the rows that are stored: of what has changed, or of everything anew."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import chain, pairwise
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from pastchats_memory.episodes import asking, episodes, is_spoken, judged, spoken_first
from pastchats_memory.errors import DatabaseLocked, DatabaseReadOnly, DiskFull
from pastchats_memory.model import Item
from pastchats_memory.redact.rules_version import hash_rules
from pastchats_memory.store import outcomes
from pastchats_memory.store.database import Database
from pastchats_memory.store.outcomes import Changed, Due, Ending, Judgement, Quotation, Said

if TYPE_CHECKING:
    from pastchats_memory.outcome import Evidence

BATCH_ROWS = 2000
"""After so many rows what was derived is written down."""
BATCH_CONVERSATIONS = 200
BATCH_S = 0.5
"""Seconds after which it is, too."""
LATEST = "9999"
"""After every time."""
WAITED_S = 2.0
"""Seconds that a question for outcomes waits for those that are due."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far it is: conversations."""

    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Derived:
    """What became of it."""

    conversations: int
    episodes: int
    left: int
    """Conversations that are due still, since time was up."""
    duration_s: float


@cache
def rules() -> str:
    """The version of the rules: of all that says what an episode is and how it ended."""
    here = Path(__file__)
    package = here.parent.parent
    beside = [here.with_name("__init__.py"), here.with_name("judged.py")]
    return hash_rules([here, *beside, package / "text" / "shell.py", *sorted((package / "outcome").glob("*.py"))])


def derive(
    database: Database,
    progress: Callable[[Progress], None] = lambda _: None,
    *,
    anew: bool = False,
    most_s: float = float("inf"),
) -> Derived:
    """Bring outcomes up to date with the rows and with the rules, a transaction after so many rows.

    Stopped half-way, what is done stands and the rest stays marked: recall derives it when it is asked, the next call goes on.

    Args:
        database: open for writing.
        progress: called after each transaction.
        anew: all of them, whether or not anything changed.
        most_s: seconds after which no further transaction is begun.

    Raises:
        StoreFault: it cannot be written; what was derived before stands.
    """
    start = time.monotonic()
    with database.transaction():
        if anew:
            outcomes.mark_all(database)
        outcomes.claim_rules(database, rules())
    total = left = outcomes.pending(database)
    found = 0
    while left and time.monotonic() - start < most_s:
        found += _derive_some(database)
        left = outcomes.pending(database)
        progress(Progress(max(0, total - left), total))
    return Derived(max(0, total - left), found, left, time.monotonic() - start)


def catch_up(database: Database) -> tuple[str, ...]:
    """Derive what is due for somebody who waits, and say what of it had to be left."""
    left = outcomes.pending(database)
    if left and database.writable:
        with suppress(DatabaseLocked, DatabaseReadOnly, DiskFull):
            left = derive(database, most_s=WAITED_S).left
    if not left:
        return ()
    return (f"outcomes of {left:,} conversations are not derived yet and count as unknown; run `reindex --outcomes`",)


class _Fresh(NamedTuple):
    """A conversation that is due, and the endings of its episodes from one row on."""

    due: Due
    first: int
    signature: int
    """Of all that they are read from."""
    endings: list[tuple[int, Ending]]


def _derive_some(database: Database) -> int:
    """Episodes of some conversations that are due.

    To derive them takes longer than to write them down, and nobody else can write while the lock is held. So they are derived before,
    and what has changed meanwhile is due still; where that is all of it, others write faster than that, and it is done under the lock.
    """
    found = _fresh(database)
    with database.transaction():
        lasting = [one for one in found if outcomes.signature(database, one.due, one.first) == one.signature]
        lasting = lasting or _fresh(database)
        for one in lasting:
            outcomes.replace(database, one.due, one.first, one.endings, rules())
    return sum(len(one.endings) for one in lasting)


def _fresh(database: Database) -> list[_Fresh]:
    found: list[_Fresh] = []
    rows, start = 0, time.monotonic()
    for due in outcomes.due(database, BATCH_CONVERSATIONS):
        first = outcomes.first_to_derive(database, due)
        signature = outcomes.signature(database, due, first)
        if signature is None:  # another process has just done it
            continue
        changes = outcomes.changes_of_tasks(database, due)
        known = outcomes.of_conversation(database, due.project, due.conversation_id)
        endings = list(endings_of(outcomes.rows_from(database, due, first), changes, known))
        found.append(_Fresh(due, first, signature, endings))
        rows += sum(ending.last_index - ending.first_index + 1 for _, ending in endings)
        if rows > BATCH_ROWS or time.monotonic() - start > BATCH_S:
            break
    return found


def endings_of(
    turns: Iterator[Said], changes: Sequence[Changed] = (), known: Mapping[int, Judgement] = MappingProxyType({})
) -> Iterator[tuple[int, Ending]]:
    """How each episode of a conversation ended, with the id of the turn that asks; given the states that its tasks came to, and judgements by that id."""
    for episode, following in pairwise(chain(episodes(turns), [[]])):
        over = following[0].timestamp if following else LATEST
        asked = asking(episode).id
        came_to = meanwhile(changes, episode[0].timestamp, over)
        yield asked, ending_of(episode, spoken_first(following), came_to, known.get(asked))


def meanwhile(changes: Sequence[Changed], begun: str | None, over: str | None) -> list[Changed]:
    """The last state of each task that changed from one time to another, the latest last; none where a time is missing."""
    if not changes or begun is None or over is None:
        return []
    latest = {one.task: one for one in changes if begun <= one.at < over}
    return sorted(latest.values(), key=lambda one: one.at)


def _quotation(shown: Evidence, turns: Sequence[Said | Item], spoken: Sequence[Said | Item]) -> Quotation:
    """The evidence with its turn; of several in which the person went on, the one that is quoted, or in which the quotation begins, up to its end."""
    from pastchats_memory.outcome.rows import LONGEST, plain
    from pastchats_memory.outcome.said import words_of

    quoted = plain(shown.quotation.rstrip("…"))
    going_on = spoken if shown.place == len(turns) - 1 else ()
    for one in going_on:
        if quoted in plain(one.content):
            return Quotation(shown.quotation, one.id, one.turn_index)
    for one in going_on:
        if (begun := plain(words_of(one.content[:LONGEST]))) and quoted.startswith(begun):
            return Quotation(begun, one.id, one.turn_index)
    turn = turns[shown.place]
    return Quotation(shown.quotation, turn.id, turn.turn_index)


def ending_of(
    episode: Sequence[Said | Item],
    spoken: Sequence[Said | Item],
    changes: Sequence[Changed] = (),
    judgement: Judgement | None = None,
) -> Ending:
    """How an episode ended, given what the person said next, which tasks came to another state meanwhile, and what somebody judged who read it."""
    if judgement is not None and judged.holds(judgement, episode, spoken):
        return judged.ending_by(judgement, episode, spoken)
    # Dozens of patterns, which a run that finds nothing new can do without.
    from pastchats_memory.outcome import Row, outcome_of

    span = (episode[0].turn_index, episode[-1].turn_index)
    if not any(not is_spoken(turn) or turn.metadata.get("flags") for turn in episode):
        return Ending(*span, "unknown", 0.0, "")
    rows = [
        Row("user" if is_spoken(turn) else turn.role, str(turn.metadata.get("kind", "")), turn.content, turn.metadata)
        for turn in episode
    ]
    found = outcome_of(rows, "\n".join(turn.content for turn in spoken), [one.status for one in changes])
    evidence = tuple(_quotation(shown, [*episode, *spoken[:1]], spoken) for shown in found.evidence)
    return Ending(*span, found.verdict, found.confidence, found.signal, evidence)
