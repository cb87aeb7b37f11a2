"""Store outcomes of episodes: derived ones, judgements, and the conversations whose outcomes are due."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import orjson

from pastchats_memory.model import Filters, Item, Metadata
from pastchats_memory.store.database import LISTED, Database, bind_list
from pastchats_memory.store.replies import StoredReply

JUDGEMENT_COLUMNS = (
    "j.prompt_id, j.verdict, j.shown_in, j.shown_from, j.shown_length, "
    "(SELECT json_group_array(r.turn_id) FROM judgement_reads r WHERE r.prompt_id = j.prompt_id)"
)
"""Columns of `judgements AS j` for `judgement_of_row`."""


class Judgement(NamedTuple):
    """Label that a person or an agent gave an episode after reading it."""

    question_id: int
    """Id of the turn that asks."""
    verdict: str
    """One of `OUTCOMES`."""
    shown_in: int | None
    """Id of the turn with the quoted words; None for unknown."""
    start: int
    """Character of its text at which the quotation begins."""
    length: int
    """Characters."""
    read: frozenset[int]
    """Ids of the turns that it is based on; if one is changed or deleted, the judgement is deleted."""


def store_judgement(database: Database, judgement: Judgement) -> None:
    """Store a judgement, replacing one of the same episode, inside the caller's transaction."""
    delete_judgement(database, judgement.question_id)
    *fields, read = judgement
    database.run(
        "INSERT INTO judgements(prompt_id, verdict, shown_in, shown_from, shown_length) VALUES (?, ?, ?, ?, ?)", fields
    )
    database.run_many(
        "INSERT INTO judgement_reads(turn_id, prompt_id) VALUES (?, ?)", [(id_, judgement.question_id) for id_ in read]
    )


def delete_judgement(database: Database, question_id: int) -> bool:
    """Delete the judgement of the episode that a turn begins.

    Return whether there was one.

    Call it inside a transaction.
    """
    return bool(database.run("DELETE FROM judgements WHERE prompt_id = ? RETURNING prompt_id", (question_id,)))


def conversation_judgements(database: Database, project: str, conversation_id: str) -> dict[int, Judgement]:
    """Return the judgements of a conversation, by the id of the turn that asks."""
    rows = database.run(
        f"SELECT {JUDGEMENT_COLUMNS} FROM judgements j JOIN visible_prompts p ON p.id = j.prompt_id WHERE p.source_project = ? AND p.conversation_id = ?",
        (project, conversation_id),
    )
    return {row[0]: judgement_of_row(row) for row in rows}


def judgement_of_row(row: Sequence[Any]) -> Judgement:
    """Return the judgement of a row with JUDGEMENT_COLUMNS."""
    question_id, verdict, shown_in, start, length, read = row
    return Judgement(question_id, verdict, shown_in, start, length, frozenset(orjson.loads(read)))


RULES = "outcome_rules"
"""Key of `embedding_meta`: the version of the rules that derive outcomes."""
OUTCOME_COLUMNS = "o.first_index, o.last_index, o.verdict, o.confidence, o.signal, o.evidence_json"
ROWS = (
    "SELECT id, turn_index, role, content, metadata_json, timestamp, kind, probability, complaint, approval "
    "FROM visible_prompts LEFT JOIN replies ON prompt_id = id "
    "WHERE source_project = ? AND conversation_id = ? AND turn_index >= ? AND role != 'note' "
    "ORDER BY turn_index, id"
)
"""Rows of a conversation from an index on, in order, without notes."""
OPENING = 2000
"""Characters of a question that are read to compare it with others."""
_COLUMNS = f"SELECT o.prompt_id, substr(p.content, 1, {OPENING}), o.source_project, o.conversation_id, p.timestamp, {OUTCOME_COLUMNS} FROM"
ENDED = f"{_COLUMNS} visible_outcomes o JOIN visible_prompts p ON p.id = o.prompt_id"
"""Statement for `_ended`."""
_FROM_NEWEST = (
    "visible_prompts p CROSS JOIN visible_outcomes o USING (source_project, conversation_id) "
    "WHERE o.first_index = (SELECT max(i.first_index) FROM visible_outcomes i WHERE i.source_project = p.source_project "
    "AND i.conversation_id = p.conversation_id AND i.first_index <= p.turn_index) AND o.prompt_id = p.id"
)
"""Reads from the newest row on, so that a long history is not read whole."""
UNANSWERED = "unanswered"
"""Signal of an episode that was stopped before any answer."""
LEAST_CONFIDENCE = 0.7
"""Confidence from which on an outcome is shown: the other signals are wrong too often."""

