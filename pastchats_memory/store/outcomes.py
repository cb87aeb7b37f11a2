"""How episodes ended: what was derived, and which conversations have changed since."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import orjson

from pastchats_memory.model import Filters, Item, Metadata
from pastchats_memory.store.database import Database
from pastchats_memory.store.pending_deletes import pending_delete_ids

# Judgements: how episodes ended by whoever read them, kept as where the words stand that show it, and as the turns that were read.

JUDGEMENT_COLUMNS = (
    "j.prompt_id, j.verdict, j.shown_in, j.shown_from, j.shown_length, "
    "(SELECT json_group_array(r.turn_id) FROM judgement_reads r WHERE r.prompt_id = j.prompt_id)"
)
"""Of `judgements AS j`, those of `Judgement`."""


class Judgement(NamedTuple):
    """How an episode ended, in the judgement of somebody who read it."""

    asked: int
    """Id of the turn that asks."""
    verdict: str
    """`worked`, `failed`, `mixed` or `unknown`."""
    shown_in: int | None
    """Id of the turn whose words show it; None for unknown."""
    start: int
    """Character of its text at which they begin."""
    length: int
    """Characters."""
    read: frozenset[int]
    """Ids of the turns that it rests on; with any of them, or with its text, it goes."""


def put(database: Database, judgement: Judgement) -> None:
    """In the place of an earlier one of the same episode; inside the caller's transaction. Raises StoreFault."""
    drop(database, judgement.asked)
    *kept, read = judgement
    database.run(
        "INSERT INTO judgements(prompt_id, verdict, shown_in, shown_from, shown_length) VALUES (?, ?, ?, ?, ?)", kept
    )
    database.run_many(
        "INSERT INTO judgement_reads(turn_id, prompt_id) VALUES (?, ?)", [(id_, judgement.asked) for id_ in read]
    )


def drop(database: Database, asked: int) -> bool:
    """Whether there was one of the episode that the turn asks for; inside the caller's transaction. Raises StoreFault."""
    return bool(database.run("DELETE FROM judgements WHERE prompt_id = ? RETURNING prompt_id", (asked,)))


def of_conversation(database: Database, project: str, conversation_id: str) -> dict[int, Judgement]:
    """Those of a conversation's episodes, by the turn that asks. Raises StoreFault."""
    rows = database.run(
        f"SELECT {JUDGEMENT_COLUMNS} FROM judgements j JOIN prompts p ON p.id = j.prompt_id WHERE p.source_project = ? AND p.conversation_id = ?",
        (project, conversation_id),
    )
    return {row[0]: of_row(row) for row in rows}


def of_row(row: Sequence[Any]) -> Judgement:
    """Of the columns as they are selected."""
    asked, verdict, shown_in, start, length, read = row
    return Judgement(asked, verdict, shown_in, start, length, frozenset(orjson.loads(read)))


RULES = "outcome_rules"
"""Key of `embedding_meta`: the version of the rules by which outcomes are derived now."""
OUTCOME_COLUMNS = "o.first_index, o.last_index, o.verdict, o.confidence, o.signal, o.evidence_json"
ROWS = (
    "SELECT id, turn_index, role, content, metadata_json, timestamp FROM prompts "
    "WHERE source_project = ? AND conversation_id = ? AND turn_index >= ? AND role != 'note' "
    f"AND id NOT IN {pending_delete_ids('turns')} ORDER BY turn_index, id"
)
"""Of a conversation from an index on, in order, but for notes."""
KNOWN = (
    f"o.prompt_id NOT IN {pending_delete_ids('turns')} AND NOT EXISTS "
    f"(SELECT 1 FROM json_each(o.evidence_json) e WHERE e.value ->> 1 IN {pending_delete_ids('turns')})"
)
"""Of `outcomes AS o`: nothing in it is of a turn that is forgotten."""
VERDICTS = ("worked", "failed", "mixed", "unknown")
OPENING = 2000
"""Characters of a question by which it is compared with others."""
ENDED = (
    f"SELECT o.prompt_id, substr(p.content, 1, {OPENING}), o.source_project, o.conversation_id, p.timestamp, {OUTCOME_COLUMNS} "
    "FROM outcomes o JOIN prompts p ON p.id = o.prompt_id"
)
"""The columns of `Ended`."""
UNANSWERED = "unanswered"
"""The signal of an episode that was stopped before any answer."""
BROKE_OFF = "broke_off"
"""The signal of one that was stopped at work."""
LEAST_CONFIDENCE = 0.7
"""Of an outcome, for anybody to be told of it: the other signals are wrong too often (`benchmarks/outcome/score.py --signals`)."""


