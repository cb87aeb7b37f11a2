"""Every text that is stored, to be looked through again for secrets, and to be written without them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pastchats_memory.model import Comment
from pastchats_memory.store import scrub
from pastchats_memory.store.database import LISTED, Database, bind_list
from pastchats_memory.store.sources import REDACTED, meta, set_meta
from pastchats_memory.store.tasks import numbered_comment
from pastchats_memory.store.turns import set_vectors

RULES = "redaction_rules"
"""Key of `embedding_meta`: version of the rules that redacted all stored text; empty if there were several."""
CHUNK = 256
"""Rows that are read together."""


class Texts(NamedTuple):
    """A table with text, and the kind of each of its columns."""

    table: str
    key: tuple[str, ...]
    """Columns that identify a row."""
    words: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    json: tuple[str, ...] = ()
    of_task: str | None = None
    """Column with the task whose search texts are derived from the row."""

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns with text."""
        return (*self.words, *self.paths, *self.json)


TURNS = Texts(
    "prompts",
    ("id",),
    ("content", "source_project", "conversation_id", "role"),
    ("source_path", "folder"),
    ("metadata_json",),
)
TASK_TEXTS = (
    Texts(
        "tasks", ("id",), ("key", "native_id", "title", "description", "status_raw", "project"), ("source_path",),
        ("tags_json", "metadata_json"), of_task="id",
    ),
    Texts("task_comments", ("id",), ("author", "content"), of_task="task_id"),
    Texts("task_attachments", ("id",), ("name", "content"), of_task="task_id"),
    Texts("task_states", ("id",), ("status_raw",), of_task="task_id"),
    Texts("task_links", ("task_id", "kind", "target"), ("name",), of_task="task_id"),
    Texts("task_conversations", ("task_id", "conversation_id"), ("conversation_id",), of_task="task_id"),
)  # fmt: skip
OTHER_TEXTS = (
    Texts("sources", ("id",), ("note", "project"), ("path",), ("problems", "resume")),
    Texts("runs", ("id",), json=("inputs", "answer")),
    Texts("project_folders", ("folder",), ("project",), ("folder",)),
    Texts("forgettings", ("id",), json=("selector",)),
    Texts("recalled", ("id",), ("content",)),
)
"""Tables with text besides turns and tasks: files, runs, folders, forgettings and what hooks gave."""


class StoredTexts(NamedTuple):
    """A stored row with its texts."""

    key: tuple[Any, ...]
    texts: dict[str, str]
    """By column, without NULL."""
    task: int | None


def claim_rules(database: Database, rules: str) -> None:
    """Store the version of the rules that redact new text, inside the caller's transaction."""
    known = meta(database).get(RULES)
    if known == rules:
        return
    if is_empty(database):
        set_meta(database, {RULES: rules})
    elif known:
        set_meta(database, {RULES: ""})


def are_all_by(database: Database, rules: str) -> bool:
    """Return whether these rules redacted all stored text."""
    return meta(database).get(RULES) == rules or is_empty(database)


def is_empty(database: Database) -> bool:
    """Return whether no turn and no task is stored."""
    return not database.value("SELECT EXISTS (SELECT 1 FROM prompts) OR EXISTS (SELECT 1 FROM tasks)")


def count_rows(database: Database) -> int:
    """Return the number of rows with text."""
    return sum(int(database.value(f"SELECT count(*) FROM {kind.table}")) for kind in (TURNS, *TASK_TEXTS, *OTHER_TEXTS))


def turns(database: Database, after: int = 0) -> Iterator[list[tuple[int, str, int, StoredTexts]]]:
    """Yield batches of turns with a higher id: id, key of the conversation, turn_index, row."""
    columns = ", ".join(TURNS.columns)
    while True:
        rows = database.run(
            f"SELECT id, source_project || char(0) || ifnull(conversation_id, ''), turn_index, {columns} FROM prompts "
            "WHERE id > ? ORDER BY id LIMIT ?",
            (after, CHUNK),
        )
        if not rows:
            return
        yield [(row[0], row[1], row[2], StoredTexts((row[0],), _texts(TURNS, row[3:]), None)) for row in rows]
        after = rows[-1][0]


