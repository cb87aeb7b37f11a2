"""Find the rows of a word without NumPy, for a caller that only decides whether to search."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from pastchats_memory.store.database import LISTED, Database, bind_list

if TYPE_CHECKING:
    from pastchats_memory.model import Item

MOST_ROWS = 20_000
"""Rows of a word that are looked at; a more frequent one names hardly anything."""
MOST_READ = 100
"""Rows whose text is read for a part of a word."""
FULL_TEXT = ("prompts_fts", "task_texts_fts", "tool_calls_fts")
PARTS = (
    "SELECT id, content FROM visible_prompts WHERE id IN (SELECT rowid FROM trigrams WHERE trigrams MATCH ?1 LIMIT ?2) "
    "UNION ALL SELECT id, content || ' ' || labels FROM visible_task_texts "
    "WHERE id IN (SELECT rowid FROM trigrams WHERE trigrams MATCH ?1 LIMIT ?2)"
)

OF_PROJECT = (
    "SELECT id FROM visible_prompts WHERE source_project = ?1 AND id IN (SELECT value FROM json_each(?2)) "
    "UNION ALL SELECT t.id FROM visible_task_texts t JOIN visible_tasks k ON k.id = t.task_id "
    "WHERE k.project = ?1 AND t.id IN (SELECT value FROM json_each(?2))"
)


def last_turn(database: Database) -> int:
    """Return the greatest id of a turn, 0 if there is none: at least the number of turns."""
    return int(database.value("SELECT max(id) FROM visible_prompts") or 0)


def find_rows(database: Database, word: str) -> set[int]:
    """Return the rows that have a word, in their text or in the calls of their tools."""
    found: set[int] = set()
    for table in FULL_TEXT:
        statement = f"SELECT rowid FROM {table} WHERE {table} MATCH ? LIMIT {MOST_ROWS}"
        found.update(id_ for (id_,) in database.run(statement, (quote(word),)))
    return found


def find_phrase(database: Database, phrase: str, project: str, limit: int) -> list[int]:
    """Return the user's turns of a project that have a phrase, the newest first."""
    return database.column(
        "SELECT id FROM visible_prompts WHERE role = 'user' AND source_project = ? AND id IN "
        "(SELECT rowid FROM prompts_fts WHERE prompts_fts MATCH ?) ORDER BY timestamp DESC, id DESC LIMIT ?",
        (project, f"content : {quote(phrase)}", limit),
    )


def find_first_rows(database: Database, word: str, most: int) -> list[int]:
    """Return up to `most` turns whose text has a word."""
    return database.column(
        "SELECT rowid FROM prompts_fts WHERE prompts_fts MATCH ? LIMIT ?", (f"content : {quote(word)}", most)
    )


def find_parts(database: Database, part: str) -> set[int]:
    """Return the rows that have a lower-case text within a word; all candidates if they are too many to be read."""
    trigrams = " AND ".join(quote(part[start : start + 3]) for start in range(len(part) - 2))
    if not trigrams:
        return set()
    candidates = database.run(PARTS, (trigrams, MOST_READ))
    is_cut = len(candidates) >= MOST_READ
    return {id_ for id_, content in candidates if is_cut or part in content.lower()}


def rows_of_project(database: Database, ids: Iterable[int], project: str | None) -> list[int]:
    """Return those of some rows that belong to a project; none without a project."""
    return [] if project is None else database.column(OF_PROJECT, (project, bind_list(ids)))


def select_prompts(database: Database, ids: Iterable[int], project: str, not_conversation: str) -> list[int]:
    """Return those of some rows that are prompts of a project's other conversations."""
    return database.column(
        f"SELECT id FROM visible_prompts WHERE id IN {LISTED} AND source_project = ? "
        "AND role = 'user' AND conversation_id != ?",
        (bind_list(ids), project, not_conversation),
    )


def select_earlier(database: Database, ids: Iterable[int], message: "Item") -> list[int]:
    """Return those of some rows that are turns of a message's project before the message."""
    return database.column(
        f"SELECT id FROM visible_prompts WHERE id IN {LISTED} AND source_project = ? "
        "AND role != 'note' AND conversation_id IS NOT NULL AND timestamp < ?",
        (bind_list(ids), message.project, message.timestamp),
    )


def quote(text: str) -> str:
    """Return a text as one FTS5 string, in which nothing is syntax."""
    return '"' + text.replace('"', '""') + '"'
