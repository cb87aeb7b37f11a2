"""Derive outcomes from the stored rows: those that changed, or all of them."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import chain, pairwise
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, NamedTuple

from pastchats_memory.episodes import find_request, is_answered, is_user_turn, leading_user_turns, split_episodes
from pastchats_memory.episodes.failed_calls import derive_failures
from pastchats_memory.episodes.judgement import SIGNAL, apply_judgement, is_valid
from pastchats_memory.errors import DatabaseLocked, DatabaseReadOnly, DiskFull
from pastchats_memory.fields import Count, shown_as
from pastchats_memory.model import Item, Progress
from pastchats_memory.redact.rules_version import hash_rules
from pastchats_memory.store import failures, outcomes, refutations, replies, turns
from pastchats_memory.store.database import Database
from pastchats_memory.store.failures import Failure
from pastchats_memory.store.outcomes import Changed, Due, Ending, Judgement, Quotation, TurnRow
from pastchats_memory.store.refutations import Refutation
from pastchats_memory.store.replies import NO_WORDS, StoredReply

if TYPE_CHECKING:
    from pastchats_memory.episodes.outcome import QuotedLine

BATCH_ROWS = 2000
"""Rows after which a transaction is written."""
BATCH_CONVERSATIONS = 200
BATCH_S = 0.5
"""Seconds after which a transaction is written."""
LATEST = "9999"
"""A time after every other one."""
MAX_WAIT_S = 2.0
"""Seconds that a reader waits for outcomes that are due."""


@shown_as("RederivedView")
@dataclass(frozen=True, slots=True)
class Derived:
    """Result of `reindex --outcomes`."""

    conversations: Annotated[Count, "Conversations that were read."]
    episodes: Annotated[Count, "Episodes whose outcome was derived."]
    left: Annotated[Count, "Conversations that are still to be read."]
    """Time was up."""
    duration_s: Annotated[float, {"minimum": 0}]


WEIGHTS = Path(__file__).with_name("outcome") / "reply_weights.json"
"""Weights by which replies are classified."""


@cache
def weights_version() -> str:
    """Return the version of the weights by which replies are classified."""
    return hash_rules([WEIGHTS])


@cache
def rules_version() -> str:
    """Return the version of all code and data that decide outcomes."""
    here = Path(__file__)
    rules = here.with_name("outcome")
    own = [
        here,
        *map(
            here.with_name,
            ("__init__.py", "judgement.py", "failed_calls.py", "patterns.txt", "refutation.py", "refutation.toml"),
        ),
        WEIGHTS,
    ]
    text = here.parent.parent / "text"
    shared = [
        text / name for name in ("shell.py", "commands.py", "failed_commands.py", "command_words.txt", "patterns.txt")
    ]
    return hash_rules([*own, *shared, *sorted(rules.glob("*.py")), *sorted(rules.glob("*.toml"))])


def derive(
    database: Database,
    progress: Callable[[Progress], None] = lambda _: None,
    *,
    anew: bool = False,
    max_s: float = float("inf"),
) -> Derived:
    """Bring outcomes up to date with rows and rules, in limited transactions.

    After an interruption, finished transactions stay and the rest remains due. Recall derives it on demand, and the
    next call continues.

    Args:
        progress: called after each transaction.
        anew: derive all outcomes, changed or not.
        max_s: seconds after which no transaction starts.
    """
    start = time.monotonic()
    database = database.hide(())  # an outcome depends on its rows, not on who asks
    with database.transaction():
        replies.claim_weights(database, weights_version())
        if anew:
            outcomes.mark_all(database)
            refutations.forget_targets(database)
        outcomes.claim_rules(database, rules_version())
    total = left = outcomes.pending(database)
    episodes = 0
    while left and time.monotonic() - start < max_s:
        episodes += _derive_batch(database)
        left = outcomes.pending(database) or _seek_refuted(database)
        progress(Progress(max(0, total - left), total))
    return Derived(max(0, total - left), episodes, left, time.monotonic() - start)


def catch_up(database: Database) -> tuple[str, ...]:
    """Derive due outcomes for a waiting reader. Return a warning if some are left."""
    left = outcomes.pending(database)
    if left and database.writable:
        with suppress(DatabaseLocked, DatabaseReadOnly, DiskFull):
            left = derive(database, max_s=MAX_WAIT_S).left
    if not left:
        return ()
    return (f"outcomes of {left:,} conversations are not derived yet and count as unknown; run `reindex --outcomes`",)


class _Batch(NamedTuple):
    """A due conversation, with the endings of its episodes from one row on."""

    due: Due
    first: int
    signature: int
    """Digest of all rows that the endings were derived from."""
    endings: list[tuple[int, Ending]]
    failures: list[Failure]
    """Those of the whole conversation, since a failure may be cured later."""
    refuting: list[int]
    """Ids of its messages that say of an earlier episode that it did not help."""


def _seek_refuted(database: Database) -> int:
    """Find what refuting messages refute; return the number of conversations that are due then.

    An episode can only be found once its outcome is stored, so this is done when no other one is due.
    """
    from pastchats_memory.episodes.refutation import find_refuted

    while sought := refutations.list_sought(database, BATCH_CONVERSATIONS):
        found = [(one.id, find_refuted(database, one)) for one in turns.items(database, sought)]
        with database.transaction():
            for message, question in found:
                refutations.set_target(database, message, question)
    return outcomes.pending(database)


def _derive_batch(database: Database) -> int:
    """Derive and store outcomes of some due conversations; return the number of episodes.

    Deriving takes longer than writing, and the lock keeps others from writing. So derive before the transaction, and
    leave conversations due that changed meanwhile. If all of them changed, others write faster: derive under the lock.
    """
    derived = _derive_unlocked(database)
    with database.transaction():
        current = [one for one in derived if outcomes.signature(database, one.due, one.first) == one.signature]
        current = current or _derive_unlocked(database)
        for one in current:
            outcomes.replace(database, one.due, one.first, one.endings, rules_version())
            failures.replace(database, one.due.project, one.due.conversation_id, one.failures)
            refutations.replace(database, one.due, one.first, one.refuting)
    return sum(len(one.endings) for one in current)


def _derive_unlocked(database: Database) -> list[_Batch]:
    derived: list[_Batch] = []
    rows, start = 0, time.monotonic()
    for due in outcomes.due(database, BATCH_CONVERSATIONS):
        first = outcomes.first_to_derive(database, due)
        signature = outcomes.signature(database, due, first)
        if signature is None:  # another process has derived it
            continue
        changes = outcomes.changes_of_tasks(database, due)
        judged = outcomes.conversation_judgements(database, due.project, due.conversation_id)
        refuted = refutations.of_conversation(database, due.project, due.conversation_id)
        refuting: list[int] = []
        rows_read = _note_refuting(outcomes.rows_from(database, due, first), refuting)
        endings = list(derive_endings(rows_read, changes, judged, refuted))
        calls = failures.read_conversation(database, due.project, due.conversation_id)
        derived.append(_Batch(due, first, signature, endings, derive_failures(calls, due.project), refuting))
        rows += sum(ending.last_index - ending.first_index + 1 for _, ending in endings)
        if rows > BATCH_ROWS or time.monotonic() - start > BATCH_S:
            break
    return derived


def _note_refuting(rows: Iterator[TurnRow], refuting: list[int]) -> Iterator[TurnRow]:
    """Yield the rows, and add the messages among them that refute something to a list."""
    from pastchats_memory.episodes.refutation import is_refuting

    for row in rows:
        if is_user_turn(row) and is_refuting(row.content):
            refuting.append(row.id)
        yield row


def derive_endings(
    turns: Iterator[TurnRow],
    changes: Sequence[Changed] = (),
    judged: Mapping[int, Judgement] = MappingProxyType({}),
    refuted: Mapping[int, Refutation] = MappingProxyType({}),
) -> Iterator[tuple[int, Ending]]:
    """Yield the id of each request of a conversation with the ending of its episode.

    Args:
        changes: states of its tasks.
        judged: judgements by the id of the request.
        refuted: what refutes an episode, by the id of a turn that asks.
    """
    for episode, following in pairwise(chain(split_episodes(turns), [[]])):
        end = following[0].timestamp if following else LATEST
        request = find_request(episode).id
        tasks = select_changes(changes, episode[0].timestamp, end)
        message = leading_user_turns(following)
        ending = derive_ending(episode, message, tasks, judged.get(request), choose_reply(message))
        found = next((refuted[turn.id] for turn in episode if turn.id in refuted), None)
        yield request, _refute(ending, found) if found and ending.signal != SIGNAL else ending


def _refute(ending: Ending, found: Refutation) -> Ending:
    from pastchats_memory.episodes.refutation import refute

    return refute(ending, found.text, found.turn_id)


def choose_reply(message: Iterable[TurnRow]) -> StoredReply | None:
    """Return the stored meaning of a message: that of its first turn with words."""
    return next((turn.reply for turn in message if turn.reply != NO_WORDS), None)


def select_changes(changes: Sequence[Changed], start: str | None, end: str | None) -> list[Changed]:
    """Return the last change of each task from start until end, in order; none without both times."""
    if not changes or start is None or end is None:
        return []
    return sorted({one.task: one for one in changes if start <= one.at < end}.values(), key=lambda one: one.at)


def derive_ending(
    episode: Sequence[TurnRow | Item],
    next_turns: Sequence[TurnRow | Item],
    changes: Sequence[Changed] = (),
    judgement: Judgement | None = None,
    reply: StoredReply | None = None,
) -> Ending:
    """Return how an episode ended, by a valid judgement or by the rules.

    Args:
        next_turns: the user's next message.
        changes: states that tasks reached meanwhile.
        reply: meaning of the next message, if it is stored.
    """
    if judgement is not None and is_valid(judgement, episode, next_turns):
        return apply_judgement(judgement, episode, next_turns)
    # Imported here: a run without changes does not need dozens of patterns.
    from pastchats_memory.episodes.outcome import EpisodeTurn, derive_outcome
    from pastchats_memory.episodes.outcome.reply import Reply

    span = (episode[0].turn_index, episode[-1].turn_index)
    if not any(is_answered(turn) or turn.metadata.get("flags") for turn in episode):
        return Ending(*span, "unknown", 0.0, "")
    rows = [
        EpisodeTurn(
            "user" if is_user_turn(turn) else turn.role, str(turn.metadata.get("kind", "")), turn.content, turn.metadata
        )
        for turn in episode
    ]
    message = "\n".join(turn.content for turn in next_turns)
    meaning = Reply(*reply) if reply else None  # type: ignore[arg-type] # it was stored as one
    outcome = derive_outcome(rows, message, [one.status for one in changes], meaning)
    evidence = tuple(_locate_evidence(shown, [*episode, *next_turns[:1]], next_turns) for shown in outcome.evidence)
    return Ending(*span, outcome.verdict, outcome.confidence, outcome.signal, evidence)


def _locate_evidence(
    shown: "QuotedLine", turns: Sequence[TurnRow | Item], next_turns: Sequence[TurnRow | Item]
) -> Quotation:
    """Return the evidence with its turn.

    If the next message has several turns, choose the quoted one. A quotation across turns ends with its first turn.
    """
    from pastchats_memory.episodes.outcome.episode import MAX_SCANNED, strip_client_commands, strip_emphasis

    quoted = strip_emphasis(shown.quotation.rstrip("…"))
    candidates = next_turns if shown.place == len(turns) - 1 else ()
    for one in candidates:
        if quoted in strip_emphasis(one.content):
            return Quotation(shown.quotation, one.id, one.turn_index)
    for one in candidates:
        start = strip_emphasis(strip_client_commands(one.content[:MAX_SCANNED]))
        if start and quoted.startswith(start):
            return Quotation(start, one.id, one.turn_index)
    turn = turns[shown.place]
    return Quotation(shown.quotation, turn.id, turn.turn_index)
