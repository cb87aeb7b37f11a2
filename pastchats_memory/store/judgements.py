"""Judgements: how episodes ended by whoever read them, kept as where the words stand that show it."""

from __future__ import annotations

from typing import NamedTuple

from pastchats_memory.store.database import Database

COLUMNS = "j.prompt_id, j.verdict, j.shown_in, j.shown_from, j.shown_length, j.read_digest"


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
    digest: bytes
    """Of what was read, by which it is known whether that is still the same."""


def put(database: Database, judgement: Judgement) -> None:
    """In the place of an earlier one of the same episode; inside the caller's transaction. Raises StoreFault."""
    database.run(
        "INSERT OR REPLACE INTO judgements(prompt_id, verdict, shown_in, shown_from, shown_length, read_digest) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        judgement,
    )


def drop(database: Database, asked: int) -> bool:
    """Whether there was one of the episode that the turn asks for; inside the caller's transaction. Raises StoreFault."""
    return bool(database.run("DELETE FROM judgements WHERE prompt_id = ? RETURNING prompt_id", (asked,)))


def of_conversation(database: Database, project: str, conversation_id: str) -> dict[int, Judgement]:
    """Those of a conversation's episodes, by the turn that asks. Raises StoreFault."""
    rows = database.run(
        f"SELECT {COLUMNS} FROM judgements j JOIN prompts p ON p.id = j.prompt_id "
        "WHERE p.source_project = ? AND p.conversation_id = ?",
        (project, conversation_id),
    )
    return {row[0]: Judgement(*row) for row in rows}