class Quotation(NamedTuple):
    """A line of a stored turn, in its own words."""

    text: str
    id: int
    """Of the turn."""
    turn_index: int = -1
    """Of the turn in its conversation."""


class Ending(NamedTuple):
    """How an episode ended: the turns of a conversation from one `turn_index` to another, both inclusive."""

    first_index: int
    last_index: int
    verdict: str
    """`worked`, `failed`, `mixed` or `unknown`."""
    confidence: float
    """How often the signal was right, 0 to 1; 0 for unknown."""
    signal: str
    """The rule that decided; empty for unknown."""
    evidence: tuple[Quotation, ...] = ()
    """At most two lines that show it; of an unknown one what was said next."""

    @property
    def is_answered(self) -> bool:
        """Whether it was not stopped before any answer, so that something was tried."""
        return self.signal != UNANSWERED

    @property
    def said(self) -> str:
        """The verdict where it is sure enough to be said, else `unknown`."""
        return self.verdict if self.confidence >= LEAST_CONFIDENCE else "unknown"

    @property
    def shown_by(self) -> str:
        """The line that shows what is said, empty where that is nothing."""
        return self.evidence[-1].text if self.evidence and self.said != "unknown" else ""


class Due(NamedTuple):
    """A conversation whose outcomes are behind, from the first row that is new."""

    project: str
    conversation_id: str
    from_index: int


class Ended(NamedTuple):
    """An episode with what asked for it."""

    asked: int
    """Id of the turn that asks."""
    text: str
    """What it says, its first 2,000 characters."""
    conversation: tuple[str, str]
    """Project and id."""
    timestamp: str | None
    ending: Ending


class Said(NamedTuple):
    """What of a row its episode's outcome is read from."""

    id: int
    turn_index: int
    role: str
    content: str
    metadata: Metadata
    timestamp: str | None = None


class Changed(NamedTuple):
    """A task of a conversation that came to another state."""

    at: str
    task: int
    """Its id."""
    status: str


def mark_all(database: Database) -> None:
    """All conversations are to be looked at again; inside the caller's transaction. Raises StoreFault."""
    database.run(
        "INSERT OR REPLACE INTO outcomes_due(source_project, conversation_id, from_index) "
        "SELECT DISTINCT source_project, conversation_id, 0 FROM prompts WHERE conversation_id IS NOT NULL"
    )


def mark(database: Database, one: Due) -> None:
    """The conversation is to be looked at again, from the index on; inside the caller's transaction. Raises StoreFault."""
    database.run(
        "INSERT INTO outcomes_due(source_project, conversation_id, from_index) VALUES (?, ?, ?) "
        "ON CONFLICT DO UPDATE SET from_index = min(from_index, excluded.from_index)",
        one,
    )


def mark_of_tasks(database: Database, ids: Sequence[int], at: str | None = None) -> None:
    """So are those in which the tasks are kept, from the episode of a moment on; inside the caller's transaction. Raises StoreFault."""
    database.run(
        "INSERT INTO outcomes_due(source_project, conversation_id, from_index) "
        "SELECT o.source_project, o.conversation_id, ifnull(max(o.first_index) FILTER (WHERE p.timestamp <= ?2), 0) "
        "FROM task_conversations c JOIN tasks t ON t.id = c.task_id "
        "JOIN outcomes o ON o.source_project = t.project AND o.conversation_id = c.conversation_id "
        "LEFT JOIN prompts p ON p.id = o.prompt_id WHERE c.task_id IN (SELECT value FROM json_each(?1)) GROUP BY 1, 2 "
        "ON CONFLICT DO UPDATE SET from_index = min(from_index, excluded.from_index)",
        (orjson.dumps(list(ids)).decode(), at),
    )


def claim_rules(database: Database, rules: str) -> None:
    """So are those whose outcomes other rules made; inside the caller's transaction. Raises StoreFault."""
    if database.value("SELECT value FROM embedding_meta WHERE key = ?", (RULES,)) != rules:
        database.run(
            "INSERT OR REPLACE INTO outcomes_due(source_project, conversation_id, from_index) "
            "SELECT DISTINCT source_project, conversation_id, 0 FROM outcomes WHERE rules != ?",
            (rules,),
        )
        database.run("INSERT OR REPLACE INTO embedding_meta(key, value) VALUES (?, ?)", (RULES, rules))