MOST_COUNTED = 1000
"""Episodes that are counted beyond those that are listed."""


class Quotation(NamedTuple):
    """A quoted line of a stored turn."""

    text: str
    id: int
    """Id of the turn."""
    turn_index: int = -1
    """Index of the turn in its conversation."""


class Ending(NamedTuple):
    """Outcome of an episode: the turns of a conversation from one `turn_index` to another, both inclusive."""

    first_index: int
    last_index: int
    verdict: str
    """One of `OUTCOMES`."""
    confidence: float
    """Share of labelled episodes in which the signal was right, 0 to 1; 0 for unknown."""
    signal: str
    """The rule that decided; empty for unknown."""
    evidence: tuple[Quotation, ...] = ()
    """At most two lines that show it; for unknown, the user's next words."""

    @property
    def is_answered(self) -> bool:
        """Return whether something was tried: it was not stopped before any answer."""
        return self.signal != UNANSWERED

    @property
    def outcome(self) -> str:
        """The verdict if its confidence suffices, else `unknown`."""
        return self.verdict if self.confidence >= LEAST_CONFIDENCE else "unknown"

    @property
    def shown_by(self) -> str:
        """The line that shows the verdict, empty for unknown."""
        return self.evidence[-1].text if self.evidence and self.outcome != "unknown" else ""


class Due(NamedTuple):
    """A conversation whose outcomes are due, from the index of the first new row."""

    project: str
    conversation_id: str
    from_index: int


class Ended(NamedTuple):
    """An episode with its question and outcome."""

    question_id: int
    """Id of the turn that asks."""
    text: str
    """The first 2,000 characters of that turn."""
    conversation: tuple[str, str]
    """Project and id."""
    timestamp: str | None
    ending: Ending


class Tally(NamedTuple):
    """Number of a project's episodes that began on one day and have one outcome."""

    project: str
    day: str
    """ISO date in UTC."""
    verdict: str
    """As it is shown."""
    episodes: int


class TurnRow(NamedTuple):
    """Fields of a turn that the rules of outcomes read."""

    id: int
    turn_index: int
    role: str
    content: str
    metadata: Metadata
    timestamp: str | None = None
    reply: StoredReply | None = None
    """Meaning of the user's message, if it is stored."""


class Changed(NamedTuple):
    """A change of a task's state."""

    at: str
    task: int
    """Id of the task."""
    status: str


def mark_all(database: Database) -> None:
    """Mark all conversations as due, inside the caller's transaction."""
    database.run(
        "INSERT OR REPLACE INTO outcomes_due(source_project, conversation_id, from_index) "
        "SELECT DISTINCT source_project, conversation_id, 0 FROM prompts WHERE conversation_id IS NOT NULL"
    )


def mark(database: Database, one: Due) -> None:
    """Mark a conversation as due from an index on, inside the caller's transaction."""
    database.run(
        "INSERT INTO outcomes_due(source_project, conversation_id, from_index) VALUES (?, ?, ?) "
        "ON CONFLICT DO UPDATE SET from_index = min(from_index, excluded.from_index)",
        one,
    )


