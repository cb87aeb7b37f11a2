"""Judgements: how episodes ended by whoever read them, kept as where the words stand that show it, and as the turns that were read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import orjson

from pastchats_memory.store.database import Database

COLUMNS = (
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
        f"SELECT {COLUMNS} FROM judgements j JOIN prompts p ON p.id = j.prompt_id WHERE p.source_project = ? AND p.conversation_id = ?",
        (project, conversation_id),
    )
    return {row[0]: of_row(row) for row in rows}


def of_row(row: Sequence[Any]) -> Judgement:
    """Of the columns as they are selected."""
    asked, verdict, shown_in, start, length, read = row
    return Judgement(asked, verdict, shown_in, start, length, frozenset(orjson.loads(read)))