def pending(database: Database) -> int:
    """How many conversations are due. Raises StoreFault."""
    return int(database.value("SELECT count(*) FROM outcomes_due"))


def due(database: Database, most: int) -> list[Due]:
    """Some of them. Raises StoreFault."""
    rows = database.run("SELECT source_project, conversation_id, from_index FROM outcomes_due LIMIT ?", (most,))
    return [Due(*row) for row in rows]


def first_to_derive(database: Database, one: Due) -> int:
    """Where the episode begins that the first new row may change: the last one that was answered before it. Raises StoreFault.

    One that had no answer yet may be what the person said next of the one before it.
    """
    found = database.value(
        "SELECT first_index FROM outcomes o WHERE o.source_project = ?1 AND o.conversation_id = ?2 AND o.first_index < ?3 "
        "AND EXISTS (SELECT 1 FROM prompts p WHERE p.source_project = ?1 AND p.conversation_id = ?2 "
        "AND p.turn_index >= o.first_index AND p.turn_index < ?3 AND p.role = 'assistant') "
        "ORDER BY o.first_index DESC LIMIT 1",
        (one.project, one.conversation_id, one.from_index),
    )
    return int(found or 0)


def signature(database: Database, one: Due, first_index: int) -> int | None:
    """A number that is another one, in this process, where anything has changed that the conversation's endings are read from.

    None where it is not due any more, or from another row on. Raises StoreFault.
    """
    if one not in (
        Due(*row)
        for row in database.run(
            "SELECT source_project, conversation_id, from_index FROM outcomes_due WHERE source_project = ? AND conversation_id = ?",
            (one.project, one.conversation_id),
        )
    ):
        return None
    known = of_conversation(database, one.project, one.conversation_id)
    value = hash((first_to_derive(database, one), *changes_of_tasks(database, one), *known.values()))
    for row in database.rows(ROWS, (one.project, one.conversation_id, first_index)):
        value = hash((value, row))
    return value


def rows_from(database: Database, one: Due, first_index: int) -> Iterator[Said]:
    """The conversation's rows from there on. Raises StoreFault."""
    for id_, index, role, content, metadata, when in database.rows(
        ROWS, (one.project, one.conversation_id, first_index)
    ):
        yield Said(id_, index, role, content, orjson.loads(metadata or "{}"), when)


def changes_of_tasks(database: Database, one: Due) -> list[Changed]:
    """The states, the first one among them, that tasks of the conversation came to, in order. Raises StoreFault."""
    rows = database.run(
        "SELECT s.at, t.id, s.status FROM task_conversations c JOIN tasks t ON t.id = c.task_id "
        "JOIN task_states s ON s.task_id = t.id WHERE c.conversation_id = ? AND t.project = ? AND s.at IS NOT NULL "
        f"AND t.id NOT IN {pending_delete_ids('tasks')} ORDER BY s.at, s.id",
        (one.conversation_id, one.project),
    )
    return [Changed(*row) for row in rows]


def replace(database: Database, one: Due, first_index: int, endings: Sequence[tuple[int, Ending]], rules: str) -> None:
    """The endings of a conversation's episodes from there on, each with the id of the row that asks, in the place of what was there.

    The conversation is then no longer due. Inside the caller's transaction. Raises StoreFault.
    """
    conversation = (one.project, one.conversation_id)
    database.run(
        "DELETE FROM outcomes WHERE source_project = ? AND conversation_id = ? AND first_index >= ?",
        (*conversation, first_index),
    )
    database.run_many(
        "INSERT OR REPLACE INTO outcomes(source_project, conversation_id, first_index, last_index, prompt_id, verdict, "
        "confidence, signal, evidence_json, rules) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (*conversation, end.first_index, end.last_index, id_, end.verdict, end.confidence, end.signal,
             orjson.dumps([(shown.text, shown.id, shown.turn_index) for shown in end.evidence]).decode(), rules)
            for id_, end in endings
        ],
    )  # fmt: skip
    database.run("DELETE FROM outcomes_due WHERE source_project = ? AND conversation_id = ?", conversation)