def mark_of_tasks(database: Database, ids: Sequence[int], at: str | None = None) -> None:
    """Mark the conversations of tasks as due, from the episode at a time on, inside the caller's transaction."""
    database.run(
        "INSERT INTO outcomes_due(source_project, conversation_id, from_index) "
        "SELECT o.source_project, o.conversation_id, ifnull(max(o.first_index) FILTER (WHERE p.timestamp <= ?2), 0) "
        "FROM task_conversations c JOIN tasks t ON t.id = c.task_id "
        "JOIN outcomes o ON o.source_project = t.project AND o.conversation_id = c.conversation_id "
        "LEFT JOIN prompts p ON p.id = o.prompt_id WHERE c.task_id IN (SELECT value FROM json_each(?1)) GROUP BY 1, 2 "
        "ON CONFLICT DO UPDATE SET from_index = min(from_index, excluded.from_index)",
        (bind_list(ids), at),
    )


def claim_rules(database: Database, rules: str) -> None:
    """Mark conversations as due whose outcomes other rules derived, inside the caller's transaction."""
    if database.value("SELECT value FROM embedding_meta WHERE key = ?", (RULES,)) != rules:
        database.run(
            "INSERT OR REPLACE INTO outcomes_due(source_project, conversation_id, from_index) "
            "SELECT DISTINCT source_project, conversation_id, 0 FROM outcomes WHERE rules != ?",
            (rules,),
        )
        database.run("INSERT OR REPLACE INTO embedding_meta(key, value) VALUES (?, ?)", (RULES, rules))


def pending(database: Database) -> int:
    """Return the number of conversations that are due."""
    return database.number("SELECT count(*) FROM outcomes_due")


def due(database: Database, most: int) -> list[Due]:
    """Return up to `most` conversations that are due."""
    rows = database.run("SELECT source_project, conversation_id, from_index FROM outcomes_due LIMIT ?", (most,))
    return [Due(*row) for row in rows]


def first_to_derive(database: Database, one: Due) -> int:
    """Return the first index of the episode that new rows may change: the last one with an answer.

    An episode without an answer may be the user's next words of the one before it.
    """
    found = database.value(
        "SELECT first_index FROM outcomes o WHERE o.source_project = ?1 AND o.conversation_id = ?2 AND o.first_index < ?3 "
        "AND EXISTS (SELECT 1 FROM visible_prompts p WHERE p.source_project = ?1 AND p.conversation_id = ?2 "
        "AND p.turn_index >= o.first_index AND p.turn_index < ?3 AND p.role = 'assistant') "
        "ORDER BY o.first_index DESC LIMIT 1",
        (one.project, one.conversation_id, one.from_index),
    )
    return int(found or 0)


def signature(database: Database, one: Due, first_index: int) -> int | None:
    """Return a hash, valid in this process, of everything that the conversation's outcomes are derived from.

    Return None if the conversation is no longer due, or from another row on.
    """
    if one not in (
        Due(*row)
        for row in database.run(
            "SELECT source_project, conversation_id, from_index FROM outcomes_due WHERE source_project = ? AND conversation_id = ?",
            (one.project, one.conversation_id),
        )
    ):
        return None
    known = conversation_judgements(database, one.project, one.conversation_id)
    refuted = database.run(
        "SELECT r.turn_id, r.prompt_id FROM refutations r JOIN visible_prompts p ON p.id = r.prompt_id "
        "WHERE p.source_project = ? AND p.conversation_id = ? ORDER BY 1", (one.project, one.conversation_id)
    )  # fmt: skip
    value = hash((first_to_derive(database, one), *changes_of_tasks(database, one), *known.values(), *refuted))
    for row in database.rows(ROWS, (one.project, one.conversation_id, first_index)):
        value = hash((value, row))
    return value


def rows_from(database: Database, one: Due, first_index: int) -> Iterator[TurnRow]:
    """Yield the conversation's turns from an index on."""
    for id_, index, role, content, metadata, when, *reply in database.rows(
        ROWS, (one.project, one.conversation_id, first_index)
    ):
        meaning = None if reply[0] is None else StoredReply(*reply)
        yield TurnRow(id_, index, role, content, orjson.loads(metadata or "{}"), when, meaning)