def rows(database: Database, kind: Texts, keys: Sequence[tuple[Any, ...]] | None = None) -> Iterator[StoredTexts]:
    """Yield the rows of a table, all or those with these keys."""
    named = ", ".join(kind.key)
    statement = f"SELECT {named}, {kind.of_task or 'NULL'}, {', '.join(kind.columns)} FROM {kind.table}"
    if keys is None:
        found: Iterator[tuple[Any, ...]] = database.rows(f"{statement} ORDER BY {named}")
    else:
        marks = " AND ".join(f"{column} IS ?" for column in kind.key)
        found = (row for key in keys for row in database.run(f"{statement} WHERE {marks}", key))
    width = len(kind.key)
    return (StoredTexts(tuple(row[:width]), _texts(kind, row[width + 1 :]), row[width]) for row in found)


def _texts(kind: Texts, values: Sequence[Any]) -> dict[str, str]:
    return {column: value for column, value in zip(kind.columns, values, strict=True) if value is not None}


def rewrite(database: Database, kind: Texts, key: tuple[Any, ...], values: Mapping[str, str | None]) -> None:
    """Replace the texts of a row, inside the caller's transaction.

    Rows that are equal without their secrets become one, except tasks.
    """
    values = dict(values)
    if kind.table == "sources" and values.get("path"):
        other = database.value("SELECT id FROM sources WHERE path = ? AND id != ?", (values["path"], int(key[0])))
        if other is not None:  # another file has the same path after redaction: this one gets its occurrences
            database.run("UPDATE OR IGNORE sightings SET source_id = ? WHERE source_id = ?", (int(key[0]), other))
    if kind.table == "tasks":
        values["passage"] = None  # as in `rewrite_turn`
        if values.get("key"):
            values["key"] = _free_key(database, int(key[0]), str(values["key"]))
    if kind.table == "task_comments":
        values["identity"] = _identity(database, int(key[0]), values)
    if kind.table == "project_folders" and REDACTED in str(values.get("folder")):
        values["is_private"] = "1"
    assignments = ", ".join(f"{column} = ?" for column in values)
    marks = " AND ".join(f"{column} IS ?" for column in kind.key)
    database.run(f"UPDATE OR REPLACE {kind.table} SET {assignments} WHERE {marks}", (*values.values(), *key))


def rewrite_turn(
    database: Database, id_: int, values: Mapping[str, str | None], content: tuple[bytes, str, str] | None
) -> None:
    """Replace the texts of a turn, inside the caller's transaction.

    `content` has text_hash, model and JSON vector of a new content; None if it is unchanged.
    """
    values = dict(values)
    assignments = ", ".join(f"{column} = ?" for column in values)
    if content is None:
        database.run(f"UPDATE prompts SET {assignments} WHERE id = ?", (*values.values(), id_))
        return
    text_hash, model, vector = content
    # The digest of lines with the secret would let it be guessed: the next run writes one of the redacted lines.
    same_lines = "SELECT source_id, line FROM sightings WHERE prompt_id = ?"
    database.run(f"UPDATE sightings SET passage = NULL WHERE (source_id, line) IN ({same_lines})", (id_,))
    database.run(f"UPDATE prompts SET {assignments}, text_hash = ? WHERE id = ?", (*values.values(), text_hash, id_))
    set_vectors(database, model, {id_: vector})


def begin_rewrite(
    database: Database, turns: Sequence[int], tasks: Sequence[int], removed: Iterable[StoredTexts]
) -> None:
    """Schedule the scrub of old texts and vectors, inside the transaction that rewrites the rows."""
    scrub.begin_scrub(database, (row.texts.values() for row in removed))
    for statement, ids in (
        (f"SELECT id FROM prompts WHERE id IN {LISTED}", turns),
        (f"SELECT id FROM task_texts WHERE task_id IN {LISTED}", tasks),
    ):
        if ids and not database.vec0_loaded:
            listed = bind_list(ids)
            scrub.overwrite_vectors(database, statement, (listed,))
            database.run(f"INSERT INTO vector_changes(prompt_id) {statement}", (listed,))


def _free_key(database: Database, id_: int, key: str) -> str:
    number, free = 1, key
    while database.value("SELECT 1 FROM tasks WHERE key = ? AND id != ?", (free, id_)):
        number += 1
        free = f"{key}-{number}"
    return free


def _identity(database: Database, id_: int, values: Mapping[str, str | None]) -> str:
    """Return the identity that a comment gets when its source is read by these rules."""
    ((task, author, content, at),) = database.run(
        "SELECT task_id, author, content, created_at FROM task_comments WHERE id = ?", (id_,)
    )
    comment = Comment(str(values.get("content", content)), str(values.get("author", author)), at)
    return numbered_comment(database, task, comment)[0]