def of_turn(database: Database, item: Item) -> Ending | None:
    """The ending of the turn's episode; None where it was not derived yet, or not since the conversation changed. Raises StoreFault."""
    found = database.run(
        f"SELECT {OUTCOME_COLUMNS} FROM outcomes o WHERE o.source_project = ?1 AND o.conversation_id = ?2 AND o.first_index <= ?3 "
        f"AND {KNOWN} AND NOT EXISTS (SELECT 1 FROM outcomes_due d WHERE d.source_project = ?1 AND d.conversation_id = ?2) "
        "ORDER BY o.first_index DESC LIMIT 1",
        (item.project, item.conversation_id, item.turn_index),
    )
    return _ending(found[0]) if found and found[0][1] >= item.turn_index else None


def before(database: Database, item: Item, first_index: int, most: int) -> list[Ended]:
    """The episodes of its conversation that begin before the index, in order, at most the last so many. Raises StoreFault."""
    rows = database.run(
        f"{ENDED} WHERE o.source_project = ? AND o.conversation_id = ? AND o.first_index < ? AND {KNOWN} "
        "ORDER BY o.first_index DESC LIMIT ?",
        (item.project, item.conversation_id, first_index, most),
    )
    return [_ended(row) for row in rows[::-1]]


def after(database: Database, project: str, conversation_id: str, last_index: int, most: int) -> list[Ended]:
    """Those that begin after it, in order. Raises StoreFault."""
    rows = database.run(
        f"{ENDED} WHERE o.source_project = ? AND o.conversation_id = ? AND o.first_index > ? AND {KNOWN} "
        "ORDER BY o.first_index LIMIT ?",
        (project, conversation_id, last_index, most),
    )
    return [_ended(row) for row in rows]


def told_of(database: Database, project: str | None, hidden: Sequence[str], most: int) -> list[Ended]:
    """The newest episodes whose outcome is said, of one project or of all but the hidden ones. Raises StoreFault."""
    rows = database.run(
        f"{ENDED} WHERE o.confidence >= ? AND o.verdict != 'unknown' AND {KNOWN} "
        "AND ifnull(o.source_project = ?, 1) AND o.source_project NOT IN (SELECT value FROM json_each(?)) "
        "ORDER BY p.timestamp DESC, o.prompt_id DESC LIMIT ?",
        (LEAST_CONFIDENCE, project, orjson.dumps(hidden).decode(), most),
    )
    return [_ended(row) for row in rows]


def by_signal(database: Database, filters: Filters, signal: str, most: int, *, among: bool) -> tuple[list[Ended], int]:
    """The newest questions of which one of the filters' outcomes is said, by that signal or by others, and how many there are. Raises StoreFault.

    Of the filters count outcomes, project and hidden projects. What nothing is said of has to have an answer.
    """
    which = (
        "WHERE iif(o.confidence >= ?, o.verdict, 'unknown') IN (SELECT value FROM json_each(?)) AND (o.signal = ?) = ? "
        "AND p.role NOT IN ('assistant', 'tool') AND (o.signal != '' OR EXISTS ("
        "SELECT 1 FROM prompts a WHERE a.source_project = o.source_project AND a.conversation_id = o.conversation_id "
        f"AND a.turn_index BETWEEN o.first_index AND o.last_index AND a.role = 'assistant')) AND {KNOWN} "
        "AND ifnull(o.source_project = ?, 1) AND o.source_project NOT IN (SELECT value FROM json_each(?))"
    )
    said, hidden = (orjson.dumps(values).decode() for values in (filters.outcomes, filters.hidden))
    values = (LEAST_CONFIDENCE, said, signal, among, filters.project, hidden)
    rows = database.run(f"{ENDED} {which} ORDER BY p.timestamp DESC, o.prompt_id DESC LIMIT ?", (*values, most))
    total = database.value(f"SELECT count(*) FROM outcomes o JOIN prompts p ON p.id = o.prompt_id {which}", values)
    return [_ended(row) for row in rows], int(total)


def _ended(row: Sequence[object]) -> Ended:
    id_, text, of, said_in, when, *ending = row
    return Ended(id_, text, (of, said_in), when, _ending(ending))  # type: ignore[arg-type] # as the columns are declared


def _ending(row: Sequence[object]) -> Ending:
    first, last, verdict, confidence, signal, evidence = row
    quotations = tuple(Quotation(*shown) for shown in orjson.loads(str(evidence)))
    return Ending(first, last, verdict, confidence, signal, quotations)  # type: ignore[arg-type] # as the columns are declared