def changes_of_tasks(database: Database, one: Due) -> list[Changed]:
    """Return all states of the conversation's tasks with their times, in order."""
    rows = database.run(
        "SELECT s.at, t.id, s.status FROM task_conversations c JOIN visible_tasks t ON t.id = c.task_id "
        "JOIN task_states s ON s.task_id = t.id WHERE c.conversation_id = ? AND t.project = ? AND s.at IS NOT NULL "
        "ORDER BY s.at, s.id",
        (one.conversation_id, one.project),
    )
    return [Changed(*row) for row in rows]


def replace(database: Database, one: Due, first_index: int, endings: Sequence[tuple[int, Ending]], rules: str) -> None:
    """Replace the outcomes of a conversation from an index on, inside the caller's transaction; it is then no longer due.

    `endings` has, for each episode, the id of the turn that asks, and the outcome.
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


MOST_UNKNOWN = 8
"""Episodes among which the last known outcome of a conversation is looked for."""


def of_turn(database: Database, item: Item) -> Ending | None:
    """Return the outcome of a turn's episode, or None if it is due."""
    found = database.run(
        f"SELECT {OUTCOME_COLUMNS} FROM visible_outcomes o WHERE o.source_project = ?1 AND o.conversation_id = ?2 AND o.first_index <= ?3 "
        "AND NOT EXISTS (SELECT 1 FROM outcomes_due d WHERE d.source_project = ?1 AND d.conversation_id = ?2) "
        "ORDER BY o.first_index DESC LIMIT 1",
        (item.project, item.conversation_id, item.turn_index),
    )
    return _ending(found[0]) if found and found[0][1] >= item.turn_index else None


def before(database: Database, item: Item, first_index: int, most: int) -> list[Ended]:
    """Return up to `most` episodes of the item's conversation that begin before an index, in order."""
    rows = database.run(
        f"{ENDED} WHERE o.source_project = ? AND o.conversation_id = ? AND o.first_index < ? "
        "ORDER BY o.first_index DESC LIMIT ?",
        (item.project, item.conversation_id, first_index, most),
    )
    return [_ended(row) for row in rows[::-1]]


def last_known(database: Database, item: Item) -> Ending | None:
    """Return the last outcome in the item's conversation up to the item that is not `unknown`, else that of its episode."""
    endings = (one.ending for one in reversed(before(database, item, item.turn_index + 1, MOST_UNKNOWN)))
    return next((ending for ending in endings if ending.outcome != "unknown"), None) or of_turn(database, item)


def after(database: Database, project: str, conversation_id: str, last_index: int, most: int) -> list[Ended]:
    """Return up to `most` episodes of a conversation that begin after an index, in order."""
    rows = database.run(
        f"{ENDED} WHERE o.source_project = ? AND o.conversation_id = ? AND o.first_index > ? "
        "ORDER BY o.first_index LIMIT ?",
        (project, conversation_id, last_index, most),
    )
    return [_ended(row) for row in rows]


def latest_known(database: Database, project: str | None, most: int) -> list[Ended]:
    """Return the newest episodes with a known outcome, of one project or of all."""
    rows = database.run(
        f"{ENDED} WHERE o.confidence >= ? AND o.verdict != 'unknown' "
        "AND ifnull(o.source_project = ?, 1) ORDER BY p.timestamp DESC, o.prompt_id DESC LIMIT ?",
        (LEAST_CONFIDENCE, project, most),
    )
    return [_ended(row) for row in rows]


OF_A_PERSON = "(p.role = 'user' OR p.metadata_json ->> '$.flags' LIKE '%watched%')"
"""Condition of an episode that a person began; agents begin those of subagents."""


def within(database: Database, filters: Filters, most: int) -> list[Ended]:
    """Return the newest episodes that a person began in a span, in order of time; the filters name project and times."""
    of_project = "p.source_project = ?" if filters.project else "ifnull(?, 1)"  # each has an index by time
    rows = database.run(
        f"SELECT * FROM ({_COLUMNS} {_FROM_NEWEST} AND p.timestamp BETWEEN ? AND ? "
        f"AND {of_project} AND {OF_A_PERSON} "
        "ORDER BY p.timestamp DESC, o.prompt_id DESC LIMIT ?) ORDER BY timestamp, prompt_id",
        (filters.since or "", filters.until or "~", filters.project, most),
    )
    return [_ended(row) for row in rows]


def find_newest(database: Database, filters: Filters) -> str | None:
    """Return the time of the newest prompt up to the end of a span, whenever the span begins; None for none."""
    newest: str | None = database.value(
        "SELECT max(p.timestamp) FROM visible_prompts p WHERE p.timestamp <= ? AND ifnull(p.source_project = ?, 1) "
        "AND p.role = 'user' AND p.conversation_id IS NOT NULL",
        (filters.until or "~", filters.project),
    )
    return newest


def tally(database: Database, project: str | None) -> list[Tally]:
    """Count the episodes of each day by outcome, of one project or of all, in order of time."""
    rows = database.run(
        "SELECT o.source_project, substr(p.timestamp, 1, 10) AS day, "
        f"CASE WHEN o.confidence >= {LEAST_CONFIDENCE} THEN o.verdict ELSE 'unknown' END AS shown, count(*) "
        "FROM visible_outcomes o JOIN visible_prompts p ON p.id = o.prompt_id "
        f"WHERE p.timestamp IS NOT NULL AND ifnull(o.source_project = ?, 1) "
        "GROUP BY o.source_project, day, shown ORDER BY day",
        (project,),
    )
    return [Tally(*row) for row in rows]


def by_signal(database: Database, filters: Filters, signal: str, most: int, *, among: bool) -> tuple[list[Ended], int]:
    """Return the newest episodes with one of the filters' outcomes, and their number, counted up to MOST_COUNTED more.

    With `among`, the outcomes are those by this signal, else those by others. An episode with an unknown outcome and no
    signal must have an answer.
    """
    which = (
        f"iif(o.confidence >= ?, o.verdict, 'unknown') IN {LISTED} AND (o.signal = ?) = ? "
        "AND p.role NOT IN ('assistant', 'tool') AND (o.signal != '' OR EXISTS ("
        "SELECT 1 FROM visible_prompts a WHERE a.source_project = o.source_project AND a.conversation_id = o.conversation_id "
        "AND a.turn_index BETWEEN o.first_index AND o.last_index AND a.role = 'assistant')) "
        "AND ifnull(p.source_project = ?, 1)"
    )
    values = (LEAST_CONFIDENCE, bind_list(filters.outcomes), signal, among, filters.project)
    order = "ORDER BY p.timestamp DESC, p.id DESC"
    found = f"SELECT o.prompt_id FROM {_FROM_NEWEST} AND {which} {order} LIMIT ?"
    ids = [id_ for (id_,) in database.run(found, (*values, most + MOST_COUNTED))]
    newest = (bind_list(ids[:most]),)
    rows = database.run(f"{ENDED} WHERE o.prompt_id IN (SELECT value FROM json_each(?)) {order}", newest)
    return [_ended(row) for row in rows], len(ids)


def _ended(row: Sequence[object]) -> Ended:
    id_, text, project, conversation_id, when, *ending = row
    return Ended(id_, text, (project, conversation_id), when, _ending(ending))  # type: ignore[arg-type] # as the columns are declared


def _ending(row: Sequence[object]) -> Ending:
    first, last, verdict, confidence, signal, evidence = row
    quotations = tuple(Quotation(*shown) for shown in orjson.loads(str(evidence)))
    return Ending(first, last, verdict, confidence, signal, quotations)  # type: ignore[arg-type] # as the columns are declared
